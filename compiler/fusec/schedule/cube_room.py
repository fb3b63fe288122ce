"""Whether tiles of a cube problem fit their memories, for the inner loop of a search.

In: a problem and a target. Out: a `CubeRoom`, which says the same as `cube_schedule.fits` of the
footprint, without listing the buffers.
"""

from __future__ import annotations

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.cube_problem import BIAS, COLUMN, ROW, TILE, TILES, TURNED, CubeProblem
from fusec.schedule.cube_schedule import FRACTAL, ROW_BYTES, round_up


class CubeRoom:
    """The memories of one target for the tiles of one problem."""

    def __init__(self, problem: CubeProblem, target: Target) -> None:
        axes = problem.axes
        self._size = DTYPE_BYTES[problem.dtype]
        self._columns = ROW_BYTES // self._size
        self._a_turned, self._b_turned = axes.a_transposed, axes.b_transposed
        self._addends = [(a.form, problem.unit_column(a)) for a in problem.addends]
        self._forms = {form for form, _ in self._addends}
        self._align, self._capacity = target.alignments, target.capacities

    def _nz(self, rows: int, columns: int) -> int:
        step = self._columns
        return -(-rows // FRACTAL) * FRACTAL * (-(-columns // step) * step) * self._size

    def holds(self, m: int, n: int) -> bool:
        """Whether the accumulator and the bias table of a tile fit."""
        accumulator = -(-m // FRACTAL) * FRACTAL * (-(-n // FRACTAL) * FRACTAL) * 4
        room = self._capacity
        if round_up(accumulator, self._align["l0c"]) > room["l0c"]:
            return False
        return BIAS not in self._forms or round_up(n * 4, self._align["bt"]) <= room["bt"]

    def fits(self, m: int, n: int, k: int, l0_k: int, copies: int) -> bool:
        """Whether all buffers of a tile of m x n fit, with steps in K of k and l0_k."""
        return (
            self.holds(m, n)
            and self._l0("l0a", self._nz(m, min(l0_k, k)), copies)
            and self._l0("l0b", self._nz(n, min(l0_k, k)), copies)
            and self._l1(m, n, k, copies) <= self._capacity["l1"]
        )

    def _l0(self, space: str, size: int, copies: int) -> bool:
        """As many copies as fit, one at least."""
        capacity = self._capacity[space]
        count = copies if 2 * size <= capacity else 1
        return round_up(size, self._align[space]) * count <= capacity

    def _l1(self, m: int, n: int, k: int, copies: int) -> int:
        align = self._align["l1"]
        moved = round_up(self._nz(k, m) if self._a_turned else self._nz(m, k), align)
        moved += round_up(self._nz(n, k) if self._b_turned else self._nz(k, n), align)
        for form, unit in self._addends:
            moved += round_up(self._addend(form, unit, m, n), align)
        need = copies * moved
        if self._forms & TILES:
            need += round_up(self._nz(n, n), align)
        if ROW in self._forms:
            need += round_up(self._nz(1, m), align)
        if COLUMN in self._forms:
            need += round_up(self._nz(1, n), align)
        return need

    def _addend(self, form: str, unit: bool, m: int, n: int) -> int:
        if form == BIAS:
            return n * 4
        if form == TILE:
            return self._nz(m, n)
        if form == TURNED:
            return self._nz(n, m)
        if form == COLUMN:
            return self._nz(1, m) if unit else self._nz(m, 1)
        return self._nz(1, n)
