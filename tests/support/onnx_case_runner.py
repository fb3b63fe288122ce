"""ONNX's own operator cases through the compiler: which are right, refused or wrong, by level.

A case counts whose name lacks `_expanded` and whose inputs and outputs are tensors of float32,
int32, int64 or bool. What describes a shape (axes, pads, sizes, ...) is given as a constant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from xdsl.utils.exceptions import DiagnosticException, PassFailedException, VerifyException

from fusec import api
from fusec.semantics.dtypes import Array
from fusec.semantics.interpreter import GraphError

TYPES = frozenset((TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL))

_REDUCTIONS = "Sum Mean Max Min Prod L1 L2 LogSum LogSumExp SumSquare"

CONSTANT_INPUTS: dict[str, tuple[int, ...]] = {
    **{f"Reduce{name}": (1,) for name in _REDUCTIONS.split()},
    **dict.fromkeys(
        (
            *("Reshape", "Expand", "Tile", "Squeeze", "Unsqueeze", "Split", "TopK", "CumSum"),
            *("CumProd", "Trilu", "CenterCropPad", "AffineGrid", "Compress", "Upsample"),
        ),
        (1,),
    ),
    "Slice": (1, 2, 3, 4),
    "Pad": (1, 2, 3),
    "Resize": (1, 2, 3),
    "OneHot": (1, 2),
    "Range": (0, 1, 2),
    "Dropout": (1, 2),
    "DFT": (1, 2),
    "STFT": (1, 3),
    "Col2Im": (1, 2),
    "MaxUnpool": (2,),
    "MelWeightMatrix": (0, 1, 2, 3, 4),
    **dict.fromkeys(("ConstantOfShape", "HannWindow", "HammingWindow", "BlackmanWindow"), (0,)),
    "If": (0,),
    "TensorScatter": (2,),
}
"""Operator -> the inputs that describe shapes or positions: constants in every real network."""

NOISE = {"test_dft_inverse": 1e-6, "test_dft_inverse_opset19": 1e-6}
"""Absolute tolerance where the expected values hold rounding noise (2e-7 where 0 is exact)."""

REFUSALS = (DiagnosticException, PassFailedException, VerifyException, GraphError)


@dataclass(frozen=True)
class Case:
    """One case: its operator, the model with constants in place, inputs and expected outputs."""

    name: str
    operator: str
    model: onnx.ModelProto
    sets: tuple[tuple[dict[str, Array], dict[str, Array]], ...]
    rtol: float
    atol: float


@cache
def cases() -> tuple[Case, ...]:
    """Every case that counts, in ONNX's order."""
    from onnx.backend.test.case.node import collect_testcases

    with catch_warnings():
        simplefilter("ignore")
        collected = collect_testcases(None)
    return tuple(_chosen(collected))


def _chosen(collected: Sequence[Any]) -> Iterator[Case]:
    for case in collected:
        graph = case.model.graph
        if "_expanded" in case.name or not all(map(_counts, (*graph.input, *graph.output))):
            continue
        yield _case(case)


def _counts(value: onnx.ValueInfoProto) -> bool:
    return value.type.HasField("tensor_type") and value.type.tensor_type.elem_type in TYPES


def _array(value: Any) -> Array:
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)


def _case(case: Any) -> Case:
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    graph = model.graph
    data: list[tuple[dict[str, Array], dict[str, Array]]] = [
        (
            {v.name: _array(a) for v, a in zip(graph.input, given, strict=True)},
            {v.name: _array(a) for v, a in zip(graph.output, wanted, strict=True)},
        )
        for given, wanted in case.data_sets or ()
    ]
    if len(data) == 1:
        _make_constant(graph, data[0][0])
    return Case(
        case.name,
        graph.node[-1].op_type,
        model,
        tuple(data),
        case.rtol,
        NOISE.get(case.name, float(case.atol)),
    )


def _make_constant(graph: onnx.GraphProto, inputs: dict[str, Array]) -> None:
    """Moves what CONSTANT_INPUTS lists from the inputs to the initializers."""
    names = {
        node.input[i]
        for node in graph.node
        for i in CONSTANT_INPUTS.get(node.op_type, ())
        if i < len(node.input)
    }
    for value in [v for v in graph.input if v.name in names]:
        graph.input.remove(value)
        graph.initializer.append(numpy_helper.from_array(inputs.pop(value.name), value.name))


def difference(case: Case, got: dict[str, Array], expected: dict[str, Array]) -> str:
    """How the outputs differ by the case's own tolerance; empty where they do not."""
    for name, want in expected.items():
        have = got[name]
        if have.dtype != want.dtype or have.shape != want.shape:
            return f"{name}: {have.dtype}{have.shape}, expected {want.dtype}{want.shape}"
        exact = want.dtype.kind != "f"
        same = (
            np.array_equal(have, want)
            if exact
            else np.allclose(have, want, case.rtol, case.atol, equal_nan=True)
        )
        if not same:
            worst = np.abs(have.astype(np.float64) - want.astype(np.float64)).max()
            return f"{name}: differs by {worst}"
    return ""


@dataclass
class Tally:
    """Names of cases by what came of them; `refused` and `wrong` with the reason."""

    right: list[str] = field(default_factory=list[str])
    refused: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    wrong: dict[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        by_operator = Counter(operator for operator, _ in self.refused.values())
        lines = [
            f"right {len(self.right)}, refused {len(self.refused)}, wrong {len(self.wrong)}",
            "refused by operator: " + ", ".join(f"{k} {n}" for k, n in by_operator.most_common()),
            *(f"wrong: {name}: {why}" for name, why in self.wrong.items()),
        ]
        return "\n".join(lines)


def run_graph(chosen: Sequence[Case]) -> Tally:
    """Imports each case and runs it by the meaning of its operators."""
    tally = Tally()
    for case in chosen:
        try:
            model = api.load(case.model.SerializeToString())
            pairs = [(model.run(given), wanted) for given, wanted in case.sets]
        except REFUSALS as error:
            tally.refused[case.name] = (case.operator, str(error))
            continue
        _judge(case, pairs, tally)
    return tally


def run_npu(chosen: Sequence[Case]) -> Tally:
    """Compiles each case and runs its placed kernels in the simulator."""
    tally = Tally()
    for case in chosen:
        try:
            compiled = api.compile(api.load(case.model.SerializeToString()))
            pairs = [(compiled.run(given, "npu"), wanted) for given, wanted in case.sets]
        except REFUSALS as error:
            tally.refused[case.name] = (case.operator, str(error))
            continue
        if any(op.name == "npu.host_call" for op in compiled.npu.walk()):
            tally.refused[case.name] = (case.operator, "host call")
            continue
        _judge(case, pairs, tally)
    return tally


def _judge(
    case: Case, pairs: Sequence[tuple[dict[str, Array], dict[str, Array]]], tally: Tally
) -> None:
    why = "; ".join(filter(None, (difference(case, got, want) for got, want in pairs)))
    if why:
        tally.wrong[case.name] = why
    else:
        tally.right.append(case.name)
