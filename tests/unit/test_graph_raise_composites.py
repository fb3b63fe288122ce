"""Raising activations, RMS, group and instance norm, rotary embedding and masked attention, by
numbers, in float32 and float16, and their way back by graph-fuse.
"""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from graph_modules import apply, assert_close, operators, random_inputs, run
from spelled_modules import module_of
from vector_regions import tensor

VIEWS = {"reshape", "transpose", "slice", "where"}

X = ("%x: T", "T")
ACTIVATIONS: dict[str, tuple[str, str]] = {
    "swish": (
        "swish",
        "%1 = graph.sigmoid %x : T -> T\n%y = graph.mul %1, %x : (T, T) -> T",
    ),
    "quick gelu": (
        "swish",
        "%1 = graph.mul %a, %x : (S, T) -> T\n%2 = graph.sigmoid %1 : T -> T\n"
        "%y = graph.mul %x, %2 : (T, T) -> T",
    ),
    "swish by exp": (
        "swish",
        "%1 = graph.neg %x : T -> T\n%2 = graph.exp %1 : T -> T\n"
        "%3 = graph.add %one, %2 : (S, T) -> T\n%y = graph.div %x, %3 : (T, T) -> T",
    ),
    "sigmoid by exp": (
        "sigmoid",
        "%1 = graph.neg %x : T -> T\n%2 = graph.exp %1 : T -> T\n"
        "%3 = graph.add %2, %one : (T, S) -> T\n%y = graph.reciprocal %3 : T -> T",
    ),
    "hard sigmoid": (
        "hard_sigmoid",
        "%1 = graph.mul %x, %a : (T, S) -> T\n%2 = graph.add %1, %half : (T, S) -> T\n"
        "%y = graph.clip %2 {min = 0.0, max = 1.0} : T -> T",
    ),
    "hard sigmoid by relu6": (
        "hard_sigmoid",
        "%1 = graph.add %x, %three : (T, S) -> T\n%2 = graph.relu %1 : T -> T\n"
        "%3 = graph.min %2, %six : (T, S) -> T\n%y = graph.div %3, %six : (T, S) -> T",
    ),
    "hard swish": (
        "hard_swish",
        "%1 = graph.add %x, %three : (T, S) -> T\n"
        "%2 = graph.clip %1 {min = 0.0, max = 6.0} : T -> T\n"
        "%3 = graph.div %2, %six : (T, S) -> T\n%y = graph.mul %x, %3 : (T, T) -> T",
    ),
    "hard swish, divided last": (
        "hard_swish",
        "%1 = graph.add %x, %three : (T, S) -> T\n"
        "%2 = graph.clip %1 {min = 0.0, max = 6.0} : T -> T\n"
        "%3 = graph.mul %x, %2 : (T, T) -> T\n%y = graph.div %3, %six : (T, S) -> T",
    ),
    "softplus": (
        "softplus",
        "%1 = graph.exp %x : T -> T\n%2 = graph.add %1, %one : (T, S) -> T\n"
        "%y = graph.log %2 : T -> T",
    ),
    "softplus with threshold": (
        "softplus",
        "%1 = graph.abs %x : T -> T\n%2 = graph.neg %1 : T -> T\n%3 = graph.exp %2 : T -> T\n"
        "%4 = graph.add %3, %one : (T, S) -> T\n%5 = graph.log %4 : T -> T\n"
        "%6 = graph.relu %x : T -> T\n%7 = graph.add %6, %5 : (T, T) -> T\n"
        "%8 = graph.greater %x, %twenty : (T, S) -> B\n"
        "%y = graph.where %8, %x, %7 : (B, T, T) -> T",
    ),
    "mish": (
        "mish",
        "%1 = graph.exp %x : T -> T\n%2 = graph.add %1, %one : (T, S) -> T\n"
        "%3 = graph.log %2 : T -> T\n%4 = graph.tanh %3 : T -> T\n"
        "%y = graph.mul %x, %4 : (T, T) -> T",
    ),
    "mish without logarithm": (
        "mish",
        "%1 = graph.min %x, %twenty : (T, S) -> T\n%2 = graph.exp %1 : T -> T\n"
        "%3 = graph.add %2, %two : (T, S) -> T\n%4 = graph.mul %2, %3 : (T, T) -> T\n"
        "%5 = graph.add %4, %two : (T, S) -> T\n%6 = graph.div %4, %5 : (T, T) -> T\n"
        "%y = graph.mul %x, %6 : (T, T) -> T",
    ),
    "leaky relu by a choice": (
        "leaky_relu",
        "%1 = graph.less %x, %zero : (T, S) -> B\n%2 = graph.mul %x, %a : (T, S) -> T\n"
        "%y = graph.where %1, %2, %x : (B, T, T) -> T",
    ),
    "leaky relu by max": (
        "leaky_relu",
        "%1 = graph.mul %x, %half : (T, S) -> T\n%y = graph.max %1, %x : (T, T) -> T",
    ),
    "prelu of TensorFlow": (
        "leaky_relu",
        "%1 = graph.relu %x : T -> T\n%2 = graph.neg %x : T -> T\n%3 = graph.relu %2 : T -> T\n"
        "%4 = graph.mul %a, %3 : (S, T) -> T\n%y = graph.sub %1, %4 : (T, T) -> T",
    ),
    "relu": ("relu", "%y = graph.max %x, %zero : (T, S) -> T"),
    "relu6": (
        "clip",
        "%1 = graph.relu %x : T -> T\n%y = graph.min %six, %1 : (S, T) -> T",
    ),
}


