"""npu-expand-l0: the movement through L0 that an mmad on l1 operands does by itself, written out.

In: npu IR, not placed. Out: no mmad on l1: a loop over K in steps of `l0 [k]` with tiles in l0a and
l0b, copies from l1 (transposing where the operand is stored transposed) and an mmad on the tiles;
without the loop where one step is enough. The tiles have two copies where these fit.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    LocationAttr,
    MemRefType,
    ModuleOp,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import SubviewOp
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from fusec.hw import Target
from fusec.npu.buffers import accesses
from fusec.npu.intervals import Intervals
from fusec.npu.module import blocks_of, copies_of, kernels, target_of
from fusec.npu.rotation import rotate
from fusec.npu.views import Size, make_view, sizes_of
from fusec_dialects.npu.attrs import L0A, L0B, SpaceAttr, memref_type
from fusec_dialects.npu.base import element_type
from fusec_dialects.npu.cube import MmadOp
from fusec_dialects.npu.move import AllocOp, CopyOp
from fusec_dialects.npu.storage import FRACTAL_ROW_BYTES, FRACTAL_ROWS, element_bytes
from fusec_dialects.place import place

_INDEX = IndexType()
_Op = TypeVar("_Op", bound=Operation)


@dataclass(frozen=True)
class NpuExpandL0Pass(ModulePass):
    """`copies` is how many each L0 tile gets where the kernel's schedule does not say it."""

    name = "npu-expand-l0"
    copies: int = 2

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.copies < 1:
            raise PassFailedException(f"{self.name}: copies is at least 1, found {self.copies}")
        target = target_of(op)
        for kernel in kernels(op):
            todo = [m for m in kernel.walk() if isinstance(m, MmadOp) and m.on_l1]
            if todo:
                _expand_kernel(kernel, todo, copies_of(kernel, self.copies), target)


def _expand_kernel(kernel: FuncOp, todo: list[MmadOp], copies: int, target: Target) -> None:
    intervals = Intervals(blocks_of(kernel))
    constants = _Constants(kernel.body.block)
    tiles: set[AllocOp] = set()
    for mmad in todo:
        tiles.update(_Expansion(mmad, intervals, constants, target).run())
    if copies > 1:
        found = accesses(kernel)
        rotate(found, [a for a in found.allocs if a.op in tiles], copies, target, intervals)


class _Extent(NamedTuple):
    """A size and the largest that it can be."""

    size: Size
    most: int


class _Constants:
    """Constants of a function, each once; new ones go to its start.

    Those that stand before the first loop and the first mmad can be used in every expansion.
    """

    def __init__(self, entry: Block) -> None:
        self._entry = entry
        self._anchor = entry.first_op
        self._known: dict[int, SSAValue] = {}
        for op in entry.ops:
            if isinstance(op, ForOp | MmadOp):
                break
            constant = op.value if isinstance(op, arith.ConstantOp) else None
            if isinstance(constant, IntegerAttr) and constant.type == _INDEX:
                self._known.setdefault(constant.value.data, op.results[0])

    def index(self, value: int, location: LocationAttr) -> SSAValue:
        found = self._known.get(value)
        if found is None:
            constant = arith.ConstantOp(IntegerAttr(value, _INDEX))
            constant.location = location
            found = self._known[value] = constant.result
            found.name_hint = f"c{value}"
            if self._anchor is None:
                self._entry.add_op(constant)
            else:
                self._entry.insert_op_before(constant, self._anchor)
        return found


