"""The ONNX reader on files: damaged ones, weights and where they lie, external data."""

import random
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.frontend import import_onnx, read_weights
from fusec.semantics import Array
from fusec.semantics.interpreter import Interpreter
from fusec_dialects.graph import ConstantOp
from onnx_import import failure, read, weighted
from onnx_text import graph

# Damaged files.


def varied() -> bytes:
    """A model with every kind of field: small and mapped weights, attributes of all kinds."""
    proto = graph(
        """g (float[1,4,9,9] x) => (float[N] y, float[1000] z)
        <int64[4] s = {4, 4, 3, 3}, int64[1] flat = {-1}, int64[2] starts = {0, 1},
         int64[2] ends = {1, 9}, int64[2] axes = {0, 2}> {
          w = ConstantOfShape<value = float[1] {0.5}>(s)
          c = Conv<pads = [1, 1, 1, 1], auto_pad = "NOTSET">(x, w)
          cut = Slice(c, starts, ends, axes)
          a = LeakyRelu<alpha = 0.5>(cut)
          p = MaxPool<kernel_shape = [2, 2]>(a)
          y = Reshape(p, flat)
          k = Constant<value_floats = [1.0, 2.0]>()
          z = Add(big, big)
        }"""
    )
    proto.graph.initializer.append(numpy_helper.from_array(np.ones(1000, np.float32), "big"))
    return proto.SerializeToString()


def test_a_file_cut_anywhere_is_one_message(tmp_path: Path) -> None:
    data = varied()
    path = tmp_path / "cut.onnx"
    for length in range(len(data)):
        message = failure(data[:length])
        assert "whole ONNX model" in message
    path.write_bytes(data[:100])
    with pytest.raises(ImportFailure, match=r"cut\.onnx is not a whole ONNX model; check that it"):
        import_onnx(path)


def test_a_damaged_file_never_ends_in_a_traceback() -> None:
    data = varied()
    generator = random.Random(0)
    refused = 0
    for _ in range(400):
        damaged = bytearray(data)
        for _ in range(generator.choice([1, 1, 2, 4])):
            damaged[generator.randrange(800)] ^= 1 << generator.randrange(8)
        try:
            import_onnx(bytes(damaged))
        except ImportFailure as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 100


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ImportFailure, match=r"nowhere\.onnx: No such file"):
        import_onnx(tmp_path / "nowhere.onnx")
    with pytest.raises(ImportFailure, match="Is a directory"):
        import_onnx(tmp_path)


# Weights and where they lie.


def test_large_weights_are_views_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    array = np.arange(1000, dtype=np.float32)
    path.write_bytes(weighted(array).SerializeToString())
    for weights in (import_onnx(path)[1], read_weights(path)):
        assert np.array_equal(weights["w"], array)
        assert not weights["w"].flags.owndata and not weights["w"].flags.writeable
        assert weights.source == str(path)


def external(array: Array, **entries: str) -> ModelProto:
    proto = weighted(array)
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    return proto


def test_external_data_is_mapped(tmp_path: Path) -> None:
    array = np.arange(20, dtype=np.float32)
    folder = tmp_path / "model" / "data"
    folder.mkdir(parents=True)
    (folder / "w.bin").write_bytes(b"12345678" + array.tobytes())
    path = tmp_path / "model" / "m.onnx"
    proto = external(array, location="data/w.bin", offset="8", length="80")
    path.write_bytes(proto.SerializeToString())
    module, weights = import_onnx(path)
    assert isinstance(weights["w"], np.memmap)
    x = np.ones(20, np.float32)
    assert np.array_equal(Interpreter(module, weights).run({"x": x})["y"], array + 1)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"location": "../outside.bin"}, "lies outside the model's folder, in '../outside.bin'"),
        ({"location": "link.bin"}, "lies outside the model's folder, in 'link.bin'"),
        ({"location": "/etc/hostname"}, "lies outside the model's folder, in '/etc/hostname'"),
        ({"location": "absent.bin"}, "lies in 'absent.bin', which is no file beside the model"),
        ({"location": "."}, "lies in '.', which is no file beside the model"),
        ({"location": "w.bin", "offset": "4"}, "'w.bin' is too short"),
        ({"location": "w.bin", "offset": "-4"}, "the offset of its external data is '-4'"),
        ({"location": "w.bin", "length": "8"}, "damaged: 8 bytes for [20] float32 in 'w.bin'"),
        ({"offset": "0"}, "its external data has no location"),
    ],
)
def test_external_data_that_is_wrong(tmp_path: Path, entries: dict[str, str], message: str) -> None:
    array = np.arange(20, dtype=np.float32)
    folder = tmp_path / "model"
    folder.mkdir()
    for path in (tmp_path / "outside.bin", folder / "w.bin"):
        path.write_bytes(array.tobytes())
    (folder / "link.bin").symlink_to(tmp_path / "outside.bin")
    path = folder / "m.onnx"
    path.write_bytes(external(array, **entries).SerializeToString())
    with pytest.raises(ImportFailure) as caught:
        import_onnx(path)
    assert str(caught.value).startswith("initializer 'w'") and message in str(caught.value)


def test_external_data_needs_a_file() -> None:
    proto = external(np.ones(20, np.float32), location="w.bin")
    assert failure(proto) == "initializer 'w' lies in 'w.bin'; give the model as a file"


def test_initializers_that_are_wrong() -> None:
    proto = weighted(np.ones(1000, np.float32))
    proto.graph.initializer[0].dims[0] = 999
    assert failure(proto) == "initializer 'w' is damaged: 4000 bytes for [999] float32"
    proto.graph.initializer[0].dims[0] = -1
    assert "its shape is [-1]" in failure(proto)
    proto.graph.initializer[0].data_type = TensorProto.STRING
    assert "has elements of type STRING, which is not supported" in failure(proto)
    proto.graph.initializer[0].data_type = 99
    assert "has elements of type 99, which is not supported" in failure(proto)
    twice = weighted(np.ones(4, np.float32))
    twice.graph.initializer.append(twice.graph.initializer[0])
    assert "'w' is defined twice" in failure(twice)


def test_bfloat16_and_small_types_keep_their_bits() -> None:
    proto = graph(
        "g (bfloat16[3] x, bool[3] c) => (bfloat16[3] y, bool[3] z) { y = Add(x, w) z = And(b, c) }"
    )
    bits = np.array([0x7F80, 0x8000, 0x3F80], np.uint16)
    tensor = helper.make_tensor("w", TensorProto.BFLOAT16, [3], bits.tobytes(), raw=True)
    proto.graph.initializer.append(tensor)
    proto.graph.initializer.append(numpy_helper.from_array(np.array([True, False, True]), "b"))
    contents = [op.content for op in read(proto).walk() if isinstance(op, ConstantOp)]
    assert contents == [bits.tobytes(), b"\x01\x00\x01"]


def test_weights_are_read_without_shapes(tmp_path: Path) -> None:
    """The store of a printed module needs no `--shape`, whatever its inputs are."""
    text = "g (float[1,2,H,W] x) => (float[1,2,h,w] y) <int64[4] s = {2, 2, 3, 3}>"
    text += ' { w = ConstantOfShape(s) y = Conv<auto_pad = "SAME_UPPER">(x, w) }'
    path = tmp_path / "m.onnx"
    path.write_bytes(graph(text).SerializeToString())
    weights = read_weights(path)
    assert weights["w"].shape == (2, 2, 3, 3) and weights.repeated == {"w"}
    assert weights.roles["w"].kind == "matrix" and weights.roles["w"].fan_in == 18
