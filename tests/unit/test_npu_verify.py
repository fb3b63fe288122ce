"""npu-verify on IR that no text can hold, since the parser and fuse-opt refuse it."""

import pytest
from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import VerifyException

from fusec.npu.verify import NpuVerifyPass
from fusec_dialects.npu.attrs import GM, UB
from fusec_dialects.npu.move import AllocOp, LoadOp
from npu_ir import context


def test_use_before_definition() -> None:
    body = Block(arg_types=[MemRefType(f32, [8], memory_space=GM)])
    alloc = AllocOp(MemRefType(f32, [8], memory_space=UB))
    body.add_ops([LoadOp(body.args[0], alloc.result), alloc, ReturnOp()])
    kernel = FuncOp("k", (body.arg_types, []), Region(body))
    kernel.attributes["npu.core"] = StringAttr("vector")
    with pytest.raises(VerifyException, match=r"'npu\.load' in @k: operand 1 is used where"):
        NpuVerifyPass().apply(context(), ModuleOp([kernel]))
