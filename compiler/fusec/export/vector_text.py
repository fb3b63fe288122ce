"""Writes a vector kernel in memref form: buffers in ub without addresses, scratch left out."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from fusec.export.instructions import Instruction, instruction
from fusec.export.kernel_text import KernelText
from fusec.export.reason import NotInHivm
from fusec.export.ub_buffers import byte_flags, packed
from fusec.lowering.layout import Size
from fusec_dialects.npu.attrs import Space
from fusec_dialects.npu.move import AllocOp, CopyOp, LoadOp, MoveOp, StoreOp
from fusec_dialects.npu.vector import (
    VAbsOp,
    VAddOp,
    VAndOp,
    VBrcOp,
    VCastOp,
    VCmpOp,
    VDivOp,
    VectorOp,
    VExpOp,
    VLnOp,
    VMaxOp,
    VMinOp,
    VMulOp,
    VNotOp,
    VOrOp,
    VRecOp,
    VReduceOp,
    VReluOp,
    VRsqrtOp,
    VSelOp,
    VSqrtOp,
    VSubOp,
    VTransposeOp,
)

VECTOR_OPS: tuple[type[VectorOp], ...] = (
    *(VAbsOp, VAddOp, VAndOp, VBrcOp, VCastOp, VCmpOp, VDivOp, VExpOp, VLnOp, VMaxOp, VMinOp),
    *(VMulOp, VNotOp, VOrOp, VRecOp, VReduceOp, VReluOp, VRsqrtOp, VSelOp, VSqrtOp, VSubOp),
    VTransposeOp,
)


class VectorText(KernelText):
    """A kernel of the vector core alone."""

    def __init__(self, func: FuncOp) -> None:
        super().__init__(func)
        self.bytes = byte_flags(self.live)
        self.handlers |= {
            AllocOp: self._alloc,
            LoadOp: self._move,
            StoreOp: self._move,
            CopyOp: self._compute,
            **dict.fromkeys(VECTOR_OPS, self._compute),
        }

    def _alloc(self, op: AllocOp) -> None:
        layout = packed(op, self.live)
        if layout.space != Space.UB:
            raise NotInHivm(op, "a vector kernel has buffers in ub only")
        value = op.result
        self.layouts[value] = layout._replace(dtype="i8") if value in self.bytes else layout
        self.line(f"{self.name(value, 'u')} = memref.alloc() : {self.type_text(value)}")
        if op.copy_count > 1:
            mark = f"{{hivm.multi_buffer = {op.copy_count} : i32}}"
            self.line(f"annotation.mark {self.name(value)} {mark} : {self.type_text(value)}")

    def _move(self, op: MoveOp) -> None:
        name = op.name.removeprefix("npu.")
        self.line(
            f"hivm.hir.{name} ins({self.operands([op.source])}) outs({self.operands([op.dest])})"
        )

    def _compute(self, op: VectorOp | CopyOp) -> None:
        if isinstance(op, VCastOp) and (self.dtype(op.source), self.dtype(op.dest)) == (
            "i8",
            "f32",
        ):
            raise NotInHivm(op, "bytes become f16 only; go through f16")
        self._instruction(instruction(op, self.shape, self.dtype))

    def _instruction(self, what: Instruction) -> None:
        mode = f"{what.mode} " if what.mode else ""
        attributes = f" {what.attributes}" if what.attributes else ""
        self.line(
            f"hivm.hir.{what.name} {mode}ins({self.operands(what.sources)}) "
            f"outs({self.operands([what.dest])}){attributes}"
        )

    def shape(self, value: SSAValue) -> tuple[Size, ...] | None:
        """Sizes in HIVM; None for a scalar."""
        layout = self.layouts.get(value)
        return None if layout is None else layout.shape

    def dtype(self, value: SSAValue) -> str:
        layout = self.layouts.get(value)
        return str(value.type) if layout is None else layout.dtype
