"""Every applicable operator case that ONNX itself ships."""

from collections import Counter
from typing import Any

import numpy as np

from fusec.semantics import CLASSES, Array, evaluate
from fusec.semantics.composite import COMPOSITE
from fusec.semantics.dtypes import is_floating
from onnx_nodes import Case, node_cases, translate

TOLERANCE = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 2e-6, "float64": 1e-12}
TYPED_BY_HAND = {
    "test_averagepool_2d_ceil_last_window_starts_on_pad": 1e-4,
    "test_gridsample_bicubic": 1e-4,
    "test_gridsample_bicubic_align_corners_1_additional_1": 1e-5,
}
"""Expected values with few digits in ONNX's source."""


def _differs(case: Case, got: Array, expected: Array) -> str | None:
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"{got.dtype}{got.shape} instead of {expected.dtype}{expected.shape}"
    tolerance = TYPED_BY_HAND.get(case.name, TOLERANCE.get(got.dtype.name, 0.0))
    if tolerance == 0.0:
        return None if np.array_equal(got, expected) else "not equal"
    close = np.isclose(
        got.astype(np.float64),
        expected.astype(np.float64),
        rtol=tolerance,
        atol=tolerance,
        equal_nan=True,
    )
    return None if close.all() else f"{np.sum(~close)} of {close.size} values differ"


def _as(value: Array, dtype: np.dtype[Any]) -> Array:
    """A result of the oracle, which must be float64 where the operator's own is floating."""
    if is_floating(dtype):
        assert value.dtype == np.float64
        with np.errstate(over="ignore"):
            return value.astype(dtype)
    return value


def test_onnx_operator_cases() -> None:
    passed: Counter[str] = Counter()
    faults: list[str] = []
    for case in node_cases():
        meaning = translate(case.node)
        if meaning is None:
            continue
        for array in meaning.inputs:
            if array is not None:
                array.setflags(write=False)  # as weights mapped from a file are
        results = evaluate(meaning.name, meaning.inputs, meaning.attrs)
        exact = evaluate(meaning.name, meaning.inputs, meaning.attrs, oracle=True)
        rounded = [_as(value, result.dtype) for value, result in zip(exact, results, strict=True)]
        wrong = [
            text
            for values in (results, rounded)
            for got, expected in zip(values, case.expected, strict=False)
            if (text := _differs(case, got, expected)) is not None
        ]
        faults += [f"{case.name}: {text}" for text in wrong]
        passed[meaning.name] += not wrong
    print(f"{sum(passed.values())} ONNX cases of {len(passed)} operators right")
    assert not faults, "\n".join(faults)
    assert sum(passed.values()) >= 580
    assert set(passed) == set(CLASSES) - {"top_k_indices", "matmul_integer"} - (
        COMPOSITE.keys() - passed.keys()
    )
