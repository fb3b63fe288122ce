"""Types and numbers as HIVM text: memrefs by memory, tensors, constants.

Two ways to write a buffer: with its address space (memref form), or without (tensor form, where the
compiler finds the memories itself). Booleans in gm are i8, as nothing loads single bits.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from math import isfinite
from typing import Any, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute

from fusec.lowering.layout import Layout, Size
from fusec_dialects.npu.attrs import Space

SPACES = {Space.GM: "gm", Space.L1: "cbuf", Space.L0C: "cc", Space.UB: "ub"}
"""Names of the address spaces. L0A and L0B are not to be seen in HIVM."""


@lru_cache(maxsize=16384)
def memref_text(layout: Layout, *, spaces: bool) -> str:
    """`memref<?x300xf32, strided<[304, 1]>, #hivm.address_space<ub>>`."""
    text = f"memref<{_shape(layout.shape)}{layout.dtype}"
    if layout.strides is not None:
        offset = "" if layout.offset == 0 else f", offset: {size_text(layout.offset)}"
        text += f", strided<[{', '.join(map(size_text, layout.strides))}]{offset}>"
    return f"{text}, #hivm.address_space<{SPACES[layout.space]}>>" if spaces else f"{text}>"


def tensor_text(shape: Sequence[Size], dtype: str) -> str:
    return f"tensor<{_shape(shape)}{dtype}>"


def size_text(size: Size) -> str:
    return "?" if size is None else str(size)


def _shape(shape: Sequence[Size]) -> str:
    return "".join(f"{size_text(size)}x" for size in shape)


def constant_text(value: Attribute) -> str | None:
    """What stands behind `arith.constant`; None for what is neither a number nor a flag."""
    if isinstance(value, IntegerAttr | FloatAttr):
        number = value.value.data
        dtype = str(cast(Any, value).type)
        if isinstance(number, float):
            return f"{_float(number, dtype)} : {dtype}"
        return str(bool(number)).lower() if dtype == "i1" else f"{number} : {dtype}"
    return None


def _float(value: float, dtype: str) -> str:
    """Decimal where it is finite (MLIR wants a point in it), else the bits."""
    if isfinite(value):
        mantissa, e, exponent = repr(value).partition("e")
        return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"
    if dtype == "f16":
        return f"0x{struct.unpack('<H', struct.pack('<e', value))[0]:04X}"
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return f"0x{bits >> 16:04X}" if dtype == "bf16" else f"0x{bits:08X}"
