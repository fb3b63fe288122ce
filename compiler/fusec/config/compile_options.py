"""What a compilation is asked for: one typed object for Python and the command line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypedDict

from fusec.config.fusion_options import FusionOptions


class CompileKeywords(TypedDict, total=False):
    """The options as keyword arguments; `fusion=False`: every operator is a kernel of its own.

    `allow_opaque` counts where the model is given as a file.
    """

    target: str
    objective: str
    strategy: str
    fusion: bool
    disable: Iterable[str]
    only: Iterable[str]
    max_depth: int
    min_ops: int
    max_ops: int
    plan: str
    time_budget: float
    plan_cache: str
    allow_opaque: bool


@dataclass(frozen=True)
class CompileOptions:
    """`target`: a chip's name or a `.toml` file; None: the module's `npu.target` or the default.

    `allow_opaque`: ONNX operators that are not supported are left to the host.
    """

    target: str | None = None
    fusion: FusionOptions = field(default_factory=FusionOptions)
    allow_opaque: bool = False
