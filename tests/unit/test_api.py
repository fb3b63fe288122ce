"""The Python face: load, compile, run, profile, passes of one's own, and what goes wrong."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import DiagnosticException, ParseError, PassFailedException

import fusec
from fusec.accuracy.inputs import seeded_inputs
from fusec.api import LEVELS, context, run_passes
from fusec.frontends.errors import ImportFailure
from fusec.hw import DEFAULT_TARGET
from fusec.semantics.dtypes import Array
from fusec.semantics.interpreter import GraphError
from fusec_dialects.errors import DoesNotFitError, InvalidResultError
from fusec_dialects.graph import OPERATORS, GraphOp
from networks import chain, conv_net, dynamic_batch, perceptron

ROWS = "tensor<?x24xf32, #graph.dims<[N, 24]>>"
TEXT = f"""
func.func @main(%x: {ROWS}, %b: tensor<24xf32>) -> {ROWS} {{
  %0 = graph.add %x, %b : ({ROWS}, tensor<24xf32>) -> {ROWS}
  func.return %0 : {ROWS}
}}
"""


@dataclass(frozen=True)
class NegToRelu(ModulePass):
    """A pass of one's own."""

    name = "neg-to-relu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for old in list(op.walk()):
            if isinstance(old, GraphOp) and old.op_name == "neg":
                new = OPERATORS["relu"].make(old.operands, [old.results[0].type])
                new.location = old.location
                Rewriter.replace_op(old, new)


@dataclass(frozen=True)
class Spoil(ModulePass):
    """A pass that leaves IR which does not verify."""

    name = "spoil"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, GraphOp) and inner.op_name == "neg":
                inner.operands = []


@pytest.fixture(scope="module")
def model() -> fusec.Model:
    return fusec.load(conv_net(1))


@pytest.fixture(scope="module")
def compiled(model: fusec.Model) -> fusec.Compiled:
    return fusec.compile(model, target="tiny", objective="kernels")


@pytest.fixture(scope="module")
def inputs(model: fusec.Model) -> dict[str, Array]:
    return seeded_inputs(model.module, 0)


def test_levels_agree(
    model: fusec.Model, compiled: fusec.Compiled, inputs: dict[str, Array]
) -> None:
    (expected,) = model.run(inputs, oracle=True).values()
    for level in LEVELS:
        (found,) = compiled.run(inputs, level).values()
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_what_a_compilation_holds(compiled: fusec.Compiled) -> None:
    assert compiled.target.name == "tiny"
    assert compiled.seconds.keys() == {"prepare", "optimise", "compile"}
    kinds = {level: {op.name for op in compiled.module(level).walk()} for level in LEVELS}
    assert "graph.conv" in kinds["graph"]
    assert "graph.kernel" in kinds["fused"]
    assert "npu.launch" in kinds["npu"]
    unplaced = {op.name for op in compiled.unplaced.walk()}
    assert "npu.launch" in unplaced
    assert "npu.set_flag" in kinds["npu"] - unplaced
    assert compiled.profile()["target"] == "tiny"


def test_the_model_is_left_alone(model: fusec.Model) -> None:
    before = str(model.module)
    fusec.compile(model)
    assert str(model.module) == before


def test_weights_are_derived_once(
    compiled: fusec.Compiled, inputs: dict[str, Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = compiled.run(inputs)

    def again(_: object) -> dict[str, Array]:
        raise AssertionError("weights are derived a second time")

    monkeypatch.setattr("fusec.semantics.interpreter.Interpreter.derived_weights", again)
    second = compiled.run(inputs)
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name])


def test_a_tap_sees_values(compiled: fusec.Compiled, inputs: dict[str, Array]) -> None:
    seen: dict[str, set[str]] = {}
    for level in LEVELS:
        names = seen[level] = set()
        compiled.run(inputs, level, tap=lambda name, _, names=names: names.add(name))
    assert "node_conv_0" in seen["graph"]
    assert {name for name in seen["fused"] if name.startswith("node_relu")} <= seen["graph"]
    assert any(name.startswith("@") and " block " in name for name in seen["npu"])


