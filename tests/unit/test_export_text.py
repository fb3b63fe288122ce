"""Numbers and types as HIVM text."""

import pytest
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute

from fusec.export.hivm_types import constant_text, memref_text, tensor_text
from fusec.lowering.layout import Layout
from fusec_dialects.npu.attrs import Space

F32, F16, BF16 = Float32Type(), Float16Type(), BFloat16Type()
INF = float("inf")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (FloatAttr(0.5, F32), "0.5 : f32"),
        (FloatAttr(-0.0, F32), "-0.0 : f32"),
        (FloatAttr(1e-5, F32), "9.999999747378752e-06 : f32"),
        (FloatAttr(1e30, F32), "1.0000000150474662e+30 : f32"),
        (FloatAttr(2.0**-140, F32), "7.174648137343064e-43 : f32"),
        (FloatAttr(-INF, F32), "0xFF800000 : f32"),
        (FloatAttr(INF, F16), "0x7C00 : f16"),
        (FloatAttr(INF, BF16), "0x7F80 : bf16"),
        (FloatAttr(float("nan"), F32), "0x7FC00000 : f32"),
        (IntegerAttr(-3, IndexType()), "-3 : index"),
        (IntegerAttr(7, i64), "7 : i64"),
        (IntegerAttr(1, i1), "true"),
        (IntegerAttr(0, i1), "false"),
        (StringAttr("x"), None),
    ],
)
def test_constants(value: Attribute, text: str | None):
    assert constant_text(value) == text


def test_memrefs_by_memory():
    whole = Layout((16, 304), None, 0, "f32", Space.UB)
    part = Layout((None, 300), (304, 1), None, "f32", Space.L0C)
    scalar = Layout((), None, 0, "i64", Space.GM)
    assert memref_text(whole, spaces=True) == "memref<16x304xf32, #hivm.address_space<ub>>"
    assert memref_text(whole, spaces=False) == "memref<16x304xf32>"
    assert memref_text(part, spaces=True) == (
        "memref<?x300xf32, strided<[304, 1], offset: ?>, #hivm.address_space<cc>>"
    )
    assert memref_text(scalar, spaces=True) == "memref<i64, #hivm.address_space<gm>>"
    assert tensor_text((None, 8), "i1") == "tensor<?x8xi1>"
