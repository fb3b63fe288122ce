"""What the commands share: reading the model, compiling it, progress on stderr."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from fusec.api import Compiled, CompileOptions, Model, compile, load
from fusec.config.fusion_options import FusionOptions
from fusec.frontends.shapes import parse_shapes
from fusec.tools.status import InputError


class Progress:
    """One line for each step of long work, on stderr, unless quiet."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._quiet = bool(options.quiet)
        self._start = time.perf_counter()

    def __call__(self, text: str) -> None:
        if not self._quiet:
            print(f"[{time.perf_counter() - self._start:6.1f} s] {text}", file=sys.stderr)


def open_model(options: argparse.Namespace, progress: Progress) -> Model:
    """The model named on the command line."""
    path = Path(options.model)
    if not path.is_file():
        raise InputError(f"cannot read '{path}': no such file; name an .onnx or .mlir file")
    progress(f"reading {path}")
    shapes: dict[str, tuple[int, ...]] = parse_shapes(options.shape)
    return load(path, shapes)


def compile_options(options: argparse.Namespace, *, fusion: bool | None = None) -> CompileOptions:
    """Compilation as the command line asks for it; `fusion` overrides `--no-fusion`."""
    enabled = not options.no_fusion if fusion is None else fusion
    return CompileOptions(
        options.target,
        FusionOptions(
            strategy=options.strategy,
            objective=options.objective,
            max_depth=options.max_depth,
            disable=frozenset(options.disable_fusion),
            only=frozenset(options.only_fusion),
            enabled=enabled,
        ),
    )


def compile_model(
    model: Model, options: argparse.Namespace, progress: Progress, *, fusion: bool | None = None
) -> Compiled:
    """The compiled model, with a line of progress."""
    wanted = compile_options(options, fusion=fusion)
    progress("compiling" + ("" if wanted.fusion.enabled else " without fusion"))
    return compile(model, wanted)


def print_json(data: dict[str, Any]) -> None:
    """One JSON object on stdout."""
    import json

    print(json.dumps(data, indent=2))
