"""More elementwise operators of the graph dialect: special functions, rounding, bits."""

from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, StringAttr
from xdsl.ir import TypeAttribute
from xdsl.irdl import base, irdl_op_definition, prop_def

from .elementwise import BinaryOp, UnaryOp


@irdl_op_definition
class SinOp(UnaryOp):
    """Sine."""

    name = "graph.sin"


@irdl_op_definition
class CosOp(UnaryOp):
    """Cosine."""

    name = "graph.cos"


@irdl_op_definition
class TanOp(UnaryOp):
    """Tangent."""

    name = "graph.tan"


@irdl_op_definition
class AsinOp(UnaryOp):
    """Inverse of the sine, in [-pi/2, pi/2]."""

    name = "graph.asin"


@irdl_op_definition
class AcosOp(UnaryOp):
    """Inverse of the cosine, in [0, pi]."""

    name = "graph.acos"


@irdl_op_definition
class AtanOp(UnaryOp):
    """Inverse of the tangent, in [-pi/2, pi/2]."""

    name = "graph.atan"


@irdl_op_definition
class SinhOp(UnaryOp):
    """Hyperbolic sine."""

    name = "graph.sinh"


@irdl_op_definition
class CoshOp(UnaryOp):
    """Hyperbolic cosine."""

    name = "graph.cosh"


@irdl_op_definition
class AsinhOp(UnaryOp):
    """Inverse of the hyperbolic sine."""

    name = "graph.asinh"


@irdl_op_definition
class AcoshOp(UnaryOp):
    """Inverse of the hyperbolic cosine, not negative."""

    name = "graph.acosh"


@irdl_op_definition
class AtanhOp(UnaryOp):
    """Inverse of the hyperbolic tangent."""

    name = "graph.atanh"


@irdl_op_definition
class FloorOp(UnaryOp):
    """The largest whole number that is not above x."""

    name = "graph.floor"


@irdl_op_definition
class CeilOp(UnaryOp):
    """The smallest whole number that is not below x."""

    name = "graph.ceil"


@irdl_op_definition
class RoundOp(UnaryOp):
    """The nearest whole number, the even one of two."""

    name = "graph.round"


@irdl_op_definition
class SignOp(UnaryOp):
    """-1, 0 or 1."""

    name = "graph.sign"


@irdl_op_definition
class BitwiseNotOp(UnaryOp):
    """Every bit of an integer the other way."""

    name = "graph.bitwise_not"


@irdl_op_definition
class BitCastOp(UnaryOp):
    """The bits of x as the element type `to` of the same width."""

    name = "graph.bit_cast"
    to = prop_def(base(TypeAttribute))


@irdl_op_definition
class ModOp(BinaryOp):
    """The remainder of a / b with the sign of b, with `fmod` that of a."""

    name = "graph.mod"
    fmod = prop_def(BoolAttr)

    DEFAULTS: ClassVar = {"fmod": False}


@irdl_op_definition
class BitwiseAndOp(BinaryOp):
    """a and b, bit by bit."""

    name = "graph.bitwise_and"


@irdl_op_definition
class BitwiseOrOp(BinaryOp):
    """a or b, bit by bit."""

    name = "graph.bitwise_or"


@irdl_op_definition
class BitwiseXorOp(BinaryOp):
    """a or b but not both, bit by bit."""

    name = "graph.bitwise_xor"


@irdl_op_definition
class BitShiftOp(BinaryOp):
    """The bits of a moved by b places to the `direction` LEFT or RIGHT."""

    name = "graph.bit_shift"
    direction = prop_def(StringAttr)


FUNCTIONS = [
    SinOp,
    CosOp,
    TanOp,
    AsinOp,
    AcosOp,
    AtanOp,
    SinhOp,
    CoshOp,
    AsinhOp,
    AcoshOp,
    AtanhOp,
    FloorOp,
    CeilOp,
    RoundOp,
    SignOp,
    BitwiseNotOp,
    BitCastOp,
    ModOp,
    BitwiseAndOp,
    BitwiseOrOp,
    BitwiseXorOp,
    BitShiftOp,
]
"""Every operator of this file."""
