"""Own fusions: what is registered, what they match, how wrong ones are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

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
    unregister,
)
from fusec_dialects.graph import FusedOp
from graph_modules import function
from own_cases import BIAS_RELU, chain, groups, nothing_left

M = "tensor<16x16xf32>"
KERNELS = FusionOptions(objective="kernels")


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """No test sees the fusions of another one."""
    with nothing_left():
        yield


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