def check(module: ModuleOp, expected: str, tolerance: float, exact: float = 1e-7) -> None:
    """The operator is found, and neither it nor its way back changes the numbers."""
    inputs = random_inputs(module, 3)
    before, oracle = run(module, inputs), run(module, inputs, oracle=True)
    apply(module, "graph-raise")
    found = [n for n in operators(module) if n not in VIEWS]
    assert found == [expected]
    for _ in ("raised", "fused"):
        assert_close(run(module, inputs, oracle=True), oracle, exact)
        assert_close(run(module, inputs), before, tolerance)
        apply(module, "graph-fuse{objective=kernels}")


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("shape", [(3, 8), (2, 1, 5, 7), ()])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str, shape: tuple[int, ...], element: str) -> None:
    expected, body = ACTIVATIONS[name]
    names = {"T": tensor(shape, element), "S": f"tensor<{element}>", "B": tensor(shape, "i1")}
    check(module_of(X, body, names), expected, 3e-6 if element == "f32" else 4e-3)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_second_user_of_an_inner_value_keeps_the_spelling(name: str) -> None:
    """The value inside is an output too, so it is needed all the same."""
    _, body = ACTIVATIONS[name]
    if "%1 =" not in body:
        pytest.skip("nothing inside")
    names = {"T": tensor((3, 8), "f32"), "S": "tensor<f32>", "B": tensor((3, 8), "i1")}
    kind = "B" if "-> B" in body.split("\n")[0] else "T"
    module = module_of(X, body, names, also=f"%1 {kind}")
    inputs = random_inputs(module, 3)
    before = run(module, inputs)
    apply(module, "graph-raise")
    assert_close(run(module, inputs), before, 3e-6)
    raised = ACTIVATIONS[name][0]
    inner = {"relu", "sigmoid", "hard_sigmoid", "softplus", "clip", "leaky_relu"}
    assert raised in inner or raised not in operators(module)


RMS = {
    "product with the root's reciprocal": "%1 = graph.pow %x, %two : (T, S) -> T\n"
    "%2 = graph.reduce_mean %1 {axes = [-1]} : T -> R\n%3 = graph.add %2, %eps : (R, S) -> R\n"
    "%4 = graph.sqrt %3 : R -> R\n%5 = graph.reciprocal %4 : R -> R\n"
    "%6 = graph.mul %x, %5 : (T, R) -> T\n%y = graph.mul %w, %6 : (W, T) -> T",
    "quotient": "%1 = graph.mul %x, %x : (T, T) -> T\n"
    "%2 = graph.reduce_mean %1 {axes = [-1]} : T -> R\n%3 = graph.add %eps, %2 : (S, R) -> R\n"
    "%4 = graph.sqrt %3 : R -> R\n%5 = graph.div %x, %4 : (T, R) -> T\n"
    "%y = graph.mul %5, %w : (T, W) -> T",
    "power": "%1 = graph.mul %x, %x : (T, T) -> T\n"
    "%2 = graph.reduce_mean %1 {axes = [-1]} : T -> R\n%3 = graph.add %2, %eps : (R, S) -> R\n"
    "%m = graph.constant dense<-0.5> : S\n%4 = graph.pow %3, %m : (R, S) -> R\n"
    "%5 = graph.mul %x, %4 : (T, R) -> T\n%y = graph.mul %5, %w : (T, W) -> T",
    "no scale": "%1 = graph.mul %x, %x : (T, T) -> T\n"
    "%2 = graph.reduce_mean %1 {axes = [-1]} : T -> R\n%3 = graph.add %2, %eps : (R, S) -> R\n"
    "%4 = graph.sqrt %3 : R -> R\n%y = graph.div %x, %4 : (T, R) -> T",
}


