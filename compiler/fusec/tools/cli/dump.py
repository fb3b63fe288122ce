"""IR after each stage of a command, as DUMP_GE_GRAPH and its like ask for it.

In: the module after each pass. Out: files `ge_mlir_NNNNNNNN_STAGE.mlir` in DUMP_GRAPH_PATH.
"""

from __future__ import annotations

import re
from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.printer import Printer

from fusec.config.dump import (
    EVERYTHING,
    FIRST,
    LAST,
    PASSES,
    STAGES,
    STRUCTURE,
    DumpSettings,
)
from fusec.config.errors import ConfigError, nearest
from fusec.pipelines import STAGES as PIPELINE
from fusec.tools.output import write_text
from fusec.tools.status import CannotWriteError
from fusec_dialects.graph import KernelOp

IMPORTED = "import"
"""The stage before the first one: the model as it was read."""

_STAGE_OF = {name: stage for stage, passes in PIPELINE.items() for name in passes}

_DATA = re.compile(r'"(?:0x)?[0-9A-Fa-f]{65,}"')
"""Data of constants and of foreign nodes, as hexadecimal digits."""


class GraphDump:
    """Writes what the settings ask for. `None`: nothing. Files of one command count on."""

    def __init__(self, settings: DumpSettings | None) -> None:
        self._settings = settings
        self._number = 0
        self._last: tuple[str, str] | None = None
        if settings is not None:
            known = [IMPORTED, *PIPELINE, *_STAGE_OF]
            for name in settings.names:
                if name not in known:
                    raise ConfigError(f"DUMP_GRAPH_LEVEL={name}: {nearest(name, known)}")

    def imported(self, module: ModuleOp) -> None:
        """The model as it was read; it is dumped before all others."""
        self._stage(IMPORTED, module)

    def passed(self, name: str, module: ModuleOp) -> None:
        """The module after a pass."""
        settings = self._settings
        stage = _STAGE_OF.get(name)
        if settings is None or stage is None:
            return
        if name in settings.names or (not settings.names and settings.level == PASSES):
            self._write(name, module)
        if name == PIPELINE[stage][-1]:
            self._stage(stage, module)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        """Writes the last stage that there was, where that alone is asked for."""
        if self._last is not None:
            self._put(*self._last)
            self._last = None

    def _stage(self, stage: str, module: ModuleOp) -> None:
        settings = self._settings
        if settings is None:
            return
        if settings.names:
            wanted = stage in settings.names
        elif settings.level == LAST:
            self._last = (stage, self._text(module))
            return
        else:
            first = stage == IMPORTED
            wanted = settings.level == STAGES or (first and settings.level in (PASSES, FIRST))
        if wanted:
            self._write(stage, module)

    def _write(self, name: str, module: ModuleOp) -> None:
        self._put(name, self._text(module))

    def _put(self, name: str, text: str) -> None:
        settings = self._settings
        if settings is None:
            return
        try:
            settings.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CannotWriteError(
                f"cannot make the folder {str(settings.folder)!r} (DUMP_GRAPH_PATH): {reason}"
            ) from error
        write_text(settings.folder / f"ge_mlir_{self._number:08d}_{name}.mlir", text)
        self._number += 1

    def _text(self, module: ModuleOp) -> str:
        detail = EVERYTHING if self._settings is None else self._settings.detail
        stream = StringIO()
        printer = Printer(stream=stream, print_debuginfo=detail == EVERYTHING)
        if detail != STRUCTURE:
            printer.print_op(module)
        else:
            for op in module.body.block.ops:
                if _is_kernel(op):
                    stream.write(f"// {_heading(op)}")
                else:
                    printer.print_op(op)
                stream.write("\n")
        text = stream.getvalue() + "\n"
        return text if detail == EVERYTHING else _DATA.sub(_shortened, text)


def _shortened(match: re.Match[str]) -> str:
    digits = len(match.group().strip('"').removeprefix("0x"))
    return f'"{match.group()[1:17]}... ({digits // 2} bytes)"'


def _is_kernel(op: Operation) -> bool:
    return isinstance(op, KernelOp) or (isinstance(op, FuncOp) and "npu.core" in op.attributes)


def _heading(op: Operation) -> str:
    """A kernel without its body."""
    if isinstance(op, KernelOp):
        name, pattern, type_ = op.sym_name.data, f' "{op.pattern.data}"', op.function_type
    elif isinstance(op, FuncOp):
        name, pattern, type_ = op.sym_name.data, "", op.function_type
    else:
        return op.name
    inside = sum(1 for _ in op.walk()) - 1
    return f"{op.name} @{name}{pattern}: {inside} operators, {type_}"
