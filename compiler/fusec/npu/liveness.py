"""When each buffer of a function holds something that is still needed, in positions of `buffers`.

In: the accesses of a function. Out: for each alloc the first and the last position, both inclusive;
two buffers whose ranges share a position never share an address.
"""

from typing import NamedTuple

from xdsl.ir import SSAValue

from fusec.npu.buffers import Access, Alloc, FunctionAccesses, Loop


class Range(NamedTuple):
    """Positions, both ends inclusive."""

    first: int
    last: int


def live_ranges(found: FunctionAccesses) -> dict[SSAValue, Range]:
    """Buffer -> live range, for every alloc of the function, in program order.

    A rotating buffer lives over its whole loop: its next copy is filled while the last is used. Any
    other lives from its first to its last access; an access in a loop further inside than the alloc
    counts for that whole loop. A buffer without an access lives where it stands.
    """
    uses = found.by_buffer()
    return {alloc.op.result: _range(alloc, uses[alloc.op.result]) for alloc in found.allocs}


def _range(alloc: Alloc, uses: list[Access]) -> Range:
    if alloc.loop is not None and alloc.op.copy_count > 1:
        return Range(alloc.loop.first, alloc.loop.last)
    if not uses:
        return Range(alloc.position, alloc.position)
    spans = [_span(use, alloc.loop) for use in uses]
    return Range(min(first for first, _ in spans), max(last for _, last in spans))


def _span(use: Access, home: Loop | None) -> Range:
    """The access itself, or the outermost loop around it that is inside `home`."""
    loop, outermost = use.loop, None
    while loop is not None and loop is not home:
        loop, outermost = loop.parent, loop
    if outermost is None:
        return Range(use.position, use.position)
    return Range(outermost.first, outermost.last)
