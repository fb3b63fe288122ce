"""The registry: every dialect, pass, frontend and target of fusec, by name, loaded when first used.

It is registered through the entry point `xdsl.universe`, so plain `xdsl-opt` sees all of it too.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from xdsl.universe import Universe

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
