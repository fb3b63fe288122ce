"""Where every buffer of a module lies, for tables and JSON.

In: a module on the npu level, placed or not. Out: plain data (`dataclasses.asdict` gives JSON), and
its text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from fusec.hw import Target
from fusec.npu.allocator import max_live
from fusec.npu.buffers import accesses
from fusec.npu.liveness import live_ranges
from fusec.npu.module import hosts, kernels, target_of
from fusec.npu.overflow import name_of, tile_of
from fusec.npu.plan import by_space, copy_bytes, requests_of


@dataclass(frozen=True)
class BufferMemory:
    """One buffer. `bytes`: one copy, aligned. `first`, `last`: positions in the function."""

    name: str
    tile: str
    space: str
    offset: int | None
    bytes: int
    copies: int
    first: int
    last: int


@dataclass(frozen=True)
class SpaceMemory:
    """One memory of a function; `peak` is the end of the highest buffer, None if not placed."""

    space: str
    capacity: int
    lower_bound: int
    peak: int | None
    buffers: tuple[BufferMemory, ...]


@dataclass(frozen=True)
class FunctionMemory:
    """One kernel, or the host function."""

    function: str
    spaces: tuple[SpaceMemory, ...]


def memory_report(module: ModuleOp) -> tuple[FunctionMemory, ...]:
    """The buffers of every kernel and of the host function, in the module's order."""
    target = target_of(module)
    return tuple(_function(f, target) for f in (*kernels(module), *hosts(module)))


def format_memory_report(report: Sequence[FunctionMemory]) -> str:
    """One line for each buffer, by function and memory."""
    lines: list[str] = []
    for function in report:
        for space in function.spaces:
            peak = "not placed" if space.peak is None else f"peak {space.peak}"
            lines.append(
                f"@{function.function} {space.space}: {peak} of {space.capacity} bytes, "
                f"lower bound {space.lower_bound}"
            )
            lines.extend(_line(buffer) for buffer in space.buffers)
    return "\n".join(lines)


def _line(buffer: BufferMemory) -> str:
    offset = "-" if buffer.offset is None else str(buffer.offset)
    copies = f"{buffer.copies} x " if buffer.copies > 1 else ""
    return (
        f"  {offset:>8}  {copies + str(buffer.bytes):>12}  "
        f"{f'{buffer.first}..{buffer.last}':>9}  {buffer.name} {buffer.tile}"
    )


def _function(function: FuncOp, target: Target) -> FunctionMemory:
    found = accesses(function)
    ranges = live_ranges(found)
    spaces: list[SpaceMemory] = []
    for space, allocs in by_space(found).items():
        alignment = target.alignment(space)
        requests = requests_of(allocs, ranges, alignment)
        buffers = tuple(
            BufferMemory(
                name_of(alloc.op),
                tile_of(alloc.op),
                space.value,
                request.at,
                copy_bytes(alloc.op, alignment),
                alloc.op.copy_count,
                request.first,
                request.last,
            )
            for alloc, request in zip(allocs, requests, strict=True)
        )
        ends = [b.offset + b.bytes * b.copies for b in buffers if b.offset is not None]
        spaces.append(
            SpaceMemory(
                space.value,
                target.capacity(space),
                max_live(requests)[0],
                max(ends) if len(ends) == len(buffers) else None,
                buffers,
            )
        )
    return FunctionMemory(function.sym_name.data, tuple(spaces))
