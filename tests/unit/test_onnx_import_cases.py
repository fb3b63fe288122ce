"""Every entry of the importer's table, against the operator cases that ONNX itself ships.

A case's inputs are model inputs; where an entry needs one to be constant, all but the first become
initializers with the case's values.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import onnx
import pytest
from onnx import ModelProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.frontend import import_onnx
from fusec.frontends.onnx.operators import OPERATORS
from fusec.semantics import DATA_TYPES, Array
from fusec.semantics.interpreter import GraphError, Interpreter

TOLERANCE = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 1e-5, "float64": 1e-10}
TYPED_BY_HAND = {
    "test_averagepool_2d_ceil_last_window_starts_on_pad": 1e-4,
    "test_gridsample_bicubic": 1e-4,
    "test_gridsample_bicubic_align_corners_1_additional_1": 1e-5,
}
"""Expected values with five digits in ONNX's source."""

ALLOWED_REFUSALS = ("only inference is supported", "is not supported", "has to be constant")
"""What a refusal may say: forms that we do not have."""

ELSEWHERE = {"GlobalLpPool", "If", "MelWeightMatrix", "Range"}
"""Without a case that fits here; test_onnx_operators and the differential cases have them."""

BITS = {"BitCast"}
"""Operators on the bits of a type, which the oracle's float64 does not have."""


@dataclass(frozen=True)
class Case:
    name: str
    model: ModelProto
    inputs: dict[str, Array]
    expected: dict[str, Array]


def _arrays(names: list[str], values: Any) -> dict[str, Array] | None:
    """Values by name; None if one is not a tensor of an element type that we have."""
    found: dict[str, Array] = {}
    for name, value in zip(names, values, strict=True):
        array = numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value
        if getattr(array, "dtype", np.dtype(object)).name not in DATA_TYPES:
            return None
        found[name] = np.asarray(array)
    return found


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    with catch_warnings():
        simplefilter("ignore")
        collected: list[Any] = collect_testcases(None)
    found: list[Case] = []
    for case in collected:
        model: ModelProto = case.model
        kinds = [node.op_type for node in model.graph.node]
        if case.name.endswith("_expanded") or any(kind not in OPERATORS for kind in kinds):
            continue
        for inputs, outputs in case.data_sets or ():
            given = _arrays([i.name for i in model.graph.input], inputs)
            expected = _arrays([o.name for o in model.graph.output], outputs)
            if given is not None and expected is not None:
                found.append(Case(case.name, model, given, expected))
    return found


def _with_constants(case: Case) -> ModelProto:
    model = ModelProto()
    model.CopyFrom(case.model)
    for value in model.graph.input[1:]:
        array = case.inputs[value.name]
        model.graph.initializer.append(numpy_helper.from_array(array, value.name))
    return model


def _run(model: ModelProto, inputs: dict[str, Array], *, oracle: bool) -> dict[str, Array]:
    module, weights = import_onnx(model.SerializeToString())
    module.verify()
    return Interpreter(module, weights, oracle=oracle).run(inputs)


def _differs(case: Case, got: Array, expected: Array, *, oracle: bool) -> str | None:
    if got.shape != expected.shape or (not oracle and got.dtype != expected.dtype):
        return f"{got.dtype}{got.shape} instead of {expected.dtype}{expected.shape}"
    tolerance = TYPED_BY_HAND.get(case.name, TOLERANCE.get(expected.dtype.name, 0.0))
    with np.errstate(over="ignore", invalid="ignore"):
        close = np.isclose(
            got.astype(expected.dtype).astype(np.float64),
            expected.astype(np.float64),
            rtol=tolerance,
            atol=tolerance,
            equal_nan=True,
        )
    return None if close.all() else f"{np.sum(~close)} of {close.size} values differ"


def _outcome(case: Case) -> str:
    """Empty where the case is right, the refusal after `refused: `, else what is wrong."""
    model = case.model
    try:
        try:
            import_onnx(model.SerializeToString())
        except ImportFailure as error:
            if "has to be constant" not in str(error):
                raise
            model = _with_constants(case)
        kinds = {node.op_type for node in model.graph.node}
        for oracle in (False,) if kinds & BITS else (False, True):
            results = _run(model, case.inputs, oracle=oracle)
            for name, expected in case.expected.items():
                if text := _differs(case, results[name], expected, oracle=oracle):
                    return f"{name}: {text}"
    except ImportFailure as error:
        return f"refused: {error}"
    except GraphError as error:
        return str(error)
    return ""


def test_onnx_operator_cases(cases: list[Case]) -> None:
    passed: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    faults: list[str] = []
    for case in cases:
        kinds = {node.op_type for node in case.model.graph.node}
        outcome = _outcome(case)
        if not outcome:
            passed.update(kinds)
        elif outcome.startswith("refused: "):
            refused[outcome] += 1
        else:
            faults.append(f"{case.name}: {outcome}")
    print(f"{len(cases) - len(faults) - refused.total()} of {len(cases)} ONNX cases right")
    print("\n".join(sorted(refused)))
    assert not faults, "\n".join(faults)
    assert all(any(text in r for text in ALLOWED_REFUSALS) for r in refused)
    assert set(OPERATORS) - set(passed) == ELSEWHERE
    assert len(cases) - refused.total() >= 600
