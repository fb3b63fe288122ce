"""`--allow-opaque`: unsupported operators as barriers, from the file to the placed kernels."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp, StringAttr

import fusec
from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.frontend import import_onnx
from fusec.frontends.onnx.operators import OPERATORS
from fusec.semantics import Array
from fusec.semantics.interpreter import GraphError
from fusec.simulator.witness import witness
from fusec_dialects.graph import KernelOp, OpaqueOp
from fusec_dialects.locations import nodes, tensors
from fusec_dialects.npu.host import HostCallOp
from onnx_reference import check_import, operators, runtime_outputs
from onnx_text import graph, model

RNG = np.random.default_rng(0)
X = RNG.standard_normal((4, 8), dtype=np.float32)

LOOP = """e = Loop (three, , d) <body = b (int64 i, bool k, float[a,b] u) => (bool l, float[a,b] v)
  { l = Identity(k) m = Mul(u, bias) v = Sub(m, d) }>"""
SCAN = """e = Scan <num_scan_inputs = 1, body = b (float[16] u) => (float[16] v)
  { v = Mul(u, bias) }> (d)"""
IF = """some = ReduceMax<keepdims = 0>(d) zero = Constant<value_float = 0.0>()
  c = Greater(some, zero)
  e = If (c) <then_branch = t () => (float[4,16] p) { p = Mul(d, bias) },
              else_branch = f () => (float[4,16] q) { q = Neg(d) }>"""
ROI = """boxes = Constant<value = float[1,4] {0.0, 0.0, 8.0, 2.0}>()
  which = Constant<value = int64[1] {0}>()  to = Constant<value_ints = [1, 1, 4, 16]>()
  back = Constant<value_ints = [4, 16]>()  image = Reshape(d, to)
  cut = RoiAlign<output_height = 4, output_width = 16>(image, boxes, which)
  e = Reshape(cut, back)"""
GRU = """front = Unsqueeze(d, axis)  r, h = GRU<hidden_size = 16>(front, gw, gr)
  e = Squeeze(h, axis)"""

BARRIERS = {"Loop": LOOP, "Scan": SCAN, "If": IF, "RoiAlign": ROI, "GRU": GRU}


def network(middle: str) -> ModelProto:
    """A chain that fuses, an operator that is not supported, a chain that fuses with a residual."""
    proto = graph(
        "g (float[N,8] x) => (float[N,16] y) {\n"
        f"a = MatMul(x, w) c0 = Add(a, bias) d = Relu(c0) {middle}\n"
        "f = Mul(e, bias) g0 = Tanh(f) y = Add(g0, d) }",
        opset=17,
    )
    weights = {
        "w": (8, 16),
        "bias": (16,),
        "gw": (1, 48, 16),
        "gr": (1, 48, 16),
    }
    for name, shape in weights.items():
        array = RNG.standard_normal(shape).astype(np.float32)
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    for name, value in {"three": np.array(3), "axis": np.array([0])}.items():
        proto.graph.initializer.append(numpy_helper.from_array(value.astype(np.int64), name))
    return proto


@contextmanager
def without(kind: str) -> Generator[None]:
    """fusec as if it had no such operator."""
    with mock.patch.dict(OPERATORS):
        OPERATORS.pop(kind, None)
        yield


def opaque(module: ModuleOp) -> list[OpaqueOp]:
    return [op for op in module.walk() if isinstance(op, OpaqueOp)]


@pytest.mark.parametrize("kind", BARRIERS)
def test_a_barrier_between_two_chains_runs_at_every_level(kind: str) -> None:
    proto = network(BARRIERS[kind])
    with without(kind):
        source = fusec.load(proto.SerializeToString(), {"x": (4, 8)}, allow_opaque=True)
    assert [op.op_type.data for op in opaque(source.module)] == [kind]
    compiled = fusec.compile(source, objective="kernels")
    expected = runtime_outputs(proto, {"x": X})["y"]
    for level in ("graph", "fused", "npu"):
        found = compiled.run({"x": X}, level)["y"]
        np.testing.assert_allclose(found, expected, 1e-5, 1e-5, err_msg=level)
    exact = source.run({"x": X}, oracle=True)["y"]
    assert exact.dtype == np.float64
    np.testing.assert_allclose(exact, expected, 1e-5, 1e-5)
    names = [op.pattern.data for op in compiled.fused.walk() if isinstance(op, KernelOp)]
    assert "matmul" in names[0] and names[-1] == "mul_tanh_add"
    assert len(opaque(compiled.fused)) == 1
    calls = [op for op in compiled.npu.walk() if isinstance(op, HostCallOp)]
    profile = compiled.profile()
    assert profile["host_calls"] == len(calls) == 1
    assert profile["host_bytes"] >= 4 * 16 * 4 and profile["kernels"] >= 2
    assert not witness(compiled.npu)


@pytest.mark.parametrize("kind", ["Loop", "Scan"])
def test_without_the_option_it_is_refused_by_name(kind: str) -> None:
    with pytest.raises(ImportFailure) as caught:
        import_onnx(network(BARRIERS[kind]).SerializeToString(), {"x": (4, 8)})
    assert str(caught.value) == (
        f"operators that are not supported yet: {kind} (1 time, first 'n3'); --allow-opaque keeps "
        "such operators as barriers that the host computes"
    )


def test_without_fusion_the_barrier_is_the_same() -> None:
    proto = network(LOOP)
    source = fusec.load(proto.SerializeToString(), {"x": (4, 8)}, allow_opaque=True)
    compiled = fusec.compile(source, fusion=False)
    expected = runtime_outputs(proto, {"x": X})["y"]
    np.testing.assert_allclose(compiled.run({"x": X})["y"], expected, 1e-5, 1e-5)
    assert compiled.profile()["host_calls"] == 1


def test_a_chain_is_not_fused_around_a_barrier() -> None:
    """d -> e -> y and d -> y: one kernel of both chains would wait for itself."""
    source = fusec.load(network(LOOP).SerializeToString(), {"x": (4, 8)}, allow_opaque=True)
    for objective in ("time", "bytes", "kernels"):
        fused = fusec.fuse(source, objective=objective)
        kernels = [op for op in fused.module.walk() if isinstance(op, KernelOp)]
        assert len(kernels) == 2, objective


@pytest.mark.parametrize("axis", [0, 1])
def test_a_barrier_beside_concats_and_splits(axis: int) -> None:
    """What the host reads and writes is contiguous, whatever is built in place around it."""
    proto = graph(
        f"""g (float[4,16] x) => (float[a,b] y) {{
        r = Relu(x)  d, f = Split<axis = {axis}, num_outputs = 2>(r)
        three = Constant<value_int = 3>()
        e = Loop (three, , d) <body = b (int64 i, bool k, float[a,b] u) => (bool l, float[a,b] v)
          {{ l = Identity(k) v = Sub(u, d) }}>
        t = Tanh(f)  c = Concat<axis = {axis}>(e, t)  y = Exp(c) }}""",
        opset=18,
    )
    x = RNG.standard_normal((4, 16), dtype=np.float32)
    source = fusec.load(proto.SerializeToString(), allow_opaque=True)
    compiled = fusec.compile(source, objective="kernels")
    expected = runtime_outputs(proto, {"x": x})["y"]
    np.testing.assert_allclose(compiled.run({"x": x})["y"], expected, 1e-5, 1e-5)
    assert not witness(compiled.npu)


def test_the_host_may_read_and_write_parts_of_one_buffer() -> None:
    proto = graph(
        """g (float[4,16] x) => (float[8,16] y) {
        d = Relu(x)  three = Constant<value_int = 3>()
        e = Loop (three, , d) <body = b (int64 i, bool k, float[a,b] u) => (bool l, float[a,b] v)
          { l = Identity(k) v = Sub(u, d) }>
        y = Concat<axis = 0>(d, e) }""",
        opset=18,
    )
    x = RNG.standard_normal((4, 16), dtype=np.float32)
    source = fusec.load(proto.SerializeToString(), allow_opaque=True)
    compiled = fusec.compile(source, objective="kernels")
    expected = runtime_outputs(proto, {"x": x})["y"]
    np.testing.assert_allclose(compiled.run({"x": x})["y"], expected, 1e-5, 1e-5)
    assert not witness(compiled.npu)


def test_a_result_may_be_an_output_an_input_a_constant_one_of_several() -> None:
    """Straight from inputs to outputs: the host function is one host call, and copies."""
    proto = graph(
        """g (float[3,4] x) => (float[2,2] v, int64[2,2] i, int64[2,2] j) {
        k = Constant<value_ints = [2]>()
        top = Slice(x, lo, hi, which)  v, i = TopK<axis = 1>(top, k)  j = Identity(i) }""",
        opset=17,
    )
    for name, value in {"lo": [0], "hi": [2], "which": [0]}.items():
        proto.graph.initializer.append(numpy_helper.from_array(np.array(value, np.int64), name))
    with without("TopK"):
        source = fusec.load(proto.SerializeToString(), allow_opaque=True)
    x = RNG.standard_normal((3, 4), dtype=np.float32)
    expected = runtime_outputs(proto, {"x": x})
    for level in ("graph", "fused", "npu"):
        found = fusec.compile(source).run({"x": x}, level)
        assert all(np.array_equal(found[name], expected[name]) for name in expected), level


def single(
    op_type: str, *inputs: Array, outputs: int = 1, domain: str = "", **attrs: Any
) -> ModelProto:
    """One node on inputs of these types, its outputs untyped."""
    names = [f"x{i}" for i in range(len(inputs))]
    node = helper.make_node(
        op_type, names, [f"y{i}" for i in range(outputs)], "n", domain=domain, **attrs
    )
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in zip(names, inputs, strict=True)
    ]
    results = [onnx.ValueInfoProto(name=name) for name in node.output]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("d", 2)]
    return helper.make_model(
        helper.make_graph([node], "g", infos, results), opset_imports=opsets, ir_version=8
    )


def kept(proto: ModelProto, kind: str = "") -> OpaqueOp:
    with without(kind):
        module, _ = import_onnx(proto.SerializeToString(), allow_opaque=True)
    module.verify()
    (op,) = opaque(module)
    return op


def refusal(proto: ModelProto) -> str:
    with pytest.raises(ImportFailure) as caught:
        import_onnx(proto.SerializeToString(), allow_opaque=True)
    return str(caught.value)


def test_the_node_is_kept_whole() -> None:
    proto = single("LSTM", np.zeros((2, 3, 4), np.float32), outputs=3, hidden_size=5)
    node = proto.graph.node[0]
    node.input.extend(["w", "r", "", "", "h"])
    for name, shape in {"w": (1, 20, 4), "r": (1, 20, 5), "h": (1, 3, 5)}.items():
        array = np.zeros(shape, np.float32)
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    op = kept(proto, "LSTM")
    function = onnx.FunctionProto.FromString(bytes.fromhex(op.onnx.data))
    assert list(function.input) == ["x0", "w", "r", "h"] and list(function.output) == [
        "y0",
        "y1",
        "y2",
    ]
    assert function.node[0].attribute[0] == node.attribute[0]
    assert list(function.node[0].input) == list(node.input)
    assert [(o.domain, o.version) for o in function.opset_import] == [("", 17)]
    assert [str(r.type) for r in op.outputs][1:] == ["tensor<1x3x5xf32>"] * 2
    assert op.opset.value.data == 17 and op.domain is None
    assert nodes(op.location) == ("n",) and tensors(op.location) == ("y0", "y1", "y2")


def test_outputs_that_nobody_uses_need_no_shape() -> None:
    """Unique's other outputs are as long as what is found."""
    proto = single("Frob", np.zeros(4, np.float32), outputs=3, domain="d")
    proto.graph.output[1].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    proto.graph.output[1].type.tensor_type.shape.dim.add().dim_value = 4
    del proto.graph.output[2], proto.graph.output[0]
    op = kept(proto)
    assert [str(r.type) for r in op.outputs] == ["tensor<4xf32>"] and op.domain is not None


