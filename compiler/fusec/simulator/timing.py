"""The timing half of the simulator: modelled cycles of a kernel, or of a whole module.

In: placed npu IR with its flags. Pipes, flags, barriers and cores are played on the target's costs;
blocks that do equal work once, long loops until they are steady (`timing_steady`). All times are
modelled, none is measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from fusec.hw.target import Target, load_target
from fusec.simulator.decode import decode_kernel, target_of
from fusec.simulator.errors import SimulationError
from fusec.simulator.form import Kernel
from fusec.simulator.host import HostCall, HostView, decode_host, find_host, kernels_of
from fusec.simulator.timing_l2 import L2State
from fusec.simulator.timing_launch import Blocks, TimedKernel
from fusec.simulator.timing_traffic import Misses, Place, misses

CONTENTION = 8
"""How sharply the time of the cores and that of HBM meet, where written bytes leave L2 during a
launch: a p-norm, fitted to 8192^2 f16 vector additions with and without double buffers (asc-devkit,
examples 05_best_practices: 306.6, 268.5 and 264.0 us)."""


@dataclass(frozen=True, slots=True)
class KernelTiming:
    """One launch. `cycles` and `us` are its whole time, `launch_cycles` of it before any work.

    `pipe_busy` and `stalls` are cycles by pipe ("vector.mte2"), the mean of the `cores` that take
    part. `gm_bytes` cross the gm port, `hbm_bytes` of them for the first time or dropped by L2
    since. `instructions` of all blocks, flags left out.
    """

    kernel: str
    kind: str
    blocks: int
    cores: int
    cycles: float
    us: float
    launch_cycles: float
    pipe_busy: dict[str, float]
    stalls: dict[str, float]
    gm_bytes: int
    hbm_bytes: int
    instructions: int


@dataclass(frozen=True, slots=True)
class Timing:
    """All launches of a host function, in order. `pipe_busy` are parts of `cycles`;
    `workspace_bytes` of gm hold what lives between kernels. No time stands for the `host_calls`:
    the host is not modelled, `host_bytes` cross to it and back."""

    target: str
    kernels: tuple[KernelTiming, ...]
    cycles: float
    us: float
    gm_bytes: int
    hbm_bytes: int
    pipe_busy: dict[str, float]
    workspace_bytes: int
    host_calls: int
    host_bytes: int


TargetLike: TypeAlias = Target | str | None


def time_kernel(
    kernel: func.FuncOp,
    target: TargetLike = None,
    blocks: int | None = None,
    *,
    gm_state: L2State | None = None,
    extrapolate: bool = True,
) -> KernelTiming:
    """The modelled time of one launch of a kernel.

    `target`: a name, a file or the object, by default the module's. `blocks`: by default the
    function's `npu.blocks`, or one for each core. `gm_state`: what of the arguments is in L2 (an
    argument's space is its position), nothing by default; it is moved on by the launch. With
    `extrapolate` off, every turn of every loop is played.
    Raises SimulationError for IR without addresses or flags, and for flags that never come.
    """
    chip = _target(target, kernel)
    timed = TimedKernel(decode_kernel(kernel, chip), chip)
    on_blocks = timed.on_blocks(_blocks(timed.kernel, chip, blocks))
    state = L2State(chip.capacity("l2")) if gm_state is None else gm_state
    places = [Place(i, 0) for i in range(len(timed.kernel.arguments))]
    return _timing(on_blocks, _misses(on_blocks, places, state), extrapolate)


def time_host(module: ModuleOp, target: TargetLike = None) -> Timing:
    """The modelled time of all launches of a module's host function, one after another, L2 empty at
    the start; host calls take none. Launches of one kernel that find the same in L2 are played
    once. Raises SimulationError."""
    function = find_host(module)
    chip = _target(target, function)
    host = decode_host(function)
    functions = kernels_of(module)
    timed: dict[str, TimedKernel] = {}
    known: dict[tuple[str, int, Misses], KernelTiming] = {}
    launches: list[KernelTiming] = []
    state = L2State(chip.capacity("l2"))
    for step in host.steps:
        if isinstance(step, HostCall):
            _leave_l2(step, state)
            continue
        launch = step
        if launch.kernel not in functions:
            raise SimulationError(
                launch.place, f"there is no kernel @{launch.kernel}", "define it in the module"
            )
        if launch.kernel not in timed:
            decoded = decode_kernel(functions[launch.kernel], chip)
            timed[launch.kernel] = TimedKernel(decoded, chip)
        on_blocks = timed[launch.kernel].on_blocks(launch.blocks)
        missed = _misses(on_blocks, [_place(view) for view in launch.arguments], state)
        key = (launch.kernel, launch.blocks, missed)
        if key not in known:
            known[key] = _timing(on_blocks, missed, extrapolate=True)
        launches.append(known[key])
    cycles = sum(launch.cycles for launch in launches)
    return Timing(
        target=chip.name,
        kernels=tuple(launches),
        cycles=cycles,
        us=chip.cycles_to_us(cycles),
        gm_bytes=sum(launch.gm_bytes for launch in launches),
        hbm_bytes=sum(launch.hbm_bytes for launch in launches),
        pipe_busy=_fractions(launches, cycles),
        workspace_bytes=host.gm_bytes,
        host_calls=len(host.calls),
        host_bytes=sum(call.nbytes for call in host.calls),
    )


def _leave_l2(call: HostCall, state: L2State) -> None:
    """What crosses to the host and back passes L2 by: what was there of it is not any more."""
    for view in call.views:
        place = _place(view)
        state.drop(place.space, place.start, place.start + view.nbytes)


def _target(target: TargetLike, function: func.FuncOp) -> Target:
    return target if isinstance(target, Target) else load_target(target or target_of(function))


def _blocks(kernel: Kernel, target: Target, blocks: int | None) -> int:
    count = kernel.blocks or target.cores(kernel.core) if blocks is None else blocks
    if count < 1:
        raise SimulationError(kernel.place, f"{count} blocks", "launch at least one")
    return count


def _place(view: HostView) -> Place:
    """Allocs share gm by their addresses; each argument has a space of its own."""
    if view.buffer.address is None:
        return Place(view.buffer.index, view.start)
    return Place("gm", view.buffer.address + view.start)


def _misses(on_blocks: Blocks, places: list[Place], state: L2State) -> Misses:
    workspaces = [argument.workspace for argument in on_blocks.timed.kernel.arguments]
    return misses(on_blocks.traffic, places, workspaces, state)


def _timing(on_blocks: Blocks, missed: Misses, extrapolate: bool) -> KernelTiming:
    kernel, target = on_blocks.timed.kernel, on_blocks.timed.target
    played = on_blocks.run(missed.parts, play_all=not extrapolate)
    launch = target.us_to_cycles(target.launch_us[kernel.core])
    floor = target.us_to_cycles(target.floor_us[kernel.core])
    cycles = max(launch + _contended(played.cycles, missed, target), floor)
    return KernelTiming(
        kernel=kernel.name,
        kind=kernel.core,
        blocks=on_blocks.blocks,
        cores=on_blocks.cores,
        cycles=cycles,
        us=target.cycles_to_us(cycles),
        launch_cycles=launch,
        pipe_busy=played.busy,
        stalls=played.stalls,
        gm_bytes=sum(t.reads + t.writes for t in on_blocks.traffic),
        hbm_bytes=missed.hbm_bytes,
        instructions=on_blocks.instructions,
    )


def _contended(cycles: float, missed: Misses, target: Target) -> float:
    """`cycles` of the cores, which know of HBM's reads only, with what is written back besides."""
    if not missed.written_back:
        return cycles
    rate = target.shared_rate("hbm", 1)
    reads = missed.read_bytes / rate
    both = reads + missed.written_back / rate
    return cycles + _norm(cycles, both) - _norm(cycles, reads)


def _norm(a: float, b: float) -> float:
    larger = max(a, b)
    return larger * ((a / larger) ** CONTENTION + (b / larger) ** CONTENTION) ** (1 / CONTENTION)


def _fractions(launches: list[KernelTiming], cycles: float) -> dict[str, float]:
    busy: dict[str, float] = {}
    for launch in launches:
        for pipe, time in launch.pipe_busy.items():
            busy[pipe] = busy.get(pipe, 0.0) + time / cycles
    return busy
