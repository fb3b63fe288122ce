"""The words of a sentence as operators: what examples of patterns are made of."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.ir import SSAValue

from fusec.fusion.patterns.example_writer import ELEMENTS, Writer
from fusec.fusion.patterns.grammar import SLOTS
from fusec.fusion.patterns.terms import Apply, Term, applied
from fusec.fusion.patterns.words import EXPRESSIONS, OTHERS
from fusec_dialects.graph import AttrValue
from fusec_dialects.graph.base import tensor_type

CHANNELS = frozenset(["group_norm", "instance_norm", "bn"])
"""Expressions whose parameters belong to axis 1."""

SPATIAL = frozenset(a for a in SLOTS if "conv" in a)
"""Anchors whose results have channels on axis 1."""


def in_order(term: Term) -> list[Apply]:
    """The operators of an expression, operands first."""
    if not isinstance(term, Apply):
        return []
    inner = [t for operand in term.operands for t in in_order(operand)]
    return list(dict.fromkeys((*inner, term)))


def names_of(term: Term) -> set[str]:
    return {t for part in applied(term) for t in part.operands if isinstance(t, str)}


def before(write: Writer, word: str, value: SSAValue) -> SSAValue:
    shape = tensor_type(value).get_shape()
    match word:
        case "scale":
            return write.op("mul", value, write.number(0.125))
        case "mask":
            return write.op("add", value, write.input((1, *shape[1:])))
        case "choose":
            mask = write.input((1, *shape[1:]), ELEMENTS["i1"])
            return write.op("where", mask, value, write.number(-100.0))
        case _:
            return write.op("add", value, write.input(shape))


def channels(anchor: str, value: SSAValue) -> tuple[int, ...]:
    """The shape of what varies along the channels of a value only."""
    shape = tensor_type(value).get_shape()
    if anchor in SPATIAL or anchor in CHANNELS:
        return (shape[1], *[1] * (len(shape) - 2))
    return shape[-1:]


def cast(write: Writer, _anchor: str, value: SSAValue) -> SSAValue:
    """To f16; from f16 to bf16."""
    narrow = bf16 if tensor_type(value).element_type == f16 else f16
    return write.op("cast", value, attrs={"to": narrow})


def behind(write: Writer, anchor: str, word: str, value: SSAValue) -> SSAValue:
    shape = tensor_type(value).get_shape()
    match word:
        case "bias":
            return write.op("add", value, write.weight(*channels(anchor, value)))
        case "scale":
            return write.op("mul", value, write.number(0.125))
        case "bn":
            parameters = [write.weight(shape[1]) for _ in range(3)]
            variance = write.weight(shape[1], positive=True)
            return write.op("batch_normalization", value, *parameters, variance)
        case "residual":
            return write.op("add", value, write.input(shape))
        case "gate":
            return write.op("mul", value, write.input(shape))
        case "gap":
            return write.op("global_average_pool", value)
        case "mean" | "sum":
            axes = tuple(range(len(shape)))
            return write.op(f"reduce_{word}", value, attrs={"axes": axes, "keepdims": False})
        case "cast":
            return cast(write, anchor, value)
        case _:
            return word_of(write, anchor, word, value)


def word_of(write: Writer, anchor: str, word: str, value: SSAValue) -> SSAValue:
    """A word that is an expression."""
    forms = EXPRESSIONS[word]
    narrow = tensor_type(value).element_type != f32
    if word == "quant":
        wide = [form for form in OTHERS["quant"] if _widens(form)]
        form = (wide if narrow else list(forms))[0]
        values = {"x": value, "%scale": write.array(np.full((), 0.05), f32)}
        limits: dict[str, AttrValue] = {"min": -128.0, "max": 127.0}
        attrs = {term: limits for term in in_order(form) if term.op == "clip"}
        return write.term(form, values, {}, attrs)
    values = {"x": value}
    if word == "rescale":
        values["scale"] = write.array(np.full((), 0.0005), f32)
    for name in sorted(names_of(forms[0])):
        if name[0] == "%":
            values[name] = write.weight(*channels(anchor, value))
    return write.term(forms[0], values, {})


def _widens(form: Apply) -> bool:
    return any(t.op == "cast" and t.operands == ("x",) for t in applied(form))
