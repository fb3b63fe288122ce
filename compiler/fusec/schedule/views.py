"""Views of a tensor in gm as strides: reshape, transpose, slice, expand and their like.

In: a value reached from a contiguous tensor by views, or a value stored through views. Out: for
each dimension of the value, the (size, stride) parts it runs over, or a Refusal where none exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple, TypeVar, cast

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from fusec.schedule.region import Region
from fusec.schedule.types import Refusal, RefusalError
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.shapes import normal_axis, slice_bounds

RESHAPES = frozenset({"reshape", "squeeze", "unsqueeze", "flatten", "identity"})
"""Views that keep the order of the elements."""

VIEWS = RESHAPES | {"transpose", "slice", "expand"}
"""Operators that only say where elements lie, so that a kernel needs no work for them."""

INVERTIBLE = RESHAPES | {"transpose"}
"""Views that lose and repeat nothing, so that a value can be stored through them."""


class Part(NamedTuple):
    """`size` steps of `stride` elements; stride 0 repeats one element."""

    size: int
    stride: int


Parts = tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class Access:
    """Where the elements of a value lie in the contiguous tensor `root`, counted in elements.

    Dimension d runs over `dims[d]`, outermost part first, none for size 1: two or more parts are
    what a merged transposition leaves, as in [12, 128, 64] seen as [128, 768].
    """

    root: SSAValue
    offset: int
    dims: tuple[Parts, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(prod(p.size for p in parts) for parts in self.dims)

    @property
    def strides(self) -> tuple[int, ...] | None:
        """One stride for each dimension, 0 for size 1; None where a dimension has several parts."""
        if any(len(parts) > 1 for parts in self.dims):
            return None
        return tuple(parts[0].stride if parts else 0 for parts in self.dims)

    @property
    def contiguous(self) -> bool:
        """Whether the elements are all of the root, in order."""
        parts = _merged(p for dim in self.dims for p in dim)
        return self.offset == 0 and parts in ([], [Part(_count(self.root), 1)])


T = TypeVar("T")


def checked(answer: T | Refusal) -> T:
    """The answer itself; raises RefusalError for a refusal."""
    if isinstance(answer, Refusal):
        raise RefusalError(answer.reason, answer.message, answer.numbers)
    return answer


def static_shape(value: SSAValue) -> tuple[int, ...] | Refusal:
    """The shape of a tensor; a Refusal for dynamic sizes, and for tensors without elements."""
    shape = tensor_type(value).get_shape()
    if any(d < 0 for d in shape):
        return Refusal(
            "dynamic-shape",
            f"{value.type} has sizes that are not known; fix them with --shape NAME=AxB",
        )
    if 0 in shape:
        return Refusal("empty", f"{value.type} has no elements, so there is nothing to compute")
    return shape


def whole(value: SSAValue) -> Access | Refusal:
    """A tensor in gm as it is: row-major and contiguous."""
    shape = static_shape(value)
    if isinstance(shape, Refusal):
        return shape
    dims: list[Parts] = []
    stride = prod(shape)
    for size in shape:
        stride //= size
        dims.append((Part(size, stride),) if size > 1 else ())
    return Access(value, 0, tuple(dims))


def stored(region: Region, value: SSAValue) -> Access | Refusal:
    """An input or output of a region as it lies in gm."""
    strides = region.strides.get(value)
    if strides is None:
        return whole(value)
    shape = static_shape(value)
    if isinstance(shape, Refusal):
        return shape
    parts = zip(shape, strides, strict=True)
    return Access(value, 0, tuple((Part(n, s),) if n > 1 else () for n, s in parts))


def load_access(region: Region, value: SSAValue) -> Access | Refusal:
    """How `value`, computed from an input by views of the region alone, lies in that input.

    The root is the first value behind `value` that no view computes; it need not be an input.
    """
    chain: list[GraphOp] = []
    while (op := region.producer(value)) is not None and op.op_name in VIEWS:
        chain.append(op)
        value = op.operands[0]
    access = stored(region, value)
    for op in reversed(chain):
        if isinstance(access, Refusal):
            return access
        access = apply(op, access)
    return access


def store_access(
    region: Region, output: SSAValue, stop: Callable[[SSAValue], bool] | None = None
) -> tuple[SSAValue, Access] | Refusal:
    """The value behind an output's invertible views, and where its elements go in the output.

    The walk ends early at the first value for which `stop` holds.
    """
    access = stored(region, output)
    value = output
    while not isinstance(access, Refusal):
        op = region.producer(value)
        if op is None or op.op_name not in INVERTIBLE or (stop is not None and stop(value)):
            return value, access
        access = undo(op, access)
        value = op.operands[0]
    return access


def apply(op: GraphOp, access: Access) -> Access | Refusal:
    """The access of a view's result, given that of its operand."""
    name = op.op_name
    try:
        if name == "transpose":
            perm = _ints(op, "perm")
            return Access(access.root, access.offset, tuple(access.dims[p] for p in perm))
        if name == "slice":
            return _slice(op, access)
        shape = static_shape(op.results[0])
        if isinstance(shape, Refusal):
            return shape
        if name == "expand":
            return _expand(access, shape)
        if name in RESHAPES:
            return _reshape(access, shape)
    except VerifyException as error:
        return Refusal("view", f"{op.name}: {error}")
    return Refusal("view", f"{op.name} is not a view")


