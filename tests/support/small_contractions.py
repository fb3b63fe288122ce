"""Kernels of contractions with few rows, as text: squeeze and excitation, products, chains."""

from __future__ import annotations

from itertools import pairwise

from vector_regions import Shape, tensor

CONV = "strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 1"


def squeeze_excite(
    channels: int,
    hidden: int,
    side: int,
    *,
    batch: int = 1,
    dtype: str = "f32",
    filters: str = "OIHW",
    pooled: bool = False,
) -> str:
    """map * sigmoid(w2 relu(w1 p + b1) + b2), p given or (`pooled`) the mean of the map."""
    image, pixel = (batch, side, side, channels), (batch, 1, 1, channels)
    inner = (batch, 1, 1, hidden)
    first = (hidden, channels, 1, 1) if filters == "OIHW" else (1, 1, channels, hidden)
    second = (1, 1, hidden, channels)
    t = {
        name: tensor(shape, dtype)
        for name, shape in {
            "m": image,
            "p": pixel,
            "h": inner,
            "w1": first,
            "w2": second,
            "b1": (hidden,),
            "b2": (channels,),
        }.items()
    }
    lines: list[str] = []
    names = ["m", "w1", "b1", "w2", "b2"] if pooled else ["m", "p", "w1", "b1", "w2", "b2"]
    if pooled:
        lines.append(
            f'%p = graph.global_average_pool %m {{layout = "NHWC"}} : {t["m"]} -> {t["p"]}'
        )

    def conv(result: str, x: str, n: str, layout: str, to: str) -> str:
        layouts = f'x_layout = "NHWC", w_layout = "{layout}", y_layout = "NHWC"'
        types = f"({t[x if x != 'r' else 'h']}, {t[f'w{n}']}, {t[f'b{n}']}) -> {t[to]}"
        return f"%{result} = graph.conv %{x}, %w{n}, %b{n} {{{CONV}, {layouts}}} : {types}"

    lines += [
        conv("h", "p", "1", filters, "h"),
        f"%r = graph.relu %h : {t['h']} -> {t['h']}",
        conv("e", "r", "2", "HWIO", "p"),
        f"%s = graph.sigmoid %e : {t['p']} -> {t['p']}",
        f"%y = graph.mul %m, %s : ({t['m']}, {t['p']}) -> {t['m']}",
        f"graph.yield %y : {t['m']}",
    ]
    arguments = ", ".join(f"%{name}: {t[name]}" for name in names)
    body = "\n  ".join(lines)
    return f'graph.kernel @k "se"({arguments}) -> {t["m"]} {{\n  {body}\n}}\n'


def product(left: Shape, right: Shape, result: Shape, dtype: str = "f32") -> str:
    """gelu(left right)."""
    a, b, y = (tensor(shape, dtype) for shape in (left, right, result))
    return (
        f'graph.kernel @k "k"(%a: {a}, %b: {b}) -> {y} {{\n'
        f"  %0 = graph.matmul %a, %b : ({a}, {b}) -> {y}\n"
        f"  %1 = graph.gelu %0 : {y} -> {y}\n  graph.yield %1 : {y}\n}}\n"
    )


def perceptron(sizes: tuple[int, ...], rows: int, dtype: str = "f32", turned: bool = False) -> str:
    """Gemms with bias one behind the other, relu between them; `turned`: weights are [N][K]."""
    x = tensor((rows, sizes[0]), dtype)
    arguments, lines, value = [f"%x: {x}"], list[str](), "%x"
    for i, (k, n) in enumerate(pairwise(sizes)):
        w, b = tensor((n, k) if turned else (k, n), dtype), tensor((n,), dtype)
        y = tensor((rows, n), dtype)
        arguments += [f"%w{i}: {w}", f"%b{i}: {b}"]
        attrs = f"{{alpha = 0.5, trans_b = {str(turned).lower()}}}"
        lines.append(f"%g{i} = graph.gemm {value}, %w{i}, %b{i} {attrs} : ({x}, {w}, {b}) -> {y}")
        lines.append(f"%v{i} = graph.relu %g{i} : {y} -> {y}")
        value, x = f"%v{i}", y
    body = "\n  ".join([*lines, f"graph.yield {value} : {x}"])
    return f'graph.kernel @k "k"({", ".join(arguments)}) -> {x} {{\n  {body}\n}}\n'