def test_a_declared_shape_may_name_sizes_that_the_user_gives() -> None:
    proto = single("Frob", np.zeros((4, 4), np.float32), domain="d")
    names = ("N", "?")
    for dim, name in zip(proto.graph.input[0].type.tensor_type.shape.dim, names, strict=True):
        dim.dim_param = name
    declared = helper.make_tensor_value_info("y0", 1, ["N", 3])
    proto.graph.output[0].CopyFrom(declared)
    module, _ = import_onnx(proto.SerializeToString(), {"x0": (7, 2)}, allow_opaque=True)
    assert str(opaque(module)[0].outputs[0].type) == "tensor<7x3xf32>"
    proto.graph.output[0].type.tensor_type.shape.dim[1].dim_param = "?"
    with pytest.raises(ImportFailure, match=r"the shape \[7, \?\] of result 'y0' is not known"):
        import_onnx(proto.SerializeToString(), {"x0": (7, 2)}, allow_opaque=True)


def test_a_shape_that_depends_on_values_is_refused_with_advice() -> None:
    message = refusal(single("NonZero", np.zeros(4, np.float32)))
    assert message == (
        "node 'n' (NonZero): it cannot be kept as graph.opaque: the shape [1, ?] of result 'y0' is "
        "not known; give the inputs static shapes by --shape; where the size depends on values, "
        "cut the model before this node, or declare the size in its value_info"
    )


