"""Emits an attention kernel: scores, their softmax, and values, tile of queries after tile.

In: a graph.kernel with an `attention` schedule. Out: its function. The cube core writes whole rows
of scores to a workspace, the vector cores make weights of them, chunk by chunk, in a second one,
from which the cube core multiplies the values.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

from xdsl.ir import SSAValue

from fusec.hw import Target
from fusec.lowering.arguments import Arguments, arguments_of, output, workspace
from fusec.lowering.builder import Index, KernelBuilder
from fusec.lowering.contraction import ContractionEmitter
from fusec.lowering.emitted import EmittedKernel, Workspace
from fusec.lowering.gm_view import Dim, GmView, Span
from fusec.lowering.vector import TileEmitter, constants_of
from fusec.schedule.attention_problem import STORED, AttentionProblem, attention_problem
from fusec.schedule.attention_schedule import AttentionSchedule, holds_queries, pitch, query_tiles
from fusec.schedule.contraction import A, Axis, B, Y
from fusec.schedule.footprint import Tiles
from fusec.schedule.plan import Dims, Plan
from fusec.schedule.planner import make_plan
from fusec.schedule.ports import Port
from fusec.schedule.region import Region
from fusec_dialects.graph import KernelOp
from fusec_dialects.npu.move import FixpipeOp

BLOCK: Hashable = "block"
"""The key of the blocks' parts of a workspace."""


def emit(kernel: KernelOp, schedule: AttentionSchedule, target: Target) -> EmittedKernel:
    """The function of a kernel whose schedule was checked."""
    problem, s = attention_problem(Region.of_block(kernel.body.block)), schedule
    constants = constants_of(problem.program)
    types = ("f32", problem.values.dtype)
    pair = tuple(Workspace((s.blocks, s.m, pitch(problem, t)), t) for t in types)
    workspaces = pair * s.flight
    arguments = arguments_of(kernel, list(constants.values()), workspaces)
    b = KernelBuilder(kernel.sym_name.data, arguments.all)
    b.location = kernel.location
    names = {root: constant.name for root, constant in constants.items()}
    emitter = _Emitter(b, problem, s, arguments, names)
    emitter.single_tiles() if s.flight == 1 else emitter.pairs_of_tiles()
    func = b.finish("mixed", s.blocks, s.to_attr(), len(workspaces))
    return EmittedKernel(func, list(constants.values()), workspaces)


class _Part(NamedTuple):
    """A dimension of a workspace, and what a view takes of it."""

    size: int
    stride: int
    start: Index
    extent: Index


@dataclass(eq=False, kw_only=True)
class _Softmax(TileEmitter):
    """The vector half; scores come from and weights go to the block's part of a workspace, of
    which `first` is the first row in use."""

    problem: AttentionProblem
    workspaces: Mapping[Port, SSAValue]
    block: Index
    first: Index = 0

    def gm(self, port: Port, dims: Dims, picked: tuple[int, int, Index] | None = None) -> SSAValue:
        place = self.workspaces.get(port)
        if place is None:
            return super().gm(port, dims, picked)
        blocks, rows, row = (size or 1 for size in self.builder.layout(place).shape)
        parts: list[_Part] = [_Part(blocks, rows * row, self.block, 1)]
        if self.problem.row_axis not in dims:
            parts.append(_Part(rows, row, self.first, 1))
        for axis in dims:
            if axis is None:
                parts.append(_Part(1, 1, 0, 1))
            elif axis == self.problem.row_axis:
                parts.append(_Part(rows, row, self.first, self.size(axis)))
            else:
                size = self.sizes[axis]
                parts.append(_Part(size, port.strides[axis], *self.bound.get(axis, (0, size))))
        view = self.builder.reinterpret(
            place, 0, [part.size for part in parts], [part.stride for part in parts]
        )
        offsets, extent = [part.start for part in parts], [part.extent for part in parts]
        return self.builder.subview(view, offsets, extent, drop=range(len(parts) - len(dims)))


def _plan(problem: AttentionProblem, tiles: Sequence[int]) -> Plan:
    """The plan of the vector half for such tiles."""
    pairs = list(enumerate(zip(problem.sizes, tiles, strict=True)))
    looped = frozenset(axis for axis, (size, tile) in pairs if tile < size)
    return make_plan(problem.program, [axis for axis, (_, tile) in pairs if tile > 1], looped)


