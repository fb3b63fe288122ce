"""What compilers get wrong: signed zero, integers, empty tensors, 16-bit types; the oracle."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from fusec.semantics import Array, AttrValue, SemanticsError, evaluate, np_dtype

INF = math.inf
NAN = math.nan


def one(name: str, *inputs: Array | None, **attrs: AttrValue) -> Array:
    (result,) = evaluate(name, inputs, attrs)
    return result


def oracle(name: str, *inputs: Array | None, **attrs: AttrValue) -> Array:
    (result,) = evaluate(name, inputs, attrs, oracle=True)
    return result


def f32(values: object) -> Array:
    return np.array(values, np.float32)


def bits(array: Array) -> list[str]:
    """Values that tell -0.0 from 0.0."""
    return [str(value) for value in array.ravel().tolist()]


def normal(*shape: int, dtype: str = "float32", seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np_dtype(dtype))


# Elementwise.


def test_signed_zero_survives() -> None:
    x = f32([-0.0, 2.0])
    assert bits(one("mul", x, f32(-0.0))) == ["0.0", "-0.0"]
    total = one("add", x, f32(0.0))
    assert bits(total) == ["0.0", "2.0"]
    assert bits(one("reciprocal", total)) == ["inf", "0.5"]
    assert bits(one("sub", x, f32(0.0))) == ["-0.0", "2.0"]
    assert bits(one("neg", f32([0.0]))) == ["-0.0"]
    assert bits(one("erf", x[:1])) == ["-0.0"]


def test_inf_and_nan_are_ieee() -> None:
    x = f32([INF, -INF, NAN, 0.0])
    np.testing.assert_array_equal(one("sub", x, x), f32([NAN, NAN, NAN, 0]))
    np.testing.assert_array_equal(one("max", x, f32(1)), f32([INF, 1, NAN, 1]))
    np.testing.assert_array_equal(one("relu", x), f32([INF, 0, NAN, 0]))
    np.testing.assert_array_equal(one("sigmoid", x), f32([1, 0, NAN, 0.5]))
    np.testing.assert_array_equal(one("equal", x, x), [True, True, False, True])
    np.testing.assert_array_equal(one("clip", x, f32(-1), f32(1)), f32([1, -1, NAN, 0]))
    np.testing.assert_array_equal(
        one("div", f32([1, -1, 0]), f32([0, 0, 0])), f32([INF, -INF, NAN])
    )


def test_clip_with_one_bound_or_none() -> None:
    x = f32([-2, 0.2, 3])
    np.testing.assert_array_equal(one("clip", one("relu", x), f32(0.5)), f32([0.5, 0.5, 3]))
    np.testing.assert_array_equal(one("clip", one("relu", x), None, f32(1)), f32([0, 0.2, 1]))
    np.testing.assert_array_equal(one("clip", x), x)
    np.testing.assert_array_equal(one("clip", x, f32(2), f32(1)), f32([1, 1, 1]))
    np.testing.assert_array_equal(one("clip", x, min=0.5), f32([0.5, 0.5, 3]))
    np.testing.assert_array_equal(one("clip", x, f32(-1), max=0.1), f32([-1, 0.1, 0.1]))
    assert one("clip", np.array([-9, 9], np.int8), min=-1e9, max=6.0).tolist() == [-9, 6]


@pytest.mark.parametrize(
    ("name", "dtype", "x", "y", "expected"),
    [
        ("div", "int64", [9007199254740993], [1], [9007199254740993]),
        ("div", "int64", [-7, 7, -7, -6], [2, -2, -2, 2], [-3, -3, 3, -3]),
        ("div", "int8", [-128, -127], [2, -2], [-64, 63]),
        ("div", "uint64", [2**64 - 1], [2], [2**63 - 1]),
        ("add", "uint8", [250], [10], [4]),
        ("sub", "uint8", [0], [1], [255]),
        ("mul", "int32", [2**31 - 1], [2], [-2]),
        ("pow", "int64", [3], [39], [4052555153018976267]),
        ("pow", "int32", [2, -1, 1, 5], [-1, -3, -2, 0], [0, -1, 1, 1]),
        ("pow", "uint8", [3], [5], [243]),
    ],
)
def test_integers_are_exact_and_wrap(
    name: str, dtype: str, x: list[int], y: list[int], expected: list[int]
) -> None:
    result = one(name, np.array(x, dtype), np.array(y, dtype))
    np.testing.assert_array_equal(result, np.array(expected, dtype))
    assert result.dtype == dtype
    assert one(name, np.array(x[0], dtype), np.array(y[0], dtype)).item() == expected[0]


def test_pow_takes_the_type_of_its_base() -> None:
    power = one("pow", np.array([200], np.uint8), np.array([2**40 + 1], np.int64))
    assert power.dtype == np.uint8 and power.item() == pow(200, 2**40 + 1, 256)
    assert one("pow", np.array([9], np.int32), f32([0.5])).tolist() == [3]
    assert one("pow", f32([2]), np.array([-2], np.int64)).tolist() == [0.25]


def test_cube_is_as_exact_as_power() -> None:
    x = np.concatenate([normal(1000), f32([0.0, -0.0, INF, -INF, NAN, 1e20, 1e-20])])
    with np.errstate(all="ignore"):
        for exponent in (3, 4):
            expected = np.power(x.astype(np.float64), exponent).astype(np.float32)
            assert bits(one("pow", x, f32([exponent]))) == bits(expected)


def test_add_of_a_value_to_itself_and_shared_operands() -> None:
    x = normal(3, 4)
    np.testing.assert_array_equal(one("add", x, x), x * 2)
    integral = np.trunc(x * 100)
    np.testing.assert_array_equal(one("sub", integral, one("add", integral, f32(1))), x * 0 - 1)


def test_cast_rounds_once_truncates_and_tests_against_zero() -> None:
    x = np.array([65519.99, 65520, 1 + 2**-11, 1 + 3 * 2**-11, -65520])
    expected = np.array([65504, INF, 1, 1 + 2**-9, -INF], np.float16)
    np.testing.assert_array_equal(one("cast", x, to="float16"), expected)
    assert one("cast", f32([-1.9, 1.9]), to="int32").tolist() == [-1, 1]
    assert one("cast", f32([0, -0.0, 0.1, NAN]), to="bool").tolist() == [False, False, True, True]
    just_above = np.array([1 + 2**-8 + 2**-40])
    assert one("cast", just_above, to="bfloat16").astype(float).item() == 1 + 2**-7


# Reductions and norms.


def test_reduction_axes() -> None:
    x = normal(2, 3, 4)
    assert one("reduce_max", x, axes=(0, -1), keepdims=False).shape == (3,)
    assert one("reduce_max", x, keepdims=False).shape == ()
    assert one("reduce_max", x).shape == (1, 1, 1)
    assert one("reduce_sum", x, noop_with_empty_axes=True) is not None
    np.testing.assert_array_equal(one("reduce_sum", x, noop_with_empty_axes=True), x)
    np.testing.assert_array_equal(one("reduce_sum_square", x, noop_with_empty_axes=True), x * x)


def test_reductions_of_nothing_and_of_integers() -> None:
    none = np.zeros((2, 0), np.float32)
    for name, value in (("sum", 0), ("prod", 1), ("max", -INF), ("min", INF), ("mean", NAN)):
        result = one(f"reduce_{name}", none, axes=(1,), keepdims=False)
        np.testing.assert_array_equal(result, f32([value, value]))
    big = np.array([2**31 - 1, 1], np.int32)
    assert one("reduce_sum", big, keepdims=False).item() == -(2**31)
    assert one("reduce_mean", big, keepdims=False).item() == 2**30
    assert one("reduce_mean", np.array([-3, 0], np.int64), keepdims=False).item() == -1
    assert one("reduce_max", np.zeros((0,), np.uint8)).item() == 0


def test_softmax_of_one_axis_and_flattened() -> None:
    x = normal(2, 3, 4)
    np.testing.assert_allclose(one("softmax", x, axis=1).sum(axis=1), np.ones((2, 4)), rtol=1e-6)
    flat = one("softmax", one("flatten", x, axis=1), axis=-1)
    np.testing.assert_allclose(flat.reshape(x.shape).sum(axis=(1, 2)), [1, 1], rtol=1e-6)
    np.testing.assert_array_equal(one("softmax", f32([1e30, -INF])), f32([1, 0]))
    assert one("softmax", np.zeros((3, 0), np.float32)).shape == (3, 0)


def test_layer_norm_of_float16_has_float32_inside() -> None:
    x = np.array([[400, 300, 200, 100, -100, -200, -300, -400]], np.float16)
    ones = np.ones(8, np.float16)
    expected = [1.461, 1.096, 0.7305, 0.3652]
    result = one("layer_normalization", x, ones, np.zeros(8, np.float16))
    np.testing.assert_allclose(result[0, :4].astype(float), expected, rtol=1e-3)
    assert result.dtype == np.float16
    rms = one("rms_normalization", x, ones)
    np.testing.assert_allclose(rms.astype(float), result.astype(float), rtol=1e-3)


def test_batch_normalization_layouts_agree() -> None:
    x, parameters = normal(2, 3, 4, 5), [np.abs(normal(3, seed=seed)) for seed in range(4)]
    first = one("batch_normalization", x, *parameters)
    last = one("batch_normalization", np.moveaxis(x, 1, -1), *parameters, layout="NHWC")
    np.testing.assert_allclose(np.moveaxis(last, -1, 1), first, rtol=1e-6)


# Contractions and windows.


def test_contraction_over_nothing_is_zero() -> None:
    a, b = np.zeros((4, 0), np.float32), np.zeros((0, 4), np.float32)
    np.testing.assert_array_equal(one("matmul", a, b), np.zeros((4, 4)))
    np.testing.assert_array_equal(one("gemm", a, b, f32([7] * 4)), np.full((4, 4), 7))
    x, w = np.zeros((1, 0, 3, 3), np.float32), np.zeros((2, 0, 2, 2), np.float32)
    np.testing.assert_array_equal(one("conv", x, w, f32([1, 2]))[0, :, 0, 0], [1, 2])


def test_bias_of_higher_rank_belongs_to_add() -> None:
    product = one("matmul", normal(2, 3), normal(3, 4))
    assert one("add", product, normal(1, 1, 1, 2, 4)).shape == (1, 1, 1, 2, 4)
    assert one("add", normal(1, 4), normal(3, 4)).shape == (3, 4)


def test_pad_before_max_pool_is_not_max_pool_with_pads() -> None:
    x = -np.abs(normal(1, 1, 4, 4)) - 1
    padded = one("pad", x, pads=(0, 0, 1, 1, 0, 0, 1, 1))
    pool: dict[str, AttrValue] = {"kernel_shape": (3, 3), "strides": (3, 3)}
    np.testing.assert_array_equal(one("max_pool", padded, **pool), np.zeros((1, 1, 2, 2)))
    assert (one("max_pool", x, pads=(1, 1, 1, 1), **pool) < 0).all()


def test_average_pool_counts_asymmetric_padding() -> None:
    x = np.ones((1, 1, 2, 2), np.float32)
    attrs: dict[str, AttrValue] = {"kernel_shape": (2, 2), "pads": (0, 0, 1, 1)}
    counted = one("average_pool", x, count_include_pad=True, **attrs)
    np.testing.assert_array_equal(counted[0, 0], [[1, 0.5], [0.5, 0.25]])
    np.testing.assert_array_equal(one("average_pool", x, **attrs)[0, 0], np.ones((2, 2)))


def test_conv_in_several_blocks_of_rows() -> None:
    x, w = normal(1, 64, 96, 96), normal(8, 64, 3, 3, seed=1)
    attrs: dict[str, AttrValue] = {"strides": (2, 1), "pads": (1, 1, 1, 1), "dilations": (1, 2)}
    direct = one("conv", x.astype(np.float64), w.astype(np.float64), **attrs)
    probe = np.zeros_like(direct)
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    for i in range(3):
        for j in range(3):
            part = padded[0, :, i : i + 95 : 2, 2 * j : 2 * j + 94]
            probe[0] += np.einsum("oc,chw->ohw", w[:, :, i, j].astype(np.float64), part)
    np.testing.assert_allclose(direct, probe, rtol=1e-9, atol=1e-9)
    last = one("conv", np.moveaxis(x, 1, -1), w, x_layout="NHWC", y_layout="NHWC", **attrs)
    np.testing.assert_allclose(np.moveaxis(last, -1, 1), probe, rtol=1e-4, atol=1e-4)


def test_attention_is_its_expansion() -> None:
    q, k, v = normal(2, 3, 5, 8), normal(2, 3, 7, 8, seed=1), normal(2, 3, 7, 4, seed=2)
    mask = np.where(normal(5, 7, seed=3) > 0.5, -INF, 0).astype(np.float32)
    scores = one("matmul", q, one("transpose", k, perm=(0, 1, 3, 2)))
    scores = one("add", one("mul", scores, f32(0.25)), mask)
    expected = one("matmul", one("softmax", scores), v)
    result = one("attention", q, k, v, mask, scale=0.25)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


# Movement.


def test_slice_clamps_as_onnx_says() -> None:
    x = np.arange(10)

    def cut(start: int, end: int, step: int) -> list[int]:
        return one("slice", x, starts=(start,), ends=(end,), steps=(step,)).tolist()

    assert cut(0, 5, -1) == []
    assert cut(-100, -101, -1) == [0]
    assert cut(100, -(2**63), -3) == [9, 6, 3, 0]
    assert cut(-3, 2**63 - 1, 1) == [7, 8, 9]
    empty = one("slice", normal(10), starts=(0,), ends=(5,), steps=(-1,))
    assert one("relu", empty).shape == (0,)
    assert one("reduce_sum", empty).item() == 0


def test_pad_cuts_and_fills() -> None:
    x = np.arange(6, dtype=np.int64).reshape(2, 3)
    result = one("pad", x, pads=(0, -1, 1, 2), value=9)
    assert result.tolist() == [[1, 2, 9, 9], [4, 5, 9, 9], [9, 9, 9, 9]]
    assert one("pad", x, pads=(0, -3, 0, 2), value=9).tolist() == [[9, 9], [9, 9]]
    assert one("pad", x, pads=(0, 2, 0, -4), value=9).tolist() == [[9], [9]]


def test_split_and_transpose_defaults() -> None:
    parts = evaluate("split", [np.arange(5)], {"sizes": (2, 0, 3)})
    assert [part.tolist() for part in parts] == [[0, 1], [], [2, 3, 4]]
    assert one("transpose", normal(2, 3, 4)).shape == (4, 3, 2)
    assert one("squeeze", normal(1, 3, 1)).shape == (3,)
    assert one("unsqueeze", normal(3), axes=(-1, 0)).shape == (1, 3, 1)


def test_constants_have_their_type() -> None:
    ones = one("constant_of_shape", shape=(2, 0), value=1, to="int64")
    assert ones.shape == (2, 0) and ones.dtype == np.int64
    assert one("constant_of_shape", shape=(), to="bfloat16").dtype.name == "bfloat16"
    assert one("eye_like", np.zeros((2, 3), np.float16), k=1).tolist() == [[0, 1, 0], [0, 0, 1]]
    assert one("eye_like", shape=(1, 2), to="int32").tolist() == [[1, 0]]


def test_dynamic_sizes_come_from_the_input() -> None:
    x = normal(4, 6)
    assert one("reshape", x, shape=(-1, 3)).shape == (8, 3)
    assert one("expand", normal(4, 1), shape=(2, -1, 3)).shape == (2, 4, 3)


# 16-bit types and the oracle.

HALVES = ("float16", "bfloat16")


def every_value(dtype: str) -> Array:
    return np.arange(2**16, dtype=np.uint16).view(np_dtype(dtype))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(
    "name", ["exp", "log", "sqrt", "reciprocal", "tanh", "sigmoid", "erf", "gelu", "neg", "relu"]
)
def test_every_half_is_the_oracle_rounded_once(name: str, dtype: str) -> None:
    x = every_value(dtype)
    result = one(name, x)
    assert result.dtype == x.dtype
    with np.errstate(all="ignore"):
        exact = oracle(name, x).astype(x.dtype)
    same = (result == exact) | (np.isnan(result) & np.isnan(exact))
    # A float32 intermediate next to a tie may round to the other neighbour.
    assert np.sum(~same) <= 12
    ulp = 2**-7 if dtype == "bfloat16" else 2**-10
    np.testing.assert_allclose(result.astype(float), exact.astype(float), rtol=ulp, atol=2**-24)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_half_arithmetic_is_rounded_correctly(name: str, dtype: str) -> None:
    x, y = normal(20000, dtype=dtype), normal(20000, dtype=dtype, seed=1)
    exact = oracle(name, x, y).astype(x.dtype)
    np.testing.assert_array_equal(one(name, x, y).astype(float), exact.astype(float))


@pytest.mark.parametrize("dtype", HALVES)
def test_halves_accumulate_in_float32(dtype: str) -> None:
    ones = np.ones((1, 4096), np_dtype(dtype))
    image = ones.reshape(1, 1, 64, 64)
    sums = (
        one("reduce_sum", ones),
        one("matmul", ones, ones.T),
        one("gemm", ones, ones, trans_b=True),
        one("conv", image, image),
        one("reduce_sum_square", ones),
    )
    assert [(value.item(), value.dtype.name) for value in sums] == [(4096, dtype)] * 5
    large = np.full((1, 1, 8, 8), 30000, np_dtype(dtype))
    means = (
        one("reduce_mean", large),
        one("global_average_pool", large),
        one("average_pool", large, kernel_shape=(8, 8)),
    )
    assert [value.item() for value in means] == [large[0, 0, 0, 0]] * 3
    softmax = one("softmax", np.zeros((1, 4096), np_dtype(dtype)))
    assert softmax.astype(float).sum() == 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_oracle_is_float64_and_results_are_near_it(dtype: str) -> None:
    x, w, image = (normal(*shape, dtype=dtype) for shape in ((6, 40), (40, 9), (1, 4, 9, 9)))
    ones = np.ones(40, x.dtype)
    calls: Sequence[tuple[str, Sequence[Any], dict[str, AttrValue]]] = [
        ("matmul", [x, w], {}),
        ("softmax", [x], {}),
        ("log_softmax", [x], {}),
        ("layer_normalization", [x, ones], {}),
        ("rms_normalization", [x, ones], {}),
        ("conv", [image, image], {"pads": (2, 2, 2, 2)}),
        ("attention", [x, x, x], {"scale": 0.1}),
        ("gelu", [x], {"approximate": "tanh"}),
        ("reduce_mean", [x], {"axes": (0,)}),
    ]
    epsilon = {"float16": 2**-11, "bfloat16": 2**-8, "float32": 2**-24}[dtype]
    for name, inputs, attrs in calls:
        exact, result = oracle(name, *inputs, **attrs), one(name, *inputs, **attrs)
        assert exact.dtype == np.float64, name
        assert result.dtype == x.dtype, name
        error = np.abs(result.astype(float) - exact)
        bound = 1.01 * epsilon * np.abs(exact) + 1e-6 * max(1.0, np.abs(exact).max())
        assert (error <= bound).all(), name


def test_oracle_never_rounds_and_keeps_integers() -> None:
    third = np.array([1 / 3])
    assert oracle("cast", third, to="float16").item() == 1 / 3
    assert oracle("cast", np.array([3]), to="bfloat16").dtype == np.float64
    assert oracle("constant_of_shape", shape=(1,), value=0.1).item() == 0.1
    assert oracle("cast", f32([2.5]), to="int32").dtype == np.int32
    assert oracle("add", np.array([1], np.int8), np.array([2], np.int8)).dtype == np.int8
    assert oracle("greater", third, third).dtype == np.bool_


def test_scalars_stay_arrays() -> None:
    for name in ("neg", "exp", "gelu", "identity"):
        result = one(name, f32(1.5))
        assert isinstance(result, np.ndarray) and result.shape == () and result.dtype == np.float32


def test_products_of_bytes_are_exact_in_i32() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((3, 5000), (5000, 4)))
    for found in (one("matmul_integer", a, b), oracle("matmul_integer", a, b)):
        assert found.dtype == np.int32
        assert np.array_equal(found, a.astype(np.int64) @ b.astype(np.int64))
    with pytest.raises(SemanticsError, match="multiplies int8"):
        one("matmul_integer", a.astype(np.int16), b.astype(np.int16))