def test_an_unknown_domain_needs_declared_types() -> None:
    message = refusal(single("Frob", np.zeros(4, np.float32), domain="d"))
    assert (
        "node 'n' (Frob)" in message and "the element type of result 'y0' is not known" in message
    )


def test_what_onnx_refuses_is_refused_with_its_reason() -> None:
    message = refusal(single("RoiAlign", *[np.zeros(4, np.float32)] * 3))
    assert "ONNX's shape inference" in message and "RoiAlign" in message


@pytest.mark.parametrize(
    ("node", "what"),
    [
        (
            helper.make_node("SequenceConstruct", ["x0"], ["y0"]),
            "is no tensor, its kind is sequence",
        ),
        (helper.make_node("Optional", ["x0"], ["y0"]), "is no tensor, its kind is optional"),
        (helper.make_node("Cast", ["x0"], ["y0"], to=onnx.TensorProto.STRING), "STRING"),
    ],
)
def test_what_is_no_tensor_is_refused(node: NodeProto, what: str) -> None:
    proto = single("Relu", np.zeros(4, np.float32))
    proto.graph.node[0].CopyFrom(node)
    message = refusal(proto)
    assert node.op_type in message and what in message


def test_a_form_that_is_not_supported_is_kept_too() -> None:
    """If with an open condition; the operators that were built for it before are taken back."""
    proto = network(IF)
    with pytest.raises(ImportFailure, match="--allow-opaque"):
        import_onnx(proto.SerializeToString(), {"x": (4, 8)})
    found = check_import(proto, {"x": X}, shapes={"x": (4, 8)}, allow_opaque=True)
    assert found.count("opaque If") == 1 and "neg" not in found


