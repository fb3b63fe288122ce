"""graph-simplify on pools, convolutions, reductions, arithmetic and casts: same bits, and which
operators stay.
"""

import pytest

from graph_modules import apply, assert_same_bits, operators, parse, random_inputs, run
from simplify_check import Case, check_simplified, module_of

X = "tensor<2x6x4xf32>"
IMAGE, WIDE = "tensor<1x2x5x6xf32>", "tensor<1x2x7x8xf32>"
PADS = "pads = [0, 0, 1, 1, 0, 0, 1, 1]"
POOL = "kernel_shape = [3, 3], strides = [1, 1], dilations = [1, 1]"
MINUS = "value = 0xFFF0000000000000 : f64"

CASES: dict[str, Case] = {
    "max pool of a pad of -inf": (
        IMAGE,
        f"%1 = graph.pad %x {{{PADS}, {MINUS}}} : {IMAGE} -> {WIDE}\n"
        f"%y = graph.max_pool %1 {{{POOL}, pads = [0, 0, 0, 0]}} : {WIDE} -> {IMAGE}\n",
        IMAGE,
        ["max_pool"],
    ),
    "max pool of a pad of 0": (
        IMAGE,
        f"%1 = graph.pad %x {{{PADS}}} : {IMAGE} -> {WIDE}\n"
        f"%y = graph.max_pool %1 {{{POOL}, pads = [0, 0, 0, 0]}} : {WIDE} -> {IMAGE}\n",
        IMAGE,
        ["pad", "max_pool"],
    ),
    "average pool of a pad": (
        IMAGE,
        f"%1 = graph.pad %x {{{PADS}}} : {IMAGE} -> {WIDE}\n"
        f"%y = graph.average_pool %1 {{{POOL}, pads = [0, 0, 0, 0]}} : {WIDE} -> {IMAGE}\n",
        IMAGE,
        ["average_pool"],
    ),
    "average pool that has uncounted padding": (
        IMAGE,
        f"%1 = graph.pad %x {{{PADS}}} : {IMAGE} -> {WIDE}\n"
        f"%y = graph.average_pool %1 {{{POOL}, pads = [1, 1, 1, 1]}} : {WIDE} -> {WIDE}\n",
        WIDE,
        ["pad", "average_pool"],
    ),
    "reduction that keeps its axes": (
        X,
        f"%1 = graph.reduce_sum %x {{axes = [1], keepdims = false}} : {X} -> tensor<2x4xf32>\n"
        "%y = graph.unsqueeze %1 {axes = [1]} : tensor<2x4xf32> -> tensor<2x1x4xf32>\n",
        "tensor<2x1x4xf32>",
        ["reduce_sum"],
    ),
    "reduction of single elements": (
        "tensor<2x1x4xf32>",
        "%y = graph.reduce_max %x {axes = [1], keepdims = false} "
        ": tensor<2x1x4xf32> -> tensor<2x4xf32>\n",
        "tensor<2x4xf32>",
        ["reshape"],
    ),
    "axes counted from either end": (
        X,
        f"%1 = graph.reduce_max %x {{axes = [-1]}} : {X} -> tensor<2x6x1xf32>\n"
        f"%2 = graph.reduce_max %x {{axes = [2]}} : {X} -> tensor<2x6x1xf32>\n"
        "%y = graph.sub %1, %2 : (tensor<2x6x1xf32>, tensor<2x6x1xf32>) -> tensor<2x6x1xf32>\n",
        "tensor<2x6x1xf32>",
        ["reduce_max", "sub"],
    ),
    "operands the other way round": (
        X,
        f"%1 = graph.exp %x : {X} -> {X}\n%2 = graph.add %x, %1 : ({X}, {X}) -> {X}\n"
        f"%3 = graph.add %1, %x : ({X}, {X}) -> {X}\n%y = graph.div %2, %3 : ({X}, {X}) -> {X}\n",
        X,
        ["exp", "add", "div"],
    ),
    "operands of a difference the other way round": (
        X,
        f"%1 = graph.exp %x : {X} -> {X}\n%2 = graph.sub %x, %1 : ({X}, {X}) -> {X}\n"
        f"%3 = graph.sub %1, %x : ({X}, {X}) -> {X}\n%y = graph.div %2, %3 : ({X}, {X}) -> {X}\n",
        X,
        ["exp", "sub", "sub", "div"],
    ),
    "equal elements of a constant": (
        X,
        "%c = graph.constant dense<2.5> : tensor<6x1xf32>\n"
        f"%y = graph.mul %x, %c : ({X}, tensor<6x1xf32>) -> {X}\n",
        X,
        ["mul"],
    ),
    "ones": (
        X,
        "%c = graph.constant dense<1.0> : tensor<6x1xf32>\n"
        f"%y = graph.mul %c, %x : (tensor<6x1xf32>, {X}) -> {X}\n",
        X,
        [],
    ),
    "ones that make the result larger": (
        "tensor<1x4xf32>",
        "%c = graph.constant dense<1.0> : tensor<6x1xf32>\n"
        "%y = graph.mul %c, %x : (tensor<6x1xf32>, tensor<1x4xf32>) -> tensor<6x4xf32>\n",
        "tensor<6x4xf32>",
        ["mul"],
    ),
    "zeros added": (
        X,
        "%c = graph.constant dense<0.0> : tensor<6x1xf32>\n"
        f"%y = graph.add %c, %x : (tensor<6x1xf32>, {X}) -> {X}\n",
        X,
        ["add"],
    ),
    "clip of clip": (
        X,
        f"%1 = graph.clip %x {{min = -1.0}} : {X} -> {X}\n"
        f"%y = graph.clip %1 {{min = -2.0, max = 0.5}} : {X} -> {X}\n",
        X,
        ["clip"],
    ),
    "clips that do not meet": (
        X,
        f"%1 = graph.clip %x {{min = 1.0}} : {X} -> {X}\n"
        f"%y = graph.clip %1 {{max = 0.5}} : {X} -> {X}\n",
        X,
        ["clip", "clip"],
    ),
    "negated twice": (
        X,
        f"%1 = graph.neg %x : {X} -> {X}\n%y = graph.neg %1 : {X} -> {X}\n",
        X,
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_simplified(name: str) -> None:
    check_simplified(CASES[name])


CONV = "strides = [1, 1], dilations = [1, 1]"


@pytest.mark.parametrize("pads", [(1, 1, 1, 1), (0, 2, 1, 0)])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_pad_of_zeros_becomes_that_of_a_convolution(
    pads: tuple[int, int, int, int], value: float
) -> None:
    top, left, bottom, right = pads
    wide = f"tensor<1x2x{5 + top + bottom}x{6 + left + right}xf32>"
    out = f"tensor<1x3x{4 + top + bottom}x{5 + left + right}xf32>"
    around = f"pads = [0, 0, {top}, {left}, 0, 0, {bottom}, {right}], value = {value}"
    text = (
        f"func.func @main(%x: {IMAGE}, %w: tensor<3x2x4x4xf32>) -> {out} {{\n"
        f"%1 = graph.pad %x {{{around}}} : {IMAGE} -> {wide}\n"
        f"%y = graph.conv %1, %w {{{CONV}, pads = [1, 1, 1, 1]}} "
        f": ({wide}, tensor<3x2x4x4xf32>) -> {out}\nfunc.return %y : {out}\n}}"
    )
    module = parse(text)
    inputs = random_inputs(module)
    before = run(module, inputs, oracle=True)
    apply(module, "graph-simplify")
    assert operators(module) == (["conv"] if value == 0.0 else ["pad", "conv"])
    assert_same_bits(run(module, inputs, oracle=True), before)


CASTS: list[tuple[str, str, str, list[str]]] = [
    ("f16", "f32", "f16", []),
    ("f32", "f16", "f32", ["cast", "cast"]),
    ("bf16", "f32", "f16", ["cast"]),
    ("i32", "i64", "f32", ["cast", "cast"]),
    ("i8", "i64", "f32", ["cast"]),
    ("i64", "i32", "i64", ["cast", "cast"]),
    ("i1", "f32", "i64", ["cast"]),
    ("i32", "f32", "i32", ["cast", "cast"]),
    ("f16", "f32", "i32", ["cast", "cast"]),
    ("f32", "i32", "f32", ["cast", "cast"]),
]


@pytest.mark.parametrize(("first", "middle", "last", "expected"), CASTS)
def test_casts_merge_where_the_first_loses_nothing(
    first: str, middle: str, last: str, expected: list[str]
) -> None:
    a, b, c = (f"tensor<9x{t}>" for t in (first, middle, last))
    body = f"%1 = graph.cast %x {{to = {middle}}} : {a} -> {b}\n"
    body += f"%y = graph.cast %1 {{to = {last}}} : {b} -> {c}\n"
    module = module_of(a, body, c)
    inputs = random_inputs(module, 4)
    before = run(module, inputs)
    apply(module, "graph-simplify")
    assert operators(module) == expected
    assert_same_bits(run(module, inputs), before)
