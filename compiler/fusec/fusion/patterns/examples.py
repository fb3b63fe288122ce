"""A small network for each named pattern, made from the pattern's own words.

It is what documentation shows, what FileCheck sees the pattern fire on, and what the numerical
tests run.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.dialects.builtin import ModuleOp, f32, i32, i64
from xdsl.ir import Attribute, SSAValue

from fusec.fusion.patterns import CORES
from fusec.fusion.patterns.attention import FAMILY
from fusec.fusion.patterns.cores import Core
from fusec.fusion.patterns.example_words import (
    CHANNELS,
    before,
    behind,
    cast,
    in_order,
    names_of,
    word_of,
)
from fusec.fusion.patterns.example_writer import ELEMENTS, Writer
from fusec.fusion.patterns.grammar import FRONTS, SLOTS, Pattern
from fusec.fusion.patterns.movement import FAMILY as MOVEMENT
from fusec.fusion.patterns.terms import Apply
from fusec_dialects.graph import AttrValue
from fusec_dialects.graph.base import tensor_type

__all__ = ["Writer", "cast", "example"]

CONV_X: dict[str, tuple[int, ...]] = {
    "conv": (1, 8, 8, 8),
    "conv1d": (1, 8, 24),
    "conv3d": (1, 8, 4, 6, 6),
    "depthwise_conv": (1, 16, 8, 8),
    "grouped_conv": (1, 16, 8, 8),
    "conv_transpose": (1, 8, 6, 6),
}
"""Shapes [N, C, spatial...] of the pictures of the convolutions' examples."""

MATMUL_X: dict[str, tuple[int, ...]] = {
    "matmul": (48, 32),
    "gemm": (48, 32),
    "batch_matmul": (3, 48, 32),
    "matmul_integer": (48, 32),
}
"""Shapes of the left operands of the products' examples; the right one is [..., 32, 24]."""

FEW_ROWS = 4
"""Rows of the left operand where it comes in 8-bit integers: the vector cores take few."""

CORE_X: dict[str, tuple[int, ...]] = {
    "layer_norm": (2, 24, 64),
    "rms_norm": (2, 24, 64),
    "l2_norm": (2, 24, 64),
    "group_norm": (2, 16, 8, 8),
    "instance_norm": (2, 16, 8, 8),
    "bn": (2, 16, 8, 8),
    "softmax": (3, 24, 40),
    "log_softmax": (3, 24, 40),
    "softmax_cross_entropy": (24, 10),
    "nll_loss": (24, 10),
    "halves": (24, 48),
    "joined": (48, 32),
    "rotary": (2, 4, 16, 32),
}
"""Shapes of `x` by the first word of an expression; [4, 32] for those not named."""

MOVED = (8, 12, 16)
"""The shape of what the movements' examples move."""

UPDATED = (24, 32)
"""The shape of the weights of an optimiser's examples."""


def example(pattern: Pattern, element: Attribute) -> ModuleOp:
    """A network of one element type on whose anchor the pattern fires.

    `cast` goes to f16 (from f16: to bf16).
    """
    from fusec.fusion.patterns.attention_example import attention_example

    write = Writer(f32 if "matmul_integer" in pattern.words else element)
    if pattern.family == FAMILY:
        attention_example(write, pattern.words)
        return write.module()
    if pattern.family == MOVEMENT:
        value = write.input(MOVED)
        for word in pattern.words:
            value = _moved(write, word, value)
        return write.module()
    at = next(i for i, word in enumerate(pattern.words) if word in SLOTS or _core_at(pattern, i))
    anchor, words = pattern.words[at], pattern.words[at + 1 :]
    if anchor in SLOTS:
        value = _contraction(write, anchor, pattern.words[:at], words)
        words = words[1:] if _own_bias(anchor, words) else words
    else:
        size = _core_at(pattern, at)
        name = pattern.words[at : at + size]
        words = pattern.words[at + size :]
        value = _expression(write, name, pattern.words[:at])
    for word in words:
        value = behind(write, anchor, word, value)
    return write.module()


def _core_at(pattern: Pattern, at: int) -> int:
    """How many words from there on are an expression; the longest one."""
    words = pattern.words[at:]
    return next((n for n in range(len(words), 0, -1) if words[:n] in CORES.tables), 0)


