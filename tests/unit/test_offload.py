"""Operators left to the host: as graph.opaque they mean what they meant."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f32, f64, i64
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute

from fusec.fusion.offload import ATTRIBUTES, opaque_of
from fusec.semantics.dtypes import Array
from fusec.semantics.interpreter import semantic_attrs
from fusec.semantics.opaque import evaluate_opaque
from fusec.semantics.table import evaluate
from fusec.semantics.types import numpy_type, tensor_of
from fusec_dialects.graph import AttrValue, GraphOp, build
from fusec_dialects.graph.base import tensor_type

RNG = np.random.default_rng(0)
A = RNG.integers(-9, 9, (3, 4))
B = RNG.integers(1, 9, (1, 4))
X = RNG.standard_normal((3, 4))
MASK = X > 0

CASES: list[tuple[str, list[Array], dict[str, AttrValue | Attribute]]] = [
    *[(n, [A, B], {}) for n in ("add", "sub", "mul", "div", "max", "min", "less", "equal")],
    ("div", [-np.abs(A), B], {}),
    ("mod", [A, B], {}),
    ("mod", [A, B], {"fmod": True}),
    ("where", [MASK, A, B], {}),
    ("neg", [A], {}),
    ("sqrt", [np.abs(X)], {}),
    ("clip", [A], {"min": -2, "max": 3}),
    ("cast", [A], {"to": f64}),
    ("cast", [MASK], {"to": i64}),
    ("bit_shift", [np.abs(A).astype(np.uint32), B.astype(np.uint32)], {"direction": "RIGHT"}),
    ("reduce_sum", [A], {"axes": (1,), "keepdims": False}),
    ("reduce_max", [X], {"axes": (-1, 0)}),
    ("slice", [X], {"starts": (3,), "ends": (-9,), "axes": (1,), "steps": (-2,)}),
    ("transpose", [X], {"perm": (1, 0)}),
    ("concat", [A, A[:1]], {"axis": 0}),
    ("gather", [X, np.array([[2, 0]])], {"axis": 1}),
    ("gather_elements", [X, np.array([[2, -1], [0, 1]])], {"axis": 1}),
    ("gather_elements", [X, np.array([[2, -1]], np.int32)], {"axis": -2}),
    ("gather_nd", [X, np.array([[2, 0], [1, 3]])], {}),
    ("gather_nd", [X, np.array([[2], [0], [1]])], {"batch_dims": 1}),
    ("scatter_nd", [A, np.array([[2, 0], [1, 3]]), np.array([7, 8])], {"reduction": "add"}),
    ("scatter_elements", [A, np.array([[2, 0]]), np.array([[7, 8]])], {"axis": 1}),
    ("cum_sum", [A], {"axis": 1, "exclusive": True}),
    ("cum_sum", [A], {"axis": 0, "reverse": True}),
    ("top_k_indices", [X], {"axis": 1, "k": 2, "largest": False}),
    ("det", [X[:, :3]], {}),
    ("reverse_sequence", [X, np.array([1, 3, 2])], {"batch_axis": 0, "time_axis": 1}),
]


def operator(name: str, arrays: list[Array], attrs: dict[str, AttrValue | Attribute]) -> GraphOp:
    """The operator on values of the arrays' types."""
    types = [tensor_of(a.dtype, a.shape) for a in arrays]
    op = build(name, TestOp(result_types=types).results, attrs)
    assert isinstance(op, GraphOp)
    return op


@pytest.mark.parametrize(("name", "arrays", "attrs"), CASES, ids=[c[0] for c in CASES])
def test_the_host_computes_the_same(
    name: str, arrays: list[Array], attrs: dict[str, AttrValue | Attribute]
) -> None:
    op = operator(name, arrays, attrs)
    made = opaque_of(op, op.operands)
    assert made is not None
    assert made.outputs.types == op.result_types
    made.verify()
    results = [tensor_type(r) for r in op.results]
    types = [(numpy_type(t.element_type), tuple(t.get_shape())) for t in results]
    found = evaluate_opaque(made.op_type.data, made.onnx.data, arrays, types)
    expected = evaluate(name, arrays, semantic_attrs(op))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_what_is_no_onnx_node_stays() -> None:
    op = operator("relu", [X], {})
    assert "relu" in ATTRIBUTES
    assert opaque_of(op, op.operands) is not None
    shape = TensorType(f32, [12])
    view = build("reshape", TestOp(result_types=[TensorType(f32, [3, 4])]).results, {}, [shape])
    assert opaque_of(view, view.operands) is None
