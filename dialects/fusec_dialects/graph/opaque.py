"""graph.opaque: an ONNX operator that the dialect has no operator for, kept as a barrier.

It holds the node and its opsets as an ONNX function in hexadecimal; nothing but its types is known.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from ..foreign import verify_foreign
from .base import Tensor, tensor_type
from .elements import verify_known


@irdl_op_definition
class OpaqueOp(IRDLOperation):
    """`graph.opaque "Unique" opset 11 onnx "0A05..." (%x) : (T) -> T`.

    Other domains than ONNX's own stand after the type: `"Frob" domain "my.ops"`. `onnx` holds a
    serialised FunctionProto: the operator's node, inputs and outputs in the order of the operands
    and results, every opset that the node needs. It is never fused, folded, copied or merged with
    an equal one; it goes away where nobody uses its results. Sizes of results are static.
    """

    name = "graph.opaque"

    op_type = prop_def(StringAttr)
    domain = opt_prop_def(StringAttr)
    opset = prop_def(IntegerAttr[I64])
    onnx = prop_def(StringAttr)
    inputs = var_operand_def(Tensor)
    outputs = var_result_def(Tensor)

    assembly_format = (
        "$op_type (`domain` $domain^)? `opset` $opset `onnx` $onnx `(` $inputs `)` attr-dict `:` "
        "functional-type($inputs, $outputs)"
    )

    def __init__(
        self,
        op_type: str,
        domain: str,
        opset: int,
        onnx: bytes,
        inputs: Sequence[SSAValue],
        results: Sequence[Attribute],
    ) -> None:
        super().__init__(
            operands=[inputs],
            result_types=[results],
            properties={
                "op_type": StringAttr(op_type),
                "domain": StringAttr(domain) if domain else None,
                "opset": IntegerAttr(opset, i64),
                "onnx": StringAttr(onnx.hex().upper()),
            },
        )

    def verify_(self) -> None:
        verify_foreign(self.name, self.op_type.data, self.opset.value.data, self.onnx.data)
        if not self.outputs:
            raise VerifyException(f"{self.name}: gives no result, so it computes nothing")
        for value in (*self.inputs, *self.outputs):
            try:
                verify_known(tensor_type(value).element_type)
            except VerifyException as e:
                raise VerifyException(f"{self.name}: {e}") from e
        for result in self.outputs:
            if not tensor_type(result).has_static_shape():
                raise VerifyException(
                    f"{self.name}: the result is {result.type}; its shape follows from nothing, "
                    "so every size has to be given"
                )
