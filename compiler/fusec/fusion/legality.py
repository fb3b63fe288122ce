"""May these operators be one kernel, and what would it cost? The answer is an estimate or a
refusal.

A candidate is built as a block of its own, batch norms folded and channels last as the later passes
will do it, and `schedule` is asked. Answers are kept by structure: equal layers are asked once.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Attribute, Block, Operation, SSAValue

from fusec.fusion.build import group_block
from fusec.fusion.group import Cover, Group
from fusec.graph.batch_norm import fold_batch_norms
from fusec.graph.channels_last import channels_last
from fusec.hw import Target
from fusec.schedule.cost import estimate
from fusec.schedule.region import Region
from fusec.schedule.schedule import schedule
from fusec.schedule.types import Refusal


@dataclass(frozen=True)
class Cost:
    """Modelled time in µs and bytes over global memory of one kernel."""

    us: float
    gm_bytes: int


def lowered_block(block: Block, known: list[bool]) -> Block:
    """The block as fold-weights and assign-layout will make it; `known[i]`: input i is a weight."""
    fold_batch_norms(block, known)
    for argument in reversed(block.args):
        if not argument.first_use:
            block.erase_arg(argument)
    made = channels_last(block)
    return block if made is None else made.block


class Legality:
    """Asks and remembers for one target."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._known: dict[object, Cost | Refusal] = {}

    def cost(self, cover: Cover, group: Group) -> Cost | Refusal:
        """Cost of a group as one kernel, or why it cannot be one."""
        key = _structure(cover, group)
        if (found := self._known.get(key)) is None:
            found = self._known[key] = self._ask(cover, group)
        return found

    def _ask(self, cover: Cover, group: Group) -> Cost | Refusal:
        made = group_block(cover, group)
        known = [cover.dag.is_known(v) for v in made.inputs]
        block = lowered_block(made.block, known)
        region = Region.of_block(block)
        answer = schedule(region, self._target)
        if isinstance(answer, Refusal):
            return answer
        found = estimate(region, answer, self._target)
        return Cost(found.us, found.gm_bytes)


def _structure(cover: Cover, group: Group) -> object:
    """What two groups that differ in names alone have in common: operators, types, edges."""
    dag = cover.dag
    numbers: dict[SSAValue, int] = {}
    rows: list[object] = []

    def number(value: SSAValue) -> int:
        return numbers.setdefault(value, len(numbers))

    for i in group.ops():
        op = dag.ops[i]
        operands: list[object] = []
        for value, owner in zip(op.operands, dag.operands[i], strict=True):
            if owner >= 0 and dag.is_inline(owner):
                operands.append(_attributes(dag.ops[owner]))
            else:
                known = owner >= 0 and dag.is_constant(owner)
                operands.append((number(value), value.type, known))
        types: tuple[Attribute, ...] = tuple(r.type for r in op.results)
        for result in op.results:
            number(result)
        rows.append((op.name, _attributes(op), tuple(operands), types))
    outputs = tuple(number(dag.ops[i].results[r]) for i, r in cover.outputs(group))
    return (tuple(rows), outputs)


def _attributes(op: Operation) -> tuple[tuple[str, Attribute], ...]:
    return tuple(op.properties.items())
