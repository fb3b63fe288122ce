"""Rules for the calls of the vector core: where its operands lie in UB.

The library of this release computes on blocks of 32 bytes and has no way out for anything else: an
operand that begins inside a block gives wrong numbers, or an exception on the chip. The compiler
pads whole buffers, not views.
"""

import re
from collections.abc import Iterator
from math import gcd

from fusec.export.divisor import divisor
from fusec.export.finding import Finding, error
from fusec.export.hivm_module import Call, Function, MemRef, Operation, Use, parse_memref

BLOCK_BITS = 32 * 8
_UNCHECKED = (
    "store_ubuf_to_gm_",
    "print_",
    "assert_",
    "init_debug",
    "finish_debug",
    "sync_block_",
    "free_lock_",
)
"""A store from inside a block is done element by element; the others do not compute."""
_STRIDED_ALLOWED = ("load_gm_to_ubuf_", "deinterleave_")
_ANY_STRIDE = ("broadcast_first_axis_un", "broadcast_last_axis_un")
"""Made for rows that are not multiples of 32 bytes apart (`unalign`, `unknown_align`)."""
_OFFSET = re.compile(r" to offset: \[(%[\w$.-]+)\]")
_VIEW_OFFSETS = re.compile(r"^ %[\w$.-]+\[([^\]]*)\]")


def inspect_vector(function: Function) -> Iterator[Finding]:
    for call in function.calls:
        if call.callee.startswith(_UNCHECKED):
            continue
        buffers: dict[int, MemRef] = {}
        for position, (operand, printed) in enumerate(zip(call.operands, call.types, strict=True)):
            in_ub = parse_memref(printed)
            buffer = function.memref(operand) if in_ub is not None and in_ub.space == "ub" else None
            if buffer is not None:
                buffers[position] = buffer
        wide = any(len(b.sizes) > 1 and b.sizes[-1] != 1 for b in buffers.values())
        for position, buffer in buffers.items():
            yield from _operand(function, call, position, buffer, packed=wide)


def _operand(
    function: Function, call: Call, position: int, buffer: MemRef, *, packed: bool
) -> Iterator[Finding]:
    """`packed`: the call broadcasts or reduces along rows, and so takes a column without gaps."""
    place = f"{function.name}:{call.line}"
    what = f"operand {position} of {call.callee}"
    offset = (
        buffer.offset
        if buffer.offset is not None
        else _offset_divisor(function, call.operands[position])
    )
    if offset * buffer.bits % BLOCK_BITS:
        known = "begins" if buffer.offset is not None else "may begin"
        message = (
            f"{what} {known} inside a block of 32 bytes of UB "
            f"(a multiple of {offset} {buffer.element})"
        )
        yield error("unaligned-operand", place, message)
    gap = None if call.callee.startswith(_ANY_STRIDE) else _unaligned_stride(buffer, packed=packed)
    if gap is not None:
        message = f"{what} has rows {gap} {buffer.element} apart, not a multiple of 32 bytes"
        if call.callee.startswith("copy_ubuf_to_ubuf_2d_"):
            message += "; carry a column through a loop as [n], or write it into the loop's value"
        yield error("unaligned-stride", place, message)
    if buffer.strides and not call.callee.startswith(_STRIDED_ALLOWED):
        size, stride = buffer.sizes[-1], buffer.strides[-1]
        if size != 1 and stride not in (1, None):
            message = f"{what} takes every {stride}th element; deinterleave it or load it so"
            yield error("strided-operand", place, message)


def _unaligned_stride(buffer: MemRef, *, packed: bool) -> int | None:
    """A stride between rows that is no multiple of a block."""
    for axis, (size, stride) in enumerate(zip(buffer.sizes[:-1], buffer.strides[:-1], strict=True)):
        column = packed and stride == 1 and all(inner == 1 for inner in buffer.sizes[axis + 1 :])
        if size != 1 and stride is not None and not column and stride * buffer.bits % BLOCK_BITS:
            return stride
    return None


def _offset_divisor(function: Function, use: Use) -> int:
    """What the offset of a view, in elements from its buffer, is a multiple of."""
    known = 0
    op = function.definition(use)
    while op is not None and op.name.startswith("memref.") and op.operands:
        if op.name == "memref.reinterpret_cast":
            described = _described(function, op)
            if described is None:
                return 1
            op = function.definition(described)
            continue
        found = _VIEW_OFFSETS.match(op.rest) if op.name == "memref.subview" else None
        outer = parse_memref(op.types[0])
        if outer is None:
            return 1
        if found is not None:
            for text, stride in zip(found.group(1).split(", "), outer.strides, strict=False):
                step = (
                    abs(int(text))
                    if text.lstrip("-").isdigit()
                    else divisor(function, Use(text, op.line))
                )
                known = gcd(known, step * (stride if stride is not None else 1))
        op = function.definition(op.operands[0])
    return known


def _described(function: Function, op: Operation) -> Use | None:
    """The view that a buffer begins like, where it is put together from that view's description."""
    found = _OFFSET.search(op.rest)
    source = function.definition(Use(found.group(1), op.line)) if found is not None else None
    if source is None or source.name != "memref.extract_strided_metadata":
        return None
    return source.operands[0]
