"""Bytes of a buffer: layout padding, one-byte booleans."""

import pytest
from xdsl.dialects.builtin import (
    MemRefType,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from fusec_dialects.npu.attrs import GM, L0A, L0B, L0C, L1, UB, Space, SpaceAttr
from fusec_dialects.npu.storage import element_bytes, storage_bytes


@pytest.mark.parametrize(
    ("type_", "size"),
    [(i1, 1), (i8, 1), (i16, 2), (i32, 4), (i64, 8), (f16, 2), (bf16, 2), (f32, 4), (f64, 8)],
)
def test_element_bytes(type_: Attribute, size: int) -> None:
    assert element_bytes(type_) == size


@pytest.mark.parametrize(
    ("element", "shape", "space", "size"),
    [
        (f32, [16, 300], UB, 16 * 300 * 4),  # row-major, no padding
        (i1, [5], UB, 5),
        (f16, [3, 3], GM, 18),
        (f16, [], UB, 2),
        (f16, [25, 50], L1, 32 * 64 * 2),  # nz: 16 rows of 32 bytes
        (f32, [25, 50], L1, 32 * 56 * 4),
        (i8, [25, 50], L1, 32 * 64),
        (f16, [3, 25, 50], L1, 3 * 32 * 64 * 2),  # the last two axes are the matrix
        (f16, [25, 50], SpaceAttr.get(Space.L1, "nd"), 25 * 50 * 2),
        (f32, [20], L1, 80),  # a bias
        (f32, [25, 50], L0A, 32 * 56 * 4),  # zz: K is the second axis
        (f32, [50, 25], L0B, 56 * 32 * 4),  # zn: K is the first axis
        (i8, [50, 25], L0B, 64 * 32),
        (f32, [25, 20], L0C, 32 * 32 * 4),  # 16 x 16 whatever the type
        (i32, [16, 17], L0C, 16 * 32 * 4),
    ],
)
def test_storage_bytes(element: Attribute, shape: list[int], space: SpaceAttr, size: int) -> None:
    assert storage_bytes(MemRefType(element, shape, memory_space=space)) == size


def test_dynamic_shape_has_no_size() -> None:
    with pytest.raises(VerifyException, match="no static capacity"):
        storage_bytes(MemRefType(f32, [-(2**63), 4], memory_space=UB))


def test_no_element_size() -> None:
    with pytest.raises(VerifyException, match="no buffer holds elements of type tensor<2xf32>"):
        element_bytes(TensorType(f32, [2]))
