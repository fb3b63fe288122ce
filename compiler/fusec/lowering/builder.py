"""Builds the function of one kernel: its arguments, grid loop, buffers and views.

Types of views are inferred here on plain layouts; a view of everything is no operation.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import prod
from typing import Any, cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from fusec.hw import DTYPE_BYTES
from fusec.lowering.arithmetic import INDEX, Index, IndexBuilder, segments
from fusec.lowering.layout import (
    Layout,
    Size,
    layout_of,
    memref_of,
    row_major,
    scalar_type,
    standard,
)
from fusec_dialects.npu import BlockIdxOp, BlockNumOp
from fusec_dialects.npu.attrs import Space
from fusec_dialects.npu.move import AllocOp

UB_BLOCK_BYTES = 32
"""The innermost size of a ub buffer is padded to this, so that every row starts on a block."""


class KernelBuilder(IndexBuilder):
    """The function of a kernel while it is built."""

    def __init__(self, name: str, arguments: Sequence[tuple[str, Layout]]) -> None:
        """`arguments`: name hint and layout of each argument of the function, in order."""
        super().__init__(Block(arg_types=[memref_of(layout) for _, layout in arguments]))
        self.name = name
        self.args: tuple[SSAValue, ...] = tuple(self.entry.args)
        for value, (hint, _) in zip(self.args, arguments, strict=True):
            value.name_hint = hint
        self._layouts: dict[SSAValue, Layout] = {
            value: layout for value, (_, layout) in zip(self.args, arguments, strict=True)
        }
        self._sizes: dict[SSAValue, tuple[Index, ...]] = {}

    @contextmanager
    def block_loop(self, counts: Sequence[int], blocks: int) -> Generator[tuple[Index, ...]]:
        """All tiles of a grid, shared among `blocks` cores; gives the tile's position.

        The last count varies fastest. Every block takes at least one tile: blocks <= prod(counts).
        """
        total = prod(counts)
        block = 0 if blocks == 1 else self.block_idx()
        if blocks == total:
            yield self.delinearise(block, counts)
            return
        with self.loop(block, total, 1 if blocks == 1 else self.block_num(), "t") as tile:
            yield self.delinearise(tile, counts)

    def block_idx(self) -> SSAValue:
        """Which block of the launch this is."""
        return self._once(BlockIdxOp, "block")

    def block_num(self) -> SSAValue:
        """How many blocks the launch has."""
        return self._once(BlockNumOp, "blocks")

    def _once(self, cls: Callable[[], Any], hint: str) -> SSAValue:
        found = self._lookup((hint,))
        if found is not None:
            return found
        value: SSAValue = self.insert(cls()).result
        value.name_hint = hint
        return self._remember((hint,), value)

    def delinearise(self, index: Index, counts: Sequence[int]) -> tuple[Index, ...]:
        """The position in a grid of a row-major number."""
        position: list[Index] = []
        inner = prod(counts)
        for axis, count in enumerate(counts):
            inner //= count
            if count == 1:
                position.append(0)
                continue
            part = self.floordiv(index, inner)
            outermost = all(c == 1 for c in counts[:axis])
            position.append(part if outermost else self.mod(part, count))
        return tuple(position)

    # Buffers and views

    def layout(self, value: SSAValue) -> Layout:
        """The layout of a buffer or view of this kernel."""
        found = self._layouts.get(value)
        if found is None:
            found = layout_of(cast("MemRefType[Attribute]", value.type))
            self._layouts[value] = found
        return found

    def sizes(self, value: SSAValue) -> tuple[Index, ...]:
        """The sizes of a buffer or of a view made here."""
        found = self._sizes.get(value)
        return cast("tuple[int, ...]", self.layout(value).shape) if found is None else found

    def alloc(self, space: Space, shape: Sequence[int], dtype: str, hint: str = "") -> SSAValue:
        """A fresh buffer. In ub the innermost size is rounded up to whole 32-byte blocks."""
        sizes = list(shape)
        if space == Space.UB and sizes:
            multiple = max(1, UB_BLOCK_BYTES // DTYPE_BYTES[dtype])
            sizes[-1] = -(-sizes[-1] // multiple) * multiple
        layout = Layout(tuple(sizes), None, 0, dtype, space)
        value = self.insert(AllocOp(memref_of(layout))).result
        return self._named(value, layout, hint)

    def tile(
        self, space: Space, shape: Sequence[int], dtype: str, sizes: Sequence[Index], hint: str = ""
    ) -> SSAValue:
        """The leading `sizes` of a fresh buffer of capacity `shape`."""
        return self.leading(self.alloc(space, shape, dtype, hint), sizes)

    def leading(self, buffer: SSAValue, sizes: Sequence[Index]) -> SSAValue:
        """The sub-view [0, ...] of `sizes` of a buffer; the buffer itself where that is all."""
        return self.subview(buffer, [0] * len(sizes), sizes)

    def subview(
        self,
        source: SSAValue,
        offsets: Sequence[Index],
        sizes: Sequence[Index],
        steps: Sequence[Index] | None = None,
        drop: Sequence[int] = (),
    ) -> SSAValue:
        """`memref.subview` without the dimensions in `drop` (of size 1); no operation for all."""
        layout = self.layout(source)
        steps = [1] * layout.rank if steps is None else steps
        whole = not drop and all(o == 0 for o in offsets) and all(s == 1 for s in steps)
        if whole and tuple(sizes) == layout.shape:
            return source
        result = layout.subview(_static(offsets), _static(sizes), _static(steps), drop)
        value = self._view(memref.SubviewOp, source, (offsets, sizes, steps), result)
        self._sizes[value] = tuple(size for i, size in enumerate(sizes) if i not in drop)
        return value

    def reinterpret(
        self, source: SSAValue, offset: Index, sizes: Sequence[Index], strides: Sequence[Index]
    ) -> SSAValue:
        """`memref.reinterpret_cast` of a gm argument: any sizes and strides, in elements."""
        layout = self.layout(source)
        result = Layout(
            _static(sizes),
            _static(strides),
            offset if isinstance(offset, int) else None,
            layout.dtype,
            layout.space,
        )
        same = layout.stride_list() == tuple(strides) and layout.shape == tuple(sizes)
        if same and layout.offset == 0 and offset == 0:
            return source
        value = self._view(memref.ReinterpretCastOp, source, ([offset], sizes, strides), result)
        self._sizes[value] = tuple(sizes)
        return value

    def _view(
        self,
        cls: type[memref.SubviewOp] | type[memref.ReinterpretCastOp],
        source: SSAValue,
        lists: tuple[Sequence[Index], Sequence[Index], Sequence[Index]],
        result: Layout,
    ) -> SSAValue:
        key = (cls, source, *(tuple(values) for values in lists), result)
        found = self._lookup(key)
        if found is not None:
            return found
        values = [[v for v in part if not isinstance(v, int)] for part in lists]
        offsets, sizes, strides = (_ints(_static(part)) for part in lists)
        op = cls.create(
            operands=[source, *values[0], *values[1], *values[2]],
            result_types=[memref_of(result)],
            properties={
                "static_offsets": offsets,
                "static_sizes": sizes,
                "static_strides": strides,
                "operandSegmentSizes": segments(1, *(len(part) for part in values)),
            },
            location=self.location,
        )
        self._blocks[-1].add_op(op)
        self._remember(key, op.result)
        return self._named(op.result, result, "")

    def load_scalar(self, source: SSAValue, indices: Sequence[Index]) -> SSAValue:
        """`memref.load` of one element of gm, on the scalar pipe."""
        element = scalar_type(self.layout(source).dtype)
        op = memref.LoadOp.create(
            operands=[source, *(self.value(i) for i in indices)],
            result_types=[element],
            location=self.location,
        )
        self._blocks[-1].add_op(op)
        return op.results[0]

    def to_index(self, value: SSAValue) -> SSAValue:
        """`arith.index_cast` of an integer to an index."""
        return self.insert(arith.IndexCastOp(value, INDEX)).result

    def _named(self, value: SSAValue, layout: Layout, hint: str) -> SSAValue:
        self._layouts[value] = layout
        if hint:
            value.name_hint = hint
        return value

    # The end

    def finish(
        self,
        core: str,
        blocks: int,
        schedule: Attribute | None = None,
        workspaces: int = 0,
    ) -> FuncOp:
        """The function: its core ("vector", "cube" or "mixed"), how many blocks it is launched on.

        `workspaces`: how many of the last arguments are workspaces of a mixed kernel.
        """
        self.insert(ReturnOp())
        types = [value.type for value in self.args]
        func = FuncOp(self.name, (types, ()), Region(self.entry))
        func.location = self.location
        for argument in self.entry.args:
            argument.location = self.location
        func.attributes["npu.core"] = StringAttr(core)
        func.attributes["npu.blocks"] = IntegerAttr(blocks, i64)
        if schedule is not None:
            func.attributes["npu.schedule"] = schedule
        if workspaces:
            mark_workspaces(func, workspaces)
        return func


def mark_workspaces(func: FuncOp, count: int) -> None:
    """Gives the last `count` arguments of a kernel the attribute `npu.workspace`."""
    marks: list[DictionaryAttr] = [DictionaryAttr({}) for _ in func.args]
    marks[-count:] = [DictionaryAttr({"npu.workspace": UnitAttr()})] * count
    func.properties["arg_attrs"] = ArrayAttr(marks)


def _static(values: Sequence[Index]) -> tuple[Size, ...]:
    return tuple(v if isinstance(v, int) else None for v in values)


def _ints(values: tuple[Size, ...]) -> DenseArrayBase[Any]:
    return _dense(tuple(DYNAMIC_INDEX if v is None else v for v in values))


@lru_cache(maxsize=16384)
def _dense(values: tuple[int, ...]) -> DenseArrayBase[Any]:
    return DenseArrayBase.from_list(i64, values)


__all__ = ["Index", "KernelBuilder", "Layout", "mark_workspaces", "row_major", "standard"]
