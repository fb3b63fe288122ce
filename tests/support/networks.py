"""Small random ONNX networks for tests, as bytes of a model file; weights are drawn from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import NodeProto, helper, numpy_helper

from fusec.semantics.dtypes import Array


@dataclass
class Net:
    """A network under construction; values go by name, floating ones have the type `dtype`."""

    seed: int = 0
    dtype: str = "float32"
    nodes: list[NodeProto] = field(default_factory=list[NodeProto])
    weights: dict[str, Array] = field(default_factory=dict[str, Array])
    inputs: list[Any] = field(default_factory=list[Any])

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def input(self, name: str, shape: Sequence[int | str], dtype: str = "") -> str:
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype or self.dtype))
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def weight(self, shape: Sequence[int], fan_in: int = 0, low: float = 0.0) -> str:
        """A matrix of fan-in, a vector, or (with `low`) positive numbers around one."""
        if low:
            values = self.rng.uniform(low, low + 1, shape)
        else:
            values = self.rng.standard_normal(shape) * (fan_in**-0.5 if fan_in else 0.1)
        return self.constant(values.astype(self.dtype))

    def constant(self, values: Array) -> str:
        name = f"w{len(self.weights)}"
        self.weights[name] = values
        return name

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def op(self, kind: str, inputs: Sequence[str], **attrs: Any) -> str:
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=f"node_{name}", **attrs))
        return name

    def model(self, outputs: dict[str, Sequence[int | str]], opset: int = 20) -> bytes:
        """The model's bytes; an output takes the shape that is given."""
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        graph = helper.make_graph(
            self.nodes,
            "net",
            self.inputs,
            [helper.make_tensor_value_info(name, kind, shape) for name, shape in outputs.items()],
            [numpy_helper.from_array(array, name) for name, array in self.weights.items()],
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10
        )
        return model.SerializeToString()


def perceptron(seed: int = 0, dtype: str = "float32", *, rows: int = 20, wide: int = 48) -> bytes:
    """x [rows, 32] -> relu(x W + b) -> y [rows, wide]."""
    net = Net(seed, dtype)
    x = net.input("x", [rows, 32])
    y = net.op("MatMul", [x, net.weight([32, wide], 32)])
    y = net.op("Relu", [net.op("Add", [y, net.weight([wide])])])
    return net.model({y: [rows, wide]})


def chain(length: int, kinds: Sequence[str] = ("Relu", "Exp", "Neg", "Sigmoid")) -> bytes:
    """`length` elementwise operators one behind the other."""
    net = Net()
    y = net.input("x", [8, 40])
    for i in range(length):
        y = net.op(kinds[i % len(kinds)], [y])
    return net.model({y: [8, 40]})


def dynamic_batch(dtype: str = "float32") -> bytes:
    """x [N, 32] -> relu(x W) -> y [N, 48], N not known."""
    net = Net(0, dtype)
    x = net.input("x", ["N", 32])
    y = net.op("Relu", [net.op("MatMul", [x, net.weight([32, 48], 32)])])
    return net.model({y: ["N", 48]})


def embedding(rows: int = 11) -> bytes:
    """ids [2, 7] i64 -> table[ids] W -> y [2, 7, 24]; the table has `rows` rows."""
    net = Net()
    ids = net.input("ids", [2, 7], "int64")
    y = net.op("Gather", [net.weight([rows, 16]), ids], axis=0)
    y = net.op("MatMul", [y, net.weight([16, 24], 16)])
    return net.model({y: [2, 7, 24]})


