"""Types of an operator's results from the types of its operands and its attributes; the verifier.

Sizes and their algebra are in sizes.py, the rule of each operator in shape_rules.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from .base import GraphOp, tensor_type
from .elements import result_element, verify_elements, verify_known
from .own import OWN
from .shape_rules import RULES, Attrs, Rule, window_size
from .shapes_more import MORE_RULES
from .sizes import (
    UNNAMED,
    Dim,
    Shape,
    all_agree,
    broadcast,
    broadcasts_to,
    dims_of,
    make_type,
    may_hold_as_many,
    normal_axis,
    precise,
    quotient,
    slice_bounds,
    text,
)

__all__ = [
    "Attrs",
    "Dim",
    "Rule",
    "Shape",
    "broadcast",
    "dims_of",
    "infer_shapes",
    "infer_types",
    "make_type",
    "normal_axis",
    "refined",
    "result_types",
    "slice_bounds",
    "verify_types",
    "window_size",
]


def infer_shapes(name: str, shapes: Sequence[Shape], attrs: Attrs) -> Sequence[Shape] | None:
    """Shapes of an operator's results; None where only its result type says. VerifyException on
    errors.
    """
    rule = RULES.get(name) or MORE_RULES.get(name)
    return None if rule is None else rule(shapes, attrs)


def result_types(
    name: str,
    types: Sequence[TensorType[Attribute]],
    attrs: Attrs,
    to: Attribute | None = None,
) -> list[TensorType[Attribute]] | None:
    """Types of the results of operator `name` on operands of `types`; `to` is a cast's element.

    None where only the result type says. Raises VerifyException, beginning with the operator's
    name, where the operands contradict each other or the attributes.
    """
    try:
        if (own := OWN.get(name)) is not None:
            return own.infer(types, attrs)
        verify_elements(name, types)
        shapes = infer_shapes(name, [dims_of(t) for t in types], attrs)
    except VerifyException as e:
        raise VerifyException(f"graph.{name}: {e}") from e
    if shapes is None:
        return None
    element = result_element(name, types, to)
    return [make_type(element, s) for s in shapes]


def infer_types(op: GraphOp) -> list[TensorType[Attribute]] | None:
    """Types of an operator's results; None where only its result types say."""
    types = [tensor_type(o) for o in op.operands]
    return result_types(op.op_name, types, op.attrs(), op.properties.get("to"))


def refined(op: GraphOp) -> list[TensorType[Attribute]]:
    """The most precise types of the results: what is declared and what follows, taken together.

    Raises VerifyException where they contradict each other.
    """
    inferred = infer_types(op)
    declared = [tensor_type(r) for r in op.results]
    if inferred is None:
        verify_view(op)
        return [make_type(d.element_type, _view_dims(op, dims_of(d))) for d in declared]
    _verify_results(op, declared, inferred)
    return [
        make_type(i.element_type, tuple(map(precise, dims_of(d), dims_of(i))))
        for d, i in zip(declared, inferred, strict=True)
    ]


def _view_dims(op: GraphOp, dims: Shape) -> Shape:
    """The result's sizes of a reshape or expand, the unknown ones found where they can be."""
    if not op.operands or UNNAMED not in dims:
        return dims
    source = dims_of(tensor_type(op.operands[0]))
    if op.op_name == "expand":
        return tuple(map(precise, dims, broadcast(source, dims)))
    if dims.count(UNNAMED) > 1:
        return dims
    size = quotient(source, tuple(d for d in dims if d != UNNAMED))
    return tuple(size if d == UNNAMED and size is not None else d for d in dims)


def verify_types(op: GraphOp) -> None:
    """Raises VerifyException where the declared result types contradict the operands."""
    declared = [tensor_type(r) for r in op.results]
    try:
        for type_ in declared:
            verify_known(type_.element_type)
    except VerifyException as e:
        raise VerifyException(f"{op.name}: {e}") from e
    inferred = infer_types(op)
    if inferred is None:
        verify_view(op)
    else:
        _verify_results(op, declared, inferred)


def _verify_results(
    op: GraphOp,
    declared: Sequence[TensorType[Attribute]],
    inferred: Sequence[TensorType[Attribute]],
) -> None:
    if len(inferred) != len(declared):
        raise VerifyException(f"{op.name}: {len(declared)} results, expected {len(inferred)}")
    for expected, found in zip(inferred, declared, strict=True):
        if expected is found:
            continue
        same = all_agree(_dims(op, expected), _dims(op, found))
        if not same or expected.element_type != found.element_type:
            raise VerifyException(f"{op.name}: the result is {expected}, not {found}")


def _dims(op: GraphOp, type_: TensorType[Attribute]) -> Shape:
    try:
        return dims_of(type_)
    except VerifyException as e:
        raise VerifyException(f"{op.name}: {e}") from e


def verify_view(op: GraphOp) -> None:
    """The verifier of operators whose result type says the shape: reshape, expand, constants."""
    dest = tensor_type(op.results[0])
    b = _dims(op, dest)
    if not op.operands:
        if any(isinstance(d, str) for d in b):
            raise VerifyException(f"{op.name}: {text(b)} is not static; nothing else says the size")
        return
    source = tensor_type(op.operands[0])
    if source.element_type != dest.element_type:
        raise VerifyException(f"{op.name}: the result has elements of {source.element_type}")
    a = dims_of(source)
    if op.op_name == "expand":
        if not broadcasts_to(a, b):
            raise VerifyException(f"{op.name}: {text(a)} does not broadcast to {text(b)}")
    elif not may_hold_as_many(a, b):
        raise VerifyException(f"{op.name}: {text(a)} and {text(b)} differ in number of elements")
