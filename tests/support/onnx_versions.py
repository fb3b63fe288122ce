"""Every operator of ONNX in every version that an opset from 7 on may ask for, with models for it.

A model is one of ONNX's own cases set back to the version's opset where it is valid there, or a
sample of this file, in ONNX's text form, where older or narrower forms are meant.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any, cast
from warnings import catch_warnings, simplefilter

import onnx

from fusec.semantics.dtypes import Array
from onnx_case_runner import Case, cases
from onnx_text import graph

OLDEST = 7
MOST = 3
"""Cases of one version that are tried."""

_AXES = "(float[2,3,4] x) => (float[2,1,1] y) { y = %s<axes = [1, -1], keepdims = 1>(x) }"
_REDUCTIONS = "L1 L2 LogSum LogSumExp Max Min Mean Prod Sum SumSquare"

SAMPLES: dict[str, list[str]] = {
    **{
        f"Reduce{kind}": [_AXES.replace("-1]", "2]") % f"Reduce{kind}"]
        for kind in _REDUCTIONS.split()
    },
    "BitShift": [
        """(uint8[3] x, uint8[3] n) => (uint8[3] y) { y = BitShift<direction = "LEFT">(x, n) }"""
    ],
    "Cast": [
        "(float[3] x) => (int32[3] y) { y = Cast<to = 6>(x) }",
        "(int64[3] x) => (float[3] y) { y = Cast<to = 1>(x) }",
        "(float[3] x) => (bool[3] y) { y = Cast<to = 9>(x) }",
    ],
    "CastLike": ["(int64[3] x, float[1] t) => (float[3] y) { y = CastLike(x, t) }"],
    "Clip": ["(float[4] x) => (float[4] y) { y = Clip<min = -0.5, max = 0.5>(x) }"],
    "ConvInteger": [
        """(uint8[1,2,4,4] x, uint8[3,2,2,2] w, uint8 z) => (int32[1,3,3,3] y)
        { y = ConvInteger(x, w, z) }"""
    ],
    "DepthToSpace": [
        "(float[1,8,2,3] x) => (float[1,2,4,6] y) { y = DepthToSpace<blocksize = 2>(x) }"
    ],
    "DequantizeLinear": [
        """(uint8[2,3] x, float s, uint8 z) => (float[2,3] y) { y = DequantizeLinear(x, s, z) }"""
    ],
    "Einsum": [
        """(float[2,3] a, float[3,4] b) => (float[2,4] y)
        { y = Einsum<equation = "ij,jk->ik">(a, b) }"""
    ],
    "GlobalLpPool": ["(float[1,2,3,4] x) => (float[1,2,1,1] y) { y = GlobalLpPool<p = 3>(x) }"],
    "MatMulInteger": [
        """(int8[2,3] a, int8[3,4] b, int8 z) => (int32[2,4] y) { y = MatMulInteger(a, b, z) }"""
    ],
    "MeanVarianceNormalization": [
        "(float[2,3,4,5] x) => (float[2,3,4,5] y) { y = MeanVarianceNormalization(x) }"
    ],
    "Pad": [
        """(float[2,3] x) => (float[4,5] y)
        { y = Pad<pads = [1, 0, 1, 2], value = 0.5, mode = "constant">(x) }""",
        """(float[3,3] x) => (float[5,3] y)
        { y = Pad<pads = [1, 0, 1, 0], mode = "reflect">(x) }""",
    ],
    "QLinearConv": [
        """(uint8[1,2,4,4] x) => (uint8[1,3,3,3] y)
        <float s = {0.05}, uint8 z = {3}, float t = {9}, int64[4] n = {3, 2, 2, 2}> {
          w = ConstantOfShape<value = uint8[1] {7}>(n)
          y = QLinearConv(x, s, z, w, s, z, t, z)
        }"""
    ],
    "QLinearMatMul": [
        """(uint8[2,3] a, uint8[3,4] b) => (uint8[2,4] y)
        <float s = {0.05}, uint8 z = {3}, float t = {2}>
        { y = QLinearMatMul(a, s, z, b, s, z, t, z) }"""
    ],
    "QuantizeLinear": [
        """(float[2,3] x, float s, uint8 z) => (uint8[2,3] y) { y = QuantizeLinear(x, s, z) }"""
    ],
    "Resize": [
        """(float[1,1,3,4] x) => (float[1,1,6,6] y) <float[4] s = {1, 1, 2, 1.5}>
        { y = Resize<mode = "nearest">(x, s) }""",
        """(float[1,1,3,4] x) => (float[1,1,6,6] y) <float[4] s = {1, 1, 2, 1.5}>
        { y = Resize<mode = "linear">(x, s) }""",
        """(float[1,1,3,4] x) => (float[1,1,6,6] y) <float[4] s = {1, 1, 2, 1.5}, float[8] r =
        {0, 0, 0, 0, 1, 1, 1, 1}> { y = Resize<mode = "linear">(x, r, s) }""",
    ],
    "RoiAlign": [
        """(float[1,1,4,4] x, float[1,4] r, int64[1] b) => (float[1,1,1,1] y)
        { y = RoiAlign(x, r, b) }"""
    ],
    "STFT": [
        """(float[1,32,1] x) => (float[1,7,5,2] y) <int64 step = {4}, int64 size = {8}>
        { y = STFT(x, step, "", size) }"""
    ],
    "Slice": [
        """(float[4,5] x) => (float[2,3] y)
        { y = Slice<axes = [0, 1], starts = [1, -4], ends = [3, 4]>(x) }"""
    ],
    "Squeeze": ["(float[1,3,1] x) => (float[3] y) { y = Squeeze<axes = [0, 2]>(x) }"],
    "TopK": ["(float[2,5] x) => (float[2,2] y, int64[2,2] i) { y, i = TopK<k = 2, axis = 1>(x) }"],
    "Unsqueeze": ["(float[3] x) => (float[1,3,1] y) { y = Unsqueeze<axes = [0, 2]>(x) }"],
    "Upsample": [
        """(float[1,1,2,3] x) => (float[1,1,4,9] y)
        { y = Upsample<scales = [1.0, 1.0, 2.0, 3.0], mode = "nearest">(x) }""",
        """(float[1,1,2,3] x) => (float[1,1,4,6] y)
        { y = Upsample<scales = [1.0, 1.0, 2.0, 2.0], mode = "linear">(x) }""",
    ],
}
"""Models for the forms that none of ONNX's own cases has."""


