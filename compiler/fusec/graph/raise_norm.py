"""Layer norm and softmax from the operators that they are written with."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import SSAValue

from fusec.rewrite.driver import Rewriter, Rule
from fusec.rewrite.match import Captures, Pattern, is_private, match, scalar_of
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import python_value, tensor_type
from fusec_dialects.graph.shapes import dims_of
from fusec_dialects.graph.sizes import certainly_equal

_MEAN: Pattern = ("reduce_mean", "x")
_CENTRED: Pattern = ("sub", "x", _MEAN)
_SQUARES: tuple[Pattern, ...] = (("pow", _CENTRED, 2.0), ("mul", _CENTRED, _CENTRED))


def _normalised() -> tuple[Pattern, ...]:
    found: list[Pattern] = []
    for square in _SQUARES:
        deviation: Pattern = ("sqrt", ("add", ("reduce_mean", square), "epsilon"))
        found += [
            ("div", _CENTRED, deviation),
            ("mul", _CENTRED, ("reciprocal", deviation)),
            ("mul", _CENTRED, ("div", 1.0, deviation)),
        ]
    return tuple(found)


_NORMALISED = _normalised()


def _axes(op: GraphOp) -> tuple[int, ...]:
    """Reduced axes from the front, in order; none given means all."""
    axes = op.properties.get("axes")
    rank = len(tensor_type(op.operands[0]).get_shape())
    values = axes.get_values() if isinstance(axes, DenseArrayBase) else ()
    return tuple(sorted(int(a) % rank for a in values)) or tuple(range(rank))


def _trailing_axis(found: Captures, x: SSAValue) -> int | None:
    """The first normalised axis, where all means are over it and all that follow, kept."""
    rank = len(tensor_type(x).get_shape())
    means = [op for op in found.ops if isinstance(op, GraphOp) and op.op_name == "reduce_mean"]
    axes = {_axes(op) for op in means}
    kept = all(python_value(op.properties["keepdims"]) for op in means)
    if len(axes) != 1 or not kept:
        return None
    (only,) = axes
    return only[0] if only and only == tuple(range(only[0], rank)) else None


def _fits(parameter: SSAValue, x: SSAValue, axis: int) -> bool:
    """Whether a scale or bias has the shape of the normalised axes and enlarges nothing."""
    return certainly_equal(dims_of(tensor_type(parameter)), dims_of(tensor_type(x))[axis:])


def _raise_layer_norm(op: GraphOp, rewriter: Rewriter) -> bool:
    for normalised in _NORMALISED:
        spellings: tuple[Pattern, ...] = (
            ("add", ("mul", normalised, "scale"), "bias"),
            ("mul", normalised, "scale"),
        )
        for spelling in spellings:
            found = match(op.results[0], spelling)
            if found is not None and is_private(op, found) and _layer_norm(op, found, rewriter):
                return True
    return False


def _layer_norm(op: GraphOp, found: Captures, rewriter: Rewriter) -> bool:
    x = found.values["x"]
    epsilon = scalar_of(found.values["epsilon"])
    axis = _trailing_axis(found, x)
    parameters = [found.values[k] for k in ("scale", "bias") if k in found.values]
    if epsilon is None or axis is None or not all(_fits(p, x, axis) for p in parameters):
        return False
    if x.type != op.results[0].type:
        return False
    if op.op_name == "mul" and _continues(op, axis, x):
        return False
    attrs = {"axis": axis - len(tensor_type(x).get_shape()), "epsilon": epsilon}
    types = [op.results[0].type]
    return rewriter.replace(rewriter.build("layer_normalization", [x, *parameters], attrs, types))


def _continues(op: GraphOp, axis: int, x: SSAValue) -> bool:
    """Whether a bias follows, so that the larger expression is the one to raise."""
    uses = list(op.results[0].uses)
    if len(uses) != 1:
        return False
    user = uses[0].operation
    if not isinstance(user, GraphOp) or user.op_name != "add":
        return False
    other = user.operands[1 - uses[0].index]
    return other is not op.results[0] and _fits(other, x, axis)


_REDUCTIONS = ("reduce_max", "reduce_sum")
_POWERS: Pattern = ("exp", ("sub", "x", ("reduce_max", "x")))
_SOFTMAX: Pattern = ("div", _POWERS, ("reduce_sum", _POWERS))


def _raise_softmax(op: GraphOp, rewriter: Rewriter) -> bool:
    found = match(op.results[0], _SOFTMAX)
    if found is None or not is_private(op, found):
        return False
    reductions = [o for o in found.ops if isinstance(o, GraphOp) and o.op_name in _REDUCTIONS]
    axes = {_axes(o) for o in reductions}
    kept = all(python_value(o.properties["keepdims"]) for o in reductions)
    x = found.values["x"]
    if len(axes) != 1 or not kept or x.type != op.results[0].type:
        return False
    (only,) = axes
    if len(only) != 1:
        return False
    attrs = {"axis": only[0] - len(tensor_type(x).get_shape())}
    return rewriter.replace(rewriter.build("softmax", [x], attrs, [x.type]))


NORM_RULES = (
    Rule("raise-layer-norm", ("graph.add", "graph.mul"), _raise_layer_norm),
    Rule("raise-softmax", ("graph.div",), _raise_softmax),
)
