"""Own kernels (`lower`): built, simulated and compared like others; wrong ones are refused."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from fusec.accuracy.inputs import seeded_inputs
from fusec.api import Compiled, Model, compile, run_passes
from fusec.config.fusion_options import FusionOptions
from fusec.fusion.fuse import fuse_module
from fusec.opbase import (
    FusionError,
    OperatorBase,
    RegFusion,
    RegOp,
    Unsupported,
    ascendc,
    load,
)
from fusec.semantics.weights import WeightStore
from fusec_dialects.graph import KernelOp, OpaqueOp
from own_cases import Body, applied, nothing_left, parsed, scale, twice

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_operators.py"


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    with nothing_left():
        yield


def compiled(module: ModuleOp) -> Compiled:
    return compile(Model(module, WeightStore()), objective="kernels")


def kernels(made: Compiled) -> list[str]:
    return [op.pattern.data for op in made.fused.walk() if isinstance(op, KernelOp)]


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


def matmul_bias_relu(factor: float = 1.0, name: str = "Mine") -> None:
    @RegFusion(name)
    class Mine(OperatorBase):
        def __init__(self) -> None:
            super().__init__()
            for name in ("a", "b", "bias"):
                self.add_input(name)
            self.add_output("y")

        def compute(self, inputs: list[Any], outputs: list[Any]) -> None:
            a, b, bias = inputs
            outputs[0] = ascendc.relu(ascendc.add(ascendc.matmul(a, b), bias))

        def lower(self, npu: Any, inputs: list[Any], outputs: list[Any]) -> None:
            a, b, bias = inputs
            (m, k), n = a.shape, b.shape[1]
            with npu.rows(m, 32, core="cube") as (start, count):
                left = npu.l1((32, k), a.dtype, (count, k))
                npu.load(npu.view(a, (start, 0), (count, k)), left)
                right, added = npu.l1((k, n), b.dtype), npu.l1((n,), bias.dtype)
                npu.load(b, right)
                npu.load(bias, added)
                acc = npu.l0c((32, n), "f32", (count, n))
                npu.mmad(left, right, True, acc, bias=added)
                npu.fixpipe(acc, npu.view(outputs[0], (start, 0), (count, n)), relu=factor == 1.0)

    assert Mine


A, B, C, D = "tensor<80x32xf32>", "tensor<32x48xf32>", "tensor<48xf32>", "tensor<80x48xf32>"
CHAIN = f"""
func.func @main(%x: {A}, %w: {B}, %b: {C}) -> RESULTS {{
  %0 = graph.matmul %x, %w : ({A}, {B}) -> {D} loc("product")
  %1 = graph.add %b, %0 : ({C}, {D}) -> {D} loc("bias")
  %2 = graph.relu %1 : {D} -> {D} loc("activation")
  func.return VALUES
}}
"""


def chain(values: str = "%2") -> ModuleOp:
    types = ", ".join([D] * values.count("%"))
    text = CHAIN.replace("RESULTS", f"({types})").replace("VALUES", f"{values} : {types}")
    return parsed(text)


def test_a_fusion_with_a_kernel_on_the_cube() -> None:
    matmul_bias_relu()
    model = Model(chain(), WeightStore())
    made = compile(model, objective="kernels")
    assert kernels(made) == ["Mine"] and "npu.fixpipe relu" in str(made.unplaced)
    assert "npu.mmad" in str(made.unplaced) and 'core = "cube"' in str(made.npu)
    rng = np.random.default_rng(0)
    shapes = {"x": (80, 32), "w": (32, 48), "b": (48,)}
    inputs = {k: rng.standard_normal(s).astype(np.float32) for k, s in shapes.items()}
    right = model.run(inputs, oracle=True)["out0"]
    for level in ("fused", "npu"):
        assert np.allclose(made.run(inputs, level)["out0"], right, rtol=1e-5, atol=1e-5)


def test_a_wrong_one_is_refused() -> None:
    matmul_bias_relu(2.0, "Wrong")
    with pytest.raises(FusionError, match="Wrong: its lower does not compute its compute"):
        run_passes(chain(), "graph-fuse{objective=kernels}")


def test_a_kernel_on_both_cores() -> None:
    """The product goes through a workspace to the vector core."""

    @RegFusion("ProductExp")
    class ProductExp(OperatorBase):
        def __init__(self) -> None:
            super().__init__()
            self.add_input("a")
            self.add_input("b")
            self.add_output("y")

        def compute(self, inputs: list[Any], outputs: list[Any]) -> None:
            outputs[0] = ascendc.exp(ascendc.matmul(inputs[0], inputs[1]))

        def lower(self, npu: Any, inputs: list[Any], outputs: list[Any]) -> None:
            a, b = inputs
            (m, k), n = a.shape, b.shape[1]
            between = npu.workspace((m, n))
            with npu.rows(m, 32, core="mixed") as (start, count):
                left, right = npu.l1((32, k), a.dtype, (count, k)), npu.l1((k, n), b.dtype)
                npu.load(npu.view(a, (start, 0), (count, k)), left)
                npu.load(b, right)
                acc, part = npu.l0c((32, n), "f32", (count, n)), ((start, 0), (count, n))
                npu.mmad(left, right, True, acc)
                npu.fixpipe(acc, npu.view(between, *part))
                tile = npu.ub((32, n), "f32", (count, n))
                npu.load(npu.view(between, *part), tile)
                npu.vexp(tile, tile)
                npu.store(tile, npu.view(outputs[0], *part))

    assert ProductExp
    module = parsed(f"""func.func @main(%x: {A}, %w: {B}) -> {D} {{
      %0 = graph.matmul %x, %w : ({A}, {B}) -> {D}
      %1 = graph.exp %0 : {D} -> {D}
      func.return %1 : {D}
    }}""")
    made = compiled(module)
    assert kernels(made) == ["ProductExp"] and 'core = "mixed"' in str(made.npu)
    x, w = (np.random.default_rng(0).standard_normal(s) / 4 for s in ((80, 32), (32, 48)))
    found = made.run({"x": x.astype(np.float32), "w": w.astype(np.float32)})["out0"]
    assert np.allclose(found, np.exp(x @ w), rtol=1e-5)


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


REFUSALS: dict[str, tuple[FusionOptions, str, str]] = {
    "escapes": (FusionOptions(objective="kernels"), "%1, %2", "bias: used outside"),
    "disabled": (FusionOptions(disable=frozenset({"Mine"})), "%2", "switched off"),
    "max-ops": (FusionOptions(max_ops=2), "%2", "too many"),
    "min-ops": (FusionOptions(min_ops=4), "%2", "3 operators, wanted 4"),
    "max-depth": (FusionOptions(max_depth=2), "%2", "too deep"),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_what_forbids_a_fusion_with_a_kernel(reason: str) -> None:
    matmul_bias_relu()
    options, values, message = REFUSALS[reason]
    remarks = [r for r in fuse_module(chain(values), options) if r.pattern == "Mine"]
    assert [r.reason for r in remarks] == [reason] and message in remarks[0].message
    assert remarks[0].ops == ("product", "bias", "activation")


def test_a_slow_kernel_does_not_pay() -> None:
    """One row at a time, on one core, through a copy."""

    @RegFusion("Slow")
    class Slow(OperatorBase):
        def __init__(self) -> None:
            super().__init__()
            self.add_input("x")
            self.add_output("y")

        def compute(self, inputs: list[Any], outputs: list[Any]) -> None:
            outputs[0] = ascendc.relu(ascendc.abs(inputs[0]))

        def lower(self, npu: Any, inputs: list[Any], outputs: list[Any]) -> None:
            (x,), (y,) = inputs, outputs
            with npu.loop(0, x.shape[0]) as row:
                part = (row, 0), (1, x.shape[1])
                tile = npu.ub((1, x.shape[1]), x.dtype)
                npu.load(npu.view(x, *part), tile)
                npu.vabs(tile, tile)
                npu.store(tile, npu.view(y, *part))

    assert Slow
    t = "tensor<512x64xf32>"
    text = f"""func.func @main(%x: {t}) -> {t} {{
      %0 = graph.abs %x : {t} -> {t}
      %1 = graph.relu %0 : {t} -> {t}
      func.return %1 : {t}
    }}"""
    (remark,) = [r for r in fuse_module(parsed(text), FusionOptions()) if r.pattern == "Slow"]
    fused, apart = (float(str(remark.numbers[key])) for key in ("fused", "apart"))
    assert remark.reason == "not-profitable" and fused > apart


def test_inner_values_and_a_cycle() -> None:
    """The sum may escape: it is an output. What waits for it and is waited for is a cycle."""

    @RegFusion("SumExp")
    class SumExp(OperatorBase):
        def __init__(self) -> None:
            super().__init__()
            for name in ("x", "y", "z"):
                self.add_input(name)
            self.add_output("total")
            self.add_output("result")

        def compute(self, inputs: list[Any], outputs: list[Any]) -> None:
            x, y, z = inputs
            outputs[0] = ascendc.add(x, y)
            outputs[1] = ascendc.mul(ascendc.relu(outputs[0]), z)

        def lower(self, npu: Any, inputs: list[Any], outputs: list[Any]) -> None:
            tiles = [npu.ub(x.shape, x.dtype) for x in inputs]
            for x, tile in zip(inputs, tiles, strict=True):
                npu.load(x, tile)
            npu.vadd(tiles[0], tiles[1], tiles[0])
            npu.store(tiles[0], outputs[0])
            npu.vrelu(tiles[0], tiles[1])
            npu.vmul(tiles[1], tiles[2], tiles[2])
            npu.store(tiles[2], outputs[1])

    assert SumExp
    t = "tensor<16x16xf32>"

    def network(third: str) -> ModuleOp:
        return parsed(f"""func.func @main(%x: {t}, %y: {t}, %z: {t}) -> ({t}, {t}) {{
          %0 = graph.add %x, %y : ({t}, {t}) -> {t}
          %e = graph.exp %0 : {t} -> {t}
          %1 = graph.relu %0 : {t} -> {t}
          %2 = graph.mul %1, {third} : ({t}, {t}) -> {t}
          func.return %2, %e : {t}, {t}
        }}""")

    module = network("%z")
    made = compiled(module)
    assert "SumExp" in kernels(made)
    rng = np.random.default_rng(1)
    inputs = {k: rng.standard_normal((16, 16)).astype(np.float32) for k in "xyz"}
    right = Model(module, WeightStore()).run(inputs)
    for name, array in made.run(inputs).items():
        assert np.allclose(array, right[name], rtol=1e-5)
    remarks = fuse_module(network("%e"), FusionOptions(objective="kernels"))
    assert [r.reason for r in remarks if r.pattern == "SumExp"] == ["cycle"]


def test_what_a_trace_has_to_say() -> None:
    def registered(compute: Any) -> None:
        class Open(OperatorBase):
            def __init__(self) -> None:
                super().__init__()
                self.add_input("x")
                self.add_output("y")

            def lower(self, npu: Any, inputs: list[Any], outputs: list[Any]) -> None: ...

        Open.compute = lambda self, inputs, outputs: outputs.__setitem__(0, compute(inputs[0]))  # pyright: ignore[reportAttributeAccessIssue]
        RegFusion("Open")(Open)

    with pytest.raises(FusionError, match="needs its attribute 'axes'"):
        registered(ascendc.reduce_sum)
    with pytest.raises(FusionError, match=r"those of ascendc\.reshape do not"):
        registered(ascendc.reshape)
    registered(partial(ascendc.reduce_sum, axes=[1]))


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
