"""What graph.opaque and npu.host_call say of an ONNX node: its name, its opset, its bytes."""

import re

from xdsl.utils.exceptions import VerifyException

_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})+")


def verify_foreign(name: str, op_type: str, opset: int, onnx: str) -> None:
    """Raises VerifyException, beginning with the operator's `name`, where a part says nothing."""
    if not op_type:
        raise VerifyException(f"{name}: the type of the ONNX operator is empty")
    if opset < 1:
        raise VerifyException(f"{name}: opset {opset}; opsets count from 1")
    if not _HEX.fullmatch(onnx):
        raise VerifyException(
            f"{name}: `onnx` is a serialised FunctionProto in hexadecimal, two digits for each byte"
        )
