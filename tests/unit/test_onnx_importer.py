"""The ONNX reader: what it makes of a graph, its operators and shapes, and one message for whatever
is wrong.
"""

import numpy as np
import pytest
from onnx import TensorProto, helper
from xdsl.dialects.builtin import UNKNOWN_LOC, NameLoc

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.entry import Entry
from fusec.frontends.onnx.frontend import import_onnx
from fusec.frontends.onnx.operators import OPERATORS
from fusec_dialects.graph import ConstantOp, GraphOp, WeightOp
from onnx_import import failure, read, run, weighted
from onnx_text import graph, model

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


def test_a_model_with_an_own_domain_keeps_it_in_the_message() -> None:
    proto = model(
        '<ir_version: 8, opset_import: ["": 21, "d": 1]>\n'
        "g (float x) => (float y) { a = d.Relu(x) y = d.Relu(a) }"
    )
    assert "supported yet: d.Relu (2 times, first 'n0'); --allow-opaque" in failure(proto)
