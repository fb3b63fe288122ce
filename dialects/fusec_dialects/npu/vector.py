"""Vector instructions on ub, named as in HIVM: casts, comparisons, reductions, movement.

The elementwise ones are in `elementwise` and can be imported from here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, MemRefType, StringAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, irdl_op_definition, operand_def, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from .attrs import Core, Pipe, Space, space_of
from .base import (
    Agent,
    Buffer,
    element_type,
    expect_space,
    same_size,
    shape_of,
    verify_broadcast,
    verify_same_shape,
)
from .elementwise import (
    VAbsOp,
    VAddOp,
    VAndOp,
    VDivOp,
    VExpOp,
    VLnOp,
    VMaxOp,
    VMinOp,
    VMulOp,
    VNotOp,
    VOrOp,
    VRecOp,
    VReluOp,
    VRsqrtOp,
    VSqrtOp,
    VSubOp,
)
from .vector_base import FLOATS, MOVABLE, NUMBERS, TEMP, BinaryOp, UnaryOp, VectorOp

__all__ = [
    "CASTS",
    "COMPARE_MODES",
    "FLOATS",
    "MOVABLE",
    "NUMBERS",
    "REDUCTIONS",
    "ROUND_MODES",
    "BinaryOp",
    "UnaryOp",
    "VAbsOp",
    "VAddOp",
    "VAndOp",
    "VBrcOp",
    "VCastOp",
    "VCmpOp",
    "VDivOp",
    "VExpOp",
    "VLnOp",
    "VMaxOp",
    "VMinOp",
    "VMulOp",
    "VNotOp",
    "VOrOp",
    "VRecOp",
    "VReduceOp",
    "VReluOp",
    "VRsqrtOp",
    "VSelOp",
    "VSqrtOp",
    "VSubOp",
    "VTransposeOp",
    "VectorOp",
]

CASTS = frozenset(
    {
        ("f16", "f32"),
        ("f32", "f16"),
        ("f32", "bf16"),
        ("bf16", "f32"),
        ("f32", "i32"),
        ("i32", "f32"),
        ("f16", "i8"),
        ("i8", "f16"),
        ("f16", "ui8"),
        ("ui8", "f16"),
        ("f16", "i32"),
        ("f16", "i1"),
        ("i64", "i32"),
        ("i32", "i64"),
        ("i64", "f32"),
        ("f32", "i64"),
        ("i1", "f16"),
        ("i1", "f32"),
    }
)
"""Conversions that the vector unit of 910B has in one step.

An i1 that comes from or goes to gm is a byte there, so f16 to i1 is the unit's f16 to i8.
"""

ROUND_MODES = ("rint", "floor", "ceil", "trunc", "round")


@irdl_op_definition
class VCastOp(VectorOp):
    """dest = source in the destination's element type, rounded by `round` (default rint)."""

    name = "npu.vcast"

    source = operand_def(Buffer)
    round = opt_prop_def(StringAttr)
    assembly_format = (
        "(`round` $round^)? `ins` `(` $source `:` type($source) `)` "
        "`outs` `(` $dest `:` type($dest) `)` " + TEMP
    )

    def __init__(
        self,
        source: SSAValue,
        dest: SSAValue,
        temp: SSAValue | None = None,
        round: str | None = None,
    ) -> None:
        super().__init__(
            operands=[source, dest, temp],
            properties={"round": None if round is None else StringAttr(round)},
        )

    def sources(self) -> tuple[SSAValue, ...]:
        return (self.source,)

    def verify_(self) -> None:
        self.verify_ub((self.source, self.dest))
        verify_same_shape(self, self.source, self.dest)
        pair = (str(element_type(self.source)), str(element_type(self.dest)))
        if pair not in CASTS:
            raise VerifyException(
                f"npu.vcast: no instruction converts {pair[0]} to {pair[1]} in one step; "
                "go through f32 or f16"
            )
        if self.round is not None and self.round.data not in ROUND_MODES:
            raise VerifyException(
                f"npu.vcast: unknown rounding '{self.round.data}', "
                f"expected {', '.join(ROUND_MODES)}"
            )


