"""Locations of imported operators: nodes and tensors, joined, read back from text, in words."""

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.printer import Printer

import fusec
from cli_runner import Fusec
from fusec.api import context, run_passes
from fusec.fusion.dag import Dag
from fusec.fusion.group import Group, imported_ops
from fusec_dialects.graph import CallOp, GraphOp, OpaqueOp
from fusec_dialects.locations import joined, named, nodes, of_result, part, sources, tensors
from fusec_dialects.place import place_of_location
from graph_modules import main_of
from networks import Net
from onnx_text import model as onnx_model

MODELS = Path(__file__).parents[2] / "examples" / "models"
T = "tensor<4xf32>"


def read(text: str) -> LocationAttr:
    """The location that is written `loc(text)`."""
    module = Parser(context(), f'"test.op"() : () -> () loc({text})').parse_module()
    return next(iter(module.body.block.ops)).location


def text_of(location: LocationAttr) -> str:
    stream = StringIO()
    Printer(stream=stream).print_attribute(location)
    return stream.getvalue()


A, B = named("a", "t"), named("b", "u", "v")


@pytest.mark.parametrize(
    ("location", "text"),
    [
        (named("a"), '"a"'),
        (A, '"a"("t")'),
        (B, 'fused["b"("u"), "b"("v")]'),
        (named("b", "", "v"), 'fused["b"(""), "b"("v")]'),
        (named("b", "", ""), '"b"'),
        (named('say "a\\b"', "x:3"), None),
        (joined([A, B]), 'fused["a", "b"]'),
        (joined([A], [B]), 'fused["a", "b"("u"), "b"("v")]'),
        (joined([B, A, B], [A]), 'fused["b", "a"("t")]'),
        (joined([named("a")], [A]), '"a"("t")'),
        (joined([A], [named("c")], [B]), 'fused[fused["b"], "a", "c"]'),
        (joined([joined([A], [], [B])], [named("b", "w")]), 'fused["a", "b"("w")]'),
        (joined([A], [], [named("c"), A]), 'fused[fused["c"], "a"]'),
        (joined([UNKNOWN_LOC, A], [UNKNOWN_LOC]), '"a"'),
        (joined([], [], [UNKNOWN_LOC]), "unknown"),
    ],
)
def test_text(location: LocationAttr, text: str | None) -> None:
    """What is printed is as expected, and reads back to the same."""
    printed = text_of(location)
    assert text is None or printed == f"loc({text})"
    assert read(printed.removeprefix("loc(")[:-1]) == location


def test_what_a_location_says() -> None:
    made = joined([named("conv"), A], [B], [named("shape", "s")])
    assert nodes(made) == ("shape", "conv", "a", "b")
    assert sources(made, views=False) == ("conv", "a", "b")
    assert tensors(made) == ("u", "v")
    assert tensors(of_result(made, 1)) == ("v",) and nodes(of_result(made, 1)) == ("b",)
    assert of_result(named("a"), 0) == named("a")
    assert tensors(part(made)) == () and nodes(part(made)) == nodes(made)
    assert nodes(UNKNOWN_LOC) == tensors(UNKNOWN_LOC) == sources(UNKNOWN_LOC) == ()
    views = joined([], [], [named("x"), named("y")])
    assert sources(views, views=False) == ("x", "y"), "where there is nothing else, they count"


def test_lines_of_text_are_sources() -> None:
    made = joined([read('"f.mlir":3:5'), read('callsite("g.mlir":1:2 at "h.mlir":9:9)'), A])
    assert sources(made) == ("f.mlir:3:5", "g.mlir:1:2", "a") and nodes(made) == ("a",)


def test_in_words() -> None:
    five = joined([named(n) for n in "abcdef"])
    assert place_of_location(A) == 'node "a"'
    assert place_of_location(B) == 'node "b"'
    assert place_of_location(joined([A, B])) == 'node "b" with "a"'
    assert place_of_location(five) == 'node "f" with "a", "b", "c" and 2 more'
    lines = joined([read('"f.mlir":3:5'), read('"f.mlir":4:1')])
    assert place_of_location(lines) == "f.mlir:4:1 with f.mlir:3:5"


def operators(module: ModuleOp) -> list[Operation]:
    return [op for op in main_of(module).walk() if isinstance(op, GraphOp | OpaqueOp | CallOp)]


def small() -> bytes:
    """LpNormalization is taken apart, GELU put together from five nodes; a reshape is a view."""
    net = Net()
    x = net.input("x", [4, 8])
    flat = net.op("Reshape", [net.op("LpNormalization", [x]), net.ints(2, 16)])
    root, one, half = (net.constant(np.array(v, np.float32)) for v in (2**0.5, 1.0, 0.5))
    erf = net.op("Add", [net.op("Erf", [net.op("Div", [flat, root])]), one])
    y = net.op("Mul", [net.op("Mul", [flat, erf]), half])
    return net.model({y: [2, 16]})


GELU = ("node_div_2", "node_erf_3", "node_add_4", "node_mul_5", "node_mul_6")


def test_import_names_nodes_and_tensors() -> None:
    module = fusec.load(small()).module
    ops = operators(module)
    assert {nodes(op.location) for op in ops[:-6]} == {("node_lpnormalization_0",)}
    made = [tensors(op.location) for op in ops]
    assert made[-7:-5] == [("lpnormalization_0",), ("reshape_1",)] and made[-1] == ("mul_6",)
    assert not any(made[:-7]), "parts of a node are no tensors of the model"


