"""A small network for each named pattern, made from the pattern's own words.

It is what documentation shows, what FileCheck sees the pattern fire on, and what the numerical
tests run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from fusec.fusion.patterns.grammar import Pattern
from fusec.fusion.patterns.norms import NORMS
from fusec.fusion.patterns.terms import Apply, Term
from fusec.fusion.patterns.words import ACTIVATIONS
from fusec.semantics.types import numpy_type
from fusec_dialects.graph import AttrValue, ConstantOp, WeightOp, build
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.dense import dense

CONV_X: dict[str, tuple[int, ...]] = {
    "conv": (1, 16, 8, 8),
    "conv1d": (1, 16, 24),
    "conv3d": (1, 16, 4, 6, 6),
    "depthwise_conv": (1, 16, 8, 8),
    "grouped_conv": (1, 16, 8, 8),
}
"""Shapes [N, C, spatial...] of the pictures of the convolutions' examples."""

MATMUL_X: dict[str, tuple[int, ...]] = {
    "matmul": (48, 32),
    "gemm": (48, 32),
    "batch_matmul": (3, 48, 32),
}
"""Shapes of the left operands of the products' examples; the right one is [..., 32, 24]."""

NORM_X: dict[str, tuple[int, ...]] = {
    "layer_norm": (2, 24, 64),
    "rms_norm": (2, 24, 64),
    "bn": (2, 16, 8, 8),
    "softmax": (3, 24, 40),
    "log_softmax": (3, 24, 40),
}
"""Shapes of what the norms' examples normalise."""

SCALARS = {"$epsilon": 1e-5, "$alpha": 0.75, "$beta": 0.4, "$gamma": 1.05, "$inverse": 4.0 / 3.0}
"""What constants of one element are in an example."""


FREE_ATTRS: dict[str, dict[str, AttrValue]] = {
    "reduce_mean": {"axes": (-1,)},
    "clip": {"min": -0.5, "max": 1.5},
    "swish": {"alpha": 0.75},
}
"""What attributes that a pattern leaves free are in an example."""


@dataclass
class _Writer:
    """A function in the making: arguments, weights, constants and operators on one element type."""

    element: Attribute
    block: Block = field(default_factory=Block)
    inputs: list[str] = field(default_factory=list[str])
    weights: int = 0

    def input(self, shape: tuple[int, ...]) -> SSAValue:
        name = "x" if not self.inputs else f"x{len(self.inputs)}"
        self.inputs.append(name)
        argument = self.block.insert_arg(TensorType(self.element, shape), len(self.block.args))
        argument.name_hint = name
        return argument

    def weight(self, *shape: int) -> SSAValue:
        op = WeightOp(f"w{self.weights}", TensorType(self.element, shape))
        self.weights += 1
        return self.add(op)

    def number(self, value: float) -> SSAValue:
        content = np.full((), value, numpy_type(self.element)).tobytes()
        return self.add(ConstantOp(dense(TensorType(self.element, []), content)))

    def op(
        self,
        name: str,
        *operands: SSAValue,
        attrs: Mapping[str, AttrValue | Attribute] | None = None,
    ) -> SSAValue:
        return self.add(build(name, operands, attrs))

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def term(
        self, term: Term, values: dict[str, SSAValue], made: dict[Apply, SSAValue]
    ) -> SSAValue:
        """The value of a term; equal terms are computed once."""
        if isinstance(term, str):
            if term not in values:
                values[term] = self.number(SCALARS[term])
            return values[term]
        if not isinstance(term, Apply):
            return self.number(term)
        if term not in made:
            operands = [self.term(t, values, made) for t in term.operands]
            attrs = dict(term.attrs) or FREE_ATTRS.get(term.op, {})
            made[term] = self.op(term.op, *operands, attrs=attrs)
        return made[term]

    def module(self, result: SSAValue) -> ModuleOp:
        self.block.add_op(ReturnOp(result))
        types = [a.type for a in self.block.args]

        def names(found: list[str]) -> ArrayAttr[DictionaryAttr]:
            return ArrayAttr([DictionaryAttr({"graph.name": StringAttr(n)}) for n in found])

        main = FuncOp(
            "main",
            (types, [result.type]),
            Region(self.block),
            arg_attrs=names(self.inputs),
            res_attrs=names(["y"]),
        )
        return ModuleOp([main])


