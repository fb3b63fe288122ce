"""Emits a vector program on the rows of a tile, some at a time; they lie in workspaces.

In: `Lines`, how many rows and columns are taken at once, the workspaces by port. What is built for
a tile of queries: the loop over its rows, and the program on each part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import SSAValue

from fusec.lowering.builder import Index, KernelBuilder
from fusec.lowering.vector import TileEmitter
from fusec.schedule.attention_lines import Lines
from fusec.schedule.footprint import Tiles
from fusec.schedule.plan import Dims, Plan
from fusec.schedule.planner import make_plan
from fusec.schedule.ports import Port


@dataclass(frozen=True)
class RowTile:
    """Position of a tile: the steps along the axes outside of it by their strides in the scores,
    its number along the axis of its rows, and how many rows it has."""

    steps: Mapping[int, Index]
    outer: Sequence[Index]
    column: Index
    rows: Index


class _Part(NamedTuple):
    """A dimension of a workspace, and what a view takes of it."""

    size: int
    stride: int
    start: Index
    extent: Index


@dataclass(eq=False, kw_only=True)
class LinesEmitter(TileEmitter):
    """`m` rows a tile of `total`, `chunk` at a time. `workspaces`: which a port is in; `block`: of
    which part; `first`: the first row in use."""

    lines: Lines
    m: int
    total: int
    chunk: int
    workspaces: Mapping[Port, SSAValue]
    block: Index
    first: Index = 0

    @staticmethod
    def of(
        builder: KernelBuilder,
        lines: Lines,
        sizes: tuple[int, int, int, int],
        argument: Callable[[Port], SSAValue],
        workspaces: Mapping[Port, SSAValue],
        block: Index,
        like: LinesEmitter | None = None,
    ) -> LinesEmitter:
        """`sizes`: m, total, chunk, and the columns taken at a time. `like`: one of the same lines,
        whose buffers from outside of the tiles serve here too; without it they are made now."""
        m, total, chunk, columns = sizes
        tiles = lines.tiles(chunk, columns)
        found = LinesEmitter(
            builder,
            _plan(lines, tiles) if like is None else like.plan,
            lines.sizes,
            Tiles.of(lines.sizes, tiles),
            argument,
            lines=lines,
            m=m,
            total=total,
            chunk=chunk,
            workspaces=workspaces,
            block=block,
        )
        if like is not None:
            found.views = dict(like.views)
        elif found.early:
            found.entry()
        return found

    @property
    def early(self) -> bool:
        """Whether what is outside of the tiles reads no rows: there are several parts."""
        return bool(self.plan.looped.difference(self.lines.along))

    def gm(self, port: Port, dims: Dims, picked: tuple[int, int, Index] | None = None) -> SSAValue:
        """The part of a port that is in use."""
        place = self.workspaces.get(port)
        if place is None:
            return super().gm(port, dims, picked)
        row_axis = self.lines.row_axis
        blocks, rows, row = (size or 1 for size in self.builder.layout(place).shape)
        parts: list[_Part] = [_Part(blocks, rows * row, self.block, 1)]
        if row_axis not in dims:
            parts.append(_Part(rows, row, self.first, 1))
        for axis in dims:
            if axis is None:
                parts.append(_Part(1, 1, 0, 1))
            elif axis == row_axis:
                parts.append(_Part(rows, row, self.first, self.size(axis)))
            else:
                size = self.sizes[axis]
                parts.append(_Part(size, port.strides[axis], *self.bound.get(axis, (0, size))))
        view = self.builder.reinterpret(
            place, 0, [part.size for part in parts], [part.stride for part in parts]
        )
        offsets, extent = [part.start for part in parts], [part.extent for part in parts]
        return self.builder.subview(view, offsets, extent, drop=range(len(parts) - len(dims)))

    def emit(self, tile: RowTile) -> None:
        """The program on all rows of a tile."""
        b, lines, part = self.builder, self.lines, dict[int, tuple[Index, Index]]()
        for stride, position in tile.steps.items():
            where = lines.rows[stride]
            offset = part.get(where.axis, (0, 1))[0]
            part[where.axis] = (b.add(offset, b.mul(position, where.step)), 1)
        with b.loop(0, tile.rows, self.chunk, "c") as start:
            if lines.row_axis is not None:
                offset = part.get(lines.row_axis, (0, 1))[0]
                ahead = b.mul(b.add(b.mul(tile.column, self.m), start), lines.rows[lines.row].step)
                part[lines.row_axis] = (b.add(offset, ahead), self._rest(tile.rows, start))
            self.first = start
            self.bound.update(part)
            if not self.early:
                self.entry()
            self.grid()

    def _rest(self, rows: Index, start: Index) -> Index:
        if self.total % self.chunk == 0:
            return self.chunk
        return self.builder.min(self.builder.sub(rows, start), self.chunk)


def _plan(lines: Lines, tiles: Sequence[int]) -> Plan:
    """The plan of a program for such tiles."""
    pairs = list(enumerate(zip(lines.sizes, tiles, strict=True)))
    looped = frozenset(axis for axis, (size, tile) in pairs if tile < size)
    return make_plan(lines.program, [axis for axis, (_, tile) in pairs if tile > 1], looped)