@pytest.mark.parametrize("shape", [(3, 8), (2, 1, 5, 7), (8,)])
@pytest.mark.parametrize("name", RMS)
def test_rms_norm(name: str, shape: tuple[int, ...]) -> None:
    names = {
        "T": tensor(shape, "f32"),
        "R": tensor((*shape[:-1], 1), "f32"),
        "W": tensor(shape[-1:], "f32"),
        "S": "tensor<f32>",
    }
    check(module_of(("%x: T, %w: W", "T"), RMS[name], names), "rms_normalization", 2e-6)


def test_rms_norm_between_casts() -> None:
    """float16 in and out, float32 inside, the scale in float16: 400 squared does not overflow."""
    body = "%0 = graph.cast %x {to = f32} : H -> T\n" + RMS["quotient"].replace("%x", "%0")
    body = body.replace(
        "%y = graph.mul %5, %w : (T, W) -> T",
        "%6 = graph.cast %5 {to = f16} : T -> H\n%y = graph.mul %6, %w : (H, W) -> H",
    )
    names = {
        "T": tensor((3, 8), "f32"),
        "H": tensor((3, 8), "f16"),
        "R": tensor((3, 1), "f32"),
        "W": tensor((8,), "f16"),
        "S": "tensor<f32>",
    }
    module = module_of(("%x: H, %w: W", "H"), body, names)
    inputs = random_inputs(module, 1)
    inputs["0"] = (inputs["0"] * 400).astype(np.float16)
    before, oracle = run(module, inputs), run(module, inputs, oracle=True)
    apply(module, "graph-raise")
    assert operators(module) == ["rms_normalization"]
    assert_close(run(module, inputs), before, 2e-3)
    apply(module, "graph-fuse")
    assert_close(run(module, inputs), oracle, 2e-3)


