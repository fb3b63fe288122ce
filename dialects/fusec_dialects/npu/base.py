"""Base of the npu operators: what an operator reads and writes, on which core and pipe.

Synchronisation, placement and simulation derive everything from `reads`, `writes` and `agent`.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, MessageConstraint, base
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, Resource
from xdsl.utils.exceptions import VerifyException

from .attrs import Core, Pipe, Space, SpaceAttr, memref_type, space_of

Buffer = MemRefType.constr(
    memory_space=MessageConstraint(
        base(SpaceAttr), "expected a buffer with a memory space, like #npu.space<ub>"
    )
)


class Agent(NamedTuple):
    """A queue that runs in order by itself: one pipe of one kind of core."""

    core: Core
    pipe: Pipe


@dataclass(frozen=True)
class SpaceResource(Resource):
    """One memory space as the resource of a memory effect."""

    space: Space

    def name(self) -> str:
        return f"<npu.{self.space.value}>"


class BufferEffects(MemoryEffect):
    """Reads and writes of the operator's own buffers, each on the resource of its space."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        if not isinstance(op, NpuOp):
            return None
        effects: set[EffectInstance] = set()
        for values, kind in (
            (op.reads(), MemoryEffectKind.READ),
            (op.writes(), MemoryEffectKind.WRITE),
        ):
            for value in values:
                if (space := space_of(value.type)) is not None:
                    effects.add(EffectInstance(kind, value, resource=SpaceResource(space)))
        return effects


class NpuOp(IRDLOperation):
    """An operator that a core's pipe executes on buffers; subclasses define the three methods."""

    def reads(self) -> Sequence[SSAValue]:
        """The buffers (and scalars) read."""
        raise TypeError(f"{self.name} does not say what it reads")

    def writes(self) -> Sequence[SSAValue]:
        """The buffers written, scratch included."""
        raise TypeError(f"{self.name} does not say what it writes")

    def agent(self) -> Agent:
        """The core and pipe that executes the operator."""
        raise TypeError(f"{self.name} does not say where it runs")


def expect_space(op: Operation, value: SSAValue, what: str, allowed: Sequence[Space]) -> Space:
    """The space of a buffer operand, one of `allowed`; raises VerifyException otherwise."""
    space = space_of(value.type)
    if space is None or space not in allowed:
        names = " or ".join(s.value for s in allowed)
        found = "no memory space" if space is None else space.value
        raise VerifyException(f"{op.name}: {what} must be in {names}, found {found}")
    return space


def shape_of(value: SSAValue) -> tuple[int, ...] | None:
    """Shape of a buffer, dynamic sizes as DYNAMIC_INDEX; None for a scalar."""
    buffer = memref_type(value.type)
    return None if buffer is None else buffer.get_shape()


def element_type(value: SSAValue) -> Attribute:
    """Element type of a buffer, or the type of a scalar."""
    buffer = memref_type(value.type)
    return value.type if buffer is None else buffer.element_type


def same_size(a: int, b: int) -> bool:
    """Whether two sizes may be equal, a dynamic size being equal to any."""
    return a == b or DYNAMIC_INDEX in (a, b)


def verify_same_shape(op: Operation, a: SSAValue, b: SSAValue) -> None:
    """Raises VerifyException unless both buffers may have the same shape."""
    sa, sb = shape_of(a), shape_of(b)
    if sa is None or sb is None:
        raise VerifyException(f"{op.name}: expected buffers")
    if len(sa) != len(sb) or not all(map(same_size, sa, sb)):
        raise VerifyException(f"{op.name}: shapes {list(sa)} and {list(sb)} differ")


def verify_broadcast(op: Operation, source: SSAValue, dest: SSAValue) -> None:
    """Raises VerifyException unless `source` has the rank of `dest`, each size equal or 1."""
    ss, sd = shape_of(source), shape_of(dest)
    if ss is None:
        return
    if sd is None or len(ss) != len(sd):
        raise VerifyException(
            f"{op.name}: operands of one instruction have equal ranks, "
            f"found {list(ss)} and {None if sd is None else list(sd)}"
        )
    if not all(a == 1 or same_size(a, b) for a, b in zip(ss, sd, strict=True)):
        raise VerifyException(f"{op.name}: {list(ss)} does not broadcast to {list(sd)}")
