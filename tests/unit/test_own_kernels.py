"""Own kernels (`lower`): built, simulated and compared like others; wrong ones are refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusec.accuracy.inputs import seeded_inputs
from fusec.api import Model, run_passes
from fusec.config.fusion_options import FusionOptions
from fusec.fusion.fuse import fuse_module
from fusec.opbase import (
    FusionError,
    OperatorBase,
    RegOp,
    Unsupported,
    load,
)
from fusec.semantics.weights import WeightStore
from fusec_dialects.graph import OpaqueOp
from own_cases import Body, applied, compiled, kernels, nothing_left, parsed, scale, twice

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_operators.py"


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    with nothing_left():
        yield


def test_an_operator_with_a_kernel() -> None:
    twice("Twice", scale)
    made = compiled(applied("Twice"))
    assert kernels(made) == ["Twice"] and "npu.host_call" not in str(made.npu)
    x = np.arange(40 * 24, dtype=np.float32).reshape(40, 24)
    for level in ("graph", "fused", "npu"):
        assert np.array_equal(made.run({"x": x}, level)["out0"], 2 * x)
    assert made.profile()["modelled_us"] > 0


def test_an_operator_without_one_is_computed_by_the_host() -> None:
    twice("Twice", None)
    made = compiled(applied("Twice", "tensor<3xi32>"))
    assert any(isinstance(op, OpaqueOp) for op in made.fused.walk())
    x = np.array([1, -2, 3], np.int32)
    assert made.run({"x": x})["out0"].tolist() == [2, -4, 6]


def race(npu: Any, x: Any, y: Any) -> None:
    with npu.rows(x.shape[0], 16) as (_, count):
        tile = npu.ub((16, x.shape[1]), x.dtype, (count, x.shape[1]))
        npu.load(npu.view(x, (0, 0), tile.shape), tile)
        npu.vmul(tile, 2.0, tile)
        npu.store(tile, npu.view(y, (0, 0), tile.shape))


def twice_a_grid(npu: Any, x: Any, y: Any) -> None:
    scale(npu, x, y)
    scale(npu, x, y)


WRONG: dict[str, tuple[Body, str]] = {
    "other numbers": (
        lambda npu, x, y: scale(npu, x, y, 3.0),
        r"wrong: its lower does not compute its compute: output 0 of \(tensor<40x24xf32>\) is off "
        r"by \d.*allowed are",
    ),
    "rows left out": (lambda npu, x, y: scale(npu, x, y, rows=32), r"at \[32, 0\] 0 in place of"),
    "rows too many": (lambda npu, x, y: scale(npu, x, y, rows=64), "outside of its buffer"),
    "blocks in each other's way": (race, "its lower is wrong: .*race"),
    "no such instruction": (lambda npu, x, y: npu.vmull(x, y), "did you mean 'vmul'"),
    "a buffer in gm": (lambda npu, x, y: npu.vadd(x, x, y), "operand must be in ub"),
    "nothing": (lambda npu, x, y: None, "its `lower` does nothing"),
    "two grids": (twice_a_grid, "one grid of tiles"),
    "no buffers": (lambda npu, x, y: npu.vadd(1.0, 2.0), "given no buffer"),
    "a fault of its own": (lambda npu, x, y: x.colour, r"test_own_kernels\.py:\d+: AttributeError"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_kernels_are_refused(name: str) -> None:
    body, message = WRONG[name]
    twice("wrong", body)
    with pytest.raises(FusionError, match=message):
        run_passes(applied("wrong"), "graph-fuse")


def too_large(npu: Any, x: Any, y: Any) -> None:
    tile = npu.ub((4096, 64), x.dtype, x.shape)
    npu.load(x, tile)
    npu.store(tile, y)


def says_no(npu: Any, x: Any, y: Any) -> None:
    raise Unsupported("written for 8 rows")


@pytest.mark.parametrize(
    ("body", "reason"), [(too_large, "own-capacity"), (says_no, "own-unsupported")]
)
def test_without_a_kernel_for_these_shapes_the_host_computes_it(body: Body, reason: str) -> None:
    twice("Twice", body)
    module = applied("Twice")
    remarks = fuse_module(module, FusionOptions())
    assert [(r.pattern, r.reason) for r in remarks] == [("Twice", reason)]
    assert any(isinstance(op, OpaqueOp) for op in module.walk())


@pytest.mark.parametrize("body", [True, False], ids=["kernel", "host"])
def test_between_convolutions_the_layout_is_its_own(body: bool) -> None:
    """Convolutions run channels last, a kernel or operator of a user's reads what the text says."""

    def rows(npu: Any, x: Any, y: Any) -> None:
        n, c, h, w = x.shape
        scale(npu, npu.reshape(x, (n * c, h * w)), npu.reshape(y, (n * c, h * w)))

    twice("Twice", rows if body else None)
    t, last = "tensor<1x16x10x12xf32>", "tensor<1x10x12x16xf32>"
    both = "tensor<1x32x10x12xf32>"
    conv = "{strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]}"
    module = parsed(f"""
    func.func @main(%x: {t}, %w: tensor<16x16x3x3xf32>) -> ({last}, {both}) {{
      %0 = graph.conv %x, %w {conv} : ({t}, tensor<16x16x3x3xf32>) -> {t}
      %1 = graph.Twice %0 : {t} -> {t}
      %2 = graph.conv %1, %w {conv} : ({t}, tensor<16x16x3x3xf32>) -> {t}
      %3 = graph.transpose %1 {{perm = [0, 2, 3, 1]}} : {t} -> {last}
      %4 = graph.concat %1, %2 {{axis = 1}} : ({t}, {t}) -> {both}
      func.return %3, %4 : {last}, {both}
    }}""")
    model = Model(module, WeightStore())
    inputs = seeded_inputs(module, 0)
    right, found = model.run(inputs, oracle=True), compiled(module).run(inputs)
    for name, array in right.items():
        assert np.allclose(found[name], array, atol=1e-5 * np.abs(array).max())


