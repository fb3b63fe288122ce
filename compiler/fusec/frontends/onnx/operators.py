"""The table of ONNX operators: for each, the entries by the opset that they hold from, newest
first.

An entry takes a Node and gives the values of its outputs. Only what differs from a plain operator
of the same name needs a function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias, cast

import onnx
from xdsl.ir import SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.node import Node
from fusec.semantics.types import element_type
from fusec_dialects.graph import AttrValue
from fusec_dialects.graph.shapes import Shape, normal_axis

Entry: TypeAlias = Callable[[Node], Sequence[SSAValue]]


def _plain(name: str, inputs: int = 1) -> Entry:
    """Same name, inputs only."""
    return lambda node: node.build(name, [node.value(i) for i in range(inputs)])


def _variadic(name: str) -> Entry:
    """Sum, Max, Min and Mean of any number of inputs, as a chain of binary operators."""

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
        axis = normal_axis(node.int_("axis", 1), len(shape)) if shape else 0
        if all(d == 1 for d in shape[axis + 1 :]):
            return node.build(name, [x], {"axis": axis})
        flat = (_size(shape[:axis]), _size(shape[axis:]))
        (matrix,) = node.build("reshape", [x], shape=flat)
        (y,) = node.build(name, [matrix], {"axis": -1})
        return node.build("reshape", [y], shape=shape)

    return entry


def _size(dims: Shape) -> int:
    if any(isinstance(d, str) for d in dims):
        raise ImportFailure("the shape has to be static here; give it by --shape")
    return prod(cast(tuple[int, ...], dims))


def _gelu(node: Node) -> Sequence[SSAValue]:
    return node.build("gelu", [node.value(0)], {"approximate": node.text("approximate", "none")})


def _leaky_relu(node: Node) -> Sequence[SSAValue]:
    return node.build("leaky_relu", [node.value(0)], {"alpha": node.float_("alpha", 0.01)})


def _clip_attributes(node: Node) -> Sequence[SSAValue]:
    attrs: dict[str, AttrValue] = {}
    for name in ("min", "max"):
        value = node.float_(name, float("nan"))
        attrs[name] = None if value != value else value
    return node.build("clip", [node.value(0)], attrs)


def _clip(node: Node) -> Sequence[SSAValue]:
    attrs: dict[str, AttrValue] = {
        name: float(node.array(i, name).reshape(())) if node.has(i) else None
        for i, name in ((1, "min"), (2, "max"))
    }
    return node.build("clip", [node.value(0)], attrs)


def _cast(node: Node) -> Sequence[SSAValue]:
    to = element_type(onnx.helper.tensor_dtype_to_np_dtype(node.int_("to")))
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


def _layer_norm(node: Node) -> Sequence[SSAValue]:
    if sum(1 for o in node.proto.output if o) > 1:
        raise ImportFailure("its mean and inverse deviation outputs are not supported")
    attrs = {"axis": node.int_("axis", -1), "epsilon": node.float_("epsilon", 1e-5)}
    return node.build("layer_normalization", node.values(), attrs)


def _batch_norm(node: Node) -> Sequence[SSAValue]:
    if node.int_("training_mode", 0) or sum(1 for o in node.proto.output if o) > 1:
        raise ImportFailure("only inference is supported; export the model in evaluation mode")
    if not node.int_("spatial", 1):
        raise ImportFailure("spatial=0 is not supported")
    return node.build(
        "batch_normalization",
        [node.value(i) for i in range(5)],
        {"epsilon": node.float_("epsilon", 1e-5)},
    )


def _gemm(node: Node) -> Sequence[SSAValue]:
    attrs = {
        "alpha": node.float_("alpha", 1.0),
        "beta": node.float_("beta", 1.0),
        "trans_a": bool(node.int_("transA", 0)),
        "trans_b": bool(node.int_("transB", 0)),
    }
    return node.build("gemm", node.values(), attrs)


def _window(node: Node, kernel: tuple[int, ...], spatial: Shape) -> dict[str, AttrValue]:
    """Strides, dilations and explicit pads of a convolution or pooling, `auto_pad` resolved."""
    n = len(spatial)
    strides = node.ints("strides") or (1,) * n
    dilations = node.ints("dilations") or (1,) * n
    pads = node.ints("pads") or (0,) * (2 * n)
    auto = node.text("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        begins: list[int] = []
        ends: list[int] = []
        for size, k, s, d in zip(spatial, kernel, strides, dilations, strict=True):
            if isinstance(size, str):
                raise ImportFailure(f"auto_pad {auto} needs a static shape; give it by --shape")
            out = -(-size // s)
            total = max((out - 1) * s + d * (k - 1) + 1 - size, 0)
            small = total // 2
            begins.append(small if auto == "SAME_UPPER" else total - small)
            ends.append(total - begins[-1])
        pads = (*begins, *ends)
    elif auto == "VALID":
        pads = (0,) * (2 * n)
    elif auto != "NOTSET":
        raise ImportFailure(f"auto_pad {auto} is unknown")
    return {"strides": strides, "pads": pads, "dilations": dilations}


def _conv(node: Node) -> Sequence[SSAValue]:
    x, w = node.value(0), node.value(1)
    kernel = node.shape(w)[2:]
    if any(isinstance(k, str) for k in kernel):
        raise ImportFailure("the filter has to have a static shape")
    window = _window(node, cast(tuple[int, ...], kernel), node.shape(x)[2:])
    return node.build("conv", node.values(), {**window, "group": node.int_("group", 1)})


def _pool(name: str) -> Entry:
    def entry(node: Node) -> Sequence[SSAValue]:
        if sum(1 for o in node.proto.output if o) > 1:
            raise ImportFailure("its indices output is not supported")
        x = node.value(0)
        kernel = node.ints("kernel_shape")
        if kernel is None:
            raise ImportFailure("attribute 'kernel_shape' is missing")
        attrs: dict[str, AttrValue] = {
            "kernel_shape": kernel,
            **_window(node, kernel, node.shape(x)[2:]),
            "ceil_mode": bool(node.int_("ceil_mode", 0)),
        }
        if name == "average_pool":
            attrs["count_include_pad"] = bool(node.int_("count_include_pad", 0))
        return node.build(name, [x], attrs)

    return entry


def _transpose(node: Node) -> Sequence[SSAValue]:
    x = node.value(0)
    perm = node.ints("perm") or tuple(reversed(range(len(node.shape(x)))))
    return node.build("transpose", [x], {"perm": perm})


def _reshape(node: Node) -> Sequence[SSAValue]:
    x = node.value(0)
    old = node.shape(x)
    wanted = list(node.ints_input(1, "the shape"))
    keep_zero = bool(node.int_("allowzero", 0))
    new: list[int | str] = [
        old[i] if d == 0 and not keep_zero and i < len(old) else d for i, d in enumerate(wanted)
    ]
    if -1 in new:
        known = _size(tuple(d for d in new if d != -1))
        total = _size(old)
        if known == 0 or total % known:
            raise ImportFailure(f"{list(old)} does not reshape to {wanted}")
        new[new.index(-1)] = total // known
    return node.build("reshape", [x], shape=tuple(new))


def _expand(node: Node) -> Sequence[SSAValue]:
    from fusec_dialects.graph.shapes import broadcast

    x = node.value(0)
    return node.build(
        "expand", [x], shape=broadcast(node.shape(x), node.ints_input(1, "the shape"))
    )


def _axes(name: str, axes_input: bool) -> Entry:
    """Squeeze and unsqueeze."""

    def entry(node: Node) -> Sequence[SSAValue]:
        x = node.value(0)
        axes = node.ints("axes")
        if axes_input:
            axes = node.ints_input(1, "axes") if node.has(1) else None
        if axes is None:
            axes = tuple(i for i, d in enumerate(node.shape(x)) if d == 1)
        return node.build(name, [x], {"axes": axes})

    return entry


_END = 2**31 - 1


def _slice_attributes(node: Node) -> Sequence[SSAValue]:
    starts, ends = node.ints("starts") or (), node.ints("ends") or ()
    axes = node.ints("axes") or tuple(range(len(starts)))
    return _slice_of(node, starts, ends, axes, (1,) * len(starts))


def _slice(node: Node) -> Sequence[SSAValue]:
    starts, ends = node.ints_input(1, "starts"), node.ints_input(2, "ends")
    axes = node.ints_input(3, "axes") if node.has(3) else tuple(range(len(starts)))
    steps = node.ints_input(4, "steps") if node.has(4) else (1,) * len(starts)
    return _slice_of(node, starts, ends, axes, steps)


def _slice_of(
    node: Node,
    starts: tuple[int, ...],
    ends: tuple[int, ...],
    axes: tuple[int, ...],
    steps: tuple[int, ...],
) -> Sequence[SSAValue]:
    def clamp(v: int) -> int:
        return max(-_END, min(_END, v))

    attrs: dict[str, AttrValue] = {
        "starts": tuple(map(clamp, starts)),
        "ends": tuple(map(clamp, ends)),
        "axes": axes,
        "steps": steps,
    }
    return node.build("slice", [node.value(0)], attrs)


def _pad(node: Node) -> Sequence[SSAValue]:
    if node.text("mode", "constant") != "constant":
        raise ImportFailure(f"mode '{node.text('mode', '')}' is not supported")
    x = node.value(0)
    if node.opset < 11:
        pads, value = node.ints("pads") or (), node.float_("value", 0.0)
    else:
        pads = node.ints_input(1, "pads")
        value = float(node.array(2, "the value").reshape(())) if node.has(2) else 0.0
        if node.has(3):
            pads = _spread(pads, node.ints_input(3, "axes"), len(node.shape(x)))
    return node.build("pad", [x], {"pads": pads, "value": value})


def _spread(pads: tuple[int, ...], axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    full = [0] * (2 * rank)
    for i, axis in enumerate(axes):
        axis = normal_axis(axis, rank)
        full[axis], full[rank + axis] = pads[i], pads[len(axes) + i]
    return tuple(full)


def _gather(name: str) -> Entry:
    return lambda node: node.build(
        name, [node.value(0), node.value(1)], {"axis": node.int_("axis", 0)}
    )


def _concat(node: Node) -> Sequence[SSAValue]:
    return node.build("concat", node.values(), {"axis": node.int_("axis")})


def _split(node: Node) -> Sequence[SSAValue]:
    x = node.value(0)
    axis = normal_axis(node.int_("axis", 0), len(node.shape(x)))
    sizes = node.ints("split")
    if node.opset >= 13 and node.has(1):
        sizes = node.ints_input(1, "the sizes")
    if sizes is None:
        count, total = len(node.proto.output), _size((node.shape(x)[axis],))
        piece = -(-total // count)
        sizes = tuple(min(piece, total - i * piece) for i in range(count))
    return node.build("split", [x], {"axis": axis, "sizes": sizes}, results=len(sizes))


def _dropout(node: Node) -> Sequence[SSAValue]:
    if node.has(2) and bool(node.array(2, "training_mode").reshape(())):
        raise ImportFailure("only inference is supported; export the model in evaluation mode")
    return node.build("identity", [node.value(0)])


_UNARY = ("Relu", "Erf", "Exp", "Log", "Sqrt", "Neg", "Abs", "Reciprocal", "Tanh", "Sigmoid", "Not")
_BINARY = {
    **{n: n.lower() for n in ("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor")},
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
    "Dropout": [(7, _dropout)],
    "Sum": [(8, _variadic("add"))],
    "Max": [(8, _variadic("max"))],
    "Min": [(8, _variadic("min"))],
    "Where": [(9, _plain("where", 3))],
    "Gelu": [(20, _gelu)],
    "LeakyRelu": [(6, _leaky_relu)],
    "Clip": [(11, _clip), (6, _clip_attributes)],
    "Cast": [(6, _cast)],
    "Softmax": [(13, _axis("softmax", -1)), (1, _softmax_flat("softmax"))],
    "LogSoftmax": [(13, _axis("log_softmax", -1)), (1, _softmax_flat("log_softmax"))],
    "LayerNormalization": [(17, _layer_norm)],
    "BatchNormalization": [(7, _batch_norm)],
    "MatMul": [(1, _plain("matmul", 2))],
    "Gemm": [(7, _gemm)],
    "Conv": [(1, _conv)],
    "MaxPool": [(1, _pool("max_pool"))],
    "AveragePool": [(1, _pool("average_pool"))],
    "GlobalAveragePool": [(1, _plain("global_average_pool"))],
    "Transpose": [(1, _transpose)],
    "Reshape": [(5, _reshape)],
    "Flatten": [(1, _axis("flatten", 1))],
    "Expand": [(8, _expand)],
    "Squeeze": [(13, _axes("squeeze", True)), (1, _axes("squeeze", False))],
    "Unsqueeze": [(13, _axes("unsqueeze", True)), (1, _axes("unsqueeze", False))],
    "Slice": [(10, _slice), (1, _slice_attributes)],
    "Pad": [(2, _pad)],
    "Gather": [(1, _gather("gather"))],
    "GatherElements": [(11, _gather("gather_elements"))],
    "Concat": [(4, _concat)],
    "Split": [(2, _split)],
}
"""Entries by operator type, the newest opset first."""
