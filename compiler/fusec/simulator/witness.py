"""The witness: plays placed kernels and host functions, and says what is wrong with them.

It knows the dialect and the target, and nothing of the passes that placed and synchronised the
kernel. The model of the hardware: pipes run on their own; an instruction starts after the pipe's
earlier ones have started, and is finished for others only by a flag, a barrier or the end of the
block; only products into one accumulator are ordered by the hardware. Blocks of one launch are not
ordered at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from fusec.hw.target import Target, load_target
from fusec.simulator.decode import decode_kernel, target_of
from fusec.simulator.decode_state import function_place
from fusec.simulator.errors import SimulationError
from fusec.simulator.form import Kernel
from fusec.simulator.host import HostCall, decode_host, find_host, kernels_of
from fusec.simulator.numerics import Array
from fusec.simulator.violations import DOMINANCE, Verdict
from fusec.simulator.witness_host import HostWitness
from fusec.simulator.witness_kernel import KernelWitness
from fusec_dialects.dominance import verify_dominance

MAX_INSTRUCTIONS = 20_000
"""Instructions that are played of one kernel, about a second; larger kernels are sampled."""


def witness(
    root: ModuleOp | func.FuncOp,
    *,
    target: str | None = None,
    blocks: int | None = None,
    arrays: Mapping[str, Array] | Sequence[Array | None] | None = None,
    max_instructions: int | None = MAX_INSTRUCTIONS,
) -> Verdict:
    """What is wrong with a placed kernel, or with a module: its host function and what it launches,
    or every kernel by itself where there is no host function.

    `arrays` are the host's by name, or the kernel's in order: scalar loads (the rows of a gather)
    read them; without them they read 0. `blocks` is by default the function's `npu.blocks`. A
    kernel of more than `max_instructions` is sampled by blocks (None: never); `Verdict.sampled`
    tells. Raises SimulationError for IR that cannot be read or is not placed.
    """
    verdict = Verdict()
    try:
        verify_dominance(root)
    except VerifyException as error:
        verdict.report(DOMINANCE, str(error), _place(root))
        return verdict
    if isinstance(root, func.FuncOp):
        kernel = _placed(decode_kernel(root, target))
        given = [] if arrays is None or isinstance(arrays, Mapping) else list(arrays)
        count = kernel.blocks or 1 if blocks is None else blocks
        played = KernelWitness(kernel, load_target(target or target_of(root)), verdict, given)
        verdict.sampled[kernel.name] = _play(played, count, max_instructions)
        return verdict
    if not any("npu.host" in op.attributes for op in root.body.block.ops):
        for function in kernels_of(root).values():
            part = witness(
                function, target=target, blocks=blocks, max_instructions=max_instructions
            )
            verdict.extend(part)
            verdict.sampled.update(part.sampled)
        return verdict
    named: Mapping[str, Array] = arrays if isinstance(arrays, Mapping) else {}
    _module(root, target, named, max_instructions, verdict)
    return verdict


def _module(
    module: ModuleOp,
    target: str | None,
    arrays: Mapping[str, Array],
    max_instructions: int | None,
    verdict: Verdict,
) -> None:
    host_function = find_host(module)
    chip: Target = load_target(target or target_of(host_function))
    host = HostWitness(decode_host(host_function), chip, verdict)
    functions = kernels_of(module)
    played: dict[str, tuple[KernelWitness, float]] = {}
    for launch in host.host.steps:
        if isinstance(launch, HostCall):
            host.call(launch)
            continue
        if launch.kernel not in functions:
            raise SimulationError(
                launch.place, f"there is no kernel @{launch.kernel}", "define it in the module"
            )
        if launch.kernel not in played:
            kernel = _placed(decode_kernel(functions[launch.kernel], target))
            given = [
                arrays.get(view.buffer.name) if view.buffer.role and not view.start else None
                for view in launch.arguments
            ]
            run = KernelWitness(kernel, chip, verdict, given)
            played[launch.kernel] = run, _play(run, launch.blocks, max_instructions)
            verdict.sampled[launch.kernel] = played[launch.kernel][1]
        run, part = played[launch.kernel]
        host.launch(launch, run.arguments, whole=part == 1.0)
    host.end()


def _place(root: ModuleOp | func.FuncOp) -> str:
    return function_place(root) if isinstance(root, func.FuncOp) else "module"


def _placed(kernel: Kernel) -> Kernel:
    if not kernel.placed:
        raise SimulationError(
            kernel.place,
            "the kernel is not placed",
            "run npu-place and npu-sync before the witness",
        )
    return kernel


def _play(run: KernelWitness, blocks: int, max_instructions: int | None) -> float:
    run.check_static()
    return run.run(blocks, max_instructions)
