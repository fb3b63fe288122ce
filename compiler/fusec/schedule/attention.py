"""Chooses the tiles of an attention kernel by modelled time.

In: an `AttentionProblem`. Out: the `AttentionSchedule` of least modelled time, the same one for the
same problem and target, or a Refusal with the buffer and the capacity that do not agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import TypeAlias

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.attention_problem import AttentionProblem, attention_problem
from fusec.schedule.attention_schedule import (
    AttentionSchedule,
    block_tiles,
    misfit,
    query_tiles,
)
from fusec.schedule.attention_time import AttentionTime
from fusec.schedule.cube_problem import CubeProblem
from fusec.schedule.cube_schedule import FRACTAL, round_up
from fusec.schedule.region import Region
from fusec.schedule.types import Refusal, RefusalError
from fusec.schedule.work import Work, work_us

LONGEST = 512
"""No tile of scores or values is longer than this, and none has more queries than half of it."""

STEPS = (2048, 1024, 512, 256, 128, 64, 32, 16)
"""How many keys a step of the second contraction has at most; the first two that fit are tried."""


Steps: TypeAlias = tuple[int, int, int]
"""Columns of a tile, step along K, step in l0; or the parts of the vector cores."""


def schedule_attention(region: Region, target: Target) -> AttentionSchedule | Refusal:
    """The candidate of least modelled time."""
    try:
        return best(attention_problem(region), target)
    except RefusalError as error:
        return error.refusal


def best(problem: AttentionProblem, target: Target) -> AttentionSchedule | Refusal:
    """The candidate of least modelled time, of nearly equal ones the one with the fewest steps; or
    the reason of the last that failed."""
    time = AttentionTime(problem, target)
    found: tuple[tuple[float, ...], AttentionSchedule] | None = None
    refusal = Refusal("capacity", f"no tile of attention fits {target.name}")
    for candidate in _candidates(problem, time, target):
        answer = misfit(problem, candidate, target) or time.misfit(candidate)
        if answer is not None:
            refusal = answer
            continue
        us = max(work_us(time.work(candidate), target), target.floor_us["mixed"])
        steps = prod(query_tiles(problem, candidate)) * -(-problem.keys // candidate.n)
        score = (_rounded(us), candidate.flight, steps)
        if found is None or score < found[0]:
            found = (score, candidate)
    return refusal if found is None else found[1]


def _rounded(time: float) -> float:
    """To three digits, as far as the model can be believed."""
    return float(f"{time:.3g}")


def check_attention(region: Region, s: AttentionSchedule, target: Target) -> Refusal | None:
    """Why a schedule, perhaps written by hand, cannot be built; None if it can."""
    try:
        problem = attention_problem(region)
    except RefusalError as error:
        return error.refusal
    return misfit(problem, s, target) or AttentionTime(problem, target).misfit(s)


def attention_work(region: Region, s: AttentionSchedule, target: Target) -> Work:
    """What the busiest cube core and its vector cores do."""
    return AttentionTime(attention_problem(region), target).work(s)


def _candidates(
    problem: AttentionProblem, time: AttentionTime, target: Target
) -> Iterator[AttentionSchedule]:
    """For each number of queries the largest parts that fit ub, with the largest and with the
    fastest tiles of both contractions, double buffered if that fits; large tiles first."""
    cores = target.cores("cube")
    for m in _splits(problem.queries.size, LONGEST // 2):
        m = round_up(m, 2) if m > 1 else 1
        part = _part(time, problem, m)
        if part is None:
            continue
        for copies in (2, 1):
            drafts = [
                [
                    AttentionSchedule(m, *one, *two, *part[:2], 1, 1, copies, part[2])
                    for one, two in _pairs(problem, m, copies, target, side)
                ]
                for side in range(2)
            ]
            if not all(drafts):
                continue
            blocks = min(prod(query_tiles(problem, drafts[0][0])), cores)
            first = _fastest([replace(s, blocks=blocks) for s in drafts[0]], time.scores)
            second = _fastest([replace(s, blocks=blocks) for s in drafts[1]], time.values)
            fast = replace(first, d=second.d, keys=second.keys, l0_keys=second.l0_keys)
            for both in dict.fromkeys((replace(drafts[0][0], blocks=blocks), fast)):
                yield both
                if (pair := _pair(problem, both, cores)) is not None:
                    yield pair
            if misfit(problem, fast, target) is None:
                break


def _pair(problem: AttentionProblem, s: AttentionSchedule, cores: int) -> AttentionSchedule | None:
    """The schedule with two tiles in flight; None where there is one tile, or one fractal of keys.

    With several pairs for a block scores are made in several steps: Huawei's compiler does not
    come to an end where they are made in one.
    """
    if prod(query_tiles(problem, s)) == 1:
        return None
    pair = replace(s, flight=2)
    count = block_tiles(problem, pair)
    if count > cores and pair.n >= problem.keys:
        pair = replace(pair, n=round_up(-(-problem.keys // 2), FRACTAL))
        if pair.n >= problem.keys:
            return None
    return replace(pair, blocks=min(count, cores))


def _fastest(
    drafts: list[AttentionSchedule], time: Callable[[AttentionSchedule], Work]
) -> AttentionSchedule:
    """The first of those that take least time for one of the contractions."""
    return min(drafts, key=lambda s: _rounded(time(s).cycles))


def _pairs(
    problem: AttentionProblem, m: int, copies: int, target: Target, side: int
) -> list[tuple[Steps, Steps]]:
    """Steps of both contractions, all there are for one of them."""
    one, two = (list(_tiles(half, m, copies, target)) for half in (problem.scores, problem.values))
    if not one or not two:
        return []
    return [(a, two[0]) for a in one] if side == 0 else [(one[0], b) for b in two]


def _part(time: AttentionTime, problem: AttentionProblem, m: int) -> Steps | None:
    """Rows and columns of scores that a vector core takes at once, and rows of values: whole rows,
    its half of the tile or as many as fit; where not even one fits, parts of some."""
    rows = [c for c in range(max(m // 2, 1), 0, -1) if m % c == 0]
    for chunk in rows:
        after = 0 if problem.finish is None else chunk
        if time.fits(chunk, problem.keys, after):
            return chunk, problem.keys, after
    columns = problem.keys
    while columns > FRACTAL:
        columns = round_up(-(-columns // 2), FRACTAL)
        for chunk in (c for c in (FRACTAL, 4, 1) if m % c == 0):
            after = 0 if problem.finish is None else chunk
            if time.fits(chunk, columns, after):
                return chunk, columns, after
    return None


def _tiles(problem: CubeProblem, m: int, copies: int, target: Target) -> Iterator[Steps]:
    """The steps of a contraction with m rows, large ones first. The last columns are no less than a
    fractal, if possible: fixpipe stores shorter rows as slowly."""
    size, total = DTYPE_BYTES[problem.dtype], problem.axes.k.size
    lines = round_up(m, FRACTAL)
    length = problem.axes.n.size
    fits = [n for n in _splits(length, LONGEST) if not 0 < length % n < FRACTAL]
    for n in fits or [min(length, FRACTAL)]:
        columns = round_up(n, FRACTAL)
        if lines * columns * 4 > target.capacity("l0c"):
            continue
        room = min(target.capacity("l0a") // lines, target.capacity("l0b") // columns) // size
        limit = max(room // copies // FRACTAL, min(room // FRACTAL, 1)) * FRACTAL
        if limit == 0:
            continue
        room = target.capacity("l1") // 2 // copies // size // (lines + columns)
        steps = [k for k in dict.fromkeys(min(total, step) for step in STEPS) if k <= room]
        for k in steps[:2]:
            parts = -(-k // limit)
            yield n, k, round_up(-(-k // parts), FRACTAL)


def _splits(size: int, limit: int) -> list[int]:
    """Tile sizes that cut `size` into equal parts, multiples of a fractal unless all of it; with
    more parts in ever larger steps."""
    found: dict[int, None] = {}
    parts = 1
    while True:
        tile = min(round_up(-(-size // parts), FRACTAL), size)
        if tile <= limit:
            found[tile] = None
        if tile <= FRACTAL:
            return list(found) or [tile]
        parts += max(1, parts // 2)
