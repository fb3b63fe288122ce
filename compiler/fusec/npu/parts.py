"""Which elements of a buffer on the host an argument of a launch stands for, and whether two share.

In: an argument of a launch, and of its kernel with `npu.part`, the strided type of what is a part
of a larger buffer. Out: the part; parts that share no element may be read and written at once.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import ReinterpretCastOp
from xdsl.ir import SSAValue

from fusec.npu.views import layout_of
from fusec_dialects.npu.attrs import memref_type

PART_ATTRIBUTE = "npu.part"


class Part(NamedTuple):
    """Elements `start` + sum of position * stride; `steps`: (stride, size), the longest first."""

    start: int
    steps: tuple[tuple[int, int], ...]

    @property
    def span(self) -> int:
        """Elements from the first to the last, both included."""
        return 1 + sum(stride * (size - 1) for stride, size in self.steps)


def part_of(view: SSAValue, kernel: FuncOp, index: int) -> Part | None:
    """What argument `index` of a kernel stands for in its buffer; None where it is not static."""
    type_ = memref_type(view.type)
    if type_ is None:
        return None
    owner = view.owner
    start = owner.static_offsets.get_values()[0] if isinstance(owner, ReinterpretCastOp) else 0
    marks = kernel.arg_attrs
    given = NoneAttr() if marks is None else marks.data[index].data.get(PART_ATTRIBUTE, NoneAttr())
    layout = layout_of(memref_type(given) or type_)
    sizes, strides = layout.shape, layout.strides
    if start == DYNAMIC_INDEX or DYNAMIC_INDEX in sizes:
        return None
    found: list[tuple[int, int]] = []
    for size, stride in zip(sizes, strides, strict=True):
        if not isinstance(stride, int):
            return None
        if size > 1:
            found.append((stride, size))
    return Part(int(start), tuple(sorted(found, reverse=True)))


def apart(a: Part, b: Part) -> bool:
    """Whether two parts of one buffer certainly share no element.

    Both are cut into rows of the longest stride: they share nothing where the rows are different
    ones, or where within a row they are apart. Rows that run into each other count as one run.
    """
    while a.steps or b.steps:
        stride = max(part.steps[0][0] for part in (a, b) if part.steps)
        rows_a, a_row = _row(a, stride)
        rows_b, b_row = _row(b, stride)
        if rows_a is None or rows_b is None or a_row is None or b_row is None:
            break
        if rows_a.stop <= rows_b.start or rows_b.stop <= rows_a.start:
            return True
        a, b = a_row, b_row
    return a.start + a.span <= b.start or b.start + b.span <= a.start


def _row(part: Part, stride: int) -> tuple[range | None, Part | None]:
    """The rows that a part has elements in, and what it is in each. A step that goes on from one
    row to the next, like the axes of a tensor on one axis, is cut at the rows."""
    count, steps = 1, part.steps
    if steps and stride > steps[0][0] and not stride % steps[0][0]:
        (step, size), inner = steps[0], stride // steps[0][0]
        if not size % inner:
            steps = ((stride, size // inner), (step, inner), *steps[1:])
    if steps and steps[0][0] == stride:
        count, steps = steps[0][1], steps[1:]
    first, start = divmod(part.start, stride)
    row = Part(start, steps)
    if start + row.span > stride:
        return None, None
    return range(first, first + count), row
