"""`fusec compare`, `bisect` and `reduce` on faults that are planted into the compiler itself."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest

from cli_runner import Fusec
from fusec.accuracy.reduce_onnx import OnnxParts
from fusec.fusion.patterns.own import OWN
from fusec.opbase import Symbol, ascendc, fusion
from networks import Net, chain
from planted_fault import plant

PATTERNS = ("--strategy", "patterns", "--objective", "kernels")


@pytest.fixture
def fusec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Fusec]:
    monkeypatch.chdir(tmp_path)
    yield Fusec(tmp_path, capsys)


@pytest.fixture
def layers(fusec: Fusec) -> str:
    """Four groups: matmul_bias_tanh, residual_layer_norm_affine, scale_softmax, matmul."""
    net = Net()
    x = net.input("x", [8, 32])
    y = net.op("MatMul", [x, net.weight([32, 32], 32)])
    y = net.op("Tanh", [net.op("Add", [y, net.weight([32])])])
    y = net.op("Add", [y, x])
    y = net.op("LayerNormalization", [y, net.weight([32], low=0.5), net.weight([32])])
    y = net.op("Softmax", [net.op("Mul", [y, net.constant(np.array(0.5, np.float32))])])
    y = net.op("MatMul", [y, net.weight([32, 8], 32)])
    return fusec.file("layers.onnx", net.model({y: [8, 8]}))


# compare


@pytest.mark.parametrize("level", ["fused", "npu"])
def test_compare_names_the_first_tensor_and_the_fusion(
    fusec: Fusec, layers: str, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fusec("compare", layers, "--level", level, *PATTERNS).status == 0
    plant({"residual_layer_norm_affine": ("add", "sub")}, monkeypatch)
    done = fusec("compare", layers, "--level", level, *PATTERNS, "--json")
    assert done.status == 1 and not done.json["passed"]
    first = done.json["first_over"]
    assert (
        first["name"] == "layernormalization_4" and first["group"] == "residual_layer_norm_affine"
    )
    assert first["nodes"] == ["node_add_3", "node_layernormalization_4"]
    tensors = done.json["tensors"]
    assert [t["name"] for t in tensors] == [
        *("tanh_2", "layernormalization_4", "softmax_6", "matmul_7")
    ]
    assert [t["over"] for t in tensors] == [False, True, True, True]
    assert all(t["unfused_rel_error"] < 1e-6 for t in tensors)
    assert all(t.keys() >= {"float64", "unfused", "made_by_fusion"} for t in tensors)
    assert tensors[0]["float64"].keys() == {
        *("max_abs_error", "max_rel_error", "max_ulp", "cosine")
    }
    shown = fusec("compare", layers, "--level", level, *PATTERNS).out
    assert "'layernormalization_4', made by 'residual_layer_norm_affine' of node_add_3" in shown


def test_an_output_within_the_tolerance_does_not_hide_a_tensor(
    fusec: Fusec, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = Net()
    x = net.input("x", [8, 32])
    y = net.op("Softmax", [net.op("Mul", [x, net.constant(np.array(0.5, np.float32))])])
    y = net.op("MatMul", [y, net.weight([32, 8], 32)])
    y = net.op("Add", [y, net.constant(np.array(100.0, np.float32))])
    model = fusec.file("hidden.onnx", net.model({y: [8, 8]}))
    plant({"scale_softmax": ("mul", "max")}, monkeypatch)
    found = fusec("compare", model, *PATTERNS, "--tolerance", "0.05", "--json")
    assert found.json["max_rel_error"] < 0.05
    assert found.status == 1 and found.json["first_over"]["group"] == "scale_softmax"


def test_the_table_has_a_bound(fusec: Fusec) -> None:
    model = fusec.file("chain.onnx", chain(50, ("Sin", "Cos")))
    for level in ("graph", "npu"):
        done = fusec("compare", model, "--no-fusion", "--level", level)
        assert done.status == 0 and len(done.out.splitlines()) < 30
        assert "50 tensors survive" in done.out and "and 30 with smaller errors" in done.out


def test_tensors_that_lie_in_another_order_are_found(fusec: Fusec) -> None:
    """Convolutions are channels last after fusion; all their tensors have counterparts."""
    net = Net()
    y = net.input("x", [1, 4, 6, 6])
    for _ in range(3):
        weight = net.weight([4, 4, 3, 3], 36)
        y = net.op("Relu", [net.op("Conv", [y, weight], kernel_shape=[3, 3], pads=[1, 1, 1, 1])])
    model = fusec.file("conv.onnx", net.model({y: [1, 4, 6, 6]}))
    done = fusec("compare", model, *PATTERNS, "--json")
    assert done.status == 0
    assert [t["name"] for t in done.json["tensors"]] == ["relu_1", "relu_3", "relu_5"]
    assert not any(t["made_by_fusion"] for t in done.json["tensors"])


# bisect


def test_bisect_blames_nobody_where_the_numbers_are_right(fusec: Fusec, layers: str) -> None:
    done = fusec("bisect", layers, "--level", "fused")
    assert done.status == 1 and "right with every fusion on" in done.out


@pytest.mark.parametrize(
    ("level", "faults"),
    [
        ("npu", {"residual_layer_norm_affine": ("add", "sub")}),
        ("fused", {"scale_softmax": ("mul", "max"), "matmul_bias_tanh": ("add", "sub")}),
    ],
)
def test_bisect_writes_the_switches_that_make_the_numbers_right(
    fusec: Fusec,
    layers: str,
    level: str,
    faults: dict[str, tuple[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(faults, monkeypatch)
    options = ("--level", level, *PATTERNS)
    assert fusec("compare", layers, *options).status == 1
    done = fusec("bisect", layers, *options, "--json", "-o", "switch.json")
    assert done.status == 0 and set(done.json["culprits"]) == set(faults)
    rules = json.loads(Path("switch.json").read_text())["Switch"]["GraphFusion"]
    assert rules == dict.fromkeys(faults, "off")
    assert fusec("compare", layers, *options, "--fusion-switch-file", "switch.json").status == 0


def _compute(first: str, second: str) -> Callable[[Symbol, Symbol], Symbol]:
    return lambda x, y: getattr(ascendc, second)(getattr(ascendc, first)(x + y))


def _many(fusec: Fusec, kinds: int) -> tuple[str, list[str]]:
    """A network in which kinds x kinds own fusions take part, each once, and their names."""
    operators = ("tanh", "sigmoid", "sin", "cos", "erf", "softplus", "mish", "exp", "swish")
    operators += ("hard_swish", "hard_sigmoid", "atan", "asinh", "gelu", "sinh", "cosh")
    operators += ("softmax", "log_softmax")
    type_, names = "tensor<4x8xf32>", list[str]()
    lines, results = list[str](), list[str]()
    for i, (first, second) in enumerate(product(operators[:kinds], repeat=2)):
        names.append(f"own_{first}_{second}")

        fusion(name=names[-1])(_compute(first, second))
        lines.append(f"%c{i} = graph.constant dense<{i / 1000}> : tensor<f32>")
        lines.append(f"%a{i} = graph.add %x, %c{i} : ({type_}, tensor<f32>) -> {type_}")
        lines.append(f"%b{i} = graph.{first} %a{i} : {type_} -> {type_}")
        lines.append(f"%r{i} = graph.{second} %b{i} : {type_} -> {type_}")
        results.append(f"%r{i}")
    types = ", ".join([type_] * len(names))
    text = "\n".join([*lines, f"func.return {', '.join(results)} : {types}"])
    fusec.file("many.mlir", f"func.func @main(%x: {type_}) -> ({types}) {{\n{text}\n}}")
    return "many.mlir", names


def _one_of_many(fusec: Fusec, kinds: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Plants a fault into one own fusion of kinds x kinds and finds it; the evaluations."""
    monkeypatch.setattr(OWN, "fusions", dict(OWN.fusions))
    model, names = _many(fusec, kinds)
    culprit = names[len(names) * 2 // 3]
    plant({culprit: ("add", "sub")}, monkeypatch)
    options = ("--level", "fused", "--strategy", "patterns", "-q")
    done = fusec("bisect", model, *options, "--json")
    assert done.status == 0 and done.json["culprits"] == [culprit]
    assert done.json["fusions"] >= len(names)
    return done.json["evaluations"]


def test_bisect_finds_one_own_fusion_of_many(fusec: Fusec, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _one_of_many(fusec, 6, monkeypatch) <= 9


@pytest.mark.campaign
def test_bisect_finds_one_own_fusion_of_300(fusec: Fusec, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _one_of_many(fusec, 18, monkeypatch) <= 12


# reduce

FIND = """
import sys
text = open(sys.argv[1], "rb").read()
found = b"graph.softmax" in text or b"Softmax" in text
print("it has a softmax" if found else "it has none")
sys.exit(7 * (found or b"anything" in sys.argv[2:]))
"""


@pytest.fixture
def find(fusec: Fusec) -> str:
    """A command that fails on whatever holds a softmax."""
    fusec.file("find.py", FIND)
    return f"{sys.executable} -S find.py {{}}"


@pytest.mark.parametrize("ending", ["mlir", "onnx"])
def test_reduce(fusec: Fusec, layers: str, find: str, ending: str) -> None:
    options = ("--command", find, "--text", "has a softmax", "--json", "-q")
    part = f"part.{ending}"
    done = fusec("reduce", layers, "-o", part, *options)
    assert done.status == 0
    assert (done.json["operators"], done.json["kept"], done.json["status"]) == (8, 1, 7)
    once = Path(part).read_bytes()
    assert fusec("reduce", layers, "-o", part, *options).json == done.json
    assert Path(part).read_bytes() == once
    compared = fusec("compare", part, "--json", "-q")
    assert compared.status == 0 and compared.json["output"] == "softmax_6"
    assert [t["nodes"] for t in compared.json["tensors"]] == [["node_softmax_6"]]
    assert sorted(path.name for path in Path().iterdir()) == ["find.py", "layers.onnx", part]


def test_reduce_keeps_weights_and_names(fusec: Fusec, layers: str) -> None:
    """Also where the reduced text lies in another folder."""
    fusec.file("need.py", "import sys; t = open(sys.argv[1]).read(); sys.exit('graph.add' in t)")
    Path("parts").mkdir()
    command = f"{sys.executable} -S need.py {{}}"
    assert fusec("reduce", layers, "-o", "parts/a.mlir", "--command", command).status == 0
    text = Path("parts/a.mlir").read_text()
    assert 'loc("node_add_' in text and text.count("graph.add") == 1
    os.chdir("parts")
    assert fusec("compare", "a.mlir").status == 0


def test_what_reduce_refuses(fusec: Fusec, layers: str, find: str) -> None:
    def status(*options: str) -> int:
        return fusec("reduce", layers, "-o", "none.mlir", *options).status

    assert status("--command", f"{sys.executable} -c pass {{}}") == 1
    assert status("--command", find, "--text", "something else") == 1
    assert status("--command", "true") == 2
    assert status("--command", "no-such-program {}") == 3
    fusec.file("a.mlir", "func.func @main() { func.return }")
    assert fusec("reduce", "a.mlir", "-o", "a.onnx", "--command", find).status == 2
    fusec.file("bad.onnx", b"\x08")
    assert fusec("reduce", "bad.onnx", "-o", "b.onnx", "--command", find).status == 3
    assert not Path("none.mlir").exists() and not Path("a.onnx").exists()


def test_parts_of_a_model_with_subgraphs_and_constants(tmp_path: Path) -> None:
    """What a branch reads from around it comes along; every part is a model of its own."""
    net = Net()
    x, c = net.input("x", [2, 3]), net.input("c", [], "bool")
    y = net.op("Relu", [x])
    branches = [
        onnx.helper.make_graph(
            [onnx.helper.make_node(kind, [y], [kind])],
            kind,
            [],
            [onnx.helper.make_tensor_value_info(kind, 1, [2, 3])],
        )
        for kind in ("Sin", "Cos")
    ]
    z = net.op("If", [c], then_branch=branches[0], else_branch=branches[1])
    z = net.op("Add", [z, net.op("Constant", [], value_float=2.0)])
    path = tmp_path / "m.onnx"
    path.write_bytes(net.model({z: [2, 3]}))
    parts = OnnxParts.load(path)
    assert [n.op_type for n in parts.nodes] == ["Relu", "If", "Add"]
    for kept, inputs, outputs in (
        (parts.nodes[1:2], {"c", y}, {"if_1"}),
        (parts.nodes[2:], {"if_1"}, {z}),
        (parts.nodes, {"x", "c"}, {z}),
    ):
        made = parts.subset(kept)
        cast(Any, onnx).checker.check_model(made, full_check=True)
        assert {i.name for i in made.graph.input} == inputs
        assert {o.name for o in made.graph.output} == outputs


@pytest.mark.campaign
def test_reduce_brings_400_operators_under_8(fusec: Fusec, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network of 400 nodes whose numbers a planted fault spoils, judged by fusec compare."""
    net = Net()
    y = net.input("x", [4, 16])
    scale = net.constant(np.array(0.5, np.float32))
    for i in range(200):
        y = net.op("Add", [y, net.weight([16])]) if i != 120 else net.op("Mul", [y, scale])
        y = net.op(("Tanh", "Sigmoid", "Sin")[i % 3] if i != 120 else "Softmax", [y])
    model = fusec.file("long.onnx", net.model({y: [4, 16]}))
    monkeypatch.setenv("FAULT", "scale_softmax:mul:max")
    load = Path(__file__).parents[1] / "support/planted_fault.py"
    command = (
        f"{sys.executable} -c 'from fusec.tools.cli import main; main()' compare {{}} -q --level "
        f"fused --load {load} --reference float64 {' '.join(PATTERNS)}"
    )
    options = ("-o", "part.mlir", "--text", "scale_softmax", "--json", "--command", command)
    done = fusec("reduce", model, *options)
    assert done.status == 0 and done.json["operators"] == 400
    assert done.json["kept"] < 8 and done.json["evaluations"] <= 60, done.out