def example(pattern: Pattern, element: Attribute) -> ModuleOp:
    """A network of one element type on whose anchor the pattern fires; weights are named w0, w1...

    `cast` goes to f16 (from f16: to bf16).
    """
    write = _Writer(element)
    at = 0
    while pattern.words[at] in _BEFORE:
        at += 1
    anchor, words = pattern.words[at], pattern.words[at + 1 :]
    if anchor in NORMS:
        value = write.input(NORM_X[anchor])
        for word in pattern.words[:at]:
            value = _BEFORE[word](write, anchor, value)
        value = _norm(write, anchor, value)
    else:
        own_bias = anchor == "gemm" and words[:1] == ("bias",)
        value = _anchor(write, anchor, own_bias)
        words = words[1:] if own_bias else words
    for word in words:
        value = _WORDS.get(word, _activation(word))(write, anchor, value)
    return write.module(value)


def _norm(write: _Writer, anchor: str, value: SSAValue) -> SSAValue:
    axis = -1 if anchor != "bn" else 1
    size = tensor_type(value).get_shape()[axis]
    form = NORMS[anchor].forms[0]
    names = {name for name in _names(form) if name.startswith("%")}
    values = {"x": value, **{name: write.weight(size) for name in sorted(names)}}
    if anchor == "bn":
        values["%variance"] = write.op("abs", values["%variance"])
    return write.term(form, values, {})


def _names(term: Term) -> set[str]:
    if isinstance(term, Apply):
        return set[str]().union(*map(_names, term.operands))
    return {term} if isinstance(term, str) else set()


def _anchor(write: _Writer, anchor: str, own_bias: bool) -> SSAValue:
    if anchor in MATMUL_X:
        x = write.input(MATMUL_X[anchor])
        w = write.weight(*MATMUL_X[anchor][:-2], 32, 24)
        if anchor != "gemm":
            return write.op("matmul", x, w)
        return write.op("gemm", x, w, *([write.weight(24)] if own_bias else []))
    shape = CONV_X[anchor]
    x = write.input(shape)
    group = {"depthwise_conv": 16, "grouped_conv": 2}.get(anchor, 1)
    spatial = len(shape) - 2
    outputs = 16 if anchor == "depthwise_conv" else 32
    w = write.weight(outputs, 16 // group, *[3] * spatial)
    attrs: dict[str, AttrValue] = {
        "strides": (1,) * spatial,
        "dilations": (1,) * spatial,
        "pads": (1,) * (2 * spatial),
        "group": group,
    }
    return write.op("conv", x, w, attrs=attrs)


def _channels(anchor: str, value: SSAValue) -> tuple[int, ...]:
    """The shape of what varies along the channels of a value only."""
    shape = tensor_type(value).get_shape()
    return (shape[1], *[1] * (len(shape) - 2)) if anchor in CONV_X or anchor == "bn" else shape[-1:]


def _activation(word: str) -> Callable[[_Writer, str, SSAValue], SSAValue]:
    def made(write: _Writer, anchor: str, value: SSAValue) -> SSAValue:
        values = {"x": value}
        form = ACTIVATIONS[word][0]
        if word == "prelu":
            values["%slope"] = write.weight(*_channels(anchor, value))
        return write.term(form, values, {})

    return made


def _bias(write: _Writer, anchor: str, value: SSAValue) -> SSAValue:
    return write.op("add", value, write.weight(*_channels(anchor, value)))


def _scale(write: _Writer, _anchor: str, value: SSAValue) -> SSAValue:
    return write.op("mul", value, write.number(0.125))


def _bn(write: _Writer, anchor: str, value: SSAValue) -> SSAValue:
    channels = _channels(anchor, value)[0]
    parameters = [write.weight(channels) for _ in range(3)]
    variance = write.op("abs", write.weight(channels))
    return write.op("batch_normalization", value, *parameters, variance)


def _residual(write: _Writer, _anchor: str, value: SSAValue) -> SSAValue:
    return write.op("add", value, write.input(tensor_type(value).get_shape()))


def _gate(write: _Writer, _anchor: str, value: SSAValue) -> SSAValue:
    return write.op("mul", value, write.input(tensor_type(value).get_shape()))


def _cast(write: _Writer, _anchor: str, value: SSAValue) -> SSAValue:
    from xdsl.dialects.builtin import bf16, f16

    to = bf16 if tensor_type(value).element_type == f16 else f16
    return write.op("cast", value, attrs={"to": to})


def _mask(write: _Writer, _anchor: str, value: SSAValue) -> SSAValue:
    return write.op("add", value, write.input((1, *tensor_type(value).get_shape()[1:])))


_BEFORE: dict[str, Callable[[_Writer, str, SSAValue], SSAValue]] = {
    "residual": _residual,
    "scale": _scale,
    "mask": _mask,
}

_WORDS: dict[str, Callable[[_Writer, str, SSAValue], SSAValue]] = {
    "bias": _bias,
    "scale": _scale,
    "bn": _bn,
    "residual": _residual,
    "gate": _gate,
    "cast": _cast,
}
