"""fusec: a graph-fusion compiler for Ascend-like NPUs.

Names are loaded when first used, so that `import fusec` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

__version__ = "0.1.0"

__all__ = [
    "CompileOptions",
    "Compiled",
    "FusionOptions",
    "Model",
    "__version__",
    "compile",
    "fuse",
    "load",
    "run_passes",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'fusec' has no attribute {name!r}")
    value: object = getattr(import_module("fusec.api"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