COMPARE_MODES = ("eq", "ne", "lt", "gt", "le", "ge")


@irdl_op_definition
class VCmpOp(VectorOp):
    """dest (i1) = lhs <mode> rhs; rhs may be a scalar."""

    name = "npu.vcmp"
    TYPES: ClassVar = FLOATS

    mode = prop_def(StringAttr)
    lhs = operand_def(Buffer)
    rhs = operand_def(AnyAttr())
    assembly_format = (
        "$mode `ins` `(` $lhs `,` $rhs `:` type($lhs) `,` type($rhs) `)` "
        "`outs` `(` $dest `:` type($dest) `)` " + TEMP
    )

    def __init__(
        self,
        mode: str,
        lhs: SSAValue,
        rhs: SSAValue,
        dest: SSAValue,
        temp: SSAValue | None = None,
    ) -> None:
        super().__init__(operands=[lhs, rhs, dest, temp], properties={"mode": StringAttr(mode)})

    def sources(self) -> tuple[SSAValue, ...]:
        return (self.lhs, self.rhs)

    def verify_(self) -> None:
        if self.mode.data not in COMPARE_MODES:
            raise VerifyException(
                f"npu.vcmp: unknown mode '{self.mode.data}', expected {', '.join(COMPARE_MODES)}"
            )
        self.verify_ub((self.lhs, self.rhs, self.dest))
        verify_broadcast(self, self.lhs, self.dest)
        verify_broadcast(self, self.rhs, self.dest)
        self.verify_types((self.lhs, self.rhs))
        if str(element_type(self.dest)) != "i1":
            raise VerifyException("npu.vcmp: the result is i1")


@irdl_op_definition
class VSelOp(VectorOp):
    """dest = condition (i1) ? lhs : rhs; lhs and rhs may be scalars."""

    name = "npu.vsel"
    TYPES: ClassVar = FLOATS

    condition = operand_def(Buffer)
    lhs = operand_def(AnyAttr())
    rhs = operand_def(AnyAttr())
    assembly_format = (
        "`ins` `(` $condition `,` $lhs `,` $rhs `:` type($condition) `,` type($lhs) `,` type($rhs) "
        "`)` `outs` `(` $dest `:` type($dest) `)` " + TEMP
    )

    def __init__(
        self,
        condition: SSAValue,
        lhs: SSAValue,
        rhs: SSAValue,
        dest: SSAValue,
        temp: SSAValue | None = None,
    ) -> None:
        super().__init__(operands=[condition, lhs, rhs, dest, temp])

    def sources(self) -> tuple[SSAValue, ...]:
        return (self.condition, self.lhs, self.rhs)

    def verify_(self) -> None:
        self.verify_ub((*self.sources(), self.dest))
        for source in self.sources():
            verify_broadcast(self, source, self.dest)
        self.verify_types((self.lhs, self.rhs, self.dest))
        if str(element_type(self.condition)) != "i1":
            raise VerifyException("npu.vsel: the condition is i1")


REDUCTIONS = ("sum", "max", "min", "prod")


