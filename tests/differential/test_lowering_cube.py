"""Cube kernels against the oracle: random matmuls and convolutions, through the simulator."""

from __future__ import annotations

import random
from math import prod

import pytest

from fusec.hw import load_target
from fusec.schedule.region import Region
from fusec.schedule.schedule import FAMILIES
from fusec.schedule.types import Refusal, Schedule
from fusec_dialects.graph import KernelOp
from kernel_check import check, kernel

TARGETS = ("ascend910b3", "tiny")


def tensor(shape: tuple[int, ...], dtype: str) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}{dtype}>"


class Text:
    """A kernel's text under construction."""

    def __init__(self) -> None:
        self.arguments: list[str] = []
        self.lines: list[str] = []
        self.count = 0

    def argument(self, shape: tuple[int, ...], dtype: str) -> str:
        name = f"%a{len(self.arguments)}"
        self.arguments.append(f"{name}: {tensor(shape, dtype)}")
        return name

    def op(self, name: str, operands: dict[str, str], attrs: str, result: str) -> str:
        self.count += 1
        types = ", ".join(operands.values())
        types = f"({types})" if len(operands) > 1 else types
        values = ", ".join(key.split("#")[0] for key in operands)
        self.lines.append(f"  %{self.count} = graph.{name} {values} {attrs} : {types} -> {result}")
        return f"%{self.count}"

    def finish(self, value: str, result: str) -> str:
        return (
            f'graph.kernel @k "k"({", ".join(self.arguments)}) -> {result} {{\n'
            + "\n".join(self.lines)
            + f"\n  graph.yield {value} : {result}\n}}\n"
        )


def view_of(t: Text, rng: random.Random, shape: tuple[int, ...], dtype: str) -> str:
    """A value of this shape: an input, or an input seen through a transposition."""
    if len(shape) < 2 or rng.random() < 0.5:
        return t.argument(shape, dtype)
    perm = list(range(len(shape)))
    rng.shuffle(perm)
    if perm[-1] != len(shape) - 1 and perm[-2] != len(shape) - 1:
        perm = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    stored = [0] * len(shape)
    for axis, p in enumerate(perm):
        stored[p] = shape[axis]
    value = t.argument(tuple(stored), dtype)
    types = {value: tensor(tuple(stored), dtype)}
    return t.op("transpose", types, f"{{perm = {perm}}}", tensor(shape, dtype))


def epilogue(
    t: Text, rng: random.Random, value: str, shape: tuple[int, ...], dtype: str
) -> tuple[str, str]:
    """Bias, residual, relu, cast, store through views: each perhaps."""
    type_ = tensor(shape, dtype)
    if shape and rng.random() < 0.5:
        bias = t.argument(shape[-1:], dtype)
        value = t.op("add", {value: type_, bias: tensor(shape[-1:], dtype)}, "", type_)
    if shape and rng.random() < 0.4:
        other = t.argument(shape, dtype)
        value = t.op("add", {other: type_, value: type_}, "", type_)
    if rng.random() < 0.4:
        value = t.op("relu", {value: type_}, "", type_)
    if dtype == "f32" and rng.random() < 0.3:
        value = t.op("cast", {value: type_}, "{to = f16}", tensor(shape, "f16"))
        dtype, type_ = "f16", tensor(shape, "f16")
    if len(shape) > 2 and rng.random() < 0.5:
        perm = [*range(len(shape) - 1)]
        rng.shuffle(perm)
        perm.append(len(shape) - 1)
        stored = tuple(shape[p] for p in perm)
        value = t.op("transpose", {value: type_}, f"{{perm = {perm}}}", tensor(stored, dtype))
        flat = (prod(stored[:-2]), prod(stored[-2:]))
        types = {value: tensor(stored, dtype)}
        value = t.op("reshape", types, "", tensor(flat, dtype))
        type_ = tensor(flat, dtype)
    return value, type_


