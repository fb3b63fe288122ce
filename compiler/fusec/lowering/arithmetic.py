"""Arithmetic on indices, constants and loops of a function that is being built.

An index is an `int` where it is known and a value where it is not; arithmetic on known indices
happens here and leaves no operation. Equal operations in one scope are built once. Every operation
gets the location of the graph operator being lowered (`at`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    LocationAttr,
    UnknownLoc,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from fusec.lowering.layout import scalar_type

Index: TypeAlias = int | SSAValue
OpT = TypeVar("OpT", bound=Operation)

INDEX = IndexType()


class IndexBuilder:
    """A function while it is built; operations go to the end of the open block."""

    def __init__(self, entry: Block) -> None:
        self.entry = entry
        self._blocks = [entry]
        self._known: list[dict[tuple[object, ...], SSAValue]] = [{}]
        self._constants: dict[tuple[object, ...], SSAValue] = {}
        self._last_constant: Operation | None = None
        self.location: LocationAttr = UnknownLoc()

    # Operations

    @contextmanager
    def at(self, place: Operation | LocationAttr) -> Generator[None]:
        """What is built inside has the location of this operator."""
        before = self.location
        self.location = place.location if isinstance(place, Operation) else place
        try:
            yield
        finally:
            self.location = before

    def insert(self, op: OpT) -> OpT:
        """Appends an operation to the open block."""
        op.location = self.location
        self._blocks[-1].add_op(op)
        return op

    def op(self, cls: Callable[..., OpT], *args: Any, **kwargs: Any) -> OpT:
        """Builds `cls(*args, **kwargs)` at the end of the open block."""
        return self.insert(cls(*args, **kwargs))

    # Constants and arithmetic

    def value(self, index: Index) -> SSAValue:
        """An index as a value; constants are built once, at the head of the function."""
        if isinstance(index, SSAValue):
            return index
        return self._constant(
            ("index", index), lambda: IntegerAttr(index, INDEX), f"c{index}".replace("-", "_")
        )

    def flag(self, value: bool) -> SSAValue:
        """An i1 constant."""
        return self._constant(
            ("i1", value), lambda: IntegerAttr(int(value), i1), str(value).lower()
        )

    def scalar(self, value: float, dtype: str) -> SSAValue:
        """A constant of an element type, rounded to it."""

        def attribute() -> Attribute:
            if dtype.startswith("i"):
                return IntegerAttr(int(value), cast(Any, scalar_type(dtype)))
            return FloatAttr(_rounded(float(value), dtype), cast(Any, scalar_type(dtype)))

        return self._constant((dtype, repr(float(value))), attribute, "cst")

    def _constant(
        self, key: tuple[object, ...], attribute: Callable[[], Attribute], hint: str
    ) -> SSAValue:
        found = self._constants.get(key)
        if found is not None:
            return found
        attr = cast(Any, attribute())
        op = arith.ConstantOp.create(
            result_types=[attr.get_type()], properties={"value": attr}, location=self.location
        )
        if self._last_constant is not None:
            self.entry.insert_op_after(op, self._last_constant)
        elif self.entry.first_op is not None:
            self.entry.insert_op_before(op, self.entry.first_op)
        else:
            self.entry.add_op(op)
        self._last_constant = op
        op.result.name_hint = hint
        self._constants[key] = op.result
        return op.result

    def add(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if isinstance(a, int):
            a, b = b, a
        return a if b == 0 else self._binary(arith.AddiOp, a, b)

    def sub(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        if a is b:
            return 0
        return a if b == 0 else self._binary(arith.SubiOp, a, b)

    def mul(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if isinstance(a, int):
            a, b = b, a
        if b == 0:
            return 0
        return a if b == 1 else self._binary(arith.MuliOp, a, b)

    def min(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        return a if a is b else self._binary(arith.MinSIOp, a, b)

    def max(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b)
        return a if a is b else self._binary(arith.MaxSIOp, a, b)

    def floordiv(self, a: Index, b: Index) -> Index:
        """a // b of a not negative, b positive."""
        if isinstance(a, int) and isinstance(b, int):
            return a // b
        return a if b == 1 else self._binary(arith.DivUIOp, a, b)

    def ceildiv(self, a: Index, b: Index) -> Index:
        """a / b rounded up, of a not negative, b positive."""
        if isinstance(a, int) and isinstance(b, int):
            return -(-a // b)
        if isinstance(b, int):
            return self.floordiv(self.add(a, b - 1), b)
        return self._binary(arith.CeilDivSIOp, a, b)

    def mod(self, a: Index, b: Index) -> Index:
        """a modulo b of a not negative, b positive."""
        if isinstance(a, int) and isinstance(b, int):
            return a % b
        return 0 if b == 1 else self._binary(arith.RemUIOp, a, b)

    def rest(self, total: int, start: Index, tile: int) -> Index:
        """min(tile, total - start): the size of the tile at `start`, `tile` where all are whole."""
        if total % tile == 0:
            return tile
        return self.min(self.sub(total, start), tile)

    def equal(self, a: Index, b: Index) -> bool | SSAValue:
        """Whether two indices are equal, known or as an i1 value."""
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        key = ("cmpi", a, b)
        found = self._lookup(key)
        if found is None:
            op = self.insert(arith.CmpiOp(self.value(a), self.value(b), "eq"))
            found = self._remember(key, op.result)
        return found

    def both(self, a: bool | SSAValue, b: bool | SSAValue) -> bool | SSAValue:
        """Logical and."""
        if isinstance(a, bool):
            return b if a else False
        if isinstance(b, bool):
            return a if b else False
        return self._binary(arith.AndIOp, a, b)

    def flag_value(self, flag: bool | SSAValue) -> SSAValue:
        """A known or unknown flag as an i1 value."""
        return self.flag(flag) if isinstance(flag, bool) else flag

    def _binary(self, cls: type[Any], a: Index, b: Index) -> SSAValue:
        key = (cls, a, b)
        found = self._lookup(key)
        if found is not None:
            return found
        lhs, rhs = self.value(a), self.value(b)
        op = cls.create(
            operands=[lhs, rhs],
            result_types=[lhs.type],
            properties=_properties(cls),
            location=self.location,
        )
        self._blocks[-1].add_op(op)
        return self._remember(key, op.results[0])

    def _lookup(self, key: tuple[object, ...]) -> SSAValue | None:
        for known in reversed(self._known):
            if (found := known.get(key)) is not None:
                return found
        return None

    def _remember(self, key: tuple[object, ...], value: SSAValue) -> SSAValue:
        self._known[-1][key] = value
        return value

    # Loops

    @contextmanager
    def loop(
        self, start: Index, end: Index, step: Index = 1, hint: str | None = None
    ) -> Generator[Index]:
        """`scf.for`; the body is what is built inside. One known trip is no loop: gives `start`."""
        if (
            isinstance(start, int)
            and isinstance(end, int)
            and isinstance(step, int)
            and start < end <= start + step
        ):
            yield start
            return
        block = Block(arg_types=[INDEX])
        block.args[0].name_hint = hint
        bounds = [self.value(start), self.value(end), self.value(step)]
        op = scf.ForOp.create(
            operands=bounds,
            regions=[Region(block)],
            location=self.location,
        )
        self._blocks[-1].add_op(op)
        self._blocks.append(block)
        self._known.append({})
        try:
            yield block.args[0]
        finally:
            self.insert(scf.YieldOp())
            self._blocks.pop()
            self._known.pop()


@lru_cache(maxsize=256)
def segments(*sizes: int) -> DenseArrayBase[Any]:
    """`operandSegmentSizes` of an operator with this many operands in each segment."""
    return DenseArrayBase.from_list(i32, sizes)


@lru_cache(maxsize=32)
def _properties(cls: type[Any]) -> dict[str, Attribute]:
    """What a freshly made operator of this class has as properties (the overflow flags)."""
    block = Block(arg_types=[INDEX, INDEX])
    return dict(cls(block.args[0], block.args[1]).properties)


def _rounded(value: float, dtype: str) -> float:
    """The nearest value of the element type."""
    if dtype == "f32":
        return float(np.float32(value))
    if dtype == "f16":
        return float(np.float16(value))
    from ml_dtypes import bfloat16

    return float(np.asarray(value, bfloat16))
