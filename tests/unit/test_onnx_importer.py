"""The ONNX reader: what it makes of a model's parts, and one message for whatever is wrong."""

import random
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp, NameLoc

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.entry import Entry
from fusec.frontends.onnx.frontend import import_onnx, read_weights
from fusec.frontends.onnx.operators import OPERATORS
from fusec.semantics import Array
from fusec.semantics.interpreter import Interpreter
from fusec_dialects.graph import ConstantOp, GraphOp, WeightOp
from onnx_text import graph, model


def read(proto: ModelProto) -> ModuleOp:
    module, _ = import_onnx(proto.SerializeToString())
    module.verify()
    return module


def run(proto: ModelProto, **inputs: Array) -> dict[str, Array]:
    module, weights = import_onnx(proto.SerializeToString())
    return Interpreter(module, weights).run(inputs)


def failure(proto: ModelProto | bytes) -> str:
    with pytest.raises(ImportFailure) as caught:
        import_onnx(proto if isinstance(proto, bytes) else proto.SerializeToString())
    return str(caught.value)


def weighted(array: Array, name: str = "w") -> ModelProto:
    """y = x + w."""
    proto = graph(f"g (float[{array.size}] x) => (float[{array.size}] y) {{ y = Add(x, {name}) }}")
    proto.graph.initializer.append(numpy_helper.from_array(array, name))
    return proto


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


# The graph.


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(float[2] x) => (float[2] y) { y = Add(x, q) }", "value 'q' is not there"),
        ("(float[2] x) => (float[2] y) { z = Relu(x) }", "output 'y' has no value: it is computed"),
        ("(float[2] x) => (float[2] y) { y = Relu(x) y = Exp(x) }", "value 'y' is defined twice"),
        ("(float[2] x) => (float[2] x) { x = Relu(x) }", "value 'x' is defined twice"),
        (
            "(float[2] x, float[2] x) => (float[2] y) { y = Relu(x) }",
            "input 'x' stands there twice",
        ),
        ("(float[2] x) => () { y = Relu(x) }", "the model has no outputs"),
        ("(float x) => (float[2] y) { y = Add(x) }", "node 'n0' (Add): 1 inputs, expected 2"),
        ("(float[2] x, float[3] z) => (float[2] y) { y = Add(x, z) }", "[2] and [3] do not broad"),
        ("(float[2] x, int64[2] z) => (float[2] y) { y = Add(x, z) }", "element types: f32, i64"),
        ("(float[2] x) => (float[2] y) { y = Softmax<axis = 3>(x) }", "axis 3 is not one of"),
        (
            "(float[2] x) => (float[2] y) { y = Softmax<axis = 0.5>(x) }",
            "'axis' is FLOAT, expected",
        ),
        ("(float[2] x) => (float[2] y) { y = Concat(x, x) }", "attribute 'axis' is missing"),
        ("(float[2] x, int64[1] s) => (float[2] y) { y = Reshape(x, s) }", "has to be constant"),
        ("(float[2] x) => (float[2] y) <int64[2] s = {-1, -1}> { y = Reshape(x, s) }", "one size"),
        ("(float[2] x) => (float[2] y) <int64[2] s = {3, -1}> { y = Reshape(x, s) }", "[3, -1]"),
        (
            "(float[2] x) => (float[2] y) <int64[2] s = {1, 0}> { y = Reshape(x, s) }",
            "no such axis",
        ),
        ("(float[2] x) => (float[2] y) <float[1] s = {2}> { y = Reshape(x, s) }", "not integers"),
        ("(float[2,2] x) => (float y) { y = Flatten<axis = 3>(x) }", "does not cut"),
        ("(float[3] x) => (float[2] y) <int64[1] s = {2}> { y = Split(x, s) }", "do not make up 3"),
        ("(float[2] x) => (float[2] y) <int64[2] s = {1, 1}> { y = Split(x, s) }", "for 1 outputs"),
        (
            "(float[2] x) => (float[2] y) <int64[3] p = {0, 0, 1}> { y = Pad(x, p) }",
            "2 pads, not 3",
        ),
        ("(float[2] x) => (float[2] y) { y = Cast<to = 8>(x) }", "elements of type STRING"),
        ("(float[2] x) => (float[2] y) { y = Cast<to = 77>(x) }", "elements of type 77"),
        ("(float[1,2,4,4] x) => (float y) { y = MaxPool<kernel_shape = [2]>(x) }", "spatial axes"),
        ("(float[1,2,4,4] x) => (float y) { y = MaxPool(x) }", "'kernel_shape' is missing"),
        ("(float[1,2,4,4] x) => (float y) { y = MaxPool<kernel_shape = [5, 1]>(x) }", "not fit 4"),
        ("(float[2] x) => (float[2] y) { y = Clip(x, x) }", "limit 'x' is not a scalar"),
        (
            "(string[2] x) => (string[2] y) { y = Identity(x) }",
            "input 'x' has elements of type STR",
        ),
        ("(seq(float[2]) x) => (float[2] y) { y = Identity(x) }", "input 'x' is not a tensor"),
        ("(float x) => (float y) { y = Attack(x) }", "supported yet: Attack (1 time, first 'n0')"),
    ],
)
def test_errors_say_what_and_where(text: str, message: str) -> None:
    assert message in failure(graph(f"g {text}"))