def test_options_as_an_object() -> None:
    options = fusec.CompileOptions("tiny", fusec.FusionOptions(objective="bytes"))
    compiled = fusec.compile(fusec.load(perceptron()), options)
    assert (compiled.options, compiled.target.name) == (options, "tiny")
    with pytest.raises(TypeError, match=r"options are given twice, .* and as target"):
        fusec.compile(fusec.load(perceptron()), options, target="tiny")


def test_keywords_reach_fusion() -> None:
    model = fusec.load(perceptron())
    assert fusec.compile(model).profile()["kernels"] == 1
    assert fusec.compile(model, fusion=False).profile()["kernels"] == 3
    assert fusec.compile(model, only="matmul_bias").profile()["kernels"] == 2
    off = ["matmul_bias", "matmul_bias_relu"]
    assert fusec.compile(model, disable=off, strategy="patterns").profile()["kernels"] == 3
    assert fusec.compile(fusec.load(chain(6)), max_depth=2).profile()["kernels"] == 3
    assert fusec.compile(fusec.load(chain(6)), max_ops=3).profile()["kernels"] == 2


def test_the_default_target() -> None:
    assert fusec.compile(fusec.load(perceptron())).target.name == DEFAULT_TARGET


def test_the_target_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(f'builtin.module attributes {{npu.target = "tiny"}} {{ {TEXT} }}')
    model = fusec.load(path, {"x": (3, 24)})
    assert fusec.compile(model).target.name == "tiny"
    assert fusec.compile(model, target="ascend910b1").target.name == "ascend910b1"


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"objective": "speed"}, "unknown objective 'speed'"),
        ({"strategy": "gredy"}, "unknown strategy 'gredy'; did you mean 'greedy'"),
        ({"disable": "conv_bn_rleu"}, "unknown pattern 'conv_bn_rleu'; did you mean"),
        ({"only": ["conv_bn"], "disable": ["conv_bn"]}, "'conv_bn' is both disabled and asked for"),
        ({"target": "tinny"}, "unknown target 'tinny'; did you mean 'tiny'"),
        ({"max_depth": -1}, "max-depth at least 0"),
    ],
)
def test_options_that_do_not_exist(keywords: dict[str, str], message: str) -> None:
    model = fusec.load(perceptron())
    with pytest.raises(PassFailedException, match=message):
        fusec.compile(model, **keywords)  # pyright: ignore[reportArgumentType]


def test_progress() -> None:
    stages: list[str] = []
    fusec.compile(fusec.load(perceptron()), progress=stages.append)
    assert stages == ["prepare", "optimise", "compile"]


# Loading


