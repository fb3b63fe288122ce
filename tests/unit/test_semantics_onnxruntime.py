"""Random shapes, values and attributes against ONNX Runtime, an independent implementation."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusec.semantics import Array, AttrValue, evaluate
from ort import run_node

bounded = settings(max_examples=100, deadline=None, derandomize=True, database=None)
Shape: TypeAlias = tuple[int, ...]
Shapes: TypeAlias = list[Shape]
SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(1, 5)
SHAPES = st.lists(SIZES, min_size=1, max_size=4).map(tuple)


def _same(got: Array, expected: Array, tolerance: float = 2e-6) -> None:
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    if got.dtype.kind == "f":
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(got, expected)


def _check(
    name: str,
    op: str,
    inputs: Sequence[Array | None],
    attrs: dict[str, AttrValue],
    onnx_inputs: Sequence[Array | None] | None = None,
    onnx_attrs: dict[str, Any] | None = None,
    *,
    tolerance: float = 2e-6,
    opset: int = 20,
) -> None:
    """`name` on `inputs` against `op`, which may want constants as inputs and other attributes."""
    results = evaluate(name, inputs, attrs)
    expected = run_node(
        op,
        inputs if onnx_inputs is None else onnx_inputs,
        attrs if onnx_attrs is None else onnx_attrs,
        results=len(results),
        opset=opset,
    )
    for got, want in zip(results, expected, strict=True):
        _same(got, want, tolerance)


def _normal(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _integers(seed: int, low: int, high: int, shape: Shape) -> Array:
    return np.random.default_rng(seed).integers(low, high, shape)


def _ints(*values: int) -> Array:
    return np.array(values, np.int64)


@st.composite
def broadcast_shapes(draw: st.DrawFn, count: int = 2) -> Shapes:
    """Shapes of rank up to 4 that broadcast together."""
    full = draw(SHAPES)
    shapes: Shapes = []
    for _ in range(count):
        cut = draw(st.integers(0, len(full)))
        shapes.append(tuple(draw(st.sampled_from((1, size))) for size in full[cut:]))
    return shapes


@bounded
@given(
    st.sampled_from(("Add", "Sub", "Mul", "Div", "Max", "Min", "Pow")),
    st.sampled_from(("float32", "int32", "int64")),
    broadcast_shapes(),
    SEEDS,
)
def test_arithmetic(op: str, dtype: str, shapes: Shapes, seed: int) -> None:
    low = 1 if op == "Pow" else -9
    x, y = (_integers(seed + at, low, 10, shape) + 0.25 for at, shape in enumerate(shapes))
    x, y = x.astype(dtype), np.where(np.trunc(y) == 0, 3, y).astype(dtype)
    _check(op.lower(), op, [x, y], {})


@bounded
@given(
    st.sampled_from(("equal", "greater", "less", "greater_or_equal", "less_or_equal")),
    st.sampled_from(("float32", "int32", "int64")),
    broadcast_shapes(),
    SEEDS,
)
def test_comparisons(name: str, dtype: str, shapes: Shapes, seed: int) -> None:
    x, y = (_integers(seed + at, -2, 3, shape).astype(dtype) for at, shape in enumerate(shapes))
    op = "".join(word.capitalize() for word in name.split("_"))
    _check(name, op, [x, y], {})


UNARY = {
    "relu": "Relu",
    "neg": "Neg",
    "abs": "Abs",
    "exp": "Exp",
    "log": "Log",
    "sqrt": "Sqrt",
    "reciprocal": "Reciprocal",
    "tanh": "Tanh",
    "sigmoid": "Sigmoid",
    "erf": "Erf",
    "gelu": "Gelu",
    "leaky_relu": "LeakyRelu",
}


@pytest.mark.parametrize("name", UNARY)
def test_unary_over_the_range(name: str) -> None:
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38, -3e38, 88.0, -88.0]
    x = np.concatenate([np.linspace(-12, 12, 2001), special]).astype(np.float32)
    _check(name, UNARY[name], [x], {}, tolerance=1e-5 if name == "exp" else 2e-6)


@bounded
@given(broadcast_shapes(3), SEEDS)
def test_where(shapes: Shapes, seed: int) -> None:
    condition = _normal(seed, *shapes[0]) > 0
    _check(
        "where", "Where", [condition, _normal(seed, *shapes[1]), _normal(seed + 1, *shapes[2])], {}
    )


@bounded
@given(SHAPES, st.booleans(), st.booleans(), SEEDS)
def test_clip(shape: Shape, low: bool, high: bool, seed: int) -> None:
    bounds = [np.float32(-0.3) if low else None, np.float32(0.4) if high else None]
    arrays = [None if bound is None else np.asarray(bound) for bound in bounds]
    _check("clip", "Clip", [_normal(seed, *shape), *arrays], {})


CASTS = ("bool", "int8", "int32", "int64", "uint8", "float16", "float32", "float64")


@pytest.mark.parametrize("source", CASTS)
@pytest.mark.parametrize("target", CASTS)
def test_cast(source: str, target: str) -> None:
    from onnx import helper

    values = np.array([0, 1, 1.5, 2.5, 3.49999, 100.7, 65504, 1e5, -1.5, -0.5])
    if target != "bool" and np.dtype(target).kind in "iu":
        values = np.clip(values, 0 if target[0] == "u" else -100, 100)
    if source != "bool" and np.dtype(source).kind in "iu":
        values = np.clip(values, 0 if source[0] == "u" else -100, 100)
    with np.errstate(over="ignore"):
        x = values.astype(source)
    code = helper.np_dtype_to_tensor_dtype(np.dtype(target))
    _check("cast", "Cast", [x], {"to": target}, onnx_attrs={"to": code})


@bounded
@given(
    st.sampled_from(("Sum", "Mean", "Max", "Min", "Prod", "SumSquare")),
    st.sampled_from(("float32", "int32")),
    SHAPES,
    st.data(),
    st.booleans(),
    SEEDS,
)
def test_reductions(
    op: str, dtype: str, shape: Shape, data: st.DataObject, keepdims: bool, seed: int
) -> None:
    rank = len(shape)
    axes = data.draw(st.lists(st.integers(0, rank - 1), unique=True, max_size=rank))
    axes = [axis - rank * data.draw(st.integers(0, 1)) for axis in axes]
    x = (_normal(seed, *shape) * 4).astype(dtype)
    name = "reduce_" + {"SumSquare": "sum_square"}.get(op, op.lower())
    _check(
        name,
        f"Reduce{op}",
        [x],
        {"axes": tuple(axes), "keepdims": keepdims},
        [x, _ints(*axes)],
        {"keepdims": int(keepdims)},
        tolerance=1e-5,
    )


@bounded
@given(st.sampled_from(("softmax", "log_softmax")), SHAPES, st.data(), SEEDS)
def test_softmax(name: str, shape: Shape, data: st.DataObject, seed: int) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    op = "Softmax" if name == "softmax" else "LogSoftmax"
    _check(name, op, [_normal(seed, *shape) * 20], {"axis": axis}, tolerance=1e-5)


@bounded
@given(SHAPES, st.data(), st.booleans(), SEEDS)
def test_layer_normalization(shape: Shape, data: st.DataObject, bias: bool, seed: int) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    tail = shape[axis:]
    inputs = [_normal(seed, *shape), _normal(seed + 1, *tail)]
    if bias:
        inputs.append(_normal(seed + 2, *tail))
    attrs: dict[str, AttrValue] = {"axis": axis, "epsilon": 1e-2}
    _check("layer_normalization", "LayerNormalization", inputs, attrs, tolerance=1e-5)


@bounded
@given(SHAPES.filter(lambda shape: len(shape) > 1), SEEDS)
def test_batch_normalization(shape: Shape, seed: int) -> None:
    parameters = [_normal(seed + index, shape[1]) for index in range(1, 5)]
    parameters[3] = np.abs(parameters[3])
    inputs = [_normal(seed, *shape), *parameters]
    _check("batch_normalization", "BatchNormalization", inputs, {"epsilon": 1e-2}, tolerance=1e-5)


@bounded
@given(broadcast_shapes(), SIZES, SIZES, SIZES, st.integers(0, 2), SEEDS)
def test_matmul(lead: Shapes, m: int, k: int, n: int, vector: int, seed: int) -> None:
    a = _normal(seed, k) if vector == 1 else _normal(seed, *lead[0], m, k)
    b = _normal(seed + 1, k) if vector == 2 else _normal(seed + 1, *lead[1], k, n)
    _check("matmul", "MatMul", [a, b], {}, tolerance=1e-5)


@bounded
@given(SIZES, SIZES, SIZES, st.booleans(), st.booleans(), st.integers(0, 5), SEEDS)
def test_gemm(m: int, k: int, n: int, ta: bool, tb: bool, c: int, seed: int) -> None:
    a = _normal(seed, *((k, m) if ta else (m, k)))
    b = _normal(seed + 1, *((n, k) if tb else (k, n)))
    shape = [None, (), (n,), (1, n), (m, 1), (m, n)][c]
    inputs = [a, b] if shape is None else [a, b, np.asarray(_normal(seed + 2, *shape))]
    attrs: dict[str, AttrValue] = {"alpha": 0.5, "beta": -2.0, "trans_a": ta, "trans_b": tb}
    onnx_attrs = {"alpha": 0.5, "beta": -2.0, "transA": int(ta), "transB": int(tb)}
    _check("gemm", "Gemm", inputs, attrs, onnx_attrs=onnx_attrs, tolerance=1e-5)


@st.composite
def windows(draw: st.DrawFn) -> dict[str, tuple[int, ...]]:
    """Sizes, kernel, strides, dilations and pads that fit together, pads smaller than windows."""
    rank = draw(st.integers(1, 3))

    def each(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    kernel, strides, dilations = each(1, 3), each(1, 3), each(1, 2)
    begins, ends = ([draw(st.integers(0, k - 1)) for k in kernel] for _ in range(2))
    sizes = tuple(
        draw(st.integers(max(1, (k - 1) * d + 1 - b - e), 9))
        for k, d, b, e in zip(kernel, dilations, begins, ends, strict=True)
    )
    pads = (*begins, *ends)
    return {
        "sizes": sizes,
        "kernel": kernel,
        "strides": strides,
        "dilations": dilations,
        "pads": pads,
    }


MOVES = ("strides", "dilations", "pads")


@bounded
@given(windows(), st.integers(1, 3), st.integers(1, 2), st.integers(1, 2), st.booleans(), SEEDS)
def test_conv_in_every_layout(
    window: dict[str, Any], group: int, depth: int, each: int, bias: bool, seed: int
) -> None:
    x = _normal(seed, 2, group * depth, *window["sizes"])
    w = _normal(seed + 1, group * each, depth, *window["kernel"])
    inputs = [x, w, _normal(seed + 2, group * each)] if bias else [x, w]
    attrs: dict[str, AttrValue] = {key: window[key] for key in MOVES} | {"group": group}
    expected = run_node("Conv", inputs, attrs)[0]
    for x_layout in ("NCHW", "NHWC"):
        for y_layout in ("NCHW", "NHWC"):
            for w_layout in ("OIHW", "HWIO"):
                layouts = {"x_layout": x_layout, "y_layout": y_layout, "w_layout": w_layout}
                data = x if x_layout == "NCHW" else np.moveaxis(x, 1, -1).copy()
                kernel = w if w_layout == "OIHW" else np.moveaxis(w, (1, 0), (-2, -1)).copy()
                got = evaluate("conv", [data, kernel, *inputs[2:]], attrs | layouts)[0]
                got = got if y_layout == "NCHW" else np.moveaxis(got, -1, 1)
                _same(got, expected, 1e-5)


@bounded
@given(
    st.sampled_from(("max_pool", "average_pool")), windows(), st.booleans(), st.booleans(), SEEDS
)
def test_pools_in_both_layouts(
    name: str, window: dict[str, Any], ceil: bool, include: bool, seed: int
) -> None:
    x = _normal(seed, 2, 3, *window["sizes"])
    attrs: dict[str, AttrValue] = {key: window[key] for key in MOVES}
    attrs |= {"kernel_shape": window["kernel"], "ceil_mode": ceil}
    if name == "average_pool":
        attrs["count_include_pad"] = include
    onnx_attrs = {key: int(v) if isinstance(v, bool) else v for key, v in attrs.items()}
    op = "MaxPool" if name == "max_pool" else "AveragePool"
    expected = run_node(op, [x], onnx_attrs, opset=22)[0]
    for layout in ("NCHW", "NHWC"):
        data = x if layout == "NCHW" else np.moveaxis(x, 1, -1)
        got = evaluate(name, [data], attrs | {"layout": layout})[0]
        _same(got if layout == "NCHW" else np.moveaxis(got, -1, 1), expected, 1e-6)


@bounded
@given(SHAPES, st.data(), SEEDS)
def test_slice(shape: Shape, data: st.DataObject, seed: int) -> None:
    rank = len(shape)
    axes = data.draw(st.lists(st.integers(0, rank - 1), unique=True, min_size=1, max_size=rank))
    near = st.integers(-9, 9) | st.sampled_from((-(2**62), 2**62))
    starts, ends = ([data.draw(near) for _ in axes] for _ in range(2))
    steps = [data.draw(st.sampled_from((-3, -2, -1, 1, 2, 3))) for _ in axes]
    x = _normal(seed, *shape)
    attrs: dict[str, AttrValue] = {
        "starts": tuple(starts),
        "ends": tuple(ends),
        "axes": tuple(axes),
        "steps": tuple(steps),
    }
    operands = [_ints(*starts), _ints(*ends), _ints(*axes), _ints(*steps)]
    _check("slice", "Slice", [x], attrs, [x, *operands], {})


@bounded
@given(SHAPES, st.data(), SEEDS)
def test_pad(shape: Shape, data: st.DataObject, seed: int) -> None:
    mode = data.draw(st.sampled_from(("constant", "edge", "reflect", "wrap")))
    least = -1 if mode == "constant" else 0
    begins = [data.draw(st.integers(least if n > 2 else 0, min(3, n - 1))) for n in shape]
    ends = [data.draw(st.integers(least if n > 2 else 0, min(3, n - 1))) for n in shape]
    x = _normal(seed, *shape)
    attrs: dict[str, AttrValue] = {"pads": (*begins, *ends), "mode": mode, "value": 1.5}
    operands = [x, _ints(*begins, *ends), np.array(1.5, np.float32)]
    _check("pad", "Pad", [x], attrs, operands, {"mode": mode})


@bounded
@given(SHAPES, SHAPES, st.data(), SEEDS)
def test_gather(shape: Shape, index_shape: Shape, data: st.DataObject, seed: int) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    size = shape[axis]
    indices = _integers(seed, -size, size, index_shape)
    _check("gather", "Gather", [_normal(seed, *shape), indices], {"axis": axis})


@bounded
@given(SHAPES, st.data(), SEEDS)
def test_gather_elements(shape: Shape, data: st.DataObject, seed: int) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    size = shape[axis]
    index_shape = [data.draw(st.integers(1, n)) for n in shape]
    index_shape[axis] = data.draw(SIZES)
    indices = _integers(seed, -size, size, tuple(index_shape))
    _check("gather_elements", "GatherElements", [_normal(seed, *shape), indices], {"axis": axis})


@bounded
@given(SHAPES, st.data(), SEEDS)
def test_transpose_flatten_split_concat(shape: Shape, data: st.DataObject, seed: int) -> None:
    x = _normal(seed, *shape)
    _check(
        "transpose", "Transpose", [x], {"perm": tuple(data.draw(st.permutations(range(x.ndim))))}
    )
    _check("flatten", "Flatten", [x], {"axis": data.draw(st.integers(-x.ndim, x.ndim))})
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    cut = data.draw(st.integers(0, shape[axis]))
    sizes = (cut, shape[axis] - cut)
    attrs: dict[str, AttrValue] = {"axis": axis, "sizes": sizes}
    _check("split", "Split", [x], attrs, [x, _ints(*sizes)], {"axis": axis})
    _check("concat", "Concat", [x, x, x], {"axis": axis})


@bounded
@given(broadcast_shapes(), SEEDS)
def test_expand(shapes: Shapes, seed: int) -> None:
    x = _normal(seed, *shapes[0])
    _check("expand", "Expand", [x], {"shape": shapes[1]}, [x, _ints(*shapes[1])], {})
