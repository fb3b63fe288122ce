"""Whether two views of one buffer certainly share no element, across the iterations of loops.

In: views of a kernel. A view is a box in a frame (a buffer, or a `memref.reinterpret_cast` of it);
its offsets are sums of factors times values, and a value is the same in both accesses, or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeGuard

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.memref import LoadOp, ReinterpretCastOp, SubviewOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, Operation, SSAValue

from fusec.npu.intervals import UNBOUNDED, Intervals
from fusec.npu.views import kept_axes, layout_of, selected_by
from fusec_dialects.npu.attrs import memref_type
from fusec_dialects.npu.control import BlockIdxOp, BlockNumOp

_DIVISIONS = (arith.DivUIOp, arith.DivSIOp, arith.FloorDivSIOp)
_REMAINDERS = (arith.RemUIOp, arith.RemSIOp)


class Sum(NamedTuple):
    """constant + sum of factor * value."""

    constant: int
    terms: tuple[tuple[SSAValue, int], ...] = ()

    def plus(self, other: Sum, factor: int = 1) -> Sum:
        if not other.terms:
            return Sum(self.constant + factor * other.constant, self.terms)
        terms = dict(self.terms)
        for value, times in other.terms:
            terms[value] = terms.get(value, 0) + factor * times
        kept = tuple((value, times) for value, times in terms.items() if times)
        return Sum(self.constant + factor * other.constant, kept)


class Axis(NamedTuple):
    """Elements start ... start + extent - 1 of one axis of a frame, at most; step between them."""

    start: Sum
    extent: int
    step: int = 1


class Frame(NamedTuple):
    """How the axes that boxes are given in lie in a buffer; `buffer` where that is its own shape.

    A stride is None where it is not static.
    """

    buffer: SSAValue | None
    sizes: tuple[int, ...]
    strides: tuple[int | None, ...]
    offset: Sum


class Box(NamedTuple):
    """What a view may touch. `kept` are the axes that the view still has as dimensions."""

    frame: Frame
    axes: tuple[Axis, ...]
    kept: tuple[int, ...]


@dataclass(frozen=True)
class Instances:
    """Which two instances of the accesses are compared.

    `fixed_depth`: values made inside at most so many loops are the same in both. `counter`: that of
    the loop whose iterations differ; None where the iteration is the same.
    """

    fixed_depth: int
    counter: SSAValue | None = None


class Views:
    """The views of one kernel. `depth_of`: how many loops are around a block's operators."""

    def __init__(self, intervals: Intervals, depth_of: Callable[[Block], int]) -> None:
        self._intervals = intervals
        self._depth_of = depth_of
        self._sums: dict[SSAValue, Sum] = {}
        self._boxes: dict[SSAValue, Box | None] = {}
        self._same: dict[object, SSAValue] = {}

    def box(self, view: SSAValue) -> Box | None:
        """The box of a view; None where it is not known, so that it may be all of the buffer."""
        if view not in self._boxes:
            self._boxes[view] = self._find_box(view)
        return self._boxes[view]

    def element(self, load: LoadOp) -> Box | None:
        """The box of the one element that a scalar load reads."""
        box = self.box(load.memref)
        if box is None or len(box.kept) != len(load.indices):
            return None
        axes = list(box.axes)
        for axis, index in zip(box.kept, load.indices, strict=True):
            start = axes[axis].start.plus(self._sum(index), axes[axis].step)
            axes[axis] = Axis(start, 1)
        return box._replace(axes=tuple(axes))

    def apart(self, a: Box | None, b: Box | None, instances: Instances) -> bool:
        """Whether the boxes, of one buffer, certainly share no element."""
        if a is None or b is None:
            return False
        if self._same_frame(a.frame, b.frame, instances.fixed_depth):
            return self._axes_apart(list(zip(a.axes, b.axes, strict=True)), instances)
        line_a, line_b = _line(a), _line(b)
        if line_a is None or line_b is None:
            return False
        return self._axes_apart([(line_a, line_b)], instances)

    # Sums

    def _sum(self, value: SSAValue) -> Sum:
        found = self._sums.get(value)
        if found is None:
            found = self._sums[value] = self._find_sum(value)
        return found

    def _find_sum(self, value: SSAValue) -> Sum:
        constant = self._intervals.of(value).constant
        if constant is not None:
            return Sum(constant)
        owner = value.owner
        if isinstance(owner, arith.AddiOp):
            return self._sum(owner.lhs).plus(self._sum(owner.rhs))
        if isinstance(owner, arith.SubiOp):
            return self._sum(owner.lhs).plus(self._sum(owner.rhs), -1)
        if isinstance(owner, arith.IndexCastOp):
            return self._sum(owner.input)
        if isinstance(owner, arith.MuliOp):
            a, b = self._sum(owner.lhs), self._sum(owner.rhs)
            if not a.terms or not b.terms:
                factor, other = (a.constant, b) if not a.terms else (b.constant, a)
                return Sum(0).plus(other, factor)
        return Sum(0, ((self._representative(value), 1),))

    def _representative(self, value: SSAValue) -> SSAValue:
        """One value for all that are computed alike."""
        owner = value.owner
        if not _is_arith(owner):
            return value
        key = (type(owner), tuple(owner.properties.items()), tuple(map(self._sum, owner.operands)))
        return self._same.setdefault(key, value)

    def _is_fixed(self, value: SSAValue, depth: int) -> bool:
        owner = value.owner
        if isinstance(owner, Block):
            return self._depth_of(owner) <= depth
        if isinstance(owner, BlockIdxOp | BlockNumOp):
            return True
        block = owner.parent
        if block is not None and self._depth_of(block) <= depth:
            return True
        return _is_arith(owner) and all(self._is_fixed(v, depth) for v in owner.operands)

    # Boxes

    def _find_box(self, view: SSAValue) -> Box | None:
        owner = view.owner
        if isinstance(owner, SubviewOp):
            return self._subview(owner)
        if isinstance(owner, ReinterpretCastOp):
            return self._cast(owner)
        type_ = memref_type(view.type)
        if type_ is None:
            return None
        layout = layout_of(type_)
        sizes = tuple(UNBOUNDED if size == DYNAMIC_INDEX else size for size in layout.shape)
        return _whole(Frame(view, sizes, layout.strides, Sum(layout.offset or 0)))

    def _cast(self, op: ReinterpretCastOp) -> Box | None:
        """A frame of its own: the offset is from the start of the buffer, as memref has it."""
        if isinstance(op.source.owner, SubviewOp | ReinterpretCastOp):
            return None
        offsets = self._list(op.static_offsets.get_values(), op.offsets)
        sizes = self._bounds(op.static_sizes.get_values(), op.sizes)
        strides = tuple(
            None if stride == DYNAMIC_INDEX else int(stride)
            for stride in op.static_strides.get_values()
        )
        return _whole(Frame(None, tuple(sizes), strides, offsets[0]))

    def _subview(self, op: SubviewOp) -> Box | None:
        around = self.box(op.source)
        type_, result_type = memref_type(op.source.type), memref_type(op.result.type)
        if around is None or type_ is None or result_type is None:
            return None
        source = layout_of(type_)
        kept = kept_axes(selected_by(op, source), layout_of(result_type))
        offsets = self._list(op.static_offsets.get_values(), op.offsets)
        sizes = self._bounds(op.static_sizes.get_values(), op.sizes)
        if kept is None or len(offsets) != len(around.kept):
            return None
        axes = list(around.axes)
        for axis, offset, size, step in zip(
            around.kept, offsets, sizes, op.static_strides.get_values(), strict=True
        ):
            outer = axes[axis]
            if step == DYNAMIC_INDEX:
                continue
            extent = (size - 1) * int(step) * outer.step + 1
            start = outer.start.plus(offset, outer.step)
            axes[axis] = Axis(start, min(extent, outer.extent), outer.step * int(step))
        return around._replace(axes=tuple(axes), kept=tuple(around.kept[axis] for axis in kept))

    def _list(self, static: Iterable[int | float], values: Iterable[SSAValue]) -> list[Sum]:
        rest = iter(values)
        return [self._sum(next(rest)) if s == DYNAMIC_INDEX else Sum(int(s)) for s in static]

    def _bounds(self, static: Iterable[int | float], values: Iterable[SSAValue]) -> list[int]:
        """The largest that each size can be; at least 1."""
        rest = iter(values)
        most = [
            self._intervals.of(next(rest)).high if s == DYNAMIC_INDEX else int(s) for s in static
        ]
        return [max(size, 1) for size in most]

    # Comparison

    def _same_frame(self, a: Frame, b: Frame, depth: int) -> bool:
        """Whether boxes may be compared axis by axis: equal frames, no two places one element."""
        if a.buffer is not None and a.buffer is b.buffer:
            return True
        return (
            a.strides == b.strides
            and a.offset == b.offset
            and all(self._is_fixed(value, depth) for value, _ in a.offset.terms)
            and _is_injective(a)
            and _is_injective(b)
        )

    def _axes_apart(self, pairs: Sequence[tuple[Axis, Axis]], instances: Instances) -> bool:
        depth = instances.fixed_depth
        gaps: list[_Gap] = []
        for a, b in pairs:
            gap = self._gap(a, b, depth)
            if gap is None:
                continue
            if self._never_meet(gap, a, b):
                return True
            gaps.append(gap)
        counter = instances.counter
        return counter is not None and self._is_equal(counter, self._equal_values(gaps, depth))

    def _gap(self, a: Axis, b: Axis, depth: int) -> _Gap | None:
        """a.start - b.start; None where a value that is fixed does not cancel out."""
        first, second = dict(a.start.terms), dict(b.start.terms)
        changing: list[tuple[SSAValue, int, int]] = []
        for value in first | second:
            factors = first.get(value, 0), second.get(value, 0)
            if not self._is_fixed(value, depth):
                changing.append((value, *factors))
            elif factors[0] != factors[1]:
                return None
        constant = a.start.constant - b.start.constant
        return _Gap(constant, max(a.extent, b.extent), tuple(changing))

    def _never_meet(self, gap: _Gap, a: Axis, b: Axis) -> bool:
        """Whether the intervals are apart whatever the values that change are."""
        low = high = gap.constant
        for value, first, second in gap.changing:
            bounds = self._intervals.of(value)
            for factor in (first, -second):
                low += min(factor * bound for bound in bounds)
                high += max(factor * bound for bound in bounds)
        return low >= b.extent or high <= -a.extent

    def _equal_values(self, gaps: Sequence[_Gap], depth: int) -> set[SSAValue]:
        """The values that must be the same in both instances if the boxes share an element.

        A value is one if its factor is larger than all else on its axis can come to: equal numbers
        have equal digits.
        """
        equal: set[SSAValue] = set()
        usable = [gap for gap in gaps if all(a == b for _, a, b in gap.changing)]
        again = True
        while again:
            again = False
            for gap in usable:
                for value in self._forced(gap, equal, depth):
                    equal.add(value)
                    again = True
        return equal

    def _forced(self, gap: _Gap, equal: set[SSAValue], depth: int) -> list[SSAValue]:
        rest = [(value, abs(f)) for value, f, _ in gap.changing if value not in equal]
        reach = [f * self._spread(value) for value, f in rest]
        slack = gap.extent - 1 + abs(gap.constant) + sum(reach)
        return [
            value
            for (value, f), own in zip(rest, reach, strict=True)
            if f * self._least_change(value, depth) > slack - own
        ]

    def _spread(self, value: SSAValue) -> int:
        bounds = self._intervals.of(value)
        return min(bounds.high - bounds.low, UNBOUNDED)

    def _least_change(self, value: SSAValue, depth: int) -> int:
        """The least that two different values can differ by: a loop counter goes by its step."""
        owner = value.owner
        loop = owner.parent_op() if isinstance(owner, Block) else None
        if not isinstance(loop, ForOp):
            return 1
        same = self._is_fixed(loop.lb, depth) and self._is_fixed(loop.step, depth)
        return max(self._intervals.of(loop.step).low, 1) if same else 1

    def _is_equal(self, value: SSAValue, equal: set[SSAValue]) -> bool:
        """Whether a value must be equal: itself, or by its quotient and its remainder."""
        if self._representative(value) in equal:
            return True
        quotients: set[int] = set()
        remainders: set[int] = set()
        for use in value.uses:
            op = use.operation
            if use.index != 0 or not isinstance(op, _DIVISIONS + _REMAINDERS):
                continue
            divisor = self._intervals.of(op.rhs).constant
            if divisor is not None and divisor > 0 and self._is_equal(op.result, equal):
                (quotients if isinstance(op, _DIVISIONS) else remainders).add(divisor)
        return bool(quotients & remainders)


