"""What every entry of the operator table is made of: its type, and the sizes that it may need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from fusec.frontends.errors import ImportFailure
from fusec_dialects.graph.shapes import Shape

if TYPE_CHECKING:
    from fusec.frontends.onnx.folding import Result
    from fusec.frontends.onnx.node import Node

Entry: TypeAlias = "Callable[[Node], Sequence[Result]]"
"""From a node to the values of its outputs, or arrays where they are known already; ImportFailure
where a form is not supported."""


def entry_at(versions: Sequence[tuple[int, Entry]], opset: int) -> Entry:
    """The entry that holds at an opset; `versions` are the newest first. Raises ImportFailure."""
    for since, entry in versions:
        if since <= opset:
            return entry
    raise ImportFailure(
        f"opset {opset} is too old, this operator is read from opset {versions[-1][0]} "
        "on; convert the model with onnx.version_converter"
    )


def static(dims: Shape, what: str) -> tuple[int, ...]:
    """Sizes that have to be known; `what` needs them."""
    found = tuple(d for d in dims if isinstance(d, int))
    if len(found) < len(dims):
        raise ImportFailure(
            f"{what} needs static sizes, not [{', '.join(map(str, dims))}]; give them by --shape"
        )
    return found


def number_of(dims: Shape) -> int:
    """The number of elements, which has to be known."""
    return prod(static(dims, "it"))