def undo(op: GraphOp, access: Access) -> Access | Refusal:
    """The access of an invertible view's operand, given that of its result."""
    if op.op_name == "transpose":
        perm = _ints(op, "perm")
        dims: list[Parts] = [()] * len(perm)
        for axis, p in enumerate(perm):
            dims[p] = access.dims[axis]
        return Access(access.root, access.offset, tuple(dims))
    shape = static_shape(op.operands[0])
    return shape if isinstance(shape, Refusal) else _reshape(access, shape)


def split(parts: Sequence[Part], sizes: Sequence[int]) -> list[Parts] | None:
    """Parts in order, regrouped so that group i has `sizes[i]` elements; None where they do not."""
    rest = _merged(parts)
    groups: list[Parts] = []
    for size in reversed(sizes):
        group: list[Part] = []
        need = size
        while need > 1:
            if not rest:
                return None
            part = rest.pop()
            if need % part.size == 0:
                group.append(part)
                need //= part.size
            elif part.size % need == 0:
                group.append(Part(need, part.stride))
                rest.append(Part(part.size // need, part.stride * need))
                need = 1
            else:
                return None
        groups.append(tuple(reversed(group)))
    return groups[::-1] if not rest else None


def _merged(parts: Iterable[Part]) -> list[Part]:
    result: list[Part] = []
    for part in parts:
        if part.size == 1:
            continue
        if result and result[-1].stride == part.size * part.stride:
            part = Part(result.pop().size * part.size, part.stride)
        result.append(part)
    return result


def _reshape(access: Access, shape: Sequence[int]) -> Access | Refusal:
    groups = split([p for parts in access.dims for p in parts], shape)
    if groups is None:
        return Refusal(
            "reshape",
            f"the elements seen as {list(access.sizes)} have no strides as {list(shape)}; "
            "a copy has to be made before the reshape",
        )
    return Access(access.root, access.offset, tuple(groups))


def _expand(access: Access, shape: Sequence[int]) -> Access | Refusal:
    dims: list[Parts] = [()] * (len(shape) - len(access.dims)) + list(access.dims)
    result = tuple(
        parts if size == 1 or parts else (Part(size, 0),)
        for size, parts in zip(shape, dims, strict=True)
    )
    return Access(access.root, access.offset, result)


def _slice(op: GraphOp, access: Access) -> Access | Refusal:
    keys = ("axes", "starts", "ends", "steps")
    for axis, start, end, step in zip(*(_ints(op, k) for k in keys), strict=True):
        axis = normal_axis(axis, len(access.dims))
        if step < 1:
            return Refusal("negative-step", f"a slice with step {step} reverses an axis")
        taken = slice_bounds(access.sizes[axis], start, end, step)
        if not taken:
            return Refusal("empty", "the slice takes no elements, so there is nothing to compute")
        made = part(access, axis, taken)
        if isinstance(made, Refusal):
            return made
        access = made
    return access


def part(access: Access, axis: int, taken: range) -> Access | Refusal:
    """Some indices of one dimension of an access, `taken` ascending."""
    cut = _cut(access.dims[axis], taken)
    if cut is None:
        return Refusal(
            "slice",
            f"a slice of axis {axis} of {list(access.sizes)} cuts through what a reshape "
            "merged; a copy has to be made before it",
        )
    dims = (*access.dims[:axis], cut[1], *access.dims[axis + 1 :])
    return Access(access.root, access.offset + cut[0], dims)


def _cut(parts: Parts, taken: range) -> tuple[int, Parts] | None:
    """Offset and parts of the indices `taken` of a dimension; None where they are not regular."""
    if not parts:
        return 0, ()
    part, inner = parts[0], parts[1:]
    if not inner:
        kept = Part(len(taken), part.stride * taken.step)
        return taken.start * part.stride, (kept,) if kept.size > 1 else ()
    length = prod(p.size for p in inner)
    first, last = taken.start // length, taken[-1] // length
    if first == last:
        low = range(taken.start - first * length, taken[-1] + 1 - first * length, taken.step)
        below = _cut(inner, low)
        return below and (first * part.stride + below[0], below[1])
    if taken.step == 1 and taken.start % length == 0 and len(taken) % length == 0:
        return first * part.stride, (Part(len(taken) // length, part.stride), *inner)
    return None


def _count(value: SSAValue) -> int:
    return prod(tensor_type(value).get_shape())


def _ints(op: GraphOp, key: str) -> tuple[int, ...]:
    return cast("tuple[int, ...]", op.attrs()[key])
