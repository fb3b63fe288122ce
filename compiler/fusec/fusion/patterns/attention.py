"""Named patterns of attention: two products around a softmax, and what happens to the scores.

`attention_scale_mask` is softmax(q k * scale + mask) v. The first word says how keys and queries
belong together, the slots behind it what comes between product and softmax, in this order.
"""

from __future__ import annotations

from functools import cache
from itertools import product

from xdsl.ir import SSAValue

from fusec.fusion.dag import Dag
from fusec.fusion.patterns.grammar import Match, Pattern
from fusec_dialects.graph.base import element_name, python_value, tensor_type

FAMILY = "attention"

ANCHORS: dict[str, str] = {
    "attention": "every head has keys of its own, as many as queries",
    "cross_attention": "as many keys as another sequence has, or a cache",
    "grouped_query_attention": "several heads of queries share one of keys, repeated for each",
    "multi_query_attention": "all heads of queries share one of keys",
}
"""Words for the heads, and what they mean."""

SLOTS: dict[str, str] = {
    "scale": "times a number",
    "softcap": "c tanh(x / c)",
    "bias": "plus something of its own for each head",
    "mask": "plus something that the heads share",
    "causal": "plus a mask of queries and keys that is known beforehand",
    "boolean_mask": "where a condition holds, else a number",
    "cast": "the result in another type",
}
"""Words for what happens to scores, in order, and to the result; one mask at most."""

MASKS = frozenset({"mask", "causal", "boolean_mask"})

BENEFIT = 200
"""Attention is tried before the products that it consists of."""


@cache
def attention_patterns() -> dict[str, Pattern]:
    """Every sentence, by name."""
    found: dict[str, Pattern] = {}
    for anchor, bits in product(ANCHORS, product((False, True), repeat=len(SLOTS))):
        words = tuple(word for word, on in zip(SLOTS, bits, strict=True) if on)
        if len(MASKS.intersection(words)) > 1:
            continue
        name = "_".join((anchor, *words))
        told = ", ".join((ANCHORS[anchor], *(SLOTS[word] for word in words)))
        doc = f"softmax(q k) v in one kernel: {told}"
        benefit = BENEFIT + 10 * len(words)
        found[name] = Pattern(name, FAMILY, benefit, doc, (anchor, *words))
    return found


def attention_matches(dag: Dag, anchor: int) -> list[Match]:
    """Attention whose product of queries and keys is `anchor`, that with a cast behind it first."""
    if dag.names[anchor] != "matmul":
        return []
    if any(len(tensor_type(v).get_shape()) < 2 for v in dag.ops[anchor].operands):
        return []
    ops, words = [anchor], [_heads(dag, anchor)]
    value = anchor
    while (user := dag.only_user(value)) is not None and dag.names[user] != "softmax":
        step = _step(dag, value, user)
        if step is None:
            return []
        word, inside = step
        words += [word] if word else []
        ops += inside
        value = inside[-1] if inside else user
    if user is None or not _is_last_axis(dag, user):
        return []
    ops.append(user)
    value = user
    while (user := dag.only_user(value)) is not None and _is_plain(dag, user):
        ops += [] if dag.is_view(user) else [user]
        value = user
    if user is None or dag.names[user] != "matmul" or dag.operands[user][1] == value:
        return []
    ops.append(user)
    found = [Match(tuple(ops), tuple(words))]
    behind = dag.only_user(user)
    if behind is not None and _narrows(dag, behind):
        found.append(Match((*ops, behind), (*words, "cast")))
    return found[::-1]


def _heads(dag: Dag, anchor: int) -> str:
    """The word for how keys belong to queries."""
    queries, keys = (list(tensor_type(v).get_shape()) for v in dag.ops[anchor].operands)
    repeated = _repeated(dag, dag.operands[anchor][1])
    heads = queries[-3] if len(queries) > 2 else 1
    own = keys[-3] if len(keys) > 2 else 1
    if heads > own == 1 or (repeated and repeated[0] == 1):
        return "multi_query_attention"
    if repeated:
        return "grouped_query_attention"
    return "attention" if queries[-2] == keys[-1] else "cross_attention"


def _repeated(dag: Dag, i: int) -> tuple[int, int] | None:
    """How many heads of keys there are before and after they are repeated."""
    while i >= 0 and dag.is_access(i):
        before, after = (
            tensor_type(v).get_shape() for v in (dag.ops[i].operands[0], dag.ops[i].results[0])
        )
        if dag.names[i] == "expand" and len(before) == len(after) > 3:
            at = next((d for d, (a, b) in enumerate(zip(before, after, strict=True)) if a < b), 0)
            return before[at - 1] if at else before[0], after[at]
        i = dag.operands[i][0]
    return None


def _step(dag: Dag, value: int, user: int) -> tuple[str, list[int]] | None:
    """The word behind `value` and its operators, the last one's result being what goes on; no word
    for views and casts, None for what attention does not have."""
    if _is_plain(dag, user):
        return "", [] if dag.is_view(user) else [user]
    if (cap := _softcap(dag, user)) is not None:
        return "softcap", cap
    if _is_scaled(dag, user, value):
        return "scale", [user]
    if dag.names[user] == "where" and dag.operands[user][0] != value:
        other = dag.operands[user][3 - dag.operands[user].index(value, 1)]
        return ("boolean_mask", [user]) if other >= 0 and dag.is_inline(other) else None
    if dag.names[user] != "add" or dag.operands[user].count(value) != 1:
        return None
    side = 1 - dag.operands[user].index(value)
    return _addend(dag, dag.ops[user].operands[side], dag.ops[user].results[0]), [user]


def _addend(dag: Dag, added: SSAValue, scores: SSAValue) -> str:
    """The word for what is added to scores."""
    shape = tensor_type(added).get_shape()
    if len(shape) > 2 and shape[-3] > 1 and len(tensor_type(scores).shape) > 2:
        return "bias"
    tile = len(shape) > 1 and shape[-2] > 1
    return "causal" if tile and dag.is_known(added) else "mask"


def _softcap(dag: Dag, op: int) -> list[int] | None:
    """Operators from `op` on that are c tanh(x / c); x / c may be part of a scale before."""
    ops = [op]
    if dag.names[op] in ("mul", "div") and _is_scaled(dag, op, None):
        user = dag.only_user(op)
        ops += [] if user is None else [user]
    if dag.names[ops[-1]] != "tanh":
        return None
    user = dag.only_user(ops[-1])
    if user is None or not _is_scaled(dag, user, ops[-1]):
        return None
    return [*ops, user]


def _is_scaled(dag: Dag, op: int, value: int | None) -> bool:
    """Whether an operator multiplies, or divides, by a number."""
    if dag.names[op] not in ("mul", "div"):
        return False
    numbers = [o for o in dag.operands[op] if o >= 0 and dag.is_inline(o)]
    divisor = dag.names[op] == "mul" or dag.operands[op][1] in numbers
    return len(numbers) == 1 and divisor and (value is None or value in dag.operands[op])


def _is_plain(dag: Dag, op: int) -> bool:
    return dag.is_view(op) or dag.names[op] == "cast"


def _is_last_axis(dag: Dag, op: int) -> bool:
    rank = len(tensor_type(dag.ops[op].results[0]).shape)
    return python_value(dag.ops[op].properties["axis"]) in (-1, rank - 1)


def _narrows(dag: Dag, op: int) -> bool:
    narrow = element_name(dag.ops[op].results[0].type) in ("f16", "bf16")
    return dag.names[op] == "cast" and narrow
