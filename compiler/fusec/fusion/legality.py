"""May these operators be one kernel, and what would it cost? The answer is an estimate or a
refusal.

A candidate is built as a block of its own, batch norms folded and channels last as the later passes
will do it, and `schedule` is asked. Answers are kept by structure: equal layers are asked once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.ir import Attribute, Block, Operation, SSAValue

from fusec.fusion.build import group_block
from fusec.fusion.chained import Chained
from fusec.fusion.dag import Dag
from fusec.fusion.dynamic_sizes import give_sizes
from fusec.fusion.group import Cover, Group
from fusec.fusion.group_key import Form, GroupKeys, Sizes
from fusec.fusion.marks import placed
from fusec.graph.batch_norm import fold_batch_norms
from fusec.graph.channels_last import channels_last
from fusec.hw import Target
from fusec.schedule.known import answer
from fusec.schedule.templates import Bounds, Template, template_of
from fusec.schedule.types import Refusal
from fusec.schedule.work import Estimate
from fusec.semantics.classes import FusionClass
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.movement import TransposeOp

MANY = 500
"""In functions of more operators every group gets a template when it is first asked about, in
others when a second one differs in sizes alone."""

SIZELESS = frozenset({"operator"})
"""Reasons that, without numbers, say the same whatever the sizes are."""


@dataclass(frozen=True)
class Cost:
    """Modelled time in µs of one kernel, bytes over the cores' port to global memory, and bytes of
    the tensors that cross the group's boundary, each once.
    """

    us: float
    gm_bytes: int
    boundary: int


def lowered_block(block: Block, known: list[bool], last: Collection[int] = ()) -> Block:
    """The block as fold-weights and assign-layout will make it; `known[i]`: input i is a weight.

    The inputs in `last` come channels last.
    """
    arguments = [block.args[i] for i in last]
    fold_batch_norms(block, known)
    for argument in reversed(block.args):
        if not argument.first_use:
            block.erase_arg(argument)
    made = channels_last(block, [a.index for a in arguments if a.block is block])
    return block if made is None else made.block


class Legality:
    """Asks and remembers for one target."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._known: dict[object, Estimate | Refusal] = {}
        self._numbers: dict[object, int] = {}
        self._keys: GroupKeys | None = None
        self._softmax: tuple[Dag, frozenset[int]] | None = None
        self._chained: Chained | None = None
        self._once: set[Form] = set()
        self._templates: dict[Form, Template | Refusal | None] = {}

    def cost(self, cover: Cover, group: Group) -> Cost | Refusal:
        """Cost of a group as one kernel, or why it cannot be one."""
        if cover.is_settled(group):
            return Refusal(
                "barrier",
                "graph.opaque is computed by the host, and a group made before stays as it is",
            )
        if (mask := _added_mask(cover, group, self._adds(cover.dag))) is not None:
            return Refusal(
                "may-be-infinite",
                f"{cover.dag.place(mask)}: what is added before a softmax is a mask that may hold "
                "-inf; the cube core adds by a product with an identity matrix, where that is nan",
            )
        if (chained := self._chained_of(cover.dag).refusal(group)) is not None:
            return chained
        sized = self._keys_of(cover.dag).key(group.ops(), cover.outputs(group))
        key = sized or _structure(cover, group)
        if (found := self._known.get(key)) is None:
            made = self._by_template(*sized) if sized is not None else None
            found = self._known[key] = made or self._ask(cover, group, sized)
        if isinstance(found, Refusal):
            return placed(found, cover.dag, group)
        return Cost(found.us, found.gm_bytes, cover.boundary_bytes(group))

    def kind(self, cover: Cover, group: Group) -> tuple[object, tuple[int, ...]] | None:
        """What groups that differ in sizes alone have in common, and the sizes; None where no
        search can be spared."""
        found = self._keys_of(cover.dag).key(group.ops(), cover.outputs(group))
        return found if found is not None and found[0].sized else None

    def bounds(self, cover: Cover, group: Group) -> Bounds | Refusal:
        """What `cost` would say of time, at least and at most, or why there is no kernel, without a
        search; the most is None where that takes one."""
        masked = _added_mask(cover, group, self._adds(cover.dag)) is not None
        if masked or cover.is_settled(group):
            return self._least(cover, group)
        if (chained := self._chained_of(cover.dag).refusal(group)) is not None:
            return chained
        sized = self._keys_of(cover.dag).key(group.ops(), cover.outputs(group))
        if sized is None:
            return self._least(cover, group)
        if (known := self._known.get(sized)) is not None:
            if isinstance(known, Estimate):
                return Bounds(known.us, known.us)
            return placed(known, cover.dag, group)
        template = self._templates.get(sized[0])
        if isinstance(template, Refusal):
            return placed(template, cover.dag, group)
        found = None if template is None else template.bounds(sized[1])
        return found or self._least(cover, group)

    def _adds(self, dag: Dag) -> frozenset[int]:
        if self._softmax is None or self._softmax[0] is not dag:
            self._softmax = dag, _before_softmax(dag)
        return self._softmax[1]

    def _keys_of(self, dag: Dag) -> GroupKeys:
        if self._keys is None or self._keys.dag is not dag:
            self._keys = GroupKeys(dag, self._numbers)
        return self._keys

    def _chained_of(self, dag: Dag) -> Chained:
        if self._chained is None or self._chained.dag is not dag:
            self._chained = Chained(dag)
        return self._chained

    def _by_template(self, key: Form, sizes: Sizes) -> Estimate | Refusal | None:
        """The answer for a group that differs in sizes alone from one that was asked about."""
        found = self._templates.get(key)
        return found.answer(sizes) if isinstance(found, Template) else found

    def _ask(
        self, cover: Cover, group: Group, sized: tuple[Form, Sizes] | None
    ) -> Estimate | Refusal:
        made = group_block(cover, group, marked=True)
        if (unproved := give_sizes(made.block)) is not None:
            return unproved
        known = [cover.dag.is_known(v) for v in made.inputs]
        turns = any(isinstance(op, TransposeOp) for op in made.block.ops)
        last = [i for i, v in enumerate(made.inputs) if turns and v in cover.dag.last]
        block = lowered_block(made.block, known, last)
        if sized is not None and sized[0].sized and sized[0] not in self._templates:
            if sized[0] in self._once or len(cover.dag.ops) > MANY:
                template = template_of(block, sized[1], self._target)
                self._templates[sized[0]] = template
                if (answered := self._by_template(*sized)) is not None:
                    return answered
            self._once.add(sized[0])
        found = answer(block, self._target)
        if not isinstance(found, Refusal):
            return found.estimate
        if sized is not None and found.reason in SIZELESS and not found.numbers:
            self._templates.setdefault(sized[0], found)
        return found

    def _least(self, cover: Cover, group: Group) -> Bounds:
        """No kernel of a group stays under a launch, and its results once to HBM."""
        target, dag = self._target, cover.dag
        size = sum(dag.sizes[dag.writes[i][r]] for i, r in cover.outputs(group))
        launch = min(target.launch_us["vector"], target.launch_us["cube"])
        return Bounds(launch + size / (target.hbm_gbps * 1e3), None)