class _Gap(NamedTuple):
    """constant + sum of first * value in one instance - second * value in the other."""

    constant: int
    extent: int
    changing: tuple[tuple[SSAValue, int, int], ...]


def _is_arith(op: Operation | Block) -> TypeGuard[Operation]:
    return isinstance(op, Operation) and op.dialect_name() == arith.Arith.name


def _whole(frame: Frame) -> Box:
    axes = tuple(Axis(Sum(0), size) for size in frame.sizes)
    return Box(frame, axes, tuple(range(len(axes))))


def _is_injective(frame: Frame) -> bool:
    """Whether different indices inside the sizes are different elements of the buffer."""
    reach = 0
    axes = [(s, n) for s, n in zip(frame.strides, frame.sizes, strict=True) if n > 1]
    if any(stride is None for stride, _ in axes):
        return False
    for stride, size in sorted((stride or 0, size) for stride, size in axes):
        if stride <= reach:
            return False
        reach += (size - 1) * stride
    return True


def _line(box: Box) -> Axis | None:
    """The box as one axis of the elements of the buffer; None where a stride is not static."""
    start, reach = box.frame.offset, 0
    for axis, stride in zip(box.axes, box.frame.strides, strict=True):
        if stride is None or stride < 0:
            return None
        start = start.plus(axis.start, stride)
        reach += (axis.extent - 1) * stride
    return Axis(start, min(reach + 1, UNBOUNDED))
