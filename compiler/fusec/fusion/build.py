"""A cover becomes IR: operators of a group are copied into a block, `graph.fused` takes their
place.

The block of a group is also what legality and cost are asked about before anything is decided.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from fusec.fusion.group import Cover, Group
from fusec.fusion.marks import mark
from fusec.fusion.offload import opaque_of
from fusec.graph.fold_pads import fold_pads
from fusec_dialects.graph import FusedOp, YieldOp


@dataclass
class GroupBlock:
    """A group as a block of its own: `inputs` are the outer values that its arguments stand for."""

    block: Block
    inputs: list[SSAValue]
    outputs: list[SSAValue]


def group_block(cover: Cover, group: Group, *, marked: bool = False) -> GroupBlock:
    """Copies the operators of a group; single-element constants come inside, weights do not. Pads
    become those of the convolutions behind them. Where `marked`, the copies have marks for
    locations.
    """
    dag = cover.dag
    members = group.ops()
    inside = {dag.ops[i] for i in members}
    block = Block()
    inputs: list[SSAValue] = []
    mapping: dict[SSAValue, SSAValue] = {}
    copied: dict[int, Operation] = {}
    for number, i in enumerate(members):
        op = dag.ops[i]
        for operand, owner in zip(op.operands, dag.operands[i], strict=True):
            if operand in mapping or (owner >= 0 and dag.ops[owner] in inside):
                continue
            if owner >= 0 and dag.is_inline(owner):
                constant = dag.ops[owner].clone()
                block.add_op(constant)
                mapping[operand] = constant.results[0]
                continue
            argument = block.insert_arg(operand.type, len(inputs))
            hint = operand.name_hint
            argument.name_hint = None if hint is None else hint
            mapping[operand] = argument
            inputs.append(operand)
        copy = copied[i] = op.clone(mapping)
        if marked:
            copy.location = mark(number)
        block.add_op(copy)
    outputs: list[SSAValue] = [dag.ops[i].results[r] for i, r in cover.outputs(group)]
    end = YieldOp.create(operands=[copied[i].results[r] for i, r in cover.outputs(group)])
    end.location = dag.ops[max(group.owned)].location
    block.add_op(end)
    fold_pads(block)
    return GroupBlock(block, inputs, outputs)


class Builder:
    """Rewrites a function's block to the groups of a cover.

    The operators in `hosted`, each a group by itself, become graph.opaque where they can.
    """

    def __init__(self, block: Block, cover: Cover, hosted: Collection[int] = ()) -> None:
        self._block = block
        self._cover = cover
        self._hosted = hosted
        self._new: dict[SSAValue, SSAValue] = {a: a for a in block.args}
        self._out: list[Operation] = []

    def run(self) -> None:
        """Replaces the operators of the block; locations stay on the copies inside of groups."""
        for key in self._cover.order():
            self._group(self._cover.groups[key])
        end = self._block.last_op
        results: Sequence[SSAValue] = end.operands if isinstance(end, ReturnOp) else ()
        last = ReturnOp(*[self._value(r) for r in results])
        if end is not None:
            last.location = end.location
        for op in list(self._block.ops)[::-1]:
            op.detach()
            op.drop_all_references()
        for op in (*self._out, last):
            self._block.add_op(op)

    def _group(self, group: Group) -> None:
        if self._cover.is_settled(group):
            op = self._cover.dag.ops[min(group.owned)]
            for operand in op.operands:
                self._value(operand)
            self._out.append(op.clone(self._new))
            return
        if min(group.owned) in self._hosted and self._host(min(group.owned)):
            return
        made = group_block(self._cover, group)
        inputs = [self._value(v) for v in made.inputs]
        fused = FusedOp(group.name, inputs, [o.type for o in made.outputs], Region(made.block))
        fused.location = self._cover.location(group)
        for old, new in zip(made.outputs, fused.results, strict=True):
            new.name_hint = old.name_hint
            self._new[old] = new
        self._out.append(fused)

    def _host(self, i: int) -> bool:
        """The operator as graph.opaque; False where it cannot be one."""
        op = self._cover.dag.ops[i]
        made = opaque_of(op, [self._value(operand) for operand in op.operands])
        if made is None:
            return False
        for old, new in zip(op.results, made.outputs, strict=True):
            new.name_hint = old.name_hint
            self._new[old] = new
        self._out.append(made)
        return True

    def _value(self, value: SSAValue) -> SSAValue:
        """The new value for an old one; constants and views are copied when first asked for."""
        stack = [value]
        while stack:
            top = stack[-1]
            if top in self._new:
                stack.pop()
                continue
            op = top.owner
            if not isinstance(op, Operation):
                raise ValueError("a value of another function")
            missing = [o for o in op.operands if o not in self._new]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            copy = op.clone(self._new)
            self._out.append(copy)
        return self._new[value]
