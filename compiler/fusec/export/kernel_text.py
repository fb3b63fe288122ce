"""Writes the function of a kernel: names, constants, index arithmetic, loops, views.

What every form has in common; subclasses add the operators of their cores to `handlers`. Layouts
are inferred anew from the buffers up, since a buffer may be laid out differently in HIVM.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from fusec.export.hivm_types import constant_text, memref_text
from fusec.export.live_ops import live_operations
from fusec.export.reason import NotInHivm
from fusec.lowering.layout import Layout, Size, layout_of
from fusec.npu.module import blocks_of
from fusec.npu.views import Size as Index
from fusec.npu.views import kept_axes, selected_by
from fusec.npu.views import layout_of as view_layout
from fusec_dialects.npu import BlockIdxOp, BlockNumOp
from fusec_dialects.npu.attrs import Space, memref_type

Handler = Callable[[Any], None]

_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
_ENTRY = "hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>"


class KernelText:
    """`write` gives the text of one kernel; raises NotInHivm where there is none."""

    spaces = True
    """Whether types carry address spaces."""

    core = ""
    """The value of `hivm.func_core_type`, where the function has it."""

    def __init__(self, func: FuncOp) -> None:
        self.func = func
        self.live = live_operations(func)
        self.names: dict[SSAValue, str] = {}
        self.layouts: dict[SSAValue, Layout] = {}
        self.handlers: dict[type[Operation], Handler] = {
            arith.ConstantOp: self._constant,
            arith.CmpiOp: self._compare,
            arith.CmpfOp: self._compare,
            arith.SelectOp: self._select,
            scf.ForOp: self.loop,
            memref.SubviewOp: self.subview,
            memref.ReinterpretCastOp: self.reinterpret,
            memref.LoadOp: self._load_scalar,
            BlockIdxOp: self._block_idx,
            BlockNumOp: self._block_num,
        }
        self._taken: set[str] = set()
        self._constants: dict[str, str] = {}
        self._head: list[str] = []
        self._lines: list[str] = []
        self._depth = 1

    # The whole

    def write(self) -> str:
        """One `func.func` without aliases."""
        arguments = [self._argument(value) for value in self.written_arguments()]
        self.block(self.func.body.block)
        blocks = blocks_of(self.func)
        attributes = [_ENTRY]
        if blocks is not None:
            attributes.append(f"hacc.block_dim = {blocks} : i64")
        if self.core:
            attributes.append(f"hivm.func_core_type = #hivm.func_core_type<{self.core}>")
        listed = ", ".join(arguments + self.extra_arguments())
        head = f"func.func @{self.func.sym_name.data}({listed})"
        first = f"{head} attributes {{{', '.join(attributes)}}} {{"
        return "\n".join((first, *self._head, *self._lines, "  return", "}"))

    def written_arguments(self) -> Sequence[SSAValue]:
        """The arguments of the kernel that are arguments in HIVM."""
        return self.func.args

    def extra_arguments(self) -> list[str]:
        """Arguments that only HIVM has, as text."""
        return []

    def _argument(self, value: SSAValue) -> str:
        type_ = memref_type(value.type)
        if type_ is None:
            raise NotInHivm(self.func, f"an argument of type {value.type} is no buffer in gm")
        layout = layout_of(type_)
        self.layouts[value] = layout._replace(dtype="i8") if layout.dtype == "i1" else layout
        return f"{self.name(value, 'arg')}: {self.type_text(value)}"

    def block(self, block: Block) -> None:
        """The live operations of a block."""
        for op in block.ops:
            if op in self.live:
                self.operation(op)

    def operation(self, op: Operation) -> None:
        handler = self.handlers.get(type(op))
        if handler is not None:
            handler(op)
        elif isinstance(op, ReturnOp | scf.YieldOp):
            return
        elif op.name.startswith("arith.") and len(op.results) == 1 and not op.regions:
            self._arithmetic(op)
        else:
            raise NotInHivm(op, "HIVM has no such operator")

    # Lines and names

    def line(self, text: str) -> None:
        self._lines.append(f"{'  ' * self._depth}{text}")

    def open(self, text: str) -> None:
        """A line, and what follows is inside of it."""
        self.line(text)
        self._depth += 1

    def close(self) -> None:
        self._depth -= 1
        self.line("}")

    def fresh(self, hint: str) -> str:
        """A name that nothing has yet."""
        name, number = f"%{hint}", 0
        while name in self._taken:
            number += 1
            name = f"%{hint}_{number}"
        self._taken.add(name)
        return name

    def name(self, value: SSAValue, hint: str = "v") -> str:
        """The name of a value; made from its hint when it is first asked for."""
        found = self.names.get(value)
        if found is None:
            found = self.names[value] = self.fresh(value.name_hint or hint)
        return found

    def index(self, value: int) -> str:
        """The name of an index constant."""
        return self.constant(f"{value} : index", f"c{value}".replace("-", "_"))

    def constant(self, text: str, hint: str) -> str:
        """The name of a constant at the head of the function, each made once."""
        found = self._constants.get(text)
        if found is None:
            found = self._constants[text] = self.fresh(hint)
            self._head.append(f"  {found} = arith.constant {text}")
        return found

    # Types

    def layout(self, value: SSAValue) -> Layout:
        """The layout that a buffer or view has in HIVM."""
        return self.layouts[value]

    def type_text(self, value: SSAValue) -> str:
        layout = self.layouts.get(value)
        return str(value.type) if layout is None else memref_text(layout, spaces=self.spaces)

    def operands(self, values: Sequence[SSAValue]) -> str:
        """`%a, %b : A, B`."""
        names = ", ".join(self.name(value) for value in values)
        return f"{names} : {', '.join(self.type_text(value) for value in values)}"

    # Arithmetic

    def _constant(self, op: arith.ConstantOp) -> None:
        text = constant_text(op.value)
        if text is None:
            raise NotInHivm(op, "the constant is neither a number nor a flag")
        self.names[op.result] = self.constant(text, op.result.name_hint or "cst")

    def _arithmetic(self, op: Operation) -> None:
        names = ", ".join(self.name(value) for value in op.operands)
        types = str(op.operands[0].type)
        if op.operands[0].type != op.results[0].type:
            types += f" to {op.results[0].type}"
        self.line(f"{self.name(op.results[0])} = {op.name} {names} : {types}")

    def _compare(self, op: arith.CmpiOp | arith.CmpfOp) -> None:
        table = _PREDICATES if isinstance(op, arith.CmpiOp) else _FLOAT_PREDICATES
        mode = table[op.predicate.value.data]
        left, right = self.name(op.lhs), self.name(op.rhs)
        self.line(f"{self.name(op.result)} = {op.name} {mode}, {left}, {right} : {op.lhs.type}")

    def _select(self, op: arith.SelectOp) -> None:
        names = ", ".join(self.name(value) for value in op.operands)
        self.line(f"{self.name(op.result)} = arith.select {names} : {op.result.type}")

    def _block_idx(self, op: BlockIdxOp) -> None:
        self.hardware_index("get_block_idx", self.name(op.result, "block"))

    def _block_num(self, op: BlockNumOp) -> None:
        self.hardware_index("get_block_num", self.name(op.result, "blocks"))

    def hardware_index(self, operator: str, name: str) -> None:
        """A number that the hardware knows, as an index."""
        wide = self.fresh(f"{name[1:]}_i64")
        self.line(f"{wide} = hivm.hir.{operator} -> i64")
        self.line(f"{name} = arith.index_cast {wide} : i64 to index")

    def index_value(self, size: int | SSAValue) -> str:
        """The name of an index, known or not."""
        return self.index(size) if isinstance(size, int) else self.name(size)

    # Loops and views

    def loop(self, op: scf.ForOp) -> None:
        if op.results:
            raise NotInHivm(op, "a loop of a kernel carries no values")
        self.open(f"{self.loop_head(op)} {{")
        self.block(op.body.block)
        self.close()

    def loop_head(self, op: scf.ForOp) -> str:
        lower, upper, step = (self.name(value) for value in (op.lb, op.ub, op.step))
        return f"scf.for {self.name(op.body.block.args[0], 'i')} = {lower} to {upper} step {step}"

    def subview(self, op: memref.SubviewOp) -> None:
        source, result = memref_type(op.source.type), memref_type(op.result.type)
        if source is None or result is None:
            raise NotInHivm(op, "a view of what is no buffer")
        full = selected_by(op, view_layout(source))
        kept = kept_axes(full, view_layout(result))
        if kept is None:
            raise NotInHivm(op, f"{result} is not what the view selects")
        dropped = [axis for axis in range(len(full.shape)) if axis not in kept]
        parts = self.view_parts(op)
        offsets, sizes, strides = (static_sizes(part) for part in parts)
        outer = self.layout(op.source)
        self.layouts[op.result] = outer.subview(offsets, sizes, strides, dropped)
        first, *others = (f"[{self.index_list(part)}]" for part in parts)
        self._view(op, f"{self.name(op.source)}{first} {' '.join(others)}")

    def view_parts(self, op: memref.SubviewOp | memref.ReinterpretCastOp) -> list[list[Index]]:
        """Offsets, sizes and strides."""
        parts = _parts(op)
        if isinstance(op.source.owner, memref.ReinterpretCastOp):
            for axis in _still(op.source.owner):
                parts[0][axis] = 0
        return parts

    def index_list(self, indices: Sequence[Index]) -> str:
        """`%i, 0, 64`."""
        return ", ".join(str(i) if isinstance(i, int) else self.name(i) for i in indices)

    def _view(self, op: memref.SubviewOp | memref.ReinterpretCastOp, what: str) -> None:
        types = f"{self.type_text(op.source)} to {self.type_text(op.results[0])}"
        self.line(f"{self.name(op.results[0])} = {op.name} {what} : {types}")

    def reinterpret(self, op: memref.ReinterpretCastOp) -> None:
        type_ = memref_type(op.result.type)
        if type_ is None:
            raise NotInHivm(op, "a view of what is no buffer")
        layout = layout_of(type_)
        parts = self.view_parts(op)
        still = _still(op)
        if still:
            parts[1:] = [[1 if i in still else p for i, p in enumerate(part)] for part in parts[1:]]
            shape, strides = (static_sizes(part) for part in parts[1:])
            layout = layout._replace(shape=shape, strides=strides)
        self.layouts[op.result] = layout._replace(dtype=self.layout(op.source).dtype)
        offsets, sizes, strides = (self.index_list(part) for part in parts)
        what = f"to offset: [{offsets}], sizes: [{sizes}], strides: [{strides}]"
        self._view(op, f"{self.name(op.source)} {what}")

    def _load_scalar(self, op: memref.LoadOp) -> None:
        source = op.memref
        if self.layout(source).space != Space.GM:
            raise NotInHivm(op, "the scalar unit reads single elements from gm only")
        where = ", ".join(self.name(value) for value in op.indices)
        name = self.name(op.res)
        self.line(f"{name} = memref.load {self.name(source)}[{where}] : {self.type_text(source)}")


def _parts(op: memref.SubviewOp | memref.ReinterpretCastOp) -> list[list[Index]]:
    """Offsets, sizes and strides of a view."""
    static = (op.static_offsets, op.static_sizes, op.static_strides)
    dynamic = (op.offsets, op.sizes, op.strides)
    return [
        _indices(part.get_values(), values) for part, values in zip(static, dynamic, strict=True)
    ]


def _still(op: memref.ReinterpretCastOp) -> list[int]:
    """The axes with stride 0, which HIVM does not take: each gets size 1, if it is used so."""
    axes = [axis for axis, stride in enumerate(_parts(op)[2]) if stride == 0]
    for use in op.result.uses if axes else ():
        sizes = _parts(use.operation)[1] if isinstance(use.operation, memref.SubviewOp) else []
        if not sizes or any(sizes[axis] != 1 for axis in axes):
            raise NotInHivm(op, "HIVM takes no stride of 0; load once and broadcast")
    return axes


def _indices(static: Sequence[int], dynamic: Sequence[SSAValue]) -> list[Index]:
    values = iter(dynamic)
    return [next(values) if int(size) == DYNAMIC_INDEX else int(size) for size in static]


def static_sizes(indices: Sequence[Index]) -> tuple[Size, ...]:
    """The known ones, None for values."""
    return tuple(index if isinstance(index, int) else None for index in indices)
