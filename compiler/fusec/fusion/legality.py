"""May these operators be one kernel, and what would it cost? The answer is an estimate or a
refusal.

A candidate is built as a block of its own, batch norms folded and channels last as the later passes
will do it, and `schedule` is asked. Answers are kept by structure: equal layers are asked once.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Attribute, Block, Operation, SSAValue

from fusec.fusion.build import group_block
from fusec.fusion.dag import Dag
from fusec.fusion.group import Cover, Group
from fusec.graph.batch_norm import fold_batch_norms
from fusec.graph.channels_last import channels_last
from fusec.hw import Target
from fusec.schedule.known import answer
from fusec.schedule.types import Refusal
from fusec.semantics.classes import FusionClass
from fusec.semantics.types import tensor_bytes
from fusec_dialects.graph.base import tensor_type


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
        if cover.is_settled(group):
            return Refusal(
                "barrier",
                "graph.opaque is computed by the host, and a group made before stays as it is",
            )
        if (mask := _added_mask(cover, group)) is not None:
            return Refusal(
                "may-be-infinite",
                f"{cover.dag.place(mask)}: what is added before a softmax is a mask that may hold "
                "-inf; the cube core adds by a product with an identity matrix, where that is nan",
            )
        key = _structure(cover, group)
        if (found := self._known.get(key)) is None:
            found = self._known[key] = self._ask(cover, group)
        return found

    def _ask(self, cover: Cover, group: Group) -> Cost | Refusal:
        made = group_block(cover, group)
        known = [cover.dag.is_known(v) for v in made.inputs]
        block = lowered_block(made.block, known)
        found = answer(block, self._target)
        if isinstance(found, Refusal):
            return found
        return Cost(found.estimate.us, found.estimate.gm_bytes)

    def least_us(self, cover: Cover, group: Group) -> float:
        """A time that no kernel of a group stays under: a launch, and its results once to HBM."""
        target, dag = self._target, cover.dag
        size = sum(tensor_bytes(dag.ops[i].results[r].type) for i, r in cover.outputs(group))
        launch = min(target.launch_us["vector"], target.launch_us["cube"])
        return launch + size / (target.hbm_gbps * 1e3)


def _added_mask(cover: Cover, group: Group) -> int | None:
    """The addition of a whole tile to a contraction's result that goes into a softmax."""
    dag, ops = cover.dag, tuple(group.ops())
    if not any(dag.classes[i] == FusionClass.CONTRACTION for i in ops):
        return None
    inside = set(ops)
    for i in ops:
        if dag.names[i] != "add":
            continue
        for value, owner in zip(dag.ops[i].operands, dag.operands[i], strict=True):
            tile = [n for n in tensor_type(value).get_shape()[-2:] if n != 1]
            if owner not in inside and len(tile) == 2 and _reaches_softmax(dag, i):
                return i
    return None


def _reaches_softmax(dag: Dag, start: int) -> bool:
    """Whether views, casts and further additions alone lead from an operator to a softmax."""
    stack, seen = [start], {start}
    while stack:
        for user in dag.users[stack.pop()]:
            if user < 0 or user in seen:
                continue
            if dag.names[user] in ("softmax", "log_softmax"):
                return True
            if dag.is_view(user) or dag.names[user] in ("cast", "add", "where", "mul"):
                seen.add(user)
                stack.append(user)
    return False


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
