"""Named patterns around softmax and layer norm: what is added or scaled before them."""

from __future__ import annotations

from fusec.fusion.dag import Dag
from fusec.fusion.patterns.grammar import Match, Pattern
from fusec_dialects.graph.base import tensor_type

NORM_PATTERNS: dict[str, Pattern] = {
    p.name: p
    for p in (
        Pattern("residual_layer_norm", "norm", 20, "an addition, then layer norm, in one kernel"),
        Pattern("scale_softmax", "softmax", 20, "a product with a scalar, then softmax"),
        Pattern("mask_softmax", "softmax", 20, "an additive mask, then softmax"),
        Pattern("scale_mask_softmax", "softmax", 30, "scale, additive mask, then softmax"),
    )
}

_ANCHORS = {"layer_normalization": "layer_norm", "softmax": "softmax"}


def norm_matches(dag: Dag, anchor: int) -> list[Match]:
    """Chains of operators that end in a norm, the longest first, in program order."""
    word = _ANCHORS.get(dag.names[anchor])
    if word is None:
        return []
    ops, words = [anchor], [word]
    found: list[Match] = []
    expected = ("residual",) if word == "layer_norm" else ("mask", "scale")
    for slot in expected:
        producer = dag.operands[ops[0]][0] if len(ops) == 1 else _chain_operand(dag, ops[0])
        if producer < 0 or not _fills(dag, producer, ops[0], slot):
            if slot == "mask":
                continue
            break
        ops.insert(0, producer)
        words.insert(0, slot)
        found.append(Match(tuple(ops), tuple(words)))
    return found[::-1]


def _chain_operand(dag: Dag, op: int) -> int:
    """The operand of a chain's first operator that has the result's shape and is not constant."""
    shape = tensor_type(dag.ops[op].results[0]).get_shape()
    for source, value in zip(dag.operands[op], dag.ops[op].operands, strict=True):
        if source >= 0 and not dag.is_constant(source) and tensor_type(value).get_shape() == shape:
            return source
    return -1


def _fills(dag: Dag, op: int, user: int, slot: str) -> bool:
    if dag.only_user(op) != user:
        return False
    scalars = [o for o in dag.operands[op] if o >= 0 and dag.is_inline(o)]
    if slot == "scale":
        return dag.names[op] in ("mul", "div") and len(scalars) == 1
    return dag.names[op] == "add" and not scalars
