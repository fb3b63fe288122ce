"""Kernels that only change the layout disappear into the kernel before or the kernels after.

In: a function after channels last, where a transposition (with padding perhaps) is a group. Out:
one is gone where the group before it can store its result channels first, or all groups that read
it can read what it read: through a view, or in segments of rows. Modelled cost decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

from xdsl.ir import Block, SSAValue
from xdsl.ir import Region as IRRegion

from fusec.fusion.absorb_flatten import absorb_flatten
from fusec.fusion.objective import affordable
from fusec.graph.channels_first_result import channels_first_result
from fusec.graph.channels_last import to_first, to_last
from fusec.graph.reshaped import Sizes, is_static, sizes_of
from fusec.graph.segmented_rows import (
    SHORTEST,
    Segments,
    only_reader,
    repeated,
    segmented,
    segmented_filter,
    segments_of,
)
from fusec.graph.weights_function import WeightsFunction
from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.cost import estimate
from fusec.schedule.memory import INPUTS, OUTPUTS
from fusec.schedule.region import Region
from fusec.schedule.schedule import schedule
from fusec.schedule.types import Refusal
from fusec_dialects.graph import FusedOp, WeightOp, YieldOp, build
from fusec_dialects.graph.base import attribute, element_name, tensor_type
from fusec_dialects.graph.compute import ConvOp
from fusec_dialects.graph.movement import PadOp, ReshapeOp, TransposeOp
from fusec_dialects.graph.shapes import make_type

STEM_CHANNELS = 16
"""A picture of fewer channels is worth a transposition that pads, or a filter for segments."""


@dataclass(frozen=True)
class Layout:
    """A group that only transposes by `perm`, then pads by `pads`."""

    group: FusedOp
    perm: Sizes
    pads: Sizes

    @staticmethod
    def of(group: FusedOp) -> Layout | None:
        """The layout change that a group is; None where it is more than that."""
        *ops, end = group.body.block.ops
        if len(group.inputs) != 1 or len(group.outputs) != 1 or not ops:
            return None
        first, rest = ops[0], ops[1:]
        if not isinstance(first, TransposeOp) or [*end.operands] != [*ops[-1].results]:
            return None
        if any(not isinstance(op, PadOp) or op.value.value.data != 0.0 for op in rest):
            return None
        pads = rest[0].pads.get_values() if rest and isinstance(rest[0], PadOp) else ()
        return None if len(rest) > 1 else Layout(group, first.perm.get_values(), tuple(pads))


@dataclass(frozen=True)
class Candidate:
    """A group's body in another form. `weights`: arguments that need another weight, and whether
    that is the filter."""

    block: Block
    segments: Segments | None = None
    weights: dict[int, bool] = field(default_factory=dict[int, bool])


class LayoutAbsorber:
    """Works on one function. `objective`: "time", "bytes" or "kernels", as in graph-fuse."""

    def __init__(
        self, block: Block, weights: WeightsFunction, target: Target, objective: str
    ) -> None:
        self._block = block
        self._weights = weights
        self._target = target
        self._objective = objective

    def run(self) -> None:
        """Tries every layout change: what costs nothing first, then the group before it."""
        groups = [op for op in self._block.ops if isinstance(op, FusedOp) and _is_free(op)]
        layouts = [layout for op in groups if (layout := Layout.of(op)) is not None]
        for step in (self._into_weights, self._into_source, self._into_users):
            for layout in layouts:
                if layout.group.parent is self._block:
                    step(layout)

    def _into_weights(self, layout: Layout) -> None:
        if layout.perm == to_first(len(layout.perm)) and not layout.pads:
            absorb_flatten(self._block, layout.group, self._weights)

    # The group before

    def _into_source(self, layout: Layout) -> None:
        value = layout.group.inputs[0]
        source = value.owner
        if not isinstance(source, FusedOp) or not value.has_one_use() or layout.pads:
            return
        if len(source.outputs) != 1 or not _is_free(source):
            return
        body = source.body.block
        first = layout.perm == to_first(len(layout.perm))
        block = channels_first_result(body) if first else None
        blocks = [*([] if block is None else [block]), _appended(body, layout.perm)]
        before = self._price(body) + self._price(layout.group.body.block)
        best = self._best([Candidate(block) for block in blocks], before)
        if best is None or not self._better(best[0], before):
            return
        new = self._rebuilt(source, best[1], list(source.inputs))
        self._replace(layout.group, new)
        self._block.erase_op(source)

    # The groups after

    def _into_users(self, layout: Layout) -> None:
        result = layout.group.outputs[0]
        users = [use.operation for use in result.uses]
        groups = [user for user in users if isinstance(user, FusedOp) and _is_free(user)]
        if len(groups) < len(users) or len(set(groups)) < len(users):
            return
        chosen: list[Candidate] = []
        before, after = self._price(layout.group.body.block), 0.0
        for user in groups:
            mine = self._price(user.body.block)
            best = self._best(list(self._readers(layout, user)), before + mine)
            if best is None:
                return
            chosen.append(best[1])
            before += mine
            after += best[0]
        if not self._better(after, before):
            return
        for user, candidate in zip(groups, chosen, strict=True):
            inputs = [layout.group.inputs[0] if v is result else v for v in user.inputs]
            for i, is_filter in candidate.weights.items():
                inputs[i] = self._changed(user, i, candidate, is_filter=is_filter)
            self._replace(user, self._rebuilt(user, candidate, inputs))
        self._block.erase_op(layout.group)

    def _readers(self, layout: Layout, user: FusedOp) -> Iterator[Candidate]:
        """What a group can become that reads what the layout change reads."""
        body = user.body.block
        index = list(user.inputs).index(layout.group.outputs[0])
        argument = body.args[index]
        conv = only_reader(argument)
        pads = () if conv is None else _window_pads(conv, layout.pads)
        if layout.pads and not pads:
            return
        source = sizes_of(layout.group.inputs[0])
        yield Candidate(_viewed(body, index, source, layout.perm, pads))
        rank = len(source)
        if (
            conv is None
            or source[1] >= STEM_CHANNELS
            or layout.perm != to_last(rank)
            or not is_static(body)
        ):
            return
        pads = pads or conv.pads.get_values()
        shortest = 1 if self._objective == "bytes" else SHORTEST
        for segments in segments_of(conv, source[-1], pads, shortest):
            made = segmented(body, argument, source, segments)
            changed = (
                {} if made is None else {made.filter: True} | dict.fromkeys(made.vectors, False)
            )
            known = all(isinstance(user.inputs[i].owner, WeightOp) for i in changed)
            if made is not None and known:
                yield Candidate(made.block, segments, changed)

    def _changed(
        self, user: FusedOp, index: int, candidate: Candidate, *, is_filter: bool
    ) -> SSAValue:
        """The weight in the form that a candidate takes."""
        old = user.inputs[index].owner
        conv = next(op for op in user.body.block.ops if isinstance(op, ConvOp))
        if not isinstance(old, WeightOp) or candidate.segments is None:
            raise ValueError(f"input {index} is no weight")
        inner = self._weights.weight(old.weight.data, tensor_type(old.y))
        if is_filter:
            inner = segmented_filter(self._weights, inner, conv, candidate.segments, old.location)
        else:
            inner = repeated(self._weights, inner, candidate.segments.outputs, old.location)
        name = self._weights.name(old.weight.data + ".segments", inner)
        new = WeightOp(name, tensor_type(inner))
        new.y.name_hint = old.y.name_hint
        new.location = old.location
        self._block.insert_op_before(new, user)
        return new.y

    # Both

    def _best(self, candidates: list[Candidate], before: float) -> tuple[float, Candidate] | None:
        """The cheapest candidate that is a kernel; where bytes count, the one that moves least of
        those that are worth the time of what was `before`."""
        priced = [(self._price(candidate.block), candidate) for candidate in candidates]
        known = [one for one in priced if one[0] < float("inf")]
        if self._objective != "bytes":
            return min(known, key=lambda one: one[0], default=None)
        worth = [one for one in known if self._better(one[0], before)] or known
        return min(worth, key=lambda one: (_moved(one[1].block), one[0]), default=None)

    def _better(self, after: float, before: float) -> bool:
        return after < float("inf") and affordable(self._objective, after, before)

    def _price(self, block: Block) -> float:
        """Modelled µs of a group; infinite where it is no kernel."""
        region = Region.of_block(block)
        answer = schedule(region, self._target)
        if isinstance(answer, Refusal):
            return float("inf")
        return estimate(region, answer, self._target).us

    def _rebuilt(self, old: FusedOp, candidate: Candidate, inputs: list[SSAValue]) -> FusedOp:
        """A group with another body, before the old one."""
        end = candidate.block.last_op
        types = [] if end is None else [v.type for v in end.operands]
        new = FusedOp(old.pattern.data, inputs, types, IRRegion(candidate.block))
        new.location = old.location
        new.attributes = dict(old.attributes)
        self._block.insert_op_before(new, old)
        return new

    def _replace(self, old: FusedOp, new: FusedOp) -> None:
        """The new results, as the shapes of the old ones, in their place."""
        for result, fresh in zip(old.outputs, new.outputs, strict=True):
            fresh.name_hint = result.name_hint
            value: SSAValue = fresh
            if fresh.type != result.type:
                view = ReshapeOp.make([fresh], [result.type])
                view.location = new.location
                self._block.insert_op_after(view, new)
                value = view.results[0]
            result.replace_all_uses_with(value)
        self._block.erase_op(old)


def _moved(block: Block) -> int:
    """Bytes of what a group reads and writes."""
    end = block.last_op
    values = [*block.args, *(() if end is None else end.operands)]
    return sum(prod(sizes_of(v)) * DTYPE_BYTES[element_name(v.type)] for v in values)


def _is_free(group: FusedOp) -> bool:
    """Whether all of a group's tensors are contiguous."""
    return INPUTS not in group.attributes and OUTPUTS not in group.attributes


