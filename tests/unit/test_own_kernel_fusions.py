"""Own fusions with a kernel (`lower`): when they are taken, and what forbids them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from fusec.accuracy.inputs import seeded_inputs
from fusec.api import Model, compile, run_passes
from fusec.config.fusion_options import FusionOptions
from fusec.fusion.fuse import fuse_module
from fusec.opbase import (
    FusionError,
    OperatorBase,
    RegFusion,
    Symbol,
    ascendc,
    fusion,
)
from fusec.semantics.weights import WeightStore
from own_cases import compiled, kernels, nothing_left, parsed, scale

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_operators.py"


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    with nothing_left():
        yield


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


def test_a_plain_function_with_a_kernel() -> None:
    def kernel(npu: Any, inputs: list[Any], outputs: list[Any]) -> None:
        scale(npu, inputs[0], outputs[0])

    @fusion(lower=kernel)
    def doubled(x: Symbol) -> Symbol:
        return ascendc.neg(x * -2.0)

    assert doubled
    t = "tensor<40x24xf32>"
    module = parsed(f"""func.func @main(%x: {t}) -> {t} {{
      %c = graph.constant dense<-2.0> : tensor<f32>
      %0 = graph.mul %c, %x : (tensor<f32>, {t}) -> {t}
      %1 = graph.neg %0 : {t} -> {t}
      func.return %1 : {t}
    }}""")
    made = compiled(module)
    assert kernels(made) == ["doubled"] and "npu.vmul" in str(made.npu)
    x = np.ones((40, 24), np.float32)
    assert np.array_equal(made.run({"x": x})["out0"], 2 * x)


@pytest.mark.parametrize(("benefit", "names"), [(5, ["Mine"]), (2000, ["whole"])])
def test_benefit_decides_with_and_without_a_kernel(benefit: int, names: list[str]) -> None:
    matmul_bias_relu()

    @fusion(benefit=benefit)
    def whole(x: Symbol, y: Symbol, b: Symbol) -> Symbol:
        return ascendc.relu(x @ y + b)

    assert whole
    assert kernels(compiled(chain())) == names


def test_two_that_wait_for_each_other() -> None:
    """Each reads what the other lets escape: only one of them can be taken."""

    def pair(kind: str) -> None:
        def compute(x: Symbol, y: Symbol) -> tuple[Symbol, Symbol]:
            first = getattr(ascendc, kind)(x)
            return first, ascendc.mul(first, y)

        def lower(npu: Any, inputs: list[Any], outputs: list[Any]) -> None:
            tiles = [npu.ub(x.shape, x.dtype) for x in inputs]
            for x, tile in zip(inputs, tiles, strict=True):
                npu.load(x, tile)
            getattr(npu, f"v{kind}")(tiles[0], tiles[0])
            npu.store(tiles[0], outputs[0])
            npu.vmul(tiles[0], tiles[1], tiles[1])
            npu.store(tiles[1], outputs[1])

        fusion(compute, name=f"with_{kind}", lower=lower)

    pair("exp")
    pair("abs")
    t = "tensor<16x16xf32>"
    module = parsed(f"""func.func @main(%x: {t}, %y: {t}) -> ({t}, {t}) {{
      %a = graph.exp %x : {t} -> {t}
      %b = graph.abs %y : {t} -> {t}
      %c = graph.mul %a, %b : ({t}, {t}) -> {t}
      %d = graph.mul %b, %a : ({t}, {t}) -> {t}
      func.return %c, %d : {t}, {t}
    }}""")
    remarks = fuse_module(module.clone(), FusionOptions(objective="kernels"))
    assert next(r.kind for r in remarks if r.pattern == "with_exp") == "fused"
    assert "fused" not in [r.kind for r in remarks if r.pattern == "with_abs"]
    model = Model(module, WeightStore())
    inputs = seeded_inputs(module, 0)
    right = model.run(inputs)
    for name, array in compiled(module).run(inputs).items():
        assert np.allclose(array, right[name], rtol=1e-5)


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