@irdl_op_definition
class VReduceOp(VectorOp):
    """dest = the source reduced over `dims`, which keep size 1; the destination is overwritten."""

    name = "npu.vreduce"

    kind = prop_def(StringAttr)
    source = operand_def(Buffer)
    dims = prop_def(DenseArrayBase.constr(i64))
    assembly_format = (
        "$kind `ins` `(` $source `:` type($source) `)` `outs` `(` $dest `:` type($dest) `)` "
        "`dims` $dims " + TEMP
    )

    def __init__(
        self,
        kind: str,
        source: SSAValue,
        dest: SSAValue,
        dims: Sequence[int],
        temp: SSAValue | None = None,
    ) -> None:
        properties: dict[str, Attribute | None] = {
            "kind": StringAttr(kind),
            "dims": DenseArrayBase.from_list(i64, dims),
        }
        super().__init__(operands=[source, dest, temp], properties=properties)

    def sources(self) -> tuple[SSAValue, ...]:
        return (self.source,)

    def verify_(self) -> None:
        if self.kind.data not in REDUCTIONS:
            raise VerifyException(
                f"npu.vreduce: unknown kind '{self.kind.data}', expected {', '.join(REDUCTIONS)}"
            )
        self.verify_ub((self.source, self.dest))
        self.verify_types((self.source, self.dest))
        source, dest = shape_of(self.source), shape_of(self.dest)
        if source is None or dest is None or len(source) != len(dest):
            raise VerifyException("npu.vreduce: source and destination have equal ranks")
        dims = self.dims.get_values()
        if not dims or len(set(dims)) != len(dims) or not all(0 <= d < len(source) for d in dims):
            raise VerifyException(f"npu.vreduce: dims {list(dims)} are not axes of {list(source)}")
        for axis, (a, b) in enumerate(zip(source, dest, strict=True)):
            if not (b == 1 if axis in dims else same_size(a, b)):
                raise VerifyException(
                    f"npu.vreduce: {list(source)} reduced over {list(dims)} is not {list(dest)}"
                )


@irdl_op_definition
class VBrcOp(VectorOp):
    """dest = a scalar, or a buffer broadcast over its sizes of 1.

    With a destination in l1 (a scalar only) the cube core's MTE2 fills the tile.
    """

    name = "npu.vbrc"
    TYPES: ClassVar = MOVABLE

    source = operand_def(AnyAttr())
    assembly_format = (
        "`ins` `(` $source `:` type($source) `)` `outs` `(` $dest `:` type($dest) `)` " + TEMP
    )

    def __init__(self, source: SSAValue, dest: SSAValue, temp: SSAValue | None = None) -> None:
        super().__init__(operands=[source, dest, temp])

    def sources(self) -> tuple[SSAValue, ...]:
        return (self.source,)

    def agent(self) -> Agent:
        if space_of(self.dest.type) == Space.L1:
            return Agent(Core.CUBE, Pipe.MTE2)
        return Agent(Core.VECTOR, Pipe.V)

    def verify_(self) -> None:
        space = expect_space(self, self.dest, "destination", (Space.UB, Space.L1))
        if space == Space.L1 and isinstance(self.source.type, MemRefType):
            raise VerifyException("npu.vbrc: only a scalar fills a tile in l1")
        self.verify_ub((self.source,))
        verify_broadcast(self, self.source, self.dest)
        self.verify_types((self.source, self.dest))


@irdl_op_definition
class VTransposeOp(VectorOp):
    """dest axis i is source axis permutation[i]."""

    name = "npu.vtranspose"
    TYPES: ClassVar = MOVABLE

    source = operand_def(Buffer)
    permutation = prop_def(DenseArrayBase.constr(i64))
    assembly_format = (
        "`ins` `(` $source `:` type($source) `)` `outs` `(` $dest `:` type($dest) `)` "
        "`permutation` $permutation " + TEMP
    )

    def __init__(
        self,
        source: SSAValue,
        dest: SSAValue,
        permutation: Sequence[int],
        temp: SSAValue | None = None,
    ) -> None:
        super().__init__(
            operands=[source, dest, temp],
            properties={"permutation": DenseArrayBase.from_list(i64, permutation)},
        )

    def sources(self) -> tuple[SSAValue, ...]:
        return (self.source,)

    def verify_(self) -> None:
        self.verify_ub((self.source, self.dest))
        self.verify_types((self.source, self.dest))
        source, dest = shape_of(self.source), shape_of(self.dest)
        permutation = self.permutation.get_values()
        if source is None or dest is None or sorted(permutation) != list(range(len(source))):
            raise VerifyException(
                f"npu.vtranspose: {list(permutation)} is not a permutation of the source's axes"
            )
        if len(dest) != len(source) or not all(
            same_size(source[p], d) for p, d in zip(permutation, dest, strict=True)
        ):
            raise VerifyException(
                f"npu.vtranspose: {list(source)} by {list(permutation)} is not {list(dest)}"
            )
