"""`fusec`: what each command prints and writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_runner import RELU, Fusec
from fusec.accuracy.inputs import seeded_inputs
from fusec.api import load
from fusec.tools.cli.arrays import read_arrays, write_arrays
from networks import conv_net, dynamic_batch, embedding, perceptron

KEYS = {
    *("model", "target", "operators", "kernels", "groups", "gm_boundary_bytes", "workspace_bytes"),
    *("gm_bytes", "hbm_bytes", "cycles", "modelled_us", "pipe_busy", "host_calls"),
    *("host_bytes", "compile_seconds"),
}


@pytest.fixture
def fusec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Fusec]:
    monkeypatch.chdir(tmp_path)
    yield Fusec(tmp_path, capsys)


@pytest.fixture
def mlp(fusec: Fusec) -> str:
    return fusec.file("mlp.onnx", perceptron())


def test_profile(fusec: Fusec, mlp: str) -> None:
    done = fusec("profile", mlp, "--json")
    assert done.status == 0
    found = done.json
    assert found.keys() >= KEYS
    assert found["unfused"].keys() >= KEYS
    assert (found["operators"], found["groups"], found["kernels"]) == (3, 1, 1)
    assert found["unfused"]["kernels"] == 3
    assert found["compile_seconds"].keys() == {"prepare", "optimise", "compile"}
    assert found["target"] == "ascend910b3"
    assert 0 < found["modelled_us"] < found["unfused"]["modelled_us"]
    assert all(0 < part < 1 for part in found["pipe_busy"].values())
    assert "compiling" in done.err


def test_profile_without_fusion(fusec: Fusec, mlp: str) -> None:
    found = fusec("profile", mlp, "--json", "--no-fusion", "--target", "tiny").json
    unfused = found.pop("unfused")
    assert found == unfused
    assert (found["kernels"], found["target"]) == (3, "tiny")


def test_profile_as_text(fusec: Fusec, mlp: str) -> None:
    done = fusec("profile", mlp, "-q")
    assert (done.status, done.err) == (0, "")
    assert "modelled" in done.out


def test_a_switched_off_pattern_does_not_fire(fusec: Fusec, mlp: str) -> None:
    done = fusec("profile", mlp, "--json", "--strategy", "patterns")
    assert done.json["groups"] == 1
    names = ("matmul_bias_relu", "matmul_bias")
    off = [word for name in names for word in ("--disable-fusion", name)]
    assert fusec("profile", mlp, "--json", "--strategy", "patterns", *off).json["groups"] == 3
    only = fusec("profile", mlp, "--json", "--only-fusion", "matmul_bias").json
    assert only["groups"] == 2


@pytest.mark.parametrize("level", ["graph", "fused", "npu"])
def test_compare(fusec: Fusec, mlp: str, level: str) -> None:
    done = fusec("compare", mlp, "--tolerance", "1e-5", "--level", level, "--json")
    assert done.status == 0
    found = done.json
    assert found["passed"] is True
    assert found["max_rel_error"] <= 1e-5
    assert found["cosine"] == pytest.approx(1)
    assert found.keys() >= {"max_abs_error", "output", "level"}


def test_compare_that_fails(fusec: Fusec) -> None:
    model = fusec.file("net.onnx", conv_net(3))
    done = fusec("compare", model, "--tolerance", "0", "--json")
    assert done.status == 1
    assert done.json["passed"] is False
    assert done.json["max_rel_error"] > 0
    for key in ("float64_rel_error", "onnxruntime_rel_error"):
        assert 0 < done.json[key] < 1e-5
    text = fusec("compare", model, "--tolerance", "0").out
    assert "FAILED" in text
    assert "against the operators in float64: this level" in text


def test_compare_asks_float64_of_no_network_that_passes(fusec: Fusec) -> None:
    model = fusec.file("net.onnx", conv_net(3))
    assert "float64_rel_error" not in fusec("compare", model, "--json").json


def test_compare_draws_integers_inside_the_table(fusec: Fusec) -> None:
    model = fusec.file("embedding.onnx", embedding(rows=2))
    ids = seeded_inputs(load(model).module, 5)["ids"]
    assert set(np.unique(ids)) == {0, 1}
    assert fusec("compare", model, "--seed", "5").status == 0


def test_compare_of_text_is_with_float64(fusec: Fusec) -> None:
    done = fusec("compare", fusec.file("relu.mlir", RELU), "--json")
    assert done.status == 0
    assert done.json["reference"] == "float64"


def test_run_writes_arrays_named_as_in_the_model(fusec: Fusec, mlp: str) -> None:
    x = np.random.default_rng(0).standard_normal((20, 32)).astype(np.float32)
    np.savez("in.npz", x=x)
    found: dict[str, Any] = {}
    for level in ("graph", "fused", "npu"):
        done = fusec("run", mlp, "--inputs", "in.npz", "--level", level, "--outputs", "out.npz")
        assert done.status == 0
        with np.load("out.npz") as outputs:
            assert outputs.files == ["relu_2"]
            found[level] = outputs["relu_2"]
    expected = load(mlp).run({"x": x}, oracle=True)["relu_2"]
    for array in found.values():
        assert array.dtype == np.float32
        np.testing.assert_allclose(array, expected, atol=1e-5)


def test_run_with_seeded_inputs(fusec: Fusec, mlp: str) -> None:
    first = fusec("run", mlp, "--json", "--level", "graph").json
    assert first["outputs"]["relu_2"]["shape"] == [20, 48]
    assert first == fusec("run", mlp, "--json", "--level", "graph", "--seed", "0").json
    assert first != fusec("run", mlp, "--json", "--level", "graph", "--seed", "1").json


def test_compiled_text_runs_anywhere(fusec: Fusec, mlp: str) -> None:
    (fusec.folder / "there").mkdir()
    assert fusec("compile", mlp, "-o", "there/placed.mlir", "--json").status == 0
    placed = fusec("run", "there/placed.mlir", "--json").json["outputs"]
    assert placed == fusec("run", mlp, "--json").json["outputs"]


def test_shapes(fusec: Fusec) -> None:
    model = fusec.file("dynamic.onnx", dynamic_batch())
    found = fusec("run", model, "--shape", "x=7x32", "--json").json
    assert found["outputs"]["relu_1"]["shape"] == [7, 48]


def test_shapes_of_text(fusec: Fusec) -> None:
    model = fusec.file("dynamic.mlir", RELU.replace("4x40", "?x40"))
    found = fusec("run", model, "--shape", "x=7x40", "--json").json
    assert found["outputs"]["out0"]["shape"] == [7, 40]


def test_ascend_check(fusec: Fusec, mlp: str) -> None:
    done = fusec("ascend-check", mlp, "--json")
    found = done.json
    assert (done.status, found["kernels"], found["accepted"], found["refused"]) == (0, 1, 1, [])
    assert found["vendor_faults"] == 0


def test_ascend_check_with_a_refused_kernel(
    fusec: Fusec, mlp: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(_: object) -> tuple[list[object], dict[str, str]]:
        return [], {"k": "it cannot be said"}

    monkeypatch.setattr("fusec.tools.cli.ascend_check.export_kernels", nothing)
    done = fusec("ascend-check", mlp, "--json")
    assert done.status == 1
    row = {"kernel": "k", "status": "refused", "reason": "it cannot be said", "operators": ""}
    assert done.json["refused"] == [row]
    assert "refused k: it cannot be said" in fusec("ascend-check", mlp).out


def test_help(fusec: Fusec) -> None:
    done = fusec("--help")
    assert done.status == 0
    for command in ("compile", "run", "profile", "compare", "ascend-check"):
        assert command in done.out
        assert "MODEL" in fusec(command, "--help").out


def test_bfloat16_survives_a_file(tmp_path: Path) -> None:
    import ml_dtypes

    arrays = {"a/b": np.arange(5).astype(ml_dtypes.bfloat16), "file": np.ones(3, bool)}
    with open(tmp_path / "a.npz", "wb") as stream:
        write_arrays(stream, arrays)
    found = read_arrays(str(tmp_path / "a.npz"))
    assert {k: v.dtype for k, v in found.items()} == {k: v.dtype for k, v in arrays.items()}
    np.testing.assert_array_equal(found["a/b"], arrays["a/b"])
