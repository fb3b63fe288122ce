"""Elementwise operators of the graph dialect, with numpy broadcasting; comparisons give i1."""

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import TypeAttribute
from xdsl.irdl import base, irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def

from .base import Float, GraphOp, Tensor


class UnaryOp(GraphOp):
    """y = f(x), of the shape and type of x."""

    x = operand_def(Tensor)
    y = result_def(Tensor)


class BinaryOp(GraphOp):
    """y = f(a, b), a and b broadcast to one shape, of one element type."""

    a = operand_def(Tensor)
    b = operand_def(Tensor)
    y = result_def(Tensor)


@irdl_op_definition
class ReluOp(UnaryOp):
    """max(x, 0)."""

    name = "graph.relu"


@irdl_op_definition
class ErfOp(UnaryOp):
    """Gauss error function."""

    name = "graph.erf"


@irdl_op_definition
class ExpOp(UnaryOp):
    """e to the x."""

    name = "graph.exp"


@irdl_op_definition
class LogOp(UnaryOp):
    """Natural logarithm."""

    name = "graph.log"


@irdl_op_definition
class SqrtOp(UnaryOp):
    """Square root."""

    name = "graph.sqrt"


@irdl_op_definition
class NegOp(UnaryOp):
    """-x."""

    name = "graph.neg"


@irdl_op_definition
class AbsOp(UnaryOp):
    """|x|."""

    name = "graph.abs"


@irdl_op_definition
class ReciprocalOp(UnaryOp):
    """1 / x."""

    name = "graph.reciprocal"


@irdl_op_definition
class TanhOp(UnaryOp):
    """Hyperbolic tangent."""

    name = "graph.tanh"


@irdl_op_definition
class SigmoidOp(UnaryOp):
    """1 / (1 + exp(-x))."""

    name = "graph.sigmoid"


@irdl_op_definition
class NotOp(UnaryOp):
    """Logical not of i1."""

    name = "graph.not"


@irdl_op_definition
class IdentityOp(UnaryOp):
    """x itself."""

    name = "graph.identity"


@irdl_op_definition
class GeluOp(UnaryOp):
    """x times the normal distribution function of x, by erf ("none") or by tanh ("tanh")."""

    name = "graph.gelu"
    approximate = prop_def(StringAttr)

    DEFAULTS: ClassVar = {"approximate": "none"}


@irdl_op_definition
class LeakyReluOp(UnaryOp):
    """x where x > 0, alpha x elsewhere."""

    name = "graph.leaky_relu"
    alpha = prop_def(Float)

    DEFAULTS: ClassVar = {"alpha": 0.01}


@irdl_op_definition
class ClipOp(UnaryOp):
    """x limited to [min, max]; an absent limit does not limit."""

    name = "graph.clip"
    min = opt_prop_def(Float)
    max = opt_prop_def(Float)


@irdl_op_definition
class CastOp(UnaryOp):
    """x in the element type `to`, as ONNX's Cast converts."""

    name = "graph.cast"
    to = prop_def(base(TypeAttribute))


@irdl_op_definition
class AddOp(BinaryOp):
    """a + b."""

    name = "graph.add"


@irdl_op_definition
class SubOp(BinaryOp):
    """a - b."""

    name = "graph.sub"


@irdl_op_definition
class MulOp(BinaryOp):
    """a b."""

    name = "graph.mul"


@irdl_op_definition
class DivOp(BinaryOp):
    """a / b; integers truncate toward zero."""

    name = "graph.div"


@irdl_op_definition
class PowOp(BinaryOp):
    """a to the b, in the type of a."""

    name = "graph.pow"


@irdl_op_definition
class MaxOp(BinaryOp):
    """The larger one."""

    name = "graph.max"


@irdl_op_definition
class MinOp(BinaryOp):
    """The smaller one."""

    name = "graph.min"


@irdl_op_definition
class AndOp(BinaryOp):
    """Logical and of i1."""

    name = "graph.and"


@irdl_op_definition
class OrOp(BinaryOp):
    """Logical or of i1."""

    name = "graph.or"


@irdl_op_definition
class XorOp(BinaryOp):
    """Logical exclusive or of i1."""

    name = "graph.xor"


@irdl_op_definition
class EqualOp(BinaryOp):
    """a = b, i1."""

    name = "graph.equal"


@irdl_op_definition
class GreaterOp(BinaryOp):
    """a > b, i1."""

    name = "graph.greater"


@irdl_op_definition
class LessOp(BinaryOp):
    """a < b, i1."""

    name = "graph.less"


@irdl_op_definition
class GreaterOrEqualOp(BinaryOp):
    """a >= b, i1."""

    name = "graph.greater_or_equal"


@irdl_op_definition
class LessOrEqualOp(BinaryOp):
    """a <= b, i1."""

    name = "graph.less_or_equal"


@irdl_op_definition
class WhereOp(GraphOp):
    """condition (i1) ? a : b, the three broadcast to one shape."""

    name = "graph.where"
    condition = operand_def(Tensor)
    a = operand_def(Tensor)
    b = operand_def(Tensor)
    y = result_def(Tensor)


ELEMENTWISE = [
    ReluOp,
    ErfOp,
    ExpOp,
    LogOp,
    SqrtOp,
    NegOp,
    AbsOp,
    ReciprocalOp,
    TanhOp,
    SigmoidOp,
    NotOp,
    IdentityOp,
    GeluOp,
    LeakyReluOp,
    ClipOp,
    CastOp,
    AddOp,
    SubOp,
    MulOp,
    DivOp,
    PowOp,
    MaxOp,
    MinOp,
    AndOp,
    OrOp,
    XorOp,
    EqualOp,
    GreaterOp,
    LessOp,
    GreaterOrEqualOp,
    LessOrEqualOp,
    WhereOp,
]
"""Every operator of this file."""
