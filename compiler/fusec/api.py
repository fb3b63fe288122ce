"""fusec from Python: load a network, compile it, run it at any level, profile it.

`fusec.load` gives a Model, `fusec.compile` a Compiled; `run_passes` applies any pass text, own
passes included, to a module.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

from fusec.config.fusion_options import FusionOptions
from fusec.pipelines import STAGES, expand
from fusec.schedule.target import module_target
from fusec.semantics.dtypes import Array
from fusec.semantics.interpreter import Interpreter
from fusec.semantics.weights import Tap, WeightStore

Level: TypeAlias = Literal["graph", "fused", "npu"]
LEVELS: tuple[Level, ...] = ("graph", "fused", "npu")


@dataclass
class Model:
    """A network as imported: its module on the graph level, its weights, where it came from."""

    module: ModuleOp
    weights: WeightStore
    path: str = ""

    def seeded(self, seed: int) -> Model:
        """The same network with random values for weights that the file gives as one number."""
        return Model(self.module, self.weights.seeded(seed), self.path)

    def run(
        self, inputs: Mapping[str, Array], *, oracle: bool = False, tap: Tap | None = None
    ) -> dict[str, Array]:
        """Outputs by name, by the meaning of the operators; `oracle` computes in float64."""
        return Interpreter(self.module, self.weights, oracle=oracle, tap=tap).run(inputs)


def load(source: str | Path | bytes, shapes: Mapping[str, tuple[int, ...]] | None = None) -> Model:
    """Read an ONNX model, or MLIR text of the graph level (`.mlir`).

    `shapes` gives inputs static shapes by name. Raises a DiagnosticException with place and advice.
    """
    if not isinstance(source, bytes) and Path(source).suffix == ".mlir":
        return _load_mlir(Path(source))
    from fusec.frontends.onnx.frontend import import_onnx

    module, weights = import_onnx(source, shapes)
    return Model(module, weights, "" if isinstance(source, bytes) else str(source))


def _load_mlir(path: Path) -> Model:
    from xdsl.parser import Parser

    from fusec.frontends.stores import open_store

    module = Parser(context(), path.read_text("utf-8"), str(path)).parse_module()
    module.verify()
    return Model(module, open_store(module, path.parent), str(path))


def context() -> Context:
    """An xDSL context that knows every dialect, each loaded when first used."""
    from xdsl.universe import Universe

    ctx = Context()
    for name, loader in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, loader)
    return ctx


Passes: TypeAlias = Mapping[str, Callable[[], type[ModulePass]]]


def run_passes(
    module: ModuleOp,
    passes: str,
    *,
    own: Sequence[type[ModulePass]] = (),
    after: Callable[[str, float], None] | None = None,
) -> ModuleOp:
    """Apply pass text (named pipelines allowed) to a module, in place; gives the module back.

    `own` adds passes of one's own under their names. `after(pass name, seconds)` is called after
    each. The module is verified after each pass.
    """
    from xdsl.universe import Universe

    known: dict[str, Callable[[], type[ModulePass]]] = dict(Universe.get_multiverse().all_passes)
    known.update({p.name: (lambda p=p: p) for p in own})
    started = time.perf_counter()

    def callback(
        previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
    ) -> None:
        nonlocal started
        del following
        if previous is not None:
            if after is not None:
                after(previous.name, time.perf_counter() - started)
            module.verify()
        started = time.perf_counter()

    PassPipeline.parse_spec(known, expand(passes), callback).apply(context(), module)
    return module


@dataclass(frozen=True)
class CompileOptions:
    """What a compilation is asked for. `target` is a chip's name or a `.toml` file."""

    target: str = "ascend910b3"
    fusion: FusionOptions = field(default_factory=FusionOptions)

    def specs(self, stage: str) -> list[str]:
        """The passes of a stage with these options."""
        return [self._spec(name) for name in STAGES[stage] if self._wanted(name)]

    def _wanted(self, name: str) -> bool:
        # The unfused baseline has nothing raised and nothing simplified.
        return self.fusion.enabled or name not in ("graph-raise", "graph-simplify")

    def _spec(self, name: str) -> str:
        if name != "graph-fuse":
            return name
        f = self.fusion
        options = [f"strategy={f.strategy if f.enabled else 'none'}", f"objective={f.objective}"]
        options += [f"max-depth={f.max_depth}", f"max-ops={f.max_ops}"]
        for key, names in (("disable", f.disable), ("only", f.only)):
            if names:
                options.append(f"{key}={','.join(sorted(names))}")
        return f"graph-fuse{{{' '.join(options)}}}"


@dataclass
class Compiled:
    """A compiled network: its modules by level, seconds by stage."""

    model: Model
    options: CompileOptions
    fused: ModuleOp
    npu: ModuleOp
    unplaced: ModuleOp
    seconds: dict[str, float]

    def module(self, level: Level) -> ModuleOp:
        """The IR of a level."""
        return {"graph": self.model.module, "fused": self.fused, "npu": self.npu}[level]

    def run(
        self, inputs: Mapping[str, Array], level: Level = "npu", *, tap: Tap | None = None
    ) -> dict[str, Array]:
        """Outputs by name; at level `npu` the placed kernels run in the simulator."""
        if level == "graph":
            return self.model.run(inputs, tap=tap)
        interpreter = Interpreter(self.module(level), self.model.weights, tap=tap)
        if level == "fused":
            return interpreter.run(inputs)
        from fusec.simulator import run_host

        weights = {**self.model.weights, **interpreter.derived_weights()}
        return run_host(self.npu, {**weights, **inputs})

    def profile(self) -> dict[str, Any]:
        """Counts, bytes and modelled times of this compilation; see `fusec.report.profile`."""
        from fusec.report.profile import profile_levels

        return profile_levels(self.model.module, self.fused, self.npu, self.seconds)


def compile(model: Model | str | Path, options: CompileOptions | None = None) -> Compiled:
    """Compile a network for a target, down to placed kernels.

    Raises a DiagnosticException where an operator, a type or a shape cannot be lowered and where a
    kernel does not fit the target.
    """
    if not isinstance(model, Model):
        model = load(model)
    options = options or CompileOptions()
    module = model.module.clone()
    module_target(module, options.target)
    seconds: dict[str, float] = {}
    snapshots: dict[str, ModuleOp] = {}
    for stage in STAGES:
        for spec in options.specs(stage):
            if spec == "npu-multi-buffer":
                snapshots["unplaced"] = module.clone()
            run_passes(module, spec, after=lambda _, s, stage=stage: _add(seconds, stage, s))
        snapshots[stage] = module.clone() if stage == "optimise" else module
    return Compiled(model, options, snapshots["optimise"], module, snapshots["unplaced"], seconds)


def _add(seconds: dict[str, float], stage: str, value: float) -> None:
    seconds[stage] = seconds.get(stage, 0.0) + value
