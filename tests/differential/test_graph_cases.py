"""Real faults of other compilers, as small graphs through prepare and optimise.

Each was reported against a well-known compiler. Results are those of the model as it was imported,
by the interpreter in its own precision and in float64, and those that the report calls right.
"""

from dataclasses import dataclass, field

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from fusec.frontends.onnx.frontend import import_onnx
from fusec.semantics import Array
from fusec.semantics.interpreter import result_names
from fusec.semantics.weights import WeightStore
from fusec_dialects.graph import FusedOp, GraphOp
from graph_modules import (
    OPTIMISE,
    PREPARE,
    apply,
    assert_as_good,
    assert_close,
    assert_same_bits,
    main_of,
    random_inputs,
    run,
)
from onnx_text import graph


@dataclass(frozen=True)
class Case:
    """A graph; inputs that are not given are random. `expected` has outputs known by hand."""

    text: str
    inputs: dict[str, Array] = field(default_factory=dict[str, Array])
    expected: dict[str, Array] = field(default_factory=dict[str, Array])
    opset: int = 18
    bits: bool = False
    """Whether nothing may change a bit: no rule that reorders applies."""


def f32(*values: float) -> Array:
    return np.array(values, np.float32)


def i64(*values: int) -> Array:
    return np.array(values, np.int64)


