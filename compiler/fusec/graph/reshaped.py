"""A block in which one value gets another shape, and the elementwise operators after it follow.

In: a block, one of its operators, what its result is to become. Out: a new block, the old one
stays; None where an operator that is not elementwise, or an operand, does not follow.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Block, Operation, SSAValue

from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import ConstantOp, GraphOp, YieldOp, build
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.shapes import make_type

Sizes: TypeAlias = tuple[int, ...]


def sizes_of(value: SSAValue) -> Sizes:
    """The sizes of a tensor, -1 for those that are not known."""
    return tensor_type(value).get_shape()


def is_static(block: Block) -> bool:
    """Whether all sizes of all values are known."""
    values = [*block.args, *(result for op in block.ops for result in op.results)]
    return all(size >= 0 for value in values for size in sizes_of(value))


class Reshaped:
    """The new block under construction: `argument` for each old one, then `follow`."""

    def __init__(self, block: Block, location: LocationAttr) -> None:
        self._old = block
        self._location = location
        self._others: set[SSAValue] = set()
        self.block = Block()
        self.mapping: dict[SSAValue, SSAValue] = {}

    def argument(self, old: SSAValue, shape: Sizes | None = None) -> SSAValue:
        """The argument that stands for an old one, of another shape where one is given."""
        type_ = tensor_type(old)
        if shape is not None:
            type_ = make_type(type_.element_type, shape)
        new = self.block.insert_arg(type_, len(self.block.args))
        new.name_hint = old.name_hint
        self.mapping[old] = new
        return new

    def add(self, op: GraphOp) -> SSAValue:
        """Puts an operator at the end; its first result."""
        op.location = self._location
        self.block.add_op(op)
        return op.results[0]

    def reshape(self, value: SSAValue, shape: Sizes) -> SSAValue:
        """A value of the new block in another shape."""
        if sizes_of(value) == shape:
            return value
        type_ = make_type(tensor_type(value).element_type, shape)
        return self.add(build("reshape", [value], {}, [type_]))

    def transpose(self, value: SSAValue, perm: tuple[int, ...]) -> SSAValue:
        """A value with other axes; a reshape where no element moves."""
        dims = sizes_of(value)
        order = [p for p in perm if dims[p] != 1]
        if order == sorted(order):
            return self.reshape(value, tuple(dims[p] for p in perm))
        return self.add(build("transpose", [value], {"perm": perm}))

    def follow(
        self,
        changed: GraphOp,
        change: Callable[[], SSAValue],
        operand: Callable[[SSAValue, SSAValue], SSAValue | None],
    ) -> Block | None:
        """Builds all operators. `change` builds what stands for `changed`; `operand(new, old)`
        gives an operand in the other shape, None where there is no such."""
        for op in self._old.ops:
            self._location = op.location
            if op is changed:
                self._stands_for(changed, change())
            elif isinstance(op, ConstantOp | YieldOp) or not self._others & {*op.operands}:
                self.block.add_op(op.clone(self.mapping))
            elif not self._elementwise(op, operand):
                return None
        end = self._old.last_op
        whole = isinstance(end, YieldOp) and all(v in self._others for v in end.operands)
        return self.block if whole else None

    def _elementwise(
        self, op: Operation, operand: Callable[[SSAValue, SSAValue], SSAValue | None]
    ) -> bool:
        if not isinstance(op, GraphOp) or fusion_class(op.op_name) != FusionClass.ELEMENTWISE:
            return False
        operands: list[SSAValue] = []
        for old in op.operands:
            new: SSAValue | None = self.mapping[old]
            if old not in self._others and prod(sizes_of(old)) != 1:
                new = operand(self.mapping[old], old)
            if new is None:
                return False
            operands.append(new)
        made = self.add(build(op.op_name, operands, op.properties))
        like = next(self.mapping[old] for old in op.operands if old in self._others)
        self._stands_for(op, made)
        return sizes_of(made) == sizes_of(like)

    def _stands_for(self, op: GraphOp, new: SSAValue) -> None:
        new.name_hint = op.results[0].name_hint
        self.mapping[op.results[0]] = new
        self._others.add(op.results[0])