@pytest.mark.parametrize(
    ("opset", "message"),
    [
        (6, "node 'n0' (Add): opset 6 is too old, this operator is read from opset 7 on"),
        (9999, "opset 9999 is newer than"),
    ],
)
def test_opsets_out_of_reach(opset: int, message: str) -> None:
    assert message in failure(graph("g (float x) => (float y) { y = Add(x, x) }", opset))


def test_an_input_without_shape() -> None:
    proto = graph("g (float[2] x) => (float[2] y) { y = Relu(x) }")
    proto.graph.input[0].type.tensor_type.ClearField("shape")
    assert failure(proto) == "input 'x' has no shape; give one by --shape x=1x2"
    module, _ = import_onnx(proto.SerializeToString(), {"x": (2, 3)})
    assert "tensor<2x3xf32>" in str(module)


def test_dim_names_stay_apart() -> None:
    proto = graph("g (float[a] x, float[b] y, float[c] z) => (float[a] w) { w = Relu(x) }")
    for value, name in zip(proto.graph.input, ("batch size", "batch_size", "1st"), strict=True):
        value.type.tensor_type.shape.dim[0].dim_param = name
    proto.graph.input.add().CopyFrom(proto.graph.input[0])
    proto.graph.input[3].name = "again"
    text = str(read(proto))
    for name, dim in (("x", "batch_size"), ("y", "batch_size_2"), ("z", "d1st")):
        assert f"%{name}: tensor<?xf32, #graph.dims<[{dim}]>>" in text
    assert "%again: tensor<?xf32, #graph.dims<[batch_size]>>" in text


def test_names_of_any_letters_read_back() -> None:
    proto = graph("g (float[2] x) => (float[2] y) { y = Relu(x) }")
    name = 'é / "quoted" \\ 1'
    proto.graph.input[0].name = proto.graph.node[0].input[0] = name
    proto.graph.node[0].name = name
    module = read(proto)
    relu = next(op for op in module.walk() if isinstance(op, GraphOp))
    assert isinstance(relu.location, NameLoc) and relu.location.desc.data == name
    x = np.array([-1, 1], np.float32)
    assert np.array_equal(run(proto, **{name: x})["y"], [0, 1])


def test_outputs_that_nobody_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    """C8: an unused piece of a split is no output; what has no value is an error once used."""
    entry: Entry = lambda node: node.build("identity", [node.value(0)])  # noqa: E731
    monkeypatch.setitem(OPERATORS, "Half", [(1, entry)])
    text = """g (float[2,4] x) => (float[2,2] o) {
      p, q = Split<axis = 1, num_outputs = 2>(x)
      kept, rest = Half(p)
      r = Relu(kept)
      o = Add(r, kept)
    }"""
    x = np.arange(8, dtype=np.float32).reshape(2, 4) - 4
    result = run(graph(text), x=x)
    assert list(result) == ["o"]
    assert np.array_equal(result["o"], np.maximum(x[:, :2], 0) + x[:, :2])
    why = "output 1 of node 'n1' (Half) is not supported"
    used = failure(graph(text.replace("Add(r, kept)", "Add(r, rest)")))
    assert used == f"node 'n3' (Add): value 'rest' is not there: {why}"
    asked = failure(graph(text.replace("float[2,2] o", "float[2,2] rest")))
    assert asked == f"output 'rest' has no value: {why}"


