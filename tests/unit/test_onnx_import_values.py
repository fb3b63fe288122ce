"""Stored values in every encoding that ONNX has: initializers, `Constant` nodes, external data."""

import struct
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import AttributeProto, ModelProto, SparseTensorProto, TensorProto, helper, numpy_helper

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx import container
from fusec.frontends.onnx.frontend import import_onnx, read_weights
from fusec.semantics import Array
from fusec.semantics.interpreter import Interpreter
from fusec.semantics.types import ELEMENT_TYPES
from onnx_text import graph

FLOATS = ["float16", "bfloat16", "float32", "float64"]
READ = [*FLOATS, "bool", *(f"{u}int{w}" for u in ("", "u") for w in (8, 16, 32, 64))]
REFUSED = ["FLOAT8E4M3FN", "FLOAT8E5M2", "INT4", "UINT4", "FLOAT4E2M1", "COMPLEX64", "STRING"]


def dtype_of(name: str) -> np.dtype[np.generic]:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def storing(*tensors: TensorProto) -> ModelProto:
    """A model whose outputs are its initializers."""
    proto = graph("g (float x) => (float y) { y = Relu(x) }")
    proto.graph.initializer.extend(tensors)
    proto.graph.output.extend(onnx.ValueInfoProto(name=t.name) for t in tensors)
    return proto


def outputs(source: ModelProto | Path) -> dict[str, Array]:
    given = source if isinstance(source, Path) else source.SerializeToString()
    module, weights = import_onnx(given)
    module.verify()
    return Interpreter(module, weights).run({"x": np.ones((), np.float32)})


def failure(source: ModelProto | Path) -> str:
    with pytest.raises(ImportFailure) as caught:
        outputs(source)
    return str(caught.value)


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("raw", [False, True], ids=["typed", "raw"])
@pytest.mark.parametrize("count", [3, 300])
def test_an_initializer_in_any_encoding_has_its_values(name: str, raw: bool, count: int) -> None:
    """Typed fields widen: float16 and bfloat16 lie in int32_data as their bits, bool as numbers."""
    dtype = dtype_of(name)
    given = (np.arange(count) % 7 - (3 if dtype.kind in "if" else 0)).astype(dtype)
    code = helper.np_dtype_to_tensor_dtype(dtype)
    content: Any = given.tobytes() if raw else given
    tensor = helper.make_tensor("w", code, given.shape, content, raw=raw)
    assert tensor.HasField("raw_data") == raw
    found = outputs(storing(tensor))["w"]
    assert found.dtype == dtype and np.array_equal(found, given)


def test_every_type_of_the_dialect_is_read() -> None:
    assert set(READ) == set(ELEMENT_TYPES)


@pytest.mark.parametrize("kind", REFUSED)
def test_an_initializer_of_another_type_is_refused_by_its_name(kind: str) -> None:
    tensor = TensorProto(name="w", data_type=TensorProto.DataType.Value(kind), dims=[2])
    tensor.raw_data = b"1234"
    expected = f"initializer 'w' has elements of type {kind}, which is not supported"
    assert failure(storing(tensor)) == expected


def test_scalars_and_empty_tensors_are_read() -> None:
    scalar = numpy_helper.from_array(np.array(2.5, np.float32), "s")
    empty = numpy_helper.from_array(np.zeros((0, 3), np.int64), "e")
    found = outputs(storing(scalar, empty))
    assert found["s"].shape == () and found["s"] == 2.5 and found["e"].shape == (0, 3)


def test_a_machine_with_the_other_byte_order_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container.sys, "byteorder", "big")
    assert "ONNX stores numbers little endian" in failure(storing())


# Constant nodes.


def constant(*attributes: AttributeProto) -> ModelProto:
    proto = graph("g (float x) => (float y, float c) { y = Relu(x) c = Constant<value_int = 1>() }")
    del proto.graph.node[1].attribute[:]
    proto.graph.node[1].attribute.extend(attributes)
    return proto


def sparse(indices: list[Any], values: list[float], *dims: int) -> SparseTensorProto:
    return helper.make_sparse_tensor(
        numpy_helper.from_array(np.array(values, np.float32), "s"),
        numpy_helper.from_array(np.array(indices, np.int64), "i"),
        dims,
    )


