"""What each graph operator means, in numpy: the oracle of every test and of constant folding.

Knows arrays and plain attribute values only, no IR. Names are loaded when first used: who needs
fusion classes only does not import numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fusec.semantics.base import Attr, AttrValue, Call, Kind, Semantic, SemanticsError
    from fusec.semantics.classes import CLASSES, FusionClass, fusion_class
    from fusec.semantics.dtypes import DATA_TYPES, Array, np_dtype
    from fusec.semantics.flop_count import flops
    from fusec.semantics.table import TABLE, evaluate

_PLACES = {
    "base": ("Attr", "AttrValue", "Call", "Kind", "Semantic", "SemanticsError"),
    "classes": ("CLASSES", "FusionClass", "fusion_class"),
    "dtypes": ("DATA_TYPES", "Array", "np_dtype"),
    "flop_count": ("flops",),
    "table": ("TABLE", "evaluate"),
}
"""Module -> the public names it defines."""

__all__ = [
    "CLASSES",
    "DATA_TYPES",
    "TABLE",
    "Array",
    "Attr",
    "AttrValue",
    "Call",
    "FusionClass",
    "Kind",
    "Semantic",
    "SemanticsError",
    "evaluate",
    "flops",
    "fusion_class",
    "np_dtype",
]


def __getattr__(name: str) -> object:
    for module, names in _PLACES.items():
        if name in names:
            value: object = getattr(import_module(f"fusec.semantics.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'fusec.semantics' has no attribute {name!r}")
