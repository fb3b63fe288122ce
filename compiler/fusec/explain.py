"""What fusion decides about a model and why, without compiling it."""

from __future__ import annotations

from fusec.api import Model, run_passes
from fusec.config.compile_options import CompileOptions
from fusec.fusion.explain import Explanation
from fusec.fusion.fuse import fuse_module

__all__ = ["Explanation", "explain"]


def explain(model: Model, options: CompileOptions | None = None) -> Explanation:
    """Groups with what they save, and for each edge between two of them why they are not one.

    The model stays as it is. Raises PassFailedException for names that do not exist.
    """
    options = options or CompileOptions()
    module = model.module.clone()
    if options.fusion.enabled:
        run_passes(module, "prepare")
    else:
        run_passes(module, "graph-infer-shapes")
    found: list[Explanation] = []
    fuse_module(
        module, options.fusion, options.target, offload=options.allow_opaque, explanations=found
    )
    return found[0]
