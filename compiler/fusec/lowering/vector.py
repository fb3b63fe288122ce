"""The emitter of vector kernels: from a planned program and its schedule to npu IR.

In: a region and a `VectorSchedule`, or a program for the tile of a contraction's result. Out: the
kernel's function, or the operators of one tile. No policy here: the plan says what runs where.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import SSAValue

from fusec.hw import Target
from fusec.lowering.arguments import arguments_of, output
from fusec.lowering.arithmetic import Index
from fusec.lowering.builder import KernelBuilder
from fusec.lowering.emitted import EmittedKernel, KernelConstant, data_constant
from fusec.lowering.gathered import gather
from fusec.schedule.axes import dtype_of
from fusec.schedule.expand import expand
from fusec.schedule.footprint import Tiles, elements_of, shape_of
from fusec.schedule.plan import Action, Buffer, Dims, Plan, Sweep
from fusec.schedule.ports import Port
from fusec.schedule.program import Program
from fusec.schedule.region import Region
from fusec.schedule.vector import VectorSchedule, grid_axes, plan_of
from fusec.semantics.interpreter import constant_array
from fusec_dialects.graph import ConstantOp, KernelOp
from fusec_dialects.npu import (
    CopyOp,
    LoadOp,
    StoreOp,
    VAbsOp,
    VAddOp,
    VAndOp,
    VBrcOp,
    VCastOp,
    VCmpOp,
    VDivOp,
    VExpOp,
    VLnOp,
    VMaxOp,
    VMinOp,
    VMulOp,
    VNotOp,
    VOrOp,
    VReduceOp,
    VReluOp,
    VSelOp,
    VSqrtOp,
    VSubOp,
    VTransposeOp,
)
from fusec_dialects.npu.attrs import Space

_PLAIN: dict[str, Callable[..., Any]] = {
    "vabs": VAbsOp,
    "vexp": VExpOp,
    "vln": VLnOp,
    "vsqrt": VSqrtOp,
    "vrelu": VReluOp,
    "vnot": VNotOp,
    "vadd": VAddOp,
    "vsub": VSubOp,
    "vmul": VMulOp,
    "vdiv": VDivOp,
    "vmax": VMaxOp,
    "vmin": VMinOp,
    "vand": VAndOp,
    "vor": VOrOp,
    "vsel": VSelOp,
    "vbrc": VBrcOp,
}
"""Instructions built as cls(*sources, dest, temp)."""


@dataclass(eq=False)
class TileEmitter:
    """Emits the actions of a plan while loops bind axes to (offset, size).

    `argument`: the gm argument of a port. An axis that no loop binds is whole.
    """

    builder: KernelBuilder
    plan: Plan
    sizes: Sequence[int]
    tiles: Tiles
    argument: Callable[[Port], SSAValue]
    bound: dict[int, tuple[Index, Index]] = field(default_factory=dict[int, "tuple[Index, Index]"])
    views: dict[Buffer, SSAValue] = field(default_factory=dict[Buffer, SSAValue])

    def run(self, actions: Sequence[Action]) -> None:
        for action in actions:
            place = action.step.op
            if place is None:
                self._emit(action)
                continue
            with self.builder.at(place):
                self._emit(action)

    def entry(self) -> None:
        """What runs once, before any axis of the grid is bound."""
        self._all(self.plan.entry)

    def grid(self) -> None:
        """What runs for each tile of the grid, whose axes are bound."""
        self._all(self.plan.grid)

    def _all(self, items: Sequence[Action | Sweep]) -> None:
        for item in items:
            if isinstance(item, Sweep):
                self._sweep(item)
            else:
                self.run([item])

    def bind(self, axis: int, position: Index) -> None:
        """Binds an axis to the tile at a position, counted in tiles."""
        tile = self.tiles.sizes[axis]
        self.bind_offset(axis, self.builder.mul(position, tile))

    def bind_offset(self, axis: int, offset: Index) -> None:
        tile, b = self.tiles.sizes[axis], self.builder
        self.bound[axis] = (offset, b.rest(self.sizes[axis], offset, tile))

    def _sweep(self, sweep: Sweep) -> None:
        with ExitStack() as loops:
            for axis, body in zip(sweep.axes, sweep.bodies, strict=True):
                tile = self.tiles.sizes[axis]
                loop = self.builder.loop(0, self.sizes[axis], tile, f"s{axis}")
                self.bind_offset(axis, loops.enter_context(loop))
                self.run(body)
        for axis in sweep.axes:
            del self.bound[axis]

    # Buffers and views

    def size(self, axis: int) -> Index:
        return self.bound[axis][1] if axis in self.bound else self.sizes[axis]

    def extent(self, dims: Dims) -> list[Index]:
        """What a tile of these dimensions extends over now."""
        return [1 if axis is None else self.size(axis) for axis in dims]

    def view(self, buffer: Buffer) -> SSAValue:
        """The part of a buffer in use."""
        return self.views[buffer]

    def make(self, buffer: Buffer) -> SSAValue:
        """A fresh buffer, unless an operand lies in it already."""
        if buffer not in self.views:
            self.views[buffer] = self.builder.tile(
                Space.UB, shape_of(buffer, self.tiles), buffer.dtype, self.extent(buffer.dims)
            )
        return self.views[buffer]

    def gm(self, port: Port, dims: Dims, picked: tuple[int, int, Index] | None = None) -> SSAValue:
        """The tile of a port as a view with these dimensions; `picked`: of slices along one more
        axis, how many there are, how far apart, and which."""
        b, argument = self.builder, self.argument(port)
        order = list(dims)
        missing = [a for a in port.order() if a not in order and a in port.strides]
        axes: list[int | None] = [*missing, *order]
        sizes: list[Index] = [
            1 if a is None or a not in port.strides else self.sizes[a] for a in axes
        ]
        strides: list[Index] = [1 if a is None else port.strides.get(a, 1) for a in axes]
        offsets: list[Index] = []
        extent: list[Index] = []
        dropped = len(missing)
        if picked is not None:
            sizes, strides = [picked[0], *sizes], [picked[1], *strides]
            offsets.append(picked[2])
            extent.append(1)
            dropped += 1
        whole = b.reinterpret(argument, port.offset, sizes, strides)
        for axis in axes:
            at, size = (0, 1)
            if axis is not None and axis in port.strides:
                at, size = self.bound.get(axis, (0, self.sizes[axis]))
            offsets.append(at)
            extent.append(size)
        return b.subview(whole, offsets, extent, drop=tuple(range(dropped)))

    # Actions

    def _emit(self, action: Action) -> None:
        b, dest, step = self.builder, action.dest, action.step
        if action.kind == "store":
            source = action.sources[0]
            if isinstance(source, Buffer) and step.port is not None:
                b.op(StoreOp, self.view(source), self.gm(step.port, source.dims))
            return
        if dest is None:
            return
        if action.kind == "load" and step.port is not None:
            if step.port.picked is None:
                b.op(LoadOp, self.gm(step.port, dest.dims), self.make(dest))
            else:
                gather(self, step.port, dest)
            return
        scalar_type = "f32" if dest.dtype == "i1" else dest.dtype
        sources = [s for s in action.sources if isinstance(s, Buffer)]
        if action.kind == "vcmp" and sources:
            scalar_type = sources[0].dtype
        operands = [
            self.view(s) if isinstance(s, Buffer) else b.scalar(s, scalar_type)
            for s in action.sources
        ]
        temp = None if action.temp is None else self._scratch(action.temp)
        out = self.make(dest)
        match action.kind:
            case "vreduce":
                pair = self._rows(operands[0], out, sources[0], action.dims[0])
                b.op(VReduceOp, action.mode, *pair, temp)
            case "copy":
                b.op(CopyOp, operands[0], out)
            case "vtranspose":
                b.op(VTransposeOp, operands[0], out, action.dims)
            case "vcast":
                b.op(VCastOp, operands[0], out, None, action.mode or None)
            case "vcmp":
                b.op(VCmpOp, action.mode, operands[0], operands[1], out)
            case kind:
                b.op(_PLAIN[kind], *operands, out, temp)

    def _rows(
        self, source: SSAValue, dest: SSAValue, buffer: Buffer, at: int
    ) -> tuple[SSAValue, SSAValue, tuple[int]]:
        """Source, destination and dimension of a reduction; a single row as one dimension."""
        if any(axis is not None for i, axis in enumerate(buffer.dims) if i != at):
            return source, dest, (at,)
        drop = tuple(i for i in range(len(buffer.dims)) if i != at)
        if not drop:
            return source, dest, (at,)
        zeros, ones = [0] * len(buffer.dims), [1] * len(buffer.dims)
        row = self.builder.subview(source, zeros, self.extent(buffer.dims), drop=drop)
        return row, self.builder.subview(dest, zeros, ones, drop=drop), (0,)

    def _scratch(self, buffer: Buffer) -> SSAValue:
        elements = elements_of(buffer, self.tiles)
        return self.builder.alloc(Space.UB, (elements,), buffer.dtype, "temp")


def emit(kernel: KernelOp, schedule: VectorSchedule, target: Target) -> EmittedKernel:
    """The function of a vector kernel; the schedule has been checked (`schedule.vector.check`)."""
    program = expand(Region.of_block(kernel.body.block))
    constants = constants_of(program)
    arguments = arguments_of(kernel, list(constants.values()))
    builder = KernelBuilder(kernel.sym_name.data, arguments.all)

    def argument(port: Port) -> SSAValue:
        constant = constants.get(port.root)
        key = port.root if constant is None else constant.name
        where = arguments.places[key if port.output is None else output(port.output)]
        return builder.args[where]

    with builder.at(kernel):
        _emit_grid(builder, program, schedule, argument)
        func = builder.finish("vector", schedule.blocks, schedule.to_attr())
    return EmittedKernel(func, list(constants.values()))


def _emit_grid(
    builder: KernelBuilder,
    program: Program,
    schedule: VectorSchedule,
    argument: Callable[[Port], SSAValue],
) -> None:
    plan = plan_of(program, schedule)
    tiles = Tiles.of(schedule.axes, schedule.tiles)
    emitter = TileEmitter(builder, plan, schedule.axes, tiles, argument)
    emitter.entry()
    axes = grid_axes(program, schedule)
    counts = [-(-schedule.axes[a] // schedule.tiles[a]) for a in axes]
    with builder.block_loop(counts, schedule.blocks) as position:
        for axis, at in zip(axes, position, strict=True):
            emitter.bind(axis, at)
        emitter.grid()


def emit_tile(
    builder: KernelBuilder,
    program: Program,
    plan: Plan,
    tiles: Sequence[int],
    part: Sequence[tuple[Index, Index]],
    resident: SSAValue,
    argument: Callable[[Port], SSAValue],
) -> None:
    """The program on one tile of a contraction's result, which lies in ub already.

    `program`: of `expand(region, resident=value)`, with one axis for each dimension of the value
    above size 1. `plan`: `make_plan(program, frame, looped)`, `frame` being the axes with a tile
    above 1. For each axis `tiles` has the capacity and `part` the offset and size of this tile.
    `resident`: the tile in ub, f32, with the dimensions of `frame`; it may be overwritten.
    `argument`: the gm argument of a port.
    """
    sizes = program.axes.sizes
    emitter = TileEmitter(builder, plan, sizes, Tiles.of(sizes, tiles), argument)
    emitter.bound.update(enumerate(part))
    if plan.resident is not None:
        emitter.views[plan.resident] = resident
    emitter.entry()
    emitter.grid()


def constants_of(program: Program) -> dict[SSAValue, KernelConstant]:
    """Constants of several elements in a region: the kernel reads them as arguments."""
    found: dict[SSAValue, KernelConstant] = {}
    for port in program.axes.loads.values():
        owner = port.root.owner
        if isinstance(owner, ConstantOp) and port.root not in found:
            found[port.root] = data_constant(constant_array(owner), dtype_of(port.root))
    return found
