"""A set of graph operators that could become one kernel; nothing is built or changed.

In: the block of a fused group or kernel, or operators of a function. Out: the operators in order,
the values that come from outside, the values that are needed outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

from xdsl.ir import Block, Operation, SSAValue

from fusec.schedule.memory import Strides, strides_of
from fusec.schedule.types import Refusal, RefusalError
from fusec_dialects.graph import ConstantOp, FusedOp, GraphOp, KernelOp, YieldOp

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Region:
    """`ops` in program order, constants included; `inputs` and `outputs` without repetition, except
    that a block's arguments and its terminator's operands are taken as they stand. `strides`: how
    inputs and outputs lie in gm that are not contiguous."""

    ops: tuple[Operation, ...]
    inputs: tuple[SSAValue, ...]
    outputs: tuple[SSAValue, ...]
    strides: Mapping[SSAValue, Strides] = field(default_factory=dict[SSAValue, Strides])
    known: dict[object, object] = field(default_factory=dict[object, object])
    """What was found out about the region (see `once`)."""

    @classmethod
    def of_block(cls, block: Block, strides: Mapping[SSAValue, Strides] | None = None) -> Region:
        """The body of a graph.fused or graph.kernel: all block arguments are inputs, used or not,
        and the operands of graph.yield are outputs, in order. `strides`: in place of those that the
        attributes of the group or kernel say."""
        end, owner = block.last_op, block.parent_op()
        outputs = tuple(end.operands) if isinstance(end, YieldOp) else ()
        ops = tuple(op for op in block.ops if op is not end)
        if strides is None:
            strides = strides_of(owner) if isinstance(owner, FusedOp | KernelOp) else {}
        return cls(ops, tuple(block.args), outputs, strides)

    @classmethod
    def of_ops(
        cls,
        ops: Iterable[Operation],
        outputs: Sequence[SSAValue] | None = None,
        strides: Mapping[SSAValue, Strides] | None = None,
    ) -> Region:
        """Operators of one block in program order, not yet fused. Results that an operator outside
        of the set uses, or nobody, are outputs unless `outputs` says which are."""
        given = tuple(ops)
        inside = set(given)
        inputs = dict.fromkeys(
            operand for op in given for operand in op.operands if operand.owner not in inside
        )
        found = (
            result
            for op in given
            if not isinstance(op, ConstantOp)
            for result in op.results
            if not result.first_use or any(use.operation not in inside for use in result.uses)
        )
        wanted = tuple(found) if outputs is None else tuple(outputs)
        return cls(given, tuple(inputs), wanted, strides or {})

    @cached_property
    def inside(self) -> frozenset[Operation]:
        """The operators, for membership tests."""
        return frozenset(self.ops)

    @cached_property
    def output_set(self) -> frozenset[SSAValue]:
        return frozenset(self.outputs)

    def users(self, value: SSAValue) -> list[Operation]:
        """The operators of the region that use `value`, one entry for each use."""
        return [use.operation for use in value.uses if use.operation in self.inside]

    def producer(self, value: SSAValue) -> GraphOp | None:
        """The graph operator of the region that computes `value`; None for inputs and constants."""
        owner = value.owner
        if isinstance(owner, GraphOp) and owner in self.inside:
            return owner
        return None

    @cached_property
    def compute_ops(self) -> tuple[GraphOp, ...]:
        """The operators without constants."""
        return tuple(op for op in self.ops if isinstance(op, GraphOp))


def once(body: Callable[Concatenate[Region, P], T]) -> Callable[Concatenate[Region, P], T]:
    """A function of a region, and of hashable arguments, that is computed once for each of them; a
    RefusalError is kept as well."""

    @wraps(body)
    def known(region: Region, *args: P.args, **kwargs: P.kwargs) -> T:
        key = (body, args, tuple(kwargs.items()))
        if key not in region.known:
            try:
                region.known[key] = body(region, *args, **kwargs)
            except RefusalError as error:
                region.known[key] = error.refusal
        found = region.known[key]
        if isinstance(found, Refusal):
            raise RefusalError(found.reason, found.message, found.numbers)
        return cast("T", found)

    return known
