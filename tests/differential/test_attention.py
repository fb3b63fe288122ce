"""Attention as one kernel: against the oracle when placed and as HIVM text, and in networks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

import fusec
from accepted import CHIP, check_accepted
from attention_kernels import Attention
from export_check import check_numbers
from fusec.accuracy.compare import worst
from fusec.accuracy.inputs import seeded_inputs
from fusec.hw import load_target
from fusec.schedule.attention_schedule import AttentionSchedule
from fusec.schedule.cost import estimate
from fusec.schedule.region import Region
from fusec_dialects.graph import CallOp, KernelOp
from kernel_check import Checked, check, emitted_module, kernel, scheduled
from vector_check import meaning, simulate

MODELS = Path(__file__).parents[2] / "examples/models"

SHAPES = {
    "plain": Attention(dtype="f16", queries=48, keys=48),
    "batches": Attention(2, 3, 40, 24, 16, "f16", layout="bhsd"),
    "odd": Attention(2, 2, 17, 33, 20, mask="keys"),
    "odd_f16": Attention(1, 3, 197, 197, 64, "f16"),
    "one_query": Attention(2, 4, 1, 77, 32, "f16"),
    "three_queries": Attention(1, 2, 3, 40, 8, "bf16"),
    "one_of_all": Attention(1, 1, 1, 50, 24, "f16", layout="bmm"),
    "bmm": Attention(2, 3, 24, 40, 16, "f16", layout="bmm", mask="where"),
    "grouped": Attention(1, 8, 32, 32, 16, own=2, mask="tile"),
    "grouped_bhsd": Attention(2, 6, 16, 40, 16, "f16", own=3, layout="bhsd"),
    "multi_query": Attention(2, 4, 20, 36, 16, "bf16", own=1, mask="heads"),
    "joined": Attention(2, 4, 32, 32, 16, "f16", joined=True, mask="keys"),
    "joined_grouped": Attention(1, 4, 32, 32, 16, own=2, joined=True),
    "softcap": Attention(1, 2, 32, 48, 16, cap=3.0, mask="tile"),
    "wide": Attention(1, 2, 32, 48, 16, "f16", wide=True, mask="heads"),
    "wide_features": Attention(1, 2, 40, 40, 300),
    "long": Attention(1, 1, 64, 2048, 64, "f16"),
    "longer_than_ub": Attention(1, 1, 4, 20000, 16, "f16"),
}


FOLLOWED = """
graph.kernel @k "attention" (%q : tensor<2x3x48x16xT>, %k : tensor<2x3x16x40xT>,
    %v : tensor<2x3x40x16xT>, %g : tensor<2x3x48x16xT>, %b : tensor<16xT>) -> tensor<2x48x3x16xT> {
  %0 = graph.matmul %q, %k : (tensor<2x3x48x16xT>, tensor<2x3x16x40xT>) -> tensor<2x3x48x40xT>
  %1 = graph.softmax %0 : tensor<2x3x48x40xT> -> tensor<2x3x48x40xT>
  %2 = graph.matmul %1, %v : (tensor<2x3x48x40xT>, tensor<2x3x40x16xT>) -> tensor<2x3x48x16xT>
  %3 = graph.sigmoid %g : tensor<2x3x48x16xT> -> tensor<2x3x48x16xT>
  %4 = graph.mul %2, %3 : (tensor<2x3x48x16xT>, tensor<2x3x48x16xT>) -> tensor<2x3x48x16xT>
  %5 = graph.add %4, %b : (tensor<2x3x48x16xT>, tensor<16xT>) -> tensor<2x3x48x16xT>
  %6 = graph.transpose %5 {perm = [0, 2, 1, 3]} : tensor<2x3x48x16xT> -> tensor<2x48x3x16xT>
  graph.yield %6 : tensor<2x48x3x16xT>
}"""
"""A gate and a bias behind the values."""


def right(case: Attention, target: str, given: AttentionSchedule | None = None) -> Checked:
    """The placed kernel has the right numbers, and the witness finds nothing."""
    answer = check(kernel(case.text), target, given=given, placed=True)
    assert isinstance(answer, Checked), answer
    assert isinstance(answer.schedule, AttentionSchedule)
    return answer


@pytest.mark.parametrize("name", SHAPES)
def test_numbers(name: str) -> None:
    right(SHAPES[name], CHIP)


@pytest.mark.parametrize("name", ["odd_f16", "grouped", "bmm", "softcap"])
def test_numbers_on_a_small_chip(name: str) -> None:
    right(SHAPES[name], "tiny")


@pytest.mark.parametrize(
    ("case", "parts"),
    [
        (Attention(5, 1, 32, 40, 16, "f16"), {"m": 32, "chunk": 16, "blocks": 2}),
        (Attention(7, 1, 48, 40, 16), {"m": 32, "chunk": 8, "blocks": 3}),
        (Attention(1, 1, 112, 48, 16), {"m": 16, "chunk": 8, "blocks": 2}),
        (Attention(3, 1, 50, 64, 16), {"m": 32, "chunk": 16, "blocks": 2, "columns": 32}),
        (Attention(3, 1, 32, 64, 32), {"m": 32, "chunk": 32, "blocks": 2, "k": 16, "d": 16}),
    ],
)
@pytest.mark.parametrize("flight", [1, 2])
def test_given_tiles(case: Attention, parts: dict[str, int], flight: int) -> None:
    """An odd number of tiles, ragged ones, rows and features in parts."""
    found = scheduled(kernel(case.text), CHIP)
    assert isinstance(found, AttentionSchedule)
    right(case, CHIP, replace(found, flight=flight, **parts))


@pytest.mark.parametrize("flight", [1, 2])
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_followed_by_arithmetic(dtype: str, flight: int) -> None:
    """The vector cores take the values from a third workspace; so they do in the text."""
    text = FOLLOWED.replace("xT>", f"x{dtype}>")
    found = scheduled(kernel(text), CHIP)
    assert isinstance(found, AttentionSchedule) and found.after > 0
    given = replace(found, m=16, n=16, chunk=8, after=4, flight=flight, blocks=2)
    op = kernel(text)
    assert isinstance(check(op, CHIP, given=given, placed=True), Checked)
    check_numbers(function(emitted_module(op, CHIP)))
    check_accepted([op])


@pytest.mark.parametrize("mask", ["keys", "tile"])
def test_masked_rows(mask: str) -> None:
    """-inf in an additive mask; a row of nothing else is nan, as softmax by itself has it."""
    case = Attention(1, 2, 24, 24, 16, mask=mask)
    op = kernel(case.text)
    assert isinstance(scheduled(op, CHIP), AttentionSchedule)
    rng = np.random.default_rng(0)
    shape = (1, 24, 2, 16)
    x = [rng.standard_normal(shape).astype(np.float32) for _ in range(3)]
    masked = np.triu(np.full((24, 24), -np.inf, np.float32), 1)
    if mask == "tile":
        masked[5] = -np.inf
    else:
        masked = masked[None, None, 7:8]
    expected = meaning(op, [*x, masked], exact=True)[0]
    (found,) = simulate(op, CHIP, [*x, masked])
    assert np.array_equal(np.isnan(found), np.isnan(expected))
    assert np.isnan(found).any() == (mask == "tile")
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", ["odd", "odd_f16", "three_queries", "bmm", "grouped", "joined"])
def test_text_has_the_same_numbers(name: str) -> None:
    op = kernel(SHAPES[name].text)
    scheduled(op, CHIP)
    check_numbers(function(emitted_module(op, CHIP)))


def function(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp))


def test_accepted() -> None:
    many = Attention(4, 12, 128, 128, 64, "f16", mask="keys")
    ops = [kernel(case.text) for case in (*SHAPES.values(), many)]
    for op in ops:
        scheduled(op, CHIP)
    check_accepted(ops)


def test_overlap_is_modelled_as_simulated() -> None:
    """Two tiles in flight take less time than one after the other where there are many."""
    op = kernel(Attention(1, 12, 512, 512, 64, "f16").text)
    region, target = Region.of_block(op.body.block), load_target(CHIP)
    found = scheduled(op, CHIP)
    assert isinstance(found, AttentionSchedule) and found.flight == 2
    single = replace(found, flight=1, blocks=20)
    assert estimate(region, found, target).us < 0.8 * estimate(region, single, target).us


@pytest.mark.parametrize(
    ("model", "name", "count"),
    [
        ("llama_4l_s128", "grouped_query_attention_scale_causal", 4),
        pytest.param("bert_base_s128", "attention_scale_mask", 12, marks=pytest.mark.campaign),
        pytest.param("gpt2_s128", "attention_scale_causal", 12, marks=pytest.mark.campaign),
    ],
)
def test_networks(model: str, name: str, count: int) -> None:
    """Under `kernels` every attention is one kernel, and reads heads where they lie."""
    module = fusec.fuse(fusec.load(MODELS / f"{model}.onnx"), objective="kernels").module
    kernels = {op.sym_name.data: op for op in module.walk() if isinstance(op, KernelOp)}
    calls = [op.callee.string_value() for op in module.walk() if isinstance(op, CallOp)]
    patterns = [kernels[call].pattern.data for call in calls]
    assert patterns.count(name) == count
    assert not any("transpose" in pattern or "softmax" in pattern for pattern in patterns)


@pytest.mark.parametrize("queries", ["16", "3x1x16", "3x4x16"])
def test_values_for_all_heads(queries: str, tmp_path: Path) -> None:
    """Keys of each head and values for all: with one query for a head the rows of the values are
    the heads, which no tile of scores has."""
    rows = f"3x{queries.split('x')[1]}x" if "x" in queries else "3x"
    q, s, y = (f"tensor<{shape}xf32>" for shape in (queries, f"{rows}8", f"{rows}6"))
    file = tmp_path / "net.mlir"
    file.write_text(f"""
    func.func @main(%q: {q}, %k: tensor<3x16x8xf32>, %v: tensor<8x6xf32>) -> {y} {{
      %0 = graph.matmul %q, %k : ({q}, tensor<3x16x8xf32>) -> {s}
      %1 = graph.softmax %0 : {s} -> {s}
      %2 = graph.matmul %1, %v : ({s}, tensor<8x6xf32>) -> {y}
      func.return %2 : {y}
    }}""")
    model = fusec.load(file)
    inputs = seeded_inputs(model.module, 1)
    found = fusec.compile(model, objective="kernels").run(inputs)
    assert worst(found, model.run(inputs, oracle=True)).max_rel_error <= 2e-5