def _window_pads(conv: ConvOp, pads: Sizes) -> Sizes:
    """The padding of a channels-last picture and of the window together; () if it cannot be one."""
    if not pads:
        return ()
    rank = len(pads) // 2
    first, behind = pads[:rank], pads[rank:]
    if any((first[0], first[-1], behind[0], behind[-1])):
        return ()
    own = conv.pads.get_values()
    return tuple(a + b for a, b in zip((*first[1:-1], *behind[1:-1]), own, strict=True))


def _appended(block: Block, perm: Sizes) -> Block:
    """The block, its only result transposed."""
    made = _copied(block, {})
    end = made.last_op
    if isinstance(end, YieldOp):
        view = build("transpose", [end.values[0]], {"perm": perm})
        view.location = end.location
        made.insert_op_before(view, end)
        end.operands[0] = view.results[0]
    return made


def _viewed(block: Block, index: int, source: Sizes, perm: Sizes, pads: Sizes) -> Block:
    """The block, reading argument `index` transposed; `pads`: those that its convolution gets."""
    made = _copied(block, {index: source})
    argument = made.args[index]
    uses = list(argument.uses)
    view = build("transpose", [argument], {"perm": perm})
    if made.first_op is not None:
        made.insert_op_before(view, made.first_op)
    for use in uses:
        use.operation.operands[use.index] = view.results[0]
        view.location = use.operation.location
        if isinstance(use.operation, ConvOp) and pads:
            use.operation.properties["pads"] = attribute(pads)
    return made


def _copied(block: Block, shapes: Mapping[int, Sizes]) -> Block:
    """A copy of a block, some arguments of other sizes."""
    made = Block()
    mapping: dict[SSAValue, SSAValue] = {}
    for old in block.args:
        type_ = tensor_type(old)
        if old.index in shapes:
            type_ = make_type(type_.element_type, shapes[old.index])
        new = made.insert_arg(type_, old.index)
        new.name_hint = old.name_hint
        mapping[old] = new
    for op in block.ops:
        made.add_op(op.clone(mapping))
    return made