@cache
def versions() -> dict[str, tuple[int, ...]]:
    """Operator -> the versions that opsets from OLDEST on refer to, deprecated ones left out."""
    found: dict[str, dict[int, bool]] = defaultdict(dict)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            found[schema.name][schema.since_version] = schema.deprecated
    asked: dict[str, tuple[int, ...]] = {}
    for name, given in sorted(found.items()):
        first = max((v for v in given if v <= OLDEST), default=0)
        asked[name] = tuple(v for v in sorted(given) if v >= first and not given[v])
    return {name: chosen for name, chosen in asked.items() if chosen}


@cache
def _by_operator() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = defaultdict(list)
    for case in cases():
        if len(case.model.graph.node) == 1 and case.sets:
            found[case.operator].append(case)
    return found


def opset_of(version: int) -> int:
    """The opset that a model asks for a version with."""
    return max(version, OLDEST)


def _valid(model: onnx.ModelProto, full: bool) -> bool:
    """Whether ONNX takes the model, and by `full` finds its shapes right too: it has faults."""
    try:
        with catch_warnings():
            simplefilter("ignore")
            cast(Any, onnx.checker).check_model(model, full_check=full)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def models_of(name: str, version: int) -> list[tuple[bytes, dict[str, Array] | None]]:
    """Models of an operator in a version, with inputs where ONNX gives some."""
    found: list[tuple[bytes, dict[str, Array] | None]] = []
    for text in SAMPLES.get(name, ()):
        model = graph(f"g {text}", opset_of(version))
        if _valid(model, full=False):
            found.append((model.SerializeToString(), None))
    for case in _by_operator().get(name, ()):
        if len(found) >= MOST:
            break
        model = onnx.ModelProto()
        model.CopyFrom(case.model)
        model.ir_version = 8
        for entry in model.opset_import:
            if entry.domain == "":
                entry.version = opset_of(version)
        if _valid(model, full=True):
            found.append((model.SerializeToString(), case.sets[0][0]))
    return found
