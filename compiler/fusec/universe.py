"""The registry: every dialect, pass, frontend and target of fusec, by name, loaded when first used.

It is registered through the entry point `xdsl.universe`, so plain `xdsl-opt` sees all of it too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.passes import ModulePass
from xdsl.universe import Universe

if TYPE_CHECKING:
    from fusec.config.compile_options import CompileOptions

DIALECTS = {
    "graph": "fusec_dialects.graph:Graph",
    "npu": "fusec_dialects.npu:Npu",
}

PASSES = {
    "graph-infer-shapes": "fusec.graph.infer_shapes:GraphInferShapesPass",
    "graph-simplify": "fusec.graph.simplify:GraphSimplifyPass",
    "graph-raise": "fusec.graph.raise_:GraphRaisePass",
    "graph-fuse": "fusec.fusion.fuse:GraphFusePass",
    "graph-fold-weights": "fusec.graph.fold_weights:GraphFoldWeightsPass",
    "graph-assign-layout": "fusec.fusion.assign_layout:GraphAssignLayoutPass",
    "graph-in-place": "fusec.fusion.in_place:GraphInPlacePass",
    "graph-outline": "fusec.graph.outline:GraphOutlinePass",
    "graph-schedule": "fusec.schedule.schedule:GraphSchedulePass",
    "graph-to-npu": "fusec.lowering.to_npu:GraphToNpuPass",
    "npu-multi-buffer": "fusec.npu.multi_buffer:NpuMultiBufferPass",
    "npu-expand-l0": "fusec.npu.expand_l0:NpuExpandL0Pass",
    "npu-place": "fusec.npu.place:NpuPlacePass",
    "npu-sync": "fusec.npu.sync:NpuSyncPass",
    "npu-verify": "fusec.npu.verify:NpuVerifyPass",
}

FRONTENDS = {"onnx": "fusec.frontends.onnx.frontend:OnnxFrontend"}

TARGETS = {"ascend-npu-ir": "fusec.export.target:AscendNpuIrTarget"}

OWN_FUSIONS = "fusec.fusions"
"""The group of entry points: modules that register something, or functions that do when called."""


def _lazy(table: dict[str, str]) -> dict[str, Callable[[], Any]]:
    """Loaders for `name -> "module:attribute"`; a module is imported when its loader is called."""

    def loader(place: str) -> Callable[[], Any]:
        module, attribute = place.split(":")
        return lambda: getattr(import_module(module), attribute)

    return {name: loader(place) for name, place in table.items()}


FUSEC_UNIVERSE = Universe(
    all_dialects=_lazy(DIALECTS),
    all_passes=_lazy(PASSES),
    all_targets=_lazy(TARGETS),
    all_frontends=_lazy(FRONTENDS),
)


def context() -> Context:
    """An xDSL context that knows every dialect, each loaded when first used."""
    made = Context()
    known = {**Universe.get_multiverse().all_dialects, **FUSEC_UNIVERSE.all_dialects}
    for name, loader in known.items():
        made.register_dialect(name, loader)
    return made


def known_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Every pass by its name, xDSL's and those of other packages among them."""
    return {**Universe.get_multiverse().all_passes, **FUSEC_UNIVERSE.all_passes}


def stage_passes(stage: str, options: CompileOptions) -> list[ModulePass]:
    """The passes of a stage. Without fusion nothing is raised and nothing simplified."""
    from fusec.fusion.fuse import GraphFusePass
    from fusec.pipelines import STAGES

    fusion = options.fusion
    passes: list[ModulePass] = []
    for name in STAGES[stage]:
        if name == GraphFusePass.name:
            passes.append(GraphFusePass.of(fusion, offload=options.allow_opaque))
        elif fusion.enabled or name not in ("graph-raise", "graph-simplify"):
            passes.append(FUSEC_UNIVERSE.all_passes[name]()())
    return passes


@cache
def load_own_fusions() -> None:
    """Register what installed packages bring as own fusions (entry points of the group
    `fusec.fusions`), once in a process. Raises FusionError, with the package, for a wrong one.
    """
    if entry_points(group=OWN_FUSIONS):
        from fusec.opbase import load_entry_points

        load_entry_points(OWN_FUSIONS)
