"""`fusec profile MODEL`: kernels, bytes and modelled time, fused and unfused."""

from __future__ import annotations

import argparse
from typing import Any

from fusec.tools.cli.session import Progress, compile_model, open_model, print_json

ROWS = (
    ("groups", "groups", 1),
    ("kernels", "kernels", 1),
    ("gm_boundary_bytes", "MB across group boundaries", 1e6),
    ("gm_bytes", "MB over the global memory port", 1e6),
    ("hbm_bytes", "MB from and to HBM", 1e6),
    ("workspace_bytes", "MB of workspace", 1e6),
    ("modelled_us", "time, us (modelled)", 1),
)


def run(options: argparse.Namespace) -> int:
    """Profiles with fusion and without; with --no-fusion both are the same."""
    progress = Progress(options)
    model = open_model(options, progress)
    compiled = compile_model(model, options, progress)
    progress("timing the kernels (modelled)")
    fused = compiled.profile()
    if options.no_fusion:
        unfused = dict(fused)
    else:
        baseline = compile_model(model, options, progress, fusion=False)
        progress("timing the kernels (modelled)")
        unfused = baseline.profile()
        del unfused["compile_seconds"]
    data = {"model": options.model, **fused, "unfused": unfused}
    if options.json:
        print_json(data)
    else:
        _print(data)
    return 0


def _print(data: dict[str, Any]) -> None:
    unfused = data["unfused"]
    print(f"{data['model']} on {data['target']}: {data['operators']} operators")
    print(f"{'':34}{'unfused':>12}{'fused':>12}{'ratio':>8}")
    for key, text, unit in ROWS:
        a, b = unfused[key] / unit, data[key] / unit
        ratio = f"{a / b:8.2f}" if b else f"{'':>8}"
        print(f"{text:34}{a:12.1f}{b:12.1f}{ratio}")
    busy = ", ".join(f"{p} {v:.0%}" for p, v in sorted(data["pipe_busy"].items()))
    print(f"pipes busy: {busy}")
    seconds = ", ".join(f"{s} {v:.2f}" for s, v in data["compile_seconds"].items())
    print(f"seconds to compile: {seconds}")
