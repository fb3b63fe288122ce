"""The builder of kernel functions: what it folds, what it shares, the types of its views."""

from __future__ import annotations

import random

import pytest
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import NameLoc, NoneAttr, StringAttr
from xdsl.ir import SSAValue

from fusec.lowering.builder import Index, KernelBuilder, standard
from fusec.lowering.layout import layout_of, memref_of
from fusec_dialects.npu import LoadOp
from fusec_dialects.npu.attrs import Space, memref_type


@pytest.fixture
def builder() -> KernelBuilder:
    return KernelBuilder("k", [("x", standard((12, 40, 50), "f32"))])


def names(b: KernelBuilder) -> list[str]:
    return [op.name for op in b.entry.ops]


def test_known_indices_leave_no_operations(builder: KernelBuilder) -> None:
    b = builder
    assert (b.add(3, 4), b.mul(3, 4), b.min(3, 4), b.max(3, 4)) == (7, 12, 3, 4)
    assert (b.sub(3, 4), b.floordiv(7, 2), b.ceildiv(7, 2), b.mod(7, 2)) == (-1, 3, 4, 1)
    assert b.equal(2, 2) is True and b.both(True, False) is False
    assert b.rest(64, 48, 16) == 16 and b.rest(60, 48, 16) == 12
    assert names(b) == []


def test_neutral_elements_leave_no_operations(builder: KernelBuilder) -> None:
    b = builder
    block = b.block_idx()
    assert b.add(block, 0) is block and b.add(0, block) is block and b.mul(1, block) is block
    assert b.mul(block, 0) == 0 and b.sub(block, block) == 0 and b.floordiv(block, 1) is block
    assert b.mod(block, 1) == 0 and b.rest(64, block, 16) == 16
    assert names(b) == ["npu.block_idx"]


def test_equal_operations_are_shared_within_their_scope(builder: KernelBuilder) -> None:
    b = builder
    block = b.block_idx()
    outer = b.mul(block, 3)
    with b.loop(0, 5) as i:
        assert b.mul(block, 3) is outer and b.block_idx() is block
        inner = b.add(block, i)
        assert b.add(block, i) is inner
    with b.loop(0, 5):
        fresh = b.add(block, 7)
    assert b.add(block, 7) is not fresh


def test_one_known_trip_is_no_loop(builder: KernelBuilder) -> None:
    with builder.loop(4, 8, 4) as start:
        assert start == 4
    with builder.loop(0, 9, 4) as start:
        assert isinstance(start, SSAValue)
    assert names(builder).count("scf.for") == 1
    loop = next(op for op in builder.entry.ops if isinstance(op, scf.ForOp))
    loop.verify()


def test_constants_stand_once_at_the_head(builder: KernelBuilder) -> None:
    b = builder
    b.block_idx()
    with b.loop(0, 5) as i:
        b.add(i, 17)
        b.mul(i, 17)
    head = [op for op in b.entry.ops if isinstance(op, arith.ConstantOp)]
    assert names(b)[: len(head)] == ["arith.constant"] * len(head)
    assert sum("17" in str(op.value) for op in head) == 1


def test_scalars_are_rounded_to_their_type(builder: KernelBuilder) -> None:
    owner = builder.scalar(0.1, "f16").owner
    assert isinstance(owner, arith.ConstantOp) and "9.997" in str(owner.value)


def test_rows_in_ub_start_on_a_block(builder: KernelBuilder) -> None:
    for dtype, row in (("f32", 304), ("f16", 304), ("i8", 320), ("i64", 300)):
        buffer = builder.alloc(Space.UB, (16, 300), dtype)
        assert builder.layout(buffer).shape == (16, row)
    assert builder.layout(builder.alloc(Space.L1, (16, 300), "f16")).shape == (16, 300)


def test_a_view_of_everything_is_no_operation(builder: KernelBuilder) -> None:
    x = builder.args[0]
    assert builder.subview(x, [0, 0, 0], [12, 40, 50]) is x
    assert builder.reinterpret(x, 0, [12, 40, 50], [2000, 50, 1]) is x
    assert builder.leading(x, (12, 40, 50)) is x and names(builder) == []


@pytest.mark.parametrize("seed", range(20))
def test_types_of_sub_views_are_those_of_xdsl(seed: int) -> None:
    """The cached inference against the one of `memref.subview`, known and unknown numbers mixed."""
    rng = random.Random(seed)
    b = KernelBuilder("k", [("x", standard((12, 40, 50), "f32"))])
    block = b.block_idx()

    def some(known: int) -> Index:
        return block if rng.random() < 0.3 else known

    view = b.args[0]
    if seed % 2:
        view = b.reinterpret(view, some(3), [6, 20, 7], [some(5), 9, 1])
    rank = len(b.layout(view).shape)
    offsets = [some(rng.choice([0, 1, 2])) for _ in range(rank)]
    sizes = [some(rng.choice([1, 2, 5])) for _ in range(rank)]
    steps = [some(rng.choice([1, 2])) for _ in range(rank)]
    found = b.subview(view, offsets, sizes, steps)
    source = memref_type(view.type)
    assert source is not None
    expected = memref.SubviewOp.infer_result_type(source, offsets, sizes, steps)
    assert found.type == expected
    assert memref_of(layout_of(expected)) == expected
    if found is not view:
        assert b.sizes(found) == tuple(sizes)


def test_dropped_dimensions(builder: KernelBuilder) -> None:
    view = builder.subview(builder.args[0], [3, 0, 8], [1, 40, 1], drop=(0, 2))
    layout = builder.layout(view)
    assert (layout.shape, layout.strides, layout.offset) == ((40,), (50,), 6008)
    assert builder.sizes(view) == (40,)


def test_tiles_of_a_grid() -> None:
    b = KernelBuilder("k", [("x", standard((4,), "f32"))])
    with b.block_loop((3, 1, 4), 12) as at:
        assert at[1] == 0 and isinstance(at[0], SSAValue)
    assert "scf.for" not in names(b)
    with b.block_loop((3, 1, 4), 5):
        pass
    assert names(b).count("scf.for") == 1
    with b.block_loop((1, 1), 1) as at:
        assert at == (0, 0)


def test_locations_follow_the_operator(builder: KernelBuilder) -> None:
    place = NameLoc(StringAttr("conv1"), NoneAttr())
    with builder.at(place):
        tile = builder.alloc(Space.UB, (4, 8), "f32")
        part = builder.subview(builder.args[0], [0, 0, 0], [1, 4, 8], drop=(0,))
        op = builder.op(LoadOp, part, tile)
    assert op.location == place and builder.location != place
    assert all(inner.location == place for inner in builder.entry.ops)
