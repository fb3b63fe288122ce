"""Faults reported against other compilers, as whole kinds: import, fusion, placed kernels.

Numbers are judged against float64, against the network as it was imported, and against ONNX
Runtime where it is right; a result that nothing may change keeps every bit.
"""

from __future__ import annotations

import pytest
from xdsl.utils.exceptions import PassFailedException

from fault_variant import Variant
from fusec import api
from fusec.accuracy.compare import difference
from fusec.accuracy.inputs import seeded_inputs
from fusec.config.fusion_options import OBJECTIVES, FusionOptions
from fusec.fusion.strategies import STRATEGIES
from fusec.semantics.dtypes import Array
from fusec.simulator.witness import witness
from fusec_dialects.graph import CallOp, GraphOp, KernelOp
from ort import by_runtime
from reported_faults import FAULTS

CASES = [(name, i) for name, variants in FAULTS.items() for i in range(len(variants))]
MARGIN = {"float32": 5e-6, "float16": 2e-3, "float64": 1e-9}
"""Relative error that any result may have, by its type."""


def _errors(found: dict[str, Array], reference: dict[str, Array]) -> dict[str, float]:
    return {name: difference(name, found[name], reference[name]).max_rel_error for name in found}


def _as_good(found: dict[str, Array], before: dict[str, Array], exact: dict[str, Array]) -> None:
    """No further from the exact values than four times what it was, or than the margin."""
    now, then = _errors(found, exact), _errors(before, exact)
    for name, error in now.items():
        assert found[name].dtype == before[name].dtype
        assert error <= max(MARGIN.get(found[name].dtype.name, 0.0), 4 * then[name]), name


def _same(found: dict[str, Array], expected: dict[str, Array]) -> None:
    for name, array in expected.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes(), name


def _compiled(variant: Variant, objective: str = "kernels") -> api.Compiled:
    return api.compile(api.load(variant.model()), objective=objective)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[1]}")
def test_numbers(case: tuple[str, int]) -> None:
    variant = FAULTS[case[0]][case[1]]
    model = api.load(variant.model())
    inputs = {**seeded_inputs(model.module, case[1]), **variant.inputs}
    before, exact = model.run(inputs), model.run(inputs, oracle=True)
    _same(before, variant.expected)
    if variant.runtime:
        _as_good(before, by_runtime(variant.model(), inputs), exact)
    if variant.refused:
        with pytest.raises(PassFailedException, match=variant.refused):
            _ = api.compile(model, objective="kernels").npu
        return
    compiled = api.compile(model, objective="kernels")
    for level in ("fused", "npu"):
        found = compiled.run(inputs, level)
        (_same if variant.bits else _as_good)(
            *((found, before) if variant.bits else (found, before, exact))
        )
    assert list(map(str, witness(compiled.npu, arrays=inputs))) == []


IDS = [*(f"C{i}" for i in range(2, 42, 2)), *(f"B{i}" for i in range(2, 18, 2))]
"""The reports that were collected, by their numbers; a kind says which of them it stands for."""


def test_every_report_has_a_kind_with_several_graphs() -> None:
    words = [word for name in FAULTS for word in name.split()]
    assert set(IDS) <= set(words)
    assert all(len(variants) > 1 for variants in FAULTS.values())


PLANS = [
    FusionOptions(strategy=strategy, objective=objective)
    for strategy in STRATEGIES
    for objective in OBJECTIVES
]


@pytest.mark.campaign
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[1]}")
def test_numbers_of_every_plan(case: tuple[str, int]) -> None:
    variant = FAULTS[case[0]][case[1]]
    if variant.refused:
        pytest.skip("refused, as test_numbers checks")
    model = api.load(variant.model())
    inputs = {**seeded_inputs(model.module, case[1]), **variant.inputs}
    before, exact = model.run(inputs), model.run(inputs, oracle=True)
    for plan in PLANS:
        compiled = api.compile(model, api.CompileOptions(fusion=plan))
        for level in ("fused", "npu"):
            found = compiled.run(inputs, level)
            if variant.bits:
                _same(found, before)
            else:
                _as_good(found, before, exact)


def _groups(variant: Variant) -> list[set[str]]:
    """The operators of each kernel, by name."""
    return [
        {inner.op_name for inner in op.walk() if isinstance(inner, GraphOp)}
        for op in _compiled(variant).fused.walk()
        if isinstance(op, KernelOp)
    ]


@pytest.mark.parametrize(("number", "middle"), [(0, "matmul"), (1, "matmul"), (2, "transpose")])
def test_no_group_waits_for_itself(number: int, middle: str) -> None:
    """What holds the begin of the path that leaves and its end holds its middle too."""
    groups = _groups(FAULTS["C4 a group that would wait for itself"][number])
    both = [group for group in groups if "exp" in group and group & {"add", "sub"}]
    assert all(middle in group for group in both)


@pytest.mark.parametrize("kind", ["C8 a piece that nobody uses", "C10 a residual that is a piece"])
def test_no_result_without_a_user(kind: str) -> None:
    for variant in FAULTS[kind]:
        calls = [op for op in _compiled(variant).fused.walk() if isinstance(op, CallOp)]
        assert calls
        assert all(result.first_use for call in calls for result in call.results)


def test_a_bias_with_another_scale_stays_a_float() -> None:
    """No integer convolution: the products of scales are not the scale of the bias."""
    for variant in FAULTS["C20 a bias with a scale of its own"]:
        convs = [op for op in _compiled(variant).fused.walk() if op.name == "graph.conv"]
        assert convs
        assert all(str(conv.results[0].type).endswith("f32>") for conv in convs)


def test_padding_with_zeros_is_no_padding_of_a_maximum() -> None:
    variant = FAULTS["C16 padding before a pooling"][0]
    pools = [op for op in _compiled(variant).fused.walk() if isinstance(op, GraphOp)]
    (pool,) = [op for op in pools if op.op_name == "max_pool"]
    assert pool.attrs()["pads"] == (0, 0, 0, 0)
    assert any(op.op_name == "pad" for op in pools)