STANDARD = (
    "%1 = graph.reduce_mean %g {axes = A} : G -> R\n%2 = graph.sub %g, %1 : (G, R) -> G\n"
    "%3 = graph.mul %2, %2 : (G, G) -> G\n%4 = graph.reduce_mean %3 {axes = A} : G -> R\n"
    "%5 = graph.add %4, %eps : (R, S) -> R\n%6 = graph.sqrt %5 : R -> R\n"
    "%7 = graph.div %2, %6 : (G, R) -> G\n"
)
AFFINE = "%8 = graph.mul %n, %w : (T, W) -> T\n%y = graph.add %8, %b : (T, W) -> T"


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("merged", [True, False])
def test_group_norm(groups: int, merged: bool, element: str) -> None:
    shape = (2, 6, 3, 5)
    tail = (6 // groups * 15,) if merged else (6 // groups, 3, 5)
    axes = str(list(range(2, 2 + len(tail))))
    body = "%g = graph.reshape %x : T -> G\n" + STANDARD.replace("A", axes)
    body += "%n = graph.reshape %7 : G -> T\n" + AFFINE
    names = {
        "T": tensor(shape, element),
        "G": tensor((2, groups, *tail), element),
        "R": tensor((2, groups, *(1,) * len(tail)), element),
        "W": tensor((6, 1, 1), element),
        "S": f"tensor<{element}>",
    }
    module = module_of(("%x: T, %w: W, %b: W", "T"), body, names)
    check(module, "group_normalization", 3e-6 if element == "f32" else 8e-3)
    assert "group_normalization" not in operators(module)


def test_instance_norm() -> None:
    body = STANDARD.replace("A", "[2, 3]").replace("%g", "%x").replace("%7", "%n") + AFFINE
    names = {
        "T": tensor((2, 6, 3, 5), "f32"),
        "G": tensor((2, 6, 3, 5), "f32"),
        "R": tensor((2, 6, 1, 1), "f32"),
        "W": tensor((1, 6, 1, 1), "f32"),
        "S": "tensor<f32>",
    }
    module = module_of(("%x: T, %w: W, %b: W", "T"), body, names)
    check(module, "group_normalization", 3e-6)


@pytest.mark.parametrize(
    ("shape", "rows"), [((2, 3, 5, 8), (2, 1, 5, 8)), ((5, 6), (5, 6)), ((4, 8), (1,))]
)
def test_rotary_embedding_changes_no_bit(shape: tuple[int, ...], rows: tuple[int, ...]) -> None:
    middle, axis = shape[-1] // 2, len(shape) - 1
    ends = f"axes = [{axis}], steps = [1]"
    body = (
        f"%1 = graph.slice %x {{starts = [0], ends = [{middle}], {ends}}} : T -> H\n"
        f"%2 = graph.slice %x {{starts = [{middle}], ends = [999], {ends}}} : T -> H\n"
        "%3 = graph.neg %2 : H -> H\n%4 = graph.concat %3, %1 {axis = -1} : (H, H) -> T\n"
        "%5 = graph.mul %x, %c : (T, W) -> T\n%6 = graph.mul %4, %s : (T, W) -> T\n"
        "%y = graph.add %6, %5 : (T, T) -> T"
    )
    names = {
        "T": tensor(shape, "f32"),
        "H": tensor((*shape[:-1], middle), "f32"),
        "W": tensor(rows, "f32"),
        "S": "tensor<f32>",
    }
    module = module_of(("%x: T, %c: W, %s: W", "T"), body, names)
    inputs = random_inputs(module, 2)
    before = run(module, inputs)
    apply(module, "graph-raise")
    assert "neg" not in operators(module)
    assert run(module, inputs)[0].tobytes() == before[0].tobytes()


ATTENTION = {
    "scale on both": "%1 = graph.mul %q, %half : (T, S) -> T\n"
    "%t = graph.transpose %k {perm = [0, 1, 3, 2]} : T -> K\n"
    "%2 = graph.mul %t, %half : (K, S) -> K\n%3 = graph.matmul %1, %2 : (T, K) -> P\n"
    "%4 = graph.softmax %3 : P -> P\n%y = graph.matmul %4, %v : (P, T) -> T",
    "scale on q, additive mask": "%1 = graph.div %q, %two : (T, S) -> T\n"
    "%t = graph.transpose %k {perm = [0, 1, 3, 2]} : T -> K\n"
    "%3 = graph.matmul %1, %t : (T, K) -> P\n%5 = graph.add %m, %3 : (M, P) -> P\n"
    "%4 = graph.softmax %5 : P -> P\n%y = graph.matmul %4, %v : (P, T) -> T",
    "choice of -inf": "%t = graph.transpose %k {perm = [0, 1, 3, 2]} : T -> K\n"
    "%3 = graph.matmul %q, %t : (T, K) -> P\n%5 = graph.mul %3, %a : (P, S) -> P\n"
    '%i = graph.constant dense<"0x000080FF"> : S\n%l = graph.greater %m, %zero : (M, S) -> B\n'
    "%6 = graph.where %l, %i, %5 : (B, S, P) -> P\n"
    "%4 = graph.softmax %6 : P -> P\n%y = graph.matmul %4, %v : (P, T) -> T",
    "choice of the lowest number": "%t = graph.transpose %k {perm = [0, 1, 3, 2]} : T -> K\n"
    "%3 = graph.matmul %q, %t : (T, K) -> P\n"
    '%i = graph.constant dense<"0xFFFF7FFF"> : S\n%l = graph.less %m, %two : (M, S) -> B\n'
    "%6 = graph.where %l, %3, %i : (B, P, S) -> P\n"
    "%4 = graph.softmax %6 : P -> P\n%y = graph.matmul %4, %v : (P, T) -> T",
}


@pytest.mark.parametrize("name", ATTENTION)
def test_attention(name: str) -> None:
    names = {
        "T": tensor((2, 3, 5, 8), "f32"),
        "K": tensor((2, 3, 8, 5), "f32"),
        "P": tensor((2, 3, 5, 5), "f32"),
        "M": tensor((2, 1, 5, 5), "f32"),
        "B": tensor((2, 1, 5, 5), "i1"),
        "S": "tensor<f32>",
    }
    module = module_of(("%q: T, %k: T, %v: T, %m: M", "T"), ATTENTION[name], names)
    inputs = random_inputs(module, 3)
    inputs["3"][..., 0] = 0.0
    before, oracle = run(module, inputs), run(module, inputs, oracle=True)
    apply(module, "graph-raise")
    found = operators(module)
    assert "attention" in found and "softmax" not in found and "mul" not in found
    assert_close(run(module, inputs, oracle=True), oracle, 1e-12)
    assert_close(run(module, inputs), before, 2e-6)


def test_a_small_masked_score_is_not_taken_for_minus_infinity() -> None:
    """-1e4 does not swallow what is added to it: a row that is masked altogether would differ."""
    body = ATTENTION["choice of -inf"].replace('dense<"0x000080FF">', "dense<-10000.0>")
    names = {
        "T": tensor((1, 1, 4, 8), "f32"),
        "K": tensor((1, 1, 8, 4), "f32"),
        "P": tensor((1, 1, 4, 4), "f32"),
        "M": tensor((1, 1, 4, 4), "f32"),
        "B": tensor((1, 1, 4, 4), "i1"),
        "S": "tensor<f32>",
    }
    module = module_of(("%q: T, %k: T, %v: T, %m: M", "T"), body, names)
    apply(module, "graph-raise")
    assert "attention" not in operators(module)