@dataclass(frozen=True)
class _Slot:
    """What one tile in flight has of its own: workspaces and the emitters that read them."""

    scores: SSAValue
    values: ContractionEmitter
    softmax: _Softmax


@dataclass(frozen=True)
class _Tile:
    """Position of a tile of queries, and how many it has."""

    outer: Sequence[Index]
    column: Index
    rows: Index


class _Emitter:
    """Builds the tiles of an attention kernel into its function."""

    def __init__(
        self,
        builder: KernelBuilder,
        problem: AttentionProblem,
        schedule: AttentionSchedule,
        arguments: Arguments,
        constants: Mapping[SSAValue, str],
    ) -> None:
        self.b = builder
        self.problem = problem
        self.s = schedule
        self.counts = query_tiles(problem, schedule)
        b, s, args = builder, schedule, builder.args

        def argument(port: Port) -> SSAValue:
            return args[arguments.places[constants.get(port.root, port.root)]]

        def operand(root: SSAValue) -> SSAValue:
            return args[arguments.places[root]]

        self.block = b.block_idx() if s.blocks > 1 else 0
        one, two = problem.scores, problem.values
        roots = {A: operand(one.roots[A]), B: operand(one.roots[B])}
        self.scores = ContractionEmitter(b, one, s.scores, roots, {})
        roots = {B: operand(two.roots[B])}
        self.stored = self._stored(args[arguments.places[output(0)]])
        tiles = problem.tiles(s.chunk, s.columns)
        plan, ports = _plan(problem, tiles), (problem.source, problem.program.axes.stores[0])
        self.early = bool(plan.looped.difference(problem.along))
        self.slots: list[_Slot] = []
        for i in range(0, 2 * s.flight, 2):
            places = [args[arguments.places[workspace(j)]] for j in (i, i + 1)]
            weights = {A: self._weights(places[1])}
            softmax = _Softmax(
                b,
                plan,
                problem.sizes,
                Tiles.of(problem.sizes, tiles),
                argument,
                problem=problem,
                workspaces=dict(zip(ports, places, strict=True)),
                block=self.block,
            )
            if self.slots:
                softmax.views = dict(self.slots[0].softmax.views)
            elif self.early:
                softmax.entry()
            values = ContractionEmitter(b, two, s.values, roots, {}, weights)
            self.slots.append(_Slot(places[0], values, softmax))

    def _weights(self, place: SSAValue) -> GmView:
        """A block's weights along the axes of the second contraction."""
        axes = self.problem.values.axes
        row = pitch(self.problem, self.problem.values.dtype)
        dims = [Dim(BLOCK, self.s.blocks, self.s.m * row)]
        outer = enumerate(axes.outer_k)
        dims += [Dim(("k", i), axis.size, axis.strides[A]) for i, axis in outer]
        dims += [Dim("col", self.s.m, row), Dim("k", axes.k.size, 1)]
        return GmView.make(self.b, place, 0, dims)

    def _stored(self, argument: SSAValue) -> GmView:
        """The result along the axes of the second contraction."""
        problem = self.problem.values
        axes = problem.axes
        outer: list[tuple[Hashable, Axis]] = [(("grid", i), a) for i, a in enumerate(axes.grid)]
        named = [*outer, ("row", axes.row)]
        dims = [Dim(key, a.size, a.strides[STORED]) for key, a in named if a.size > 1]
        dims += [
            Dim(key, a.size, a.strides[STORED]) for key, a in (("col", axes.col), ("n", axes.n))
        ]
        return GmView.make(self.b, argument, problem.offsets[STORED], dims)

    # Tiles

    def single_tiles(self) -> None:
        """One tile after the other."""
        with self.b.block_loop(self.counts, self.s.blocks) as at:
            tile, (slot,) = self._tile(at), self.slots
            self._scores(tile, slot)
            self._softmax(tile, slot)
            self._values(tile, slot)

    def pairs_of_tiles(self) -> None:
        """Scores of the next tile before values of this one; tiles are taken two by two, each of
        the two having workspaces of its own."""
        b, blocks = self.b, self.s.blocks
        count = prod(self.counts)
        even, odd = self.slots
        self._scores(self._numbered(b.mul(self.block, 2)), even)
        with b.block_loop((-(-count // 2),), blocks) as (pair,):
            first = b.mul(pair, 2)
            second = b.add(first, 1)
            tile = self._numbered(first)
            with self._if_there(second, count % 2 == 0) as number:
                self._scores(self._numbered(number), odd)
            self._softmax(tile, even)
            self._values(tile, even)
            if blocks < -(-count // 2):
                with self._if_there(b.add(first, 2 * blocks), False) as number:
                    self._scores(self._numbered(number), even)
            with self._if_there(second, count % 2 == 0) as number:
                other = self._numbered(number)
                self._softmax(other, odd)
                self._values(other, odd)

    @contextmanager
    def _if_there(self, number: Index, known: bool) -> Generator[Index]:
        """What is built inside runs if there is a tile of this number; `known`: there is."""
        if known:
            yield number
            return
        b = self.b
        with b.loop(number, b.min(b.add(number, 1), prod(self.counts))) as found:
            yield found

    def _numbered(self, number: Index) -> _Tile:
        return self._tile(self.b.delinearise(number, self.counts))

    def _tile(self, at: Sequence[Index]) -> _Tile:
        *outer, column = at
        b, s = self.b, self.s
        rows = b.rest(self.problem.queries.size, b.mul(column, s.m), s.m)
        return _Tile(outer, column, rows)

    # Stages

    def _scores(self, tile: _Tile, slot: _Slot) -> None:
        """Whole rows of scores, so many keys at a time."""
        b, s, problem = self.b, self.s, self.problem
        with b.at(problem.scores.anchor):
            left = None
            if holds_queries(problem, s):
                left = self.scores.left(self.scores.tile((*tile.outer, tile.column, 0)))
            with b.loop(0, -(-problem.keys // s.n), 1, "n") as number:
                part = self.scores.tile((*tile.outer, tile.column, number))
                acc = self.scores.accumulate(part, left)
                offsets, sizes = [self.block, 0, part.n.start], [1, tile.rows, part.n.size]
                b.op(FixpipeOp, acc, b.subview(slot.scores, offsets, sizes, drop=(0,)))

    def _softmax(self, tile: _Tile, slot: _Slot) -> None:
        """The weights of a tile, `chunk` rows at a time."""
        b, s, emitter = self.b, self.s, slot.softmax
        part: dict[int, tuple[Index, Index]] = {}
        places = self.problem.rows
        for axis, position in zip(self.problem.outer, tile.outer, strict=True):
            if axis.size == 1:
                continue
            where = places[axis.strides[Y]]
            offset = part.get(where.axis, (0, 1))[0]
            part[where.axis] = (b.add(offset, b.mul(position, where.step)), 1)
        row_axis = self.problem.row_axis
        with b.loop(0, tile.rows, s.chunk, "c") as start:
            if row_axis is not None:
                step = places[self.problem.queries.strides[Y]].step
                offset, _ = part.get(row_axis, (0, 1))
                first = b.add(b.mul(tile.column, s.m), start)
                count = self._rest(tile.rows, start)
                part[row_axis] = (b.add(offset, b.mul(first, step)), count)
            emitter.first = start
            emitter.bound.update(part)
            if not self.early:
                emitter.entry()
            emitter.grid()

    def _rest(self, rows: Index, start: Index) -> Index:
        b, chunk = self.b, self.s.chunk
        if self.problem.queries.size % chunk == 0:
            return chunk
        return b.min(b.sub(rows, start), chunk)

    def _values(self, tile: _Tile, slot: _Slot) -> None:
        """The tile of the result."""
        b, s, problem = self.b, self.s, self.problem
        axes = problem.values.axes
        known = {
            axis.strides[Y]: position
            for axis, position in zip(problem.outer, tile.outer, strict=True)
            if axis.size > 1
        }
        at = [known[a.strides[A]] if a.size > 1 else 0 for a in (*axes.grid, axes.row)]
        with b.at(problem.values.anchor), b.loop(0, -(-axes.n.size // s.d), 1, "d") as number:
            part = slot.values.tile((*at, tile.column, number))
            grid = {**part.grid, BLOCK: self.block}
            acc = slot.values.accumulate(replace(part, grid=grid, col=Span(0, tile.rows)))
            spans: dict[Hashable, Span] = {"col": part.col, "n": part.n}
            stored = self.stored.tile({**part.grid, "row": part.row.start}, spans)
            with b.at(problem.values.last):
                b.op(FixpipeOp, acc, stored, relu=problem.values.relu)
