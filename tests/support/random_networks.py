"""Random networks of every kind of operator, up to 60 of them, for tests of whole plans.

The `Random` decides everything, so that hypothesis can draw (and shrink) one. Values have several
users, are used and outputs at once, or not used at all; sizes are odd; operands broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np

from fusec.semantics.dtypes import Array
from network_writer import MOST, SIZES, Network, Shape, Value, broadcast

Step = Callable[[Network], object]

FLOATS = ("f32", "f16")
UNARY = [
    *("relu", "tanh", "abs", "neg", "sigmoid", "identity", "gelu", "erf", "softplus", "mish"),
    *("swish", "hard_swish", "hard_sigmoid", "leaky_relu", "sin", "cos"),
]


def _unary(net: Network) -> None:
    if (x := net.pick(*FLOATS)) is None:
        return
    name = net.rng.choice([*UNARY, "exp", "sqrt", "reciprocal", "clip", "log"])
    if name == "clip":
        low, high = net.rng.choice([(0, 6), (-1, 1), (-0.5, 0.5), (0, 1)])
        net.op("clip", [x], x.shape, f"min = {float(low)}, max = {float(high)}", bound=float(high))
    elif name == "exp":
        x = x if x.bound <= 4 else net.op("tanh", [x], x.shape, bound=1.0)
        net.op("exp", [x], x.shape, bound=float(np.exp(x.bound)))
    elif name in ("sqrt", "reciprocal", "log"):
        x = net.op("abs", [x], x.shape)
        one = net.number(1.0, x.element)
        x = net.op("add", [x, one], x.shape, bound=x.bound + 1)
        net.op(name, [x], x.shape, bound=max(1.0, x.bound**0.5))
    else:
        net.op(name, [x], x.shape)


def _binary(net: Network) -> None:
    if (x := net.pick("f32", "f32", "f16", "i32")) is None:
        return
    rng = net.rng
    kind = rng.choice(["value", "value", "itself", "row", "channel", "number"])
    if kind == "value":
        fits = [
            v
            for v in net.values
            if v.element == x.element and broadcast(v.shape, x.shape) is not None
        ]
        y = rng.choice(fits)
    elif kind == "row" and x.shape and x.element != "i32":
        y = net.weight(x.shape[-1:], x.element)
    elif kind == "channel" and len(x.shape) > 2 and x.element != "i32":
        y = net.weight((x.shape[1], *[1] * (len(x.shape) - 2)), x.element)
    elif kind == "number":
        y = net.number(rng.choice([2.0, -1.0, 3.0]), x.element)
    else:
        y = x
    shape = broadcast(x.shape, y.shape)
    if shape is None:
        return
    name = rng.choice(["add", "add", "mul", "sub", "max", "min"])
    bound = x.bound * y.bound if name == "mul" else x.bound + y.bound
    if x.element == "i32" and bound > 1e6:
        return
    given = x.given and y.given and x.element == "i32"
    operands = [x, y] if rng.random() < 0.5 else [y, x]
    net.op(name, operands, shape, bound=bound, given=given)


def _compare(net: Network) -> None:
    """Of what has no rounding in it: a tie that rounding decides has no right answer."""
    fits = [v for v in net.values if v.given and v.element != "i1"]
    if not fits:
        return
    x = net.rng.choice(fits)
    y = net.number(net.rng.choice([0.0, 1.0]), x.element)
    name = net.rng.choice(["greater", "less", "equal", "greater_or_equal", "less_or_equal"])
    net.op(name, [x, y], x.shape, element="i1", bound=1.0, given=True)


def _logic(net: Network) -> None:
    x = net.pick("i1")
    if x is None:
        return
    same = [v for v in net.values if v.element == "i1" and v.shape == x.shape]
    match net.rng.choice(["not", "and", "or", "xor", "cast"]):
        case "not":
            net.op("not", [x], x.shape, given=True)
        case "cast":
            to = net.rng.choice(["f32", "i32", "f16"])
            net.op("cast", [x], x.shape, f"to = {to}", element=to, bound=1.0, given=True)
        case name:
            net.op(name, [x, net.rng.choice(same)], x.shape, given=True)


def _where(net: Network) -> None:
    c, x = net.pick("i1"), net.pick(*FLOATS)
    if c is None or x is None:
        return
    shape = broadcast(c.shape, x.shape)
    if shape is None:
        return
    same = [v for v in net.values if v.element == x.element and v.shape == x.shape]
    y = net.rng.choice([net.number(0.0, x.element), net.rng.choice(same)])
    net.op("where", [c, x, y], shape, element=x.element, bound=max(x.bound, y.bound))


def _cast(net: Network) -> None:
    x = net.pick("f32", "f16", "i32")
    if x is None or x.bound > 1000:
        return
    to = {"f32": "f16", "f16": "f32", "i32": "f32"}[x.element]
    net.op("cast", [x], x.shape, f"to = {to}", element=to)


def _reduce(net: Network) -> None:
    x = net.pick(*FLOATS, rank=1)
    if x is None:
        return
    rank = len(x.shape)
    axes = sorted(net.rng.sample(range(rank), net.rng.randint(1, min(rank, 2))))
    keep = net.rng.random() < 0.6
    shape = tuple(1 if i in axes else s for i, s in enumerate(x.shape) if keep or i not in axes)
    name = net.rng.choice(["reduce_mean", "reduce_sum", "reduce_max", "reduce_min"])
    bound = x.bound * (float(np.prod([x.shape[a] for a in axes])) if name == "reduce_sum" else 1)
    written = [a - rank if net.rng.random() < 0.5 else a for a in axes]
    attrs = f"axes = {written}, keepdims = {str(keep).lower()}"
    y = net.op(name, [x], shape, attrs, bound=bound)
    if keep and net.rng.random() < 0.5:
        net.op(net.rng.choice(["sub", "add"]), [x, y], x.shape, bound=x.bound + y.bound)


def _norm(net: Network) -> None:
    x = net.pick(*FLOATS, rank=2)
    if x is None:
        return
    rng, shape, last = net.rng, x.shape, x.shape[-1:]
    name = rng.choice(["softmax", "log_softmax", "layer", "rms", "batch", "group", "spelled"])
    if name in ("softmax", "log_softmax"):
        axis = rng.choice([-1, -1, 0, len(shape) - 2])
        net.op(name, [x], shape, f"axis = {axis}", bound=1.0 if name == "softmax" else 16.0)
    elif name == "layer":
        scale, bias = net.weight(last, x.element, low=0.5), net.weight(last, x.element)
        operands = [x, scale, bias] if rng.random() < 0.7 else [x, scale]
        net.op("layer_normalization", operands, shape, "epsilon = 0.0009765625", bound=8.0)
    elif name == "rms":
        scale = net.weight(last, x.element, low=0.5)
        net.op("rms_normalization", [x, scale], shape, "epsilon = 0.0009765625", bound=8.0)
    elif name == "spelled":
        mean = net.op("reduce_mean", [x], (*shape[:-1], 1), "axes = [-1]")
        centred = net.op("sub", [x, mean], shape, bound=2 * x.bound)
        square = net.op("mul", [centred, centred], shape, bound=centred.bound**2)
        variance = net.op("reduce_mean", [square], (*shape[:-1], 1), "axes = [-1]")
        moved = net.op("add", [variance, net.number(0.125, x.element)], variance.shape)
        net.op("div", [centred, net.op("sqrt", [moved], moved.shape)], shape, bound=8.0)
    else:
        _channel_norm(net, x, name)


def _channel_norm(net: Network, x: Value, name: str) -> None:
    channels, e = x.shape[1], x.element
    scale, bias = net.weight((channels,), e, low=0.5), net.weight((channels,), e)
    if name == "group":
        groups = net.rng.choice([g for g in range(1, channels + 1) if channels % g == 0])
        attrs = f"num_groups = {groups}, epsilon = 0.0009765625"
        net.op("group_normalization", [x, scale, bias], x.shape, attrs, bound=8.0)
        return
    operands = [x, scale, bias, net.weight((channels,), e), net.weight((channels,), e, low=0.5)]
    bound = 2 * x.bound + 4
    net.op("batch_normalization", operands, x.shape, "epsilon = 0.0009765625", bound=bound)


def _matmul(net: Network) -> None:
    x = net.pick(*FLOATS, rank=2)
    if x is None:
        return
    rng, *batch, rows, inner = net.rng, *x.shape
    others = [
        v
        for v in net.values
        if v.element == x.element and len(v.shape) == len(x.shape)
        if v.shape[:-2] == tuple(batch) and v.shape[-2] == inner
    ]
    if others and rng.random() < 0.4:
        y = rng.choice(others)
        if np.prod([*batch, rows, y.shape[-1]], dtype=int) > MOST:
            return
        small = net.number(1 / (4 * inner), x.element)
        y = net.op("mul", [y, small], y.shape, bound=y.bound * small.bound)
        net.op("matmul", [x, y], (*batch, rows, y.shape[-1]), bound=x.bound * y.bound * inner)
        return
    wide = rng.choice(SIZES)
    if np.prod([*batch, rows, wide], dtype=int) > MOST:
        return
    bound = x.bound * min(inner, 4)
    if len(x.shape) == 2 and rng.random() < 0.4:
        turned = rng.random() < 0.5
        shape = (wide, inner) if turned else (inner, wide)
        operands = [x, net.weight(shape, x.element, 1 / inner)]
        if rng.random() < 0.6:
            operands.append(net.weight(rng.choice([(wide,), (1, wide), (rows, 1)]), x.element))
        attrs = f"trans_b = {str(turned).lower()}, alpha = {rng.choice([1.0, 0.5])}"
        y = net.op("gemm", operands, (rows, wide), attrs, bound=bound)
    else:
        weight = net.weight((inner, wide), x.element, 1 / inner)
        y = net.op("matmul", [x, weight], (*batch, rows, wide), bound=bound)
        if rng.random() < 0.6:
            y = net.op("add", [y, net.weight((wide,), x.element)], y.shape, bound=y.bound + 1)
    if rng.random() < 0.6:
        net.op(rng.choice(UNARY), [y], y.shape)


def _conv(net: Network) -> None:
    x = net.pick(*FLOATS, rank=3)
    if x is None or x.rank > 5:
        return
    rng, n, c, *spatial = net.rng, *x.shape
    axes = len(spatial)
    group = rng.choice([g for g in (1, 1, 2, c) if c % g == 0])
    outputs = group * rng.randint(1, 3)
    kernel = [rng.choice([1, 2, 3]) for _ in spatial]
    strides, dilations = ([rng.choice([1, 1, 2]) for _ in spatial] for _ in range(2))
    pads = [rng.randint(0, 1) for _ in range(2 * axes)]
    size = [
        (s + pads[i] + pads[axes + i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1
        for i, s in enumerate(spatial)
    ]
    shape = (n, outputs, *size)
    if min(size) < 1 or np.prod(shape, dtype=int) > MOST:
        return
    fan = c // group * int(np.prod(kernel))
    operands = [x, net.weight((outputs, c // group, *kernel), x.element, 1 / fan)]
    if rng.random() < 0.4:
        operands.append(net.weight((outputs,), x.element))
    attrs = f"strides = {strides}, pads = {pads}, dilations = {dilations}, group = {group}"
    y = net.op("conv", operands, shape, attrs, bound=x.bound + 1)
    if rng.random() < 0.5:
        _channel_norm(net, y, "batch")
        y = net.values[-1]
    if rng.random() < 0.5:
        y = net.op(rng.choice(UNARY), [y], y.shape)
    if y.shape == x.shape and rng.random() < 0.7:
        net.op("add", [y, x], shape, bound=x.bound + y.bound)


def _pool(net: Network) -> None:
    x = net.pick(*FLOATS, rank=3)
    if x is None or x.rank > 4 or x.shape[2] < 2 or x.shape[-1] < 2:
        return
    n, c, *spatial = x.shape
    if net.rng.random() < 0.4:
        net.op("global_average_pool", [x], (n, c, *[1] * len(spatial)))
        return
    strides, ones = [net.rng.choice([1, 2]) for _ in spatial], [1] * len(spatial)
    size = [(s - 2) // step + 1 for s, step in zip(spatial, strides, strict=True)]
    attrs = f"kernel_shape = {[2] * len(ones)}, strides = {strides}, pads = {[0, 0] * len(ones)}"
    name = net.rng.choice(["max_pool", "average_pool"])
    net.op(name, [x], (n, c, *size), f"{attrs}, dilations = {ones}")


def _attention(net: Network) -> None:
    x = net.pick(*FLOATS, rank=3)
    if x is None or x.rank > 4 or x.shape[-1] * x.shape[-2] > 512:
        return
    *batch, tokens, wide = x.shape
    square = (*batch, tokens, tokens)
    if np.prod(square, dtype=int) > MOST:
        return
    perm = [*range(len(batch)), len(batch) + 1, len(batch)]
    key = net.op("transpose", [x], (*batch, wide, tokens), f"perm = {perm}")
    query = net.op("mul", [x, net.number(1 / (4 * wide), x.element)], x.shape, bound=0.5)
    scores = net.op("matmul", [query, key], square, bound=x.bound)
    if net.rng.random() < 0.5:
        scores = net.op("add", [scores, net.weight((tokens, tokens), x.element)], square)
    weights = net.op("softmax", [scores], square, "axis = -1", bound=1.0)
    net.op("matmul", [weights, x], x.shape)


def _move(net: Network) -> None:
    x = net.pick("f32", "f32", "f16", "i32", "i1", rank=1)
    if x is None:
        return
    rng, shape, rank = net.rng, x.shape, len(x.shape)
    axis = rng.randrange(rank)
    size = shape[axis]

    def along(new: int) -> Shape:
        return (*shape[:axis], new, *shape[axis + 1 :])

    match rng.choice(["transpose", "reshape", "ones", "slice", "concat", "pad", "split", "gather"]):
        case "transpose":
            perm = rng.sample(range(rank), rank)
            turned = tuple(shape[p] for p in perm)
            net.op("transpose", [x], turned, f"perm = {perm}", given=x.given)
        case "reshape":
            total = int(np.prod(shape))
            first = rng.choice([d for d in range(1, total + 1) if total % d == 0])
            net.op("reshape", [x], rng.choice([(first, total // first), (total,)]), given=x.given)
        case "ones" if rank < 4:
            more = (*shape[:axis], 1, *shape[axis:])
            made = net.op("unsqueeze", [x], more, f"axes = [{axis}]", given=x.given)
            wide = rng.choice([2, 3])
            if rng.random() < 0.5 and 3 * np.prod(shape) <= MOST and x.element in FLOATS:
                net.op("expand", [made], (*shape[:axis], wide, *shape[axis:]))
        case "slice" if size > 1:
            step = rng.choice([1, 1, 2, -1])
            start = rng.randint(0, size - 1)
            end = size if step > 0 else -size - 1
            count = len(range(start, size, step)) if step > 0 else start + 1
            attrs = f"starts = [{start}], ends = [{end}], axes = [{axis}], steps = [{step}]"
            net.op("slice", [x], along(count), attrs, given=x.given)
        case "concat":
            fits = [
                v
                for v in net.values
                if v.element == x.element and len(v.shape) == rank
                if (*v.shape[:axis], size, *v.shape[axis + 1 :]) == shape
            ]
            parts = [x, *(rng.choice(fits) for _ in range(rng.choice([1, 1, 2])))]
            total = sum(p.shape[axis] for p in parts)
            if np.prod(along(total), dtype=int) <= MOST:
                given = all(p.given for p in parts)
                net.op("concat", parts, along(total), f"axis = {axis}", given=given)
        case "pad" if x.element in FLOATS and np.prod(along(size + 2), dtype=int) <= MOST:
            before, after = ([0] * rank for _ in range(2))
            before[axis], after[axis] = rng.randint(0, 1), 1
            attrs = f"value = {rng.choice([0.0, 1.0])}, pads = {before + after}"
            net.op("pad", [x], along(size + before[axis] + 1), attrs)
        case "split" if size > 1:
            cut = rng.randint(1, size - 1)
            net.split(x, axis, [cut, size - cut])
        case "gather" if x.element in FLOATS:
            count = rng.choice([1, 3, 5])
            indices = [str(rng.randrange(size)) for _ in range(count)]
            name = f"%i{len(net.lines)}"
            type_ = f"tensor<{count}xi64>"
            text = ", ".join(indices)
            net.lines.append(f'{name} = graph.constant dense<[{text}]> : {type_} loc("i")')
            if np.prod(along(count), dtype=int) <= MOST:
                table = Value(name, (count,), "i64", 0.0)
                net.op("gather", [x, table], along(count), f"axis = {axis}")
        case _:
            pass


STEPS: tuple[Step, ...] = (
    *[_unary] * 4,
    *[_binary] * 5,
    _compare,
    _logic,
    _where,
    _cast,
    *[_reduce] * 2,
    *[_norm] * 2,
    *[_matmul] * 2,
    *[_conv] * 2,
    _pool,
    _attention,
    *[_move] * 4,
)


CONVOLUTIONS: tuple[Step, ...] = (*[_conv] * 3, _pool, _unary, *[_binary] * 2)
"""Steps of networks whose weights are folded and whose layouts turn."""


def random_network(
    rng: Random, most: int = 60, steps: Sequence[Step] = STEPS
) -> tuple[str, dict[str, Array]]:
    """The text of a module of the graph level and its weights; `most` bounds the operators."""
    net = Network(rng)
    element = rng.choice(["f32", "f32", "f16"])
    for _ in range(rng.randint(1, 3)):
        ranks = [3, 4, 4, 5] if steps is CONVOLUTIONS else [2, 2, 3, 4]
        shape = tuple(rng.choice(SIZES) for _ in range(rng.choice(ranks)))
        while np.prod(shape, dtype=int) > MOST // 2:
            shape = tuple(max(1, s // 2) for s in shape)
        net.argument(shape, element)
    if rng.random() < 0.3:
        net.argument(net.arguments[0].shape, rng.choice(["i32", "i1", "f32"]))
    if rng.random() < 0.3:
        net.values.append(net.weight(net.arguments[0].shape, element))
    wanted = rng.randint(1, most)
    for _ in range(2 * most):
        if net.count >= wanted:
            break
        rng.choice(steps)(net)
    return net.module(), net.weights
