"""A small attention for each sentence of `attention`: heads, then its words in order."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import SSAValue

from fusec.fusion.patterns.examples import Writer, cast
from fusec_dialects.graph import build
from fusec_dialects.graph.base import tensor_type

BATCH, HEADS, QUERIES, KEYS, FEATURES = 2, 4, 24, 40, 16

OWN_HEADS = {"grouped_query_attention": 2, "multi_query_attention": 1}
"""Heads of keys where there are less of them than of queries."""

CAP = 20.0
"""What the soft cap keeps scores under."""


def attention_example(write: Writer, words: tuple[str, ...]) -> SSAValue:
    """The result of softmax(q k ...) v with the words' operators."""
    anchor, *others = words
    keys = KEYS if anchor == "cross_attention" else QUERIES
    own = OWN_HEADS.get(anchor, HEADS)
    q = write.input((BATCH, HEADS, QUERIES, FEATURES))
    k, v = (_shared(write, write.input((BATCH, own, keys, FEATURES))) for _ in range(2))
    value = write.op("matmul", q, write.op("transpose", k, attrs={"perm": (0, 1, 3, 2)}))
    for word in others:
        if word != "cast":
            value = _scored(write, word, value)
    value = write.op("matmul", write.op("softmax", value, attrs={"axis": -1}), v)
    return cast(write, anchor, value) if "cast" in others else value


def _shared(write: Writer, x: SSAValue) -> SSAValue:
    """Keys or values, repeated for each head of a group; those of one head broadcast."""
    batch, own, keys, features = tensor_type(x).get_shape()
    if own in (1, HEADS):
        return x
    x = _seen(write, x, (batch, own, 1, keys, features))
    x = _seen(write, x, (batch, own, HEADS // own, keys, features), "expand")
    return _seen(write, x, (batch, HEADS, keys, features))


def _seen(
    write: Writer, x: SSAValue, shape: tuple[int, ...], operator: str = "reshape"
) -> SSAValue:
    return write.add(build(operator, [x], None, [TensorType(write.element, shape)]))


def _scored(write: Writer, word: str, scores: SSAValue) -> SSAValue:
    """What a word does to scores."""
    batch, heads, queries, keys = tensor_type(scores).get_shape()
    match word:
        case "scale":
            return write.op("mul", scores, write.number(0.25))
        case "softcap":
            capped = write.op("tanh", write.op("div", scores, write.number(CAP)))
            return write.op("mul", capped, write.number(CAP))
        case "bias":
            return write.op("add", scores, write.input((1, heads, queries, keys)))
        case "mask":
            return write.op("add", scores, write.input((batch, 1, 1, keys)))
        case "causal":
            return write.op("add", scores, write.weight(queries, keys))
        case _:
            condition = write.input((batch, 1, queries, keys), i1)
            return write.op("where", condition, scores, write.number(-30000.0))
