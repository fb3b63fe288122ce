"""What a model may be besides a list of nodes: functions, branches, unused and repeated outputs,
missing names, other domains, many nodes.
"""

import time
from itertools import pairwise

import numpy as np
import pytest
from onnx import AttributeProto, ModelProto, helper, numpy_helper

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.frontend import import_onnx
from onnx_reference import check_import, operators
from onnx_text import graph, model

X = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)


def failure(proto: ModelProto, allow_opaque: bool = False) -> str:
    with pytest.raises(ImportFailure) as caught:
        import_onnx(proto.SerializeToString(), allow_opaque=allow_opaque)
    return str(caught.value)


# Functions of the model.

HEAD = '<ir_version: 9, opset_import: ["": 17, "local": 1]>\n'
GRAPH = "g (float[2,3] x) => (float[a,b] y)"


def test_a_function_is_inlined() -> None:
    proto = model(
        HEAD + GRAPH + "{ y = local.twice(x) }\n"
        '<domain: "local", opset_import: ["": 17]> twice (a) => (b) { c = Relu(a) b = Add(c, a) }'
    )
    assert check_import(proto, {"x": X}) == ["relu", "add"]


def test_nested_functions_and_a_function_used_twice_keep_their_values_apart() -> None:
    proto = model(
        HEAD + GRAPH + "{ t = local.outer(x) y = local.outer(t) }\n"
        '<domain: "local", opset_import: ["": 17, "local": 1]> outer (x) => (y) '
        "{ t = local.inner(x) u = local.inner(t) y = Add(t, u) }\n"
        '<domain: "local", opset_import: ["": 17]> inner (x) => (t) { y = Relu(x) t = Neg(y) }'
    )
    assert check_import(proto, {"x": X}) == ["relu", "neg", "relu", "neg", "add"] * 2


def test_attributes_of_a_call_are_those_of_the_body_also_in_its_branches() -> None:
    proto = model(
        HEAD + GRAPH + "{ a = local.act<slope = 0.5>(x) y = local.act(a) }\n"
        '<domain: "local", opset_import: ["": 17]> act <slope: float = 0.25> (a) => (y) {\n'
        "  one = Constant<value_int = 1>()  c = Cast<to = 9>(one)\n"
        "  y = If (c) <\n"
        "    then_branch = t () => (float[2,3] p) { p = LeakyRelu<alpha: float = @slope>(a) },\n"
        "    else_branch = e () => (float[2,3] q) { q = Identity(a) }>\n}"
    )
    module, _ = import_onnx(proto.SerializeToString())
    assert [
        line.split("{")[1].split("}")[0] for line in str(module).splitlines() if "leaky" in line
    ] == [
        "alpha = 0.5",
        "alpha = 0.25",
    ]


def test_a_function_has_opsets_of_its_own() -> None:
    """Softmax of opset 11 takes all axes from 1 on together, of 13 only the last."""
    text = GRAPH.replace("[2,3]", "[2,3,2]") + "{ a = local.old(x) y = Softmax(a) }\n"
    proto = model(
        HEAD + text + '<domain: "local", opset_import: ["": 11]> old (x) => (y) { y = Softmax(x) }'
    )
    module, _ = import_onnx(proto.SerializeToString())
    assert operators(module) == ["reshape", "softmax", "reshape", "softmax"]


def test_an_optional_input_of_a_function_may_be_absent() -> None:
    proto = model(
        HEAD + GRAPH + "{ lo = Constant<value_float = -1.0>() y = local.limit(x, lo) }\n"
        '<domain: "local", opset_import: ["": 17]> limit (a, lo, hi) => (b) { b = Clip(a, lo, hi) }'
    )
    assert check_import(proto, {"x": X}) == ["clip"]


def test_large_weights_of_a_function_keep_their_names() -> None:
    """`fusec run` of compiled text finds a weight by its name in the file."""
    proto = model(
        HEAD + "g (float[2,3] x) => (float[a,b] y) { y = local.mm(x, w) }\n"
        '<domain: "local", opset_import: ["": 17]> mm (a, b) => (c) { c = MatMul(a, b) }'
    )
    proto.graph.initializer.append(numpy_helper.from_array(np.ones((3, 40), np.float32), "w"))
    module, weights = import_onnx(proto.SerializeToString())
    assert 'graph.weight "w"' in str(module) and list(weights) == ["w"]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("f (a) => (b) { b = local.f(a) }", "the function 'f' calls itself"),
        ("f (a) => (b, c) { b = Relu(a) c = Relu(a) }", ""),
        ("f () => (b) { b = Constant<value_int = 1>() }", "1 inputs and 1 outputs, but"),
        (
            "f (a) => (b) { b = Frobnicate(a) }",
            "not supported yet: Frobnicate (1 time, first 'n0')",
        ),
    ],
)
def test_functions_that_are_wrong(function: str, message: str) -> None:
    imports = '<domain: "local", opset_import: ["": 17, "local": 1]> '
    proto = model(HEAD + GRAPH + "{ y = local.f(x) }\n" + imports + function)
    if message:
        assert message in failure(proto)
    else:
        import_onnx(proto.SerializeToString())


