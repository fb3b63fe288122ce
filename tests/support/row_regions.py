"""Kernels of the family `rows` as text: what computes the operand, products of it, what follows.

Named ones, and random ones by seed: odd sizes, several products, several outputs, channels last.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from vector_regions import Shape, tensor

CONV = (
    '{x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC", strides = [1, 1], '
    "pads = [0, 0, 0, 0], dilations = [1, 1]}"
)
BEFORE = ("", "norm", "residual norm", "gelu", "scale", "softmax", "cast norm", "rms")
AFTER = ("", "bias", "bias relu", "gelu", "residual norm", "residual", "softmax", "rms", "halves")


class Rows:
    """The text of a kernel under construction."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.arguments: list[str] = []
        self.lines: list[str] = []
        self.types: dict[str, str] = {}
        self.shapes: dict[str, Shape] = {}

    def argument(self, shape: Shape, dtype: str = "") -> str:
        name, type_ = f"%a{len(self.arguments)}", tensor(shape, dtype or self.dtype)
        self.arguments.append(f"{name}: {type_}")
        self.types[name], self.shapes[name] = type_, shape
        return name

    def op(self, name: str, values: Sequence[str], shape: Shape, attrs: str = "") -> str:
        result, type_ = f"%{len(self.lines)}", tensor(shape, self.dtype)
        types = ", ".join(self.types[value] for value in values)
        types = f"({types})" if len(values) > 1 else types
        operands = ", ".join(values)
        self.lines.append(f"  {result} = graph.{name} {operands} {attrs} : {types} -> {type_}")
        self.types[result], self.shapes[result] = type_, shape
        return result

    def slice(self, value: str, start: int, end: int) -> str:
        """A part of the last axis."""
        *outer, _ = shape = self.shapes[value]
        attrs = f"{{starts = [{start}], ends = [{end}], axes = [{len(shape) - 1}], steps = [1]}}"
        return self.op("slice", [value], (*outer, end - start), attrs)

    def step(self, kind: str, value: str) -> str:
        """One step of a prologue or an epilogue."""
        shape = self.shapes[value]
        last = (shape[-1],)
        match kind:
            case "norm":
                values = [value, self.argument(last), self.argument(last)]
                return self.op("layer_normalization", values, shape, "{epsilon = 1.0e-05}")
            case "rms":
                square = self.op("mul", [value, value], shape)
                axes = f"{{axes = [{len(shape) - 1}]}}"
                mean = self.op("reduce_mean", [square], (*shape[:-1], 1), axes)
                root = self.op("sqrt", [mean], (*shape[:-1], 1))
                return self.op("div", [value, root], shape)
            case "bias":
                return self.op("add", [value, self.argument(last)], shape)
            case "residual":
                return self.op("add", [self.argument(shape), value], shape)
            case "scale":
                ones = (*(1 for _ in shape[1:-1]), shape[-1])
                return self.op("mul", [value, self.argument((shape[0], *ones))], shape)
            case "halves":
                half = shape[-1] // 2
                a, b = self.slice(value, 0, half), self.slice(value, half, 2 * half)
                return self.op("mul", [self.op("sigmoid", [a], self.shapes[a]), b], self.shapes[a])
            case "mean":
                pooled = (shape[0], *(1 for _ in shape[1:-1]), shape[-1])
                return self.op("global_average_pool", [value], pooled, '{layout = "NHWC"}')
            case "cast":
                return self.op("cast", [value], shape, f"{{to = {self.dtype}}}")
            case _:
                return self.op(kind, [value], shape)

    def product(self, value: str, n: int) -> str:
        """The value times a weight: a 1x1 convolution of images, else a matmul."""
        *outer, k = self.shapes[value]
        if len(outer) == 3:
            return self.op("conv", [value, self.argument((1, 1, k, n))], (*outer, n), CONV)
        return self.op("matmul", [value, self.argument((k, n))], (*outer, n))

    def finish(self, *outputs: str) -> str:
        types = ", ".join(self.types[value] for value in outputs)
        body, values = "\n".join(self.lines), ", ".join(outputs)
        arguments = ", ".join(self.arguments)
        return (
            f'graph.kernel @k "k"({arguments}) -> {types} {{\n{body}\n'
            f"  graph.yield {values} : {types}\n}}\n"
        )


def rows_kernel(
    shape: Shape,
    widths: Sequence[int],
    dtype: str = "f32",
    *,
    before: str = "",
    after: Sequence[str] = ("",),
    keep: bool = False,
    again: bool = False,
) -> str:
    """`before` computes the operand of this shape, `after` says what follows each product. `keep`:
    the operand, and the first step behind each product, are results as well; `again`: the operand
    is added to the last product."""
    text = Rows(dtype)
    value = text.argument(shape, "i8" if before.startswith("cast") else dtype)
    for step in before.split():
        value = text.step(step, value)
    outputs = [value] if keep and before else []
    for width, steps in zip(widths, after, strict=True):
        found = text.product(value, width)
        for number, step in enumerate(steps.split()):
            found = text.step(step, found)
            if keep and number == 0 and len(steps.split()) > 1:
                outputs.append(found)
        outputs.append(found)
    if again:
        outputs[-1] = text.op("add", [outputs[-1], value], text.shapes[value])
    return text.finish(*outputs)