CASES = {
    "C2 a norm's convolution has a second user": Case(
        """(float[1,2,4,4] x) => (float[1,1,2,2] y, float[1,1,2,2] r)
        <float[18] wv = {1, -1, 2, 0, 1, 1, -2, 1, 0, 3, 1, -1, 0, 2, 1, 1, -1, 2},
         int64[4] ws = {1, 2, 3, 3}, float[1] s = {2}, float[1] b = {0.5}, float[1] m = {0.25},
         float[1] v = {4}> {
          w = Reshape(wv, ws)
          t = Conv(x, w)
          y = BatchNormalization(t, s, b, m, v)
          r = Relu(t)
        }"""
    ),
    "C2 two norms on one filter": Case(
        """(float[1,2,4,4] x) => (float[1,2,2,2] y, float[1,2,2,2] z)
        <int64[4] ws = {2, 2, 3, 3}, float[2] s = {2, 3}, float[2] b = {0.5, 1},
         float[2] v = {4, 0.25}> {
          w = ConstantOfShape<value = float[1] {0.5}>(ws)
          t = Conv(x, w)
          u = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, w)
          y = BatchNormalization(t, s, b, b, v)
          z = BatchNormalization(u, v, s, b, s)
        }"""
    ),
    "C4 a group that would wait for itself": Case(
        """(float[4,8] x) => (float[4,8] d) <int64 one = {1}> {
          a = Relu(x)
          b = Exp(a)
          c = CumSum(b, one)
          d = Add(a, c)
        }"""
    ),
    "C6 the sum of a copy with itself": Case(
        "(float[3,4] x) => (float[3,4] o) { y = Identity(x) o = Add(y, y) }", bits=True
    ),
    "C8 a piece that nobody uses": Case(
        """(float[2,4] x) => (float[2,2] o) {
          p, q = Split<axis = 1, num_outputs = 2>(x)
          r = Relu(p)
          o = Add(r, p)
        }""",
        bits=True,
    ),
    "C10 a residual that is read from a piece of the result": Case(
        """(float[1,8,4,4] x) => (float[1,12,4,4] y) <int64[4] ws = {4, 4, 3, 3}> {
          w = ConstantOfShape<value = float[1] {0.125}>(ws)
          p, q = Split<axis = 1, num_outputs = 2>(x)
          c = Conv<pads = [1, 1, 1, 1]>(q, w)
          s = Sigmoid(c)
          a = Mul(c, s)
          r = Add(q, a)
          y = Concat<axis = 1>(p, q, r)
        }"""
    ),
    "C12 a scale that makes a norm larger": Case(
        """(float[1,1] x, float[2] scale) => (float[1,2] y)
        <int64[1] last = {-1}, float two = {2}, float eps = {0.00001}> {
          mean = ReduceMean(x, last)
          d = Sub(x, mean)
          p = Pow(d, two)
          v = ReduceMean(p, last)
          e = Add(v, eps)
          r = Sqrt(e)
          n = Div(d, r)
          y = Mul(scale, n)
        }"""
    ),
    "C14 a bias of higher rank": Case(
        """(float[2,3] x, float[3,4] w, float[1,1,1,2,4] b) => (float[1,1,1,2,4] y)
        { m = MatMul(x, w) y = Add(m, b) }"""
    ),
    "C14 a bias of more rows": Case(
        """(float[1,3] x, float[3,4] w, float[3,4] c) => (float[3,4] y)
        { m = MatMul(x, w) y = Add(m, c) }"""
    ),
    "C16 padding with zeros before a pooling of negative values": Case(
        """(float[1,1,4,4] x) => (float[1,1,2,2] y) <int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}> {
          t = Pad(x, p)
          y = MaxPool<kernel_shape = [3, 3], strides = [3, 3]>(t)
        }""",
        {"x": -np.ones((1, 1, 4, 4), np.float32)},
        {"y": np.zeros((1, 1, 2, 2), np.float32)},
        bits=True,
    ),
    "C18 a product that broadcasts the channel of a convolution": Case(
        """(float[1,1,6,6] x, float[1,3,1,1] c) => (float[1,4,4,4] y) <int64[4] ws = {4, 3, 3, 3}> {
          w = ConstantOfShape<value = float[1] {0.125}>(ws)
          t = Mul(x, c)
          y = Conv(t, w)
        }"""
    ),
    "C22 a clip without one limit": Case(
        """(float[3] x) => (float[3] y, float[3] z) <float half = {0.5}, float one = {1}> {
          r = Relu(x)
          y = Clip(r, half)
          z = Clip(r, "", one)
        }""",
        {"x": f32(-2, 0.2, 3)},
        {"y": f32(0.5, 0.5, 3), "z": f32(0, 0.2, 1)},
        bits=True,
    ),
    "C24 negative zero": Case(
        """(float[2] x) => (float[2] p, float[2] s, float[2] i, float[2] m) <float zero = {0}> {
          minus = Neg(zero)
          p = Mul(x, minus)
          s = Add(x, zero)
          i = Reciprocal(s)
          m = Sub(x, zero)
        }""",
        {"x": f32(-0.0, 2)},
        {"p": f32(0, -0.0), "s": f32(0, 2), "i": f32(np.inf, 0.5), "m": f32(-0.0, 2)},
        bits=True,
    ),
    "C26 division of integers": Case(
        """(int64[1] x, int64[3] a, int64[3] b, uint8[1] u) =>
        (int64[1] q, int64[3] t, uint8[1] s, int64[1] k)
        <int64 one = {1}, uint8 ten = {10}, int64[1] big = {9007199254740993}> {
          q = Div(x, one)
          t = Div(a, b)
          s = Add(u, ten)
          f = Div(big, one)
          k = Add(f, x)
        }""",
        {
            "x": i64(9007199254740993),
            "a": i64(-7, 7, -7),
            "b": i64(2, -2, -2),
            "u": np.array([250], np.uint8),
        },
        {
            "q": i64(9007199254740993),
            "t": i64(-3, -3, 3),
            "s": np.array([4], np.uint8),
            "k": i64(2 * 9007199254740993),
        },
        bits=True,
    ),
    "C28 a difference with a shared operand": Case(
        "(float[1] x) => (float[1] y) <float one = {1}> { t = Add(x, one) y = Sub(x, t) }",
        {"x": f32(5)},
        {"y": f32(-1)},
        bits=True,
    ),
    "C32 softmax before opset 13": Case(
        "(float[2,3,4] x) => (float[2,3,4] y) { y = Softmax(x) }", opset=11
    ),
    "C34 negative axes that are dropped": Case(
        """(float[2,3,4] x) => (float[3] y) <int64[2] a = {0, -1}>
        { y = ReduceMax<keepdims = 0>(x, a) }""",
        {"x": np.arange(24, dtype=np.float32).reshape(2, 3, 4)},
        {"y": f32(15, 19, 23)},
        bits=True,
    ),
    "C36 a slice of nothing": Case(
        """(float[10] x) => (float[0] y, float s)
        <int64[1] b = {0}, int64[1] e = {5}, int64[1] a = {0}, int64[1] t = {-1}> {
          c = Slice(x, b, e, a, t)
          r = Relu(c)
          y = Add(r, r)
          s = ReduceSum<keepdims = 0>(y)
        }""",
        expected={"y": f32(), "s": np.array(0, np.float32)},
        bits=True,
    ),
    "C38 a contraction over nothing": Case(
        "(float[4,0] a, float[0,4] b) => (float[4,4] y) { m = MatMul(a, b) y = Relu(m) }",
        expected={"y": np.zeros((4, 4), np.float32)},
        bits=True,
    ),
}