CONSTANTS: dict[str, tuple[Any, Any]] = {
    "value": (numpy_helper.from_array(np.ones((2, 2), np.int8)), np.ones((2, 2), np.int8)),
    "value_float": (1.5, np.float32(1.5)),
    "value_floats": ([1.5, 2.5], np.array([1.5, 2.5], np.float32)),
    "value_int": (-3, np.int64(-3)),
    "value_ints": ([1, 2, 3], np.array([1, 2, 3], np.int64)),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_in_every_form(name: str) -> None:
    given, expected = CONSTANTS[name]
    found = outputs(constant(helper.make_attribute(name, given)))["c"]
    assert found.dtype == np.asarray(expected).dtype and np.array_equal(found, expected)


@pytest.mark.parametrize("indices", [[0, 4], [[0, 0], [1, 1]]], ids=["linear", "coordinates"])
def test_a_sparse_constant_or_initializer_is_made_dense(indices: list[Any]) -> None:
    given = sparse(indices, [5.0, 7.0], 2, 3)
    expected = np.array([[5, 0, 0], [0, 7, 0]], np.float32)
    assert np.array_equal(
        outputs(constant(helper.make_attribute("sparse_value", given)))["c"], expected
    )
    proto = storing()
    proto.graph.sparse_initializer.append(given)
    proto.graph.output.add().name = "s"
    assert np.array_equal(outputs(proto)["s"], expected)


@pytest.mark.parametrize("indices", [[0, 6], [[0, 0], [2, 1]], [0], [[0, 0, 0], [1, 1, 1]]])
def test_sparse_indices_outside_the_shape_are_refused(indices: list[Any]) -> None:
    given = constant(helper.make_attribute("sparse_value", sparse(indices, [5.0, 7.0], 2, 3)))
    assert "sparse tensor 's' is damaged: indices" in failure(given)


def test_sparse_weights_are_found_again_by_name(tmp_path: Path) -> None:
    proto = graph("g (float[200] x) => (float[200] y) { y = Add(x, s) }")
    proto.graph.sparse_initializer.append(sparse([3], [2.0], 200))
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    assert read_weights(path)["s"][3] == 2.0


@pytest.mark.parametrize("name", ["value_string", "value_strings"])
def test_a_constant_of_text_is_refused(name: str) -> None:
    given = helper.make_attribute(name, "a" if name == "value_string" else ["a", "b"])
    expected = f"node 'n1' (Constant): a constant of this form is not supported: {name}"
    assert failure(constant(given)) == expected


# External data.


def external(array: Array, location: str, **entries: str) -> TensorProto:
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    tensor = TensorProto(name="w", data_type=kind, dims=array.shape)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=value)
    return tensor


def saved(folder: Path, proto: ModelProto) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def test_external_data_by_an_absolute_path_is_refused_even_inside(tmp_path: Path) -> None:
    array = np.ones(300, np.float32)
    (tmp_path / "w.bin").write_bytes(array.tobytes())
    given = external(array, str(tmp_path / "w.bin"))
    message = failure(saved(tmp_path, storing(given)))
    assert "lies outside the model's folder" in message and "a relative path" in message


def test_a_link_inside_the_folder_is_followed_and_one_out_of_it_is_not(tmp_path: Path) -> None:
    array = np.arange(300, dtype=np.float32)
    folder = tmp_path / "model"
    path = saved(folder, storing(external(array, "link/w.bin")))
    (folder / "real").mkdir()
    (folder / "real" / "w.bin").write_bytes(array.tobytes())
    (folder / "link").symlink_to(folder / "real")
    assert np.array_equal(outputs(path)["w"], array)
    (folder / "link").unlink()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "w.bin").write_bytes(array.tobytes())
    (folder / "link").symlink_to(tmp_path / "other")
    assert "lies outside the model's folder" in failure(path)


def test_a_constant_with_external_data_obeys_the_same_rules(tmp_path: Path) -> None:
    array = np.arange(300, dtype=np.float32)
    (tmp_path / "w.bin").write_bytes(array.tobytes())
    proto = constant(helper.make_attribute("value", external(array, "w.bin")))
    assert np.array_equal(outputs(saved(tmp_path, proto))["c"], array)
    proto = constant(helper.make_attribute("value", external(array, "../w.bin")))
    assert "its value lies outside the model's folder" in failure(saved(tmp_path / "m", proto))
    assert "give the model as a file" in failure(proto)


GIGABYTES = (2 << 30) + (1 << 20)
"""More than a protobuf may have."""


def resident() -> int:
    """Bytes of memory that this process holds."""
    pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    return int(pages) * 4096


def test_external_data_of_more_than_two_gigabytes_is_mapped(tmp_path: Path) -> None:
    """The file is sparse: only its last bytes are there."""
    rows = GIGABYTES // 4096
    given = external(np.zeros((0, 1024), np.float32), "w.bin", offset="4096")
    given.dims[:] = [rows, 1024]
    path = saved(tmp_path, storing(given))
    with open(tmp_path / "w.bin", "wb") as file:
        file.truncate(4096 + GIGABYTES - 4)
        file.seek(0, 2)
        file.write(struct.pack("<f", 3.0))
    before = resident()
    _, weights = import_onnx(path)
    assert isinstance(weights["w"], np.memmap) and weights["w"][-1, -1] == 3.0
    assert resident() - before < 256 << 20


def test_a_model_of_more_than_two_gigabytes_in_one_file_is_mapped(tmp_path: Path) -> None:
    """The weight's raw data is a hole in the file, written by the wire format's rules."""

    def field(number: int, size: int) -> bytes:
        out = bytearray([number << 3 | 2])
        while size > 0x7F:
            out.append(size & 0x7F | 0x80)
            size >>= 7
        return bytes(out) + bytes([size])

    rows = GIGABYTES // 4096
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[rows, 1024])
    head = tensor.SerializeToString() + field(9, rows * 4096)
    proto = storing()
    proto.graph.output.add().name = "w"
    inner = proto.graph.SerializeToString()
    size = len(head) + rows * 4096
    start = field(5, size) + head
    proto.ClearField("graph")
    path = tmp_path / "m.onnx"
    with open(path, "wb") as file:
        file.write(proto.SerializeToString())
        file.write(field(7, len(inner) + len(field(5, size)) + size))
        file.write(inner + start)
        file.truncate(file.tell() + rows * 4096)
    assert path.stat().st_size > 2 << 30
    before = resident()
    module, weights = import_onnx(path)
    assert weights["w"].shape == (rows, 1024) and "graph.weight" in str(module)
    assert resident() - before < 256 << 20
