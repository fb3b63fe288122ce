"""A group of concats, slices and splits alone becomes operators of `main`, and back.

In: a fused group. Out: its operators in its place, if they do nothing but say where values lie.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from fusec.schedule.views import RESHAPES
from fusec_dialects.graph import FusedOp, GraphOp, YieldOp
from fusec_dialects.graph.movement import ConcatOp

PLACING = RESHAPES | {"concat", "slice", "split"}


@dataclass(eq=False)
class Hoisted:
    """`group` stands nowhere as long as `ops` stand in its place; `results` are theirs for its."""

    group: FusedOp
    ops: list[GraphOp]
    results: list[SSAValue]

    @property
    def joins(self) -> list[ConcatOp]:
        """The concats among the operators."""
        return [op for op in self.ops if isinstance(op, ConcatOp)]

    def put_back(self) -> None:
        """The group again; operands are what they are now."""
        block, last = self.ops[0].parent, self.ops[0]
        if block is None:
            return
        block.insert_op_before(self.group, last)
        for old, new in zip(self.results, self.group.results, strict=True):
            old.replace_all_uses_with(new)
        for op in reversed(self.ops):
            block.erase_op(op)


def hoist(group: FusedOp) -> Hoisted | None:
    """Puts the operators of a group in its place; None where it does more than place values."""
    body = group.body.block
    inner = [op for op in body.ops if not isinstance(op, YieldOp)]
    if not all(isinstance(op, GraphOp) and op.op_name in PLACING for op in inner):
        return None
    if all(isinstance(op, GraphOp) and op.op_name in RESHAPES for op in inner):
        return None
    if any(value.owner is body for value in group.yielded):
        return None
    block = group.parent
    if block is None:
        return None
    mapping: dict[SSAValue, SSAValue] = dict(zip(body.args, group.inputs, strict=True))
    ops: list[GraphOp] = []
    for op in inner:
        copy: Operation = op.clone(mapping)
        block.insert_op_before(copy, group)
        if isinstance(copy, GraphOp):
            ops.append(copy)
    results = [mapping[value] for value in group.yielded]
    for old, new in zip(group.results, results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    group.detach()
    return Hoisted(group, ops, results)
