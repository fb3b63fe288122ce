"""What kernels compute, against numpy: hand-written kernels, each instruction, rounding, errors."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from fusec.simulator.errors import SimulationError
from fusec.simulator.functional import run_kernel
from fusec.simulator.numerics import DTYPES
from simulator_kernels import (
    GATHER,
    MATMUL,
    MIXED,
    RELU,
    SOFTMAX,
    TRANSPOSED,
    kernel,
    replaced,
    vector_kernel,
)

Array = npt.NDArray[Any]


def normal(*shape: int, dtype: str = "f32", seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(DTYPES[dtype])


def unplaced(text: str) -> str:
    """A placed kernel without its addresses."""
    lines = text.splitlines()
    return "\n".join(
        line.split(" at ")[0] + " :" + line.split(":", 1)[1] if "npu.alloc at" in line else line
        for line in lines
    )


@pytest.mark.parametrize("form", [str, unplaced])
class TestKernels:
    def test_relu_with_tail(self, form: Callable[[str], str]) -> None:
        x, y = normal(250, 300), np.empty((250, 300), np.float32)
        run_kernel(kernel(form(RELU)), [x, y])
        assert np.array_equal(y, np.maximum(x, 0))

    def test_softmax(self, form: Callable[[str], str]) -> None:
        x, y = normal(48, 200), np.empty((48, 200), np.float32)
        run_kernel(kernel(form(SOFTMAX)), [x, y])
        e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5)

    def test_matmul_with_tails_bias_and_relu(self, form: Callable[[str], str]) -> None:
        a, b = normal(200, 160, dtype="f16"), normal(160, 96, dtype="f16")
        bias, c = normal(96), np.empty((200, 96), np.float16)
        run_kernel(kernel(form(MATMUL)), [a, b, bias, c])
        exact = np.maximum(a.astype(np.float64) @ b.astype(np.float64) + bias, 0)
        np.testing.assert_allclose(c, exact, rtol=1e-3, atol=1e-4)

    def test_mixed_kernel_through_a_workspace(self, form: Callable[[str], str]) -> None:
        a, b = normal(64, 32), normal(32, 48)
        y, ws = np.empty((64, 48), np.float32), np.empty((2, 16, 48), np.float32)
        run_kernel(kernel(form(MIXED)), [a, b, y, ws])
        np.testing.assert_allclose(y, np.exp(a @ b), rtol=1e-4)

    def test_gather_by_scalar_loads(self, form: Callable[[str], str]) -> None:
        table, y = normal(50, 24, dtype="f16"), np.empty((12, 24), np.float16)
        index = np.random.default_rng(0).integers(0, 50, 12)
        run_kernel(kernel(form(GATHER)), [table, index, y])
        assert np.array_equal(y, table[index] * np.float16(2))

    def test_strided_and_transposed_views(self, form: Callable[[str], str]) -> None:
        x, y = normal(40, 30), np.empty((2, 15, 20), np.float32)
        run_kernel(kernel(form(TRANSPOSED)), [x, y])
        assert np.array_equal(y, np.stack([x.T[0::2, ::2], x.T[1::2, ::2]]))


@pytest.mark.parametrize("blocks", [1, 3, 20])
def test_the_number_of_blocks_does_not_matter(blocks: int) -> None:
    x, y = normal(250, 300), np.empty((250, 300), np.float32)
    run_kernel(kernel(RELU), [x, y], blocks=blocks)
    assert np.array_equal(y, np.maximum(x, 0))


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vmul": np.multiply,
    "vdiv": np.divide,
    "vmax": np.maximum,
    "vmin": np.minimum,
}
UNARY: dict[str, Callable[[Array], Array]] = {
    "vabs": np.abs,
    "vexp": np.exp,
    "vln": np.log,
    "vsqrt": np.sqrt,
    "vrsqrt": lambda x: 1 / np.sqrt(x),
    "vrec": lambda x: 1 / x,
    "vrelu": lambda x: np.maximum(x, 0),
}


def run_vector(body: str, arrays: list[Array], dest: Array, constants: str = "") -> Array:
    names = {v: k for k, v in DTYPES.items()}
    shapes = ["x".join(map(str, [*a.shape, names[a.dtype]])) for a in (*arrays, dest)]
    run_kernel(vector_kernel(body, shapes[:-1], shapes[-1], constants), [*arrays, dest])
    return dest


@pytest.mark.parametrize("dtype", ["f32", "f16"])
@pytest.mark.parametrize("name", BINARY)
def test_binary_with_broadcast_rounds_once(name: str, dtype: str) -> None:
    x, y = normal(8, 48, dtype=dtype), normal(8, 1, dtype=dtype)
    body = f"npu.{name} ins(%0, %1 : T0, T1) outs(%d : TD)"
    got = run_vector(body, [x, y], np.empty_like(x))
    wide = BINARY[name](x.astype(np.float32), y.astype(np.float32))
    assert np.array_equal(got, wide.astype(x.dtype))


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_binary_with_a_scalar(dtype: str) -> None:
    x = normal(8, 48, dtype=dtype)
    constant = f"%c = arith.constant 0.1 : {dtype}"
    got = run_vector(
        f"npu.vmul ins(%0, %c : T0, {dtype}) outs(%d : TD)", [x], np.empty_like(x), constant
    )
    scalar = np.float32(DTYPES[dtype].type(0.1))
    assert np.array_equal(got, (x.astype(np.float32) * scalar).astype(x.dtype))


@pytest.mark.parametrize("dtype", ["f32", "f16"])
@pytest.mark.parametrize("name", UNARY)
def test_unary_rounds_once(name: str, dtype: str) -> None:
    x = np.abs(normal(8, 48, dtype=dtype)) + DTYPES[dtype].type(0.01)
    got = run_vector(f"npu.{name} ins(%0 : T0) outs(%d : TD)", [x], np.empty_like(x))
    wide = UNARY[name](x.astype(np.float32))
    assert np.array_equal(got, wide.astype(x.dtype))


@pytest.mark.parametrize("kind", ["sum", "max", "min", "prod"])
@pytest.mark.parametrize("dtype", ["f32", "f16", "i32"])
def test_reduce_over_two_axes(kind: str, dtype: str) -> None:
    x = (normal(4, 6, 5) * 2).astype(DTYPES[dtype])
    body = f'npu.vreduce "{kind}" ins(%0 : T0) outs(%d : TD) dims [0, 2]'
    got = run_vector(body, [x], np.empty((1, 6, 1), DTYPES[dtype]))
    function = {"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod}[kind]
    wide = x.astype(np.int64 if dtype == "i32" else np.float64)
    want = function(wide, axis=(0, 2), keepdims=True)
    if dtype == "i32":
        assert np.array_equal(got, want.astype(np.int32))
    else:
        np.testing.assert_allclose(got, want, rtol={"f32": 2e-5, "f16": 2e-3}[dtype])


def test_compare_select_and_logic() -> None:
    x, y = normal(4, 32), normal(4, 32, seed=1)
    b = "memref<4x32xi1, #npu.space<ub>>"
    body = f"""
    %c = npu.alloc : {b}
    %e = npu.alloc : {b}
    npu.vcmp "lt" ins(%0, %1 : T0, T1) outs(%c : {b})
    npu.vcmp "gt" ins(%0, %zero : T0, f32) outs(%e : {b})
    npu.vand ins(%c, %e : {b}, {b}) outs(%c : {b})
    npu.vnot ins(%c : {b}) outs(%c : {b})
    npu.vsel ins(%c, %0, %one : {b}, T0, f32) outs(%d : TD)
    """
    constants = "%zero = arith.constant 0.0 : f32\n%one = arith.constant 1.0 : f32"
    got = run_vector(body, [x, y], np.empty_like(x), constants)
    assert np.array_equal(got, np.where(~((x < y) & (x > 0)), x, np.float32(1)))


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_transpose_moves_every_type(dtype: str) -> None:
    x = (normal(6, 20) * 50).astype(DTYPES[dtype])
    body = "npu.vtranspose ins(%0 : T0) outs(%d : TD) permutation [1, 0]"
    got = run_vector(body, [x], np.empty((20, 6), DTYPES[dtype]))
    assert np.array_equal(got.view(np.uint8), np.ascontiguousarray(x.T).view(np.uint8))


CASTS: list[tuple[str, str, str, Callable[[Array], Array]]] = [
    ("f16", "f32", "", lambda x: x.astype(np.float32)),
    ("f32", "f16", "", lambda x: x.astype(np.float16)),
    ("f32", "bf16", "", lambda x: x.astype(ml_dtypes.bfloat16)),
    ("bf16", "f32", "", lambda x: x.astype(np.float32)),
    ("f32", "i32", "", lambda x: np.rint(x).astype(np.int32)),
    ("f32", "i32", "floor", lambda x: np.floor(x).astype(np.int32)),
    ("f32", "i32", "ceil", lambda x: np.ceil(x).astype(np.int32)),
    ("f32", "i32", "trunc", lambda x: np.trunc(x).astype(np.int32)),
    ("i32", "f32", "", lambda x: x.astype(np.float32)),
    ("f16", "i8", "", lambda x: np.clip(np.rint(x), -128, 127).astype(np.int8)),
    ("i8", "f16", "", lambda x: x.astype(np.float16)),
    ("f16", "i32", "", lambda x: np.rint(x).astype(np.int32)),
    ("i64", "i32", "", lambda x: x.astype(np.int32)),
    ("i1", "f16", "", lambda x: x.astype(np.float16)),
    ("i1", "f32", "", lambda x: x.astype(np.float32)),
]


@pytest.mark.parametrize(("source", "dest", "mode", "want"), CASTS)
def test_cast(source: str, dest: str, mode: str, want: Callable[[Array], Array]) -> None:
    x = (normal(4, 64) * 100).astype(DTYPES[source])
    rounding = f'round "{mode}" ' if mode else ""
    body = f"npu.vcast {rounding}ins(%0 : T0) outs(%d : TD)"
    got = run_vector(body, [x], np.empty(x.shape, DTYPES[dest]))
    assert np.array_equal(got, want(x))


def test_cast_to_integers_saturates_and_rounds_ties() -> None:
    x = np.array([[0.5, 1.5, 2.5, -0.5, 3e9, -3e9, np.inf, np.nan]], np.float32)
    body = "npu.vcast ins(%0 : T0) outs(%d : TD)"
    got = run_vector(body, [x], np.empty((1, 8), np.int32))
    top, bottom = 2**31 - 1, -(2**31)
    assert got.tolist() == [[0, 2, 2, 0, top, bottom, top, 0]]
    body = 'npu.vcast round "round" ins(%0 : T0) outs(%d : TD)'
    got = run_vector(body, [x], np.empty((1, 8), np.int32))
    assert got.tolist() == [[1, 2, 3, -1, top, bottom, top, 0]]


def mmad_kernel(transpose: str, dtype: str, acc: str, a: str, b: str) -> str:
    """One product of operands in l1, with a fixpipe to gm."""
    types = [f"memref<{s}x{dtype}, #npu.space<{{}}>>" for s in (a, b)]
    gm = [t.format("gm") for t in types]
    l1 = [t.format("l1") for t in types]
    c = f"memref<24x40x{acc}, #npu.space<{{}}>>"
    return f"""
    func.func @k(%a: {gm[0]}, %b: {gm[1]}, %c: {c.format("gm")}) attributes {{npu.core = "cube"}} {{
      %true = arith.constant true
      %false = arith.constant false
      %a1 = npu.alloc : {l1[0]}
      %b1 = npu.alloc : {l1[1]}
      %acc = npu.alloc : {c.format("l0c")}
      npu.load ins(%a : {gm[0]}) outs(%a1 : {l1[0]})
      npu.load ins(%b : {gm[1]}) outs(%b1 : {l1[1]})
      npu.mmad {transpose} ins(%a1, %b1 : {l1[0]}, {l1[1]}) init %true outs(%acc : {c.format("l0c")}) l0 [16]
      npu.mmad {transpose} ins(%a1, %b1 : {l1[0]}, {l1[1]}) init %false outs(%acc : {c.format("l0c")}) l0 [16]
      npu.fixpipe ins(%acc : {c.format("l0c")}) outs(%c : {c.format("gm")})
      func.return
    }}"""  # noqa: E501


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i8"])
@pytest.mark.parametrize("a_transpose", [False, True])
@pytest.mark.parametrize("b_transpose", [False, True])
def test_mmad_of_every_type_and_transpose(dtype: str, a_transpose: bool, b_transpose: bool) -> None:
    a, b = (normal(24, 32) * 10).astype(DTYPES[dtype]), (normal(32, 40) * 10).astype(DTYPES[dtype])
    acc = "i32" if dtype == "i8" else "f32"
    words = ["a_transpose"] * a_transpose + ["b_transpose"] * b_transpose
    text = mmad_kernel(
        " ".join(words),
        dtype,
        acc,
        "32x24" if a_transpose else "24x32",
        "40x32" if b_transpose else "32x40",
    )
    c = np.empty((24, 40), DTYPES[acc])
    arrays = [
        np.ascontiguousarray(a.T) if a_transpose else a,
        np.ascontiguousarray(b.T) if b_transpose else b,
    ]
    run_kernel(kernel(text), [*arrays, c])
    exact = 2 * (a.astype(np.float64) @ b.astype(np.float64))
    np.testing.assert_allclose(c, exact, rtol=1e-5, atol=1e-2 if acc == "f32" else 0)


def test_overlapping_placement_corrupts() -> None:
    arrays = [normal(200, 160, dtype="f16"), normal(160, 96, dtype="f16"), normal(96)]
    good, bad = np.empty((200, 96), np.float16), np.empty((200, 96), np.float16)
    run_kernel(kernel(MATMUL), [*arrays, good])
    text = replaced(MATMUL, "%bias1 = npu.alloc at 65536", "%bias1 = npu.alloc at 4096")
    run_kernel(kernel(text), [*arrays, bad])
    assert not np.array_equal(good, bad)


def test_buffers_one_after_the_other_may_share_bytes() -> None:
    x, y = normal(48, 200), np.empty((48, 200), np.float32)
    shared = np.empty_like(y)
    run_kernel(kernel(SOFTMAX), [x, y])
    run_kernel(
        kernel(replaced(SOFTMAX, "%m = npu.alloc at 0 ", "%m = npu.alloc at 32 ")), [x, shared]
    )
    assert np.array_equal(y, shared)


def test_a_source_that_overlaps_the_destination_is_refused() -> None:
    text = replaced(SOFTMAX, "%s = npu.alloc at 32 ", "%s = npu.alloc at 2048 ")
    with pytest.raises(SimulationError, match=r"npu.vreduce.*overlaps the destination"):
        run_kernel(kernel(text), [normal(48, 200), np.empty((48, 200), np.float32)])


def test_in_place_needs_the_identical_view() -> None:
    left = "memref<4x24xf32, strided<[32, 1]>, #npu.space<ub>>"
    right = "memref<4x24xf32, strided<[32, 1], offset: 8>, #npu.space<ub>>"
    body = f"""
    %a = memref.subview %0[0, 0] [4, 24] [1, 1] : T0 to {left}
    %b = memref.subview %0[0, 8] [4, 24] [1, 1] : T0 to {right}
    npu.vexp ins(%a : {left}) outs(%b : {right})
    """
    with pytest.raises(SimulationError, match="overlaps the destination"):
        run_vector(body, [normal(4, 32)], np.empty((4, 32), np.float32))
    transposed = "npu.vtranspose ins(%0 : T0) outs(%0 : T0) permutation [1, 0]"
    with pytest.raises(SimulationError, match="writes what it reads"):
        run_vector(transposed, [normal(4, 4)], np.empty((4, 4), np.float32))


def test_parts_of_a_buffer_that_do_not_overlap_are_independent() -> None:
    left = "memref<4x16xf32, strided<[32, 1]>, #npu.space<ub>>"
    right = "memref<4x16xf32, strided<[32, 1], offset: 16>, #npu.space<ub>>"
    body = f"""
    %a = memref.subview %0[0, 0] [4, 16] [1, 1] : T0 to {left}
    %b = memref.subview %0[0, 16] [4, 16] [1, 1] : T0 to {right}
    npu.vadd ins(%a, %b : {left}, {right}) outs(%a : {left})
    npu.vreduce "sum" ins(%a : {left}) outs(%d : TD) dims [1]
    """
    x = normal(4, 32)
    got = run_vector(body, [x], np.empty((4, 1), np.float32))
    np.testing.assert_allclose(got, x.sum(1, keepdims=True), rtol=1e-5)


def test_scratch_is_spoiled() -> None:
    body = """
    npu.vreduce "sum" ins(%0 : T0) outs(%d : TD) dims [1] temp(%1 : T1)
    npu.vadd ins(%d, %1 : TD, T1) outs(%d : TD)
    """
    got = run_vector(body, [normal(4, 8), normal(4, 1)], np.empty((4, 1), np.float32))
    assert np.isnan(got).all()


def test_an_error_names_the_operator_and_the_block() -> None:
    text = replaced(RELU, "%c16 = arith.constant 16", "%c16 = arith.constant 17")
    with pytest.raises(SimulationError, match=r"memref.subview.* in block \d+"):
        run_kernel(kernel(text), [normal(250, 300), np.empty((250, 300), np.float32)])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ([np.zeros((250, 300), np.float32)], "1 arrays for 2 arguments"),
        ([np.zeros((250, 300), np.float32)] * 3, "3 arrays for 2 arguments"),
        ([np.zeros((250, 300)), np.zeros((250, 300), np.float32)], r"float64\[250, 300\]"),
        ([np.zeros((250, 301), np.float32)] * 2, r"give float32\[250, 300\]"),
        ([np.zeros((300, 250), np.float32).T] * 2, "not contiguous"),
    ],
)
def test_wrong_arguments(arrays: list[Array], message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        run_kernel(kernel(RELU), arrays)


def test_tap_sees_every_named_value() -> None:
    seen: dict[tuple[str, str, int], int] = {}

    def tap(name: str, value: str, block: int, array: Array) -> None:
        seen[name, value, block] = seen.get((name, value, block), 0) + array.size

    x, y = normal(48, 200), np.empty((48, 200), np.float32)
    tapped = np.empty_like(y)
    run_kernel(kernel(SOFTMAX), [x, y])
    run_kernel(kernel(SOFTMAX), [x, tapped], tap=tap)
    assert np.array_equal(y, tapped)
    assert {key[1] for key in seen} == {"u", "m", "s", "out"}
    assert seen["softmax", "out", 0] == seen["softmax", "out", 1] == 24 * 200
    assert seen["softmax", "m", 0] == 24


def test_uninitialised_memory_reads_as_nan() -> None:
    body = "npu.vexp ins(%0 : T0) outs(%0 : T0)"
    got = run_vector(body, [normal(4, 8)], np.zeros((4, 8), np.float32))
    assert np.isnan(got).all()
