"""Own operators (`@RegOp`): in text, in ONNX models, in fusions, at every level; wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper
from xdsl.utils.exceptions import ParseError, VerifyException

from fusec.api import Model, compile, load, run_passes
from fusec.frontends.errors import ImportFailure
from fusec.opbase import (
    FusionError,
    OperatorBase,
    RegFusion,
    RegOp,
    Symbol,
    Tensor,
    ascendc,
    fusion,
    unregister,
)
from fusec.semantics import evaluate
from fusec.semantics.base import SemanticsError
from fusec.semantics.interpreter import GraphError
from fusec.semantics.weights import WeightStore
from fusec_dialects.graph import FusedOp
from own_cases import nothing_left, parsed, twice

Array = np.ndarray[Any, Any]
Compute = Callable[[list[Any], list[Any]], None]


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    with nothing_left():
        yield


def pair() -> type[OperatorBase]:
    """Two inputs, the second optional, two outputs, an attribute of each kind."""

    @RegOp("Pair", domain="my.ops")
    class Pair(OperatorBase):
        """A scaled sum, and which of its values are positive."""

        def __init__(self) -> None:
            super().__init__()
            self.add_input("x")
            self.add_input("y", optional=True)
            self.add_output("total")
            self.add_output("positive")
            self.add_attr("alpha", 0.5)
            self.add_attr("times", 2)
            self.add_attr("negate", False)
            self.add_attr("mode", "sum")
            self.add_attr("axes", [0, 1])

        def infer(self, inputs: list[Tensor]) -> list[Tensor]:
            (total, _) = super().infer(inputs)
            return [total, Tensor(total.shape, "i1")]

        def compute(self, inputs: list[Any], outputs: list[Any]) -> None:
            x, y = inputs[0], inputs[1] if len(inputs) > 1 else 0
            total = (x + y) * self.attributes["alpha"] * self.attributes["times"]
            outputs[0] = -total if self.attributes["negate"] else total
            outputs[1] = outputs[0] > 0

    return Pair


T, I1 = "tensor<4x5xf32>", "tensor<4x5xi1>"
TEXT = f"""
func.func @main(%x: {T}, %y: tensor<5xf32>) -> ({T}, {I1}) {{
  %0, %1 = graph.Pair %x, %y {{alpha = 2.0, negate = true, axes = [1]}}
    : ({T}, tensor<5xf32>) -> {T}, {I1}
  %2, %3 = graph.Pair %0 : {T} -> {T}, {I1}
  func.return %2, %3 : {T}, {I1}
}}
"""


def test_text_reads_verifies_and_prints() -> None:
    pair()
    module = parsed(TEXT)
    assert "graph.Pair %x, %y {alpha = 2.0, negate = true, axes = [1]}" in str(module)
    assert parsed(str(module)).is_structurally_equivalent(module)
    for old, new, message in (
        ("alpha = 2.0", "alhpa = 2.0", "has no attribute 'alhpa'"),
        ("negate = true", 'negate = "yes"', "expected true or false"),
        (f"-> {T}, {I1}\n  %2", f"-> {T}, {T}\n  %2", "the result is tensor<4x5xi1>"),
        ("tensor<5xf32>", "tensor<3xf32>", "5 and 3 do not broadcast"),
    ):
        with pytest.raises((ParseError, VerifyException), match=message):
            parsed(TEXT.replace(old, new))
    unregister("Pair")
    with pytest.raises(ParseError, match=r"graph\.Pair is not registered"):
        parsed(TEXT)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "f64"])
def test_numbers_at_every_level(dtype: str) -> None:
    pair()
    model = Model(parsed(TEXT.replace("f32", dtype)), WeightStore())
    made = compile(model)
    assert str(made.npu).count("npu.host_call") == 2
    types = {n: v.dtype for n, v in model.run(inputs_of(model), oracle=True).items()}
    assert types["out0"] == np.float64
    right = model.run(inputs_of(model), oracle=True)
    for level in ("graph", "fused", "npu"):
        found = made.run(inputs_of(model), level)
        assert np.allclose(found["out0"].astype(float), right["out0"], rtol=3e-2, atol=1e-2)
        assert np.array_equal(found["out1"], found["out0"] > 0)


def inputs_of(model: Model) -> dict[str, Array]:
    from fusec.accuracy.inputs import seeded_inputs

    return seeded_inputs(model.module, 0)


def test_dynamic_sizes_keep_their_names() -> None:
    pair()
    t = "tensor<?x5xf32, #graph.dims<[N, 5]>>"
    module = parsed(TEXT.replace(T, t).replace(I1, "tensor<?x5xi1>"))
    run_passes(module, "prepare,optimise")
    assert "tensor<?x5xi1, #graph.dims<[N, 5]>>" in str(module) and "graph.opaque" not in str(
        module
    )


def onnx_model(domain: str = "my.ops", opset: int = 1, **attributes: Any) -> ModelProto:
    nodes = [
        helper.make_node("Pair", ["x", "y"], ["a"], "first", domain=domain, **attributes),
        helper.make_node("Relu", ["a"], ["z"], "last"),
    ]
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4, 5]) for n in "xyz"]
    graph = helper.make_graph(nodes, "g", ports[:2], ports[2:])
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(domain or "other", opset)]
    return helper.make_model(graph, opset_imports=opsets)


def test_a_node_of_its_domain_imports_as_it() -> None:
    pair()
    model = load(onnx_model(alpha=2.0, times=3, negate=1, mode="sum", axes=[1]).SerializeToString())
    text = str(model.module)
    assert "{alpha = 2.0, times = 3, negate = true, axes = [1]}" in text
    given = inputs_of(model)
    right = np.maximum(-6 * (given["x"] + given["y"]), 0)
    assert np.allclose(compile(model).run(given)["z"], right, rtol=1e-6)


def test_nodes_that_it_is_not() -> None:
    pair()
    with pytest.raises(ImportFailure, match=r"other\.ops\.Pair"):
        load(onnx_model("other.ops").SerializeToString())
    with pytest.raises(ImportFailure, match=r"attribute 'beta' is not one of graph\.Pair's: alpha"):
        load(onnx_model(beta=1).SerializeToString())
    with pytest.raises(ImportFailure, match="attribute 'alpha' is INT, expected FLOAT"):
        load(onnx_model(alpha=1).SerializeToString())
    unregister("Pair")
    with pytest.raises(ImportFailure, match=r"my\.ops\.Pair.*; @RegOp gives one of a domain"):
        load(onnx_model().SerializeToString())


def test_any_domain_but_onnx_s_own() -> None:
    twice("Pair", None)
    model = onnx_model("anything")
    del model.graph.node[0].input[1:]
    assert "graph.Pair" in str(load(model.SerializeToString()).module)
    with pytest.raises(ImportFailure, match="Pair"):
        load(onnx_model("").SerializeToString())


def test_it_stands_in_fusions() -> None:
    twice("Twice", None)

    @fusion
    def mine(x: Symbol) -> Symbol:
        return ascendc.relu(ascendc.Twice(x))

    assert mine

    @RegFusion("WithKernel", benefit=2000)
    class WithKernel(OperatorBase):
        def __init__(self) -> None:
            super().__init__()
            self.add_input("x")
            self.add_output("y")

        def compute(self, inputs: list[Any], outputs: list[Any]) -> None:
            outputs[0] = ascendc.relu(ascendc.Twice(inputs[0]))

        def lower(self, npu: Any, inputs: list[Any], outputs: list[Any]) -> None:
            tile = npu.ub(inputs[0].shape, "f32")
            npu.load(inputs[0], tile)
            npu.vmul(tile, 2.0, tile)
            npu.vrelu(tile, tile)
            npu.store(tile, outputs[0])

    assert WithKernel
    module = parsed(f"""func.func @main(%x: {T}) -> {T} {{
      %0 = graph.Twice %x : {T} -> {T}
      %1 = graph.relu %0 : {T} -> {T}
      func.return %1 : {T}
    }}""")
    names = fused(module)
    assert names == ["WithKernel"]
    unregister("WithKernel")
    assert "mine" not in fused(module), "without a kernel of the whole, the host takes its part"


def relu(x: Symbol) -> Symbol:
    return ascendc.relu(x)


def fused(module: Any) -> list[str]:
    copy = module.clone()
    run_passes(copy, "graph-fuse")
    return [op.pattern.data for op in copy.walk() if isinstance(op, FusedOp)]


def broken(compute: Compute) -> None:
    class Broken(OperatorBase):
        def __init__(self) -> None:
            super().__init__()
            self.add_input("x")
            self.add_output("y")

        def compute(self, inputs: list[Any], outputs: list[Any]) -> None:
            compute(inputs, outputs)

    RegOp("Broken")(Broken)


def put(value: Callable[[Array], object]) -> Compute:
    def compute(inputs: list[Any], outputs: list[Any]) -> None:
        outputs[0] = value(inputs[0])

    return compute


def nothing(inputs: list[Any], outputs: list[Any]) -> None:
    """Sets no output."""


def fails(inputs: list[Any], outputs: list[Any]) -> None:
    outputs[0] = inputs[0].colour


COMPUTES: dict[str, Compute] = {
    "leaves 'y' unset": nothing,
    r"float32\[1, 3\], its infer says float32\[2, 3\]": put(lambda x: x[:1]),
    r"int32\[2, 3\], its infer says float32": put(lambda x: x.astype(np.int32)),
    "compute fails: AttributeError": fails,
}


@pytest.mark.parametrize("message", COMPUTES)
def test_what_a_compute_gets_wrong(message: str) -> None:
    broken(COMPUTES[message])
    x = np.ones((2, 3), np.float32)
    with pytest.raises(SemanticsError, match=message):
        evaluate("Broken", [x], {})
    t = "tensor<2x3xf32>"
    module = parsed(f"""func.func @main(%x: {t}) -> {t} {{
      %0 = graph.Broken %x : {t} -> {t}
      func.return %0 : {t}
    }}""")
    with pytest.raises(GraphError, match=message):
        Model(module, WeightStore()).run({"x": x})


def declare(**parts: Any) -> type[OperatorBase]:
    """A class with these inputs, outputs, optional inputs, attributes and infer."""

    class Bare(OperatorBase):
        def __init__(self) -> None:
            super().__init__()
            for name in parts.get("inputs", ["x"]):
                self.add_input(name, optional=name in parts.get("optional", ()))
            for name in parts.get("outputs", ["y"]):
                self.add_output(name)
            for name, value in parts.get("attrs", {}).items():
                self.add_attr(name, value)

        def infer(self, inputs: list[Tensor]) -> list[Tensor]:
            given = parts.get("infer")
            return super().infer(inputs) if given is None else given(inputs)

    class Declared(Bare):
        def compute(self, inputs: list[Any], outputs: list[Any]) -> None:
            outputs[0] = inputs[0]

    return Bare if parts.get("no_compute") else Declared


@pytest.mark.parametrize(
    ("name", "parts", "message"),
    [
        ("relu", {}, "an operator of this name exists"),
        ("weight", {}, "an operator of this name exists"),
        ("conv_bn_relu", {}, "a fusion of this name exists"),
        ("my op", {}, "'my op' is no name"),
        ("New", {"inputs": []}, "at least one input"),
        ("New", {"outputs": []}, "one output"),
        ("New", {"no_compute": True}, "it has no compute"),
        ("New", {"inputs": ["x", "y"], "optional": ["x"]}, "only the last"),
        ("New", {"optional": ["x"]}, "only the last of several"),
        ("New", {"attrs": {"a": None}}, "attribute 'a' is None; bool, int"),
        ("New", {"attrs": {"a b": 1}}, "attribute 'a b' is no name"),
    ],
)
def test_what_cannot_be_registered(name: str, parts: dict[str, Any], message: str) -> None:
    with pytest.raises(FusionError, match=message):
        RegOp(name)(declare(**parts))


def no_types(inputs: list[Tensor]) -> object:
    return []


def shapes(inputs: list[Tensor]) -> object:
    return [inputs[0].shape]


def unknown_element(inputs: list[Tensor]) -> object:
    return [Tensor((1,), "float")]


def division(inputs: list[Tensor]) -> object:
    return 1 / 0


INFERS: dict[str, list[Callable[[list[Tensor]], object]]] = {
    "a list of 1 Tensor": [no_types],
    "expected Tensor": [shapes, unknown_element],
    "infer fails: ZeroDivisionError": [division],
}


@pytest.mark.parametrize("message", INFERS)
def test_what_an_infer_gets_wrong(message: str) -> None:
    for infer in INFERS[message]:
        RegOp("New")(declare(infer=infer))
        with pytest.raises(VerifyException, match=message):
            parsed(f"""func.func @main(%x: {T}) -> {T} {{
              %0 = graph.New %x : {T} -> {T}
              func.return %0 : {T}
            }}""")
        unregister("New")


def test_names_of_fusions_and_operators_are_one_space() -> None:
    twice("Twice", None)
    with pytest.raises(FusionError, match="an operator of this name exists"):
        fusion(name="Twice")(relu)
    with pytest.raises(FusionError, match="exists"):
        twice("Twice", None)
    with pytest.raises(FusionError, match="no attributes"):
        RegFusion("New")(declare(attrs={"a": 1}))
