"""Emits a mixed kernel: tiles of a contraction go through a workspace in gm to the vector cores.

In: a graph.kernel with a `mixed` schedule. Out: its function: for each tile the cube half, fixpipe
to the workspace, and chunk by chunk the epilogue of the vector half.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from xdsl.ir import SSAValue

from fusec.hw import Target
from fusec.lowering.addends import constants_of
from fusec.lowering.arguments import arguments_of, output, workspace
from fusec.lowering.builder import Index, KernelBuilder
from fusec.lowering.contraction import ContractionEmitter, Tile
from fusec.lowering.emitted import EmittedKernel, Workspace
from fusec.lowering.gm_view import Dim, GmView, Span
from fusec.lowering.vector import constants_of as vector_constants
from fusec.lowering.vector import emit_tile
from fusec.schedule.axes import Port
from fusec.schedule.contraction import Y
from fusec.schedule.cube_schedule import tile_counts
from fusec.schedule.footprint import Tiles, shape_of
from fusec.schedule.mixed import MixedSchedule, vector_tiles
from fusec.schedule.mixed_problem import MixedProblem, Place, problem_of
from fusec.schedule.plan import Buffer
from fusec.schedule.planner import make_plan
from fusec.schedule.region import Region
from fusec.schedule.types import RefusalError
from fusec_dialects.graph import KernelOp
from fusec_dialects.npu.attrs import Space
from fusec_dialects.npu.move import FixpipeOp, LoadOp
from fusec_dialects.npu.vector import VMulOp


def emit(kernel: KernelOp, schedule: MixedSchedule, target: Target) -> EmittedKernel:
    """The function of a kernel whose schedule was checked."""
    problem = problem_of(Region.of_block(kernel.body.block))
    cube, s = problem.cube, schedule
    own = constants_of(cube, s)
    others = vector_constants(problem.program)
    constants = list({c.name: c for c in (*own, *others.values())}.values())
    workspaces = (Workspace((s.blocks, s.tile_m, s.n), cube.accumulator),)
    arguments = arguments_of(kernel, constants, workspaces)
    b = KernelBuilder(kernel.sym_name.data, arguments.all)
    b.location = kernel.location
    operands = {
        place: b.args[arguments.places[root]] for place, root in enumerate(cube.roots) if place != Y
    }
    read = {c.name: b.args[arguments.places[c.name]] for c in own}
    emitter = ContractionEmitter(b, cube, s, operands, read)

    def argument(port: Port) -> SSAValue:
        constant = others.get(port.root)
        key = port.root if constant is None else constant.name
        where = arguments.places[key if port.output is None else output(port.output)]
        return b.args[where]

    place = b.args[arguments.places[workspace(0)]]
    block = b.block_idx() if s.blocks > 1 else 0
    epilogue = Epilogue(b, problem, s, argument, place, block)
    with b.at(cube.anchor), b.block_loop(tile_counts(cube, s), s.blocks) as at:
        tile = emitter.tile(at)
        acc = emitter.accumulate(tile)
        part = b.subview(place, [block, 0, 0], [1, tile.m, tile.n.size], drop=(0,))
        b.op(FixpipeOp, acc, part)
        epilogue.emit(tile)
    func = b.finish("mixed", s.blocks, s.to_attr(), len(workspaces))
    return EmittedKernel(func, constants, workspaces)


@dataclass(frozen=True)
class Epilogue:
    """The vector half: a tile of the workspace in chunks of lines."""

    builder: KernelBuilder
    problem: MixedProblem
    schedule: MixedSchedule
    argument: Callable[[Port], SSAValue]
    workspace: SSAValue
    block: Index

    def emit(self, tile: Tile) -> None:
        """What follows the contraction, on all lines of a tile."""
        b, s = self.builder, self.schedule
        count = tile.row.size if s.rows > 1 else tile.col.size
        if s.chunk == s.lines:
            self._chunk(tile, Span(0, count))
            return
        with b.loop(0, count, s.chunk, "c") as start:
            if isinstance(count, int):
                rest = b.rest(count, start, s.chunk)
            else:
                rest = 1 if s.chunk == 1 else b.min(b.sub(count, start), s.chunk)
            self._chunk(tile, Span(start, rest))

    def _chunk(self, tile: Tile, lines: Span) -> None:
        b, problem, s = self.builder, self.problem, self.schedule
        tiles = vector_tiles(problem, s)
        if tiles is None:
            raise RefusalError("epilogue-tile", "a tile is no box of neighbours of the result")
        plan = make_plan(problem.program, problem.frame(tiles), problem.looped(tiles))
        row, col = (lines, tile.col) if s.rows > 1 else (Span(0, 1), lines)
        n = Span(0, tile.n.size)
        part: list[tuple[Index, Index]] = [(0, 1) for _ in problem.sizes]
        for where, index in zip(problem.grid, tile.grid.values(), strict=True):
            self._move(part, where, index, 1)
        for where, inside, start in (
            (problem.row, row, tile.row.start),
            (problem.col, col, tile.col.start if s.rows == 1 else 0),
            (problem.n, n, tile.n.start),
        ):
            self._move(part, where, b.add(start, inside.start), inside.size)
        buffer = plan.resident
        if buffer is None:
            raise RefusalError("epilogue-tile", "the epilogue does not read the contraction")
        source = self._source(buffer, (row, col, n))
        capacity = shape_of(buffer, Tiles.of(problem.sizes, tiles))
        resident = b.tile(Space.UB, capacity, problem.cube.accumulator, b.sizes(source), "tile")
        b.op(LoadOp, source, resident)
        if problem.cube.alpha != 1.0:
            b.op(VMulOp, resident, b.scalar(problem.cube.alpha, "f32"), resident)
        emit_tile(b, problem.program, plan, tiles, part, resident, self.argument)

    def _move(
        self, part: list[tuple[Index, Index]], where: Place | None, start: Index, size: Index
    ) -> None:
        """Adds an axis of the contraction to the part of the program's axis that it lies on."""
        if where is None:
            return
        b = self.builder
        offset, before = part[where.axis]
        part[where.axis] = (b.add(offset, b.mul(start, where.step)), b.mul(before, size))

    def _source(self, buffer: Buffer, spans: tuple[Span, Span, Span]) -> SSAValue:
        """The chunk in the workspace, with the dimensions of the tile in ub."""
        s, problem = self.schedule, self.problem
        dims = [Dim("block", s.blocks, s.tile_m * s.n), Dim("col", s.m, s.n), Dim("n", s.n, 1)]
        if s.rows > 1:
            dims.insert(1, Dim("row", s.rows, s.m * s.n))
        inside = dict(zip(("row", "col", "n"), spans, strict=True))
        places = dict(zip(inside, (problem.row, problem.col, problem.n), strict=True))
        at: dict[Hashable, Index] = {key: span.start for key, span in inside.items()}
        at["block"] = self.block
        taken: dict[Hashable, Span] = {
            key: inside[key]
            for key, place in places.items()
            if place is not None and place.axis in buffer.dims and inside[key].size != 1
        }
        view = GmView.make(self.builder, self.workspace, 0, dims)
        return view.tile(at, taken or {"n": Span(0, 1)})