def test_one_value_as_several_outputs_and_an_input_as_output() -> None:
    x = np.array([1, 2], np.float32)
    result = run(graph("g (float[2] x) => (float[2] y, float[2] x) { y = Relu(x) }"), x=x)
    assert np.array_equal(result["y"], x) and np.array_equal(result["x"], x)


def test_every_operator_has_the_nodes_name() -> None:
    module = read(graph("g (float[2] x) => (float[2] y) { w = Relu(x) y = Sum(x, x, w) }"))
    assert all(op.location != UNKNOWN_LOC for op in module.walk())
    names = [op.location.desc.data for op in module.walk() if isinstance(op.location, NameLoc)]
    assert names.count("n0") == 1 and names.count("n1") == 2


def test_older_irs_list_weights_among_the_inputs() -> None:
    proto = weighted(np.ones(4, np.float32))
    proto.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [4]))
    module = read(proto)
    assert sum(isinstance(op, WeightOp | ConstantOp) for op in module.walk()) == 1
    assert np.array_equal(run(proto, x=np.zeros(4, np.float32))["y"], np.ones(4))


# Operators whose meaning is easy to get wrong.


def test_clip_with_an_absent_limit() -> None:
    """C22."""
    text = "g (float[3] x) => (float[3] y, float[3] z) <float half = {0.5}, float one = {1}> { %s }"
    body = 'r = Relu(x) y = Clip(r, half) z = Clip(r, "", one)'
    result = run(graph(text % body), x=np.array([-2, 0.2, 3], np.float32))
    assert np.array_equal(result["y"], np.array([0.5, 0.5, 3], np.float32))
    assert np.array_equal(result["z"], np.array([0, 0.2, 1], np.float32))


def test_clip_of_large_integers_is_exact() -> None:
    large = 2**53 + 1
    text = f"g (int64[3] x) => (int64[3] y) <int64 low = {{-3}}, int64 high = {{{large}}}>"
    x = np.array([-9, large, large + 7], np.int64)
    assert list(run(graph(text + " { y = Clip(x, low, high) }"), x=x)["y"]) == [-3, large, large]


def test_computed_limits_of_clip() -> None:
    text = "g (float[3] x, float m) => (float[3] y) { y = Clip(x, m) }"
    x = np.array([-1, 0, 1], np.float32)
    assert list(run(graph(text), x=x, m=np.array(0.5, np.float32))["y"]) == [0.5, 0.5, 1.0]


def test_softmax_before_opset_13_takes_all_axes_together() -> None:
    """C32."""
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    text = "g (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax(x) }"
    old, new = run(graph(text, 11), x=x)["y"], run(graph(text, 13), x=x)["y"]
    assert np.allclose(old.sum((1, 2)), 1) and np.allclose(new.sum(2), 1)


def test_negative_axes_and_dropped_ones() -> None:
    """C34."""
    text = "g (float[2,3,4] x) => (float[3] y) <int64[2] a = {0, -1}>"
    text += " { y = ReduceMax<keepdims = 0>(x, a) }"
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    assert np.array_equal(run(graph(text), x=x)["y"], [15, 19, 23])