def random_matmul(rng: random.Random) -> str:
    t = Text()
    dtype = rng.choice(["f32", "f32", "f16", "bf16"])
    m, k, n = (rng.choice([1, 3, 16, 17, 40, 64, 100, 130]) for _ in range(3))
    batch = tuple(rng.choice([1, 2, 3]) for _ in range(rng.choice([0, 0, 1, 2])))
    left = tuple(b if rng.random() < 0.7 else 1 for b in batch)
    right = tuple(b if rng.random() < 0.7 else 1 for b in batch)
    right = right if rng.random() < 0.6 else ()
    full = tuple(
        max(a, b) for a, b in zip(left, (1,) * (len(left) - len(right)) + right, strict=True)
    )
    a = view_of(t, rng, (*left, m, k), dtype)
    b = view_of(t, rng, (*right, k, n), dtype)
    types = {f"{a}#a": tensor((*left, m, k), dtype), f"{b}#b": tensor((*right, k, n), dtype)}
    shape = (*full, m, n)
    value = t.op("matmul", types, "", tensor(shape, dtype))
    return t.finish(*epilogue(t, rng, value, shape, dtype))


def random_gemm(rng: random.Random) -> str:
    t = Text()
    dtype = rng.choice(["f32", "f16"])
    m, k, n = (rng.choice([1, 5, 16, 33, 70]) for _ in range(3))
    trans_a, trans_b = rng.random() < 0.5, rng.random() < 0.5
    a_shape, b_shape = ((k, m) if trans_a else (m, k)), ((n, k) if trans_b else (k, n))
    types = {
        t.argument(a_shape, dtype): tensor(a_shape, dtype),
        t.argument(b_shape, dtype): tensor(b_shape, dtype),
    }
    c_shape = rng.choice([None, (n,), (1, n), (m, 1), (m, n), (1,)])
    if c_shape is not None:
        types[t.argument(c_shape, dtype)] = tensor(c_shape, dtype)
    beta = rng.choice([1.0, 0.5])
    flags = f"{{trans_a = {str(trans_a).lower()}, trans_b = {str(trans_b).lower()}, beta = {beta}}}"
    value = t.op("gemm", types, flags, tensor((m, n), dtype))
    return t.finish(*epilogue(t, rng, value, (m, n), dtype))


