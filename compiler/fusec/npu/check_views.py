"""Checks of npu-verify on views: rank, type, memory and static bounds; xDSL checks none of them.

In: one function. Out: nothing, or a VerifyException. A bound is refused only where it is certainly
broken whatever the values are.
"""

from collections.abc import Iterable
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.memref import ReinterpretCastOp, SubviewOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from fusec.npu.intervals import Interval, Intervals
from fusec.npu.views import Layout, Numbers, kept_axes, layout_of, numbers_of, selected
from fusec_dialects.npu.attrs import memref_type
from fusec_dialects.place import place


def check_views(ops: Iterable[Operation], intervals: Intervals) -> None:
    """Every sub-view and reinterpreted buffer among the operators."""
    for op in ops:
        if isinstance(op, SubviewOp):
            _check_subview(op, intervals)
        elif isinstance(op, ReinterpretCastOp):
            _check_cast(op, intervals)


def _check_subview(view: SubviewOp, intervals: Intervals) -> None:
    source_type, result_type = memref_type(view.source.type), memref_type(view.result.type)
    if source_type is None or result_type is None:
        return
    source, result = layout_of(source_type), layout_of(result_type)
    numbers = numbers_of(view)
    if {len(part) for part in numbers} != {len(source.shape)}:
        raise VerifyException(
            f"{place(view)}: offsets, sizes and strides are lists of {len(source.shape)} numbers, "
            "one for each axis of the source"
        )
    _check_same_memory(view)
    full = selected(source, *numbers)
    if kept_axes(full, result) is None:
        raise VerifyException(
            f"{place(view)}: the view has {_text(full)}, or that without axes of size 1, "
            f"but its type says {_text(result)}"
        )
    if full.offset != result.offset:
        raise VerifyException(
            f"{place(view)}: the view starts at element {_number(full.offset)} of the buffer, "
            f"but its type says {_number(result.offset)}"
        )
    _check_bounds(view, numbers, source, intervals)


def _check_same_memory(view: SubviewOp | ReinterpretCastOp) -> None:
    source, result = memref_type(view.source.type), memref_type(view.result.type)
    if source is None or result is None:
        return
    if source.memory_space != result.memory_space:
        raise VerifyException(
            f"{place(view)}: a view of {source.memory_space} is not in {result.memory_space}"
        )
    if source.element_type != result.element_type:
        raise VerifyException(
            f"{place(view)}: a view of {source.element_type} elements does not have "
            f"{result.element_type} elements"
        )


def _check_bounds(view: SubviewOp, numbers: Numbers, source: Layout, intervals: Intervals) -> None:
    offsets, sizes, steps = _intervals(view, numbers, intervals)
    for axis, (offset, size, step) in enumerate(zip(offsets, sizes, steps, strict=True)):
        if offset.high < 0 or size.high < 0 or step.high < 1:
            raise VerifyException(
                f"{place(view)}: axis {axis} has a negative offset or size, or no positive step"
            )
        length = source.shape[axis]
        last = max(offset.low, 0) + (max(size.low, 1) - 1) * max(step.low, 1)
        if length != DYNAMIC_INDEX and size.low > 0 and last >= length:
            raise VerifyException(
                f"{place(view)}: axis {axis} reaches element {last} of {length}; "
                "the view leaves its buffer"
            )


def _check_cast(view: ReinterpretCastOp, intervals: Intervals) -> None:
    source_type, result_type = memref_type(view.source.type), memref_type(view.result.type)
    if source_type is None or result_type is None:
        return
    _check_same_memory(view)
    result = layout_of(result_type)
    numbers = numbers_of(view)
    if len(numbers.offsets) != 1 or len(numbers.steps) != len(result.shape):
        raise VerifyException(
            f"{place(view)}: expected one offset and {len(result.shape)} strides, one for each axis"
        )
    strides = tuple(None if step == DYNAMIC_INDEX else step for step in numbers.steps)
    offset = None if numbers.offsets[0] == DYNAMIC_INDEX else numbers.offsets[0]
    if strides != result.strides or offset != result.offset:
        raise VerifyException(
            f"{place(view)}: offset {_number(offset)} and strides {_numbers(strides)} differ from "
            f"{_number(result.offset)} and {_numbers(result.strides)} of the type"
        )
    _check_cast_bounds(view, numbers, intervals)


def _check_cast_bounds(view: ReinterpretCastOp, numbers: Numbers, intervals: Intervals) -> None:
    source = memref_type(view.source.type)
    if source is None or DYNAMIC_INDEX in source.get_shape():
        return
    (offset,), sizes, steps = _intervals(view, numbers, intervals)
    if offset.high < 0 or any(step.low < 0 for step in steps if step.constant is not None):
        raise VerifyException(f"{place(view)}: the offset or a stride is negative")
    if any(size.low < 1 for size in sizes):
        return
    last = max(offset.low, 0)
    last += sum((size.low - 1) * max(step.low, 0) for size, step in zip(sizes, steps, strict=True))
    elements = prod(source.get_shape())
    if last >= elements:
        raise VerifyException(
            f"{place(view)}: reaches element {last} of {elements}; the view leaves its buffer"
        )


def _intervals(
    view: SubviewOp | ReinterpretCastOp, numbers: Numbers, intervals: Intervals
) -> list[list[Interval]]:
    """The interval of each offset, size and step of a view."""
    values = iter(view.operands[1:])
    return [
        [
            intervals.of(next(values)) if number == DYNAMIC_INDEX else Interval(number, number)
            for number in part
        ]
        for part in numbers
    ]


def _text(layout: Layout) -> str:
    sizes = "x".join("?" if s == DYNAMIC_INDEX else str(s) for s in layout.shape)
    return f"{sizes} with strides {_numbers(layout.strides)}"


def _numbers(numbers: tuple[int | None, ...]) -> str:
    return f"[{', '.join(map(_number, numbers))}]"


def _number(number: int | None) -> str:
    return "?" if number is None else str(number)
