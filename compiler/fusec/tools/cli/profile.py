"""`fusec profile MODEL`: kernels, bytes and modelled time, fused and unfused."""

from __future__ import annotations

import argparse
from typing import Literal

from fusec.report.profile import Profile
from fusec.tools.cli.session import Progress, compile_model, open_graph, print_json

Counted = Literal[
    "groups",
    "kernels",
    "gm_boundary_bytes",
    "gm_bytes",
    "hbm_bytes",
    "workspace_bytes",
    "modelled_us",
]

ROWS: tuple[tuple[Counted, str, float], ...] = (
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
    model = open_graph(options, progress)
    compiled = compile_model(model, options, progress)
    progress("timing the kernels (modelled)")
    fused = compiled.profile()
    unfused = fused
    if not options.no_fusion:
        baseline = compile_model(model, options, progress, fusion=False)
        progress("timing the kernels (modelled)")
        unfused = baseline.profile()
    if options.json:
        print_json({**fused, "unfused": unfused})
    else:
        _print(fused, unfused)
    return 0


def _print(fused: Profile, unfused: Profile) -> None:
    print(f"{fused['model']} on {fused['target']}: {fused['operators']} operators")
    print(f"{'':34}{'unfused':>12}{'fused':>12}{'ratio':>8}")
    for key, text, unit in ROWS:
        a, b = unfused[key] / unit, fused[key] / unit
        ratio = f"{a / b:8.2f}" if b else f"{'':>8}"
        print(f"{text:34}{a:12.5g}{b:12.5g}{ratio}")
    if fused["host_calls"]:
        calls, size = fused["host_calls"], fused["host_bytes"] / 1e6
        print(f"host calls: {calls}, {size:.5g} MB to the host and back; no time is modelled")
    busy = ", ".join(f"{p} {v:.0%}" for p, v in sorted(fused["pipe_busy"].items()))
    print(f"pipes busy: {busy}")
    seconds = ", ".join(f"{s} {v:.2f}" for s, v in fused["compile_seconds"].items())
    print(f"seconds to compile: {seconds}")