def random_conv(rng: random.Random) -> str:
    t = Text()
    dtype = rng.choice(["f32", "f32", "f16", "bf16"])
    rank = rng.choice([1, 2, 2, 2, 3])
    group = rng.choice([1, 1, 1, 2])
    channels, filters = (group * rng.choice([1, 3, 8, 17]) for _ in range(2))
    kernel_shape = [rng.choice([1, 2, 3, 5] if rank < 3 else [1, 2, 3]) for _ in range(rank)]
    strides = [rng.choice([1, 1, 2, 3]) for _ in range(rank)]
    dilations = [rng.choice([1, 1, 2]) for _ in range(rank)]
    pads = [rng.choice([0, 1, 2, 4]) if rng.random() < 0.6 else 0 for _ in range(2 * rank)]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel_shape, dilations, strict=True)]
    sizes = [
        max(rng.choice([3, 7, 12, 20] if rank < 3 else [2, 4, 5]), r - pads[i] - pads[i + rank])
        for i, r in enumerate(reach)
    ]
    outputs = [
        (n + pads[i] + pads[i + rank] - reach[i]) // strides[i] + 1 for i, n in enumerate(sizes)
    ]
    batch = rng.choice([1, 1, 3])
    x = (batch, *sizes, channels)
    w = (*kernel_shape, channels // group, filters)
    y = (batch, *outputs, filters)
    types = {t.argument(x, dtype): tensor(x, dtype), t.argument(w, dtype): tensor(w, dtype)}
    if rng.random() < 0.5:
        types[t.argument((filters,), dtype)] = tensor((filters,), dtype)
    attrs = (
        f"{{strides = {strides}, pads = {pads}, dilations = {dilations}, group = {group}, "
        'x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"}'
    )
    value = t.op("conv", types, attrs, tensor(y, dtype))
    return t.finish(*epilogue(t, rng, value, y, dtype))


def random_mixed(rng: random.Random) -> str:
    """A matmul or convolution and a few elementwise operators that only the vector unit has."""
    t = Text()
    dtype = rng.choice(["f32", "f16", "bf16"])
    if rng.random() < 0.5:
        batch = rng.choice([(), (1,), (3,)])
        m, k, n = (rng.choice([1, 3, 16, 40, 130]) for _ in range(3))
        a, b, shape = (*batch, m, k), (k, n), (*batch, m, n)
        name, attrs = "matmul", ""
    else:
        size, channels, n = rng.choice([5, 9, 14]), rng.choice([3, 16]), rng.choice([8, 20])
        a, b, shape = (2, size, size, channels), (3, 3, channels, n), (2, size, size, n)
        name = "conv"
        attrs = (
            "{strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], "
            'x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"}'
        )
    types = {t.argument(a, dtype): tensor(a, dtype), t.argument(b, dtype): tensor(b, dtype)}
    type_ = tensor(shape, dtype)
    value = first = t.op(name, types, attrs, type_)
    for _ in range(rng.choice([1, 2, 4])):
        kind = rng.choice(["sigmoid", "tanh", "gelu", "leaky_relu", "bias", "residual", "self"])
        if kind == "bias":
            other = t.argument(shape[-1:], dtype)
            value = t.op("add", {value: type_, other: tensor(shape[-1:], dtype)}, "", type_)
        elif kind == "residual":
            other = t.argument(shape, dtype)
            value = t.op("mul", {other: type_, value: type_}, "", type_)
        elif kind == "self":
            value = t.op("sub", {value: type_, f"{first}#": type_}, "", type_)
        else:
            attrs = "{alpha = 0.1}" if kind == "leaky_relu" else ""
            value = t.op(kind, {value: type_}, attrs, type_)
    value = t.op("sigmoid", {value: type_}, "", type_)
    if rng.random() < 0.4 and len(shape) > 2:
        perm = [1, 0, *range(2, len(shape))]
        stored = tuple(shape[p] for p in perm)
        value = t.op("transpose", {value: type_}, f"{{perm = {perm}}}", tensor(stored, dtype))
        type_ = tensor(stored, dtype)
    return t.finish(value, type_)


KINDS = {"matmul": random_matmul, "gemm": random_gemm, "conv": random_conv, "mixed": random_mixed}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_random(kind: str, seed: int, target: str) -> None:
    op = kernel(KINDS[kind](random.Random(f"{kind}{seed}")))
    own = on_the_cube(op, kind, target)
    if isinstance(own, Refusal):
        assert own.reason in ("operand-stride", "output-stride", "addend-stride"), own
    else:
        check(op, target, seed=seed, given=own)


def on_the_cube(op: KernelOp, kind: str, target: str) -> Schedule | Refusal:
    """The schedule on the cube core, also where the vector cores would be quicker."""
    family = FAMILIES["mixed" if kind == "mixed" else "cube"]
    return family.schedule(Region.of_block(op.body.block), load_target(target))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_random_placed(kind: str, seed: int) -> None:
    """The same numbers from placed and synchronised kernels; the witness finds nothing."""
    op = kernel(KINDS[kind](random.Random(f"{kind}{seed}")))
    target = TARGETS[seed % 2]
    if isinstance(check(op, target, seed=seed, placed=True), Refusal):
        pytest.skip("refused")


@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(100, 400))
def test_random_campaign(kind: str, seed: int) -> None:
    text = KINDS[kind](random.Random(f"{kind}{seed}"))
    found = check(kernel(text), TARGETS[seed % 2], seed=seed)
    if isinstance(found, Refusal):
        assert found.reason in ("operand-stride", "output-stride", "addend-stride"), found
