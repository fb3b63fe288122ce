"""DUMP_GE_GRAPH, DUMP_GRAPH_LEVEL, DUMP_GRAPH_PATH: which IR is written, and how much of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_runner import Fusec
from fusec.api import context
from fusec.frontends.mlir import LocatedParser
from fusec.pipelines import PIPELINES

DATA = "00112233445566778899AABBCCDDEEFF" * 4
NETWORK = f"""
func.func @main(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {{
  %c = graph.constant dense<"0x{DATA}"> : tensor<16xf32>
  %0 = graph.add %x, %c : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32> loc("sum")
  %1 = graph.relu %0 : tensor<4x16xf32> -> tensor<4x16xf32> loc("activation")
  func.return %1 : tensor<4x16xf32>
}}
"""


@pytest.fixture
def fusec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Fusec:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DUMP_GRAPH_PATH", "dumps/here")
    command = Fusec(tmp_path, capsys)
    command.file("net.mlir", NETWORK)
    return command


def names(fusec: Fusec, *command: str) -> list[str]:
    """What a command dumped, without the numbers, which count from 0."""
    assert fusec(*(command or ("compile", "net.mlir", "-o", "out.mlir"))).status == 0
    files = sorted(Path("dumps/here").glob("*"))
    found = [file.name for file in files]
    for number, name in enumerate(found):
        assert name.startswith(f"ge_mlir_{number:08d}_") and name.endswith(".mlir")
    for file in files:
        if "keep" not in command:
            file.unlink()
    return [name[17:-5] for name in found]


LEVELS = {
    "1": ["import", *PIPELINES["default"]],
    "2": ["import", "prepare", "optimise", "compile"],
    "": ["import", "prepare", "optimise", "compile"],
    "3": ["compile"],
    "4": ["import"],
    "optimise | graph-raise": ["graph-raise", "optimise"],
}


@pytest.mark.parametrize("level", LEVELS)
def test_which(fusec: Fusec, monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    monkeypatch.setenv("DUMP_GRAPH_LEVEL", level)
    assert names(fusec) == []
    monkeypatch.setenv("DUMP_GE_GRAPH", "2")
    wanted = LEVELS[level]
    found = names(fusec)
    assert [n for n in found if n != "compile" or level != "1"] == wanted


def test_other_commands(fusec: Fusec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUMP_GE_GRAPH", "2")
    assert names(fusec, "explain", "net.mlir") == ["import", "prepare"]
    twice = names(fusec, "profile", "net.mlir")
    assert twice.count("compile") == 2 and twice.count("import") == 1


def test_how_much(fusec: Fusec, monkeypatch: pytest.MonkeyPatch) -> None:
    def dumped(detail: str, stage: str) -> str:
        monkeypatch.setenv("DUMP_GE_GRAPH", detail)
        monkeypatch.setenv("DUMP_GRAPH_LEVEL", stage)
        assert fusec("compile", "net.mlir", "-o", "out.mlir").status == 0
        (file,) = Path("dumps/here").iterdir()
        text = file.read_text()
        file.unlink()
        return text

    everything = dumped("1", "import")
    assert DATA in everything and 'loc("activation")' in everything
    LocatedParser(context(), everything, "dump").parse_module().verify()
    without = dumped("2", "import")
    assert DATA not in without and "... (64 bytes)" in without and "loc(" not in without
    assert "graph.add" in dumped("2", "optimise")
    kernels = dumped("3", "optimise")
    assert "graph.call @add_relu_0" in kernels and "graph.add" not in kernels
    assert '// graph.kernel @add_relu_0 "add_relu": 3 operators' in kernels
    assert "// func.func @add_relu_0: " in dumped("3", "compile")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("DUMP_GE_GRAPH", "4", "DUMP_GE_GRAPH=4: expected 1"),
        ("DUMP_GE_GRAPH", "on", "DUMP_GE_GRAPH=on: expected 1"),
        ("DUMP_GRAPH_LEVEL", "5", "DUMP_GRAPH_LEVEL=5: expected 1"),
        ("DUMP_GRAPH_LEVEL", "a||b", "DUMP_GRAPH_LEVEL=a||b: expected 1"),
        ("DUMP_GRAPH_LEVEL", "optimize", "did you mean 'optimise'"),
    ],
)
def test_wrong_variables(
    fusec: Fusec, monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv("DUMP_GE_GRAPH", "1")
    monkeypatch.setenv(name, value)
    done = fusec("explain", "net.mlir")
    assert done.status == 3 and message in done.message


def test_a_folder_that_cannot_be_made(fusec: Fusec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUMP_GE_GRAPH", "1")
    monkeypatch.setenv("DUMP_GRAPH_PATH", "net.mlir")
    done = fusec("explain", "net.mlir")
    assert done.status == 5 and "DUMP_GRAPH_PATH" in done.message
