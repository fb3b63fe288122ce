"""npu.host_call: an ONNX operator that the host computes between two launches."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I64,
    IntegerAttr,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from ..foreign import verify_foreign
from .attrs import Space, memref_type
from .base import Buffer, expect_space


@irdl_op_definition
class HostCallOp(IRDLOperation):
    """`npu.host_call "Unique" opset 11 onnx "0A05..." ins(%x : T) outs(%y : T)`.

    The NPU is done before it begins, and waits until it ends. It reads the whole of its inputs and
    writes the whole of its outputs, buffers in gm; type, domain, opset and bytes of the node are
    those of graph.opaque.
    """

    name = "npu.host_call"

    op_type = prop_def(StringAttr)
    domain = opt_prop_def(StringAttr)
    opset = prop_def(IntegerAttr[I64])
    onnx = prop_def(StringAttr)
    inputs = var_operand_def(Buffer)
    outputs = var_operand_def(Buffer)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$op_type (`domain` $domain^)? `opset` $opset `onnx` $onnx "
        "(`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $outputs `:` type($outputs) `)` "
        "attr-dict"
    )

    def __init__(
        self,
        op_type: str,
        domain: str,
        opset: int,
        onnx: str,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
    ) -> None:
        super().__init__(
            operands=[inputs, outputs],
            properties={
                "op_type": StringAttr(op_type),
                "domain": StringAttr(domain) if domain else None,
                "opset": IntegerAttr(opset, i64),
                "onnx": StringAttr(onnx),
            },
        )

    def verify_(self) -> None:
        verify_foreign(self.name, self.op_type.data, self.opset.value.data, self.onnx.data)
        if not self.outputs:
            raise VerifyException(f"{self.name}: writes nothing, so it computes nothing")
        for value in (*self.inputs, *self.outputs):
            expect_space(self, value, "a buffer of the host", (Space.GM,))
            if not _is_contiguous(value):
                raise VerifyException(
                    f"{self.name}: {value.type} is not contiguous and of static shape; the host "
                    "works on whole runs of memory"
                )
        function = self.parent_op()
        if isinstance(function, FuncOp) and "npu.host" not in function.attributes:
            raise VerifyException(
                f"{self.name}: stands in a kernel; only the host function calls the host"
            )


def _is_contiguous(value: SSAValue) -> bool:
    """Whether a buffer is one run of memory of a known size, at any offset."""
    type_ = memref_type(value.type)
    if type_ is None or not type_.has_static_shape():
        return False
    if not isinstance(type_.layout, StridedLayoutAttr):
        return isinstance(type_.layout, NoneAttr)
    step = 1
    sizes, strides = type_.get_shape(), type_.layout.get_strides()
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if stride != step and size != 1:
            return False
        step *= size
    return True
