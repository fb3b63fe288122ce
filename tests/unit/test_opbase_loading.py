"""Where own fusions come from: pdl patterns, Python files, entry points of installed packages."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

from fusec import universe
from fusec.api import Model, compile
from fusec.config.fusion_options import FusionOptions
from fusec.fusion.fuse import fuse_module
from fusec.fusion.patterns.own import OWN
from fusec.opbase import (
    FusionError,
    Symbol,
    ascendc,
    fusion,
    load,
    load_entry_points,
    load_pdl,
    loading,
    unregister,
)
from fusec.semantics.weights import WeightStore
from graph_modules import function
from own_cases import BIAS_RELU, chain, groups, nothing_left

M = "tensor<16x16xf32>"
KERNELS = FusionOptions(objective="kernels")


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """No test sees the fusions of another one."""
    with nothing_left():
        yield


def relu(x: Symbol) -> Symbol:
    return ascendc.relu(x)


PDL = """
pdl.pattern @SumRelu : benefit(3) {
  %a = pdl.operand
  %b = pdl.operand
  %t = pdl.type
  %0 = pdl.operation "graph.add"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %1 = pdl.result 0 of %0
  %n = pdl.attribute = 0.25
  %2 = pdl.operation "graph.leaky_relu"(%1 : !pdl.value) {"alpha" = %n} -> (%t : !pdl.type)
  pdl.rewrite %2 with "fuse"
}
"""


def leaky(alpha: float) -> ModuleOp:
    return function(
        f"%x: {M}, %y: {M}",
        M,
        f"""%0 = graph.add %x, %y : ({M}, {M}) -> {M}
        %1 = graph.leaky_relu %0 {{alpha = {alpha}}} : {M} -> {M}
        func.return %1 : {M}""",
    )


def test_pdl(tmp_path: Path) -> None:
    (tmp_path / "own.mlir").write_text(PDL)
    assert load(tmp_path / "own.mlir") == ["SumRelu"]
    assert OWN.fusions["SumRelu"].benefit == 3
    assert groups(leaky(0.25)) == ["SumRelu"]
    assert groups(leaky(0.5)) == ["add_leaky_relu"]


def test_pdl_says_which_inner_values_may_escape(tmp_path: Path) -> None:
    both = function(
        f"%x: {M}, %y: {M}",
        f"({M}, {M})",
        f"""%0 = graph.add %x, %y : ({M}, {M}) -> {M}
        %1 = graph.leaky_relu %0 {{alpha = 0.25}} : {M} -> {M}
        func.return %0, %1 : {M}, {M}""",
    )
    (tmp_path / "closed.mlir").write_text(PDL)
    load_pdl(tmp_path / "closed.mlir")
    (remark,) = [r for r in fuse_module(both.clone(), KERNELS) if r.pattern == "SumRelu"]
    assert remark.reason == "escapes" and "add" in remark.message
    unregister("SumRelu")
    (tmp_path / "open.pdl").write_text(PDL.replace('"fuse"', '"fuse"(%1 : !pdl.value)'))
    assert load_pdl(tmp_path / "open.pdl") == ["SumRelu"]
    assert groups(both) == ["SumRelu"]


WRONG_PDL = {
    "the root as an inner value": (
        ('with "fuse"', 'with "fuse"(%2 : !pdl.operation)'),
        "the root is an output anyway",
    ),
    "an input as an inner value": (
        ('with "fuse"', 'with "fuse"(%a : !pdl.value)'),
        "stand inner operations",
    ),
    "an unknown operator": (("graph.add", "graph.ad"), "unknown operator 'graph.ad'"),
    "another dialect": (("graph.add", "arith.addf"), "unknown operator 'arith.addf'"),
    "an unknown attribute": (('"alpha"', '"alhpa"'), "did you mean 'alpha'"),
    "another rewrite": (('with "fuse"', 'with "other"'), 'with "fuse"'),
    "no name": (("@SumRelu ", ""), "needs a name"),
    "a second result": (("result 0", "result 1"), "one result"),
    "a taken name": (("@SumRelu", "@conv_bn_relu"), "exists"),
    "no pdl": (("pdl.pattern", "pdl.patern"), "own.mlir"),
}


@pytest.mark.parametrize("name", WRONG_PDL)
def test_wrong_pdl(name: str, tmp_path: Path) -> None:
    (old, new), message = WRONG_PDL[name]
    good = PDL.replace("SumRelu", "Good")
    (tmp_path / "own.mlir").write_text(good + PDL.replace(old, new))
    with pytest.raises(FusionError) as caught:
        load(tmp_path / "own.mlir")
    assert message in str(caught.value) and "own.mlir" in str(caught.value)
    assert not OWN.fusions


def test_python_files(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "from fusec.opbase import ascendc, fusion\n\n@fusion\n"
        "def sum_leaky(x, y):\n    return ascendc.leaky_relu(x + y, alpha=0.25)\n"
    )
    assert load(file) == ["sum_leaky"]
    assert groups(leaky(0.25)) == ["sum_leaky"]
    for text, message in (
        ("def", "not Python"),
        ("x = 1\ny = x / 0", r"own\.py:2: ZeroDivisionError"),
        ("import nosuchmodule", r"own\.py:1: ModuleNotFoundError"),
        ("from fusec.opbase import *\nfusion(lambda x: ascendc.rleu(x), name='a')", "rleu"),
    ):
        file.write_text(text)
        with pytest.raises(FusionError, match=message):
            load(file)
    (tmp_path / "own.txt").write_text("")
    with pytest.raises(FusionError, match=r"a \.py or an \.mlir file"):
        load(tmp_path / "own.txt")
    with pytest.raises(FusionError, match=r"none\.py"):
        load(tmp_path / "none.py")


class Entry:
    """An entry point of an installed package."""

    name, value, dist = "mine", "package.module:function", None

    def __init__(self, loaded: Any) -> None:
        self.load = lambda: loaded


def test_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    def register() -> None:
        fusion(name="from_a_package")(relu)

    def wrong() -> None:
        fusion(name="half")(relu)
        raise KeyError("x")

    def found(*loaded: Any) -> None:
        def entries(group: str) -> list[Entry]:
            return [Entry(x) for x in loaded]

        monkeypatch.setattr(loading, "entry_points", entries)

    found(register)
    assert load_entry_points("fusec.fusions") == ("from_a_package",)
    found(wrong)
    with pytest.raises(FusionError, match=r"entry point 'mine' of \?: package.*KeyError"):
        load_entry_points("fusec.fusions")
    assert "half" not in OWN.fusions and "from_a_package" in OWN.fusions


def test_entry_points_are_loaded_once_by_whoever_comes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[str] = []

    def entries(group: str) -> list[Entry]:
        calls.append(group)
        return []

    monkeypatch.setattr(universe, "entry_points", entries)
    universe.load_own_fusions.cache_clear()
    groups(chain(*BIAS_RELU))
    compile(Model(chain(*BIAS_RELU), WeightStore()))
    compile(Model(chain(*BIAS_RELU), WeightStore()))
    assert calls == ["fusec.fusions"]


def test_an_installed_package(tmp_path: Path) -> None:
    """Its fusions are there in every command, without an option."""
    info = tmp_path / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[fusec.fusions]\nsums = mine_fusions\n")
    module = tmp_path / "mine_fusions.py"
    module.write_text(
        "from fusec.opbase import ascendc, fusion\n\n"
        "@fusion\ndef sum_of_a_package(x, y):\n    return ascendc.relu(x + y)\n"
    )
    command = [sys.executable, "-m", "fusec.tools.fuse_opt", "--list-patterns", "own"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (0, "sum_of_a_package\n")
    module.write_text(module.read_text().replace("ascendc.relu", "ascendc.rleu"))
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 3
    assert "entry point 'sums' of mine: ascendc.rleu: unknown operator; did" in done.stderr
