"""Buffers as tensors: what the writer of mixed kernels says about values, without its operators.

`tensors` has the name of what each buffer holds at this point. Buffers that are loaded are
allocated without an address space, filled, and become tensors; `bases` has the name and type of
those that are filled in parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import ReinterpretCastOp, SubviewOp
from xdsl.ir import Operation, SSAValue

from fusec.export.hivm_types import memref_text, tensor_text
from fusec.export.kept_workspaces import kept_workspaces
from fusec.export.kernel_text import KernelText, static_sizes
from fusec.export.live_ops import root_of
from fusec.export.reason import NotInHivm
from fusec.export.tensor_shapes import kept_of, tensor_shapes
from fusec.export.tile_heights import with_whole_chunks
from fusec.export.ub_buffers import byte_flags
from fusec.export.workspace_slice import Slice
from fusec.lowering.layout import Layout
from fusec.npu.views import Size, sizes_of
from fusec_dialects.npu.attrs import Space, space_of
from fusec_dialects.npu.base import element_type
from fusec_dialects.npu.move import LoadOp
from fusec_dialects.npu.vector import VBrcOp


class TensorText(KernelText):
    """Names, types and operations of tensors."""

    spaces = False

    def __init__(self, func: FuncOp) -> None:
        super().__init__(func)
        shapes = tensor_shapes(self.live)
        self.kept = kept_workspaces(func, self.live, shapes)
        self.shapes = with_whole_chunks(shapes, self.live, self.kept)
        self.bytes = byte_flags(self.live)
        self.tensors: dict[SSAValue, str] = {}
        self.bases: dict[SSAValue, tuple[str, str]] = {}

    # Types

    def type_text(self, value: SSAValue) -> str:
        layout = self.layouts.get(value)
        if layout is not None and layout.space == Space.L1:
            return memref_text(layout, spaces=True)
        return super().type_text(value)

    def shape(self, value: SSAValue) -> tuple[int, ...] | None:
        """Sizes of the tensor of a buffer or view; None for a scalar."""
        shape = self.shapes.get(root_of(value))
        return None if shape is None else tuple(shape[axis] for axis in kept_of(value))

    def dtype(self, value: SSAValue) -> str:
        return "i8" if root_of(value) in self.bytes else str(element_type(value))

    def tensor_type(self, buffer: SSAValue) -> str:
        return tensor_text(self.shapes[buffer], self.dtype(buffer))

    def operand_type(self, value: SSAValue) -> str:
        shape = self.shape(value)
        return str(value.type) if shape is None else tensor_text(shape, self.dtype(value))

    def is_whole(self, value: SSAValue, axes: Sequence[int]) -> bool:
        """Whether a view covers the tensor of its buffer along these axes."""
        sizes, shape = sizes_of(value) or [], self.shape(value) or ()
        return all(sizes[int(axis)] == shape[int(axis)] for axis in axes)

    # Views

    def subview(self, op: SubviewOp) -> None:
        if self._is_written(op):
            super().subview(op)

    def reinterpret(self, op: ReinterpretCastOp) -> None:
        if self._is_written(op):
            super().reinterpret(op)

    def _is_written(self, op: SubviewOp | ReinterpretCastOp) -> bool:
        """Whether a view is one in HIVM too: of an argument, or what is loaded into a part."""
        root = root_of(op.source)
        if space_of(op.source.type) == Space.GM:
            return root in self.layouts
        users = (use.operation for use in op.results[0].uses)
        return root in self.bases and any(
            isinstance(user, LoadOp | VBrcOp | SubviewOp) for user in users
        )

    # Operations

    def empty(self, value: SSAValue) -> str:
        name = self.fresh("empty")
        self.line(f"{name} = tensor.empty() : {self.operand_type(value)}")
        return name

    def result(self, value: SSAValue, operation: str, dest: str, attributes: str = "") -> None:
        """An operation in destination style whose result is what the buffer holds from now on."""
        root, type_ = root_of(value), self.operand_type(value)
        name = self.fresh(root.name_hint or "t")
        space = " " if attributes else ""
        self.line(f"{name} = {operation} outs({dest} : {type_}){space}{attributes} -> {type_}")
        kept, shape = kept_of(value), self.shapes[root]
        if len(kept) < len(shape):
            name = self.expanded(name, type_, _groups(kept, len(shape)), root)
        self.tensors[root] = name

    def operand(self, op: Operation, value: SSAValue) -> str:
        """The name of a scalar, or of the tensor of a buffer along the axes of a view."""
        root = root_of(value)
        if root not in self.shapes:
            return self.name(value)
        name, kept, rank = self.tensor(op, root), kept_of(value), len(self.shapes[root])
        if len(kept) == rank:
            return name
        types = f"{self.tensor_type(root)} into {self.operand_type(value)}"
        flat = self.fresh("flat")
        self.line(f"{flat} = tensor.collapse_shape {name} {_groups(kept, rank)} : {types}")
        return flat

    def expanded(self, name: str, type_: str, groups: list[list[int]], dest: SSAValue) -> str:
        """A tensor with the axes of a buffer, each of its own being a group of these."""
        found = self.fresh(dest.name_hint or "t")
        what = f"{name} {groups} output_shape {list(self.shapes[dest])}"
        self.line(f"{found} = tensor.expand_shape {what} : {type_} into {self.tensor_type(dest)}")
        return found

    def tensor(self, op: Operation, buffer: SSAValue) -> str:
        """The name of what a buffer holds."""
        found = self.tensors.get(buffer)
        if found is not None:
            return found
        if buffer not in self.bases:
            raise NotInHivm(op, "a buffer is read before it is written")
        return self._to_tensor(*self.bases[buffer])

    def buffer(self, value: SSAValue) -> None:
        """Allocates a buffer that is loaded."""
        layout = Layout(self.shapes[value], None, 0, self.dtype(value), Space.UB)
        self.layouts[value] = layout
        self.line(f"{self.name(value, 'u')} = memref.alloc() : {self.type_text(value)}")

    def buffer_in_parts(self, value: SSAValue) -> None:
        """Allocates a buffer of L1 that is filled in parts.

        A fill is the cube core's only where the address space is written. Of direct views, the
        compiler would take the size of one for the size of the product: hence the cast.
        """
        whole = Layout(self.shapes[value], None, 0, self.dtype(value), Space.L1)
        base = self.fresh(value.name_hint or "u")
        self.bases[value] = base, memref_text(whole, spaces=True)
        self.line(f"{base} = memref.alloc() : {self.bases[value][1]}")
        self.layouts[value] = whole._replace(strides=whole.stride_list(), offset=None)
        what = f"{base} : {self.bases[value][1]} to {self.type_text(value)}"
        self.line(f"{self.name(value)} = memref.cast {what}")

    def load_part(self, op: LoadOp) -> None:
        """Loads a buffer, or its first part, and makes it a tensor."""
        root = root_of(op.dest)
        name, type_ = self._first_part(op, self.name(root), self.layout(root))
        source = self.operands([op.source])
        self.line(f"hivm.hir.load ins({source}) outs({name} : {type_})")
        self.tensors[root] = self._to_tensor(self.name(root), self.type_text(root))

    def _first_part(self, op: LoadOp, name: str, whole: Layout) -> tuple[str, str]:
        sizes, kept = self.view_sizes(op.dest)
        if list(whole.shape) == sizes and len(kept) == whole.rank:
            return name, memref_text(whole, spaces=False)
        zeros, ones = [0] * whole.rank, [1] * whole.rank
        static = static_sizes(sizes)
        drop = [axis for axis in range(whole.rank) if axis not in kept]
        part, type_ = self.fresh("part"), whole.subview(zeros, static, ones, drop)
        texts = memref_text(whole, spaces=False), memref_text(type_, spaces=False)
        lists = f"{zeros} [{self.index_list(sizes)}] {ones}"
        self.line(f"{part} = memref.subview {name}{lists} : {texts[0]} to {texts[1]}")
        return part, texts[1]

    def _to_tensor(self, buffer: str, type_: str) -> str:
        name = self.fresh("t")
        self.line(f"{name} = bufferization.to_tensor {buffer} restrict writable : {type_}")
        return name

    def part(self, value: SSAValue) -> tuple[str, str]:
        """What a view has of the tensor of its buffer: name and type."""
        root = root_of(value)
        return self.leading_part(value, self.tensors[root], self.tensor_type(root))

    def leading_part(
        self, value: SSAValue, name: str, whole: str, dtype: str = ""
    ) -> tuple[str, str]:
        """What a view has of a tensor of the shape of its buffer, of type `whole`."""
        shape = self.shapes[root_of(value)]
        sizes, kept = self.view_sizes(value)
        if list(shape) == sizes and len(kept) == len(shape):
            return name, whole
        static = static_sizes(sizes)
        part = self.fresh("part")
        type_ = tensor_text([static[axis] for axis in kept], dtype or self.dtype(value))
        zeros, ones = [0] * len(shape), [1] * len(shape)
        lists = f"{zeros} [{self.index_list(sizes)}] {ones}"
        types = f"{whole} to {type_}"
        self.line(f"{part} = tensor.extract_slice {name}{lists} : {types}")
        return part, type_

    def slice_of(self, accumulator: SSAValue, cut: Slice, dest: SSAValue) -> str:
        """Lines of an accumulator with the axes of the buffer that they go to."""
        line = self._sum(cut.lines)
        name, shape = self.fresh("lines"), self.shapes[dest]
        flat = tensor_text(cut.shape, self.dtype(dest))
        lists = f"[{line}, {cut.column}] {list(cut.sizes)} [1, 1]"
        types = f"{self.tensor_type(accumulator)} to {flat}"
        self.line(f"{name} = tensor.extract_slice {self.tensors[accumulator]}{lists} : {types}")
        if cut.shape == shape:
            return name
        return self.expanded(name, flat, [list(group) for group in cut.axes], dest)

    def _sum(self, terms: Sequence[tuple[str, int]]) -> str:
        """The sum of names times numbers."""
        total = ""
        for name, factor in terms:
            term = name
            if factor > 1:
                term = self.fresh("line")
                self.line(f"{term} = arith.muli {name}, {self.index(factor)} : index")
            if total:
                added = self.fresh("line")
                self.line(f"{added} = arith.addi {total}, {term} : index")
                term = added
            total = term
        return total or "0"

    def view_sizes(self, value: SSAValue) -> tuple[list[Size], list[int]]:
        """The sizes of a view along the axes of its buffer, and which of them it has."""
        kept, sizes = kept_of(value), sizes_of(value)
        full: list[Size] = [1] * len(self.shapes[root_of(value)])
        for axis, size in zip(kept, sizes or (), strict=True):
            full[axis] = size
        return full, kept


def _groups(kept: Sequence[int], rank: int) -> list[list[int]]:
    """All axes in groups, one for each kept axis, those of size 1 with a neighbour."""
    starts = [0, *kept[1:], rank] if kept else [rank]
    return [list(range(a, b)) for a, b in pairwise(starts)]
