"""No plan changes what a network computes: random networks under every strategy and objective.

hypothesis draws networks of up to 60 operators of all kinds. The fused graph is judged in float64
and in its own types, the placed kernels in the simulator; under objective time no plan is modelled
slower than no fusion.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fusec.config.fusion_options import OBJECTIVES, FusionOptions
from fusec.fusion.strategies import STRATEGIES
from plan_check import Judged, check_plan, modelled_us
from random_networks import random_network

PLANS = [
    FusionOptions(strategy=strategy, objective=objective)
    for strategy in STRATEGIES
    for objective in OBJECTIVES
]

UNFUSED = FusionOptions(enabled=False)

quick = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
"""Bounded and the same every time; a campaign shrinks what it finds."""

thorough = settings(
    max_examples=2000,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

networks = st.integers(0, 2**32 - 1)
"""Seeds. In a campaign hypothesis decides every choice itself, so that it can shrink."""

choices = st.randoms(use_true_random=False)


def _check_all(random: Random, most: int, plans: list[FusionOptions], npu: int) -> None:
    """Every plan on the fused level, `npu` of them, drawn, down to placed kernels."""
    judged = Judged.of(*random_network(random, most))
    placed = random.sample(plans, npu)
    for options in plans:
        check_plan(judged, options, npu=False)
    for options in placed:
        check_plan(judged, options, npu=True)
    unfused = modelled_us(judged, UNFUSED)
    for options in plans:
        if options.objective != "time" or unfused is None:
            continue
        us = modelled_us(judged, options)
        assert us is None or us <= unfused * (1 + 1e-9), options.strategy


@given(seed=networks)
@quick
def test_no_plan_changes_a_result(seed: int) -> None:
    _check_all(Random(seed), 30, PLANS, 1)


@given(seed=networks)
@quick
def test_unfused_kernels_compute_the_network(seed: int) -> None:
    judged = Judged.of(*random_network(Random(seed), 20))
    check_plan(judged, UNFUSED, npu=True)


@pytest.mark.campaign
@given(random=choices)
@thorough
def test_no_plan_changes_a_result_in_thousands(random: Random) -> None:
    _check_all(random, 60, PLANS, 2)


@pytest.mark.campaign
@given(random=choices)
@thorough
def test_small_networks_on_every_level(random: Random) -> None:
    _check_all(random, 8, PLANS, len(PLANS))


T = "tensor<5x4xf32>"
BACKWARDS = "{starts = [4], ends = [-6], axes = [0], steps = [-1]}"

FOUND = {
    "an axis read backwards behind what was computed": f"""
      %0 = graph.tanh %x : {T} -> {T}
      %1 = graph.slice %0 {BACKWARDS} : {T} -> {T}
      func.return %1 : {T}""",
    "an axis read backwards behind a product": f"""
      %w = graph.weight "w" : tensor<4x4xf32>
      %0 = graph.matmul %x, %w : ({T}, tensor<4x4xf32>) -> {T}
      %1 = graph.slice %0 {BACKWARDS} : {T} -> {T}
      %2 = graph.relu %1 : {T} -> {T}
      func.return %2 : {T}""",
}
"""What campaigns have found, as small as it gets."""


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    text = f"func.func @main(%x: {T}) -> {T} {{{FOUND[name]}\n}}"
    judged = Judged.of(text, {"w": np.eye(4, dtype=np.float32) * 3})
    for options in PLANS:
        check_plan(judged, options, npu=True)
