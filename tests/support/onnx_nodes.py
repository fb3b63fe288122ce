"""ONNX nodes with constant operands, as calls of our semantics.

A second, independent reading of the ONNX text beside the frontend: for tests only.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast
from warnings import catch_warnings, simplefilter

import numpy as np
import onnx
from onnx import helper, numpy_helper

from fusec.semantics import DATA_TYPES, Array, AttrValue


@dataclass(frozen=True)
class Node:
    """One ONNX node with its values; attributes as plain Python, texts as str."""

    op: str
    opset: int
    inputs: tuple[Array | None, ...]
    attrs: dict[str, Any]
    results: int

    def constant(self, index: int) -> tuple[int, ...] | None:
        """Input `index` as a tuple of ints, if it is there."""
        if index >= len(self.inputs) or self.inputs[index] is None:
            return None
        return tuple(int(value) for value in np.ravel(cast(Array, self.inputs[index])))

    def data(self) -> Array:
        return cast(Array, self.inputs[0])


@dataclass(frozen=True)
class Meaning:
    """The same node as a call of `evaluate`."""

    name: str
    inputs: Sequence[Array | None]
    attrs: dict[str, AttrValue] = field(default_factory=dict[str, AttrValue])


@dataclass(frozen=True)
class Case:
    """One of ONNX's own operator cases."""

    name: str
    node: Node
    expected: list[Array]


def _ints(values: Any) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def _same(name: str) -> Callable[[Node], Meaning | None]:
    return lambda node: Meaning(name, node.inputs)


def _renamed(name: str, *keys: str, **renamed: str) -> Callable[[Node], Meaning | None]:
    """Attributes taken over under their own or another name, others refused."""
    names = {key: key for key in keys} | renamed

    def translate(node: Node) -> Meaning | None:
        if not node.attrs.keys() <= names.keys():
            return None
        attrs: dict[str, AttrValue] = {}
        for key, value in node.attrs.items():
            attrs[names[key]] = _ints(value) if isinstance(value, list) else value
        return Meaning(name, node.inputs, attrs)

    return translate


def _axes(node: Node) -> tuple[int, ...]:
    constant = node.constant(1)
    return constant if constant is not None else _ints(node.attrs.get("axes", ()))


def _reduce(name: str) -> Callable[[Node], Meaning | None]:
    def translate(node: Node) -> Meaning:
        attrs: dict[str, AttrValue] = {
            "axes": _axes(node),
            "keepdims": bool(node.attrs.get("keepdims", 1)),
            "noop_with_empty_axes": bool(node.attrs.get("noop_with_empty_axes", 0)),
        }
        return Meaning(name, node.inputs[:1], attrs)

    return translate


def _softmax(name: str) -> Callable[[Node], Meaning | None]:
    def translate(node: Node) -> Meaning | None:
        if node.opset < 13:
            return None
        return Meaning(name, node.inputs, {"axis": node.attrs.get("axis", -1)})

    return translate


