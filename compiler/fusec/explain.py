"""What fusion decides about a model and why, without compiling it."""

from __future__ import annotations

from pathlib import Path

from fusec.api import Model, run_passes
from fusec.config.compile_options import CompileOptions
from fusec.config.fusion_file import read_json
from fusec.fusion.explain import Explanation
from fusec.fusion.fuse import fuse_module
from fusec.fusion.remarks import report

__all__ = ["Explanation", "explain"]


def explain(model: Model, options: CompileOptions | None = None) -> Explanation:
    """Groups with what they save, and for each edge between two of them why they are not one.

    The model stays as it is. Raises PassFailedException for names that do not exist and for a saved
    plan that does not fit, ConfigError for one that cannot be read.
    """
    options = options or CompileOptions()
    module = model.module.clone()
    if options.fusion.enabled:
        run_passes(module, "prepare")
    else:
        run_passes(module, "graph-infer-shapes")
    found: list[Explanation] = []
    path = options.fusion.plan
    remarks = fuse_module(
        module,
        options.fusion,
        options.target,
        plan=None if path is None else read_json(Path(path)),
        offload=options.allow_opaque,
        explanations=found,
    )
    report(remarks, [group.name for group in found[0].groups])
    return found[0]
