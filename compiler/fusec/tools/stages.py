"""What a pass pipeline did, pass by pass: seconds, operator counts, dumped IR.

A `StageLog` is told before and after each pass; it prints to stderr, never into the IR.
"""

import sys
import time
from pathlib import Path
from typing import NamedTuple, TextIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from fusec.tools.output import write_text
from fusec.tools.status import CannotWriteError


class Stage(NamedTuple):
    name: str
    seconds: float
    operators_before: int
    operators_after: int


class StageLog:
    """Collects one Stage a pass and writes `NN-<pass>.mlir` files.

    `dump_dir`, `statistics`: None and False where not asked for, so that nothing is paid for them.
    """

    def __init__(self, *, dump_dir: Path | None, statistics: bool) -> None:
        self.stages: list[Stage] = []
        self._dump_dir = dump_dir
        self._statistics = statistics
        self._operators = 0
        self._started = 0.0
        self._dumped = 0

    def begin(self, module: ModuleOp, chunk: int | None) -> None:
        """Takes note of the input; `chunk` counts the parts of a split file, None for a whole."""
        if self._dump_dir is not None and chunk is not None:
            self._dump_dir = self._dump_dir.parent if chunk else self._dump_dir
            self._dump_dir /= f"chunk{chunk}"
        self._dumped = 0
        self._operators = count_operators(module) if self._statistics else 0
        self._dump("input", module)

    def start(self) -> None:
        """The next pass starts now."""
        self._started = time.perf_counter()

    def finish(self, name: str, module: ModuleOp) -> float:
        """The pass `name` has just ended; returns its seconds."""
        seconds = time.perf_counter() - self._started
        before = self._operators
        self._operators = count_operators(module) if self._statistics else 0
        self.stages.append(Stage(name, seconds, before, self._operators))
        return seconds

    def dump(self, name: str, module: ModuleOp) -> None:
        """Writes the IR that the pass `name` left."""
        self._dump(name, module)

    def report(self, *, timing: bool, statistics: bool, stream: TextIO = sys.stderr) -> None:
        """One line a pass, then the sum."""
        width = max((len(stage.name) for stage in self.stages), default=0)
        for stage in (*self.stages, self._total()):
            seconds = f"  {stage.seconds:9.4f} s" if timing else ""
            counts = f"{stage.operators_before:8d} -> {stage.operators_after:d}"
            operators = f"  {counts} operators" if statistics else ""
            print(f"{stage.name:{width}}{seconds}{operators}", file=stream)

    def _total(self) -> Stage:
        if not self.stages:
            return Stage("total", 0.0, self._operators, self._operators)
        seconds = sum(stage.seconds for stage in self.stages)
        first, last = self.stages[0], self.stages[-1]
        return Stage("total", seconds, first.operators_before, last.operators_after)

    def _dump(self, name: str, module: ModuleOp) -> None:
        if self._dump_dir is None:
            return
        try:
            self._dump_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CannotWriteError(
                f"cannot make the folder {str(self._dump_dir)!r}: {reason}"
            ) from error
        write_text(self._dump_dir / f"{self._dumped:02d}-{name}.mlir", module_text(module))
        self._dumped += 1


def count_operators(module: ModuleOp) -> int:
    """Operators inside the module, those in nested regions included."""
    return sum(1 for _ in module.walk()) - 1


def module_text(module: ModuleOp) -> str:
    from io import StringIO

    stream = StringIO()
    Printer(stream=stream).print_op(module)
    stream.write("\n")
    return stream.getvalue()
