"""Own fusions: what is registered, what they match, how wrong ones are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

from fusec import universe
from fusec.api import Model, compile, run_passes
from fusec.config.fusion_options import FusionOptions
from fusec.fusion.fuse import fuse_module
from fusec.fusion.patterns import all_patterns
from fusec.fusion.patterns.own import OWN
from fusec.opbase import (
    FusionError,
    OperatorBase,
    RegFusion,
    Symbol,
    ascendc,
    fusion,
    load,
    load_entry_points,
    load_pdl,
    loading,
    unregister,
)
from fusec.semantics.weights import WeightStore
from fusec_dialects.graph import FusedOp
from graph_modules import function
from own_cases import nothing_left

M = "tensor<16x16xf32>"
KERNELS = FusionOptions(objective="kernels")


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """No test sees the fusions of another one."""
    with nothing_left():
        yield


def groups(module: ModuleOp) -> list[str]:
    run_passes(module, "graph-fuse{objective=kernels}")
    return [op.pattern.data for op in module.walk() if isinstance(op, FusedOp)]


def chain(*ops: str, results: str = "%2") -> ModuleOp:
    """%0 = x y by a product, then what `ops` say; `results` are returned."""
    body = [f"%0 = graph.matmul %x, %y : ({M}, {M}) -> {M}", *ops]
    count = results.count("%")
    types = ", ".join([M] * count)
    body.append(f"func.return {results} : {types}")
    return function(f"%x: {M}, %y: {M}, %b: {M}", f"({types})", "\n".join(body))


BIAS_RELU = (
    f"%1 = graph.add %b, %0 : ({M}, {M}) -> {M}",
    f"%2 = graph.relu %1 : {M} -> {M}",
)


def matmul_add_relu() -> type[OperatorBase]:
    @RegFusion("MatMulAddReluFusion")
    class MatMulAddReluFusion(OperatorBase):
        """A product, a sum and relu."""

        def __init__(self) -> None:
            super().__init__()
            self.add_input("a")
            self.add_input("b")
            self.add_input("bias")
            self.add_output("output")

        def compute(self, inputs: list[Symbol], outputs: list[Any]) -> None:
            a, b, bias = inputs
            outputs[0] = ascendc.relu(ascendc.add(ascendc.matmul(a, b), bias))

    return MatMulAddReluFusion


def test_it_goes_before_the_library_and_takes_operands_in_either_order() -> None:
    assert groups(chain(*BIAS_RELU)) == ["matmul_residual_relu"]
    matmul_add_relu()
    assert all_patterns()["MatMulAddReluFusion"].doc == "A product, a sum and relu."
    assert groups(chain(*BIAS_RELU)) == ["MatMulAddReluFusion"]
    unregister("MatMulAddReluFusion")
    assert groups(chain(*BIAS_RELU)) == ["matmul_residual_relu"]


def test_it_obeys_the_switch() -> None:
    matmul_add_relu()
    module = chain(*BIAS_RELU)
    options = FusionOptions(objective="kernels", disable=frozenset({"MatMulAddReluFusion"}))
    fuse_module(module, options)
    names = [op.pattern.data for op in module.walk() if isinstance(op, FusedOp)]
    assert names == ["matmul_residual_relu"]


def test_a_near_miss_names_the_value_that_escapes() -> None:
    matmul_add_relu()
    module = chain(*BIAS_RELU, results="%1, %2")
    remarks = fuse_module(module, KERNELS)
    (escape,) = [r for r in remarks if r.reason == "escapes"]
    assert escape.pattern == "MatMulAddReluFusion"
    assert "add" in escape.message


def test_an_inner_value_may_be_an_output() -> None:
    @fusion
    def sum_and_relu(x: Symbol, y: Symbol, b: Symbol) -> tuple[Symbol, Symbol]:
        total = x @ y + b
        return total, ascendc.relu(total)

    assert sum_and_relu
    assert groups(chain(*BIAS_RELU, results="%1, %2")) == ["sum_and_relu"]


def test_numbers_and_attributes_are_part_of_it() -> None:
    @fusion(name="half")
    def scaled(x: Symbol) -> Symbol:
        return ascendc.leaky_relu(x * 0.5, alpha=0.25)

    assert scaled

    def body(factor: float, alpha: float) -> ModuleOp:
        return function(
            f"%x: {M}",
            M,
            f"""%c = graph.constant dense<{factor}> : tensor<f32>
            %0 = graph.mul %x, %c : ({M}, tensor<f32>) -> {M}
            %1 = graph.leaky_relu %0 {{alpha = {alpha}}} : {M} -> {M}
            func.return %1 : {M}""",
        )

    assert groups(body(0.5, 0.25)) == ["half"]
    assert groups(body(0.75, 0.25)) == ["mul_leaky_relu"]
    assert groups(body(0.5, 0.5)) == ["mul_leaky_relu"]


def test_a_value_used_twice_is_one_value() -> None:
    @fusion
    def square_sum(x: Symbol, y: Symbol) -> Symbol:
        return x * x + y

    assert square_sum

    def body(second: str) -> ModuleOp:
        return function(
            f"%x: {M}, %y: {M}",
            M,
            f"""%0 = graph.mul %x, {second} : ({M}, {M}) -> {M}
            %1 = graph.add %y, %0 : ({M}, {M}) -> {M}
            func.return %1 : {M}""",
        )

    assert groups(body("%x")) == ["square_sum"]
    assert groups(body("%y")) == ["mul_add"]


def test_views_alone_are_no_kernel() -> None:
    @fusion
    def flat(x: Symbol) -> Symbol:
        return ascendc.reshape(x)

    assert flat
    module = function(
        f"%x: {M}",
        "tensor<256xf32>",
        f"""%0 = graph.exp %x : {M} -> {M}
        %1 = graph.reshape %0 : {M} -> tensor<256xf32>
        func.return %1 : tensor<256xf32>""",
    )
    assert groups(module) == ["exp"]


def test_benefit_decides_between_two() -> None:
    @fusion(benefit=5)
    def small(x: Symbol, y: Symbol) -> Symbol:
        return ascendc.relu(x + y)

    @fusion(benefit=6)
    def large(x: Symbol, y: Symbol, b: Symbol) -> Symbol:
        return ascendc.relu(x @ y + b)

    assert small and large
    assert groups(chain(*BIAS_RELU)) == ["large"]


def relu(x: Symbol) -> Symbol:
    return ascendc.relu(x)


def two_inputs(x: Symbol, y: Symbol) -> Symbol:
    return ascendc.relu(x) if y else x


WRONG: dict[str, tuple[Callable[[Symbol], object], str]] = {
    "an unknown operator": (lambda x: ascendc.matmull(x, x), "did you mean 'matmul'"),
    "an unknown attribute": (lambda x: ascendc.softmax(x, axsi=1), "did you mean 'axis'"),
    "nothing returned": (lambda x: None, "unset"),
    "an input returned": (lambda x: x, "unset, or as an input"),
    "two expressions": (lambda x: (ascendc.exp(x), ascendc.relu(x)), "not on the way"),
    "a wrong operand": (lambda x: ascendc.add(x, "1"), "an operand is str"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_ones_are_refused(name: str) -> None:
    function_, message = WRONG[name]
    with pytest.raises(FusionError, match=message):
        fusion(function_, name="wrong")
    assert "wrong" not in OWN.fusions


def test_an_unused_input() -> None:
    with pytest.raises(FusionError, match="does not use the input 'y'"):
        fusion(two_inputs, name="wrong")


def test_names() -> None:
    for taken in ("conv_bn_relu", "my fusion", ""):
        with pytest.raises(FusionError):
            fusion(name=taken)(relu)
    matmul_add_relu()
    with pytest.raises(FusionError, match="exists"):
        matmul_add_relu()


def test_outputs_have_to_be_declared_and_set() -> None:
    with pytest.raises(FusionError, match="not declared"):

        @RegFusion("Undeclared")
        class Undeclared(OperatorBase):
            def compute(self, inputs: list[Symbol], outputs: list[Any]) -> None:
                outputs[0] = ascendc.relu(inputs[0])

    with pytest.raises(FusionError, match="no compute"):

        @RegFusion("Empty")
        class Empty(OperatorBase):
            pass


def test_a_deep_expression_is_matched_in_linear_time() -> None:
    @fusion
    def powers(x: Symbol) -> Symbol:
        for _ in range(24):
            x = x * x
        return x

    assert powers
    lines = [f"%{i + 1} = graph.mul %{i}, %{i} : ({M}, {M}) -> {M}" for i in range(24)]
    module = function(
        f"%x: {M}",
        M,
        f"%0 = graph.relu %x : {M} -> {M}\n" + "\n".join(lines) + f"\nfunc.return %24 : {M}",
    )
    assert groups(module) == ["relu", "powers"]


PDL = """
pdl.pattern @SumRelu : benefit(3) {
  %a = pdl.operand
  %b = pdl.operand
  %t = pdl.type
  %0 = pdl.operation "graph.add"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %1 = pdl.result 0 of %0
  %n = pdl.attribute = 0.25
  %2 = pdl.operation "graph.leaky_relu"(%1 : !pdl.value) {"alpha" = %n} -> (%t : !pdl.type)
  pdl.rewrite %2 with "fuse"
}
"""


def leaky(alpha: float) -> ModuleOp:
    return function(
        f"%x: {M}, %y: {M}",
        M,
        f"""%0 = graph.add %x, %y : ({M}, {M}) -> {M}
        %1 = graph.leaky_relu %0 {{alpha = {alpha}}} : {M} -> {M}
        func.return %1 : {M}""",
    )


def test_pdl(tmp_path: Path) -> None:
    (tmp_path / "own.mlir").write_text(PDL)
    assert load(tmp_path / "own.mlir") == ["SumRelu"]
    assert OWN.fusions["SumRelu"].benefit == 3
    assert groups(leaky(0.25)) == ["SumRelu"]
    assert groups(leaky(0.5)) == ["add_leaky_relu"]


def test_pdl_says_which_inner_values_may_escape(tmp_path: Path) -> None:
    both = function(
        f"%x: {M}, %y: {M}",
        f"({M}, {M})",
        f"""%0 = graph.add %x, %y : ({M}, {M}) -> {M}
        %1 = graph.leaky_relu %0 {{alpha = 0.25}} : {M} -> {M}
        func.return %0, %1 : {M}, {M}""",
    )
    (tmp_path / "closed.mlir").write_text(PDL)
    load_pdl(tmp_path / "closed.mlir")
    (remark,) = [r for r in fuse_module(both.clone(), KERNELS) if r.pattern == "SumRelu"]
    assert remark.reason == "escapes" and "add" in remark.message
    unregister("SumRelu")
    (tmp_path / "open.pdl").write_text(PDL.replace('"fuse"', '"fuse"(%1 : !pdl.value)'))
    assert load_pdl(tmp_path / "open.pdl") == ["SumRelu"]
    assert groups(both) == ["SumRelu"]


WRONG_PDL = {
    "the root as an inner value": (
        ('with "fuse"', 'with "fuse"(%2 : !pdl.operation)'),
        "the root is an output anyway",
    ),
    "an input as an inner value": (
        ('with "fuse"', 'with "fuse"(%a : !pdl.value)'),
        "stand inner operations",
    ),
    "an unknown operator": (("graph.add", "graph.ad"), "unknown operator 'graph.ad'"),
    "another dialect": (("graph.add", "arith.addf"), "unknown operator 'arith.addf'"),
    "an unknown attribute": (('"alpha"', '"alhpa"'), "did you mean 'alpha'"),
    "another rewrite": (('with "fuse"', 'with "other"'), 'with "fuse"'),
    "no name": (("@SumRelu ", ""), "needs a name"),
    "a second result": (("result 0", "result 1"), "one result"),
    "a taken name": (("@SumRelu", "@conv_bn_relu"), "exists"),
    "no pdl": (("pdl.pattern", "pdl.patern"), "own.mlir"),
}


@pytest.mark.parametrize("name", WRONG_PDL)
def test_wrong_pdl(name: str, tmp_path: Path) -> None:
    (old, new), message = WRONG_PDL[name]
    good = PDL.replace("SumRelu", "Good")
    (tmp_path / "own.mlir").write_text(good + PDL.replace(old, new))
    with pytest.raises(FusionError) as caught:
        load(tmp_path / "own.mlir")
    assert message in str(caught.value) and "own.mlir" in str(caught.value)
    assert not OWN.fusions


def test_python_files(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "from fusec.opbase import ascendc, fusion\n\n@fusion\n"
        "def sum_leaky(x, y):\n    return ascendc.leaky_relu(x + y, alpha=0.25)\n"
    )
    assert load(file) == ["sum_leaky"]
    assert groups(leaky(0.25)) == ["sum_leaky"]
    for text, message in (
        ("def", "not Python"),
        ("x = 1\ny = x / 0", r"own\.py:2: ZeroDivisionError"),
        ("import nosuchmodule", r"own\.py:1: ModuleNotFoundError"),
        ("from fusec.opbase import *\nfusion(lambda x: ascendc.rleu(x), name='a')", "rleu"),
    ):
        file.write_text(text)
        with pytest.raises(FusionError, match=message):
            load(file)
    (tmp_path / "own.txt").write_text("")
    with pytest.raises(FusionError, match=r"a \.py or an \.mlir file"):
        load(tmp_path / "own.txt")
    with pytest.raises(FusionError, match=r"none\.py"):
        load(tmp_path / "none.py")


class Entry:
    """An entry point of an installed package."""

    name, value, dist = "mine", "package.module:function", None

    def __init__(self, loaded: Any) -> None:
        self.load = lambda: loaded


def test_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    def register() -> None:
        fusion(name="from_a_package")(relu)

    def wrong() -> None:
        fusion(name="half")(relu)
        raise KeyError("x")

    def found(*loaded: Any) -> None:
        def entries(group: str) -> list[Entry]:
            return [Entry(x) for x in loaded]

        monkeypatch.setattr(loading, "entry_points", entries)

    found(register)
    assert load_entry_points("fusec.fusions") == ("from_a_package",)
    found(wrong)
    with pytest.raises(FusionError, match=r"entry point 'mine' of \?: package.*KeyError"):
        load_entry_points("fusec.fusions")
    assert "half" not in OWN.fusions and "from_a_package" in OWN.fusions


def test_entry_points_are_loaded_once_by_whoever_comes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[str] = []

    def entries(group: str) -> list[Entry]:
        calls.append(group)
        return []

    monkeypatch.setattr(universe, "entry_points", entries)
    universe.load_own_fusions.cache_clear()
    groups(chain(*BIAS_RELU))
    compile(Model(chain(*BIAS_RELU), WeightStore()))
    compile(Model(chain(*BIAS_RELU), WeightStore()))
    assert calls == ["fusec.fusions"]
