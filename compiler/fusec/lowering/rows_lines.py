"""The vector parts of a kernel on row blocks, some lines at a time, and the loads of its operand.

In: a `LineProgram`. What is built for one tile of lines: the program, with the matrix that the two
cores hand over in part `block` of a workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from fusec.lowering.builder import Index, KernelBuilder
from fusec.lowering.contraction import ContractionEmitter, Tile
from fusec.lowering.gm_view import Dim, GmView, Span
from fusec.lowering.vector import TileEmitter
from fusec.schedule.footprint import Tiles
from fusec.schedule.line_program import LineProgram
from fusec.schedule.mixed_problem import Place
from fusec.schedule.plan import Dims
from fusec.schedule.planner import make_plan
from fusec.schedule.ports import Port


class RowsContraction(ContractionEmitter):
    """A contraction whose left operand lies in part `block` of the workspace `operand`."""

    operand: SSAValue
    block: Index = 0

    def _load_a(self, tile: Tile, at: Mapping[Hashable, Index], k: Span) -> SSAValue:
        s = self.schedule
        place = [self.block, 0, k.start]
        source = self.b.subview(self.operand, place, [1, tile.m, k.size], drop=(0,))
        return self._load(source, (s.tile_m, s.k), "a")


@dataclass(frozen=True)
class LineEmitter:
    """A program on `count` of the `lines` lines of a tile at a time, and on `columns` columns where
    it may have a part of them. `argument`: the gm argument of a port. `workspaces`: of each
    matrix, with the length of its lines there."""

    builder: KernelBuilder
    program: LineProgram
    lines: int
    count: int
    columns: int
    argument: Callable[[Port], SSAValue]
    workspaces: Sequence[tuple[SSAValue, int]]
    block: Index

    def emit(self, tile: Tile) -> None:
        """The program on all lines of a tile."""
        b, found, count = self.builder, self.program, self.count
        tiles = found.tiles(count, self.columns)
        frame = tuple(axis for axis, size in enumerate(tiles) if size > 1)
        looped = frozenset(axis for axis, size in enumerate(found.sizes) if tiles[axis] < size)
        emitter = _Lines(
            b,
            make_plan(found.program, frame, looped),
            found.sizes,
            Tiles.of(found.sizes, tiles),
            self.argument,
            found=found,
            workspaces=self.workspaces,
            block=self.block,
            lines=self.lines,
        )
        if found.column is not None:
            emitter.bound[found.column] = (tile.n.start, tile.n.size)
        starts = self._starts(found, tile)
        emitter.bound |= {axis: (start, 1) for axis, start in starts.items()}
        if found.line is not None:
            emitter.on(b.mul(tile.m, found.step), 0, starts[found.line])
        emitter.entry()
        with b.loop(0, tile.m, count, "p") as first:
            if isinstance(tile.m, int):
                rest = b.rest(tile.m, first, count)
            else:
                rest = 1 if count == 1 else b.min(b.sub(tile.m, first), count)
            if found.line is not None:
                ahead = b.mul(first, found.step)
                emitter.on(b.mul(rest, found.step), ahead, starts[found.line])
            emitter.grid()

    def _starts(self, found: LineProgram, tile: Tile) -> dict[int, Index]:
        """Where the tile begins along the axes of lines."""
        b = self.builder
        starts: dict[int, Index] = {}

        def move(place: Place | None, index: Index) -> None:
            if place is not None:
                before = starts.get(place.axis, 0)
                starts[place.axis] = b.add(before, b.mul(index, place.step))

        for place, index in zip(found.grid, tile.grid.values(), strict=True):
            move(place, index)
        move(found.row, tile.row.start)
        move(found.col, tile.col.start)
        return starts


@dataclass(eq=False, kw_only=True)
class _Lines(TileEmitter):
    """Emits a program on the lines `local` of a tile, with `lines` lines of each matrix in each
    part of its workspace."""

    found: LineProgram
    workspaces: Sequence[tuple[SSAValue, int]]
    block: Index
    lines: int
    local: tuple[Index, Index] = (0, 1)

    def on(self, size: Index, ahead: Index, start: Index) -> None:
        """Binds the lines `ahead` of the tile's `start`."""
        if self.found.line is not None:
            self.bound[self.found.line] = (self.builder.add(start, ahead), size)
            self.local = (ahead, size)

    def gm(self, port: Port, dims: Dims, picked: tuple[int, int, Index] | None = None) -> SSAValue:
        matrix = self.found.matrix(port)
        if matrix is None:
            return super().gm(port, dims, picked)
        workspace, depth = self.workspaces[matrix]
        line, blocks = self.found.line, self.builder.layout(workspace).shape[0]
        found = [Dim("block", blocks or 1, self.lines * depth)]
        at: dict[Hashable, Index] = {"block": self.block}
        spans: dict[Hashable, Span] = {}
        if line is not None and line not in dims:
            found.append(self._line(line, depth))
            at[line] = self.local[0]
        for place, axis in enumerate(dims):
            if axis is None:
                found.append(Dim(("one", place), 1, 1))
                spans["one", place] = Span(0, 1)
            elif line is not None and axis == line:
                found.append(self._line(line, depth))
                spans[axis] = Span(*self.local)
            elif axis == self.found.column:
                found.append(Dim(axis, depth, 1))
                spans[axis] = Span(0, self.size(axis))
            else:
                found.append(Dim(axis, self.sizes[axis], port.strides[axis]))
                spans[axis] = Span(0, self.sizes[axis])
        return GmView.make(self.builder, workspace, port.offset, found).tile(at, spans)

    def _line(self, line: int, depth: int) -> Dim:
        return Dim(line, self.lines * self.found.step, depth // self.found.step)
