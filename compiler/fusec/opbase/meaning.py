"""What the trace of a fusion computes: types of its outputs, and values on arrays.

In: the terms of its outputs, whose inputs are `i0`, `i1`, .... A trace has one meaning where every
operator's attributes are said and result types follow from operands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from fusec.fusion.patterns.terms import Apply, Term
from fusec.opbase.symbols import FusionError
from fusec.semantics import Array, Call, evaluate
from fusec.semantics.types import ELEMENT_TYPES, NUMPY_NAMES
from fusec_dialects.graph import OPERATORS, AttrValue
from fusec_dialects.graph.shapes import result_types

VIEWED = frozenset({"reshape", "expand", "constant_of_shape"})
"""Operators whose result type says more than their operands do."""


@dataclass(frozen=True)
class Trace:
    """`order` has every operator of `outputs`, operands first."""

    outputs: tuple[Apply, ...]
    order: tuple[Apply, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", tuple(_ordered(self.outputs)))

    def check(self, name: str) -> None:
        """Raises FusionError where the trace alone does not say what it computes."""
        for term in self.order:
            known = OPERATORS[term.op].get_irdl_definition().properties
            given = {key for key, value in term.attrs if value is not None}
            optional = {key for key, value in OPERATORS[term.op].DEFAULTS.items() if value is None}
            if term.op in VIEWED:
                raise FusionError(
                    f"{name}: with a lower, types have to follow from the inputs, and those of "
                    f"ascendc.{term.op} do not; leave it outside of the fusion"
                )
            required = {k for k, d in known.items() if type(d).__name__ == "PropertyDef"}
            if missing := sorted(required - given - optional):
                raise FusionError(
                    f"{name}: with a lower, ascendc.{term.op} needs its attribute '{missing[0]}', "
                    "else the kernel does not know what to compute"
                )

    def types(
        self, inputs: Sequence[TensorType[Attribute]], _: Mapping[str, AttrValue]
    ) -> list[TensorType[Attribute]]:
        """Types of the outputs; VerifyException where the inputs contradict each other."""
        known: dict[Term, TensorType[Attribute]] = {f"i{k}": t for k, t in enumerate(inputs)}
        for term in self.order:
            element = next(known[o].element_type for o in term.operands if not _is_number(o))
            operands = [
                TensorType(element, []) if _is_number(o) else known[o] for o in term.operands
            ]
            attrs = dict(term.attrs)
            to = attrs.get("to")
            cast = ELEMENT_TYPES[NUMPY_NAMES[to]] if isinstance(to, str) else None
            found = result_types(term.op, operands, attrs, cast)
            if found is None or len(found) != 1:
                raise FusionError(f"ascendc.{term.op}: it has no one result")
            known[term] = found[0]
        return [known[o] for o in self.outputs]

    def compute(self, call: Call) -> list[Array]:
        """The outputs, one operator after the other."""
        known: dict[Term, Array] = {f"i{k}": call.array(k) for k in range(len(call.inputs))}
        for term in self.order:
            like = next(known[o].dtype for o in term.operands if not _is_number(o))
            operands = [
                np.asarray(o, like) if isinstance(o, float) else known[o] for o in term.operands
            ]
            attrs = {k: v for k, v in term.attrs if v is not None}
            to = attrs.get("to")
            if isinstance(to, str):
                attrs["to"] = NUMPY_NAMES[to]
            (known[term],) = evaluate(term.op, operands, attrs, oracle=call.oracle)
        return [known[o] for o in self.outputs]


def _is_number(term: Term) -> bool:
    return isinstance(term, float)


def _ordered(roots: Sequence[Apply]) -> list[Apply]:
    """Every operator once, operands before users."""
    done: dict[Apply, None] = {}
    stack: list[tuple[Apply, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        term, ready = stack.pop()
        if term in done:
            continue
        if ready:
            done[term] = None
            continue
        stack.append((term, True))
        stack += [(o, False) for o in term.operands if isinstance(o, Apply) and o not in done]
    return list(done)