def test_what_a_loop_reads_from_around_it_becomes_operands() -> None:
    module, _ = import_onnx(network(LOOP).SerializeToString(), {"x": (4, 8)}, allow_opaque=True)
    (op,) = opaque(module)
    assert [v.name_hint for v in op.inputs] == ["three", None, "bias"]


def test_a_loop_inside_of_a_function_and_of_a_branch() -> None:
    body = LOOP.replace("bias", "s").replace("three", "n")
    proto = model(
        '<ir_version: 9, opset_import: ["": 17, "local": 1]>\n'
        "g (float[2,3] x) => (float[2,3] y) {\n"
        "  one = Constant<value_int = 1>() c = Cast<to = 9>(one)\n"
        "  y = If (c) <then_branch = t () => (float[2,3] p) { p = local.f(x) },\n"
        "              else_branch = e () => (float[2,3] q) { q = Neg(x) }> }\n"
        '<domain: "local", opset_import: ["": 17]> f (d) => (e) {\n'
        f"  n = Constant<value_int = 2>() s = Constant<value_float = 0.5>() {body} }}"
    )
    x = RNG.standard_normal((2, 3), dtype=np.float32)
    assert check_import(proto, {"x": x}, allow_opaque=True) == ["opaque Loop"]


@pytest.mark.parametrize("scanned", ["float[3] u", "float w"])
def test_what_a_loop_collects_gets_an_axis_of_its_own(scanned: str) -> None:
    """ONNX's reference implementation joins along the first axis: the same elements."""
    name = scanned.split()[-1]
    proto = graph(
        f"""g (float[3] x) => (float[3] y, float[{"2,3" if name == "u" else "2"}] z) {{
        n = Constant<value_int = 2>()  t = Constant<value_int = 1>()  c = Cast<to = 9>(t)
        y, z = Loop (n, c, x) <body = b (int64 i, bool k, float[3] v) =>
          (bool l, float[3] s, {scanned})
          {{ l = Identity(k) s = Add(v, v) u = Mul(v, s) w = ReduceSum<keepdims = 0>(v) }}> }}""",
        opset=17,
    )
    x = np.array([1, 2, 3], np.float32)
    assert check_import(proto, {"x": x}, allow_opaque=True) == ["opaque Loop"]