def test_a_constant_operand() -> None:
    """A single number stands inside of the kernel's region, and is an argument of its function."""

    @RegOp("Scaled")
    class Scaled(OperatorBase):
        def __init__(self) -> None:
            super().__init__()
            self.add_input("x")
            self.add_input("factor")
            self.add_output("y")

        def compute(self, inputs: list[Any], outputs: list[Any]) -> None:
            outputs[0] = inputs[0] * inputs[1]

        def lower(self, npu: Any, inputs: list[Any], outputs: list[Any]) -> None:
            x, factor = inputs
            tile, one = npu.ub(x.shape, x.dtype), npu.ub((1, 1), x.dtype, (1, 1))
            npu.load(x, tile)
            npu.load(factor, one)
            npu.vmul(tile, one, tile)
            npu.store(tile, outputs[0])

    assert Scaled
    t = "tensor<4x16xf32>"
    module = parsed(f"""func.func @main(%x: {t}) -> {t} {{
      %c = graph.constant dense<3.0> : tensor<1x1xf32>
      %0 = graph.Scaled %x, %c : ({t}, tensor<1x1xf32>) -> {t}
      func.return %0 : {t}
    }}""")
    x = np.arange(64, dtype=np.float32).reshape(4, 16)
    made = compiled(module)
    assert kernels(made) == ["Scaled"]
    assert np.array_equal(made.run({"x": x})["out0"], 3 * x)


def test_the_example() -> None:
    assert load(EXAMPLE) == ["SignedRoot", "ScaledSum"]
    t = "tensor<40x24xf16>"
    module = parsed(f"""func.func @main(%x: {t}, %y: {t}) -> {t} {{
      %c = graph.constant dense<0.5> : tensor<f16>
      %0 = graph.add %x, %y : ({t}, {t}) -> {t}
      %1 = graph.mul %0, %c : ({t}, tensor<f16>) -> {t}
      %2 = graph.SignedRoot %1 {{alpha = 2.0}} : {t} -> {t}
      func.return %2 : {t}
    }}""")
    made = compiled(module)
    assert kernels(made) == ["ScaledSum"]
    x, y = np.random.default_rng(0).standard_normal((2, 40, 24)).astype(np.float16)
    half = (x.astype(np.float64) + y) / 2
    right = 2 * np.sign(half) * np.sqrt(np.abs(half))
    assert np.allclose(made.run({"x": x, "y": y})["out0"], right, rtol=4e-3, atol=4e-3)
