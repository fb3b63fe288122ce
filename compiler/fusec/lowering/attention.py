"""Emits an attention kernel: scores, their softmax, and values, tile of queries after tile.

In: a graph.kernel with an `attention` schedule. Out: its function. The cube core writes whole rows
of scores to a workspace, the vector cores make weights of them, chunk by chunk, in a second one,
from which the cube core multiplies the values; what follows goes through a third one.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod

from xdsl.ir import SSAValue

from fusec.hw import Target
from fusec.lowering.arguments import Arguments, arguments_of, output, workspace
from fusec.lowering.attention_lines import LinesEmitter, RowTile
from fusec.lowering.builder import Index, KernelBuilder
from fusec.lowering.contraction import ContractionEmitter
from fusec.lowering.emitted import EmittedKernel, Workspace
from fusec.lowering.gm_view import Dim, GmView, Span
from fusec.lowering.vector import constants_of
from fusec.schedule.attention_problem import STORED, AttentionProblem, attention_problem
from fusec.schedule.attention_schedule import (
    AttentionSchedule,
    holds_queries,
    pitch,
    query_tiles,
    workspace_rows,
)
from fusec.schedule.contraction import A, Axis, B, Y
from fusec.schedule.ports import Port
from fusec.schedule.region import Region
from fusec_dialects.graph import KernelOp
from fusec_dialects.npu.move import FixpipeOp

BLOCK: Hashable = "block"
"""The key of the blocks' parts of a workspace."""


def emit(kernel: KernelOp, schedule: AttentionSchedule, target: Target) -> EmittedKernel:
    """The function of a kernel whose schedule was checked."""
    problem, s = attention_problem(Region.of_block(kernel.body.block)), schedule
    programs = [p.program for p in (problem.softmax, problem.finish) if p is not None]
    constants = {root: c for one in programs for root, c in constants_of(one).items()}
    rows = workspace_rows(problem)
    workspaces = s.flight * [Workspace((s.blocks, s.m, row), dtype) for row, dtype in rows]
    own = list({c.name: c for c in constants.values()}.values())
    arguments = arguments_of(kernel, own, workspaces)
    b = KernelBuilder(kernel.sym_name.data, arguments.all)
    b.location = kernel.location
    names = {root: constant.name for root, constant in constants.items()}
    emitter = _Emitter(b, problem, s, arguments, names)
    if s.flight == 1:
        emitter.single_tiles()
    else:
        emitter.pairs_of_tiles()
    func = b.finish("mixed", s.blocks, s.to_attr(), len(workspaces))
    return EmittedKernel(func, own, workspaces)


