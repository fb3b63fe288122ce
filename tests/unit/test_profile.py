"""The figures of a profile, counted by hand on small graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

import fusec
from fusec.api import context, run_passes
from fusec.frontends.mlir import LocatedParser
from fusec.report.profile import Profile, boundary_bytes, count_operators
from fusec.semantics.interpreter import GraphError
from fusec.semantics.types import tensor_bytes
from fusec_dialects.graph import ConstantOp, WeightOp
from networks import Net, perceptron

GROUPS = """
func.func @main(%x: tensor<4x6xf32>, %m: tensor<4x6xi1>) -> tensor<6x4xf16> {
  %w = graph.weight "w" : tensor<6x6xf32>
  %0 = graph.call @a(%x, %w) : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
  %1 = graph.reshape %0 : tensor<4x6xf32> -> tensor<2x12xf32>
  %2 = graph.reshape %0 : tensor<4x6xf32> -> tensor<24xf32>
  %3 = graph.call @b(%1, %2, %m)
    : (tensor<2x12xf32>, tensor<24xf32>, tensor<4x6xi1>) -> tensor<4x6xf16>
  %4 = graph.reshape %3 : tensor<4x6xf16> -> tensor<6x4xf16>
  func.return %4 : tensor<6x4xf16>
}
graph.kernel @a "a"(%x: tensor<4x6xf32>, %w: tensor<6x6xf32>) -> tensor<4x6xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
  graph.yield %0 : tensor<4x6xf32>
}
graph.kernel @b "b"(%x: tensor<2x12xf32>, %y: tensor<24xf32>, %m: tensor<4x6xi1>)
    -> tensor<4x6xf16> {
  %0 = graph.reshape %x : tensor<2x12xf32> -> tensor<4x6xf32>
  %1 = graph.reshape %y : tensor<24xf32> -> tensor<4x6xf32>
  %2 = graph.where %m, %0, %1
    : (tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = graph.cast %2 {to = f16} : tensor<4x6xf32> -> tensor<4x6xf16>
  graph.yield %3 : tensor<4x6xf16>
}
"""

OPERATORS = """
func.func @main(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %w = graph.weight "w" : tensor<6xf32>
  %c = graph.constant dense<2.0> : tensor<f32>
  %e = graph.exp %w : tensor<6xf32> -> tensor<6xf32>
  %0 = graph.add %x, %e : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %1 = graph.mul %0, %c : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %2 = graph.transpose %1 {perm = [1, 0]} : tensor<4x6xf32> -> tensor<6x4xf32>
  %3 = graph.flatten %2 {axis = 0} : tensor<6x4xf32> -> tensor<1x24xf32>
  %4 = graph.squeeze %3 {axes = [0]} : tensor<1x24xf32> -> tensor<24xf32>
  func.return %4 : tensor<24xf32>
}
"""


def parse(text: str) -> ModuleOp:
    module = LocatedParser(context(), text, "m.mlir").parse_module()
    module.verify()
    return module


def test_boundary_by_hand() -> None:
    """@a: x 96, w 144, result 96. @b: the result of @a once for both views 96, m 24, result 48."""
    assert boundary_bytes(parse(GROUPS)) == (96 + 144 + 96) + (96 + 24 + 48)


def test_operators_by_hand() -> None:
    """add, mul, transpose; a weight, what follows from it and two views are not counted."""
    assert count_operators(parse(OPERATORS)) == 3


def test_operators_without_places_are_counted_one_by_one() -> None:
    assert count_operators(Parser(context(), OPERATORS).parse_module()) == 3


def test_a_node_that_became_two_operators_counts_once() -> None:
    module = parse(OPERATORS)
    add, mul = (o for o in module.walk() if o.name in ("graph.add", "graph.mul"))
    mul.location = add.location
    assert count_operators(module) == 2


def test_no_main() -> None:
    with pytest.raises(GraphError, match="no function @main"):
        count_operators(parse("func.func @f() { func.return }"))


def test_size_of_a_tensor() -> None:
    module = parse(OPERATORS)
    weight, constant = (o for o in module.walk() if isinstance(o, WeightOp | ConstantOp))
    assert tensor_bytes(weight.y.type) == 24
    assert tensor_bytes(constant.y.type) == 4


def profile(model: fusec.Model, **options: bool) -> Profile:
    return fusec.compile(model, fusion=options.get("fusion", True)).profile()


def test_perceptron_by_hand(tmp_path: Path) -> None:
    """x 20x32, W 32x48, b 48; the product and the sum, 20x48, cross boundaries only unfused."""
    (tmp_path / "m.onnx").write_bytes(perceptron())
    model = fusec.load(tmp_path / "m.onnx")
    x, w, b, y = (4 * n for n in (20 * 32, 32 * 48, 48, 20 * 48))
    fused, unfused = profile(model), profile(model, fusion=False)
    assert fused["gm_boundary_bytes"] == x + w + b + y
    assert unfused["gm_boundary_bytes"] == (x + w + y) + (y + b + y) + (y + y)
    assert (fused["kernels"], unfused["kernels"]) == (1, 3)
    assert fused["operators"] == unfused["operators"] == 3
    assert fused["workspace_bytes"] == 0
    assert unfused["workspace_bytes"] >= 2 * y, "two values live between three kernels"
    assert fused["hbm_bytes"] == fused["gm_boundary_bytes"], "each byte comes once from HBM"
    assert fused["modelled_us"] < unfused["modelled_us"]
    assert fused["model"].endswith("m.onnx")


def test_unfused_raises_nothing() -> None:
    """GELU of five operators: one kernel fused, five kernels unfused."""
    net = Net()
    x = net.input("x", [8, 64])
    root, one, half = (net.constant(np.array(v, np.float32)) for v in (2**0.5, 1.0, 0.5))
    y = net.op("Add", [net.op("Erf", [net.op("Div", [x, root])]), one])
    y = net.op("Mul", [net.op("Mul", [x, y]), half])
    model = fusec.load(net.model({y: [8, 64]}))
    fused, unfused = profile(model), profile(model, fusion=False)
    assert fused["operators"] == unfused["operators"] == 5
    assert (fused["groups"], unfused["groups"]) == (1, 5)
    assert (fused["kernels"], unfused["kernels"]) == (1, 5)


def test_groups_are_counted_before_lowering() -> None:
    """A group that only moves is one too; a free view is none."""
    module = parse(OPERATORS)
    run_passes(module, "prepare,graph-fuse{strategy=none},graph-outline")
    assert sum(op.name == "graph.call" for op in module.walk()) == 3