def resolved_pads(node: Node, sizes: Sequence[int], kernel: Sequence[int]) -> tuple[int, ...]:
    """The `pads` that `auto_pad` stands for."""
    rank = len(sizes)
    mode = node.attrs.get("auto_pad", "NOTSET")
    if mode in ("NOTSET", "VALID"):
        return _ints(node.attrs.get("pads", (0,) * (2 * rank)))
    strides = node.attrs.get("strides", (1,) * rank)
    dilations = node.attrs.get("dilations", (1,) * rank)
    begins, ends = [0] * rank, [0] * rank
    for index, size in enumerate(sizes):
        steps = -(-size // strides[index]) - 1
        span = (kernel[index] - 1) * dilations[index] + 1
        total = max(0, steps * strides[index] + span - size)
        small, large = total // 2, total - total // 2
        begins[index], ends[index] = (small, large) if mode == "SAME_UPPER" else (large, small)
    return (*begins, *ends)


def _window(node: Node, kernel: Sequence[int]) -> dict[str, AttrValue]:
    sizes = node.data().shape[2:]
    attrs: dict[str, AttrValue] = {"pads": resolved_pads(node, sizes, kernel)}
    for key in ("strides", "dilations"):
        if key in node.attrs:
            attrs[key] = _ints(node.attrs[key])
    return attrs


def _conv(node: Node) -> Meaning:
    kernel = cast(Array, node.inputs[1]).shape[2:]
    return Meaning(
        "conv", node.inputs, {**_window(node, kernel), "group": node.attrs.get("group", 1)}
    )


def _pool(name: str) -> Callable[[Node], Meaning | None]:
    def translate(node: Node) -> Meaning | None:
        if node.results > 1:
            return None
        kernel = _ints(node.attrs["kernel_shape"])
        attrs = _window(node, kernel)
        attrs["kernel_shape"] = kernel
        for key in ("ceil_mode", "count_include_pad"):
            if key in node.attrs:
                attrs[key] = bool(node.attrs[key])
        return Meaning(name, node.inputs, attrs)

    return translate


def _normalization(name: str) -> Callable[[Node], Meaning | None]:
    def translate(node: Node) -> Meaning:
        attrs = {key: node.attrs[key] for key in ("axis", "epsilon") if key in node.attrs}
        return Meaning(name, node.inputs, attrs)

    return translate


def _batch_normalization(node: Node) -> Meaning | None:
    if node.attrs.get("training_mode", 0):
        return None
    attrs: dict[str, AttrValue] = {"epsilon": node.attrs.get("epsilon", 1e-5)}
    return Meaning("batch_normalization", node.inputs, attrs)


def _attention(node: Node) -> Meaning | None:
    q, *rest = (array for array in node.inputs if array is not None)
    if (
        len(node.inputs) > 4
        or q.ndim != 4
        or node.results > 1
        or not node.attrs.keys() <= {"scale"}
    ):
        return None
    if rest[0].shape[1] != q.shape[1] or any(array.dtype != q.dtype for array in rest):
        return None
    scale = node.attrs.get("scale", q.shape[-1] ** -0.5)
    return Meaning("attention", node.inputs, {"scale": scale})


def _reshape(node: Node) -> Meaning:
    x, shape = node.data(), list(node.constant(1) or ())
    if not node.attrs.get("allowzero", 0):
        shape = [x.shape[index] if size == 0 else size for index, size in enumerate(shape)]
    return Meaning("reshape", [x], {"shape": x.reshape(shape).shape})


def _expand(node: Node) -> Meaning:
    return Meaning("expand", node.inputs[:1], {"shape": node.constant(1) or ()})


def _with_axes(name: str) -> Callable[[Node], Meaning | None]:
    return lambda node: Meaning(name, node.inputs[:1], {"axes": _axes(node)})


def _split(node: Node) -> Meaning:
    axis = node.attrs.get("axis", 0)
    sizes = node.constant(1) or _ints(node.attrs.get("split", ()))
    if not sizes:
        size, part = node.data().shape[axis], -(-node.data().shape[axis] // node.results)
        sizes = tuple(min(part, size - part * index) for index in range(node.results))
    return Meaning("split", node.inputs[:1], {"axis": axis, "sizes": sizes})


def _slice(node: Node) -> Meaning:
    attrs: dict[str, AttrValue] = {}
    for index, key in enumerate(("starts", "ends", "axes", "steps"), 1):
        constant = node.constant(index)
        if constant is not None:
            attrs[key] = constant
    return Meaning("slice", node.inputs[:1], attrs)


def _pad(node: Node) -> Meaning:
    x, pads = node.data(), node.constant(1) or ()
    axes = node.constant(3) or tuple(range(x.ndim))
    full = [0] * (2 * x.ndim)
    for index, axis in enumerate(axes):
        full[axis % x.ndim] = pads[index]
        full[x.ndim + axis % x.ndim] = pads[len(axes) + index]
    attrs: dict[str, AttrValue] = {"pads": tuple(full), "mode": node.attrs.get("mode", "constant")}
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        attrs["value"] = node.inputs[2].item()
    return Meaning("pad", [x], attrs)


def _dtype_name(code: int) -> str:
    return np.dtype(helper.tensor_dtype_to_np_dtype(code)).name


def _cast(node: Node) -> Meaning | None:
    if node.data().dtype.name not in DATA_TYPES or _dtype_name(node.attrs["to"]) not in DATA_TYPES:
        return None
    return Meaning("cast", node.inputs, {"to": _dtype_name(node.attrs["to"])})


def _eye_like(node: Node) -> Meaning:
    attrs: dict[str, AttrValue] = {"k": node.attrs.get("k", 0)}
    if "dtype" in node.attrs:
        attrs["to"] = _dtype_name(node.attrs["dtype"])
    return Meaning("eye_like", node.inputs, attrs)


def _constant_of_shape(node: Node) -> Meaning:
    attrs: dict[str, AttrValue] = {"shape": node.constant(0) or ()}
    if "value" in node.attrs:
        value = numpy_helper.to_array(node.attrs["value"])
        attrs |= {"value": value.item(), "to": value.dtype.name}
    return Meaning("constant_of_shape", [], attrs)


def _mod(node: Node) -> Meaning:
    return Meaning("mod", node.inputs, {"fmod": bool(node.attrs.get("fmod", 0))})


def _scan(name: str) -> Callable[[Node], Meaning | None]:
    def translate(node: Node) -> Meaning:
        attrs: dict[str, AttrValue] = {k: bool(node.attrs.get(k)) for k in ("exclusive", "reverse")}
        axis = cast(Array, node.inputs[1]).item()
        return Meaning(name, node.inputs[:1], {"axis": axis, **attrs})

    return translate


def _bit_cast(node: Node) -> Meaning | None:
    if _dtype_name(node.attrs["to"]) not in DATA_TYPES or node.data().dtype.name not in DATA_TYPES:
        return None
    return Meaning("bit_cast", node.inputs, {"to": _dtype_name(node.attrs["to"])})


def _grid_sample(node: Node) -> Meaning:
    mode = str(node.attrs.get("mode", "linear"))
    attrs: dict[str, AttrValue] = {
        "mode": {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode),
        "padding_mode": node.attrs.get("padding_mode", "zeros"),
        "align_corners": bool(node.attrs.get("align_corners", 0)),
    }
    return Meaning("grid_sample", node.inputs, attrs)


_SAME = (
    "Add Sub Mul Div Pow Max Min And Or Xor Not Equal Greater Less Where Relu Clip Neg Abs Exp Log "
    "Sqrt Reciprocal Tanh Sigmoid Erf Identity Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh "
    "Atanh Floor Ceil Round Sign Det"
)

NODES: dict[str, Callable[[Node], Meaning | None]] = {
    **{op: _same(op.lower()) for op in _SAME.split()},
    "MatMul": _same("matmul"),
    "GreaterOrEqual": _same("greater_or_equal"),
    "LessOrEqual": _same("less_or_equal"),
    "LeakyRelu": _renamed("leaky_relu", "alpha"),
    "Gelu": _renamed("gelu", "approximate"),
    "Cast": _cast,
    **{
        f"Reduce{key}": _reduce(f"reduce_{key.lower()}")
        for key in ("Sum", "Mean", "Max", "Min", "Prod")
    },
    "ReduceSumSquare": _reduce("reduce_sum_square"),
    "Softmax": _softmax("softmax"),
    "LogSoftmax": _softmax("log_softmax"),
    "LayerNormalization": _normalization("layer_normalization"),
    "RMSNormalization": _normalization("rms_normalization"),
    "BatchNormalization": _batch_normalization,
    "Gemm": _renamed("gemm", "alpha", "beta", transA="trans_a", transB="trans_b"),
    "Attention": _attention,
    "Conv": _conv,
    "MaxPool": _pool("max_pool"),
    "AveragePool": _pool("average_pool"),
    "GlobalAveragePool": _same("global_average_pool"),
    "Transpose": _renamed("transpose", "perm"),
    "Reshape": _reshape,
    "Expand": _expand,
    "Squeeze": _with_axes("squeeze"),
    "Unsqueeze": _with_axes("unsqueeze"),
    "Flatten": _renamed("flatten", "axis"),
    "Concat": _renamed("concat", "axis"),
    "Split": _split,
    "Slice": _slice,
    "Pad": _pad,
    "Gather": _renamed("gather", "axis"),
    "GatherElements": _renamed("gather_elements", "axis"),
    "Mod": _mod,
    **{f"Bitwise{key}": _same(f"bitwise_{key.lower()}") for key in ("And", "Or", "Xor", "Not")},
    "BitShift": _renamed("bit_shift", "direction"),
    "BitCast": _bit_cast,
    "CumSum": _scan("cum_sum"),
    "CumProd": _scan("cum_prod"),
    "GatherND": _renamed("gather_nd", "batch_dims"),
    "ScatterElements": _renamed("scatter_elements", "axis", "reduction"),
    "ScatterND": _renamed("scatter_nd", "reduction"),
    "ReverseSequence": _renamed("reverse_sequence", "batch_axis", "time_axis"),
    "GridSample": _grid_sample,
    "EyeLike": _eye_like,
    "ConstantOfShape": _constant_of_shape,
}
"""ONNX operator -> its translation, which answers None for a form that we do not have."""


def translate(node: Node) -> Meaning | None:
    """`node` as a call of `evaluate`; None for an operator or a form that has no entry."""
    rule = NODES.get(node.op)
    return None if rule is None else rule(node)


def attributes(node: onnx.NodeProto) -> dict[str, Any]:
    """The node's attributes as Python values, texts decoded."""
    attrs: dict[str, Any] = {}
    for attribute in node.attribute:
        value = helper.get_attribute_value(attribute)
        attrs[attribute.name] = value.decode() if isinstance(value, bytes) else value
    return attrs


def _node(proto: onnx.NodeProto, opset: int, values: Sequence[Array]) -> Node:
    given = iter(values)
    inputs = tuple(next(given) if name else None for name in proto.input)
    return Node(proto.op_type, opset, inputs, attributes(proto), len(proto.output))


@cache
def node_cases() -> list[Case]:
    """ONNX's own operator cases that are one node on tensors of our element types."""
    from onnx.backend.test.case.node import collect_testcases

    with catch_warnings():
        simplefilter("ignore")
        collected = collect_testcases(None)
    return list(_single_nodes(collected))


def _single_nodes(collected: Sequence[Any]) -> Iterator[Case]:
    for case in collected:
        protos = case.model.graph.node
        if len(protos) != 1 or protos[0].op_type not in NODES:
            continue
        for data in case.data_sets or ():
            values, expected = (_arrays(part) for part in data)
            if values is None or expected is None:
                continue
            node = _node(protos[0], case.model.opset_import[0].version, values)
            yield Case(case.name, node, expected)


def _arrays(values: Sequence[Any]) -> list[Array] | None:
    """The values as arrays; None if one is not a tensor of an element type that we have."""
    arrays: list[Array] = []
    for value in values:
        array = numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value
        if getattr(array, "dtype", np.dtype(object)).name not in DATA_TYPES:
            return None
        arrays.append(np.asarray(array))
    return arrays