@dataclass(frozen=True)
class _Slot:
    """What one tile in flight has of its own: where scores and values go, and the emitters that
    read and write workspaces."""

    scores: SSAValue
    stored: GmView
    values: ContractionEmitter
    softmax: LinesEmitter
    finish: LinesEmitter | None


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
        self._arguments = arguments
        self._constants = constants
        self.block = builder.block_idx() if schedule.blocks > 1 else 0
        one = problem.scores
        roots = {place: self._place(one.roots[place]) for place in (A, B)}
        self.scores = ContractionEmitter(builder, one, schedule.scores, roots, {})
        self.slots: list[_Slot] = []
        for number in range(schedule.flight):
            self.slots.append(self._slot(number))

    def _place(self, key: Hashable) -> SSAValue:
        return self.b.args[self._arguments.places[key]]

    def _argument(self, port: Port) -> SSAValue:
        if port.output is not None:
            return self._place(output(port.output))
        return self._place(self._constants.get(port.root, port.root))

    def _slot(self, number: int) -> _Slot:
        """The workspaces and emitters of the tiles with this number among those in flight."""
        b, s, problem = self.b, self.s, self.problem
        each, like = len(workspace_rows(problem)), self.slots[0] if self.slots else None
        rooms = [self._place(workspace(number * each + i)) for i in range(each)]
        lines, queries = problem.softmax, problem.queries.size
        ports = (lines.source, lines.program.axes.stores[0])
        softmax = LinesEmitter.of(
            b,
            lines,
            (s.m, queries, s.chunk, s.columns),
            self._argument,
            dict(zip(ports, rooms[:2], strict=True)),
            self.block,
            None if like is None else like.softmax,
        )
        finish = None
        if problem.finish is not None:
            finish = LinesEmitter.of(
                b,
                problem.finish,
                (s.m, queries, s.after, problem.finish.length),
                self._argument,
                {problem.finish.source: rooms[2]},
                self.block,
                None if like is None else like.finish,
            )
        two = problem.values
        roots = {B: self._place(two.roots[B])}
        views = {A: self._weights(rooms[1])}
        values = ContractionEmitter(b, two, s.values, roots, {}, views)
        stored = self._stored() if finish is None else self._made(rooms[2])
        return _Slot(rooms[0], stored, values, softmax, finish)

    def _weights(self, place: SSAValue) -> GmView:
        """A block's weights along the axes of the second contraction."""
        axes = self.problem.values.axes
        row = pitch(self.problem.keys, self.problem.values.dtype)
        dims = [Dim(BLOCK, self.s.blocks, self.s.m * row)]
        outer = enumerate(axes.outer_k)
        dims += [Dim(("k", i), axis.size, axis.strides[A]) for i, axis in outer]
        dims += [Dim("col", self.s.m, row), Dim("k", axes.k.size, 1)]
        return GmView.make(self.b, place, 0, dims)

    def _made(self, place: SSAValue) -> GmView:
        """A block's values in their workspace."""
        rows, row = self.s.m, workspace_rows(self.problem)[2][0]
        dims = [Dim(BLOCK, self.s.blocks, rows * row), Dim("col", rows, row)]
        return GmView.make(self.b, place, 0, [*dims, Dim("n", self.problem.values.axes.n.size, 1)])

    def _stored(self) -> GmView:
        """The result along the axes of the second contraction."""
        problem = self.problem.values
        axes = problem.axes
        outer: list[tuple[Hashable, Axis]] = [(("grid", i), a) for i, a in enumerate(axes.grid)]
        named = [*outer, ("row", axes.row)]
        dims = [Dim(key, a.size, a.strides[STORED]) for key, a in named if a.size > 1]
        dims += [
            Dim(key, a.size, a.strides[STORED]) for key, a in (("col", axes.col), ("n", axes.n))
        ]
        return GmView.make(self.b, self._place(output(0)), problem.offsets[STORED], dims)

    # Tiles

    def single_tiles(self) -> None:
        """One tile after the other."""
        with self.b.block_loop(self.counts, self.s.blocks) as at:
            tile, (slot,) = self._tile(at), self.slots
            self._scores(tile, slot)
            slot.softmax.emit(tile)
            self._values(tile, slot)
            if slot.finish is not None:
                slot.finish.emit(tile)

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
            even.softmax.emit(tile)
            self._values(tile, even)
            if blocks < -(-count // 2):
                with self._if_there(b.add(first, 2 * blocks), False) as number:
                    self._scores(self._numbered(number), even)
            if even.finish is not None:
                with self._if_there(second, count % 2 == 0) as number:
                    odd.softmax.emit(self._numbered(number))
                even.finish.emit(tile)
            with self._if_there(second, count % 2 == 0) as number:
                other = self._numbered(number)
                if odd.finish is None:
                    odd.softmax.emit(other)
                self._values(other, odd)
                if odd.finish is not None:
                    odd.finish.emit(other)

    @contextmanager
    def _if_there(self, number: Index, known: bool) -> Generator[Index]:
        """What is built inside runs if there is a tile of this number; `known`: there is."""
        if known:
            yield number
            return
        b = self.b
        with b.loop(number, b.min(b.add(number, 1), prod(self.counts))) as found:
            yield found

    def _numbered(self, number: Index) -> RowTile:
        return self._tile(self.b.delinearise(number, self.counts))

    def _tile(self, at: Sequence[Index]) -> RowTile:
        *outer, column = at
        b, s = self.b, self.s
        rows = b.rest(self.problem.queries.size, b.mul(column, s.m), s.m)
        pairs = zip(self.problem.outer, outer, strict=True)
        steps = {axis.strides[Y]: position for axis, position in pairs if axis.size > 1}
        return RowTile(steps, outer, column, rows)

    # Stages

    def _scores(self, tile: RowTile, slot: _Slot) -> None:
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

    def _values(self, tile: RowTile, slot: _Slot) -> None:
        """The tile of the result."""
        b, s, problem = self.b, self.s, self.problem
        axes = problem.values.axes
        at = [tile.steps[a.strides[A]] if a.size > 1 else 0 for a in (*axes.grid, axes.row)]
        with b.at(problem.values.anchor), b.loop(0, -(-axes.n.size // s.d), 1, "d") as number:
            part = slot.values.tile((*at, tile.column, number))
            grid = {**part.grid, BLOCK: self.block}
            inside = Span(0, tile.rows)
            acc = slot.values.accumulate(replace(part, grid=grid, col=inside))
            rows = part.col if slot.finish is None else inside
            spans: dict[Hashable, Span] = {"col": rows, "n": part.n}
            stored = slot.stored.tile({**grid, "row": part.row.start}, spans)
            with b.at(problem.values.last):
                b.op(FixpipeOp, acc, stored, relu=problem.values.relu)
