"""graph-in-place: concats become one buffer that kernels write their parts of, slices and splits
views that kernels read where they lie.

In: `main` with fused groups, layouts assigned. Out: such operators stand in `main` itself and cost
nothing; groups say by `graph.input_strides` and `graph.output_strides` how their tensors lie. What
cannot be written in place is copied there, all parts of one concat by one group.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from fusec.config.fusion_options import OBJECTIVES
from fusec.fusion.hoist import Hoisted, hoist
from fusec.fusion.in_place_cost import PortCosts
from fusec.fusion.in_place_edges import Edges
from fusec.graph.weights_function import NAME
from fusec.schedule.memory import put_strides
from fusec.schedule.places import Places, PlacesError
from fusec.schedule.target import module_target
from fusec_dialects.graph import FusedOp

OBJECTIVE = "graph.objective"
"""Module attribute from graph-fuse to graph-in-place: what plans are judged by, or UNFUSED; absent
for time."""

UNFUSED = "none"
"""Every operator stays a kernel of its own, a concat too."""


class InPlace:
    """Decides for one block; `costs` answers for groups with strided tensors."""

    def __init__(self, block: Block, costs: PortCosts, objective: str) -> None:
        self._block = block
        self._costs = costs
        self._objective = objective
        self._edges = Edges(block)

    def run(self) -> None:
        """Begins with everything in place, and takes back what is refused or does not pay."""
        groups = [op for op in self._block.ops if isinstance(op, FusedOp)]
        hoisted = [made for op in groups if (made := hoist(op)) is not None]
        if not hoisted:
            return
        self._edges.begin(hoisted)
        while (places := self._placed()) is None:
            pass
        for op in self._block.ops:
            if isinstance(op, FusedOp):
                inputs, outputs = self._costs.strides(op, places)
                put_strides(op, inputs, outputs)

    def _placed(self) -> Places | None:
        """The places as they are now; None where something had to be taken back."""
        try:
            places = Places(self._block)
        except PlacesError as error:
            if not self._edges.blame(error.value):
                raise
            return None
        groups = [op for op in self._block.ops if isinstance(op, FusedOp)]
        blamed = [value for op in groups for value in self._costs.refused(op, places)]
        if sum(map(self._edges.blame, blamed)):
            return None
        if self._objective == "time" and self._take_back_losses(places, groups):
            return None
        return places

    def _take_back_losses(self, places: Places, groups: list[FusedOp]) -> bool:
        """Takes back what costs the groups around it more than it saves; whether there was any."""
        lost: dict[Hoisted, float] = {}
        for op in groups:
            if op in self._edges.copies:
                continue
            causes = [c for v in self._costs.strided(op, places) if (c := self._edges.cause(v))]
            if not causes:
                continue
            loss = self._costs.cost(op, places) - self._costs.cost(op, None)
            for cause in causes:
                lost[cause] = lost.get(cause, 0.0) + loss / len(causes)
        worse: list[Hoisted] = []
        for one in self._edges.all():
            copies, loss = self._edges.copies_of(one), lost.get(one, 0.0)
            if not copies and not loss:
                continue
            saved = self._costs.cost(one.group, None)
            saved -= sum(self._costs.cost(copy, places) for copy in copies)
            if loss > saved:
                worse.append(one)
        for one in worse:
            self._edges.take_back(one)
        return bool(worse)


@dataclass(frozen=True)
class GraphInPlacePass(ModulePass):
    """Concats and slices without a copy. `objective` as of graph-fuse, by default what that had:
    `time` takes what pays by the model, `kernels` and `bytes` everything that is legal."""

    name = "graph-in-place"
    objective: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = op.attributes.pop(OBJECTIVE, None)
        given = found.data if isinstance(found, StringAttr) else "time"
        objective = given if self.objective is None else self.objective
        if objective == UNFUSED:
            return
        if objective not in OBJECTIVES:
            raise PassFailedException(
                f"{self.name}: objective is one of {', '.join(OBJECTIVES)}, found '{objective}'"
            )
        costs = PortCosts(module_target(op))
        for function in list(op.body.block.ops):
            if isinstance(function, FuncOp) and function.sym_name.data != NAME:
                InPlace(function.body.block, costs, objective).run()
