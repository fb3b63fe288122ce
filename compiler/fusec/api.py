"""fusec from Python: load a network, compile it, run it at any level, profile it.

`fusec.load` gives a Model, `fusec.compile` a Compiled; `run_passes` applies any pass text, own
passes included, to a module. docs/python.md shows all of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, Unpack

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException, PassFailedException

from fusec.accuracy.inputs import check_inputs
from fusec.config.compile_options import CompileKeywords, CompileOptions
from fusec.config.fusion_options import FusionOptions
from fusec.fusion.patterns import all_patterns
from fusec.fusion.strategies import STRATEGIES
from fusec.hw import Target
from fusec.pipelines import apply_passes, parse_passes
from fusec.schedule.target import module_target
from fusec.semantics.dtypes import Array
from fusec.semantics.interpreter import GraphError, Interpreter, main_function
from fusec.semantics.weights import Tap, WeightStore
from fusec.universe import context, known_passes, load_own_fusions, stage_passes
from fusec_dialects.graph import FusedOp, KernelOp
from fusec_dialects.verify import verify

if TYPE_CHECKING:
    from fusec.report.profile import Profile
    from fusec.simulator.functional import After, Program

__all__ = [
    "LEVELS",
    "CompileOptions",
    "Compiled",
    "FusionOptions",
    "Level",
    "Model",
    "compile",
    "context",
    "fuse",
    "load",
    "run_passes",
]

Level: TypeAlias = Literal["graph", "fused", "npu"]
LEVELS: tuple[Level, ...] = ("graph", "fused", "npu")


@dataclass
class Model:
    """A network: its module, its weights, where it came from. Inputs and outputs go by name.

    The module is on the graph level, as imported, or MLIR text of a later level.
    """

    module: ModuleOp
    weights: WeightStore
    path: str = ""
    compiled: dict[object, Compiled] = field(default_factory=dict[object, "Compiled"], repr=False)
    """What calls of the network compiled it to, by their options."""

    def __call__(self, *inputs: object) -> Array | tuple[Array, ...]:
        """Outputs on inputs in order, compiled as `fusec.npu.set_option` says."""
        from fusec.npu_options import call

        return call(self, inputs)

    def __post_init__(self) -> None:
        """Gives a name to each input and output that has none."""
        from fusec.frontends.static_shapes import name_ports

        if self.level != "npu":
            name_ports(main_function(self.module))

    @property
    def level(self) -> Level:
        """`graph` as imported, `fused` with kernels outlined, `npu` with a host function."""
        for op in self.module.body.block.ops:
            if isinstance(op, FuncOp) and ("npu.host" in op.attributes):
                return "npu"
            if isinstance(op, KernelOp):
                return "fused"
        return "graph"

    def seeded(self, seed: int) -> Model:
        """The same network with random values for weights that the file gives as one number."""
        return Model(self.module, self.weights.seeded(seed), self.path)

    def check_inputs(self, inputs: Mapping[str, Array]) -> None:
        """Raises GraphError where an input is missing or of another type or shape."""
        check_inputs(self.module, inputs)

    def run(
        self, inputs: Mapping[str, Array], *, oracle: bool = False, tap: Tap | None = None
    ) -> dict[str, Array]:
        """Outputs by name, by the meaning of the operators; `oracle` computes in float64.

        A module of the npu level runs in the simulator. `tap(name, array)` sees each value. Raises
        GraphError for wrong inputs and for weights that are in no store.
        """
        self.check_inputs(inputs)
        interpreter = Interpreter(self.module, self.weights, oracle=oracle, tap=tap)
        if self.level != "npu":
            return interpreter.run(inputs)
        from fusec.simulator.functional import Program

        weights = {**self.weights, **interpreter.derived_weights()}
        return _simulate(Program(self.module), weights, inputs, tap)


def _simulate(
    program: Program,
    weights: Mapping[str, Array],
    inputs: Mapping[str, Array],
    tap: Tap | None,
    after: After | None = None,
) -> dict[str, Array]:
    arrays = {**weights, **inputs}
    for buffer in program.host.buffers:
        if buffer.role == "weight" and buffer.name not in arrays:
            raise GraphError(
                f"weight '{buffer.name}' is in no store; say where it is by the module attribute "
                "graph.source (a .onnx or .safetensors file)"
            )
    if tap is None:
        return program.run(arrays, after=after)

    def named(kernel: str, value: str, block: int, array: Array) -> None:
        tap(f"@{kernel} %{value} block {block}", array)

    return program.run(arrays, tap=named, after=after)


def load(
    source: str | Path | bytes,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    *,
    allow_opaque: bool = False,
    values: Mapping[str, object] | None = None,
) -> Model:
    """Read an ONNX model (a file or its bytes), or MLIR text (a file ending in `.mlir`).

    `shapes` gives inputs static shapes by name, `values` makes constants of inputs (a number, or an
    array). With `allow_opaque` ONNX operators that are not
    supported become `graph.opaque`, which the host computes. Raises a DiagnosticException or
    ParseError with place and advice.
    """
    load_own_fusions()
    if not isinstance(source, bytes) and Path(source).suffix == ".mlir":
        return _load_mlir(Path(source), shapes or {}, values or {})
    from fusec.frontends.onnx.frontend import import_onnx

    module, weights = import_onnx(source, shapes, allow_opaque, values)
    return Model(module, weights, "" if isinstance(source, bytes) else str(source))


def _load_mlir(
    path: Path, shapes: Mapping[str, tuple[int, ...]], values: Mapping[str, object]
) -> Model:
    from fusec.frontends.mlir import LocatedParser, decode
    from fusec.frontends.static_shapes import give_shapes
    from fusec.frontends.stores import open_store
    from fusec.frontends.values import give_values

    text = decode(path.read_bytes(), str(path))
    module = LocatedParser(context(), text, str(path)).parse_module()
    verify(module)
    try:
        model = Model(module, open_store(module, path.parent), str(path))
    except (GraphError, DiagnosticException) as error:
        raise DiagnosticException(f"{path}: {error}") from error
    if shapes or values:
        if model.level != "graph":
            what = "shapes" if shapes else "values"
            raise DiagnosticException(f"{path}: {what} can be given on the graph level only")
        give_shapes(main_function(module), shapes)
        give_values(main_function(module), values)
        verify(module)
    return model


def run_passes(
    module: ModuleOp,
    passes: str,
    *,
    own: Sequence[type[ModulePass]] = (),
    after: Callable[[str, float], None] | None = None,
) -> ModuleOp:
    """Apply pass text (named pipelines allowed) to a module, in place; gives the module back.

    `own` adds passes of one's own under their names. `after(pass name, seconds)` is called after
    each. Raises ValueError for text that names no pass, InvalidResultError for a pass that leaves
    IR which does not verify, and what a pass raises.
    """
    known = {**known_passes(), **{p.name: (lambda p=p: p) for p in own}}
    apply_passes(module, parse_passes(passes, known), context(), after)
    return module


@dataclass
class Compiled:
    """A compiled network: its module on each level, and seconds by stage.

    `fused` has kernels outlined, `unplaced` is npu IR without addresses, `npu` the placed kernels.
    """

    model: Model
    options: CompileOptions
    fused: ModuleOp
    unplaced: ModuleOp
    npu: ModuleOp
    seconds: dict[str, float]

    @property
    def target(self) -> Target:
        """The chip that it was compiled for."""
        return module_target(self.npu)

    def module(self, level: Level) -> ModuleOp:
        """The IR of a level."""
        return {"graph": self.model.module, "fused": self.fused, "npu": self.npu}[level]

    def __call__(self, *inputs: object) -> Array | tuple[Array, ...]:
        """Outputs on inputs in order, from the placed kernels."""
        from fusec.npu_options import call

        return call(self, inputs)

    @cached_property
    def modelled_seconds(self) -> float:
        """What all launches of the host function take on the target."""
        from fusec.simulator.timing import time_host

        return time_host(self.npu).us * 1e-6

    @cached_property
    def _program(self) -> Program:
        from fusec.simulator.functional import Program

        return Program(self.npu)

    @cached_property
    def _fused(self) -> Interpreter:
        return Interpreter(self.fused, self.model.weights)

    @cached_property
    def _derived(self) -> dict[str, Array]:
        return Interpreter(self.npu, self.model.weights).derived_weights()

    def run(
        self,
        inputs: Mapping[str, Array],
        level: Level = "npu",
        *,
        tap: Tap | None = None,
        after: After | None = None,
    ) -> dict[str, Array]:
        """Outputs by name; at level `npu` the placed kernels run in the simulator.

        `tap(name, array)` sees each value: of an operator by its node's name, of a kernel's
        instruction by kernel, value and block. `after(step, arrays)` sees the buffers in gm of each
        launch at level `npu`. What follows from weights alone is computed in the first run. Raises
        GraphError for wrong inputs.
        """
        if level == "graph":
            return self.model.run(inputs, tap=tap)
        self.model.check_inputs(inputs)
        if level == "fused":
            taps = tap is not None
            run = Interpreter(self.fused, self.model.weights, tap=tap) if taps else self._fused
            return run.run(inputs)
        weights = {**self.model.weights, **self._derived}
        return _simulate(self._program, weights, inputs, tap, after)

    def profile(self) -> Profile:
        """Counts, bytes and modelled times of this compilation; see `fusec.report.profile`."""
        from fusec.report.profile import profile_levels

        return profile_levels(
            self.model.path, self.model.module, self.fused, self.npu, self.seconds
        )


Progress: TypeAlias = Callable[[str], None]
"""Called with the name of each stage as it begins."""


def fuse(
    model: Model | str | Path,
    options: CompileOptions | None = None,
    *,
    progress: Progress | None = None,
    **keywords: Unpack[CompileKeywords],
) -> Model:
    """The network with its operators fused and the kernels outlined, ready to be lowered.

    Options and errors as in `compile`.
    """
    given = _options(options, keywords)
    model = _readable(model, given)
    module = model.module.clone()
    if model.level == "graph":
        _run_stages(module, ("prepare", "optimise"), given, {}, progress)
    return Model(module, model.weights, model.path)


def compile(
    model: Model | str | Path,
    options: CompileOptions | None = None,
    *,
    progress: Progress | None = None,
    **keywords: Unpack[CompileKeywords],
) -> Compiled:
    """Compile a network for a target, down to placed kernels.

    Options as an object, or as keyword arguments: `fusec.compile("net.onnx", target="ascend910b1",
    objective="kernels")`. `progress(stage)` is called as each stage begins. Raises TypeError for
    both kinds of options, PassFailedException for names that do not exist and where something
    cannot be lowered, DoesNotFitError where a kernel does not fit the target.
    """
    given = _options(options, keywords)
    model = _readable(model, given)
    module = model.module.clone()
    seconds: dict[str, float] = {}
    if model.level == "graph":
        _run_stages(module, ("prepare", "optimise"), given, seconds, progress)
    if progress is not None:
        progress("compile")
    with _clock(seconds, "compile"):
        fused = module.clone()
        module_target(module, given.target)
        passes = stage_passes("compile", given)
        at = [p.name for p in passes].index("npu-multi-buffer")
        apply_passes(module, passes[:at], context())
        unplaced = module.clone()
        apply_passes(module, passes[at:], context())
    return Compiled(model, given, fused, unplaced, module, seconds)


def _options(options: CompileOptions | None, keywords: CompileKeywords) -> CompileOptions:
    if options is not None and keywords:
        raise TypeError(f"options are given twice, as an object and as {', '.join(keywords)}")
    load_own_fusions()
    if options is None:
        from fusec.npu_options import compile_options

        options = compile_options(keywords)
    options.fusion.check(all_patterns().keys(), STRATEGIES)
    return options


def _readable(model: Model | str | Path, options: CompileOptions) -> Model:
    """The model, loaded; PassFailedException for a level that no stage begins with."""
    if not isinstance(model, Model):
        model = load(model, allow_opaque=options.allow_opaque)
    name = model.path or "the module"
    if model.level == "npu":
        raise PassFailedException(
            f"{name}: it is npu IR already; run it as it is, or compile from the graph level"
        )
    if any(isinstance(op, FusedOp) for op in model.module.walk()):
        raise PassFailedException(
            f"{name}: it holds graph.fused, which is between two stages; finish it with "
            "fuse-opt -p graph-fold-weights,graph-assign-layout,graph-in-place,graph-outline"
        )
    return model


def _run_stages(
    module: ModuleOp,
    stages: Sequence[str],
    options: CompileOptions,
    seconds: dict[str, float],
    progress: Progress | None,
) -> None:
    module_target(module, options.target)
    for stage in stages:
        if progress is not None:
            progress(stage)
        with _clock(seconds, stage):
            more = stage != stages[-1]
            apply_passes(module, stage_passes(stage, options), context(), more=more)


@contextmanager
def _clock(seconds: dict[str, float], stage: str) -> Generator[None]:
    start = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - start
