"""`fusec explain`, and how fusion is configured on the command line, in files and environment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_runner import Fusec
from fusec.api import fuse, load
from fusec.fusion.patterns.own import OWN
from fusec_dialects.graph import KernelOp
from own_cases import nothing_left

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
    options = ("--strategy", "patterns", "--objective", "kernels", "--fusion-result", "result.json")
    assert fusec("compare", "small.mlir", "--level", level, *options).status == 0
    (graph,) = json.loads(Path("result.json").read_text()).values()
    assert graph["graph_fusion"]["scale_softmax"]["effect_times"] == "1"
    assert any(site["applied"] for site in graph["sites"])


PDL = """
pdl.pattern @MineInPdl : benefit(1) {
  %a = pdl.operand
  %b = pdl.operand
  %t = pdl.type
  %0 = pdl.operation "graph.matmul"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %1 = pdl.result 0 of %0
  %2 = pdl.operation "graph.relu"(%1 : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %2 with "fuse"
}
"""


def test_own_fusions_from_several_files(fusec: Fusec) -> None:
    fusec.file("own.mlir", PDL)
    fusec.file("soft.py", "from fusec.opbase import *\n@fusion\ndef soft(x): return x * 2.0 * x\n")
    assert groups(fusec, "--pdl", "own.mlir", "--load", "soft.py")[0] == "MineInPdl"
    assert set(OWN.fusions) == {"MineInPdl", "soft"}
    OWN.fusions.clear()
    assert groups(fusec, "--load", "own.mlir")[0] == "MineInPdl"
    wrong = fusec("explain", "net.mlir", "--pdl", "soft.py")
    assert wrong.status == 3 and "soft.py" in wrong.message


def test_a_near_miss_says_which_value_escapes(fusec: Fusec) -> None:
    fusec.file(
        "own.py", "from fusec.opbase import *\n@fusion\ndef mine(a, b): return (a @ b) * 2.0\n"
    )
    escapes = TWICE.replace("graph.relu %x", "graph.matmul %x, %x").replace(
        f": {M} -> {M} loc", f": ({M}, {M}) -> {M} loc"
    )
    escapes = escapes.replace(f"-> {M} {{", f"-> ({M}, {M}) {{").replace(
        f"return %1 : {M}", f"return %1, %0 : {M}, {M}"
    )
    fusec.file("escapes.mlir", escapes)
    command = ("explain", "escapes.mlir", "--load", "own.py")
    with nothing_left():
        text = fusec(*command)
        assert "mine fits one, two: not taken: escapes: one: used outside" in text.out
    with nothing_left():
        (missed,) = fusec(*command, "--json", "--edge", "one", "two").json["missed"]
        assert (missed["fusion"], missed["ops"]) == ("mine", ["one", "two"])
        assert missed["advice"] == "make the inner value an output of the fusion"


OWN_KERNEL = """
from fusec.opbase import OperatorBase, RegFusion, ascendc

@RegFusion("ReluTwice")
class ReluTwice(OperatorBase):
    def __init__(self):
        super().__init__()
        self.add_input("x")
        self.add_output("y")
    def compute(self, inputs, outputs):
        outputs[0] = ascendc.relu(inputs[0]) * 2.0
    def lower(self, npu, inputs, outputs):
        with npu.rows(inputs[0].shape[0], 16) as (start, count):
            part = (start, 0), (count, 64)
            tile = npu.ub((16, 64), "f32", (count, 64))
            npu.load(npu.view(inputs[0], *part), tile)
            npu.vrelu(tile, tile)
            npu.vmul(tile, 2.0, tile)
            npu.store(tile, npu.view(outputs[0], *part))
"""
TWICE = f"""
func.func @main(%x: {M}) -> {M} {{
  %c = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.relu %x : {M} -> {M} loc("one")
  %1 = graph.mul %0, %c : ({M}, tensor<f32>) -> {M} loc("two")
  func.return %1 : {M}
}}
"""


def test_an_own_kernel_goes_through_everything(fusec: Fusec) -> None:
    """Explained, logged, compared and profiled like those that come with fusec."""
    fusec.file("twice.mlir", TWICE)
    fusec.file("own.py", OWN_KERNEL)
    options = ("twice.mlir", "--load", "own.py")
    with nothing_left():
        explained = fusec("explain", *options, "--log-file", "ge_host.log")
        assert explained.status == 0 and "ReluTwice" in explained.out
        assert "Fusion fused: ReluTwice [one, two]" in Path("ge_host.log").read_text()
    with nothing_left():
        compared = fusec("compare", *options, "--json", "--fusion-result", "result.json").json
        assert compared["passed"]
        (graph,) = json.loads(Path("result.json").read_text()).values()
        assert graph["graph_fusion"]["ReluTwice"]["effect_times"] == "1"
    with nothing_left():
        assert fusec("profile", *options, "--json").json["groups"] == 1
    with nothing_left():
        fusec.file("own.py", OWN_KERNEL.replace("tile, 2.0, tile", "tile, 3.0, tile"))
        wrong = fusec("compare", *options)
        assert wrong.status == 3
        assert "ReluTwice: its lower does not compute its compute" in wrong.message


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (("--min-fusion-ops", "9", "--max-fusion-ops", "4"), 2, "9 operators at least, but the"),
        (("--min-fusion-ops", "40"), 2, "but the default allows 32"),
        (("--max-fusion-ops", "1", "--fusion-config", "two.json"), 2, "two.json: a group has"),
        (("--fusion-config", "both.json"), 3, "both.json: a group has to have 5"),
        (("--disable-fusion", "conv_bn", "--only-fusion", "conv_bn"), 2, "both disabled and"),
        (("--no-fusion", "--only-fusion", "conv_bn"), 2, "contradict each other"),
        (("--max-depth", "-1"), 2, "'-1' is not an integer of at least 0"),
        (("--min-fusion-ops", "two"), 2, "'two' is not an integer"),
        (("--strategy", "gredy"), 2, "--strategy: unknown strategy 'gredy'; did you mean 'greedy'"),
        (("--disable-fusion", "conv_bn_rleu"), 2, "did you mean 'conv_bn_relu'"),
        (("--only-fusion", "SoftmaxFusionPas"), 2, "did you mean"),
        (("--fusion-config", "key.json"), 3, "key.json: unknown key 'fusion_pattern'; did you"),
        (("--fusion-config", "type.json"), 3, "type.json: 'auto_fusion' is 1, expected true or"),
        (("--fusion-config", "name.json"), 3, "name.json: 'fusion_patterns': unknown pattern"),
        (("--fusion-config", "bad.json"), 3, "bad.json:1:2: not JSON"),
        (("--fusion-config", "none.json"), 3, "cannot read 'none.json'"),
        (("--fusion-switch-file", "rule.txt"), 3, "rule.txt: unknown fusion 'SoftmaxFusoinPass'"),
        (("--fusion-switch-file", "line.txt"), 3, "line.txt:1: expected a line like"),
        (("--fusion-switch-file", "state.txt"), 3, "'conv_bn' is 'of', expected on or off"),
        (("--load", "none.py"), 3, "none.py: No such file"),
        (("--load", "line.txt"), 3, "own fusions are in a .py or an .mlir file"),
    ],
)
def test_what_is_wrong_names_source_key_and_nearest_name(
    fusec: Fusec, options: tuple[str, ...], status: int, message: str
) -> None:
    files = {
        "two.json": '{"min_fusion_ops": 2}',
        "both.json": '{"min_fusion_ops": 5, "max_fusion_ops": 4}',
        "key.json": '{"fusion_pattern": []}',
        "type.json": '{"auto_fusion": 1}',
        "name.json": '{"fusion_patterns": ["matmul_rleu"]}',
        "bad.json": "{]",
        "rule.txt": "SoftmaxFusoinPass:off",
        "line.txt": "conv_bn",
        "state.txt": "conv_bn:of",
    }
    for name, text in files.items():
        fusec.file(name, text)
    done = fusec("explain", "net.mlir", *options)
    assert (done.status, message in done.message) == (status, True), done.message


GELU = f"""
func.func @main(%x: {M}) -> {M} {{
  %w = graph.weight "w" : {M}
  %r = graph.constant dense<1.41421354> : tensor<f32>
  %o = graph.constant dense<1.0> : tensor<f32>
  %h = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.matmul %x, %w : ({M}, {M}) -> {M} loc("product")
  %v = graph.reshape %0 : {M} -> tensor<1x64x64xf32> loc("view")
  %u = graph.reshape %v : tensor<1x64x64xf32> -> {M} loc("back")
  %1 = graph.div %u, %r : ({M}, tensor<f32>) -> {M} loc("div")
  %2 = graph.erf %1 : {M} -> {M} loc("erf")
  %3 = graph.add %2, %o : ({M}, tensor<f32>) -> {M} loc("add")
  %4 = graph.mul %u, %3 : ({M}, {M}) -> {M} loc("mul")
  %5 = graph.mul %4, %h : ({M}, tensor<f32>) -> {M} loc("half")
  func.return %5 : {M}
}}
"""


@pytest.mark.parametrize(
    ("limit", "fused"),
    [
        (("--max-fusion-ops", "6"), True),
        (("--max-fusion-ops", "5"), False),
        (("--min-fusion-ops", "6"), True),
        (("--min-fusion-ops", "7"), False),
    ],
)
def test_limits_count_imported_operators(fusec: Fusec, limit: tuple[str, str], fused: bool) -> None:
    """GELU is five of them though it is one after raising; views are none."""
    fusec.file("gelu.mlir", GELU)
    done = fusec("explain", "gelu.mlir", "--json", "--objective", "kernels", *limit)
    names = [group["name"] for group in done.json["groups"]]
    assert names == (["matmul_gelu"] if fused else ["matmul", "gelu"])