@dataclass
class _Expansion:
    """One mmad; `ops` are the operators made for the block that is being filled."""

    mmad: MmadOp
    intervals: Intervals
    constants: _Constants
    target: Target
    ops: list[Operation] = field(default_factory=list[Operation])

    def run(self) -> list[AllocOp]:
        """Replaces the mmad and returns the tiles."""
        mmad = self.mmad
        rows, depth = self._matrix(mmad.a, mmad.a_transpose is not None)
        depth_b, columns = self._matrix(mmad.b, mmad.b_transpose is not None)
        most = min(depth.most, depth_b.most)
        depth = _Extent(depth.size if isinstance(depth.size, int) else depth_b.size, most)
        step = min(self._step(rows.most, columns.most, most), most)
        block = mmad.parent
        if block is None:
            return []
        if step == most:
            tiles = self._step_ops(rows, columns, step, 0, depth.size, mmad.init)
            block.insert_ops_before(self._finish(), mmad)
        else:
            tiles = self._loop(block, rows, columns, depth, step)
        mmad.detach()
        mmad.erase()
        return tiles

    def _loop(
        self, block: Block, rows: _Extent, columns: _Extent, depth: _Extent, step: int
    ) -> list[AllocOp]:
        zero, step_value = self._constant(0), self._constant(step)
        end = self._constant(depth.size) if isinstance(depth.size, int) else depth.size
        body = Block(arg_types=[_INDEX])
        start = body.args[0]
        start.name_hint, start.location = "k", self.mmad.location
        size: Size = step
        if not isinstance(depth.size, int) or depth.size % step:
            rest = self._add(arith.SubiOp(end, start))
            size = self._add(arith.MinSIOp(rest.result, step_value)).result
        first: SSAValue = self._add(arith.CmpiOp(start, zero, "eq")).result
        if self.intervals.of(self.mmad.init).constant in (None, 0):
            first = self._add(arith.AndIOp(self.mmad.init, first)).result
        tiles = self._step_ops(rows, columns, step, start, size, first)
        self._add(YieldOp())
        body.add_ops(self._finish())
        self._add(ForOp(zero, end, step_value, [], body))
        block.insert_ops_before(self._finish(), self.mmad)
        return tiles

    def _constant(self, value: int) -> SSAValue:
        return self.constants.index(value, self.mmad.location)

    def _step_ops(
        self, rows: _Extent, columns: _Extent, step: int, start: Size, size: Size, init: SSAValue
    ) -> list[AllocOp]:
        """One step in K: both tiles allocated and filled, then multiplied."""
        mmad = self.mmad
        a = self._alloc(L0A, (rows.most, step))
        a_tile = self._view(a.result, (0, 0), (rows.size, size))
        if mmad.a_transpose is None:
            part = self._view(mmad.a, (0, start), (rows.size, size))
        else:
            part = self._view(mmad.a, (start, 0), (size, rows.size))
        self._add(CopyOp(part, a_tile, mmad.a_transpose is not None))
        b = self._alloc(L0B, (step, columns.most))
        b_tile = self._view(b.result, (0, 0), (size, columns.size))
        if mmad.b_transpose is None:
            part = self._view(mmad.b, (start, 0), (size, columns.size))
        else:
            part = self._view(mmad.b, (0, start), (columns.size, size))
        self._add(CopyOp(part, b_tile, mmad.b_transpose is not None))
        product = self._add(MmadOp(a_tile, b_tile, init, mmad.acc, bias=mmad.bias))
        product.attributes.update(mmad.attributes)
        return [a, b]

    def _alloc(self, space: SpaceAttr, capacity: tuple[int, int]) -> AllocOp:
        type_ = MemRefType(element_type(self.mmad.a), capacity, memory_space=space)
        alloc = self._add(AllocOp(type_))
        alloc.result.name_hint = space.kind.value
        return alloc

    def _view(
        self, source: SSAValue, offsets: tuple[Size, Size], sizes: tuple[Size, Size]
    ) -> SSAValue:
        """The sub-view, or the source itself if that is all of it."""
        if offsets == (0, 0) and sizes_of(source) == list(sizes):
            return source
        return self._add(make_view(source, offsets, sizes)).result

    def _matrix(self, operand: SSAValue, transposed: bool) -> tuple[_Extent, _Extent]:
        """Rows and columns of an operand as the product sees it."""
        extents = self._extents(operand)
        if len(extents) != 2:
            raise PassFailedException(f"{place(self.mmad)}: operands are matrices")
        first, second = extents
        return (second, first) if transposed else (first, second)

    def _extents(self, view: SSAValue) -> list[_Extent]:
        sizes = sizes_of(view)
        if sizes is None:
            raise PassFailedException(
                f"{place(self.mmad)}: the capacity of an l1 operand is not known; "
                "multiply a sub-view of a buffer from npu.alloc"
            )
        if all(isinstance(size, int) for size in sizes) or not isinstance(view.owner, SubviewOp):
            return [_Extent(size, size) for size in sizes if isinstance(size, int)]
        around = self._capacities(view.owner, len(sizes))
        return [
            _Extent(size, size)
            if isinstance(size, int)
            else _Extent(size, max(min(self.intervals.of(size).high, most), 1))
            for size, most in zip(sizes, around, strict=True)
        ]

    def _capacities(self, view: SubviewOp, rank: int) -> list[int]:
        """The largest size of each axis of the view by what it is cut from, if ranks agree."""
        type_ = memref_type(view.source.type)
        if type_ is None or type_.get_num_dims() != rank:
            return [1 << 62] * rank
        if DYNAMIC_INDEX in type_.get_shape():
            return [extent.most for extent in self._extents(view.source)]
        return list(type_.get_shape())

    def _step(self, rows: int, columns: int, depth: int) -> int:
        """The step in K: `l0 [k]`, or the largest of which two tiles fit each of l0a and l0b."""
        size = element_bytes(element_type(self.mmad.a))
        unit = max(FRACTAL_ROWS, FRACTAL_ROW_BYTES // size)
        if self.mmad.l0 is None:
            half = min(self.target.capacity("l0a"), self.target.capacity("l0b")) // 2
            widest = -(-max(rows, columns) // FRACTAL_ROWS) * FRACTAL_ROWS
            return max(half // size // widest // unit * unit, unit)
        step = int(self.mmad.l0.get_values()[0])
        if step % unit and step < depth:
            raise PassFailedException(
                f"{place(self.mmad)}: a step of {step} in K cuts a fractal; "
                f"`l0 [k]` is a multiple of {unit} for {element_type(self.mmad.a)}"
            )
        return step

    def _add(self, op: _Op) -> _Op:
        op.location = self.mmad.location
        self.ops.append(op)
        return op

    def _finish(self) -> list[Operation]:
        ops, self.ops = self.ops, []
        return ops
