"""Groups whose contractions cannot share a kernel, found on numbers, before a block is built.

In: the operators of a function as numbers. Out: for a group the refusal that `schedule` would give:
one of several contractions is depthwise, or reads what another one computes. Where small ones,
attention or operators of users' could take the group, nothing is said.
"""

from __future__ import annotations

from fusec.fusion.dag import Dag
from fusec.fusion.group import Group
from fusec.schedule.depthwise_problem import is_depthwise
from fusec.schedule.schedule import SOFTMAX
from fusec.schedule.small_contraction import is_small
from fusec.schedule.types import Refusal
from fusec.semantics.classes import FusionClass
from fusec_dialects.graph import OWN, GraphOp
from fusec_dialects.graph.base import tensor_type

PLAIN, SMALL, DEPTHWISE, OTHER = "plain", "small", "depthwise", "other"
"""Kinds of contractions: for the cube; for the vector cores too; in families of their own."""


class Chained:
    """Asks for one function; what kind a contraction is is found once."""

    def __init__(self, dag: Dag) -> None:
        self.dag = dag
        self._kinds: dict[int, str] = {}
        self._apart = SOFTMAX | OWN.keys()

    def refusal(self, group: Group) -> Refusal | None:
        """Why the contractions of a group are no kernel; None where a search has to say."""
        dag = self.dag
        found = [i for i in group.owned if dag.classes[i] == FusionClass.CONTRACTION]
        if len(found) < 2 or any(dag.names[i] in self._apart for i in group.owned):
            return None
        kinds = set(map(self._kind, found))
        if OTHER in kinds or kinds == {SMALL}:
            return None
        if DEPTHWISE in kinds:
            what = ", ".join(dag.names[i] for i in sorted(found))
            return Refusal(
                "contraction-count",
                f"a cube kernel has exactly one matmul, gemm or conv, found {what}",
                {"contractions": len(found)},
            )
        reader = self._reader(group)
        if reader is None:
            return None
        return Refusal(
            "contraction-count",
            "a kernel has one contraction, or several that read the same left operand; "
            f"{dag.ops[reader].name} reads what another one computes",
            {"contractions": len(found)},
        )

    def _reader(self, group: Group) -> int | None:
        """The first contraction of a group that depends on another one."""
        dag = self.dag
        behind: set[int] = set()
        for i in group.ops():
            follows = not behind.isdisjoint(dag.operands[i])
            contracts = dag.classes[i] == FusionClass.CONTRACTION
            if follows and contracts:
                return i
            if follows or contracts:
                behind.add(i)
        return None

    def _kind(self, i: int) -> str:
        known = self._kinds.get(i)
        if known is None:
            known = self._kinds[i] = self._find(self.dag.ops[i])
        return known

    def _find(self, op: object) -> str:
        if not isinstance(op, GraphOp) or op.op_name == "attention":
            return OTHER
        if not all(tensor_type(v).has_static_shape() for v in (*op.operands, *op.results)):
            return OTHER
        if is_depthwise(op):
            return DEPTHWISE
        return SMALL if is_small(op) else PLAIN
