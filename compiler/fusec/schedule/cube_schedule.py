"""The schedule of a cube kernel, the buffers that it needs, and whether a target has room for them.

A hand-written schedule is checked here too: a Refusal names the buffer and the capacity.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar, NamedTuple

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.cube_problem import BIAS, COLUMN, ROW, TILE, TILES, TURNED, CubeProblem
from fusec.schedule.types import Refusal, Schedule

FRACTAL = 16
"""Rows of a fractal; the step of l0_k, m and n."""

ROW_BYTES = 32
"""Bytes of a row of a fractal in l1, l0a and l0b."""


@dataclass(frozen=True)
class CubeSchedule(Schedule):
    """A tile is `rows` whole rows of `m` columns (or one part of a row) by `n`, K in steps of `k`,
    of which `l0_k` go to l0 at a time. `copies` of the tiles in l1 and l0 rotate."""

    family: ClassVar[str] = "cube"

    rows: int
    m: int
    n: int
    k: int
    l0_k: int
    blocks: int
    copies: int = 2

    @property
    def tile_m(self) -> int:
        return self.rows * self.m


class BufferSize(NamedTuple):
    """One buffer of a kernel: `bytes` for each of its copies."""

    name: str
    space: str
    bytes: int
    copies: int


def tile_counts(problem: CubeProblem, schedule: CubeSchedule) -> tuple[int, ...]:
    """The grid of tiles: outer axes, rows, columns, n."""
    axes = problem.axes
    inner = zip((axes.row, axes.col, axes.n), (schedule.rows, schedule.m, schedule.n), strict=True)
    return (*(axis.size for axis in axes.grid), *(-(-axis.size // tile) for axis, tile in inner))


def footprint(problem: CubeProblem, schedule: CubeSchedule, target: Target) -> list[BufferSize]:
    """Every buffer of the kernel, with the copies that it gets: in l0 as many as fit."""
    axes, s = problem.axes, schedule
    size = DTYPE_BYTES[problem.dtype]
    m, n = s.tile_m, s.n
    a = (s.k, m) if axes.a_transposed else (m, s.k)
    b = (n, s.k) if axes.b_transposed else (s.k, n)
    step = min(s.l0_k, s.k)
    found = [
        BufferSize("a tile", "l1", nz_bytes(*a, size), s.copies),
        BufferSize("b tile", "l1", nz_bytes(*b, size), s.copies),
        _l0("a step", "l0a", nz_bytes(m, step, size), s.copies, target),
        _l0("b step", "l0b", nz_bytes(n, step, size), s.copies, target),
        BufferSize("accumulator", "l0c", round_up(m, FRACTAL) * round_up(n, FRACTAL) * 4, 1),
    ]
    forms = {addend.form for addend in problem.addends}
    for addend in problem.addends:
        column = (1, m) if problem.unit_column(addend) else (m, 1)
        shapes = {BIAS: (1, n), ROW: (1, n), COLUMN: column, TILE: (m, n), TURNED: (n, m)}
        shape = shapes[addend.form]
        bytes_ = n * 4 if addend.form == BIAS else nz_bytes(*shape, size)
        found.append(BufferSize(f"addend ({addend.form})", "l1", bytes_, s.copies))
    if forms & TILES:
        found.append(BufferSize("identity", "l1", nz_bytes(n, n, size), 1))
    if ROW in forms:
        found.append(BufferSize("ones", "l1", nz_bytes(1, m, size), 1))
    if COLUMN in forms:
        found.append(BufferSize("ones", "l1", nz_bytes(1, n, size), 1))
    if BIAS in forms:
        found.append(BufferSize("bias table", "bt", n * 4, 1))
    return found


def _l0(name: str, space: str, bytes: int, copies: int, target: Target) -> BufferSize:
    return BufferSize(name, space, bytes, copies if fits_twice(bytes, space, target) else 1)


def fits_twice(bytes: int, space: str, target: Target) -> bool:
    """Whether two copies of a buffer fit a memory."""
    return 2 * bytes <= target.capacity(space)


def check(problem: CubeProblem, schedule: CubeSchedule, target: Target) -> Refusal | None:
    """Why a schedule cannot be built for a problem on a target; None if it can."""
    s, axes = schedule, problem.axes
    for name in ("rows", "m", "n", "k", "l0_k", "blocks", "copies"):
        if getattr(s, name) < 1:
            return Refusal("schedule", f"'{name}' is {getattr(s, name)}, expected at least 1")
    if s.rows > 1 and not (axes.whole_rows and s.m == axes.col.size):
        return Refusal(
            "schedule",
            f"a tile of {s.rows} rows needs whole rows (m = {axes.col.size}) that lie together "
            "in the result; use rows = 1",
        )
    if s.l0_k % FRACTAL and s.l0_k < s.k:
        return Refusal("schedule", f"'l0_k' is {s.l0_k}, expected a multiple of {FRACTAL}")
    tiles = prod(tile_counts(problem, s))
    if s.blocks > tiles:
        return Refusal("schedule", f"'blocks' is {s.blocks} for {tiles} tiles")
    return overflow(footprint(problem, s, target), target)


def _needs(buffers: list[BufferSize], target: Target) -> dict[str, int]:
    """Bytes by memory."""
    needs: dict[str, int] = {}
    for buffer in buffers:
        aligned = round_up(buffer.bytes, target.alignments[buffer.space])
        needs[buffer.space] = needs.get(buffer.space, 0) + aligned * buffer.copies
    return needs


def fits(buffers: list[BufferSize], target: Target) -> bool:
    """Whether the buffers fit their memories together."""
    needs = _needs(buffers, target)
    return all(need <= target.capacities[space] for space, need in needs.items())


def overflow(buffers: list[BufferSize], target: Target) -> Refusal | None:
    """A Refusal that names the first memory that the buffers do not fit, with all buffers in it."""
    for space, need in _needs(buffers, target).items():
        capacity = target.capacity(space)
        if need > capacity:
            here = [b for b in buffers if b.space == space]
            text = ", ".join(f"{b.name} {b.bytes} x {b.copies}" for b in here)
            return Refusal(
                "capacity",
                f"{space} holds {capacity} bytes, the kernel needs {need}: {text}",
                {"space": space, "capacity": capacity, "need": need},
            )
    return None


def nz_bytes(rows: int, columns: int, size: int) -> int:
    """Bytes of a matrix in l1 or l0a, in whole fractals."""
    return round_up(rows, FRACTAL) * round_up(columns, ROW_BYTES // size) * size


def round_up(value: int, multiple: int) -> int:
    """The next multiple."""
    return -(-value // multiple) * multiple
