"""ONNX Runtime's own operators that are compositions of ONNX's, against ONNX Runtime."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, ValueInfoProto, helper, numpy_helper

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.contrib import CONTRIB, DOMAIN
from fusec.frontends.onnx.frontend import import_onnx
from fusec.semantics import Array
from onnx_reference import check_import

RNG = np.random.default_rng(0)


def draw(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


@dataclass(frozen=True)
class Case:
    """`outputs` are the numbers of the results that are asked for."""

    inputs: list[Array | None]
    attrs: dict[str, Any] = field(default_factory=dict[str, Any])
    outputs: tuple[int, ...] = (0,)
    constant: tuple[int, ...] = ()


def node_model(kind: str, case: Case) -> ModelProto:
    domain, _, op_type = kind.rpartition(".")
    inputs = {f"x{i}": array for i, array in enumerate(case.inputs) if array is not None}
    outputs = [f"y{i}" if i in case.outputs else "" for i in range(max(case.outputs) + 1)]
    names = ["" if array is None else f"x{i}" for i, array in enumerate(case.inputs)]
    node = helper.make_node(op_type, names, outputs, "n", domain=domain, **case.attrs)
    constant = {f"x{i}" for i in case.constant}
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for n, a in inputs.items()
            if n not in constant
        ],
        [ValueInfoProto(name=name) for name in outputs if name],
        [numpy_helper.from_array(inputs[n], n) for n in sorted(constant)],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


X = draw(2, 4, 8)
IMAGE, FILTER, BIAS = draw(1, 3, 6, 6), draw(4, 3, 3, 3), draw(4)
POSITIONS = RNG.integers(0, 6, (2, 4))
ANGLES = [draw(6, 4), draw(6, 4)]
QUANTISED = [np.array(0.1, np.float32), np.array(3, np.uint8)]

CASES: dict[str, list[Case]] = {
    "Gelu": [Case([X])],
    "FastGelu": [Case([X]), Case([X, draw(8)])],
    "BiasGelu": [Case([X, draw(8)])],
    "QuickGelu": [Case([X], {"alpha": 1.5}), Case([X])],
    "SkipLayerNormalization": [
        Case([X, draw(2, 4, 8), draw(8), draw(8), draw(8)], {"epsilon": 1e-3}, (0, 3)),
        Case([X, draw(2, 4, 8), draw(8)]),
        Case([X, draw(2, 4, 8), draw(8), None, draw(8)]),
    ],
    "SkipSimplifiedLayerNormalization": [
        Case([X, draw(2, 4, 8), draw(8)], {}, (0, 3)),
        Case([X, draw(2, 4, 8), draw(8), draw(8)], {"epsilon": 1e-2}),
    ],
    "FusedMatMul": [
        Case([draw(2, 4, 8), draw(2, 5, 8)], {"transB": 1, "alpha": 0.5}),
        Case([draw(2, 4, 8), draw(4, 5)], {"transA": 1}),
        Case([draw(4, 8), draw(8, 5)]),
    ],
    "FusedConv": [
        Case([IMAGE, FILTER, BIAS], {"activation": "Relu", "pads": [1, 1, 1, 1]}),
        Case([IMAGE, FILTER, BIAS, draw(1, 4, 4, 4)], {"activation": "Relu"}),
        Case([IMAGE, FILTER], {"activation": "LeakyRelu", "activation_params": [0.3]}),
        Case([IMAGE, FILTER], {"activation": "Clip", "activation_params": [0.0, 0.5]}),
        Case([IMAGE, FILTER], {"activation": "HardSigmoid", "activation_params": [0.2, 0.5]}),
        Case([IMAGE, FILTER], {"activation": "Tanh", "strides": [2, 2]}),
    ],
    "RotaryEmbedding": [
        Case([draw(2, 4, 16), POSITIONS, *ANGLES]),
        Case([draw(2, 2, 4, 8), POSITIONS, *ANGLES], {"interleaved": 1}),
    ],
    "MultiHeadAttention": [
        Case([X, draw(2, 5, 8), draw(2, 5, 8)], {"num_heads": 2}),
        Case(
            [X, draw(2, 5, 8), draw(2, 5, 8), None, None, draw(2, 2, 4, 5)],
            {"num_heads": 2, "scale": 0.3},
        ),
        Case([X, draw(2, 4, 8), draw(2, 4, 8)], {"num_heads": 2, "unidirectional": 1}),
    ],
    "Trilu": [Case([draw(4, 4)], {"upper": 0})],
    "Range": [Case([np.array(v, np.float32) for v in (1, 7, 2)], constant=(0, 1, 2))],
    "Pad": [Case([draw(2, 3), np.array([0, 1, 2, 0]), np.array(5, np.float32)], constant=(1, 2))],
    "GatherND": [Case([draw(2, 3), np.array([[1, 2], [0, 1]])])],
    "QuantizeLinear": [Case([X, *QUANTISED], constant=(1, 2))],
    "DequantizeLinear": [
        Case([RNG.integers(0, 9, (2, 3)).astype(np.uint8), *QUANTISED], constant=(1, 2))
    ],
}


def test_every_operator_of_the_table_has_a_case() -> None:
    own = {kind.removeprefix(f"{DOMAIN}.") for kind in CONTRIB if kind.startswith(DOMAIN)}
    assert own == set(CASES)


@pytest.mark.parametrize("kind", CASES)
def test_an_operator_gives_what_onnx_runtime_gives(kind: str) -> None:
    for case in CASES[kind]:
        proto = node_model(f"{DOMAIN}.{kind}", case)
        found = {f"x{i}": a for i, a in enumerate(case.inputs) if a is not None}
        inputs = {n: np.asarray(a) for n, a in found.items() if int(n[1:]) not in case.constant}
        check_import(proto, inputs)


def test_the_simplified_norm_stands_in_onnx_own_domain() -> None:
    case = Case([X, draw(8)], {"axis": -1, "epsilon": 1e-3})
    proto = node_model("SimplifiedLayerNormalization", case)
    check_import(proto, {"x0": X, "x1": np.asarray(case.inputs[1])})


REFUSED: dict[str, tuple[str, Case, str]] = {
    "mean": ("SkipLayerNormalization", Case([X, X, draw(8)], outputs=(0, 1)), "mean and inv_std"),
    "activation": ("FusedConv", Case([IMAGE, FILTER], {"activation": "Celu"}), "activation 'Celu'"),
    "batch": ("FusedMatMul", Case([draw(2, 4, 8), draw(8, 5)], {"transBatchA": 1}), "transBatchA"),
    "offset": ("RotaryEmbedding", Case([X, np.array([3]), *ANGLES]), "for each token"),
    "bias": (
        "MultiHeadAttention",
        Case([X, X, X, draw(24)], {"num_heads": 2}),
        "bias, key_padding_mask",
    ),
    "packed": (
        "MultiHeadAttention",
        Case([draw(2, 4, 2, 3, 4)], {"num_heads": 2}),
        "have to be [batch, sequence, hidden]",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_forms_that_onnx_has_no_equal_of_are_refused(name: str) -> None:
    kind, case, message = REFUSED[name]
    with pytest.raises(ImportFailure) as caught:
        import_onnx(node_model(f"{DOMAIN}.{kind}", case).SerializeToString())
    assert str(caught.value).startswith(f"node 'n' ({kind}): ") and message in str(caught.value)
