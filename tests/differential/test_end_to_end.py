"""Whole small networks, from the ONNX file to placed kernels, against ONNX Runtime and float64."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.ir import BlockArgument

import fusec
from fusec.accuracy.compare import worst
from fusec.accuracy.inputs import seeded_inputs
from fusec.accuracy.reference import run_reference
from fusec.api import LEVELS
from fusec.simulator.witness import witness
from fusec_dialects.graph import KernelOp
from networks import conv_net, transformer_block

TARGETS = ("ascend910b3", "tiny")
TOLERANCE = {"float32": 2e-5, "float16": 1e-2}
"""Relative to the largest value of an output: sums of a few hundred products, a dozen layers."""


def check(data: bytes, dtype: str, target: str, objective: str, folder: Path) -> fusec.Compiled:
    """Every level agrees with both references, and the witness finds nothing."""
    path = folder / "net.onnx"
    path.write_bytes(data)
    model = fusec.load(path)
    inputs = seeded_inputs(model.module, 1)
    references = {
        "ONNX Runtime": run_reference(str(path), model.weights, set(), inputs),
        "float64": model.run(inputs, oracle=True),
    }
    compiled = fusec.compile(model, target=target, objective=objective)
    for level in LEVELS:
        found = compiled.run(inputs, level)
        for name, reference in references.items():
            error = worst(found, reference).max_rel_error
            assert error <= TOLERANCE[dtype], f"level {level} against {name}"
    assert list(map(str, witness(compiled.npu, arrays=inputs))) == []
    return compiled


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("seed", range(4))
def test_conv_net(seed: int, dtype: str, target: str, tmp_path: Path) -> None:
    """Greedily every batch norm joins its convolution and is folded into the weights; a search may
    part the two, and then begins another kernel with it.
    """
    compiled = check(conv_net(seed, dtype), dtype, target, "kernels", tmp_path)
    for op in compiled.fused.walk():
        if op.name == "graph.batch_normalization":
            assert isinstance(op.operands[0], BlockArgument)
    greedy = fusec.fuse(compiled.model, target=target, objective="kernels", strategy="greedy")
    kernels = [op for op in greedy.module.walk() if isinstance(op, KernelOp)]
    assert "conv_bn_relu" in {kernel.pattern.data for kernel in kernels}
    assert all(op.name != "graph.batch_normalization" for k in kernels for op in k.walk())
    assert sum(isinstance(op, KernelOp) for op in compiled.fused.walk()) <= len(kernels)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("seed", range(4))
def test_transformer_block(seed: int, dtype: str, target: str, tmp_path: Path) -> None:
    compiled = check(transformer_block(seed, dtype), dtype, target, "time", tmp_path)
    unfused = fusec.compile(compiled.model, target=target, fusion=False)
    profiles = compiled.profile(), unfused.profile()
    for key in ("kernels", "gm_boundary_bytes", "modelled_us"):
        assert profiles[0][key] < profiles[1][key]


@pytest.mark.parametrize("seed", range(2))
def test_unfused_agrees_too(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    for data in (conv_net(seed), transformer_block(seed)):
        path.write_bytes(data)
        model = fusec.load(path)
        inputs = seeded_inputs(model.module, 1)
        reference = run_reference(str(path), model.weights, set(), inputs)
        found = fusec.compile(model, fusion=False, target="tiny").run(inputs)
        assert worst(found, reference).max_rel_error <= TOLERANCE["float32"]
