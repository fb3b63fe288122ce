"""Constants of the graph dialect from raw bytes, so that inf, nan and every bit survive."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute


def dense(type_: TensorType[Attribute], content: bytes) -> DenseIntOrFPElementsAttr[Any]:
    """The elements of a static tensor in row-major order, little endian."""
    return DenseIntOrFPElementsAttr(cast(TensorType[Any], type_), BytesAttr(content))
