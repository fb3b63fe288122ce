"""What the commands share: reading the model, compiling it, progress on stderr, JSON on stdout."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from fusec.api import Compiled, CompileOptions, Level, Model, compile, fuse, load
from fusec.config.fusion_options import FusionOptions
from fusec.frontends.errors import ImportFailure
from fusec.frontends.shapes import parse_shapes
from fusec.frontends.values import parse_values
from fusec.fusion.patterns import all_patterns
from fusec.fusion.remarks import Decisions, listening
from fusec.report.fusion_log import DECISIONS, log_lines
from fusec.report.fusion_result import fusion_result
from fusec.semantics.dtypes import Array
from fusec.tools.output import write_text
from fusec.tools.status import InputError, UsageError


class Progress:
    """One line for each step of long work, on stderr, unless quiet."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._quiet = bool(options.quiet)
        self._start = time.perf_counter()

    def __call__(self, text: str) -> None:
        if not self._quiet:
            seconds = time.perf_counter() - self._start
            print(f"[{seconds:6.1f} s] {text}", file=sys.stderr, flush=True)


def open_model(options: argparse.Namespace, progress: Progress) -> Model:
    """The model named on the command line. Raises InputError, UsageError and what `load` raises."""
    path = Path(options.model)
    if path.is_dir():
        raise InputError(f"cannot read '{path}': it is a folder; name an .onnx or .mlir file in it")
    if not path.exists():
        raise InputError(f"cannot read '{path}': no such file; name an .onnx or .mlir file")
    if path.suffix not in (".onnx", ".mlir"):
        raise InputError(
            f"cannot tell what '{path}' is: the endings known are .onnx (a model) and .mlir (text)"
        )
    try:
        shapes = parse_shapes(options.shape)
    except ImportFailure as error:
        raise UsageError(f"--shape: {error}") from error
    try:
        values = parse_values(options.value)
    except ImportFailure as error:
        raise UsageError(f"--value: {error}") from error
    progress(f"reading {path}")
    model = load(path, shapes, allow_opaque=options.allow_opaque, values=values)
    options.dump.imported(model.module)
    return model


def open_graph(options: argparse.Namespace, progress: Progress) -> Model:
    """As `open_model`, for a command that begins with fusion; UsageError for a lowered one."""
    model = open_model(options, progress)
    if model.level != "graph":
        raise UsageError(
            f"'{options.model}' is lowered already; {options.command} starts from the graph level"
        )
    return model


def compile_options(options: argparse.Namespace, *, fusion: bool | None = None) -> CompileOptions:
    """Compilation as the command line and its files ask for it; `fusion` False: without fusion."""
    settled: FusionOptions = options.configured.fusion
    if fusion is not None:
        settled = replace(settled, enabled=settled.enabled and fusion)
    return CompileOptions(options.target, settled, options.allow_opaque)


def compile_model(
    model: Model, options: argparse.Namespace, progress: Progress, *, fusion: bool | None = None
) -> Compiled:
    """The compiled model, with a line of progress for each stage."""
    wanted = compile_options(options, fusion=fusion)
    mode = "" if wanted.fusion.enabled else ", without fusion"
    with listening() as heard:
        made = compile(model, wanted, progress=lambda stage: progress(f"compiling: {stage}{mode}"))
    write_log(options, heard)
    return made


def fuse_model(model: Model, options: argparse.Namespace, progress: Progress) -> Model:
    """The fused model, with a line of progress for each stage."""
    wanted = compile_options(options)
    with listening() as heard:
        made = fuse(model, wanted, progress=lambda stage: progress(f"compiling: {stage}"))
    write_log(options, heard)
    return made


def write_log(options: argparse.Namespace, heard: Decisions) -> None:
    """The log of fusion, as GE_LOG_LEVEL asks for it, to stderr or the file that is named, and
    fusion_result.json where it is asked for. Raises CannotWriteError.
    """
    level = options.configured.environment.log_level
    if options.log_file is not None and level is None:
        level = DECISIONS
    lines = list(log_lines(heard.remarks, heard.groups, level or 0))
    if options.log_file is not None:
        write_text(Path(options.log_file), "".join(f"{line}\n" for line in lines))
    elif lines:
        print("\n".join(lines), file=sys.stderr)
    if options.fusion_result is not None:
        result = fusion_result(heard.remarks, heard.groups, frozenset(all_patterns()))
        write_text(Path(options.fusion_result), json.dumps(result, indent=1) + "\n")


def run_level(
    model: Model, inputs: dict[str, Array], options: argparse.Namespace, progress: Progress
) -> dict[str, Array]:
    """Outputs of the level that the command line asks for; nothing below it is compiled."""
    level: Level = options.level
    if level == "npu" and model.level != "npu":
        compiled = compile_model(model, options, progress)
        progress("running at level npu")
        return compiled.run(inputs)
    if level == "fused" and model.level == "graph":
        model = fuse_model(model, options, progress)
    progress(f"running at level {level}")
    return model.run(inputs)


def print_json(data: object) -> None:
    """One JSON object on stdout; numbers that JSON does not have (nan, infinity) become null."""
    print(json.dumps(_plain(data), indent=2, allow_nan=False))


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in cast(dict[Any, object], value).items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in cast(list[object], value)]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