def functions(count: int, calls: int) -> str:
    """f0, f1, ...: each calls the next so many times, the last is a Relu."""
    imports = '<domain: "local", opset_import: ["": 17, "local": 1]> '
    values = ["a", *(f"t{k}" for k in range(1, calls)), "b"]
    bodies: list[str] = []
    for i in range(count):
        steps = (f"{out} = local.f{i + 1}({x})" for x, out in pairwise(values))
        bodies.append(f"f{i} (a) => (b) {{ {' '.join(steps)} }}")
    bodies.append(f"f{count} (a) => (b) {{ b = Relu(a) }}")
    return "\n".join(imports + body for body in bodies)


def test_functions_may_not_become_endlessly_many_nodes() -> None:
    """Sixty functions that each call the next twice are 2^60 Relus: refused before any is built."""
    proto = model(HEAD + GRAPH + "{ y = local.f0(x) }\n" + functions(60, 2))
    text = failure(proto)
    assert "node 'n0' (f0): with functions the model has 3458764513820540926 nodes" in text
    proto = model(HEAD + GRAPH + "{ y = local.f0(x) }\n" + functions(5, 2))
    assert operators(import_onnx(proto.SerializeToString())[0]) == ["relu"] * 32


def test_functions_may_not_be_nested_endlessly() -> None:
    text = failure(model(HEAD + GRAPH + "{ y = local.f0(x) }\n" + functions(400, 1)))
    assert "node 'n0' (f0): it calls functions 401 deep, at most 64 are read" in text
    proto = model(HEAD + GRAPH + "{ y = local.f0(x) }\n" + functions(63, 1))
    assert operators(import_onnx(proto.SerializeToString())[0]) == ["relu"]


# Branches and other subgraphs.

NESTED = """(float[2,3] x) => (float[a,b] y) {
  s = Shape(x)  i = Constant<value_int = 0>()  n = Gather(s, i)  two = Constant<value_int = 2>()
  c = Equal(n, two)  d = Not(c)
  y = If (c) <
    then_branch = t () => (float[2,3] p) {
      r = Relu(x)
      p = If (d) <then_branch = tt () => (float[2,3] q) { q = Frobnicate(x) },
                  else_branch = te () => (float[2,3] q) { q = Neg(r) }>
    },
    else_branch = e () => (float[2,3] p) { p = Frobnicate(x) }>
}"""


def test_a_condition_by_shape_arithmetic_takes_one_branch_also_nested() -> None:
    """What stands in the branches that are not taken need not be supported."""
    module, _ = import_onnx(graph("g " + NESTED).SerializeToString())
    assert operators(module) == ["relu", "neg"]


OPEN = """(bool c, float[2,3] x) => (float[2,3] y) {
  y = If (c) <then_branch = t () => (float[2,3] p) { p = Relu(x) },
              else_branch = e () => (float[2,3] p) { p = Neg(x) }> }"""


def test_an_open_condition_is_refused_with_advice() -> None:
    message = failure(graph("g " + OPEN))
    assert message.startswith("node 'n0' (If): ") and message.endswith("that the host computes")
    assert "--allow-opaque" in message


@pytest.mark.parametrize(
    "kind", ["SequenceConstruct", "SequenceEmpty", "Optional", "StringNormalizer"]
)
def test_sequences_optionals_and_texts_are_refused_by_name(kind: str) -> None:
    proto = graph(
        f"g (float[2,3] x) => (float[2,3] y) {{ s = {kind}(x) "
        "y = ConcatFromSequence<axis = 0>(s) }"
    )
    message = failure(proto)
    assert f"{kind} (1 time, first 'n0'), ConcatFromSequence (1 time, first 'n1')" in message
    kept = failure(proto, allow_opaque=True)
    assert kept.startswith(f"node 'n0' ({kind}): it cannot be kept as graph.opaque: ")


