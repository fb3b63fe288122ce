"""Random regions around one contraction, as text of a kernel: matmuls and convolutions with tails,
padding, transposed operands and epilogues for the cube core or for both cores."""

from __future__ import annotations

import random

from vector_regions import Shape, tensor

CUBE = ("", "bias", "residual", "bias relu", "bias residual relu")
MIXED = ("gelu", "bias gelu", "bias tanh residual", "scale softmax", "sigmoid residual", "relu exp")


class _Text:
    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.arguments: list[str] = []
        self.lines: list[str] = []

    def argument(self, shape: Shape) -> tuple[str, str]:
        name, type_ = f"%a{len(self.arguments)}", tensor(shape, self.dtype)
        self.arguments.append(f"{name}: {type_}")
        return name, type_

    def op(self, name: str, operands: list[tuple[str, str]], shape: Shape, attrs: str = "") -> str:
        result, type_ = f"%{len(self.lines)}", tensor(shape, self.dtype)
        values = ", ".join(value for value, _ in operands)
        types = ", ".join(t for _, t in operands)
        types = f"({types})" if len(operands) > 1 else types
        self.lines.append(f"  {result} = graph.{name} {values} {attrs} : {types} -> {type_}")
        return result


def random_contraction(seed: int) -> str:
    """A matmul or a convolution, channels last, and an epilogue; even seeds are for both cores."""
    rng = random.Random(seed)
    text = _Text(rng.choice(["f32", "f32", "f16"]))
    value, shape = _matmul(text, rng) if rng.random() < 0.5 else _conv(text, rng)
    for step in rng.choice(MIXED if seed % 2 == 0 else CUBE).split():
        value = _step(text, step, value, shape)
    result = tensor(shape, text.dtype)
    body = "\n".join(text.lines)
    arguments = ", ".join(text.arguments)
    return (
        f'graph.kernel @k "k"({arguments}) -> {result} {{\n{body}\n'
        f"  graph.yield {value} : {result}\n}}\n"
    )


def _matmul(text: _Text, rng: random.Random) -> tuple[str, Shape]:
    batch: Shape = rng.choice([(), (), (3,), (2, 2)])
    m, k, n = rng.choice([1, 7, 50, 130]), rng.choice([5, 64, 300]), rng.choice([9, 80, 333])
    left = text.argument((*batch, m, k))
    right: Shape = rng.choice([batch, (), (), ()])
    if rng.random() < 0.3:
        stored = text.argument((*right, n, k))
        rank = len(right)
        perm = [*range(rank), rank + 1, rank]
        turned = text.op("transpose", [stored], (*right, k, n), f"{{perm = {perm}}}")
        operand = (turned, tensor((*right, k, n), text.dtype))
    else:
        operand = text.argument((*right, k, n))
    return text.op("matmul", [left, operand], (*batch, m, n)), (*batch, m, n)


def _conv(text: _Text, rng: random.Random) -> tuple[str, Shape]:
    size, stride = rng.choice([1, 3]), rng.choice([1, 1, 2])
    pad = rng.choice([0, 1]) if size == 3 else 0
    h, w = rng.choice([7, 14]), rng.choice([6, 14, 31])
    c, o = rng.choice([3, 20, 72]), rng.choice([8, 33, 96])
    out = tuple((n + 2 * pad - size) // stride + 1 for n in (h, w))
    x, weight = text.argument((1, h, w, c)), text.argument((size, size, c, o))
    attrs = (
        f"{{strides = [{stride}, {stride}], pads = [{pad}, {pad}, {pad}, {pad}], "
        'dilations = [1, 1], group = 1, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"}'
    )
    shape: Shape = (1, *out, o)
    return text.op("conv", [x, weight], shape, attrs), shape


def _step(text: _Text, step: str, value: str, shape: Shape) -> str:
    this = (value, tensor(shape, text.dtype))
    if step == "bias":
        return text.op("add", [this, text.argument(shape[-1:])], shape)
    if step == "residual":
        return text.op("add", [this, text.argument(shape)], shape)
    if step == "scale":
        return text.op("mul", [this, text.argument((1,))], shape)
    return text.op(step, [this], shape)
