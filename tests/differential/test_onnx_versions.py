"""Every ONNX operator in every version from opset 7 on: a right number, or refused by its name."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from fusec import api
from fusec.accuracy.inputs import seeded_inputs
from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.checks import CONSTANTS
from fusec.frontends.onnx.functions import has_body
from fusec.frontends.onnx.operators import OPERATORS
from fusec.semantics.dtypes import Array
from onnx_model import RUNTIME_ERRORS
from onnx_versions import models_of, opset_of, versions
from ort import by_runtime

REFUSED = frozenset(
    (
        *("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform"),
        *("RandomUniformLike", "NonMaxSuppression", "NonZero", "Unique", "Loop", "Scan"),
        *("LinearAttention", "SequenceMap", "Optional", "OptionalGetElement"),
        *("OptionalHasElement", "SequenceAt", "SequenceConstruct", "SequenceEmpty"),
        *("SequenceErase", "SequenceInsert", "SequenceLength", "SplitToSequence"),
        *("ConcatFromSequence", "RegexFullMatch", "StringConcat", "StringNormalizer"),
        *("StringSplit", "TfIdfVectorizer", "ImageDecoder", "MaxRoiPool", "DeformConv", "RoiAlign"),
    )
)
"""Random, of a size that data decide, with a body of their own, on sequences or on text."""

PAIRS = [
    (name, version)
    for name, found in versions().items()
    for version in found
    if name not in REFUSED and name not in CONSTANTS
]

LOSSY = frozenset({"DFT", "MaxUnpool"})
"""Where ONNX Runtime is not exact, or not what ONNX says: the reference is asked too."""

UNKNOWN = {"GlobalLpPool": 21}
"""The newest opset of what no reference has in the newest version."""


def _agree(found: dict[str, Array], wanted: dict[str, Array]) -> bool:
    for name, array in wanted.items():
        have = found[name]
        if have.dtype != array.dtype or have.shape != array.shape:
            return False
        if array.dtype.kind != "f":
            if not np.array_equal(have, array):
                return False
        elif not np.allclose(have, array, 1e-3, 1e-5, equal_nan=True):
            return False
    return True


def _known_to_runtime(model: bytes, name: str) -> bytes:
    """The model at an older opset where neither reference has the newest, which changed nothing."""
    if name not in UNKNOWN:
        return model
    older = onnx.load_from_string(model)
    older.opset_import[0].version = min(older.opset_import[0].version, UNKNOWN[name])
    return older.SerializeToString()


def _references(model: bytes, inputs: dict[str, Array], name: str) -> list[dict[str, Array]]:
    """The outputs by ONNX Runtime; by ONNX's own evaluator where the first has no such operator,
    or is not exact."""
    found: list[dict[str, Array]] = []
    with suppress(*RUNTIME_ERRORS):
        found.append(by_runtime(_known_to_runtime(model, name), inputs))
    if not found or name in LOSSY:
        names = [output.name for output in onnx.load_from_string(model).graph.output]
        evaluator = cast(Any, ReferenceEvaluator(model))
        values = evaluator.run(names, inputs)
        found.append({n: np.asarray(v) for n, v in zip(names, values, strict=True)})
    return found


@pytest.mark.parametrize(("name", "version"), PAIRS, ids=lambda value: str(value))
def test_version(name: str, version: int) -> None:
    models = models_of(name, version)
    body = onnx.NodeProto(op_type=name)
    if not models:
        assert name not in OPERATORS and has_body(body, opset_of(version)), "no model for it"
        return
    right = 0
    for model, given in models:
        try:
            loaded = api.load(model)
        except ImportFailure as error:
            assert name in str(error)
            continue
        right += 1
        inputs = given if given is not None else seeded_inputs(loaded.module, version)
        found = loaded.run(inputs)
        assert any(_agree(found, wanted) for wanted in _references(model, inputs, name))
    assert right


@pytest.mark.parametrize("name", sorted(REFUSED & versions().keys()))
def test_refused_by_name(name: str) -> None:
    """Whatever its form: an operator that is not in the table is named before anything is read."""
    assert name not in OPERATORS
    for version in versions()[name]:
        x, y = (helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [3]) for n in "xy")
        graph = helper.make_graph([helper.make_node(name, ["x"], ["y"])], "g", [x], [y])
        opset = helper.make_opsetid("", opset_of(version))
        with pytest.raises(ImportFailure, match=name):
            api.load(helper.make_model(graph, opset_imports=[opset]).SerializeToString())
