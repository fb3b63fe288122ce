"""Emits a kernel on row blocks: the operand, its product, what needs whole rows of it.

In: a graph.kernel with a `rows` schedule. Out: its function: for each tile of lines the vector half
writes the left operand to a workspace, the cube half multiplies it column tile by column tile, and
either stores the result or leaves it in a second workspace for the vector half.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from xdsl.ir import SSAValue

from fusec.hw import Target
from fusec.lowering.addends import constants_of
from fusec.lowering.arguments import arguments_of, output, workspace
from fusec.lowering.builder import Index, KernelBuilder
from fusec.lowering.contraction import ContractionEmitter, Tile
from fusec.lowering.emitted import EmittedKernel, Workspace
from fusec.lowering.gm_view import Span
from fusec.lowering.rows_lines import LineEmitter, RowsContraction
from fusec.lowering.vector import constants_of as vector_constants
from fusec.schedule.contraction import A, Y
from fusec.schedule.ports import Port
from fusec.schedule.program import Program
from fusec.schedule.region import Region
from fusec.schedule.rows_problem import Product, RowsProblem, rows_problem
from fusec.schedule.rows_schedule import RowsSchedule, cube_of, grid_counts, parts
from fusec_dialects.graph import KernelOp
from fusec_dialects.npu.move import FixpipeOp


def emit(kernel: KernelOp, schedule: RowsSchedule, target: Target) -> EmittedKernel:
    """The function of a kernel whose schedule was checked."""
    return _Rows(kernel, schedule).emit()


class _Rows:
    """One kernel while it is built."""

    def __init__(self, kernel: KernelOp, schedule: RowsSchedule) -> None:
        self.problem = rows_problem(Region.of_block(kernel.body.block))
        self.schedule = schedule
        products = self.problem.products
        own = [constants_of(p.cube, cube_of(schedule, p)) for p in products]
        parts = (self.problem.prologue, self.problem.epilogue)
        self.data = {p.program: vector_constants(p.program) for p in parts if p is not None}
        every = [c for found in own for c in found]
        every += [c for found in self.data.values() for c in found.values()]
        self.constants = list({c.name: c for c in every}.values())
        self.workspaces = _workspaces(self.problem, schedule)
        arguments = arguments_of(kernel, self.constants, self.workspaces)
        self.places = arguments.places
        self.b = KernelBuilder(kernel.sym_name.data, arguments.all)
        self.b.location = kernel.location
        self.block: Index = self.b.block_idx() if schedule.blocks > 1 else 0
        self.read = [{c.name: self._at(c.name) for c in found} for found in own]

    def emit(self) -> EmittedKernel:
        """The function with its constants and workspaces."""
        b, s, problem = self.b, self.schedule, self.problem
        products = list(zip(problem.products, self._contractions(), strict=True))
        before, after = self._before(), self._after()
        with b.at(problem.cube.anchor), b.block_loop(grid_counts(problem, s), s.blocks) as at:
            *outer, part = at
            line = products[0][1].tile((*outer, 0))
            if before is not None:
                before.emit(line)
            start = b.mul(part, s.span)
            together = [each for each in products if each[0].output is None]
            alone = [[each] for each in products if each[0].output is not None]
            if after is None or problem.whole_rows:
                alone += [[each] for each in together]
                together = []
            for each in alone:
                self._columns(each, line, start, None)
            if together:
                self._columns(together, line, start, after)
            elif after is not None:
                after.emit(line)
        func = b.finish("mixed", s.blocks, s.to_attr(), len(self.workspaces))
        return EmittedKernel(func, self.constants, self.workspaces)

    def _columns(
        self,
        products: Sequence[tuple[Product, ContractionEmitter]],
        line: Tile,
        start: Index,
        after: LineEmitter | None,
    ) -> None:
        """Products of equal width tile by tile of columns, with what follows on each tile."""
        b, s, n = self.b, self.schedule, products[0][0].columns
        step = min(s.n, n)
        end = n if s.span >= n else b.min(b.add(start, s.span), n)
        single = s.span <= s.n and start_of_last(self.problem, s) < n
        with ExitStack() as loops:
            column = start if single else loops.enter_context(b.loop(start, end, step, "n"))
            tile = replace(line, n=Span(column, b.rest(n, column, step)))
            for product, contraction in products:
                self._product(product, contraction, tile)
            if after is not None:
                after.emit(tile)

    def _product(self, product: Product, contraction: ContractionEmitter, tile: Tile) -> None:
        """One tile of a product, to where it goes."""
        b, problem = self.b, self.problem
        acc = contraction.accumulate(tile)
        if product.output is not None:
            with b.at(product.cube.last):
                b.op(FixpipeOp, acc, contraction.part(Y, tile), relu=product.cube.relu)
            return
        place, _ = self._handed()[problem.handed.index(product)]
        first = tile.n.start if problem.whole_rows else 0
        b.op(
            FixpipeOp,
            acc,
            b.subview(place, [self.block, 0, first], [1, tile.m, tile.n.size], drop=(0,)),
        )

    def _at(self, key: Hashable) -> SSAValue:
        return self.b.args[self.places[key]]

    def _handed(self) -> list[tuple[SSAValue, int]]:
        """The workspaces of the products that the epilogue reads, with the length of a line."""
        first = len(self.workspaces) - len(self.problem.handed)
        found = range(first, len(self.workspaces))
        return [(self._at(workspace(at)), self.workspaces[at].shape[-1]) for at in found]

    def _contractions(self) -> Iterator[ContractionEmitter]:
        b, prologue = self.b, self.problem.prologue
        for product, read in zip(self.problem.products, self.read, strict=True):
            cube, s = product.cube, cube_of(self.schedule, product)
            operands = {
                place: self._at(root)
                for place, root in enumerate(cube.roots)
                if place != Y and (place != A or prologue is None)
            }
            if product.output is not None:
                operands[Y] = self._at(output(product.output))
            if prologue is None:
                yield ContractionEmitter(b, cube, s, operands, read)
                continue
            found = RowsContraction(b, cube, s, operands, read)
            found.operand, found.block = self._at(workspace(0)), self.block
            yield found

    def _before(self) -> LineEmitter | None:
        found, s = self.problem.prologue, self.schedule
        if found is None:
            return None
        argument = self._argument(found.program, (-1, *self.problem.before))
        where = [(self._at(workspace(0)), self.workspaces[0].shape[-1])]
        return LineEmitter(self.b, found, s.tile_m, s.lead, s.n, argument, where, self.block)

    def _after(self) -> LineEmitter | None:
        found, s = self.problem.epilogue, self.schedule
        if found is None:
            return None
        argument, where = self._argument(found.program, self.problem.after), self._handed()
        width = cube_of(s, self.problem.handed[0]).n
        return LineEmitter(self.b, found, s.tile_m, s.chunk, width, argument, where, self.block)

    def _argument(self, program: Program, outputs: Sequence[int]) -> Callable[[Port], SSAValue]:
        """The argument in gm of a port of a program; `outputs`: of the kernel, by those of it."""
        data: Mapping[SSAValue, object] = self.data[program]
        names = {root: constant.name for root, constant in self.data[program].items()}

        def argument(port: Port) -> SSAValue:
            key = names[port.root] if port.root in data else port.root
            where = key if port.output is None else output(outputs[port.output])
            return self.b.args[self.places[where]]

        return argument


def start_of_last(problem: RowsProblem, s: RowsSchedule) -> int:
    """The first column of the last block of a row."""
    return (parts(problem, s) - 1) * s.span


def _workspaces(problem: RowsProblem, s: RowsSchedule) -> tuple[Workspace, ...]:
    """Of the operand, and of the products that the epilogue reads."""
    found: list[Workspace] = []
    if problem.prologue is not None:
        depth = problem.cube.axes.k.size
        found.append(Workspace((s.blocks, s.tile_m, depth), problem.cube.dtype))
    for product in problem.handed:
        width = product.columns if problem.whole_rows else cube_of(s, product).n
        found.append(Workspace((s.blocks, s.tile_m, width), product.cube.accumulator))
    return tuple(found)