def _moved(write: Writer, word: str, value: SSAValue) -> SSAValue:
    """A movement of a value of rank 3."""
    first, second, third = tensor_type(value).get_shape()
    match word:
        case "transpose":
            return write.op("transpose", value, attrs={"perm": (2, 1, 0)})
        case "slice":
            part = {"starts": (1,), "ends": (second - 1,), "axes": (1,), "steps": (1,)}
            return write.op("slice", value, attrs=dict(part))
        case "pad":
            return write.op("pad", value, attrs={"pads": (0, 1, 0, 0, 1, 0), "value": 0.0})
        case "concat":
            other = write.input((first, 4, third))
            return write.op("concat", value, other, attrs={"axis": 1})
        case _:
            rows = write.array(np.array([3, 0, 5, 1]), i64)
            return write.op("gather", value, rows, attrs={"axis": 0})


# Contractions


def _own_bias(anchor: str, words: tuple[str, ...]) -> bool:
    """Whether the bias is an operand of the contraction, which is not all that there is."""
    whole = anchor == "conv_transpose" or (anchor == "gemm" and len(words) > 1)
    return whole and words[:1] == ("bias",)


def _contraction(
    write: Writer, anchor: str, ahead: tuple[str, ...], words: tuple[str, ...]
) -> SSAValue:
    if anchor in MATMUL_X:
        return _product(write, anchor, FRONTS[anchor] in ahead, _own_bias(anchor, words))
    shape = CONV_X[anchor]
    spatial = len(shape) - 2
    x, group = write.input(shape), {"depthwise_conv": 16, "grouped_conv": 2}.get(anchor, 1)
    single = anchor == "conv_transpose"
    inputs, kernel = shape[1] // group, 1 if single else 3
    w = write.weight(16, inputs, *[kernel] * spatial)
    pads = (0 if single or ahead else 1,) * (2 * spatial)
    if ahead:
        around = (0, 0, *(1,) * spatial)
        x = write.op("pad", x, attrs={"pads": around * 2, "value": 0.0})
    ones = (1,) * spatial
    attrs: dict[str, AttrValue] = {
        "strides": ones,
        "dilations": ones,
        "pads": pads,
        "group": group,
    }
    bias = [write.weight(16)] if _own_bias(anchor, words) else []
    y = write.op("conv", x, w, *bias, attrs=attrs)
    return _side_by_side(write, y) if single else y


