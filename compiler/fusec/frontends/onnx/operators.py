"""The table of ONNX operators: for each, the entries by the opset that they hold from, newest
first.

An entry takes a Node and gives the values of its outputs. Only what differs from a plain operator
of the same name needs a function; windows are in windows.py, views and movement in movement.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.container import numpy_dtype
from fusec.frontends.onnx.entry import Entry, number_of
from fusec.frontends.onnx.movement import MOVEMENT
from fusec.frontends.onnx.node import Node
from fusec.frontends.onnx.operators_contract import CONTRACT
from fusec.frontends.onnx.operators_loss import LOSSES
from fusec.frontends.onnx.operators_math import MATH
from fusec.frontends.onnx.operators_moves import MOVES
from fusec.frontends.onnx.operators_pools import POOLS
from fusec.frontends.onnx.operators_quant import QUANTISED
from fusec.frontends.onnx.operators_recurrent import RECURRENT
from fusec.frontends.onnx.operators_reduce import REDUCE
from fusec.frontends.onnx.operators_resize import RESIZE
from fusec.frontends.onnx.operators_signal import SIGNAL
from fusec.frontends.onnx.operators_windows import OTHER_WINDOWS
from fusec.frontends.onnx.windows import WINDOWS
from fusec.semantics.types import element_type
from fusec_dialects.graph import AttrValue
from fusec_dialects.graph.shapes import normal_axis


def _plain(name: str, inputs: int = 1) -> Entry:
    """Same name, inputs only."""
    return lambda node: node.build(name, node.values(inputs, inputs))


def _variadic(name: str) -> Entry:
    """Sum, Max and Min of any number of inputs, as a chain of binary operators."""

    def entry(node: Node) -> Sequence[SSAValue]:
        first, *rest = node.values()
        result = first
        for value in rest:
            (result,) = node.build(name, [result, value])
        return (result,) if rest else node.build("identity", [first])

    return entry


def _axis(name: str, default: int) -> Entry:
    """One input and an axis."""
    return lambda node: node.build(name, [node.value(0)], {"axis": node.int_("axis", default)})


def _softmax_flat(name: str) -> Entry:
    """Before opset 13: over all axes from `axis` on, taken together."""

    def entry(node: Node) -> Sequence[SSAValue]:
        x = node.value(0)
        shape = node.shape(x)
        axis = normal_axis(node.int_("axis", 1), len(shape))
        if all(d == 1 for d in shape[axis + 1 :]):
            return node.build(name, [x], {"axis": axis})
        flat = (number_of(shape[:axis]), number_of(shape[axis:]))
        (matrix,) = node.build("reshape", [x], shape=flat)
        (y,) = node.build(name, [matrix], {"axis": -1})
        return node.build("reshape", [y], shape=shape)

    return entry


def _gelu(node: Node) -> Sequence[SSAValue]:
    approximate = node.text("approximate", "none")
    if approximate not in ("none", "tanh"):
        raise ImportFailure(f"approximate '{approximate}' is unknown")
    return node.build("gelu", [node.value(0)], {"approximate": approximate})


def _leaky_relu(node: Node) -> Sequence[SSAValue]:
    return node.build("leaky_relu", [node.value(0)], {"alpha": node.float_("alpha", 0.01)})


def _clip_attributes(node: Node) -> Sequence[SSAValue]:
    """Before opset 11. The defaults, the ends of the range of f32, do not limit."""
    end = float(np.finfo(np.float32).max)
    attrs: dict[str, AttrValue] = {
        name: None if (value := node.float_(name, default)) == default else value
        for name, default in (("min", -end), ("max", end))
    }
    return node.build("clip", [node.value(0)], attrs)


def _clip(node: Node) -> Sequence[SSAValue]:
    """Constant limits of floating tensors become attributes; others stay operands, exact."""
    x = node.value(0)
    limits = [i for i in (1, 2) if node.has(i)]
    integer = isinstance(node.element(x), IntegerType)
    if not integer and all(node.is_constant(i) for i in limits):
        attrs: dict[str, AttrValue] = {
            name: float(node.number(i, name)) if node.has(i) else None
            for i, name in ((1, "min"), (2, "max"))
        }
        return node.build("clip", [x], attrs)
    for i, name in ((1, "max"), (2, "min")):
        if i not in limits:
            continue
        limit = node.value(i)
        if node.shape(limit) != ():
            raise ImportFailure(f"limit '{node.proto.input[i]}' is not a scalar")
        (x,) = node.build(name, [x, limit])
    return (x,) if limits else node.build("identity", [x])


def _cast(node: Node) -> Sequence[SSAValue]:
    to = element_type(numpy_dtype(node.int_("to"), "the result"))
    return node.build("cast", [node.value(0)], {"to": to})


def _reduce(name: str, axes_input: bool) -> Entry:
    def entry(node: Node) -> Sequence[SSAValue]:
        x = node.value(0)
        axes = node.ints("axes") or ()
        if axes_input:
            axes = node.ints_input(1, "axes") if node.has(1) else ()
        if not axes and node.int_("noop_with_empty_axes", 0):
            return node.build("identity", [x])
        axes = axes or tuple(range(len(node.shape(x))))
        return node.build(name, [x], {"axes": axes, "keepdims": bool(node.int_("keepdims", 1))})

    return entry


def _batch_norm(node: Node) -> Sequence[SSAValue]:
    if node.int_("training_mode", 0):
        raise ImportFailure("only inference is supported; export the model in evaluation mode")
    if not node.int_("spatial", 1):
        raise ImportFailure("spatial=0 is not supported")
    attrs: dict[str, AttrValue] = {"epsilon": node.float_("epsilon", 1e-5)}
    return node.build("batch_normalization", node.values(5, 5), attrs)


def _gemm(node: Node) -> Sequence[SSAValue]:
    attrs: dict[str, AttrValue] = {
        "alpha": node.float_("alpha", 1.0),
        "beta": node.float_("beta", 1.0),
        "trans_a": bool(node.int_("transA", 0)),
        "trans_b": bool(node.int_("transB", 0)),
    }
    return node.build("gemm", node.values(2, 3), attrs)


_UNARY = ("Relu", "Erf", "Exp", "Log", "Sqrt", "Neg", "Abs", "Reciprocal", "Tanh", "Sigmoid", "Not")
_BINARY = {
    **{n: n.lower() for n in ("Add", "Sub", "Mul", "Div", "And", "Or", "Xor")},
    **{n: n.lower() for n in ("Equal", "Greater", "Less")},
    "GreaterOrEqual": "greater_or_equal",
    "LessOrEqual": "less_or_equal",
}
_REDUCE = {f"Reduce{n}": f"reduce_{n.lower()}" for n in ("Sum", "Mean", "Max", "Min", "Prod")}

OPERATORS: dict[str, list[tuple[int, Entry]]] = {
    **{n: [(1, _plain(n.lower()))] for n in _UNARY},
    **{n: [(7, _plain(name, 2))] for n, name in _BINARY.items()},
    **{
        n: [(13 if n == "ReduceSum" else 18, _reduce(name, True)), (1, _reduce(name, False))]
        for n, name in _REDUCE.items()
    },
    "Identity": [(1, _plain("identity"))],
    "Sum": [(6, _variadic("add"))],
    "Max": [(6, _variadic("max"))],
    "Min": [(6, _variadic("min"))],
    "Where": [(9, _plain("where", 3))],
    "Gelu": [(20, _gelu)],
    "LeakyRelu": [(6, _leaky_relu)],
    "Clip": [(11, _clip), (6, _clip_attributes)],
    "Cast": [(6, _cast)],
    "Softmax": [(13, _axis("softmax", -1)), (1, _softmax_flat("softmax"))],
    "LogSoftmax": [(13, _axis("log_softmax", -1)), (1, _softmax_flat("log_softmax"))],
    "BatchNormalization": [(7, _batch_norm)],
    "MatMul": [(1, _plain("matmul", 2))],
    "Gemm": [(7, _gemm)],
    **WINDOWS,
    **MOVEMENT,
    **MATH,
    **REDUCE,
    **MOVES,
    **LOSSES,
    **CONTRACT,
    **OTHER_WINDOWS,
    **RESIZE,
    **RECURRENT,
    **QUANTISED,
    **POOLS,
    **SIGNAL,
}
"""Entries by operator type, the newest opset first."""