def conv_net(seed: int, dtype: str = "float32") -> bytes:
    """A residual network: stem, max pool, blocks of conv, batch norm, relu, a classifier."""
    net = Net(seed, dtype)
    rng = net.rng
    size, channels = int(rng.integers(13, 30)), int(rng.choice([8, 16, 24]))
    y = net.input("image", [1, 3, size, size])
    y = _conv(net, y, 3, channels, 7 if seed % 2 else 3, 2)
    y = net.op("Relu", [y])
    if seed % 3:
        y = net.op("MaxPool", [y], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for _ in range(int(rng.integers(1, 3))):
        stride, wide = int(rng.integers(1, 3)), int(rng.choice([16, 32]))
        z = net.op("Relu", [_conv(net, y, channels, wide, 1, 1)])
        z = net.op("Relu", [_conv(net, z, wide, wide, 3, stride)])
        z = _conv(net, z, wide, 2 * channels, 1, 1)
        y = _conv(net, y, channels, 2 * channels, 1, stride)
        channels *= 2
        y = net.op("Relu", [net.op("Add", [z, y] if seed % 2 else [y, z])])
    y = net.op("GlobalAveragePool", [y])
    y = net.op("Flatten", [y])
    y = net.op("Gemm", [y, net.weight([10, channels], channels), net.weight([10])], transB=1)
    y = net.op("Softmax", [y])
    return net.model({y: [1, 10]})


def _conv(net: Net, x: str, channels: int, out: int, kernel: int, stride: int) -> str:
    """A convolution and its batch norm."""
    weight = net.weight([out, channels, kernel, kernel], channels * kernel * kernel)
    pads, strides = [kernel // 2] * 4, [stride, stride]
    y = net.op("Conv", [x, weight], kernel_shape=[kernel] * 2, pads=pads, strides=strides)
    scales = [net.weight([out], low=0.5), net.weight([out])]
    return net.op("BatchNormalization", [y, *scales, net.weight([out]), net.weight([out], low=0.5)])


def transformer_block(seed: int, dtype: str = "float32") -> bytes:
    """Attention with a mask, GELU in the feed-forward part, layer norms after the residuals."""
    net = Net(seed, dtype)
    rng = net.rng
    batch, tokens = int(rng.integers(1, 3)), int(rng.choice([12, 16, 33]))
    heads, depth = int(rng.choice([2, 3])), int(rng.choice([8, 16]))
    wide = heads * depth
    x = net.input("x", [batch, tokens, wide])
    mask = net.input("mask", [batch, 1, 1, tokens])
    q, k, v = (
        net.op("Reshape", [_linear(net, x, wide, wide), net.ints(batch, tokens, heads, depth)])
        for _ in range(3)
    )
    q, v = (net.op("Transpose", [t], perm=[0, 2, 1, 3]) for t in (q, v))
    k = net.op("Transpose", [k], perm=[0, 2, 3, 1])
    scores = net.op("MatMul", [q, k])
    scores = net.op("Mul", [scores, net.constant(np.array(depth**-0.5, dtype))])
    scores = net.op("Softmax", [net.op("Add", [scores, mask])], axis=-1)
    y = net.op("Transpose", [net.op("MatMul", [scores, v])], perm=[0, 2, 1, 3])
    y = net.op("Reshape", [y, net.ints(batch, tokens, wide)])
    y = _norm(net, net.op("Add", [_linear(net, y, wide, wide), x]), wide)
    z = _linear(net, y, wide, 4 * wide)
    z = _gelu(net, z) if seed % 2 else net.op("Gelu", [z])
    z = net.op("Add", [_linear(net, z, 4 * wide, wide), y])
    return net.model({_norm(net, z, wide): [batch, tokens, wide]})


def _linear(net: Net, x: str, wide: int, out: int) -> str:
    return net.op("Add", [net.op("MatMul", [x, net.weight([wide, out], wide)]), net.weight([out])])


def _norm(net: Net, x: str, wide: int) -> str:
    scale, bias = net.weight([wide], low=0.5), net.weight([wide])
    return net.op("LayerNormalization", [x, scale, bias], axis=-1, epsilon=1e-5)


def _gelu(net: Net, x: str) -> str:
    """As exporters write it: 0.5 x (1 + erf(x / sqrt 2))."""
    root, one, half = (net.constant(np.array(v, net.dtype)) for v in (2**0.5, 1.0, 0.5))
    y = net.op("Add", [net.op("Erf", [net.op("Div", [x, root])]), one])
    return net.op("Mul", [net.op("Mul", [x, y]), half])


def mixed_chain(count: int) -> bytes:
    """About `count` operators in a row that many named patterns fit: products with bias,
    activation and residual, norms, softmax.
    """
    net = Net()
    value = net.input("x", (16, 32))
    w, bias, scale = net.weight((32, 32), 32), net.weight((32,)), net.weight((32,), low=0.5)
    activations = ("Relu", "Sigmoid", "Tanh", "Softplus")
    while len(net.nodes) < count:
        kept = value
        value = net.op("Add", [net.op("MatMul", [value, w]), bias])
        value = net.op(activations[len(net.nodes) % len(activations)], [value])
        value = net.op("Add", [value, kept])
        value = net.op("LayerNormalization", [value, scale, bias], axis=-1)
        value = net.op("Softmax", [net.op("Add", [value, kept])], axis=-1)
    return net.model({value: (16, 32)})
