"""Operators that hold, move and transpose-free copy data: alloc, load, store, fixpipe, copy."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IntegerAttr, MemRefType, NoneAttr, UnitAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryAllocEffect
from xdsl.utils.exceptions import VerifyException

from .attrs import Core, Pipe, Space, SpaceAttr, space_of
from .base import (
    Agent,
    Buffer,
    BufferEffects,
    NpuOp,
    element_type,
    expect_space,
    same_size,
    shape_of,
    verify_same_shape,
)
from .storage import element_bytes

FIXPIPE_CASTS = frozenset({("f32", "f32"), ("f32", "f16"), ("f32", "bf16"), ("i32", "i32")})
"""Conversions that fixpipe has without a quantisation scale."""


@irdl_op_definition
class AllocOp(IRDLOperation):
    """A buffer of static capacity: `npu.alloc at 0 copies 2 : memref<16x304xf32, #npu.space<ub>>`.

    Without `at` it is not placed yet. `at` is the byte address in the buffer's space. With
    `copies N` the buffer rotates: iteration i of the loop it stands in uses the copy i mod N, which
    lies i mod N times the aligned size (see `storage_bytes`) behind the address.
    """

    name = "npu.alloc"

    address = opt_prop_def(IntegerAttr[I64])
    copies = opt_prop_def(IntegerAttr[I64])
    result = result_def(Buffer)

    traits = traits_def(MemoryAllocEffect())
    assembly_format = "(`at` $address^)? (`copies` $copies^)? attr-dict `:` type($result)"

    def __init__(
        self, type_: MemRefType, address: int | None = None, copies: int | None = None
    ) -> None:
        super().__init__(
            result_types=[type_],
            properties={
                "address": None if address is None else IntegerAttr(address, i64),
                "copies": None if copies is None else IntegerAttr(copies, i64),
            },
        )

    def verify_(self) -> None:
        if not self.result.type.has_static_shape():
            raise VerifyException(
                "npu.alloc: a buffer has a static capacity; work on a sub-view for dynamic sizes"
            )
        if not isinstance(self.result.type.layout, NoneAttr):
            raise VerifyException(
                "npu.alloc: a buffer is contiguous: padding belongs to its sizes, steps to views"
            )
        element_bytes(self.result.type.element_type)
        if self.address is not None and self.address.value.data < 0:
            raise VerifyException("npu.alloc: the address is negative")
        if self.copies is not None and self.copies.value.data < 1:
            raise VerifyException("npu.alloc: a buffer has at least one copy")

    @property
    def copy_count(self) -> int:
        return 1 if self.copies is None else self.copies.value.data


class MoveOp(NpuOp):
    """One source buffer to one destination buffer of the same shape."""

    source = operand_def(Buffer)
    dest = operand_def(Buffer)

    traits = traits_def(BufferEffects())
    assembly_format = (
        "`ins` `(` $source `:` type($source) `)` `outs` `(` $dest `:` type($dest) `)` attr-dict"
    )

    def __init__(self, source: SSAValue, dest: SSAValue) -> None:
        super().__init__(operands=[source, dest])

    def reads(self) -> Sequence[SSAValue]:
        return (self.source,)

    def writes(self) -> Sequence[SSAValue]:
        return (self.dest,)

    def verify_same_type(self) -> None:
        verify_same_shape(self, self.source, self.dest)
        self.verify_same_element_type()

    def verify_same_element_type(self) -> None:
        if element_type(self.source) != element_type(self.dest):
            raise VerifyException(
                f"{self.name}: element types differ; only fixpipe and vcast convert"
            )


@irdl_op_definition
class LoadOp(MoveOp):
    """gm to ub (vector core) or gm to l1 (cube core; row-major to fractals on the way)."""

    name = "npu.load"

    def verify_(self) -> None:
        expect_space(self, self.source, "source", (Space.GM,))
        expect_space(self, self.dest, "destination", (Space.UB, Space.L1))
        self.verify_same_type()

    def agent(self) -> Agent:
        core = Core.CUBE if space_of(self.dest.type) == Space.L1 else Core.VECTOR
        return Agent(core, Pipe.MTE2)


@irdl_op_definition
class StoreOp(MoveOp):
    """ub to gm."""

    name = "npu.store"

    def verify_(self) -> None:
        expect_space(self, self.source, "source", (Space.UB,))
        expect_space(self, self.dest, "destination", (Space.GM,))
        self.verify_same_type()

    def agent(self) -> Agent:
        return Agent(Core.VECTOR, Pipe.MTE3)


@irdl_op_definition
class CopyOp(MoveOp):
    """l1 to l0a or l0b (cube core; `transpose` swaps the two axes on the way) or ub to ub."""

    name = "npu.copy"
    transpose = opt_prop_def(UnitAttr)
    assembly_format = (
        "(`transpose` $transpose^)? `ins` `(` $source `:` type($source) `)` "
        "`outs` `(` $dest `:` type($dest) `)` attr-dict"
    )

    def __init__(self, source: SSAValue, dest: SSAValue, transpose: bool = False) -> None:
        NpuOp.__init__(
            self,
            operands=[source, dest],
            properties={"transpose": UnitAttr() if transpose else None},
        )

    def verify_(self) -> None:
        space = expect_space(self, self.source, "source", (Space.L1, Space.UB))
        if space == Space.UB:
            expect_space(self, self.dest, "destination", (Space.UB,))
            if self.transpose is not None:
                raise VerifyException("npu.copy: in ub use npu.vtranspose")
        else:
            expect_space(self, self.dest, "destination", (Space.L0A, Space.L0B))
        if self.transpose is None:
            self.verify_same_type()
            return
        source, dest = shape_of(self.source), shape_of(self.dest)
        if source is None or dest is None or not len(source) == len(dest) == 2:
            raise VerifyException("npu.copy: only a matrix is transposed on the way to L0")
        if not all(map(same_size, source[::-1], dest)):
            raise VerifyException(f"npu.copy: {list(source)} transposed is not {list(dest)}")
        self.verify_same_element_type()

    def agent(self) -> Agent:
        if space_of(self.source.type) == Space.UB:
            return Agent(Core.VECTOR, Pipe.V)
        return Agent(Core.CUBE, Pipe.MTE1)


@irdl_op_definition
class FixpipeOp(MoveOp):
    """l0c to gm: `npu.fixpipe relu ins(..) outs(..)`; casts to the destination's element type.

    The cast is one rounding to nearest even from the accumulator, after the relu.
    """

    name = "npu.fixpipe"
    relu = opt_prop_def(UnitAttr)
    assembly_format = (
        "(`relu` $relu^)? `ins` `(` $source `:` type($source) `)` "
        "`outs` `(` $dest `:` type($dest) `)` attr-dict"
    )

    def __init__(self, source: SSAValue, dest: SSAValue, relu: bool = False) -> None:
        NpuOp.__init__(
            self, operands=[source, dest], properties={"relu": UnitAttr() if relu else None}
        )

    def verify_(self) -> None:
        expect_space(self, self.source, "source", (Space.L0C,))
        expect_space(self, self.dest, "destination", (Space.GM,))
        verify_same_shape(self, self.source, self.dest)
        pair = (str(element_type(self.source)), str(element_type(self.dest)))
        if pair not in FIXPIPE_CASTS:
            raise VerifyException(f"npu.fixpipe: no conversion of {pair[0]} to {pair[1]}")

    def agent(self) -> Agent:
        return Agent(Core.CUBE, Pipe.FIX)


def memref_space(type_: MemRefType) -> SpaceAttr:
    """The space attribute of a buffer type; raises VerifyException where it has none."""
    if not isinstance(type_.memory_space, SpaceAttr):
        raise VerifyException(f"{type_} has no memory space, like #npu.space<ub>")
    return type_.memory_space
