"""`fusec reduce MODEL`: a small part of a model on which a command still fails as on the whole."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.printer import Printer

from fusec.accuracy.reduce import minimize, operators, subset
from fusec.tools.cli.session import Progress, open_model, print_json
from fusec.tools.output import write_bytes
from fusec.tools.status import ExitStatus, InputError, UsageError

if TYPE_CHECKING:
    from onnx import NodeProto

PLACE = "{}"
"""What stands for the file in a command."""

SLOWER, SECONDS = 10.0, 10.0
"""A part is given up after this many times the seconds of the whole, and these besides."""

Item = TypeVar("Item")


def run(options: argparse.Namespace) -> int:
    """Leaves out operators as long as the command fails in the same way; writes what is left."""
    command = shlex.split(options.command_line)
    if not any(PLACE in word for word in command):
        raise UsageError(f"--command: {PLACE} has to stand where the file goes")
    output = Path(options.output)
    is_onnx = options.model.endswith(".onnx")
    if output.suffix == ".onnx" and not is_onnx:
        raise UsageError(f"'{options.model}' is no ONNX model; -o takes an .mlir")
    progress = Progress(options)
    if is_onnx and output.suffix == ".onnx":
        items, part = _onnx(options, progress)
        return _reduce(_Trial(command, options.text, ".onnx", part, progress), items, options)
    items, part = _module(options, progress)
    return _reduce(_Trial(command, options.text, ".mlir", part, progress), items, options)


@dataclass
class _Trial(Generic[Item]):
    """Runs the command on parts; `part` gives the file's bytes, None where there is none."""

    command: Sequence[str]
    text: str | None
    suffix: str
    part: Callable[[Sequence[Item]], bytes | None]
    progress: Progress
    folder: Path = Path()
    wanted: int = 0
    limit: float | None = None
    evaluations: int = 0
    _known: dict[tuple[int, ...], bool] = field(default_factory=dict[tuple[int, ...], bool])

    def whole(self, items: Sequence[Item]) -> bool:
        """Whether it fails on the whole model; how it does is what the parts have to do."""
        start = time.perf_counter()
        status, shown = self._status(items)
        self.limit = SLOWER * (time.perf_counter() - start) + SECONDS
        self.wanted = status or 0
        return self.wanted != 0 and shown

    def fails(self, items: Sequence[Item]) -> bool:
        key = tuple(map(id, items))
        if key not in self._known:
            status, shown = self._status(items)
            self._known[key] = status == self.wanted and shown
        return self._known[key]

    def _status(self, items: Sequence[Item]) -> tuple[int | None, bool]:
        """Exit status, None where there is no such part or it takes too long; and whether the text
        that is looked for was printed."""
        data = self.part(items)
        if data is None:
            return None, False
        file = self.folder / f"part{self.suffix}"
        file.write_bytes(data)
        words = [word.replace(PLACE, str(file)) for word in self.command]
        self.evaluations += 1
        try:
            done = subprocess.run(words, capture_output=True, check=False, timeout=self.limit)
        except subprocess.TimeoutExpired:
            self.progress(f"{len(items)} operators: given up after {self.limit:.0f} s")
            return None, False
        except OSError as error:
            raise InputError(f"cannot run '{words[0]}': {error.strerror or error}") from error
        shown = self.text is None or self.text.encode() in done.stdout + done.stderr
        self.progress(
            f"{len(items)} operators: exit status {done.returncode}"
            f"{'' if shown else ', without the text'}"
        )
        return done.returncode, shown


def _reduce(trial: _Trial[Item], items: Sequence[Item], options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="fusec-reduce-") as folder:
        trial.folder = Path(folder)
        if not trial.whole(items):
            what = "fail" if options.text is None else f"fail with the text {options.text!r}"
            print(f"the command does not {what} on the whole model")
            return ExitStatus.CHECK_FAILED
        kept = minimize(items, trial.fails)
    data = trial.part(kept)
    if data is None:
        raise InputError(f"'{options.model}' has no part that can be written")
    write_bytes(Path(options.output), data)
    if options.json:
        print_json(
            {
                "model": options.model,
                "operators": len(items),
                "kept": len(kept),
                "evaluations": trial.evaluations,
                "status": trial.wanted,
            }
        )
    else:
        print(
            f"{len(kept)} of {len(items)} operators in {options.output}, exit status "
            f"{trial.wanted}, after {trial.evaluations} evaluations"
        )
    return ExitStatus.OK


def _module(
    options: argparse.Namespace, progress: Progress
) -> tuple[Sequence[Operation], Callable[[Sequence[Operation]], bytes]]:
    """The operators of a module, and the text of some of them."""
    model = open_model(options, progress)
    module = model.module
    source = module.attributes.get("graph.source")
    if isinstance(source, StringAttr):
        path = Path(model.weights.source or source.data)
        module.attributes["graph.source"] = StringAttr(str(path.resolve()))

    def part(kept: Sequence[Operation]) -> bytes:
        return _text(subset(module, kept)).encode()

    return operators(module), part


def _text(module: ModuleOp) -> str:
    """With locations: they are the names of the model's nodes."""
    stream = StringIO()
    Printer(stream, print_debuginfo=True).print_op(module)
    return stream.getvalue() + "\n"


def _onnx(
    options: argparse.Namespace, progress: Progress
) -> tuple[Sequence[NodeProto], Callable[[Sequence[NodeProto]], bytes | None]]:
    """The nodes of a model, and the model of some of them."""
    from fusec.accuracy.reduce_onnx import NoPart, OnnxParts

    progress(f"reading {options.model}")
    parts = OnnxParts.load(Path(options.model))

    def part(kept: Sequence[NodeProto]) -> bytes | None:
        try:
            return parts.subset(kept).SerializeToString(deterministic=True)
        except NoPart:
            return None

    return parts.nodes, part