def test_without_an_implementation_it_compiles_and_says_why_it_does_not_run() -> None:
    proto = single("Frob", np.zeros(4, np.float32), domain="d")
    proto.graph.output[0].CopyFrom(helper.make_tensor_value_info("y0", 1, [4]))
    compiled = fusec.compile(fusec.load(proto.SerializeToString(), allow_opaque=True))
    assert compiled.profile()["host_calls"] == 1 and compiled.profile()["modelled_us"] == 0
    for level in ("graph", "npu"):
        with pytest.raises(ValueError, match="ONNX's reference implementation does not have it"):
            compiled.run({"x0": np.zeros(4, np.float32)}, level)


def test_equal_random_nodes_stay_two() -> None:
    proto = graph(
        "g (float[4] x) => (float[4] y) { a = RandomUniformLike(x) b = RandomUniformLike(x) "
        "y = Sub(a, b) }"
    )
    source = fusec.load(proto.SerializeToString(), allow_opaque=True)
    assert np.any(fusec.compile(source).run({"x": np.zeros(4, np.float32)})["y"] != 0)


def test_a_dead_barrier_goes_away() -> None:
    proto = network(LOOP.replace("e =", "unused =") + " e = Neg(d)")
    source = fusec.load(proto.SerializeToString(), {"x": (4, 8)}, allow_opaque=True)
    assert "opaque Loop" not in operators(source.module)


@pytest.mark.parametrize("dtype", [np.float64, np.uint8, np.int16, np.float16])
def test_types_that_no_kernel_has_pass_between_host_calls(dtype: type[np.generic]) -> None:
    given = np.arange(6).astype(dtype)
    proto = graph("g (float[6] x) => (float[6] y) { a = Reciprocal(x) b = Neg(a) y = Relu(b) }")
    kind = helper.np_dtype_to_tensor_dtype(given.dtype)
    proto.graph.node[0].op_type = proto.graph.node[1].op_type = "Max"
    del proto.graph.node[2]
    proto.graph.node[1].output[0] = "y"
    for value in (proto.graph.input[0], proto.graph.output[0]):
        value.type.tensor_type.elem_type = kind
    with without("Max"):
        source = fusec.load(proto.SerializeToString(), allow_opaque=True)
    found = fusec.compile(source).run({"x": given})["y"]
    assert found.dtype == given.dtype and np.array_equal(found, given)


def test_a_broken_node_is_a_message() -> None:
    source = fusec.load(network(LOOP).SerializeToString(), {"x": (4, 8)}, allow_opaque=True)
    (op,) = opaque(source.module)
    op.properties["onnx"] = StringAttr("FFFF")
    with pytest.raises(GraphError, match="its bytes are no ONNX FunctionProto"):
        source.run({"x": X})