def test_load_names_its_source(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(perceptron())
    assert fusec.load(path).path == str(path)
    assert fusec.load(path.read_bytes()).path == ""
    assert fusec.compile(str(path)).profile()["model"] == str(path)


def test_shapes_of_text_reach_every_type(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(TEXT)
    dynamic = fusec.load(path)
    x, b = np.ones((5, 24), np.float32), np.ones(24, np.float32)
    assert dynamic.run({"x": x, "b": b})["out0"].shape == (5, 24)
    static = fusec.load(path, {"x": (5, 24)})
    assert "?" not in str(static.module)
    np.testing.assert_array_equal(fusec.compile(static).run({"x": x, "b": b})["out0"], 2)
    with pytest.raises(GraphError, match="input 'x'"):
        static.run({"x": x[:4], "b": b})
    with pytest.raises(ImportFailure, match="--shape names 'y', but the inputs are x, b"):
        fusec.load(path, {"y": (1,)})
    with pytest.raises(ImportFailure, match="--shape x=5x25 does not fit the model's Nx24"):
        fusec.load(path, {"x": (5, 25)})


def test_a_dynamic_size_cannot_be_compiled() -> None:
    with pytest.raises(PassFailedException, match="--shape NAME=AxB"):
        fusec.compile(fusec.load(dynamic_batch()))


def test_text_of_each_level_goes_on_from_there(tmp_path: Path) -> None:
    compiled = fusec.compile(fusec.load(chain(3)))
    inputs = seeded_inputs(compiled.model.module, 0)
    expected = compiled.run(inputs)
    for level in ("fused", "npu"):
        path = tmp_path / f"{level}.mlir"
        path.write_text(str(compiled.module(level)))
        model = fusec.load(path)
        assert model.level == level
        for name, array in model.run(inputs).items():
            np.testing.assert_allclose(array, expected[name], rtol=1e-6)
    again = fusec.compile(fusec.load(tmp_path / "fused.mlir"))
    assert again.seconds.keys() == {"compile"}
    for name, array in again.run(inputs).items():
        np.testing.assert_array_equal(array, expected[name])
    with pytest.raises(PassFailedException, match=r"npu\.mlir: it is npu IR already"):
        fusec.compile(tmp_path / "npu.mlir")
    with pytest.raises(DiagnosticException, match="shapes can be given on the graph level only"):
        fusec.load(tmp_path / "npu.mlir", {"x": (8, 40)})


def test_between_two_stages_is_refused() -> None:
    model = fusec.load(chain(2))
    run_passes(model.module, "graph-fuse")
    with pytest.raises(PassFailedException, match=r"it holds graph\.fused"):
        fusec.compile(model)


def test_fuse_lowers_nothing() -> None:
    model = fusec.fuse(fusec.load(perceptron()), objective="kernels")
    assert model.level == "fused"
    inputs = seeded_inputs(model.module, 0)
    expected = fusec.load(perceptron()).run(inputs)
    np.testing.assert_allclose(model.run(inputs)["relu_2"], expected["relu_2"], rtol=1e-6)


def test_malformed_text(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(TEXT.replace("graph.add", "graph.addd"))
    with pytest.raises(ParseError, match=r"did you mean 'graph\.add'"):
        fusec.load(path)
    with pytest.raises(FileNotFoundError):
        fusec.load(tmp_path / "gone.mlir")
    with pytest.raises(ImportFailure, match=r"gone\.onnx"):
        fusec.load(tmp_path / "gone.onnx")


# Running


@pytest.mark.parametrize("level", LEVELS)
def test_wrong_inputs(level: str) -> None:
    compiled = fusec.compile(fusec.load(perceptron()))
    x = np.zeros((20, 32), np.float32)
    for wrong, message in (
        ({}, "input 'x' is missing; there are none"),
        ({"x": x.astype(np.float16)}, "input 'x' is float16, the model takes float32"),
        ({"x": x[:2]}, "input 'x' is .*, the model takes"),
    ):
        with pytest.raises(GraphError, match=message):
            compiled.run(wrong, level)  # pyright: ignore[reportArgumentType]


def test_a_kernel_that_does_not_fit(tmp_path: Path) -> None:
    chip = tmp_path / "chip.toml"
    chip.write_text('base = "tiny"\nname = "chip"\n[capacity]\nub = 64\n')
    with pytest.raises(DoesNotFitError, match="bytes of ub, chip has 64"):
        fusec.compile(fusec.load(chain(1)), target=str(chip))


# Passes


def test_an_own_pass() -> None:
    model = fusec.load(chain(4))
    run_passes(model.module, "graph-infer-shapes,neg-to-relu,prepare", own=[NegToRelu])
    names = {op.op_name for op in model.module.walk() if isinstance(op, GraphOp)}
    assert "neg" not in names
    inputs = seeded_inputs(model.module, 0)
    assert fusec.compile(model).run(inputs)["sigmoid_3"].min() >= 0.5


def test_after_is_called_for_each_pass() -> None:
    seen: list[str] = []
    module = fusec.load(chain(2)).module
    assert run_passes(module, "prepare", after=lambda name, _: seen.append(name)) is module
    assert seen == ["graph-infer-shapes", "graph-simplify", "graph-raise"]


def test_a_pass_that_spoils_the_module_is_named() -> None:
    with pytest.raises(InvalidResultError, match="the pass 'spoil' left IR that does not verify"):
        run_passes(fusec.load(chain(4)).module, "spoil", own=[Spoil])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grpah-fuse", "unknown pass 'grpah-fuse'; did you mean graph-fuse"),
        ("graph-fuse{", "cannot be read"),
        ("optimise{strategy=greedy}", "takes no options"),
    ],
)
def test_pass_text_that_is_wrong(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run_passes(fusec.load(chain(1)).module, text)


def test_the_context_knows_our_dialects() -> None:
    assert {"graph", "npu", "func", "arith"} <= set(context().registered_dialect_names)
