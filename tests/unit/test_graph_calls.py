"""A call finds its kernel in the module as it is now, not as it was seen last."""

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.exceptions import VerifyException

from fusec_dialects.graph import CallOp, KernelOp
from fusec_dialects.graph.region import kernel_of
from graph_modules import parse

T = "tensor<4xf32>"


@pytest.fixture
def module() -> ModuleOp:
    return parse(f"""
      func.func @main(%x: {T}) -> {T} {{
        %0 = graph.call @k(%x) : ({T}) -> {T}
        func.return %0 : {T}
      }}
      graph.kernel @k "neg"(%a: {T}) -> {T} {{
        %0 = graph.neg %a : {T} -> {T}
        graph.yield %0 : {T}
      }}""")


def parts(module: ModuleOp) -> tuple[CallOp, KernelOp]:
    call = next(op for op in module.walk() if isinstance(op, CallOp))
    kernel = kernel_of(call)
    assert kernel is not None
    return call, kernel


def test_a_kernel_that_is_renamed(module: ModuleOp) -> None:
    _, kernel = parts(module)
    kernel.properties["sym_name"] = StringAttr("other")
    with pytest.raises(VerifyException, match="no kernel @k"):
        module.verify()


def test_a_kernel_that_goes_away_and_another_that_comes(module: ModuleOp) -> None:
    call, kernel = parts(module)
    copy = kernel.clone()
    kernel.detach()
    assert kernel_of(call) is None
    module.body.block.add_op(copy)
    assert kernel_of(call) is copy
    module.verify()


def test_a_clone_of_the_module_has_its_own_kernels(module: ModuleOp) -> None:
    _, kernel = parts(module)
    clone = module.clone()
    assert parts(clone)[1] is not kernel and parts(clone)[1].parent_op() is clone


def test_a_call_outside_of_a_module() -> None:
    call = CallOp("k", [], [])
    assert kernel_of(call) is None