def test_two_nodes_of_one_name_are_told_apart() -> None:
    net = Net()
    x = net.input("x", [4, 8])
    y = net.op("Exp", [net.op("Relu", [net.op("Sqrt", [x])])])
    net.nodes[0].name = net.nodes[2].name = "twice"
    net.nodes[1].name = ""
    found = [nodes(op.location) for op in operators(fusec.load(net.model({y: [4, 8]})).module)]
    assert found == [("twice",), ("Relu_1",), ("twice.2",)]


def test_nodes_of_a_body_are_operators_by_themselves() -> None:
    """Of a function of the model and of a branch; a value that leaves is called as outside."""
    text = """<ir_version: 8, opset_import: ["": 17, "local": 1]>
      g (float[2,3] x) => (float[2,3] y, float[2,3] z) {
        [call] a, z = local.f (x)
        yes = Constant <value_int = 1> ()
        open = Cast <to = 9> (yes)
        [choice] y = If (open) <
          then_branch = t () => (float[2,3] p) { h = Exp(a)  [last] p = Neg(h) },
          else_branch = e () => (float[2,3] p) { p = Relu(a) }>
      }
      <domain: "local", opset_import: ["": 17]>
      f (u) => (v, w) { [first] s = Sqrt(u)  v = Relu(s)  w = Abs(s) }"""
    module = fusec.load(onnx_model(text).SerializeToString()).module
    found = [(nodes(op.location), tensors(op.location)) for op in operators(module)]
    assert found == [
        (("call/first",), ("a/s",)),
        (("call/Relu_1",), ("a",)),
        (("call/Abs_2",), ("z",)),
        (("choice/Exp_0",), ("y/h",)),
        (("choice/last",), ("y",)),
    ]


def test_imported_operators_of_a_group() -> None:
    """Taken apart is one, put together five, a view none; without a place each is one."""
    module = fusec.load(small()).module
    dag = Dag.of(main_of(module).body.block)
    everything = Group({i for i in range(len(dag.ops)) if dag.is_compute(i) or dag.is_view(i)}, "")
    assert imported_ops(dag, everything) == 1 + 5
    run_passes(module, "prepare")
    dag = Dag.of(main_of(module).body.block)
    gelu = dag.names.index("gelu")
    assert dag.nodes(gelu) == GELU and dag.place(gelu) == "node_mul_6"
    assert imported_ops(dag, Group({gelu}, "")) == 5
    assert imported_ops(dag, Group({gelu, gelu - 1}, "")) == 5, "the reshape before it"
    for op in dag.ops:
        op.location = UNKNOWN_LOC
    dag = Dag.of(main_of(module).body.block)
    assert imported_ops(dag, Group({gelu, gelu - 1}, "")) == 1


def test_a_call_names_all_that_it_computes() -> None:
    module = fusec.load(small()).module
    run_passes(module, "prepare,graph-fuse{objective=kernels},graph-outline")
    call = operators(module)[-1]
    assert isinstance(call, CallOp)
    assert set(GELU) <= set(nodes(call.location)) and tensors(call.location) == ("mul_6",)
    parallel = Net()
    x = parallel.input("x", [32, 64])
    wide = [parallel.op("MatMul", [x, parallel.weight([64, 64], 64)]) for _ in range(3)]
    q, k, v = (parallel.op("Softmax", [w]) for w in wide)
    module = fusec.load(parallel.model({q: [32, 64], k: [32, 64], v: [32, 64]})).module
    run_passes(module, "prepare,optimise")
    found = [nodes(op.location) for op in operators(module)]
    together = ("node_matmul_0", "node_matmul_1", "node_matmul_2")
    assert any(set(together) <= set(names) for names in found), "one product of three"


@pytest.mark.parametrize("name", ["gpt2_s128", "efficientnet_b0"])
def test_no_operator_of_a_network_is_lost(name: str) -> None:
    """Every node that computes is named by what computes it after fusion, be it in @weights."""
    model = fusec.load(MODELS / f"{name}.onnx")
    before = {n for op in operators(model.module) for n in nodes(op.location)}
    run_passes(model.module, "prepare,optimise")
    after = {n for op in model.module.walk() for n in nodes(op.location)}
    assert {n for n in before - after if not n.startswith(("node_view", "node_Reshape"))} == set()
    assert all(op.location != UNKNOWN_LOC for op in model.module.walk())


def test_explanations_name_every_node(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A raised operator is found by any node that it is made of; the log names them all."""
    monkeypatch.chdir(tmp_path)
    run = Fusec(tmp_path, capsys)
    path = run.file("m.onnx", small())
    options = ("--max-fusion-ops", "1", "--log-file", "ge.log", "-q")
    done = run("explain", path, *options, "--json")
    by_name = {g["name"]: g["ops"] for g in done.json["groups"]}
    assert by_name["gelu"] == list(GELU)
    (edge,) = done.json["edges"]
    assert edge["nodes"] == [["node_lpnormalization_0"], list(GELU)]
    assert (edge["producer"], edge["consumer"]) == ("node_lpnormalization_0", "node_mul_6")
    assert ", ".join(GELU) in (tmp_path / "ge.log").read_text()
    text = run("explain", path, *options, "--edge", "node_erf_3", "node_lpnormalization_0").out
    assert f"node_mul_6 (with {', '.join(GELU[:-1])})" in text
