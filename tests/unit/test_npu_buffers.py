"""Buffers behind views, the parts that views touch, and the accesses of a function."""

import pytest
from xdsl.dialects.memref import SubviewOp
from xdsl.ir import SSAValue

from fusec.npu.buffers import accesses, alloc_of, base_of, box_of, cores_of, may_overlap
from fusec.npu.views import make_view, sizes_of
from fusec_dialects.npu.attrs import Core, Pipe, memref_type
from npu_ir import function, parse

TEXT = """
!gm = memref<16x64xf32, #npu.space<gm>>
!ub = memref<16x64xf32, #npu.space<ub>>
!top = memref<8x64xf32, strided<[64, 1]>, #npu.space<ub>>
!low = memref<?x64xf32, strided<[64, 1], offset: 512>, #npu.space<ub>>
!left = memref<16x32xf32, strided<[64, 1]>, #npu.space<ub>>
!right = memref<16x32xf32, strided<[64, 1], offset: 32>, #npu.space<ub>>
!mid = memref<4x8xf32, strided<[128, 1], offset: 296>, #npu.space<ub>>
!row = memref<64xf32, strided<[1], offset: 192>, #npu.space<ub>>
!any = memref<1x64xf32, strided<[64, 1], offset: ?>, #npu.space<ub>>
!deep = memref<8xf32, strided<[1], offset: 200>, #npu.space<ub>>
!cast = memref<8xf32, strided<[1]>, #npu.space<gm>>
!index = memref<1xi64, #npu.space<gm>>
func.func @k(%x: !gm, %i: !index) attributes {npu.core = "mixed"} {
  %c0 = arith.constant 0 : index
  %n = memref.load %i[%c0] : !index
  %v = arith.index_cast %n : i64 to index
  %u = npu.alloc : !ub
  %top = memref.subview %u[0, 0] [8, 64] [1, 1] : !ub to !top
  %low = memref.subview %u[8, 0] [%v, 64] [1, 1] : !ub to !low
  %left = memref.subview %u[0, 0] [16, 32] [1, 1] : !ub to !left
  %right = memref.subview %u[0, 32] [16, 32] [1, 1] : !ub to !right
  %mid = memref.subview %right[4, 8] [4, 8] [2, 1] : !right to !mid
  %row = memref.subview %u[3, 0] [1, 64] [1, 1] : !ub to !row
  %any = memref.subview %u[%v, 0] [1, 64] [1, 1] : !ub to !any
  %cast = memref.reinterpret_cast %x to offset: [0], sizes: [8], strides: [1] : !gm to !cast
  %deep = memref.subview %row[8] [8] [1] : !row to !deep
  npu.load ins(%x : !gm) outs(%u : !ub)
  npu.vadd ins(%left, %left : !left, !left) outs(%right : !right)
  func.return
}
"""
KERNEL = function(parse(TEXT), "k")
VALUES: dict[str | None, SSAValue] = {
    value.name_hint: value
    for op in KERNEL.walk()
    for value in (*op.results, *(arg for region in op.regions for arg in region.block.args))
}


@pytest.mark.parametrize("name", ["u", "top", "low", "left", "right", "mid", "row", "any", "deep"])
def test_base_of_a_view(name: str) -> None:
    assert base_of(VALUES[name]) is VALUES["u"]
    assert alloc_of(VALUES[name]) is VALUES["u"].owner


def test_base_of_an_argument() -> None:
    assert base_of(VALUES["cast"]) is VALUES["x"]
    assert alloc_of(VALUES["cast"]) is None


@pytest.mark.parametrize(
    ("name", "box"),
    [
        ("u", ((0, 16), (0, 64))),
        ("top", ((0, 8), (0, 64))),
        ("low", ((8, 16), (0, 64))),  # a size that is a value: all that is left
        ("mid", ((4, 11), (40, 48))),  # four rows in steps of two
        ("row", ((3, 4), (0, 64))),
        ("any", ((0, 16), (0, 64))),
        ("deep", None),  # a view of a view that dropped an axis
        ("cast", None),
    ],
)
def test_box_of(name: str, box: tuple[tuple[int, int], ...] | None) -> None:
    assert box_of(VALUES[name]) == box


@pytest.mark.parametrize(
    ("a", "b", "overlap"),
    [
        ("top", "low", False),
        ("left", "right", False),
        ("left", "mid", False),
        ("right", "mid", True),
        ("top", "left", True),
        ("row", "top", True),
        ("row", "low", False),
        ("any", "low", True),
        ("deep", "low", True),
        ("cast", "cast", True),
    ],
)
def test_may_overlap(a: str, b: str, overlap: bool) -> None:
    assert may_overlap(VALUES[a], VALUES[b]) is overlap
    assert may_overlap(VALUES[b], VALUES[a]) is overlap


def test_accesses() -> None:
    found = accesses(KERNEL)
    names = [
        (a.op.name, a.view.name_hint, a.base.name_hint, a.writes, a.agent) for a in found.accesses
    ]
    assert names == [
        ("memref.load", "i", "i", False, (Core.CUBE, Pipe.S)),
        ("memref.load", "i", "i", False, (Core.VECTOR, Pipe.S)),
        ("npu.load", "x", "x", False, (Core.VECTOR, Pipe.MTE2)),
        ("npu.load", "u", "u", True, (Core.VECTOR, Pipe.MTE2)),
        ("npu.vadd", "left", "u", False, (Core.VECTOR, Pipe.V)),
        ("npu.vadd", "left", "u", False, (Core.VECTOR, Pipe.V)),
        ("npu.vadd", "right", "u", True, (Core.VECTOR, Pipe.V)),
    ]
    assert cores_of(KERNEL) == (Core.CUBE, Core.VECTOR)
    assert [alloc.op.result.name_hint for alloc in found.allocs] == ["u"]


def test_sizes_of() -> None:
    assert sizes_of(VALUES["low"]) == [VALUES["v"], 64]
    assert sizes_of(VALUES["row"]) == [64]
    assert sizes_of(VALUES["v"]) is None


@pytest.mark.parametrize(
    ("source", "offsets", "sizes"),
    [
        ("u", (0, 0), (8, 64)),
        ("u", ("v", 3), (1, "v")),
        ("mid", (1, 2), (2, 4)),
        ("low", (0, "v"), ("v", 8)),
    ],
)
def test_make_view_has_the_inferred_type(
    source: str, offsets: tuple[int | str, ...], sizes: tuple[int | str, ...]
) -> None:
    starts = [VALUES[o] if isinstance(o, str) else o for o in offsets]
    lengths = [VALUES[s] if isinstance(s, str) else s for s in sizes]
    view = make_view(VALUES[source], starts, lengths)
    view.verify()
    source_type = memref_type(view.source.type)
    assert source_type is not None
    inferred = SubviewOp.infer_result_type(source_type, starts, lengths, [1, 1])
    assert view.result.type == inferred
    assert sizes_of(view.result) == lengths
    view.erase()
