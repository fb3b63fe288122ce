"""`fusec explain`, and how fusion is configured on the command line, in files and environment."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from cli_runner import Fusec
from fusec.api import CompileOptions, Model, fuse, load
from fusec.fusion.patterns.own import OWN
from fusec.semantics import Array
from fusec.tools.cli import bisect
from fusec_dialects.graph import KernelOp

M = "tensor<64x64xf32>"
NETWORK = f"""
func.func @main(%x: {M}) -> {M} {{
  %w = graph.weight "w" : {M}
  %0 = graph.matmul %x, %w : ({M}, {M}) -> {M} loc("product")
  %1 = graph.relu %0 : {M} -> {M} loc("activation")
  %2 = graph.softmax %1 : {M} -> {M} loc("soft")
  %3 = graph.matmul %2, %w : ({M}, {M}) -> {M} loc("second")
  func.return %3 : {M}
}}
"""


SMALL = f"""
func.func @main(%x: {M}, %y: {M}) -> {M} {{
  %c = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.mul %x, %c : ({M}, tensor<f32>) -> {M}
  %1 = graph.softmax %0 : {M} -> {M}
  %2 = graph.matmul %1, %y : ({M}, {M}) -> {M}
  %3 = graph.relu %2 : {M} -> {M}
  func.return %3 : {M}
}}
"""


@pytest.fixture
def fusec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Fusec]:
    monkeypatch.chdir(tmp_path)
    command = Fusec(tmp_path, capsys)
    command.file("net.mlir", NETWORK)
    yield command
    OWN.fusions.clear()


def groups(fusec: Fusec, *options: str) -> list[str]:
    done = fusec("explain", "net.mlir", "--json", "--objective", "kernels", *options)
    assert done.status == 0, done.err
    return [group["name"] for group in done.json["groups"]]


def test_explain_says_what_fused_and_what_did_not(fusec: Fusec) -> None:
    found = fusec("explain", "net.mlir", "--json").json
    names = [group["name"] for group in found["groups"]]
    assert names[0] == "matmul_relu" and names[-1] == "matmul"
    first = found["groups"][0]
    assert first["ops"] == ["product", "activation"]
    assert 0 < first["us"] < first["apart_us"] and first["gm_bytes"] < first["apart_bytes"]
    last = found["edges"][-1]
    assert (last["producer"], last["consumer"]) == ("soft", "second")
    assert last["bytes"] == 64 * 64 * 4 and last["reason"] and last["message"] and last["advice"]


def test_explain_as_text(fusec: Fusec) -> None:
    done = fusec("explain", "net.mlir")
    assert done.status == 0
    assert "matmul_relu" in done.out and "product, activation" in done.out
    assert "soft -> second (0.016 MB): " in done.out and "would change it: " in done.out


def test_explain_one_edge(fusec: Fusec) -> None:
    (edge,) = fusec("explain", "net.mlir", "--json", "--edge", "second", "soft").json["edges"]
    assert edge["consumer"] == "second"
    inside = fusec("explain", "net.mlir", "--edge", "product", "activation")
    assert inside.status == 0 and "in one kernel" in inside.out
    apart = fusec("explain", "net.mlir", "--edge", "product", "second")
    assert apart.status == 2 and "does not read" in apart.message
    unknown = fusec("explain", "net.mlir", "--edge", "prodct", "second")
    assert unknown.status == 2 and "did you mean 'product'" in unknown.message


def test_a_saved_plan_is_replayed(fusec: Fusec) -> None:
    expected = groups(fusec, "--save-plan", "plan.json")
    plan = json.loads(Path("plan.json").read_text())
    plan["groups"] = plan["groups"][:1]
    fusec.file("edited.json", json.dumps(plan))
    assert len(expected) < 4
    profile = fusec("profile", "net.mlir", "--json", "--plan", "edited.json").json
    assert profile["groups"] == 1 + 4 - len(plan["groups"][0]["ops"])
    assert profile["unfused"]["groups"] == 4
    assert groups(fusec, "--plan", "edited.json")[0] == plan["groups"][0]["name"]
    assert fusec("explain", "net.mlir", "--plan", "none.json").status == 3
    made = fuse(load("net.mlir"), plan="edited.json", objective="kernels")
    kernels = [op.pattern.data for op in made.module.walk() if isinstance(op, KernelOp)]
    assert kernels[0] == plan["groups"][0]["name"]
    missing = fusec("profile", "net.mlir", "--plan", "none.json")
    assert missing.status == 3 and "none.json" in missing.message


def test_automatic_fusion_goes_by_its_name(fusec: Fusec) -> None:
    assert len(groups(fusec)) < 4
    assert len(groups(fusec, "--only-fusion", "auto")) < 4
    assert groups(fusec, "--only-fusion", "conv_bn") == ["matmul", "relu", "softmax", "matmul"]
    off = fusec("explain", "net.mlir", "--json", "--no-fusion").json
    assert {edge["reason"] for edge in off["edges"]} == {"fusion-off"}


def test_own_fusions_from_a_file(fusec: Fusec) -> None:
    fusec.file(
        "own.py",
        "from fusec.opbase import ascendc, fusion\n@fusion\n"
        "def mine(a, b):\n    return ascendc.relu(a @ b)\n",
    )
    assert groups(fusec, "--load", "own.py")[0] == "mine"
    OWN.fusions.clear()
    assert groups(fusec, "--load", "own.py", "--disable-fusion", "mine")[0] != "mine"
    again = fusec("explain", "net.mlir", "--load", "own.py")
    assert again.status == 3 and "exists" in again.message


def test_switch_file(fusec: Fusec) -> None:
    fusec.file("switch.cfg", "matmul_relu:off\nDreluFusionPass:off\n")
    done = fusec(
        *("explain", "net.mlir", "--json", "--strategy", "patterns"),
        *("--objective", "kernels", "--fusion-switch-file", "switch.cfg"),
    )
    assert [group["name"] for group in done.json["groups"]][:2] == ["matmul", "relu"]
    assert "'DreluFusionPass' is a rule of CANN without an equivalent here" in done.message


def test_environment_and_files_by_strength(fusec: Fusec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GE_FUSION_SWITCH", "0")
    assert groups(fusec) == ["matmul", "relu", "softmax", "matmul"]
    monkeypatch.setenv("GE_FUSION_SWITCH", "1")
    fusec.file("config.json", '{"fusion_patterns": ["matmul_relu"], "min_fusion_ops": 2}')
    monkeypatch.setenv("GE_FUSION_CONFIG_PATH", "config.json")
    assert groups(fusec) == ["matmul_relu", "softmax", "matmul"]
    fusec.file("none.json", '{"fusion_patterns": []}')
    assert groups(fusec, "--fusion-config", "none.json")[0] == "matmul"
    fusec.file("more.json", '{"fusion_patterns": ["conv_bn"], "auto_fusion": true}')
    assert len(groups(fusec, "--fusion-config", "more.json")) < 4
    fusec.file("other.json", '{"min_fusion_ops": 3, "fusion_patterns": ["matmul_relu"]}')
    assert groups(fusec, "--fusion-config", "other.json")[0] == "matmul"
    assert (
        groups(fusec, "--fusion-config", "other.json", "--min-fusion-ops", "1")[0] == "matmul_relu"
    )
    monkeypatch.setenv("GE_FUSION_SWITCH", "2")
    wrong = fusec("explain", "net.mlir")
    assert wrong.status == 3 and "GE_FUSION_SWITCH=2: expected 0 to 1" in wrong.message


def test_log(fusec: Fusec, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Fusion" not in fusec("profile", "net.mlir").err
    monkeypatch.setenv("GE_LOG_LEVEL", "2")
    assert "Fusion fused: matmul_relu [product, activation]" in fusec("profile", "net.mlir").err
    monkeypatch.delenv("GE_LOG_LEVEL")
    done = fusec("compile", "net.mlir", "-o", "out.mlir", "--log-file", "ge_host.log")
    assert done.status == 0 and "Fusion" not in done.err
    assert fusec("explain", "net.mlir", "--log-file", "explain.log").status == 0
    assert "Fusion fused: matmul_relu" in Path("explain.log").read_text()
    lines = Path("ge_host.log").read_text().splitlines()
    assert lines and all("Fusion" in line for line in lines)


@pytest.mark.parametrize("level", ["fused", "npu"])
def test_fusion_result(fusec: Fusec, level: str) -> None:
    fusec.file("small.mlir", SMALL)
    options = ("--objective", "kernels", "--fusion-result", "result.json")
    assert fusec("compare", "small.mlir", "--level", level, *options).status == 0
    (graph,) = json.loads(Path("result.json").read_text()).values()
    assert graph["graph_fusion"]["scale_softmax"]["effect_times"] == "1"
    assert any(site["applied"] for site in graph["sites"])


def test_bisect_blames_nobody_where_the_numbers_are_right(fusec: Fusec) -> None:
    fusec.file("small.mlir", SMALL)
    done = fusec("bisect", "small.mlir", "--level", "fused")
    assert done.status == 1 and "right with every fusion on" in done.out


def test_bisect_finds_a_planted_fault(fusec: Fusec, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers are wrong wherever `scale_softmax` took part, and only there."""
    fusec.file("small.mlir", SMALL)
    real = bisect.fuse

    def spoilt(model: Model, options: CompileOptions) -> Model:
        made = real(model, options)
        if '"scale_softmax"' not in str(made.module):
            return made
        run = made.run

        def wrong(inputs: Mapping[str, Array]) -> dict[str, Array]:
            return {name: y + 1 for name, y in run(inputs).items()}

        vars(made)["run"] = wrong
        return made

    monkeypatch.setattr(bisect, "fuse", spoilt)
    done = fusec(
        *("bisect", "small.mlir", "--level", "fused", "--json"),
        *("--objective", "kernels", "-o", "switch.json"),
    )
    assert done.status == 0 and done.json["culprits"] == ["scale_softmax"]
    rules = json.loads(Path("switch.json").read_text())["Switch"]["GraphFusion"]
    assert rules == {"scale_softmax": "off"}


def test_reduce(fusec: Fusec) -> None:
    """A command that fails on whatever holds a softmax."""
    fusec.file("small.mlir", SMALL)
    fusec.file("find.py", "import sys\nsys.exit(7 * ('softmax' in open(sys.argv[1]).read()))\n")
    find = f"{sys.executable} find.py"
    done = fusec("reduce", "small.mlir", "-o", "part.mlir", "--json", "--command", find + " {}")
    assert done.status == 0 and done.json == {"model": "small.mlir", "operators": 4, "kept": 1}
    assert "graph.softmax" in Path("part.mlir").read_text()
    assert "graph.matmul" not in Path("part.mlir").read_text()
    right = fusec("reduce", "small.mlir", "-o", "none.mlir", "--command", "true {}")
    assert right.status == 1 and not Path("none.mlir").exists()
    assert fusec("reduce", "small.mlir", "-o", "a", "--command", "true").status == 2
    assert fusec("reduce", "small.mlir", "-o", "a", "--command", "no-such-program {}").status == 3
