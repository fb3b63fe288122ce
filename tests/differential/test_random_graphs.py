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
from fusec_dialects.graph import WeightOp
from fusec_dialects.graph.base import tensor_type
from graph_modules import parse, random_array
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
P, Q, C = "tensor<16x5x7xf32>", "tensor<16x1x7xf32>", "tensor<1xf32>"
BACKWARDS = "{starts = [4], ends = [-6], axes = [0], steps = [-1]}"
POINTS = "{strides = [1], pads = [0, 0], dilations = [1]}"

FOUND = {
    "an axis read backwards behind what was computed": f"""
      func.func @main(%x: {T}) -> {T} {{
        %0 = graph.tanh %x : {T} -> {T}
        %1 = graph.slice %0 {BACKWARDS} : {T} -> {T}
        func.return %1 : {T}
      }}""",
    "an axis read backwards behind a product": f"""
      func.func @main(%x: {T}) -> {T} {{
        %w = graph.weight "w" : tensor<4x4xf32>
        %0 = graph.matmul %x, %w : ({T}, tensor<4x4xf32>) -> {T}
        %1 = graph.slice %0 {BACKWARDS} : {T} -> {T}
        %2 = graph.relu %1 : {T} -> {T}
        func.return %2 : {T}
      }}""",
    "rows of a picture read in segments, by one filter with a bias": f"""
      func.func @main(%x: {P}) -> {Q} {{
        %w = graph.weight "w" : tensor<1x5x1xf32>
        %b = graph.weight "b" : {C}
        %s = graph.weight "s" : {C}
        %0 = graph.conv %x, %w, %b {POINTS} : ({P}, tensor<1x5x1xf32>, {C}) -> {Q}
        %1 = graph.batch_normalization %0, %s, %b, %b, %s : ({Q}, {C}, {C}, {C}, {C}) -> {Q}
        func.return %1 : {Q}
      }}""",
    "a repetition behind a small convolution": """
      func.func @main(%x: tensor<1x4x1xf16>) -> tensor<2x1x3x1xf16> {
        %w = graph.weight "w" : tensor<3x4x3xf16>
        %0 = graph.conv %x, %w {strides = [1], pads = [1, 1], dilations = [1]} :
          (tensor<1x4x1xf16>, tensor<3x4x3xf16>) -> tensor<1x3x1xf16>
        %1 = graph.unsqueeze %0 {axes = [0]} : tensor<1x3x1xf16> -> tensor<1x1x3x1xf16>
        %2 = graph.expand %1 : tensor<1x1x3x1xf16> -> tensor<2x1x3x1xf16>
        func.return %2 : tensor<2x1x3x1xf16>
      }""",
    "a product of one computed value with itself": """
      func.func @main(%x: tensor<8x2x4x8xf32>) -> (tensor<8x2x4x8xf32>, tensor<8x2x4x4xf32>) {
        %c = graph.constant dense<0.03125> : tensor<f32>
        %w = graph.weight "w" : tensor<4x4xf32>
        %0 = graph.gelu %x : tensor<8x2x4x8xf32> -> tensor<8x2x4x8xf32>
        %1 = graph.transpose %0 {perm = [0, 1, 3, 2]} : tensor<8x2x4x8xf32> -> tensor<8x2x8x4xf32>
        %2 = graph.mul %0, %c : (tensor<8x2x4x8xf32>, tensor<f32>) -> tensor<8x2x4x8xf32>
        %3 = graph.matmul %2, %1 :
          (tensor<8x2x4x8xf32>, tensor<8x2x8x4xf32>) -> tensor<8x2x4x4xf32>
        %4 = graph.add %3, %w : (tensor<8x2x4x4xf32>, tensor<4x4xf32>) -> tensor<8x2x4x4xf32>
        %5 = graph.softmax %4 : tensor<8x2x4x4xf32> -> tensor<8x2x4x4xf32>
        func.return %0, %5 : tensor<8x2x4x8xf32>, tensor<8x2x4x4xf32>
      }""",
}
"""What campaigns have found, as small as it gets."""


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    rng = np.random.default_rng(0)
    kept = [op for op in parse(FOUND[name]).walk() if isinstance(op, WeightOp)]
    weights = {op.weight.data: abs(random_array(rng, tensor_type(op.y))) for op in kept}
    judged = Judged.of(FOUND[name], weights)
    unfused = modelled_us(judged, UNFUSED)
    assert unfused is not None
    for options in PLANS:
        check_plan(judged, options, npu=options.objective != "time")
        us = modelled_us(judged, options) if options.objective == "time" else 0.0
        assert us is not None and us <= unfused * (1 + 1e-9)
