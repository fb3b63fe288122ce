"""Runs the command `fusec` inside of the test's process, in a folder of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fusec.tools.cli import main

RELU = """
func.func @main(%x: tensor<4x40xf32>) -> tensor<4x40xf32> {
  %0 = graph.relu %x : tensor<4x40xf32> -> tensor<4x40xf32>
  func.return %0 : tensor<4x40xf32>
}
"""


class Done(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)

    @property
    def message(self) -> str:
        """What stands on stderr besides progress."""
        return "\n".join(line for line in self.err.splitlines() if not line.startswith("["))


class Fusec:
    """Runs the command line inside of this process, in a folder with models."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def file(self, name: str, data: bytes | str) -> str:
        (self.folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
        return name

    def __call__(self, *arguments: str) -> Done:
        with pytest.raises(SystemExit) as exit_:
            main(arguments)
        captured = self._capsys.readouterr()
        code = exit_.value.code
        return Done(code if isinstance(code, int) else 0, captured.out, captured.err)