def read(case: Case) -> tuple[ModuleOp, WeightStore, dict[str, Array]]:
    proto = graph(f"g {case.text}", case.opset)
    module, weights = import_onnx(proto.SerializeToString())
    return module, weights, {**random_inputs(module), **case.inputs}


@pytest.mark.parametrize("objective", ["kernels", "time"])
@pytest.mark.parametrize("name", CASES)
def test_case(name: str, objective: str) -> None:
    case = CASES[name]
    module, weights, inputs = read(case)
    before = run(module, inputs, weights)
    exact = run(module, inputs, weights, oracle=True)
    for spec in (*PREPARE, f"graph-fuse{{objective={objective}}}", *OPTIMISE[1:], "graph-outline"):
        apply(module, spec)
        assert_close(run(module, inputs, weights, oracle=True), exact, 1e-11)
    after = run(module, inputs, weights)
    if case.bits:
        assert_same_bits(after, before)
    else:
        assert_as_good(after, before, exact)
    found = dict(zip(result_names(main_of(module)), after, strict=True))
    for output, expected in case.expected.items():
        assert found[output].tobytes() == expected.tobytes()


def groups_of(name: str) -> list[list[str]]:
    module, _, _ = read(CASES[name])
    apply(module, *PREPARE, OPTIMISE[0])
    return [
        [inner.op_name for inner in op.body.block.ops if isinstance(inner, GraphOp)]
        for op in module.walk()
        if isinstance(op, FusedOp)
    ]


def test_c2_the_shared_value_is_not_scaled() -> None:
    """Whatever is grouped, the relu reads the convolution and not the folded one."""
    module, weights, inputs = read(CASES["C2 a norm's convolution has a second user"])
    before = run(module, inputs, weights)
    apply(module, *PREPARE, *OPTIMISE)
    assert_close(run(module, inputs, weights)[1:], before[1:], 1e-6)


def test_c4_the_group_is_cut_where_the_path_leaves() -> None:
    groups = groups_of("C4 a group that would wait for itself")
    assert not any({"relu", "add"} <= set(group) for group in groups)


def test_c8_the_unused_piece_is_no_output() -> None:
    module, _, _ = read(CASES["C8 a piece that nobody uses"])
    apply(module, *PREPARE, *OPTIMISE)
    groups = [op for op in module.walk() if isinstance(op, FusedOp)]
    assert all(all(r.first_use for r in group.results) for group in groups)


def test_c16_the_padding_stays_before_the_pooling() -> None:
    groups = groups_of("C16 padding with zeros before a pooling of negative values")
    assert {"pad", "max_pool"} <= {name for group in groups for name in group}
