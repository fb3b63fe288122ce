"""What the rules ask of values and operators: who computes it, its sizes, its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.ir import Operation, SSAValue

from fusec.semantics.interpreter import constant_array
from fusec.semantics.types import numpy_type
from fusec_dialects.graph import AttrValue, ConstantOp, GraphOp
from fusec_dialects.graph.base import python_value, tensor_type
from fusec_dialects.graph.sizes import Shape, dims_of, normal_axis, slice_bounds

WIDEST_CONSTANT = 1 << 16
"""Elements of the largest inline constant that a rule looks through."""


def producer(value: SSAValue, *names: str) -> GraphOp | None:
    """The operator that computes a value, where it is one of these."""
    owner = value.owner
    return owner if isinstance(owner, GraphOp) and owner.op_name in names else None


def single(value: SSAValue, *names: str) -> GraphOp | None:
    """The producer of a value that nothing else uses."""
    return producer(value, *names) if value.has_one_use() else None


def only_user(value: SSAValue) -> Operation | None:
    """The one operator that uses a value, all of its uses."""
    users = {use.operation for use in value.uses}
    return users.pop() if len(users) == 1 else None


def dims(value: SSAValue) -> Shape:
    """Sizes, names for the dynamic ones."""
    return dims_of(tensor_type(value))


def rank(value: SSAValue) -> int:
    return len(tensor_type(value).get_shape())


def static(value: SSAValue) -> tuple[int, ...] | None:
    """The shape where all of it is known."""
    type_ = tensor_type(value)
    return type_.get_shape() if type_.has_static_shape() else None


def attr(op: GraphOp, key: str) -> AttrValue:
    return python_value(op.properties[key])


def ints(op: GraphOp, key: str) -> tuple[int, ...]:
    return cast("tuple[int, ...]", attr(op, key))


def axis_of(op: GraphOp, of: int | None = None) -> int:
    """The attribute `axis` counted from the front, of the first operand's rank if not given."""
    return cast(int, attr(op, "axis")) % (rank(op.operands[0]) if of is None else of)


def reduced(op: GraphOp) -> tuple[int, ...]:
    """The axes of a reduction from the front, in order; none given means all."""
    n = rank(op.operands[0])
    return tuple(sorted(a % n for a in ints(op, "axes"))) or tuple(range(n))


def splat_of(value: SSAValue) -> float | None:
    """The number that every element of a constant is."""
    owner = value.owner
    if not isinstance(owner, ConstantOp):
        return None
    content, size = owner.content, numpy_type(tensor_type(value).element_type).itemsize
    count = len(content) // size
    if not 0 < count <= WIDEST_CONSTANT or content != content[:size] * count:
        return None
    return float(constant_array(owner).reshape(-1)[0])


def exact_in(value: SSAValue, number: float) -> bool:
    """Whether the element type of a value holds the number exactly."""
    dtype = numpy_type(tensor_type(value).element_type)
    with np.errstate(all="ignore"):
        return bool(np.asarray(number).astype(dtype).astype(np.float64) == number)


def taken(op: GraphOp) -> list[range] | None:
    """The positions of each axis that a slice takes; None where a size is not known."""
    shape = static(op.operands[0])
    if shape is None:
        return None
    found: list[range] = [range(size) for size in shape]
    keys = ("axes", "starts", "ends", "steps")
    for axis, start, end, step in zip(*(ints(op, k) for k in keys), strict=True):
        at = normal_axis(axis, len(found))
        found[at] = slice_bounds(len(found[at]), start, end, step)
    return found


def slice_attrs(positions: Sequence[range], shape: Sequence[int]) -> dict[str, AttrValue]:
    """The attributes of the slice that takes these positions of a tensor of this shape."""
    cut = [a for a, (r, n) in enumerate(zip(positions, shape, strict=True)) if r != range(n)]
    ends: list[int] = []
    for axis in cut:
        last = positions[axis][-1] if positions[axis] else positions[axis].start
        end = last + (1 if positions[axis].step > 0 else -1)
        ends.append(end if end >= 0 else -shape[axis] - 1)
        if not positions[axis]:
            ends[-1] = positions[axis].start
    return {
        "starts": tuple(positions[a].start for a in cut),
        "ends": tuple(ends),
        "axes": tuple(cut),
        "steps": tuple(positions[a].step for a in cut),
    }
