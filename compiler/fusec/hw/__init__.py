"""Target chips: one .toml file each, and the frozen class that reads it.

Imports nothing else of fusec.
"""

from fusec.hw.read import TargetError, TargetFileError, UnknownTargetError
from fusec.hw.target import DEFAULT_TARGET, DTYPE_BYTES, TARGETS, Target, load_target

__all__ = [
    "DEFAULT_TARGET",
    "DTYPE_BYTES",
    "TARGETS",
    "Target",
    "TargetError",
    "TargetFileError",
    "UnknownTargetError",
    "load_target",
]