@pytest.mark.parametrize(
    ("start", "end", "step"),
    [(0, 5, -1), (9, -11, -1), (-1, -100, -2), (100, 3, -3), (-100, 4, 1), (3, 3, 1), (2, 9, 4)],
)
def test_slices_go_where_onnx_says(start: int, end: int, step: int) -> None:
    """C36: a negative step, starts and ends far outside, nothing at all."""
    text = f"g (float[10] x) => (float[n] y) <int64[1] s = {{{start}}}, int64[1] e = {{{end}}},"
    text += (
        f" int64[1] a = {{0}}, int64[1] t = {{{step}}}> {{ c = Slice(x, s, e, a, t) y = Exp(c) }}"
    )
    x = np.arange(10, dtype=np.float32)
    low, high = (0, 10) if step > 0 else (-1, 9)
    first = min(max(start + 10 * (start < 0), 0), 10 if step > 0 else 9)
    last = min(max(end + 10 * (end < 0), low), high)
    expected = [x[i] for i in range(first, last, step)]
    assert np.array_equal(run(graph(text), x=x)["y"], np.exp(np.array(expected, np.float32)))


def test_uneven_split() -> None:
    text = "g (float[7] x) => (float[3] a, float[3] b, float[1] c) { %s }"
    result = run(
        graph(text % "a, b, c = Split<num_outputs = 3>(x)"), x=np.arange(7, dtype=np.float32)
    )
    assert [list(v) for v in result.values()] == [[0, 1, 2], [3, 4, 5], [6]]


SHAPES: list[tuple[str, dict[str, tuple[int, ...]], str]] = [
    ("unknown", {"z": (1,)}, "--shape names 'z', but the inputs are x, y"),
    ("rank", {"x": (1, 2)}, "--shape x=1x2 does not fit the model's Nx4x3"),
    ("size", {"x": (1, 2, 3)}, "--shape x=1x2x3 does not fit the model's Nx4x3"),
    ("names", {"x": (1, 4, 3), "y": (2,)}, "--shape y=2 makes N 2, another one makes it 1"),
]


@pytest.mark.parametrize(("shapes", "message"), [s[1:] for s in SHAPES], ids=[s[0] for s in SHAPES])
def test_shapes_that_do_not_fit(shapes: dict[str, tuple[int, ...]], message: str) -> None:
    proto = graph("g (float[N,4,3] x, float[N] y) => (float[N,4,3] z) { z = Relu(x) }")
    with pytest.raises(ImportFailure) as caught:
        import_onnx(proto.SerializeToString(), shapes)
    assert str(caught.value) == message


def test_a_given_size_holds_wherever_its_name_stands() -> None:
    proto = graph("g (float[N,4] x, float[N] y) => (float[N,4] z) { z = Relu(x) }")
    module, _ = import_onnx(proto.SerializeToString(), {"x": (3, 4)})
    assert "%y: tensor<3xf32>" in str(module)


def test_what_needs_static_sizes_says_so() -> None:
    text = "g (float[1,2,H,W] x) => (float[1,2,h,w] y) {"
    proto = graph(text + ' y = MaxPool<kernel_shape = [3, 3], auto_pad = "SAME_UPPER">(x) }')
    assert "auto_pad SAME_UPPER needs static sizes, not [H, W]; give them by --shape" in failure(
        proto
    )


def test_weights_are_read_without_shapes(tmp_path: Path) -> None:
    """The store of a printed module needs no `--shape`, whatever its inputs are."""
    text = "g (float[1,2,H,W] x) => (float[1,2,h,w] y) <int64[4] s = {2, 2, 3, 3}>"
    text += ' { w = ConstantOfShape(s) y = Conv<auto_pad = "SAME_UPPER">(x, w) }'
    path = tmp_path / "m.onnx"
    path.write_bytes(graph(text).SerializeToString())
    weights = read_weights(path)
    assert weights["w"].shape == (2, 2, 3, 3) and weights.repeated == {"w"}
    assert weights.roles["w"].kind == "matrix" and weights.roles["w"].fan_in == 18


def test_a_model_with_an_own_domain_keeps_it_in_the_message() -> None:
    proto = model(
        '<ir_version: 8, opset_import: ["": 21, "d": 1]>\n'
        "g (float x) => (float y) { a = d.Relu(x) y = d.Relu(a) }"
    )
    assert "supported yet: d.Relu (2 times, first 'n0'); --allow-opaque" in failure(proto)