def _added_mask(cover: Cover, group: Group, adds: frozenset[int]) -> int | None:
    """The addition of a whole tile to a contraction's result that goes into a softmax outside of
    the group; where the softmax is inside, the vector cores add. `adds` as of `_before_softmax`."""
    dag, found = cover.dag, sorted(adds & group.owned)
    if not found:
        return None
    inside = set(group.ops())
    if not any(dag.classes[i] == FusionClass.CONTRACTION for i in inside):
        return None
    if any(dag.names[i] in SOFTMAX for i in inside):
        return None
    for i in found:
        for value, owner in zip(dag.ops[i].operands, dag.operands[i], strict=True):
            tile = [n for n in tensor_type(value).get_shape()[-2:] if n != 1]
            if owner not in inside and len(tile) == 2:
                return i
    return None


SOFTMAX = frozenset({"softmax", "log_softmax"})


def _before_softmax(dag: Dag) -> frozenset[int]:
    """The additions from which views, casts and further additions alone lead to a softmax."""
    leads = [False] * len(dag.ops)
    for i in reversed(range(len(dag.ops))):
        if not (dag.is_view(i) or dag.names[i] in ("cast", "add", "where", "mul")):
            continue
        leads[i] = any(u >= 0 and (leads[u] or dag.names[u] in SOFTMAX) for u in dag.users[i])
    return frozenset(i for i, name in enumerate(dag.names) if name == "add" and leads[i])


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
                operands.append((number(value), value.type, known, value in dag.last))
        types: tuple[Attribute, ...] = tuple(r.type for r in op.results)
        for result in op.results:
            number(result)
        rows.append((op.name, _attributes(op), tuple(operands), types))
    outputs = tuple(number(dag.ops[i].results[r]) for i, r in cover.outputs(group))
    return (tuple(rows), outputs)


def _attributes(op: Operation) -> tuple[tuple[str, Attribute], ...]:
    return tuple(op.properties.items())