# Outputs.


def test_what_nobody_needs_may_be_anything() -> None:
    proto = graph("g (float[2,3] x) => (float[2,3] y) { d = Frobnicate(x) e = Relu(d) y = Neg(x) }")
    module, _ = import_onnx(proto.SerializeToString())
    assert operators(module) == ["neg"]


def test_one_value_as_several_outputs_an_input_and_a_constant_as_outputs() -> None:
    proto = graph(
        "g (float[2,3] x) => (float[2,3] y, float[2,3] x, int64 c) "
        "{ c = Constant<value_int = 3>() y = Relu(x) }"
    )
    assert check_import(proto, {"x": X}) == ["relu"]
    proto = graph("g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }")
    proto.graph.output.add().CopyFrom(proto.graph.output[0])
    module, _ = import_onnx(proto.SerializeToString())
    assert "func.return %0, %0" in str(module)


# Names, domains, versions.


def test_nodes_without_names_are_called_by_type_and_place() -> None:
    proto = graph("g (float[2,3] x) => (float[2,3] y) { a = Relu(x) y = Frobnicate(a) }")
    for node in proto.graph.node:
        node.name = ""
    assert "first 'Frobnicate_1'" in failure(proto)


def test_a_default_value_of_an_input_is_a_constant() -> None:
    """Up to IR 3 every initializer stands among the inputs, as a weight."""
    proto = graph("g (float[2,3] x, float[3] w) => (float[2,3] y) { y = Add(x, w) }")
    proto.graph.initializer.append(helper.make_tensor("w", 1, [3], [1.0, 2.0, 3.0]))
    for version in range(3, 14):
        proto.ir_version = version
        module, _ = import_onnx(proto.SerializeToString())
        assert '"x"' in str(module) and 'graph.name = "w"' not in str(module)


def test_the_default_domain_has_two_names() -> None:
    proto = graph("g (float[2,3] x) => (float[2,3] y) { y = Softmax(x) }", opset=11)
    proto.opset_import[0].domain = "ai.onnx"
    proto.graph.node[0].domain = "ai.onnx"
    assert check_import(proto, {"x": X}) == ["softmax"]


def test_a_model_without_opsets_says_so() -> None:
    proto = graph("g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }")
    del proto.opset_import[:]
    assert "it imports no opset" in failure(proto)


def test_a_domain_that_is_not_imported_is_named() -> None:
    proto = graph("g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }")
    proto.opset_import[0].domain = "ai.onnx.ml"
    assert "uses ONNX's own operators, but imports no opset of them" in failure(proto)


@pytest.mark.parametrize("kind", ["com.microsoft.MatMulNBits", "ai.onnx.ml.TreeEnsemble"])
def test_operators_of_other_domains_are_refused_by_their_whole_name(kind: str) -> None:
    domain, _, op_type = kind.rpartition(".")
    proto = graph("g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }")
    proto.opset_import.add(domain=domain, version=1)
    proto.graph.node[0].domain, proto.graph.node[0].op_type = domain, op_type
    assert f"supported yet: {kind} (1 time, first 'n0')" in failure(proto)


def chain(length: int) -> ModelProto:
    kinds = ("Relu", "Neg", "Identity", "Shape", "Reshape")
    nodes = [
        helper.make_node(kind, [f"v{i}", f"s{i}"] if kind == "Reshape" else [f"v{i}"], [out])
        for i in range(length)
        for kind in (kinds[i % 3], "Shape", "Reshape")
        for out in [f"s{i}" if kind == "Shape" else f"v{i + 1}" if kind == "Reshape" else f"u{i}"]
    ]
    value = helper.make_tensor_value_info
    made = helper.make_graph(nodes, "g", [value("v0", 1, [4, 4])], [value(f"v{length}", 1, [4, 4])])
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def seconds(length: int) -> float:
    source = chain(length).SerializeToString()
    start = time.process_time()
    import_onnx(source)
    return time.process_time() - start


def test_import_takes_time_linear_in_the_nodes() -> None:
    seconds(100)
    small, large = (min(seconds(n) for _ in range(3)) for n in (500, 4000))
    assert large < 8 * small * 2.5


def test_an_attribute_of_the_wrong_kind_is_named() -> None:
    proto = graph("g (float[2,3] x) => (float[2,3] y) { y = LeakyRelu<alpha = 1>(x) }")
    assert proto.graph.node[0].attribute[0].type == AttributeProto.INT
    assert "attribute 'alpha' is INT, expected FLOAT" in failure(proto)
