"""What a compilation is asked for: one typed object for Python and the command line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypedDict, Unpack

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
    allow_opaque: bool


@dataclass(frozen=True)
class CompileOptions:
    """`target`: a chip's name or a `.toml` file; None: the module's `npu.target` or the default.

    `allow_opaque`: ONNX operators that are not supported are left to the host.
    """

    target: str | None = None
    fusion: FusionOptions = field(default_factory=FusionOptions)
    allow_opaque: bool = False

    @staticmethod
    def of(**keywords: Unpack[CompileKeywords]) -> CompileOptions:
        """From keyword arguments."""
        defaults = FusionOptions()
        fusion = FusionOptions(
            strategy=keywords.get("strategy", defaults.strategy),
            objective=keywords.get("objective", defaults.objective),
            max_depth=keywords.get("max_depth", defaults.max_depth),
            min_ops=keywords.get("min_ops", defaults.min_ops),
            max_ops=keywords.get("max_ops", defaults.max_ops),
            plan=keywords.get("plan"),
            disable=_names(keywords.get("disable", ())),
            only=_names(keywords["only"]) if "only" in keywords else None,
            enabled=keywords.get("fusion", defaults.enabled),
        )
        return CompileOptions(keywords.get("target"), fusion, keywords.get("allow_opaque", False))


def _names(names: Iterable[str]) -> frozenset[str]:
    return frozenset([names] if isinstance(names, str) else names)
