"""`fusec` on wrong use and bad input: one message, a documented status, no half-written file."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from cli_runner import RELU, Fusec
from networks import dynamic_batch, perceptron


@pytest.fixture
def fusec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Fusec]:
    monkeypatch.chdir(tmp_path)
    yield Fusec(tmp_path, capsys)


@pytest.fixture
def mlp(fusec: Fusec) -> str:
    return fusec.file("mlp.onnx", perceptron())


# Wrong use


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "a command is missing; see fusec --help"),
        (["profiel"], "invalid choice: 'profiel'"),
        (["run"], "required: MODEL; see fusec run --help"),
        (["run", "mlp.onnx", "--tolerance", "1"], "unrecognized arguments: --tolerance 1"),
        (["compile", "mlp.onnx"], "required: -o/--output"),
        (["run", "mlp.onnx", "--level", "cube"], "invalid choice: 'cube'"),
        (["run", "mlp.onnx", "--objective", "speed"], "invalid choice: 'speed'"),
        (["run", "mlp.onnx", "--target", "tinny"], "unknown target 'tinny'; did you mean 'tiny'?"),
        (["run", "mlp.onnx", "--target", "no.toml"], "no such target file: no.toml"),
        (["run", "mlp.onnx", "--shape", "x"], "'x' is not of the form NAME=AxB"),
        (["run", "mlp.onnx", "--shape", "x=²"], "'x=²' is not of the form NAME=AxB"),
        (["run", "mlp.onnx", "--seed", "-1"], "'-1' is not an integer of at least 0"),
        (["run", "mlp.onnx", "--max-depth", "x"], "'x' is not an integer"),
        (["compare", "mlp.onnx", "--tolerance", "-1"], "'-1' is not a number of at least 0"),
        (["compare", "mlp.onnx", "--tolerance", "nan"], "'nan' is not a number of at least 0"),
        (["compare", "relu.mlir", "--reference", "onnxruntime"], "say --reference float64"),
        (["ascend-check", "mlp.onnx", "--jobs", "0"], "'0' is not an integer of at least 1"),
        (["ascend-check", "mlp.onnx", "--target", "tiny"], "tiny: it is no chip of Huawei's"),
        (
            ["run", "mlp.onnx", "--disable-fusion", "conv_bn_rleu"],
            "--disable-fusion: unknown fusion 'conv_bn_rleu'; did you mean 'conv_bn_relu'?",
        ),
        (
            ["run", "mlp.onnx", "--only-fusion", "conv_bn", "--disable-fusion", "conv_bn"],
            "'conv_bn' is both disabled and asked for",
        ),
        (
            ["run", "mlp.onnx", "--only-fusion", "conv_bn", "--no-fusion"],
            "--no-fusion and --only-fusion contradict each other",
        ),
    ],
)
def test_wrong_use(fusec: Fusec, mlp: str, arguments: list[str], message: str) -> None:
    fusec.file("relu.mlir", RELU)
    done = fusec(*arguments)
    assert (done.status, done.out) == (2, "")
    assert message in done.message
    assert done.message.count("error:") == 1


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["run", "--level", "graph"], "'placed.mlir' is npu IR, which has no level graph"),
        (["profile"], "'placed.mlir' is lowered already"),
        (["compare"], "'placed.mlir' is lowered already"),
        (["ascend-check"], "'placed.mlir' is npu IR; ascend-check starts from the graph level"),
    ],
)
def test_placed_text_is_run_only(fusec: Fusec, mlp: str, command: list[str], message: str) -> None:
    assert fusec("compile", mlp, "-o", "placed.mlir").status == 0
    done = fusec(command[0], "placed.mlir", *command[1:])
    assert done.status == 2
    assert message in done.message
    done = fusec("compile", "placed.mlir", "-o", "again.mlir")
    assert (done.status, os.path.exists("again.mlir")) == (3, False)
    assert "it is npu IR already" in done.message


# Bad input


def damaged(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


def node(kind: str, inputs: list[str], **attrs: Any) -> Any:
    return helper.make_node(kind, inputs, ["y"], name=f"the_{kind.lower()}", **attrs)


def one_node(kind: str, shapes: list[list[int]], element: int = TensorProto.FLOAT) -> bytes:
    names = [f"x{i}" for i in range(len(shapes))]
    inputs = [
        helper.make_tensor_value_info(n, element, s) for n, s in zip(names, shapes, strict=True)
    ]
    outputs = [helper.make_tensor_value_info("y", element, shapes[0])]
    graph = helper.make_graph([node(kind, names)], "g", inputs, outputs)
    return helper.make_model(graph, ir_version=10).SerializeToString()


def unsupported() -> bytes:
    kinds = [("x", "Foo", "a"), ("a", "Relu", "b"), ("b", "Bar", "c"), ("c", "Foo", "d")]
    nodes = [helper.make_node(k, [x], [y], name=f"to_{y}") for x, k, y in kinds]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4]) for n in ("x", "d")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    return helper.make_model(graph, ir_version=10).SerializeToString()


MODELS: dict[str, tuple[bytes | str, str]] = {
    "empty.onnx": (b"", "empty.onnx is not a whole ONNX model; check that it was copied"),
    "cut.onnx": (perceptron()[:3000], "cut.onnx is not a whole ONNX model"),
    "short.onnx": (perceptron()[:-3], "short.onnx is not a whole ONNX model"),
    "text.onnx": ("hello", "text.onnx is not a whole ONNX model"),
    "unsupported.onnx": (
        unsupported(),
        "operators that are not supported yet: Foo (2 times, first 'to_a'), Bar (1 time",
    ),
    "shapes.onnx": (
        one_node("Add", [[4], [3]]),
        "node 'the_add' (Add): graph.add: shapes [4] and [3] do not broadcast",
    ),
    "strings.onnx": (one_node("Relu", [[4]], TensorProto.STRING), "input 'x0'"),
    "double.onnx": (one_node("Relu", [[4]], TensorProto.DOUBLE), "'graph.relu' in @relu_0 on f64"),
    "a.txt": ("hello", "cannot tell what 'a.txt' is: the endings known are .onnx"),
    "empty.mlir": ("", "empty.mlir: the module has no function @main"),
    "binary.mlir": (b"\xff\xfe", "binary.mlir:1: not UTF-8 text"),
    "syntax.mlir": ("func.func @main(%x tensor<4xf32>) {", "syntax.mlir:1:"),
    "name.mlir": (RELU.replace("graph.relu", "graph.rleu"), "did you mean 'graph.relu'?"),
    "undefined.mlir": (RELU.replace("relu %x", "relu %z"), "undefined.mlir:3:19: %z is used but"),
    "type.mlir": (
        RELU.replace("-> tensor<4x40xf32>\n", "-> tensor<4x41xf32>\n").replace(
            "return %0 : tensor<4x40xf32>", "return %0 : tensor<4x41xf32>"
        ),
        "type.mlir:3:3: 'graph.relu' in @main: graph.relu: the result is tensor<4x40xf32>",
    ),
    "other.mlir": (RELU.replace("@main", "@other"), "other.mlir: the module has no function @main"),
    "weight.mlir": (
        RELU.replace("graph.relu %x", 'graph.weight "w"').replace(
            "tensor<4x40xf32> -> tensor<4x40xf32>\n", "tensor<4x40xf32>\n"
        ),
        "weight 'w' is in no store",
    ),
    "source.mlir": (
        f'builtin.module attributes {{graph.source = "gone.onnx"}} {{ {RELU} }}',
        "source.mlir: the weights of this module are in 'gone.onnx', which does not exist",
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_bad_model(fusec: Fusec, name: str) -> None:
    data, message = MODELS[name]
    done = fusec("run", fusec.file(name, data))
    assert (done.status, done.out) == (3, "")
    assert message in done.message
    assert done.message.count("error:") == 1
    assert os.listdir() == [name]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("gone.onnx", "cannot read 'gone.onnx': no such file; name an .onnx or .mlir file"),
        ("folder.onnx", "cannot read 'folder.onnx': it is a folder"),
    ],
)
def test_no_model(fusec: Fusec, model: str, message: str) -> None:
    Path("folder.onnx").mkdir()
    done = fusec("profile", model, "--json")
    assert (done.status, done.out) == (3, "")
    assert message in done.message


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ([], "x=AxB"),
        (["x=7x31"], "--shape x=7x31 does not fit the model's Nx32"),
        (["x=7"], "--shape x=7 does not fit the model's Nx32"),
        (["z=7x32"], "--shape names 'z', but the inputs are x"),
    ],
)
def test_shapes_that_do_not_fit(fusec: Fusec, shape: list[str], message: str) -> None:
    model = fusec.file("dynamic.onnx", dynamic_batch())
    words = [word for s in shape for word in ("--shape", s)]
    done = fusec("compile", model, "-o", "out.mlir", *words)
    assert (done.status, os.path.exists("out.mlir")) == (3, False)
    assert message in done.message or "NAME=AxB" in done.message


def archive(**arrays: Any) -> bytes:
    buffer = BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def text_member() -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("x", "hello")
    return buffer.getvalue()


def huge_member() -> bytes:
    buffer = BytesIO()
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976,), }"
    with zipfile.ZipFile(buffer, "w") as file:
        text = header.encode().ljust(118) + b"\n"
        file.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)
    return buffer.getvalue()


X = np.zeros((20, 32), np.float32)

INPUTS: dict[str, tuple[bytes, str]] = {
    "missing": (archive(z=X), "input 'x' is missing; there are z"),
    "type": (archive(x=X.astype(np.float64)), "input 'x' is float64, the model takes float32"),
    "shape": (archive(x=X[:3]), "the model takes [20, 32]"),
    "pickle": (archive(x=np.array([{}], object)), "'x.npy' in it cannot be read: Object arrays"),
    "cut": (archive(x=X)[:500], "is not a whole .npz file"),
    "damaged": (damaged(archive(x=X), 300), "is not a whole .npz file (Bad CRC-32"),
    "empty": (b"", "is not a whole .npz file"),
    "text": (text_member(), "'x' in it is no array"),
    "huge": (huge_member(), "'x.npy' in it cannot be read"),
}


@pytest.mark.parametrize("name", INPUTS)
def test_bad_inputs(fusec: Fusec, mlp: str, name: str) -> None:
    data, message = INPUTS[name]
    fusec.file("in.npz", data)
    done = fusec("run", mlp, "--inputs", "in.npz", "--outputs", "out.npz")
    assert (done.status, done.out, os.path.exists("out.npz")) == (3, "", False)
    assert message in done.message
    assert "compiling" not in done.err, "it is known before the long work"


def test_inputs_that_are_not_there(fusec: Fusec, mlp: str) -> None:
    done = fusec("run", mlp, "--inputs", "gone.npz")
    assert done.status == 3
    assert "cannot read the inputs 'gone.npz': no such file" in done.message


def test_onnx_runtime_that_refuses(fusec: Fusec) -> None:
    model = fusec.file("brain.onnx", one_node("Erf", [[4]], TensorProto.BFLOAT16))
    done = fusec("compare", model, "--level", "graph")
    assert done.status == 3
    assert "ONNX Runtime cannot run 'brain.onnx': " in done.message
    assert "--reference float64" in done.message
    assert fusec("compare", model, "--reference", "float64", "--tolerance", "0.01").status == 0


def test_damaged_target(fusec: Fusec, mlp: str) -> None:
    chip = fusec.file("chip.toml", 'base = "tiny"\ncolour = 1\n')
    done = fusec("profile", mlp, "--target", chip)
    assert done.status == 3
    assert "chip.toml: 'colour' is not a key of a target" in done.message


def test_kernel_that_does_not_fit(fusec: Fusec) -> None:
    chip = fusec.file("chip.toml", 'base = "tiny"\nname = "chip"\n[capacity]\nub = 64\n')
    done = fusec("compile", fusec.file("relu.mlir", RELU), "-o", "out.mlir", "--target", chip)
    assert (done.status, os.path.exists("out.mlir")) == (4, False)
    assert "relu.mlir:3:3: 'graph.kernel' @relu_0" in done.message
    assert "bytes of ub, chip has 64" in done.message


# Outputs


@pytest.mark.parametrize("output", ["none/out.mlir", "."])
def test_output_that_cannot_be_written(fusec: Fusec, mlp: str, output: str) -> None:
    done = fusec("compile", mlp, "-o", output)
    assert done.status == 5
    assert f"cannot write '{output}': " in done.message
    assert "compiling" not in done.err, "it is known before the long work"
    assert os.listdir() == [mlp]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", [["compile", "-o"], ["run", "--level", "graph", "--outputs"]])
def test_full_disk(fusec: Fusec, mlp: str, command: list[str]) -> None:
    done = fusec(command[0], mlp, *command[1:], "/dev/full")
    assert done.status == 5
    assert "cannot write '/dev/full': no space left on device" in done.message


def test_a_failed_run_leaves_the_old_output(fusec: Fusec) -> None:
    fusec.file("out.mlir", "old")
    model = fusec.file("dynamic.onnx", dynamic_batch())
    assert fusec("compile", model, "-o", "out.mlir").status == 3
    assert Path("out.mlir").read_text() == "old"
    assert sorted(os.listdir()) == ["dynamic.onnx", "out.mlir"]


def test_fault_folder_that_cannot_be_made(
    fusec: Fusec, mlp: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "faults/k.mlir")

    monkeypatch.setattr("fusec.tools.cli.ascend_check.check_kernels", full)
    done = fusec("ascend-check", mlp, "--fault-dir", "faults")
    assert done.status == 5
    assert "in 'faults': no space left on device; name another folder" in done.message
