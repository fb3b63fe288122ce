"""How long an attention kernel takes: both contractions and the vector half, tile after tile.

In: problem, schedule, target. Out: `Work`. A tile's weights wait for its scores and its values for
its weights; with two tiles in flight the cube core makes scores of the next one in the meantime.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.attention_problem import AttentionProblem, weights_bytes
from fusec.schedule.attention_schedule import (
    AttentionSchedule,
    block_tiles,
    holds_queries,
    pitch,
    workspace_rows,
)
from fusec.schedule.contraction import Axis
from fusec.schedule.cube_problem import CubeProblem
from fusec.schedule.cube_schedule import CubeSchedule
from fusec.schedule.cube_time import GM_LINE, CubeTime
from fusec.schedule.plan_tables import Tilings
from fusec.schedule.types import Refusal, RefusalError
from fusec.schedule.work import Work

PLAYED = 8
"""Tiles of a core that are played one by one; the others take as long as the last of these."""


@dataclass(eq=False)
class AttentionTime:
    """Plans and times of one problem, each found once."""

    problem: AttentionProblem
    target: Target
    _cubes: dict[object, Work] = field(default_factory=dict[object, Work])

    def __post_init__(self) -> None:
        finish = self.problem.finish
        self._softmax = Tilings(self.problem.softmax.program, self.target)
        self._finish = None if finish is None else Tilings(finish.program, self.target)

    def need(self, rows: int, columns: int, after: int, copies: int) -> int | Refusal:
        """Bytes of ub for parts of a tile, or why there is no plan."""
        total = 0
        for tilings, tiles in self._parts(rows, columns, after):
            tiling = tilings.at(tiles)
            if tiling is None:
                return tilings.refusal(tiles)
            total += tiling.need(tiles, copies)
        return total

    def _parts(self, rows: int, columns: int, after: int) -> list[tuple[Tilings, tuple[int, ...]]]:
        """The vector programs with the tiles of a part."""
        problem = self.problem
        found = [(self._softmax, problem.softmax.tiles(rows, columns))]
        if problem.finish is not None and self._finish is not None:
            found.append((self._finish, problem.finish.tiles(after, problem.finish.length)))
        return found

    def fits(self, rows: int, columns: int, after: int, copies: int = 2) -> bool:
        """Whether parts of a tile fit ub."""
        need = self.need(rows, columns, after, copies)
        return not isinstance(need, Refusal) and need <= self.target.capacity("ub")

    def misfit(self, s: AttentionSchedule) -> Refusal | None:
        """Why the vector half of a schedule cannot be built."""
        need = self.need(s.chunk, s.columns, s.after, s.copies)
        capacity = self.target.capacity("ub")
        if isinstance(need, Refusal):
            return need
        if need <= capacity:
            return None
        return Refusal(
            "capacity",
            f"ub holds {capacity} bytes, the softmax of {s.chunk} x {s.columns} scores needs "
            f"{need}; a smaller chunk needs less",
            {"space": "ub", "capacity": capacity, "need": need},
        )

    def work(self, s: AttentionSchedule) -> Work:
        """All tiles of the busiest core."""
        problem, target = self.problem, self.target
        count = s.flight * -(-block_tiles(problem, s) // s.blocks)
        scores, values = self.scores(s), self.values(s)
        vector = self._vector(s)
        spent = [one.cycles / count for one in vector]
        stages = scores.cycles, spent[0], values.cycles, sum(spent[1:])
        handover = 2 * target.sync.cross_core_cycles
        pipes = {f"vector.{n}": sum(v.pipes[n] for v in vector) for n in vector[0].pipes}
        for name, busy in scores.pipes.items():
            pipes[name] = count * (busy + values.pipes[name])
        between = problem.rows * problem.keys * 4 + weights_bytes(problem)
        if problem.finish is not None:
            between += problem.rows * problem.finish.length * 4
        operands = problem.scores.operand_bytes + problem.values.operand_bytes
        first = operands - weights_bytes(problem) + sum(v.hbm_bytes for v in vector) - between
        moved = count * (scores.gm_bytes + values.gm_bytes) + sum(v.gm_bytes for v in vector)
        return Work(
            kind="mixed",
            cycles=_played(count, s.flight, stages, handover),
            gm_bytes=moved,
            hbm_bytes=first if self._in_l2(s) else first + 2 * between,
            pipes=pipes,
        )

    def _in_l2(self, s: AttentionSchedule) -> bool:
        """Whether the workspaces of all blocks stay in L2."""
        rows = workspace_rows(self.problem)
        row = sum(length * DTYPE_BYTES[dtype] for length, dtype in rows)
        return s.blocks * s.flight * s.m * row <= self.target.capacity("l2")

    def scores(self, s: AttentionSchedule) -> Work:
        """The first contraction, for one tile of queries on each block."""
        key = (s.scores, holds_queries(self.problem, s))
        if key not in self._cubes:
            problem = self.problem
            aligned = pitch(problem.keys, "f32") * 4 % GM_LINE == 0
            time = CubeTime(_wave(problem.scores, s.scores), self.target, aligned=aligned)
            self._cubes[key] = time.work(s.scores, held=key[1])
        return self._cubes[key]

    def values(self, s: AttentionSchedule) -> Work:
        """The second contraction, for one tile of queries on each block."""
        if s.values not in self._cubes:
            problem = self.problem.values
            wave = _wave(problem, s.values, pitch(self.problem.keys, problem.dtype))
            self._cubes[s.values] = CubeTime(wave, self.target).work(s.values)
        return self._cubes[s.values]

    def _vector(self, s: AttentionSchedule) -> list[Work]:
        """All tiles, program by program; the two vector cores of a block share a tile's rows."""
        cores = s.blocks * (self.target.vector_per_cube if s.m > 1 else 1)
        found: list[Work] = []
        for tilings, tiles in self._parts(s.chunk, s.columns, s.after):
            tiling = tilings.at(tiles)
            if tiling is None:
                refusal = tilings.refusal(tiles)
                raise RefusalError(refusal.reason, refusal.message, refusal.numbers)
            found.append(tiling.time.work(tiles, cores, s.copies))
        return found


def _played(
    count: int, flight: int, stages: tuple[float, float, float, float], handover: float
) -> float:
    """Cycles of so many tiles, each made of scores, weights and values in turn, and of what
    follows: the cube core makes scores of tile i + flight - 1 before values of tile i."""
    scores, weights, values, finish = stages
    cube = vector = 0.0
    made: list[float] = []
    ends: list[float] = []
    played = min(count, PLAYED)
    for i in range(played):
        while len(made) < min(i + flight, count):
            cube += scores
            made.append(cube)
        vector = max(vector, made[i] + handover) + weights
        cube = max(cube, vector + handover) + values
        if finish:
            vector = max(vector, cube + handover) + finish
        ends.append(max(cube, vector) if finish else cube)
    steady = ends[-1] - ends[-2] if count > played else 0.0
    return ends[-1] + (count - played) * steady


def _wave(problem: CubeProblem, s: CubeSchedule, row: int | None = None) -> CubeProblem:
    """One tile of queries for each block; `row`: how far rows of the left operand are apart."""
    axes = problem.axes
    none = tuple(0 for _ in axes.col.strides)
    strides = axes.col.strides if row is None else (row, *axes.col.strides[1:])
    wave = replace(axes, grid=(Axis(s.blocks, none),), row=Axis(1, none), col=Axis(s.m, strides))
    return replace(problem, axes=wave)
