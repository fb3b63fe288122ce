"""How long an attention kernel takes: both contractions and the vector half, tile after tile.

In: problem, schedule, target. Out: `Work`. A tile's weights wait for its scores and its values for
its weights; with two tiles in flight the cube core makes scores of the next one in the meantime.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.attention_problem import AttentionProblem, weights_bytes
from fusec.schedule.attention_schedule import AttentionSchedule, block_tiles, holds_queries, pitch
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
        self._tilings = Tilings(self.problem.program, self.target)

    def need(self, rows: int, columns: int, copies: int) -> int | Refusal:
        """Bytes of ub for a part of a tile, or why there is no plan."""
        tiles = self.problem.tiles(rows, columns)
        tiling = self._tilings.at(tiles)
        return self._tilings.refusal(tiles) if tiling is None else tiling.need(tiles, copies)

    def fits(self, rows: int, columns: int, copies: int = 2) -> bool:
        """Whether a part of a tile fits ub."""
        need = self.need(rows, columns, copies)
        return not isinstance(need, Refusal) and need <= self.target.capacity("ub")

    def misfit(self, s: AttentionSchedule) -> Refusal | None:
        """Why the vector half of a schedule cannot be built."""
        need, capacity = self.need(s.chunk, s.columns, s.copies), self.target.capacity("ub")
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
        stages = scores.cycles, vector.cycles / count, values.cycles
        handover = 2 * target.sync.cross_core_cycles
        pipes = {f"vector.{name}": busy for name, busy in vector.pipes.items()}
        for name, busy in scores.pipes.items():
            pipes[name] = count * (busy + values.pipes[name])
        between = problem.count * 4 + weights_bytes(problem)
        operands = problem.scores.operand_bytes + problem.values.operand_bytes
        first = operands - weights_bytes(problem) + vector.hbm_bytes - between
        return Work(
            kind="mixed",
            cycles=_played(count, s.flight, stages, handover),
            gm_bytes=count * (scores.gm_bytes + values.gm_bytes) + vector.gm_bytes,
            hbm_bytes=first if self._in_l2(s) else first + 2 * between,
            pipes=pipes,
        )

    def _in_l2(self, s: AttentionSchedule) -> bool:
        """Whether the workspaces of all blocks stay in L2."""
        types = ("f32", self.problem.values.dtype)
        row = sum(self._row(dtype) * DTYPE_BYTES[dtype] for dtype in types)
        return s.blocks * s.flight * s.m * row <= self.target.capacity("l2")

    def scores(self, s: AttentionSchedule) -> Work:
        """The first contraction, for one tile of queries on each block."""
        key = (s.scores, holds_queries(self.problem, s))
        if key not in self._cubes:
            problem, aligned = self.problem, self._row("f32") * 4 % GM_LINE == 0
            time = CubeTime(_wave(problem.scores, s.scores), self.target, aligned=aligned)
            self._cubes[key] = time.work(s.scores, held=key[1])
        return self._cubes[key]

    def values(self, s: AttentionSchedule) -> Work:
        """The second contraction, for one tile of queries on each block."""
        if s.values not in self._cubes:
            problem = self.problem.values
            wave = _wave(problem, s.values, self._row(problem.dtype))
            self._cubes[s.values] = CubeTime(wave, self.target).work(s.values)
        return self._cubes[s.values]

    def _row(self, dtype: str) -> int:
        return pitch(self.problem, dtype)

    def _vector(self, s: AttentionSchedule) -> Work:
        """All tiles; the two vector cores of a block share the rows of a tile."""
        tiles = self.problem.tiles(s.chunk, s.columns)
        tiling = self._tilings.at(tiles)
        if tiling is None:
            refusal = self._tilings.refusal(tiles)
            raise RefusalError(refusal.reason, refusal.message, refusal.numbers)
        cores = s.blocks * (self.target.vector_per_cube if s.m > 1 else 1)
        return tiling.time.work(tiles, cores, s.copies)


def _played(count: int, flight: int, stages: tuple[float, float, float], handover: float) -> float:
    """Cycles of so many tiles, each made of scores, weights and values in turn: the cube core makes
    the scores of tile i + flight - 1 before the values of tile i."""
    scores, weights, values = stages
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
        ends.append(cube)
    steady = ends[-1] - ends[-2] if count > played else 0.0
    return ends[-1] + (count - played) * steady


def _wave(problem: CubeProblem, s: CubeSchedule, row: int | None = None) -> CubeProblem:
    """One tile of queries for each block; `row`: how far rows of the left operand are apart."""
    axes = problem.axes
    none = tuple(0 for _ in axes.col.strides)
    strides = axes.col.strides if row is None else (row, *axes.col.strides[1:])
    wave = replace(axes, grid=(Axis(s.blocks, none),), row=Axis(1, none), col=Axis(s.m, strides))
    return replace(problem, axes=wave)
