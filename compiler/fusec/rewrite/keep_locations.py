"""What a rewrite makes says of which operators it is made.

In: an operator that was replaced, what was inserted for it, what went away with it. Out: locations
of the inserted operators, the replaced ones' nodes and the tensors of the results in them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation, SSAValue

from fusec.rewrite.match import is_known
from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import GraphOp
from fusec_dialects.locations import joined, of_result, part, tensors


class Gone(NamedTuple):
    """An operator that was erased, and the operands that it had."""

    op: Operation
    operands: Sequence[SSAValue]


def keep_locations(
    root: Operation, inserted: Sequence[Operation], values: Sequence[SSAValue], gone: Sequence[Gone]
) -> None:
    """Sets the locations of `inserted`; `values` took the place of the root's results.

    `gone` has the root first and users before producers. An operator is made of those of its own
    kind that went away; what has no successor of its kind is a part of one without predecessor,
    else of the last. Views beside them, and what follows from weights alone, are the root's.
    """
    if not inserted:
        return
    made = [op for op in inserted if isinstance(op, GraphOp) and not _is_constant(op)]
    plain = part(root.location)
    for op in inserted:
        op.location = plain
    for op in made:
        if results := _results(root, values, op):
            op.location = joined([plain], results)
    made = [op for op in made if not _is_view(op)] or made
    if not made:
        return
    members = _taking_part(root, inserted, gone)
    kinds = {op.op_name for op in made}
    rest = [op for op in members if op.op_name not in kinds]
    old = {op.op_name for op in members}
    fresh = [op for op in made if op.op_name not in old]
    for op in made:
        own = [m for m in members if m.op_name == op.op_name]
        if op in fresh or (not fresh and op is made[-1]):
            own += rest
        op.location = _location(own or [root], _results(root, values, op))


def _is_constant(op: GraphOp) -> bool:
    return bool(op.operands) and all(map(is_known, op.operands))


def _taking_part(
    root: Operation, inserted: Collection[Operation], gone: Sequence[Gone]
) -> list[GraphOp]:
    """Operators that led from an operand of what was inserted to the root, producers first."""
    reached = {operand for op in inserted for operand in op.operands}
    members: list[GraphOp] = []
    for op, operands in reversed(gone):
        if isinstance(op, GraphOp) and (op is root or not reached.isdisjoint(operands)):
            members.append(op)
            reached.update(op.results)
    return members


def _results(root: Operation, values: Sequence[SSAValue], op: Operation) -> list[LocationAttr]:
    """The root's results that an operator makes now, where their tensors are known."""
    if len(tensors(root.location)) != len(root.results):
        return []
    return [of_result(root.location, i) for i, value in enumerate(values) if value.owner is op]


def _location(members: Sequence[Operation], results: Sequence[LocationAttr]) -> LocationAttr:
    views = [m.location for m in members if _is_view(m)]
    return joined([m.location for m in members if not _is_view(m)] or views, results, views)


def _is_view(op: Operation) -> bool:
    return isinstance(op, GraphOp) and fusion_class(op.op_name) == FusionClass.VIEW
