"""The emitter of movement kernels: copies through ub, transposed there where the last axis moves.

In: a region and a `MovementSchedule`. Out: the kernel's function. The copies follow one another;
each shares its tiles among all blocks.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from fusec.hw import DTYPE_BYTES, Target
from fusec.lowering.arguments import Arguments, arguments_of, output
from fusec.lowering.arithmetic import INDEX, Index
from fusec.lowering.builder import KernelBuilder
from fusec.lowering.emitted import EmittedKernel, KernelConstant, data_constant
from fusec.schedule.axes import dtype_of
from fusec.schedule.copies import Axis, Copy, copies_of
from fusec.schedule.footprint import BLOCK
from fusec.schedule.movement import MovementSchedule, tile_counts
from fusec.schedule.region import Region
from fusec.semantics.interpreter import constant_array
from fusec_dialects.graph import ConstantOp, KernelOp
from fusec_dialects.npu import LoadOp, StoreOp, VBrcOp, VTransposeOp
from fusec_dialects.npu.attrs import Space

Place = tuple[Index, Index]
"""Offset and size of a tile along an axis."""


def emit(kernel: KernelOp, schedule: MovementSchedule, target: Target) -> EmittedKernel:
    """The function of a movement kernel; the schedule is checked (`check_movement`)."""
    region = Region.of_block(kernel.body.block)
    copies = copies_of(region)
    constants: dict[SSAValue, KernelConstant] = {}
    for copy in copies:
        for root in (copy.root, None if copy.indices is None else copy.indices.root):
            if root is not None and isinstance(root.owner, ConstantOp):
                constants[root] = data_constant(constant_array(root.owner), dtype_of(root))
    arguments = arguments_of(kernel, list(constants.values()))
    builder = KernelBuilder(kernel.sym_name.data, arguments.all)
    emitter = _Copies(builder, arguments, constants, schedule.blocks)
    with builder.at(kernel):
        for number, copy in enumerate(copies):
            owner = region.outputs[copy.output].owner
            with builder.at(owner if isinstance(owner, Operation) else kernel):
                emitter.copy(copy, *schedule.tile(number))
        func = builder.finish("vector", schedule.blocks, schedule.to_attr())
    return EmittedKernel(func, list(constants.values()))


@dataclass(frozen=True)
class _Copies:
    builder: KernelBuilder
    arguments: Arguments
    constants: dict[SSAValue, KernelConstant]
    blocks: int

    def copy(self, copy: Copy, rows: int, columns: int) -> None:
        """All tiles of one copy. A fill makes its tile once and stores it wherever it goes."""
        filled = None if copy.root is not None else self._fill(copy, rows, columns)
        with self._tiles(copy, rows, columns) as places:
            if filled is not None:
                tile = self.builder.leading(filled, self._extent(copy, places))
            elif copy.woven is not None:
                tile = self._woven(copy, rows, columns, places)
            elif copy.swapped:
                tile = self._transposed(copy, rows, columns, places)
            else:
                tile = self._loaded(copy, rows, columns, places)
            self.builder.op(StoreOp, tile, self._dest(copy, places))

    @contextmanager
    def _tiles(self, copy: Copy, rows: int, columns: int) -> Generator[list[Place]]:
        """Offset and size along each axis, for each tile of this block."""
        b, counts = self.builder, tile_counts(copy, rows, columns)
        total = prod(counts)
        lengths = {copy.rows: rows, copy.columns: columns}
        if copy.woven is not None:
            lengths[copy.woven] = copy.axes[copy.woven].size

        def places(tile: Index) -> list[Place]:
            found: list[Place] = []
            positions = b.delinearise(tile, counts)
            for i, (axis, at) in enumerate(zip(copy.axes, positions, strict=True)):
                length = lengths.get(i, 1)
                offset = b.mul(at, length)
                found.append((offset, b.rest(axis.size, offset, length)))
            return found

        if self.blocks == 1 and total == 1:
            yield places(0)
            return
        first = 0 if self.blocks == 1 else b.block_idx()
        if total == self.blocks:
            yield places(first)
            return
        step = 1 if self.blocks == 1 else b.block_num()
        with b.loop(first, total, step, "t") as tile:
            yield places(tile)

    # Tiles in ub

    def _shape(self, copy: Copy, rows: int, columns: int) -> tuple[int, ...]:
        """Dimensions of the tile as it is stored: its rows, if it has any, and columns."""
        return (columns,) if copy.rows == copy.columns else (rows, columns)

    def _extent(self, copy: Copy, places: Sequence[Place]) -> list[Index]:
        columns = places[copy.columns][1]
        return [columns] if copy.rows == copy.columns else [places[copy.rows][1], columns]

    def _fill(self, copy: Copy, rows: int, columns: int) -> SSAValue:
        shape = self._shape(copy, rows, columns)
        buffer = self.builder.alloc(Space.UB, shape, copy.dtype, "fill")
        scalar = self.builder.scalar(copy.value, copy.dtype)
        self.builder.op(VBrcOp, scalar, self.builder.leading(buffer, shape))
        return buffer

    def _loaded(self, copy: Copy, rows: int, columns: int, places: Sequence[Place]) -> SSAValue:
        b = self.builder
        shape, extent = self._shape(copy, rows, columns), self._extent(copy, places)
        tile = b.tile(Space.UB, shape, copy.dtype, extent)
        frame = [copy.columns] if copy.rows == copy.columns else [copy.rows, copy.columns]
        b.op(LoadOp, self._source(copy, places, frame), tile)
        return tile

    def _transposed(self, copy: Copy, rows: int, columns: int, places: Sequence[Place]) -> SSAValue:
        """Loaded with the source's contiguous axis innermost, then turned."""
        b = self.builder
        extent = self._extent(copy, places)
        raw = b.tile(Space.UB, (columns, rows), copy.dtype, extent[::-1])
        b.op(LoadOp, self._source(copy, places, [copy.columns, copy.rows]), raw)
        tile = b.tile(Space.UB, (rows, columns), copy.dtype, extent)
        b.op(VTransposeOp, raw, tile, (1, 0))
        return tile

    def _woven(self, copy: Copy, rows: int, columns: int, places: Sequence[Place]) -> SSAValue:
        """A plane [rows, columns] for each position of the short axis, turned into every n-th row
        of one buffer, which is then turned as a whole: [rows, columns x n]."""
        b, axis = self.builder, cast(int, copy.woven)
        short, extent = copy.axes[axis].size, self._extent(copy, places)
        each = DTYPE_BYTES[copy.dtype]
        block = max(1, BLOCK // each)
        aligned = -(-rows // block) * block
        turned = b.alloc(Space.UB, (columns * short, aligned), copy.dtype)
        for at in range(short):
            plane = b.tile(Space.UB, (rows, columns), copy.dtype, extent)
            placed = [(at, 1) if i == axis else where for i, where in enumerate(places)]
            b.op(LoadOp, self._source(copy, placed, [copy.rows, copy.columns]), plane)
            part = b.subview(turned, [at, 0], extent[::-1], [short, 1])
            b.op(VTransposeOp, plane, part, (1, 0))
        width = b.mul(extent[1], short)
        whole = b.subview(turned, [0, 0], [width, extent[0]])
        tile = b.tile(Space.UB, (rows, columns * short), copy.dtype, [extent[0], width])
        b.op(VTransposeOp, whole, tile, (1, 0))
        return tile

    # Views of gm

    def _argument(self, root: SSAValue) -> SSAValue:
        """The argument that a tensor of the region is, or a constant became."""
        constant = self.constants.get(root)
        where = self.arguments.places[root if constant is None else constant.name]
        return self.builder.args[where]

    def _source(self, copy: Copy, places: Sequence[Place], frame: Sequence[int]) -> SSAValue:
        """The tile of what is read, with the axes of `frame` as dimensions."""
        argument = self._argument(cast(SSAValue, copy.root))
        axes = list(copy.axes)
        steps = [a.source for a in axes]
        placed = list(places)
        if copy.indices is not None:
            picked = self._index(copy, places)
            size, step = copy.gathered
            steps = [0 if a.picked else s for a, s in zip(axes, steps, strict=True)]
            axes.append(Axis(size, step, 0))
            steps.append(step)
            placed.append((picked, 1))
        offset = copy.source_offset
        for i, axis in enumerate(axes):
            if steps[i] < 0:
                last = axis.size - 1
                offset += last * steps[i]
                steps[i], placed[i] = -steps[i], (self.builder.sub(last, placed[i][0]), 1)
        return self._view(argument, offset, axes, steps, placed, frame)

    def _dest(self, copy: Copy, places: Sequence[Place]) -> SSAValue:
        argument = self.builder.args[self.arguments.places[output(copy.output)]]
        frame = [copy.columns] if copy.rows == copy.columns else [copy.rows, copy.columns]
        axes, placed = list(copy.axes), list(places)
        if copy.woven is not None:
            short, long = axes[copy.woven].size, axes[copy.columns]
            axes[copy.columns] = Axis(long.size * short, 1, 1)
            axes[copy.woven] = Axis(1, 0, 0)
            offset, size = places[copy.columns]
            placed[copy.columns] = (self.builder.mul(offset, short), self.builder.mul(size, short))
        steps = [a.dest for a in axes]
        return self._view(argument, copy.dest_offset, axes, steps, placed, frame)

    def _view(
        self,
        argument: SSAValue,
        offset: int,
        axes: Sequence[Axis],
        steps: Sequence[int],
        places: Sequence[Place],
        frame: Sequence[int],
    ) -> SSAValue:
        """One reinterpret_cast over all axes, one sub-view; axes without a step are not there."""
        others = [i for i, s in enumerate(steps) if s and i not in frame and axes[i].size > 1]
        order = [*others, *frame]
        sizes = [axes[i].size for i in order]
        whole = self.builder.reinterpret(argument, offset, sizes, [steps[i] for i in order])
        drop = tuple(range(len(others)))
        offsets, extent = [places[i][0] for i in order], [places[i][1] for i in order]
        return self.builder.subview(whole, offsets, extent, drop=drop)

    def _index(self, copy: Copy, places: Sequence[Place]) -> Index:
        """The index of the slice that a tile reads, a negative one counted from the end."""
        b, indices = self.builder, copy.indices
        if indices is None:
            return 0
        argument = self._argument(indices.root)
        count = prod(indices.sizes)
        flat = b.reinterpret(argument, indices.offset, [count], [1])
        position: Index = 0
        for axis, (offset, _) in zip(copy.axes, places, strict=True):
            position = b.add(position, b.mul(offset, axis.picked)) if axis.picked else position
        loaded = b.load_scalar(flat, [position])
        zero, size = (
            b.op(arith.ConstantOp, IntegerAttr(n, cast(Any, loaded.type))).result
            for n in (0, copy.gathered.size)
        )
        wrapped = b.op(arith.AddiOp, loaded, size).result
        negative = b.op(arith.CmpiOp, loaded, zero, "slt").result
        chosen = b.op(arith.SelectOp, negative, wrapped, loaded).result
        return b.op(arith.IndexCastOp, chosen, INDEX).result
