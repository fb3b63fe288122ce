"""Weights outside of the text: what each is for, seeded values, and files that hold them."""

from pathlib import Path

import numpy as np
import pytest
from ml_dtypes import bfloat16
from safetensors.numpy import save

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.frontend import import_onnx
from fusec.frontends.stores import open_store
from fusec.semantics.weights import Role, WeightStore, seeded_input
from graph_modules import parse
from onnx_text import graph

ONES = np.ones(1, np.float32)


def store(**shapes: tuple[tuple[int, ...], Role]) -> WeightStore:
    weights = WeightStore(roles={name: role for name, (_, role) in shapes.items()})
    for name, (shape, _) in shapes.items():
        weights.fill(name, shape, ONES)
    return weights


def test_a_repeated_number_takes_no_memory() -> None:
    weights = store(w=((4096, 4096), Role()))
    assert weights["w"].nbytes == 1 << 26 and not any(weights["w"].strides)


def test_seeded_values_follow_the_recipe() -> None:
    weights = store(
        matrix=((300, 400), Role("matrix", 400)),
        filter=((64, 32, 3, 3), Role("matrix", 288, 1.5)),
        scale=((4000,), Role("scale")),
        vector=((4000,), Role()),
    )
    seeded = weights.seeded(7)
    assert seeded.repeated == set() and set(seeded) == set(weights)
    for name, deviation in (("matrix", 400**-0.5), ("filter", 1.5 * 288**-0.5), ("vector", 0.1)):
        assert abs(float(seeded[name].mean())) < 5 * deviation / seeded[name].size ** 0.5
        assert float(seeded[name].std()) == pytest.approx(deviation, rel=0.05)
    scale = seeded["scale"]
    assert 0.5 <= scale.min() < 0.51 and 1.49 < scale.max() < 1.5
    assert float(scale.mean()) == pytest.approx(1.0, abs=0.02)


def test_seeded_values_depend_on_the_seed_and_the_name_alone() -> None:
    one = store(a=((50,), Role()), b=((50,), Role())).seeded(1)
    other = store(b=((50,), Role()), c=((50,), Role())).seeded(1)
    assert np.array_equal(one["b"], other["b"])
    assert not np.array_equal(one["a"], one["b"])
    assert not np.array_equal(one["b"], store(b=((50,), Role())).seeded(2)["b"])


def test_only_floating_repeated_numbers_are_drawn() -> None:
    weights = WeightStore({"real": np.arange(3, dtype=np.float32)})
    weights.fill("indices", (4,), np.array([7], np.int64))
    weights.fill("narrow", (1000,), np.ones(1, bfloat16))
    seeded = weights.seeded(0)
    assert np.array_equal(seeded["real"], [0, 1, 2]) and np.array_equal(seeded["indices"], [7] * 4)
    assert seeded["narrow"].dtype == bfloat16 and len(set(seeded["narrow"].tolist())) > 100


def test_seeded_inputs() -> None:
    floats = seeded_input("x", 0, (1000,), np.dtype(np.float16))
    assert floats.dtype == np.float16 and 0.9 < float(floats.astype(np.float32).std()) < 1.1
    indices = seeded_input("i", 0, (1000,), np.dtype(np.int64), 5)
    assert set(indices.tolist()) == {0, 1, 2, 3, 4}
    assert set(seeded_input("b", 0, (100,), np.dtype(np.bool_)).tolist()) == {True, False}
    assert set(seeded_input("n", 0, (100,), np.dtype(np.int32)).tolist()) == {0, 1}


# Roles, from the uses of each weight.


def roles(body: str, **shapes: tuple[int, ...]) -> dict[str, Role]:
    names = ", ".join(
        f"int64[{len(shape)}] {name}_shape = {{{', '.join(map(str, shape))}}}"
        for name, shape in shapes.items()
    )
    filled = "\n".join(f"{name} = ConstantOfShape({name}_shape)" for name in shapes)
    text = f"g (float[2,8,16,16] x, float[2,8] m) => (float[n] y) <{names}> {{ {filled}\n {body} }}"
    return import_onnx(graph(text).SerializeToString())[1].roles