def gate(shape: Shape, width: int, dtype: str = "f32", before: str = "") -> str:
    """silu(x W) * (x V): two products that one vector program reads."""
    text = Rows(dtype)
    value = text.argument(shape)
    for step in before.split():
        value = text.step(step, value)
    a, b = text.product(value, width), text.product(value, width)
    return text.finish(text.op("mul", [text.step("swish", a), b], text.shapes[a]))


def rotary(rows: int, heads: int, size: int, k: int, dtype: str = "f32") -> str:
    """A product seen as heads, each turned in its halves, stored head by head."""
    text = Rows(dtype)
    value = text.product(text.argument((1, rows, k)), heads * size)
    value = text.op("reshape", [value], (1, rows, heads, size))
    value = text.op("transpose", [value], (1, heads, rows, size), "{perm = [0, 2, 1, 3]}")
    half = (1, heads, rows, size // 2)
    a, b = text.slice(value, 0, size // 2), text.slice(value, size // 2, size)
    cos, sin = (text.argument((1, 1, rows, size // 2)) for _ in range(2))
    left = text.op("sub", [text.op("mul", [a, cos], half), text.op("mul", [b, sin], half)], half)
    right = text.op("add", [text.op("mul", [b, cos], half), text.op("mul", [a, sin], half)], half)
    return text.finish(left, right)


NAMED = {
    "norm_product": rows_kernel((128, 768), [768], before="norm"),
    "norm_product_f16": rows_kernel((33, 50), [70], "f16", before="norm", after=["bias relu"]),
    "one_row": rows_kernel((1, 3000), [600], before="norm", after=["gelu"]),
    "gelu_product": rows_kernel((100, 300), [500], before="gelu", after=["bias relu"]),
    "product_norm": rows_kernel((96, 256), [768], after=["residual norm"], keep=True),
    "product_rms_f16": rows_kernel((17, 40), [555], "f16", after=["residual rms"], keep=True),
    "norm_product_norm": rows_kernel(
        (2, 48, 96), [600], before="residual norm", after=["residual norm"], keep=True
    ),
    "dequantised": rows_kernel((64, 128), [256], before="cast scale"),
    "squeeze_excite": rows_kernel((2, 7, 7, 40), [30], before="scale"),
    "squeeze_excite_norm": rows_kernel((1, 14, 14, 96), [600], before="scale", after=["norm"]),
    "images_mean": rows_kernel((2, 7, 7, 64), [96], after=["relu mean"], keep=True),
    "one_image_mean": rows_kernel(
        (1, 4, 4, 32), [64], "bf16", before="scale", after=["relu mean"], keep=True
    ),
    "halves": rows_kernel((1, 128, 64), [344], after=["halves"]),
    "bias_norm": rows_kernel((40, 96), [600], "f16", after=["bias residual norm"]),
    "bias_halves": rows_kernel(
        (1, 40, 96), [80, 60], before="norm", after=["bias halves", "bias gelu"]
    ),
    "gate": gate((50, 64), 200, "f16"),
    "gate_of_norm": gate((1, 64, 96), 400, before="norm"),
    "gate_of_images": gate((3, 7, 7, 24), 40),
    "three_products": rows_kernel(
        (1, 64, 128), [320, 160, 96], before="norm", after=["", "bias", "tanh"]
    ),
    "rotary": rotary(37, 4, 32, 40),
    "operand_added": rows_kernel((40, 96), [96], before="norm", again=True),
    "several_waves": rows_kernel((1700, 64), [80], before="norm", after=["gelu"]),
}


def random_rows(seed: int) -> str:
    """A kernel that has a prologue, several products, or an epilogue on whole rows."""
    rng = random.Random(seed)
    dtype = rng.choice(["f32", "f32", "f16"])
    rows = rng.choice([(1,), (5,), (40,), (67,), (2, 24), (3, 17), (1, 7, 7), (2, 5, 6)])
    shape = (*rows, rng.choice([8, 33, 96, 200]))
    before = rng.choice(BEFORE)
    count = rng.choice([1, 1, 1, 2, 3])
    images = ("relu mean", "mean") if len(rows) == 3 else ()
    after = [rng.choice((*AFTER, *images)) for _ in range(count)]
    if not before:
        after[0] = rng.choice(["residual norm", "rms", "halves", "softmax"])
    if "softmax" in after:  # it makes absolute errors of f16 products relative ones
        dtype = "f32"
    widths = [2 * rng.choice([4, 15, 50, 130, 300]) for _ in range(count)]
    return rows_kernel(shape, widths, dtype, before=before, after=after, keep=rng.random() < 0.4)
