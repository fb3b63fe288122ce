"""What all vector instructions share: operands in ub, scratch, the types an instruction exists for.

All operands have the rank of the destination; a size of 1 broadcasts; a binary operator's right
side may be a scalar. The result may be stored over an operand of the same view (in place).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue
from xdsl.irdl import AnyAttr, operand_def, opt_operand_def, traits_def
from xdsl.utils.exceptions import VerifyException

from .attrs import Core, Pipe, Space
from .base import (
    Agent,
    Buffer,
    BufferEffects,
    NpuOp,
    element_type,
    expect_space,
    verify_broadcast,
    verify_same_shape,
)

FLOATS = ("f16", "f32")
NUMBERS = ("f16", "f32", "i32", "i16")
MOVABLE = ("f16", "bf16", "f32", "i32", "i16", "i8", "ui8", "i64", "i1")

TEMP = "(`temp` `(` $temp^ `:` type($temp) `)`)? attr-dict"


class VectorOp(NpuOp):
    """An instruction of the vector unit with one destination and optional scratch."""

    TYPES: ClassVar[tuple[str, ...]] = NUMBERS

    dest = operand_def(Buffer)
    temp = opt_operand_def(Buffer)

    traits = traits_def(BufferEffects())

    def sources(self) -> tuple[SSAValue, ...]:
        """The operands read, buffers and scalars, in order."""
        raise TypeError(f"{self.name} does not name its sources")

    def reads(self) -> Sequence[SSAValue]:
        return self.sources()

    def writes(self) -> Sequence[SSAValue]:
        return (self.dest,) if self.temp is None else (self.dest, self.temp)

    def agent(self) -> Agent:
        return Agent(Core.VECTOR, Pipe.V)

    def verify_types(self, values: Sequence[SSAValue]) -> None:
        """All of one element type, one that the instruction exists for."""
        types = {str(element_type(v)) for v in values}
        if len(types) != 1:
            raise VerifyException(f"{self.name}: element types differ: {', '.join(sorted(types))}")
        found = types.pop()
        if found not in self.TYPES:
            raise VerifyException(
                f"{self.name}: no instruction for {found}, only for {', '.join(self.TYPES)}; "
                "cast around it (bf16 has no vector arithmetic)"
            )

    def verify_ub(self, values: Sequence[SSAValue]) -> None:
        """Every buffer among the values is in ub, and the scratch too."""
        for value in values:
            if isinstance(value.type, MemRefType):
                expect_space(self, value, "operand", (Space.UB,))
        if self.temp is not None:
            expect_space(self, self.temp, "scratch", (Space.UB,))


class UnaryOp(VectorOp):
    """dest = f(source), elementwise."""

    source = operand_def(Buffer)
    assembly_format = (
        "`ins` `(` $source `:` type($source) `)` `outs` `(` $dest `:` type($dest) `)` " + TEMP
    )

    def __init__(self, source: SSAValue, dest: SSAValue, temp: SSAValue | None = None) -> None:
        super().__init__(operands=[source, dest, temp])

    def sources(self) -> tuple[SSAValue, ...]:
        return (self.source,)

    def verify_(self) -> None:
        self.verify_ub((self.source, self.dest))
        verify_same_shape(self, self.source, self.dest)
        self.verify_types((self.source, self.dest))


class BinaryOp(VectorOp):
    """dest = f(lhs, rhs), elementwise with inline broadcast; rhs may be a scalar."""

    lhs = operand_def(Buffer)
    rhs = operand_def(AnyAttr())
    assembly_format = (
        "`ins` `(` $lhs `,` $rhs `:` type($lhs) `,` type($rhs) `)` "
        "`outs` `(` $dest `:` type($dest) `)` " + TEMP
    )

    def __init__(
        self, lhs: SSAValue, rhs: SSAValue, dest: SSAValue, temp: SSAValue | None = None
    ) -> None:
        super().__init__(operands=[lhs, rhs, dest, temp])

    def sources(self) -> tuple[SSAValue, ...]:
        return (self.lhs, self.rhs)

    def verify_(self) -> None:
        self.verify_ub((self.lhs, self.rhs, self.dest))
        verify_broadcast(self, self.lhs, self.dest)
        verify_broadcast(self, self.rhs, self.dest)
        self.verify_types((self.lhs, self.rhs, self.dest))
