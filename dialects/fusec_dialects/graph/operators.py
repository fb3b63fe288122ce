"""Every operator with the common format by name, and `build`, which infers the result types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, SSAValue

from .base import AttrValue, GraphOp, python_value, tensor_type
from .composite import COMPOSITE
from .compute import COMPUTE
from .elementwise import ELEMENTWISE
from .functions import FUNCTIONS
from .indexed import INDEXED
from .movement import MOVEMENT
from .shapes import result_types

OPERATORS: dict[str, type[GraphOp]] = {
    cls.name.removeprefix("graph."): cls
    for cls in (*ELEMENTWISE, *FUNCTIONS, *COMPUTE, *COMPOSITE, *MOVEMENT, *INDEXED)
}
"""Every operator with the common format, by its name without the dialect."""


def build(
    name: str,
    operands: Sequence[SSAValue],
    attrs: Mapping[str, AttrValue | Attribute] | None = None,
    types: Sequence[Attribute] | None = None,
) -> GraphOp:
    """The operator, standing in no block yet; its result types follow from its operands if not
    given.

    `types` are needed where only the result type says the shape (reshape, expand, constants).
    Raises VerifyException where the operands contradict each other or the attributes.
    """
    cls = OPERATORS[name]
    if types is None:
        given = {**cls.DEFAULTS, **(attrs or {})}
        plain = {k: python_value(v) if isinstance(v, Attribute) else v for k, v in given.items()}
        to = given.get("to")
        types = result_types(
            name,
            [tensor_type(o) for o in operands],
            plain,
            to if isinstance(to, Attribute) else None,
        )
    if types is None:
        raise ValueError(f"graph.{name}: give the type of the result")
    return cls.make(operands, types, attrs)
