"""Which operands of concats are written in place, and what is taken back when one cannot be.

In: the groups that became operators of `main`. What holds: a value is in place in one concat at
most, a kernel makes it, and nothing but kernels reads it; other operands are copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from fusec.fusion.hoist import Hoisted
from fusec.schedule.views import RESHAPES
from fusec_dialects.graph import FusedOp, GraphOp, YieldOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.movement import ConcatOp

COPY = "copy"
"""The name of the groups that copy what is not written in place."""


def base_of(value: SSAValue) -> SSAValue:
    """The value behind reshapes of `main`."""
    while isinstance(value, OpResult) and isinstance(value.op, GraphOp):
        if value.op.op_name not in RESHAPES:
            break
        value = value.op.operands[0]
    return value


class Edges:
    """`copies`: the groups made here. An edge is a concat with the number of an operand."""

    def __init__(self, block: Block) -> None:
        self.copies: set[FusedOp] = set()
        self._block = block
        self._owner: dict[Operation, Hoisted] = {}
        self._edges: dict[SSAValue, tuple[ConcatOp, int]] = {}
        self._copied: dict[ConcatOp, FusedOp] = {}

    def begin(self, hoisted: Iterable[Hoisted]) -> None:
        """Takes every operand that may be in place; the others are copied."""
        for one in hoisted:
            self._owner.update(dict.fromkeys(one.ops, one))
        for one in self.all():
            if any(self._leaves(r) for r in one.results if not self._is_join(r)):
                self.take_back(one)
        for one in self.all():
            for join in one.joins:
                if join in self._owner:
                    self._begin(join)

    def _begin(self, join: ConcatOp) -> None:
        refused: list[int] = []
        for index, operand in enumerate(join.inputs):
            base = base_of(operand)
            made = isinstance(base.owner, FusedOp) or self._is_join(base)
            if made and base not in self._edges and not self._leaves(base):
                self._edges[base] = (join, index)
            else:
                refused.append(index)
        self._copy(join, refused)

    def _is_join(self, value: SSAValue) -> bool:
        return isinstance(value.owner, ConcatOp) and value.owner in self._owner

    def _leaves(self, value: SSAValue) -> bool:
        """Whether something else than kernels reads a value, or a view of it."""
        stack = [value]
        while stack:
            for use in stack.pop().uses:
                user = use.operation
                if isinstance(user, FusedOp | ConcatOp):
                    continue
                viewed = isinstance(user, GraphOp) and user.op_name in RESHAPES
                if user not in self._owner and not viewed:
                    return True
                stack += user.results
        return False

    # Causes

    def _cause(self, value: SSAValue) -> tuple[Hoisted, int | None, ConcatOp | None] | None:
        """What makes a value a part: a concat that it is an operand of, or a slice."""
        base = base_of(value)
        if (edge := self._edges.get(base)) is not None:
            join, index = edge
            return self._owner[join], index, join
        owner = base.owner
        one = self._owner.get(owner) if isinstance(owner, Operation) else None
        return None if one is None else (one, None, None)

    def cause(self, value: SSAValue) -> Hoisted | None:
        """The concat or slice that makes a value a part of a buffer."""
        found = self._cause(value)
        return None if found is None else found[0]

    def blame(self, value: SSAValue) -> bool:
        """A value cannot lie where it lies: it is copied, or its slice is a kernel again. False
        where nothing done here is the cause."""
        found = self._cause(value)
        if found is None:
            return False
        one, index, join = found
        base = base_of(value)
        if index is None or join is None or base.owner in self.copies:
            self.take_back(one)
        else:
            self._edges.pop(base)
            self._copy(join, [index])
        return True

    def all(self) -> list[Hoisted]:
        """What stands in `main` now."""
        return list(dict.fromkeys(self._owner.values()))

    def copies_of(self, one: Hoisted) -> list[FusedOp]:
        """The groups that copy operands of a group's concats."""
        return [self._copied[join] for join in one.joins if join in self._copied]

    # Changes

    def _copy(self, join: ConcatOp, indices: list[int]) -> None:
        """Operands are copied, by one group for all; with none left in place all is taken back."""
        if not indices:
            return
        old = self._copied.pop(join, None)
        known: dict[SSAValue, SSAValue] = {}
        if old is not None:
            known.update(zip(old.results, old.inputs, strict=True))
        chosen = {i for i, v in enumerate(join.inputs) if v in known} | set(indices)
        if len(chosen) == len(join.inputs):
            if old is not None:
                self._copied[join] = old
            self.take_back(self._owner[join])
            return
        order = sorted(chosen)
        sources = [known.get(join.inputs[i], join.inputs[i]) for i in order]
        copy = _copy_group(sources, join)
        self._block.insert_op_before(copy, join)
        for index, result in zip(order, copy.results, strict=True):
            join.operands[index] = result
            self._edges[result] = (join, index)
        if old is not None:
            self._drop(old)
        self._copied[join] = copy
        self.copies.add(copy)

    def _drop(self, copy: FusedOp) -> None:
        for result in copy.results:
            self._edges.pop(result, None)
        self.copies.discard(copy)
        self._block.erase_op(copy)

    def take_back(self, one: Hoisted) -> None:
        """The group is a kernel again; what it read in copies it reads as it was."""
        if one.ops[0] not in self._owner:
            return
        for join in one.joins:
            copy = self._copied.pop(join, None)
            for base in map(base_of, join.inputs):
                if base in self._edges and self._edges[base][0] is join:
                    del self._edges[base]
            if copy is not None:
                for index, operand in enumerate(join.inputs):
                    if operand.owner is copy and isinstance(operand, OpResult):
                        join.operands[index] = copy.inputs[operand.index]
                self._drop(copy)
        moved = [(r, self._edges.pop(r, None)) for r in one.results]
        for op in one.ops:
            del self._owner[op]
        one.put_back()
        for (_, edge), result in zip(moved, one.group.results, strict=True):
            if edge is not None:
                self._edges[result] = edge


def _copy_group(sources: list[SSAValue], join: ConcatOp) -> FusedOp:
    """One group that copies values, each to a result of its own."""
    from fusec_dialects.graph import OPERATORS

    block = Block(arg_types=[v.type for v in sources])
    results: list[SSAValue] = []
    for argument, source in zip(block.args, sources, strict=True):
        argument.name_hint = source.name_hint
        copy = OPERATORS["identity"].make([argument], [argument.type])
        copy.location = join.location
        block.add_op(copy)
        results.append(copy.results[0])
    end = YieldOp(results)
    end.location = join.location
    block.add_op(end)
    group = FusedOp(COPY, sources, [tensor_type(v) for v in results], Region(block))
    group.location = join.location
    return group


def values_of(op: FusedOp) -> Iterator[SSAValue]:
    """What a group reads and writes."""
    yield from op.inputs
    yield from op.results