def _side_by_side(write: Writer, y: SSAValue) -> SSAValue:
    """Four channels become the 2 x 2 positions of a window."""
    n, channels, rows, columns = tensor_type(y).get_shape()
    split = write.reshape(y, n, channels // 4, 2, 2, rows, columns)
    beside = write.op("transpose", split, attrs={"perm": (0, 1, 4, 2, 5, 3)})
    return write.reshape(beside, n, channels // 4, 2 * rows, 2 * columns)


def _product(write: Writer, anchor: str, integers: bool, own_bias: bool) -> SSAValue:
    *batch, rows, depth = MATMUL_X[anchor]
    if anchor == "matmul_integer":
        return _integer_product(write, rows, depth, integers)
    if integers:
        read = write.input((*batch, FEW_ROWS, depth), ELEMENTS["i8"])
        wide = write.op("cast", read, attrs={"to": f32})
        scale = write.array(np.full((), 0.05), f32)
        x = write.op("mul", wide, scale)
        if write.element != f32:
            x = write.op("cast", x, attrs={"to": write.element})
    else:
        x = write.input((*batch, rows, depth))
    w = write.weight(*batch, depth, 24)
    if anchor != "gemm":
        return write.op("matmul", x, w)
    return write.op("gemm", x, w, *([write.weight(24)] if own_bias else []))


def _integer_product(write: Writer, rows: int, depth: int, floats: bool) -> SSAValue:
    """Of an argument in i8, or of one that is made so."""
    if floats:
        x = word_of(write, "matmul_integer", "quant", write.input((rows, depth)))
    else:
        x = write.input((rows, depth), ELEMENTS["i8"])
    w = np.random.default_rng(0).integers(-128, 128, (depth, 24))
    return write.op("matmul_integer", x, write.array(w, ELEMENTS["i8"]))


# Expressions


def _expression(write: Writer, name: tuple[str, ...], ahead: tuple[str, ...]) -> SSAValue:
    core = CORES.tables[name]
    if core.family == "optimiser":
        return _update(write, core)
    if core.family == "rotary":
        return _rotary(write, core, name)
    values: dict[str, SSAValue] = {}
    names = set[str]().union(*map(names_of, core.forms[:1]))
    if "x" in names:
        value = write.input(CORE_X.get(name[0], (FEW_ROWS, 32)))
        for word in ahead:
            value = before(write, word, value)
        if name[0] in _WHOLE:
            return _WHOLE[name[0]](write, value)
        values["x"] = value
    for each in sorted(n for n in names if n != "x" and n[0] != "$"):
        values[each] = _value(write, name[0], each, values.get("x"))
    return write.term(core.forms[0], values, {}, _attributes(core, values.get("x")))


def _attributes(core: Core, x: SSAValue | None) -> dict[Apply, dict[str, AttrValue]]:
    """Halves of the last axis for slices, the classes' axis for a loss."""
    parts = [t for t in in_order(core.forms[0]) if t.op == "slice"]
    if not parts or x is None:
        return {}
    last = 48 if "%joined" in names_of(core.forms[0]) else tensor_type(x).get_shape()[-1]
    ends = ((0, last // 2), (last // 2, last))
    return {
        part: {"starts": (start,), "ends": (end,), "axes": (-1,), "steps": (1,)}
        for part, (start, end) in zip(parts, ends, strict=True)
    }


def _shape(x: SSAValue | None) -> tuple[int, ...]:
    return () if x is None else tensor_type(x).get_shape()


def _value(write: Writer, core: str, name: str, x: SSAValue | None) -> SSAValue:
    """What a name of an expression is."""
    shape = _shape(x)
    match name:
        case "target":
            return write.input((shape[0], 1), i32)
        case "%classes":
            return write.array(np.arange(shape[-1]), f32)
        case "%gate" | "%up":
            return write.weight(32, 24)
        case "%joined":
            return write.weight(32, 48)
        case "%gate_bias" | "%up_bias":
            return write.weight(24)
        case "%down":
            return write.weight(24, 32)
        case "%positions":
            return write.weight(16, 64)
        case _ if name.startswith("%table"):
            return write.weight(8 * (int(name[-1]) + 1), 64)
        case _ if name.startswith("ids"):
            return write.input((2, 16), i64)
        case _:
            size = shape[1 if core in CHANNELS else -1] if shape else 64
            return write.weight(size, positive=name == "%variance")


def _update(write: Writer, core: Core) -> SSAValue:
    """Weights, gradient and state are arguments, and the rate is."""
    names = names_of(core.forms[0])
    values = {n: write.input(UPDATED) for n in ("w", "g", "m", "v", "s") if n in names}
    values["rate"] = write.input(())
    made: dict[Apply, SSAValue] = {}
    result = write.term(core.forms[0], values, made)
    kept = [made[term] for term in in_order(core.forms[0]) if term in core.escapes]
    write.results = [result, *kept]
    return result


def _rotary(write: Writer, core: Core, name: tuple[str, ...]) -> SSAValue:
    """Angles are arguments; neighbours are a pair of an axis of their own."""
    shape = CORE_X[name[0]]
    pairs, half = len(name) > 1, (shape[-2], shape[-1] // 2)
    x = write.input(shape)
    angles = {n: write.input(half) for n in ("cos1", "sin1", "cos2", "sin2")}
    if not pairs:
        values = {"x": x, **angles}
        found = _attributes(core, x)
        found[core.forms[0]] = {"axis": -1}
        return write.term(core.forms[0], values, {}, found)
    both = write.reshape(x, *shape[:-1], half[1], 2)
    columns = {n: write.reshape(v, *half, 1) for n, v in angles.items()}
    found = _attributes(core, both)
    found[core.forms[0]] = {"axis": -1}
    beside = write.term(core.forms[0], {"x": both, **columns}, {}, found)
    return write.reshape(beside, *shape)


def _rms_norm(write: Writer, value: SSAValue) -> SSAValue:
    return write.op("rms_normalization", value, write.number(1.0))


def _grouped(groups: int) -> Callable[[Writer, SSAValue], SSAValue]:
    def made(write: Writer, value: SSAValue) -> SSAValue:
        neutral = write.number(1.0), write.number(0.0)
        return write.op("group_normalization", value, *neutral, attrs={"num_groups": groups})

    return made


_WHOLE: dict[str, Callable[[Writer, SSAValue], SSAValue]] = {
    "rms_norm": _rms_norm,
    "group_norm": _grouped(4),
    "instance_norm": _grouped(16),
}
"""Expressions that are one operator until graph-fuse takes it apart."""
