"""Elementwise vector instructions of one and of two operands, named as in HIVM."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from .vector_base import FLOATS, NUMBERS, BinaryOp, UnaryOp


@irdl_op_definition
class VAbsOp(UnaryOp):
    """dest = |source|."""

    name = "npu.vabs"
    TYPES: ClassVar = NUMBERS


@irdl_op_definition
class VExpOp(UnaryOp):
    """dest = e to the source."""

    name = "npu.vexp"
    TYPES: ClassVar = FLOATS


@irdl_op_definition
class VLnOp(UnaryOp):
    """dest = natural logarithm."""

    name = "npu.vln"
    TYPES: ClassVar = FLOATS


@irdl_op_definition
class VSqrtOp(UnaryOp):
    """dest = square root."""

    name = "npu.vsqrt"
    TYPES: ClassVar = FLOATS


@irdl_op_definition
class VRsqrtOp(UnaryOp):
    """dest = 1 / square root."""

    name = "npu.vrsqrt"
    TYPES: ClassVar = FLOATS


@irdl_op_definition
class VRecOp(UnaryOp):
    """dest = 1 / source."""

    name = "npu.vrec"
    TYPES: ClassVar = FLOATS


@irdl_op_definition
class VReluOp(UnaryOp):
    """dest = max(source, 0)."""

    name = "npu.vrelu"
    TYPES: ClassVar = ("f16", "f32", "i32")


@irdl_op_definition
class VNotOp(UnaryOp):
    """dest = bitwise not."""

    name = "npu.vnot"
    TYPES: ClassVar = ("i16", "i32", "i8", "i1")


@irdl_op_definition
class VAddOp(BinaryOp):
    """dest = lhs + rhs."""

    name = "npu.vadd"
    TYPES: ClassVar = NUMBERS


@irdl_op_definition
class VSubOp(BinaryOp):
    """dest = lhs - rhs."""

    name = "npu.vsub"
    TYPES: ClassVar = NUMBERS


@irdl_op_definition
class VMulOp(BinaryOp):
    """dest = lhs * rhs."""

    name = "npu.vmul"
    TYPES: ClassVar = NUMBERS


@irdl_op_definition
class VDivOp(BinaryOp):
    """dest = lhs / rhs."""

    name = "npu.vdiv"
    TYPES: ClassVar = FLOATS


@irdl_op_definition
class VMaxOp(BinaryOp):
    """dest = the larger of lhs and rhs."""

    name = "npu.vmax"
    TYPES: ClassVar = NUMBERS


@irdl_op_definition
class VMinOp(BinaryOp):
    """dest = the smaller of lhs and rhs."""

    name = "npu.vmin"
    TYPES: ClassVar = NUMBERS


@irdl_op_definition
class VAndOp(BinaryOp):
    """dest = lhs and rhs, bitwise."""

    name = "npu.vand"
    TYPES: ClassVar = ("i16", "i32", "i8", "i1")


@irdl_op_definition
class VOrOp(BinaryOp):
    """dest = lhs or rhs, bitwise."""

    name = "npu.vor"
    TYPES: ClassVar = ("i16", "i32", "i8", "i1")
