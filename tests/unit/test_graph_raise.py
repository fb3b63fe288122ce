"""graph-raise by numbers: each rule is an equality, in float64 up to the rounding of constants."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from fusec.frontends.onnx.frontend import import_onnx
from fusec.semantics import Array
from fusec.semantics.weights import WeightStore
from fusec_dialects.graph import GraphOp
from graph_modules import apply, assert_close, random_inputs, run
from onnx_text import graph

NUMBERS = """<float half = {0.5}, float one = {1}, float two = {2}, float three = {3},
  float root2 = {1.4142135}, float inverse = {0.70710678}, float c = {0.79788456},
  float a = {0.044715}, float eps = {0.00001}, float eight = {8}, float scale = {0.125},
  int64[1] last = {-1}, int64[1] first = {0}, int64[2] both = {-2, -1}>"""

X = "(float[3,8] x) => (float[3,8] y)"
NORM = "(float[2,3,8] x, float[8] s, float[8] b) => (float[2,3,8] y)"
ATTENTION = (
    "(float[2,4,5,8] q, float[2,4,6,8] k, float[2,4,6,7] v, float[2,1,1,6] m) => (float[2,4,5,7] y)"
)
TURN = "kt = Transpose<perm = [0, 1, 3, 2]>(k) qk = MatMul(q, kt) "

SPELLINGS: dict[str, tuple[str, str, str]] = {
    "gelu: product last": (
        "gelu",
        X,
        "d = Div(x, root2) e = Erf(d) f = Add(e, one) g = Mul(f, half) y = Mul(x, g)",
    ),
    "gelu: half last": (
        "gelu",
        X,
        "d = Mul(inverse, x) e = Erf(d) f = Add(one, e) g = Mul(x, f) y = Mul(half, g)",
    ),
    "gelu: half first": (
        "gelu",
        X,
        "h = Mul(x, half) d = Div(x, root2) e = Erf(d) f = Add(e, one) y = Mul(h, f)",
    ),
    "gelu: tanh of a power": (
        "gelu",
        X,
        "p = Pow(x, three) d = Mul(p, a) e = Add(x, d) f = Mul(e, c) t = Tanh(f) u = Add(t, one)"
        " h = Mul(x, half) y = Mul(h, u)",
    ),
    "gelu: tanh of products": (
        "gelu",
        X,
        "xx = Mul(x, x) p = Mul(xx, x) d = Mul(a, p) e = Add(d, x) f = Mul(c, e) t = Tanh(f)"
        " u = Add(one, t) h = Mul(u, x) y = Mul(h, half)",
    ),
    "gelu: tanh, factored": (
        "gelu",
        X,
        "k = Mul(x, c) d = Mul(x, a) e = Mul(d, x) f = Add(e, one) g = Mul(k, f) t = Tanh(g)"
        " u = Add(t, one) h = Mul(x, half) y = Mul(h, u)",
    ),
    "layer norm": (
        "layer_normalization",
        NORM,
        "mean = ReduceMean(x, last) d = Sub(x, mean) p = Pow(d, two) v = ReduceMean(p, last)"
        " e = Add(v, eps) r = Sqrt(e) n = Div(d, r) t = Mul(n, s) y = Add(t, b)",
    ),
    "layer norm: products": (
        "layer_normalization",
        NORM,
        "mean = ReduceMean(x, last) d = Sub(x, mean) p = Mul(d, d) v = ReduceMean(p, last)"
        " e = Add(eps, v) r = Sqrt(e) i = Reciprocal(r) n = Mul(i, d) t = Mul(s, n) y = Add(b, t)",
    ),
    "layer norm: quotient of one": (
        "layer_normalization",
        NORM,
        "mean = ReduceMean(x, last) d = Sub(x, mean) p = Mul(d, d) v = ReduceMean(p, last)"
        " e = Add(eps, v) r = Sqrt(e) i = Div(one, r) n = Mul(d, i) y = Mul(s, n)",
    ),
    "layer norm: centred twice": (
        "layer_normalization",
        NORM,
        "m1 = ReduceMean(x, last) d1 = Sub(x, m1) m2 = ReduceMean(x, last) d2 = Sub(x, m2)"
        " p = Pow(d2, two) v = ReduceMean(p, last) e = Add(v, eps) r = Sqrt(e) n = Div(d1, r)"
        " t = Mul(n, s) y = Add(t, b)",
    ),
    "layer norm: two axes": (
        "layer_normalization",
        "(float[2,3,8] x, float[3,8] s, float[3,8] b) => (float[2,3,8] y)",
        "mean = ReduceMean(x, both) d = Sub(x, mean) p = Pow(d, two) v = ReduceMean(p, both)"
        " e = Add(v, eps) r = Sqrt(e) n = Div(d, r) t = Mul(n, s) y = Add(t, b)",
    ),
    "softmax": (
        "softmax",
        X,
        "m = ReduceMax(x, last) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, last) y = Div(e, s)",
    ),
    "softmax: first axis": (
        "softmax",
        X,
        "m = ReduceMax(x, first) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, first) y = Div(e, s)",
    ),
    "attention": ("attention", ATTENTION, TURN + "p = Softmax(qk) y = MatMul(p, v)"),
    "attention: scaled": (
        "attention",
        ATTENTION,
        TURN + "d = Div(qk, eight) p = Softmax(d) y = MatMul(p, v)",
    ),
    "attention: masked": (
        "attention",
        ATTENTION,
        TURN + "d = Mul(scale, qk) e = Add(m, d) p = Softmax(e) y = MatMul(p, v)",
    ),
    "attention: softmax written out": (
        "attention",
        ATTENTION,
        TURN + "d = Mul(qk, scale) e = Add(d, m) h = ReduceMax(e, last) g = Sub(e, h) f = Exp(g)"
        " s = ReduceSum(f, last) p = Div(f, s) y = MatMul(p, v)",
    ),
    "attention: keys as they are": (
        "attention",
        "(float[2,5,8] q, float[1,8,6] k, float[2,6,7] v) => (float[2,5,7] y)",
        "qk = MatMul(q, k) p = Softmax(qk) y = MatMul(p, v)",
    ),
}


def read(signature: str, body: str, opset: int = 18) -> tuple[ModuleOp, WeightStore]:
    proto = graph(f"g {signature} {NUMBERS} {{ {body} }}", opset)
    return import_onnx(proto.SerializeToString())


def names(module: ModuleOp) -> list[str]:
    return [op.op_name for op in module.walk() if isinstance(op, GraphOp)]


def named(module: ModuleOp, seed: int) -> dict[str, Array]:
    return random_inputs(module, seed)


@pytest.mark.parametrize("name", SPELLINGS)
def test_raising_is_an_equality(name: str) -> None:
    expected, signature, body = SPELLINGS[name]
    module, weights = read(signature, body)
    inputs = named(module, 1)
    before = run(module, inputs, weights)
    exact = run(module, inputs, weights, oracle=True)
    apply(module, "graph-raise")
    assert [n for n in names(module) if n != "transpose"] == [expected]
    assert_close(run(module, inputs, weights, oracle=True), exact, 2e-7)
    assert_close(run(module, inputs, weights), exact, 2e-6)
    assert_close(run(module, inputs, weights), before, 2e-6)


def test_raising_ends_with_the_composite_operators() -> None:
    module, _ = read(*SPELLINGS["gelu: half last"][1:])
    apply(module, "graph-raise")
    once = str(module)
    apply(module, "graph-raise")
    assert str(module) == once


def test_a_norm_in_half_precision_does_not_overflow() -> None:
    """C30: 400 squared is beyond float16; the raised norm computes in float32 inside."""
    signature = "(float16[1,8] x, float16[8] s, float16[8] b) => (float16[1,8] y)"
    body = SPELLINGS["layer norm"][2]
    bits = "float16 eps = {168}, float16 two = {16384}, int64[1] last = {-1}"
    proto = graph(f"g {signature} <{bits}> {{ {body} }}", 18)
    module, weights = import_onnx(proto.SerializeToString())
    x = np.array([[400, 300, 200, 100, -100, -200, -300, -400]], np.float16)
    inputs = {"x": x, "s": np.ones(8, np.float16), "b": np.zeros(8, np.float16)}
    assert not np.any(run(module, inputs, weights)[0])
    apply(module, "graph-raise")
    (found,) = run(module, inputs, weights)
    (exact,) = run(module, inputs, weights, oracle=True)
    assert np.allclose(found[0, :4].astype(np.float32), [1.461, 1.096, 0.7305, 0.3652], rtol=1e-3)
    assert np.abs(found - exact).max() <= 2e-3


def test_a_masked_position_stays_masked() -> None:
    module, weights = read(*SPELLINGS["attention: masked"][1:])
    inputs = named(module, 2)
    inputs["m"] = np.where(np.arange(6) < 3, 0, -np.inf).astype(np.float32)
    inputs["m"] = np.broadcast_to(inputs["m"], (2, 1, 1, 6)).copy()
    before = run(module, inputs, weights)
    apply(module, "graph-raise")
    assert "attention" in names(module)
    inputs["v"][:, :, 3:] = 1e30
    assert_close(run(module, inputs, weights), before, 2e-6)


def test_only_the_named_rules_run() -> None:
    module, _ = read(*SPELLINGS["attention: softmax written out"][1:])
    apply(module, "graph-raise{only=norm}")
    assert "softmax" in names(module) and "attention" not in names(module)