@pytest.mark.parametrize(
    ("body", "shape", "expected"),
    [
        ("y = Conv(x, w)", (4, 8, 3, 3), Role("matrix", 72)),
        ("y = Conv<group = 8>(x, w)", (8, 1, 3, 3), Role("matrix", 9)),
        ("y = MatMul(m, w)", (8, 5), Role("matrix", 8)),
        ("y = MatMul(w, x)", (2, 8, 5, 16), Role("matrix", 16)),
        ("y = Gemm(m, w)", (8, 5), Role("matrix", 8)),
        ("y = Gemm<transB = 1>(m, w)", (5, 8), Role("matrix", 8)),
        ("t = Transpose<perm = [1, 0]>(w)\ny = MatMul(m, t)", (5, 8), Role("matrix", 8)),
        ("t = Transpose(w)\ni = Identity(t)\ny = MatMul(m, i)", (5, 8), Role("matrix", 8)),
        ("y = BatchNormalization(x, w, w, w, w)", (8,), Role("scale")),
        ("y = LayerNormalization(x, w)", (16,), Role("scale")),
        ("s = Sqrt(m)\nd = Div(m, s)\ny = Mul(w, d)", (8,), Role("scale")),
        ("s = Sqrt(m)\nr = Reciprocal(s)\nd = Mul(m, r)\ny = Mul(d, w)", (8,), Role("scale")),
        ("y = Mul(m, w)", (8,), None),
        ("y = Add(m, w)", (8,), None),
        ("y = Add(m, w)", (1, 8), None),
    ],
)
def test_roles(body: str, shape: tuple[int, ...], expected: Role | None) -> None:
    assert roles(body, w=shape).get("w") == expected


def test_norm_variances_are_scales_and_means_are_not() -> None:
    shapes = dict.fromkeys(("s", "b", "mean", "var"), (8,))
    found = roles("y = BatchNormalization(x, s, b, mean, var)", **shapes)
    assert found == {"s": Role("scale"), "var": Role("scale")}


def test_norms_in_front_of_a_shortcut_have_less_gain() -> None:
    """The scale alone; else the signal of a residual network grows without end."""
    shapes = dict.fromkeys(("s", "b", "mean", "var"), (8,))
    for kind in ("Add", "Sum"):
        found = roles(f"n = BatchNormalization(x, s, b, mean, var)\ny = {kind}(x, n)", **shapes)
        assert found == {"s": Role("scale", gain=0.25), "var": Role("scale")}
    store = WeightStore(roles=found)
    store.fill("s", (4000,), np.array(1, np.float32))
    drawn = store.seeded(0)["s"]
    assert 0.125 <= drawn.min() < 0.13 and 0.37 < drawn.max() < 0.375


def test_convolutions_of_silu_networks_have_more_gain() -> None:
    body = "c = Conv(x, w)\ns = Sigmoid(c)\na = Mul(s, c)\nr = MatMul(m, v)\ny = Identity(a)"
    found = roles(body, w=(8, 8, 1, 1), v=(8, 5))
    assert found["w"] == Role("matrix", 8, 1.5) and found["v"] == Role("matrix", 8, 1.0)
    gated = body.replace("Mul(s, c)", "Mul(s, x)")
    assert roles(gated, w=(8, 8, 1, 1), v=(8, 5))["w"] == Role("matrix", 8, 1.0)


def test_the_first_use_that_says_more_counts() -> None:
    assert roles("a = Add(m, w)\ny = Mul(w, a)", w=(8,)) == {}
    norm = "a = Add(m, w)\ny = BatchNormalization(x, w, w, w, w)"
    assert roles(norm, w=(8,)) == {"w": Role("scale")}


# Files that a module of text names.


def test_no_source_is_an_empty_store(tmp_path: Path) -> None:
    assert len(open_store(parse("builtin.module {}"), tmp_path)) == 0


def source(name: str) -> str:
    return f'builtin.module attributes {{graph.source = "{name}"}} {{}}'


def test_safetensors_are_mapped(tmp_path: Path) -> None:
    arrays = {
        "f": np.arange(6, dtype=np.float32).reshape(2, 3),
        "h": np.arange(3, dtype=np.float16),
        "i": np.array(7, np.int64),
        "b": np.array([True, False]),
        "e": np.zeros((0, 4), np.float32),
        "n": np.arange(3).astype(bfloat16),
    }
    (tmp_path / "w.safetensors").write_bytes(save(arrays, {"made": "here"}))
    found = open_store(parse(source("w.safetensors")), tmp_path)
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert np.array_equal(found[name], array)
        assert not found[name].flags.owndata and not found[name].flags.writeable


def test_onnx_models_as_stores(tmp_path: Path) -> None:
    text = "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }"
    (tmp_path / "m.onnx").write_bytes(graph(text).SerializeToString())
    found = open_store(parse(source("m.onnx")), tmp_path)
    assert np.array_equal(found["w"], [1, 2])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "the weights of this module are in 'w.safetensors', which does not exist"),
        (b"", "w.safetensors' is not a safetensors file"),
        (b"\xff" * 40, "w.safetensors' is not a safetensors file"),
        (b"\x08\0\0\0\0\0\0\0{}      ", ""),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "w.safetensors").write_bytes(content)
    if not message:
        assert len(open_store(parse(source("w.safetensors")), tmp_path)) == 0
        return
    with pytest.raises(ImportFailure) as caught:
        open_store(parse(source("w.safetensors")), tmp_path)
    assert message in str(caught.value)


def test_a_file_cut_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    data = save({"w": np.ones(5, np.float32)})
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(ImportFailure, match="is not a safetensors file"):
            open_store(parse(source("w.safetensors")), tmp_path)
