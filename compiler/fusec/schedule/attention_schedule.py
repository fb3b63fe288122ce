"""The schedule of an attention kernel: whole rows of scores in a workspace, and their parts.

In: a problem and a schedule, perhaps written by hand. Out: the cube schedules of its contractions,
the tiles of its vector half, or a Refusal that names the buffer and the capacity.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.attention_problem import AttentionProblem
from fusec.schedule.cube_schedule import (
    FRACTAL,
    ROW_BYTES,
    BufferSize,
    CubeSchedule,
    footprint,
    overflow,
    round_up,
)
from fusec.schedule.cube_time import GM_LINE
from fusec.schedule.types import Refusal, Schedule


@dataclass(frozen=True)
class AttentionSchedule(Schedule):
    """A tile is `m` queries with all of their keys. Scores are made `n` keys at a time, in steps of
    `k` along the features (`l0_k` in l0); the vector cores take `chunk` rows at a time, and if that
    is not all `columns` of each; values `d` columns at a time, in steps of `keys` (`l0_keys`).
    `flight`: 2 where scores of the next tile are made before values of this one, so that the vector
    cores work at the same time. `after`: how many rows of values the vector cores take at a time
    where operators follow.
    """

    family: ClassVar[str] = "attention"

    m: int
    n: int
    k: int
    l0_k: int
    d: int
    keys: int
    l0_keys: int
    chunk: int
    columns: int
    flight: int
    blocks: int
    copies: int = 2
    after: int = 0

    @property
    def scores(self) -> CubeSchedule:
        """The first contraction."""
        return CubeSchedule(1, self.m, self.n, self.k, self.l0_k, self.blocks, self.copies)

    @property
    def values(self) -> CubeSchedule:
        """The second contraction."""
        return CubeSchedule(1, self.m, self.d, self.keys, self.l0_keys, self.blocks, self.copies)


def query_tiles(problem: AttentionProblem, s: AttentionSchedule) -> tuple[int, ...]:
    """The grid of tiles: outer axes, queries."""
    return (*(axis.size for axis in problem.outer), -(-problem.queries.size // s.m))


def block_tiles(problem: AttentionProblem, s: AttentionSchedule) -> int:
    """What blocks share: tiles, or pairs of tiles."""
    return -(-prod(query_tiles(problem, s)) // s.flight)


def pitch(length: int, dtype: str) -> int:
    """Elements from one row of a workspace to the next: rows begin on lines of gm."""
    line = GM_LINE // DTYPE_BYTES[dtype]
    short = ROW_BYTES // DTYPE_BYTES[dtype]
    return round_up(length, line if 2 * length > line else short)


def workspace_rows(problem: AttentionProblem) -> list[tuple[int, str]]:
    """Elements and type of a row of each workspace: scores, weights, values if they need one."""
    types = ("f32", problem.values.dtype)
    found = [(pitch(problem.keys, dtype), dtype) for dtype in types]
    if problem.finish is not None:
        found.append((pitch(problem.finish.length, "f32"), "f32"))
    return found


def holds_queries(problem: AttentionProblem, s: AttentionSchedule) -> bool:
    """Whether queries are loaded once for all keys."""
    axes = problem.scores.axes
    return not axes.outer_k and s.k >= axes.k.size


def l1_buffers(problem: AttentionProblem, s: AttentionSchedule, target: Target) -> list[BufferSize]:
    """The tiles of both contractions: those of one may be loaded while the other runs."""
    both = [(problem.scores, s.scores), (problem.values, s.values)]
    return [b for p, one in both for b in footprint(p, one, target) if b.space == "l1"]


def misfit(problem: AttentionProblem, s: AttentionSchedule, target: Target) -> Refusal | None:
    """Why the cube half of a schedule cannot be built; None if it can."""
    for name in ("m", "n", "k", "l0_k", "d", "keys", "l0_keys", "chunk", "columns", "blocks"):
        if getattr(s, name) < 1:
            return Refusal("schedule", f"'{name}' is {getattr(s, name)}, expected at least 1")
    for name, limit in (("chunk", s.m), ("columns", problem.keys)):
        if getattr(s, name) > limit:
            return Refusal("schedule", f"'{name}' is {getattr(s, name)}, expected {limit} at most")
    if (problem.finish is None) != (s.after == 0):
        what = "nothing follows" if problem.finish is None else "operators follow"
        return Refusal("schedule", f"'after' is {s.after}, but {what}")
    for name in ("chunk", "after"):
        if getattr(s, name) and s.m % getattr(s, name):
            text = f"'{name}' is {getattr(s, name)}, expected a divisor of m = {s.m}"
            return Refusal("schedule", text)
    for step, whole in (("l0_k", "k"), ("l0_keys", "keys")):
        if getattr(s, step) % FRACTAL and getattr(s, step) < getattr(s, whole):
            return Refusal("schedule", f"'{step}' is no multiple of {FRACTAL}")
    if s.flight not in (1, 2):
        return Refusal("schedule", f"'flight' is {s.flight}, expected 1 or 2")
    if s.blocks > block_tiles(problem, s):
        tiles = prod(query_tiles(problem, s))
        return Refusal("schedule", f"'blocks' is {s.blocks} for {tiles} tiles, {s.flight} at once")
    if s.flight == 2 and prod(query_tiles(problem, s)) == 1:
        return Refusal("schedule", "'flight' is 2 for a single tile")
    for half, one in ((problem.scores, s.scores), (problem.values, s.values)):
        rest = [b for b in footprint(half, one, target) if b.space != "l1"]
        if (refusal := overflow(rest, target)) is not None:
            return refusal
    return overflow(l1_buffers(problem, s, target), target)
