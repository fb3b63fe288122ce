"""fusec: a graph-fusion compiler for Ascend-like NPUs.

Names are loaded when first used, so that `import fusec` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fusec import npu
    from fusec.api import (
        Compiled,
        CompileOptions,
        FusionOptions,
        Model,
        compile,
        fuse,
        load,
        run_passes,
    )
    from fusec.explain import precision_compare, visualize_graph
    from fusec.fusion.strategies import register_strategy
    from fusec.npu_options import modelled_time

__version__ = "0.1.0"

_PLACES = {
    "modelled_time": "fusec.npu_options",
    "precision_compare": "fusec.explain",
    "register_strategy": "fusec.fusion.strategies",
    "visualize_graph": "fusec.explain",
}
"""Names that are not in fusec.api."""

__all__ = [
    "CompileOptions",
    "Compiled",
    "FusionOptions",
    "Model",
    "__version__",
    "compile",
    "fuse",
    "load",
    "modelled_time",
    "npu",
    "precision_compare",
    "register_strategy",
    "run_passes",
    "visualize_graph",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'fusec' has no attribute {name!r}")
    if name == "npu":
        return import_module("fusec.npu")
    value: object = getattr(import_module(_PLACES.get(name, "fusec.api")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
