"""Emits the tiles of a contraction on the cube core: loads to l1, products into l0c, additions.

In: problem, schedule and the arguments of the function. What is built for one tile: the loops over
K with their loads and mmads, then what is added. The owner stores the accumulator.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from xdsl.ir import SSAValue

from fusec.lowering.addends import constant_of
from fusec.lowering.builder import Index, KernelBuilder
from fusec.lowering.gm_view import Dim, GmView, Span
from fusec.lowering.windowed import bounds, may_be_empty, position, window_uses
from fusec.schedule.contraction import ADDENDS, A, Axis, B, Y
from fusec.schedule.cube_problem import BIAS, COLUMN, ROW, TILE, TURNED, Addend, CubeProblem
from fusec.schedule.cube_schedule import FRACTAL, CubeSchedule
from fusec_dialects.npu.attrs import Space
from fusec_dialects.npu.cube import MmadOp
from fusec_dialects.npu.move import LoadOp
from fusec_dialects.npu.vector import VBrcOp

LINES: Hashable = "lines"
"""The key of `row` and `col` as one dimension, in operands where they are one run."""

ONE = Dim("one", 1, 1)
"""The dimension of size 1 of a row or column."""


@dataclass(frozen=True)
class Tile:
    """Position and real size of one tile; `m` is its real number of rows of the product."""

    grid: Mapping[Hashable, Index]
    row: Span
    col: Span
    n: Span
    m: Index


class ContractionEmitter:
    """Builds the tiles of one contraction into a function."""

    def __init__(
        self,
        builder: KernelBuilder,
        problem: CubeProblem,
        schedule: CubeSchedule,
        operands: Mapping[int, SSAValue],
        constants: Mapping[str, SSAValue],
        views: Mapping[int, GmView] | None = None,
    ) -> None:
        """`operands` by place in `problem.roots`, `constants` by name; these are loaded here.
        `views`: operands that do not lie as the problem says, with the keys of its axes."""
        self.b = builder
        self.problem = problem
        self.schedule = schedule
        self.axes = problem.axes
        self._windows = window_uses(self.axes)
        self._views = {place: self._view(place, value) for place, value in operands.items()}
        self._views |= views or {}
        with builder.at(problem.anchor):
            self._constants = {
                name: self._load(
                    value, builder.layout(value).shape, name.split("_")[0].split(".")[-1]
                )
                for name, value in constants.items()
            }

    # Views of the arguments

    def _view(self, place: int, argument: SSAValue) -> GmView:
        axes = self.axes
        one_run = self.schedule.rows > 1 and place >= Y
        outer: list[tuple[Hashable, Axis]] = []
        outer += [(("grid", i), axis) for i, axis in enumerate(axes.grid)]
        if place != B and not one_run:
            outer.append(("row", axes.row))
        if place in (A, B):
            outer += [(("k", i), axis) for i, axis in enumerate(axes.outer_k)]
        dims = [self._dim(key, axis, place) for key, axis in outer if self._used(axis, place)]
        dims += self._tile_dims(place)
        once = {dim.key: dim for dim in dims}
        offset = self.problem.offsets[place]
        return GmView.make(self.b, argument, offset, list(once.values()))

    def _tile_dims(self, place: int) -> list[Dim]:
        """The dimensions of a tile of an operand, as it lies in gm."""
        axes = self.axes
        k, n = self._dim("k", axes.k, place), self._dim("n", axes.n, place)
        lines = self._dim("col", axes.col, place)
        if place == A:
            return [k, lines] if axes.a_transposed else [lines, k]
        if place == B:
            return [n, k] if axes.b_transposed else [k, n]
        if self.schedule.rows > 1:
            lines = Dim(LINES, axes.row.size * axes.col.size, axes.col.strides[place])
        if place == Y:
            return [lines, n]
        addend = self.problem.addends[place - ADDENDS]
        if addend.form == COLUMN:
            return [ONE, lines] if self.problem.unit_column(addend) else [lines, ONE]
        return {BIAS: [n], ROW: [ONE, n], TILE: [lines, n], TURNED: [n, lines]}[addend.form]

    def _used(self, axis: Axis, place: int) -> bool:
        windowed = axis.window is not None and place == A
        return windowed or (axis.size > 1 and axis.strides[place] != 0)

    def _dim(self, key: Hashable, axis: Axis, place: int) -> Dim:
        if axis.window is not None and place == A:
            return Dim(("window", axis.window.id), axis.window.size, axis.window.step)
        return Dim(key, axis.size, axis.strides[place])

    # Tiles

    def tile(self, at: Sequence[Index]) -> Tile:
        """The tile at a position of the grid of `tile_counts`."""
        b, axes, s = self.b, self.axes, self.schedule
        *grid, row, col, n = at
        starts = (b.mul(row, s.rows), b.mul(col, s.m), b.mul(n, s.n))
        totals = ((axes.row.size, s.rows), (axes.col.size, s.m), (axes.n.size, s.n))
        lines, columns, outputs = (
            Span(start, b.rest(total, start, size))
            for start, (total, size) in zip(starts, totals, strict=True)
        )
        m = b.mul(lines.size, axes.col.size) if s.rows > 1 else columns.size
        keys: dict[Hashable, Index] = {("grid", i): index for i, index in enumerate(grid)}
        return Tile(keys, lines, columns, outputs, m)

    def part(self, place: int, tile: Tile) -> SSAValue:
        """The tile of the result, or of something added to it, in gm."""
        at: dict[Hashable, Index] = {**tile.grid, "row": tile.row.start}
        start = self.b.mul(tile.row.start, self.axes.col.size)
        spans: dict[Hashable, Span] = {
            "col": tile.col,
            LINES: Span(start, tile.m),
            "n": tile.n,
            ONE.key: Span(0, 1),
        }
        return self._views[place].tile(at, spans)

    def left(self, tile: Tile) -> SSAValue:
        """The left operand of a tile, in l1, where one step in K is all: for several tiles."""
        return self._load_a(tile, {}, Span(0, self.axes.k.size))

    def accumulate(self, tile: Tile, left: SSAValue | None = None) -> SSAValue:
        """The finished accumulator of a tile: a view of its real size in l0c. `left`: its left
        operand, if it is there already."""
        b, s = self.b, self.schedule
        with b.at(self.problem.anchor):
            capacity = (s.tile_m, s.n)
            acc = b.tile(
                Space.L0C, capacity, self.problem.accumulator, (tile.m, tile.n.size), "acc"
            )
            bias = next((a for a in self.problem.addends if a.form == BIAS), None)
            bias_value = None
            if bias is not None:
                bias_value = self._load(self.part(bias.place, tile), [s.n], "bias")
            self._products(tile, acc, bias_value, left)
        for addend, op in zip(self.problem.addends, self.problem.adders, strict=True):
            if addend.form != BIAS:
                with b.at(op):
                    self._add(tile, acc, addend)
        return acc

    def _products(
        self, tile: Tile, acc: SSAValue, bias: SSAValue | None, left: SSAValue | None
    ) -> None:
        b, axes, s = self.b, self.axes, self.schedule
        with ExitStack() as loops:
            at: dict[Hashable, Index] = {}
            first: bool | SSAValue = True
            for i, axis in enumerate(axes.outer_k):
                at["k", i] = loops.enter_context(b.loop(0, axis.size, 1, f"k{i}"))
                first = b.both(first, b.equal(at["k", i], 0))
            start = loops.enter_context(b.loop(0, axes.k.size, s.k, "k"))
            first = b.both(first, b.equal(start, 0))
            k = Span(start, b.rest(axes.k.size, start, s.k))
            a_tile = self._load_a(tile, at, k) if left is None else left
            b_tile = self._load_b(tile, at, k)
            b.op(
                MmadOp,
                a_tile,
                b_tile,
                b.flag_value(first),
                acc,
                bias=bias,
                a_transpose=axes.a_transposed,
                b_transpose=axes.b_transposed,
                l0=[s.l0_k],
            )

    def _load_b(self, tile: Tile, at: Mapping[Hashable, Index], k: Span) -> SSAValue:
        s = self.schedule
        source = self._views[B].tile({**tile.grid, **at}, {"k": k, "n": tile.n})
        return self._load(source, (s.n, s.k) if self.axes.b_transposed else (s.k, s.n), "b")

    def _load(self, source: SSAValue, capacity: Sequence[int | None], hint: str) -> SSAValue:
        """A fresh l1 buffer with a part of gm; a view of the part's sizes."""
        layout = self.b.layout(source)
        sizes = self.b.sizes(source)
        shape = [size or 1 for size in capacity]
        buffer = self.b.tile(Space.L1, shape, layout.dtype, sizes, hint)
        self.b.op(LoadOp, source, buffer)
        return buffer

    def _load_a(self, tile: Tile, at: Mapping[Hashable, Index], k: Span) -> SSAValue:
        b, s, axes = self.b, self.schedule, self.axes
        where: dict[Hashable, Index] = {**tile.grid, "row": tile.row.start, **at}
        if not self._windows and s.rows == 1:
            source = self._views[A].tile(where, {"col": tile.col, "k": k})
            return self._load(source, (s.k, s.m) if axes.a_transposed else (s.m, s.k), "a")
        buffer = b.alloc(Space.L1, (s.tile_m, s.k), self.problem.dtype, "a")
        if self._windows:
            b.op(VBrcOp, b.scalar(0.0, self.problem.dtype), buffer)
        self._load_rows(tile, where, k, buffer)
        return b.leading(buffer, (tile.m, k.size))

    def _load_rows(
        self, tile: Tile, where: dict[Hashable, Index], k: Span, buffer: SSAValue
    ) -> None:
        """Loads the positions that exist, row by row, to where they belong in the tile.

        Loops of no or one trip stand around what may not exist at all.
        """
        b = self.b
        spans: dict[Hashable, Span] = {"k": k, "col": tile.col}
        left, length = 0, tile.col.size
        with ExitStack() as loops:
            for output, use in self._windows.items():
                if output in tile.grid:
                    low, high = bounds(b, use.window, where[output], where[use.kernel], 1)
                    place = b.add(where[output], loops.enter_context(b.loop(low, high)))
                    where["window", use.window.id] = position(b, use, place, where)
            columns = self._windows.get("col")
            if columns is not None:
                kernel = where[columns.kernel]
                left, high = bounds(b, columns.window, tile.col.start, kernel, tile.col.size)
                length = b.sub(high, left)
                if may_be_empty(columns, self.axes.col.size, self.schedule.m):
                    length = b.max(length, 0)
                    left = b.add(left, loops.enter_context(b.loop(0, b.min(length, 1))))
                start = position(b, columns, b.add(tile.col.start, left), where)
                spans["window", columns.window.id] = Span(start, length, columns.window.stride)
            low, high = 0, tile.row.size
            rows = self._windows.get("row")
            if rows is not None:
                low, high = bounds(b, rows.window, tile.row.start, where[rows.kernel], high)
            if isinstance(low, int) and isinstance(high, int) and high <= low:
                return
            i = loops.enter_context(b.loop(low, high, 1, "r"))
            where["row"] = b.add(tile.row.start, i)
            if rows is not None:
                where["window", rows.window.id] = position(b, rows, where["row"], where)
            source = self._views[A].tile(where, spans)
            line = b.add(b.mul(i, self.schedule.m), left)
            b.op(LoadOp, source, b.subview(buffer, [line, 0], [length, k.size]))

    # Additions

    def _add(self, tile: Tile, acc: SSAValue, addend: Addend) -> None:
        """acc += the addend, as a product with a constant."""
        b, s = self.b, self.schedule
        source = self.part(addend.place, tile)
        constant = self._constants[constant_of(addend, self.problem, s).name]
        transposed, depth = False, FRACTAL
        if addend.form == ROW:
            right = self._load(source, (1, s.n), "add")
            left, transposed = b.leading(constant, (1, tile.m)), True
        elif addend.form == COLUMN:
            transposed = self.problem.unit_column(addend)
            left = self._load(source, (1, s.tile_m) if transposed else (s.tile_m, 1), "add")
            right = b.leading(constant, (1, tile.n.size))
        else:
            transposed = addend.form == TURNED
            left = self._load(source, (s.n, s.tile_m) if transposed else (s.tile_m, s.n), "add")
            right, depth = b.leading(constant, (tile.n.size, tile.n.size)), s.l0_k
        b.op(MmadOp, left, right, b.flag(False), acc, a_transpose=transposed, l0=[depth])
