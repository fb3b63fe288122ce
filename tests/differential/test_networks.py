"""Real networks: numbers against ONNX Runtime, kernels, what fusion gains, Huawei's verdict.

The cheap ones run always, the others by `-m campaign`. What needs a compiled network is one test,
so that it is compiled once, whichever process runs it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import pytest

import fusec
from fusec.accuracy.compare import worst
from fusec.api import LEVELS
from fusec.export.ascend_check import check_kernels
from fusec.export.kernel_contents import kernel_contents
from fusec.export.kernels import export_kernels
from fusec_dialects.graph import CallOp, KernelOp
from real_networks import NETWORKS, PPOCR, TOLERANCE, compiled, is_alive, load

LEAST_ACCEPTED = 0.95
"""Of the distinct kernels of all networks together, by Huawei's compiler."""

OPERATORS = {
    "light_resnet50": 53 + 53 + 49 + 16 + 4,
    "bert_base_s128": 505 - 89 - 48 - 4,
}
"""Counted by hand. ResNet-50: convolutions, batch norms, relus, sums, two pools, a gemm and a
softmax. BERT: all nodes but ConstantOfShape, Reshape and four that depend on no input.
"""


def always(names: Collection[str], rest: Iterable[str] = NETWORKS) -> list[Any]:
    """Parameters: all of `rest`, those that are not among `names` behind the marker."""
    return [n if n in names else pytest.param(n, marks=pytest.mark.campaign) for n in rest]


QUICK = [name for name, network in NETWORKS.items() if network.quick]


@pytest.mark.parametrize("name", always(QUICK, [n for n in NETWORKS if n not in PPOCR]))
def test_numbers_and_kernels(name: str) -> None:
    case, result = compiled(name)
    assert all(map(is_alive, case.reference.values()))
    for level in LEVELS[1:]:
        error = worst(result.run(case.inputs, level), case.reference)
        assert error.max_rel_error <= TOLERANCE, f"level {level}, output {error.output}"
    profile = result.profile()
    assert profile["host_calls"] == 0
    assert profile["kernels"] == profile["groups"] <= NETWORKS[name].kernels


@pytest.mark.parametrize("name", always(OPERATORS))
def test_what_fusion_gains(name: str) -> None:
    case, result = compiled(name)
    fewest = result.profile()
    fastest = fusec.compile(case.model, objective="time").profile()
    unfused = fusec.compile(case.model, fusion=False).profile()
    for fused in (fewest, fastest):
        assert fused["operators"] == unfused["operators"]
        assert fused["operators"] == OPERATORS.get(name, fused["operators"])
        assert fused["kernels"] < unfused["kernels"]
        assert fused["gm_boundary_bytes"] < unfused["gm_boundary_bytes"]
    assert fewest["kernels"] <= fastest["kernels"]
    for key in ("gm_bytes", "modelled_us"):
        assert fastest[key] < unfused[key]
    # What L2 keeps is no traffic of HBM; workspaces of mixed kernels and padded filters add a bit.
    assert fastest["hbm_bytes"] < 1.02 * unfused["hbm_bytes"]


def refusals(name: str) -> tuple[int, dict[str, str]]:
    """How many distinct kernels a network has, and what those that are not accepted are and why."""
    _, result = compiled(name)
    kernels, unsaid = export_kernels(result.unplaced)
    refused = {
        v.kernel.name: v.verdict.reason
        for v in check_kernels(kernels, result.target.vendor)
        if not v.verdict.accepted
    }
    contents = kernel_contents(result.fused)
    reasons = {**unsaid, **refused}
    return len(kernels) + len(unsaid), {k: f"{contents[k]}: {v}" for k, v in reasons.items()}


@pytest.mark.parametrize("name", OPERATORS)
def test_every_kernel_is_accepted_by_huaweis_compiler(name: str) -> None:
    count, refused = refusals(name)
    assert count > 0
    assert refused == {}


@pytest.mark.campaign
def test_kernels_of_all_networks_together() -> None:
    """Nearly all are accepted; the reason of every other names an operator and its type."""
    total = 0
    why: dict[str, str] = {}
    for name in NETWORKS:
        count, refused = refusals(name)
        total += count
        why |= {f"{name} @{kernel}": reason for kernel, reason in refused.items()}
    print(f"\n{total - len(why)} of {total} kernels accepted", *why.items(), sep="\n")
    assert len(why) <= (1 - LEAST_ACCEPTED) * total
    for reason in why.values():
        assert re.match(r"[a-z_, ]+ \([a-z0-9, ]+\): .*\b[a-z]\w+\.[a-z]\w+", reason)


def test_an_output_that_cannot_show_errors_is_not_alive() -> None:
    assert is_alive(np.array([0.7, 0.2, 1e-9]))
    for dead in ([1, 1e-20, 0], [0, 0], [1, np.inf], [np.nan, 1]):
        assert not is_alive(np.array(dead))


def patterns(model: fusec.Model) -> list[str]:
    """The pattern of each call."""
    ops = list(model.module.walk())
    kernels = {op.sym_name.data: op.pattern.data for op in ops if isinstance(op, KernelOp)}
    return [kernels[op.callee.string_value()] for op in ops if isinstance(op, CallOp)]


def test_conv_bn_relu_fires_and_obeys_its_switch() -> None:
    """33 of 53 convolutions have a relu right after their batch norm, 16 an addition before it."""
    model = fusec.load(NETWORKS["light_resnet50"].file)
    found = patterns(fusec.fuse(model, objective="kernels"))
    assert found.count("conv_bn_relu") == 33
    assert found.count("conv_bn_residual_relu") == 16
    off = patterns(fusec.fuse(model, objective="kernels", disable="conv_bn_relu"))
    assert "conv_bn_relu" not in off
    assert len(off) > len(found)


def test_an_encoder_layer_is_compiled_once() -> None:
    """Twelve equal layers: their kernels are shared, but for those at the ends."""
    fused = fusec.fuse(NETWORKS["bert_base_s128"].file, objective="kernels")
    ops = list(fused.module.walk())
    calls = Counter(op.callee.string_value() for op in ops if isinstance(op, CallOp))
    assert len(calls) == sum(isinstance(op, KernelOp) for op in ops) <= 15
    assert len([n for n in calls.values() if n < 11]) <= 3


def test_the_seed_decides() -> None:
    """Another seed gives other weights and inputs, and the signal is alive with it too."""
    first, second = (load(NETWORKS["light_shufflenet"], seed) for seed in (0, 1))
    for name, output in first.reference.items():
        assert is_alive(second.reference[name])
        assert (output != second.reference[name]).any()
