"""Writes a cube kernel in memref form: whole buffers in L1 and L0C, real sizes as operands.

The library takes whole buffers only, so an mmad's view gives way to its buffer and the view's sizes
become m, k and n. L0A and L0B are not to be seen; the library moves there itself.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import SubviewOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation, SSAValue

from fusec.export.kernel_text import KernelText
from fusec.export.reason import NotInHivm
from fusec.lowering.layout import layout_of
from fusec.npu.views import sizes_of
from fusec_dialects.npu.attrs import Space, space_of
from fusec_dialects.npu.base import element_type
from fusec_dialects.npu.cube import MmadOp
from fusec_dialects.npu.move import AllocOp, FixpipeOp, LoadOp
from fusec_dialects.npu.vector import VBrcOp

_QUANT = {"f16": "F322F16", "bf16": "F322BF16"}
"""Conversions of fixpipe by the destination's type."""


DOUBLE = "enable-auto-multi-buffer=true"


def doubles_l1(live: Collection[Operation]) -> bool:
    """Whether the compiler is to give every buffer in L1 that stands in a loop two copies.

    Marks on single ones are lost; so where one of them has no room for two, none gets them.
    """
    copies = [
        op.copy_count
        for op in live
        if isinstance(op, AllocOp)
        and space_of(op.result.type) == Space.L1
        and isinstance(op.parent_op(), ForOp)
    ]
    return bool(copies) and min(copies) > 1


class CubeText(KernelText):
    """A kernel of the cube core alone."""

    core = "AIC"

    def __init__(self, func: FuncOp) -> None:
        super().__init__(func)
        self.handlers |= {
            AllocOp: self._alloc,
            LoadOp: self._fill,
            VBrcOp: self._fill,
            MmadOp: self._mmad,
            FixpipeOp: self._fixpipe,
        }

    def options(self) -> tuple[str, ...]:
        """The compiler's options."""
        return (DOUBLE,) if doubles_l1(self.live) else ()

    def _alloc(self, op: AllocOp) -> None:
        layout = layout_of(op.result.type)
        if layout.space not in (Space.L1, Space.L0C):
            raise NotInHivm(op, "a cube kernel has buffers in l1 and l0c only")
        self.layouts[op.result] = layout
        name = self.name(op.result, "buf")
        self.line(f"{name} = memref.alloc() : {self.type_text(op.result)}")

    def subview(self, op: SubviewOp) -> None:
        """Views of whole buffers are written only where something is loaded into them."""
        users = (use.operation for use in op.result.uses)
        if space_of(op.result.type) == Space.GM or any(
            isinstance(user, LoadOp | VBrcOp | SubviewOp) for user in users
        ):
            super().subview(op)

    def _fill(self, op: LoadOp | VBrcOp) -> None:
        name = op.name.removeprefix("npu.")
        operands = f"ins({self.operands([op.source])}) outs({self.operands([op.dest])})"
        self.line(f"hivm.hir.{name} {operands}")

    def _mmad(self, op: MmadOp) -> None:
        buffers = [whole_buffer(op, value) for value in (op.a, op.b)]
        sizes = [self.index_value(size) for size in mmad_sizes(op)]
        operands = [self.name(value) for value in buffers] + [self.name(op.init), *sizes]
        types = [*(self.type_text(value) for value in buffers), "i1", "index", "index", "index"]
        if op.bias is not None:
            bias = whole_buffer(op, op.bias)
            operands.append(self.name(bias))
            types.append(self.type_text(bias))
        acc = whole_buffer(op, op.acc)
        self.line(
            f"hivm.hir.mmadL1{transposes(op)} ins({', '.join(operands)} : {', '.join(types)}) "
            f"outs({self.operands([acc])})"
        )

    def _fixpipe(self, op: FixpipeOp) -> None:
        source = whole_buffer(op, op.source)
        if self.layout(op.dest).stride_list()[-1] != 1:
            raise NotInHivm(op, "fixpipe writes rows without gaps; store the transposed product")
        attributes = ["dma_mode = #hivm.dma_mode<nz2nd>"]
        quant = _QUANT.get(str(element_type(op.dest)))
        if quant is not None:
            attributes.append(f"pre_quant = #hivm.fixpipe_pre_quant_mode<{quant}>")
        if op.relu is not None:
            attributes.append("pre_relu = #hivm.fixpipe_pre_relu_mode<NORMAL_RELU>")
        self.line(
            f"hivm.hir.fixpipe {{{', '.join(attributes)}}} ins({self.operands([source])}) "
            f"outs({self.operands([op.dest])})"
        )


def transposes(op: MmadOp) -> str:
    """The attributes of an mmad, with a space before them."""
    flags = [
        name
        for name, flag in (("a_transpose", op.a_transpose), ("b_transpose", op.b_transpose))
        if flag is not None
    ]
    return f" {{{', '.join(flags)}}}" if flags else ""


def mmad_sizes(op: MmadOp) -> tuple[int | SSAValue, int | SSAValue, int | SSAValue]:
    """The real m, k and n of a product, from the sizes of its views."""
    left, right = sizes_of(op.a), sizes_of(op.b)
    if left is None or right is None:
        raise NotInHivm(op, "the real sizes of the product are not those of a sub-view")
    m, k = left[::-1] if op.a_transpose is not None else left
    n = right[0] if op.b_transpose is not None else right[1]
    return m, k, n


def whole_buffer(op: MmadOp | FixpipeOp, value: SSAValue) -> SSAValue:
    """The buffer that a view from its first element on belongs to."""
    view = value.owner
    while isinstance(view, SubviewOp):
        if any(int(offset) != 0 for offset in view.static_offsets.get_values()):
            raise NotInHivm(
                op, "an operand of the cube core is a part of a buffer that does not begin with it"
            )
        value = view.source
        view = value.owner
    if not isinstance(view, AllocOp):
        raise NotInHivm(op, "an operand of the cube core is no buffer")
    return value
