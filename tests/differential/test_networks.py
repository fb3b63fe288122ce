"""The two real networks: numbers against ONNX Runtime, kernels, what fusion gains, the switches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import onnx
import pytest

import fusec
from fusec.accuracy.compare import worst
from fusec.accuracy.inputs import seeded_inputs
from fusec.accuracy.reference import run_reference
from fusec.api import Level
from fusec.export.ascend_check import check_kernels
from fusec.export.kernels import export_kernels
from fusec.semantics.dtypes import Array
from fusec_dialects.graph import CallOp, KernelOp

ROOT = Path(__file__).resolve().parents[2]
LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"


@dataclass(frozen=True)
class Promise:
    """What a network has to reach under `objective=kernels`; `operators` are counted by hand."""

    path: Path
    operators: int
    kernels: int


NETWORKS = {
    "light_resnet50": Promise(LIGHT / "light_resnet50.onnx", 53 + 53 + 49 + 16 + 4, 60),
    "bert_base_s128": Promise(ROOT / "examples/models/bert_base_s128.onnx", 505 - 89 - 48 - 4, 170),
}
"""ResNet-50: convolutions, batch norms, relus, sums, two pools, a gemm and a softmax. BERT: all
nodes but ConstantOfShape, Reshape and four that depend on no input."""


@dataclass
class Case:
    """A network with seeded weights, compiled for the fewest kernels, and ONNX Runtime's answer."""

    promise: Promise
    model: fusec.Model
    compiled: fusec.Compiled
    inputs: dict[str, Array]
    reference: dict[str, Array]


@pytest.fixture(scope="module", params=NETWORKS)
def case(request: pytest.FixtureRequest) -> Case:
    promise = NETWORKS[request.param]
    model = fusec.load(promise.path)
    repeated = set(model.weights.repeated)
    model = model.seeded(0)
    inputs = seeded_inputs(model.module, 0)
    reference = run_reference(str(promise.path), model.weights, repeated, inputs)
    compiled = fusec.compile(model, objective="kernels")
    return Case(promise, model, compiled, inputs, reference)


@pytest.mark.parametrize("level", ["fused", "npu"])
def test_numbers(case: Case, level: Level) -> None:
    assert worst(case.compiled.run(case.inputs, level), case.reference).max_rel_error <= 1e-4


def test_what_fusion_gains(case: Case) -> None:
    fused = case.compiled.profile()
    unfused = fusec.compile(case.model, fusion=False).profile()
    assert fused["operators"] == unfused["operators"] == case.promise.operators
    assert fused["kernels"] <= case.promise.kernels
    assert fused["kernels"] == fused["groups"]
    assert unfused["kernels"] >= 2 * fused["kernels"]
    assert 1.5 * fused["gm_boundary_bytes"] < unfused["gm_boundary_bytes"]
    for key in ("gm_bytes", "hbm_bytes", "modelled_us"):
        assert fused[key] < unfused[key]


def test_every_kernel_is_accepted_by_huaweis_compiler(case: Case) -> None:
    kernels, unsaid = export_kernels(case.compiled.unplaced)
    assert unsaid == {}
    refused = {
        v.kernel.name: v.verdict.reason
        for v in check_kernels(kernels, case.compiled.target.vendor)
        if not v.verdict.accepted
    }
    assert refused == {}


def patterns(model: fusec.Model) -> list[str]:
    """The pattern of each call."""
    ops = list(model.module.walk())
    kernels = {op.sym_name.data: op.pattern.data for op in ops if isinstance(op, KernelOp)}
    return [kernels[op.callee.string_value()] for op in ops if isinstance(op, CallOp)]


def test_conv_bn_relu_fires_and_obeys_its_switch() -> None:
    """33 of 53 convolutions have a relu right after their batch norm, 16 an addition before it."""
    model = fusec.load(NETWORKS["light_resnet50"].path)
    found = patterns(fusec.fuse(model, objective="kernels"))
    assert found.count("conv_bn_relu") == 33
    assert found.count("conv_bn_residual_relu") == 16
    off = patterns(fusec.fuse(model, objective="kernels", disable="conv_bn_relu"))
    assert "conv_bn_relu" not in off
    assert len(off) > len(found)


def test_an_encoder_layer_is_compiled_once() -> None:
    """Twelve equal layers: their kernels are shared."""
    fused = fusec.fuse(NETWORKS["bert_base_s128"].path, objective="kernels")
    kernels = sum(isinstance(op, KernelOp) for op in fused.module.walk())
    assert kernels <= 15
    assert len(patterns(fused)) >= 8 * kernels
