"""ONNX's own operator cases: right, or refused with the operator's name, at graph and npu level."""

from __future__ import annotations

import pytest

from fusec.frontends.onnx.operators import OPERATORS
from onnx_case_runner import Tally, cases, run_graph, run_npu

LEAST_GRAPH = 931
"""Cases right at the graph level, of those that count."""

LEAST_NPU = 882
"""Cases right at the placed npu level, none with a host call."""

SAMPLE = 9
"""Every ninth case goes to the npu level when the whole campaign is not asked for."""

LEAST_SAMPLED = 100


def _named(tally: Tally) -> None:
    """A refusal says which node it is about, and so which operator."""
    for name, (operator, why) in tally.refused.items():
        assert operator in why or "output" in why, f"{name}: {why}"


def test_graph_level() -> None:
    tally = run_graph(cases())
    print(f"\ngraph level: {tally}")
    assert not tally.wrong
    _named(tally)
    assert len(tally.right) >= LEAST_GRAPH


def test_npu_level_sampled() -> None:
    tally = run_npu(cases()[::SAMPLE])
    print(f"\nnpu level, every {SAMPLE}th case: {tally}")
    assert not tally.wrong
    assert len(tally.right) >= LEAST_SAMPLED


@pytest.mark.campaign
def test_npu_level() -> None:
    tally = run_npu(cases())
    print(f"\nnpu level: {tally}")
    assert not tally.wrong
    assert len(tally.right) >= LEAST_NPU


@pytest.mark.parametrize("operator", ["Loop", "Scan", "NonZero", "Unique", "NonMaxSuppression"])
def test_refused_by_name(operator: str) -> None:
    """What has no static form is refused by its name, wherever a case has it."""
    assert operator not in OPERATORS
    chosen = [case for case in cases() if case.operator == operator]
    tally = run_graph(chosen)
    assert len(tally.refused) == len(chosen) > 0
    assert all(operator in why for _, why in tally.refused.values())
