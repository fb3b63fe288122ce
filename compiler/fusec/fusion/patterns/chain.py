"""What follows an operator, word for word: the slots of a sentence that its users fill."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from fusec.fusion.dag import Dag
from fusec.fusion.patterns.words import ACTIVATIONS, EXPRESSIONS, expression_on
from fusec.graph.query import reduced
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import element_name, tensor_type

ACTIVATION = "activation"
"""The slot that any word of ACTIVATIONS fills."""

Link = tuple[tuple[int, ...], tuple[str, ...]]
"""Operators by number, and the words that they are."""


def slot_of(word: str) -> str:
    """The slot that a word fills."""
    return ACTIVATION if word in ACTIVATIONS else word


def words_of(slot: str) -> tuple[str, ...]:
    """The words that fill a slot."""
    return tuple(ACTIVATIONS) if slot == ACTIVATION else (slot,)


def following(
    dag: Dag,
    value: int,
    anchor: int,
    slots: tuple[str, ...],
    *,
    narrow: str | None = None,
    through: bool = False,
) -> list[Link]:
    """What fills slots behind an operator: every prefix of the chain, the empty one first.

    A chain ends where a value has a second user or is an output of the model. A cast back to the
    element type `narrow` belongs to what stands before it. With `through`, views may stand between.
    """
    found: list[Link] = [((), ())]
    wanted = frozenset(word for slot in slots for word in words_of(slot))
    at = 0
    while True:
        if through:
            value = _behind_views(dag, value)
        if narrow is not None and (back := _cast_to(dag, value, narrow)) is not None:
            ops, words = found.pop()
            found.append(((*ops, back), words))
            value, narrow = back, None
            continue
        step = _next(dag, value, anchor, wanted)
        if step is None:
            return found
        word, value, inside = step
        slot = word if word in slots else slot_of(word)
        if slot not in slots[at:]:
            return found
        at = slots.index(slot, at) + 1
        ops, words = found[-1]
        found.append(((*ops, *inside), (*words, word)))


def _behind_views(dag: Dag, value: int) -> int:
    """The last of the views that alone read a value, the value itself where there is none."""
    user = dag.only_user(value)
    while user is not None and dag.is_view(user):
        value, user = user, dag.only_user(user)
    return value


def _cast_to(dag: Dag, value: int, element: str) -> int | None:
    user = dag.only_user(value)
    if user is None or dag.names[user] != "cast":
        return None
    return user if element_name(dag.ops[user].results[0].type) == element else None


def _next(
    dag: Dag, value: int, anchor: int, wanted: Collection[str]
) -> tuple[str, int, list[int]] | None:
    """The word behind a value, the operator whose result it gives, and its operators in order."""
    if (expression := expression_on(dag, value, EXPRESSIONS.keys() & wanted)) is not None:
        word, root, found = expression
        return word, root, sorted(found.ops)
    user = dag.only_user(value)
    word = None if user is None else _word(dag, value, user, anchor)
    return None if user is None or word is None else (word, user, [user])


def _word(dag: Dag, value: int, user: int, anchor: int) -> str | None:
    """The slot that one operator fills behind `value`."""
    name = dag.names[user]
    match name:
        case "batch_normalization":
            others = dag.operands[user][1:]
            known = all(o >= 0 and dag.is_constant(o) for o in others)
            return "bn" if known and dag.operands[user][0] == value else None
        case "cast":
            to = element_name(dag.ops[user].results[0].type)
            return "cast" if to in ("f16", "bf16") else None
        case "global_average_pool":
            return "gap"
        case "reduce_mean" | "reduce_sum":
            return name.removeprefix("reduce_") if _reduces_all(dag, user) else None
        case "add" | "mul" | "div" if dag.operands[user].count(value) == 1:
            return _arithmetic(dag, value, user, anchor)
        case _:
            return None


def _reduces_all(dag: Dag, op: int) -> bool:
    """Whether a reduction leaves one number."""
    reduction = dag.ops[op]
    rank = len(tensor_type(reduction.operands[0]).shape)
    return isinstance(reduction, GraphOp) and len(reduced(reduction)) == rank


def _arithmetic(dag: Dag, value: int, user: int, anchor: int) -> str | None:
    """What a sum, product or quotient with something else is."""
    name = dag.names[user]
    side = 1 - dag.operands[user].index(value)
    if name == "div" and side == 0:
        return None
    mine, other, result = (
        tensor_type(v)
        for v in (
            dag.ops[value].results[0],
            dag.ops[user].operands[side],
            dag.ops[user].results[0],
        )
    )
    if mine.get_shape() != result.get_shape():
        return None
    source = dag.operands[user][side]
    same = other.get_shape() == result.get_shape()
    known = source >= 0 and dag.is_constant(source)
    by_channel = known and _is_bias(dag, anchor, other, result)
    if name == "mul" and same and not known:
        return "gate"
    if name != "add":
        return "scale" if by_channel or (source >= 0 and dag.is_inline(source)) else None
    if by_channel:
        return "bias"
    return "residual" if same else None


def _is_bias(
    dag: Dag, anchor: int, other: TensorType[Attribute], result: TensorType[Attribute]
) -> bool:
    """Whether an operand varies along the output channels only."""
    rank = len(result.get_shape())
    shape = (1,) * (rank - len(other.get_shape())) + other.get_shape()
    axis = 1 if dag.names[anchor] == "conv" else rank - 1
    expected = tuple(d if i == axis else 1 for i, d in enumerate(result.get_shape()))
    return shape == expected
