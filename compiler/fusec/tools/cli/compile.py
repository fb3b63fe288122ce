"""`fusec compile MODEL -o FILE`: placed kernels as MLIR text."""

from __future__ import annotations

import argparse
from pathlib import Path

from fusec.tools.cli.session import Progress, compile_model, open_model, print_json
from fusec.tools.output import write_text


def run(options: argparse.Namespace) -> int:
    """Compiles and writes; the file is whole or absent."""
    progress = Progress(options)
    model = open_model(options, progress)
    compiled = compile_model(model, options, progress)
    progress(f"writing {options.output}")
    write_text(Path(options.output), f"{compiled.npu}\n")
    if options.json:
        print_json({"model": options.model, "output": options.output, **_seconds(compiled.seconds)})
    return 0


def _seconds(seconds: dict[str, float]) -> dict[str, dict[str, float]]:
    return {"compile_seconds": seconds}
