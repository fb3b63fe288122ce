"""Passes that read and write the npu level; `set_option` as torch_npu has it under this name.

The options come from `fusec.npu_options`, loaded when first used.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

set_option: Callable[[Mapping[str, object]], None]
get_option: Callable[[], dict[str, Any]]


def __getattr__(name: str) -> object:
    if name in ("set_option", "get_option"):
        value: object = getattr(import_module("fusec.npu_options"), name)
        return value
    raise AttributeError(f"module 'fusec.npu' has no attribute {name!r}")
