"""Why the groups are what they are: what each saves, and for each edge between two of them why they
are not one, with what would change it.

In: a planner that has run, before its cover becomes IR. Out: plain data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fusec.fusion.group import Group
from fusec.fusion.legality import Cost
from fusec.fusion.patterns import matches_at
from fusec.fusion.patterns.own import OWN
from fusec.fusion.planner import Planner
from fusec.fusion.remarks import Remark
from fusec.fusion.saved_plan import save
from fusec.schedule.types import Number, Refusal
from fusec.semantics.types import tensor_bytes

ADVICE: dict[str, str] = {
    "not-profitable": "another objective weighs it otherwise (--objective kernels or bytes)",
    "disabled": "leave the name out of the switches",
    "max-ops": "raise max-ops (max_fusion_ops)",
    "max-depth": "raise max-depth (GE_FUSION_MAX_DEPTH)",
    "cycle": "nothing: a kernel cannot wait for itself",
    "escapes": "make the inner value an output of the fusion",
    "own-fusion": "make what follows a part of the fusion",
    "own-operator": "give the operator a `lower`, or a fusion of both",
    "own-kernel": "a fusion of both with a `lower`",
    "own-strides": "a copy before or behind it",
    "own-unsupported": "what the `lower` says; else the host computes it",
    "own-capacity": "smaller tiles in the `lower`",
    "dynamic-shape": "give the inputs static shapes (--shape NAME=AxB)",
    "type": "a cast to f16 or f32 before the operator",
    "capacity": "smaller sizes, or a target with larger memories",
    "ub-capacity": "smaller rows, or a target with a larger UB",
    "results-apart": "nothing: results of one kernel share its cores' loops",
    "several-outputs": "give the inner value one user only",
    "may-be-infinite": "nothing, and nothing is lost: the softmax's kernel adds the mask",
    "fusion-off": "leave out --no-fusion, GE_FUSION_SWITCH=0 and their like",
    "not-tried": "another strategy, or a saved plan with both in one group; min-ops may forbid it",
    "automatic-off": "another strategy than patterns, or auto_fusion true in the configuration",
}
"""What would change a refusal, by its reason."""

FUSION_OFF = Refusal("fusion-off", "fusion is switched off")

DEFAULT_ADVICE = (
    "nothing that a switch does: the hardware or a kernel family of fusec sets this limit"
)


@dataclass(frozen=True)
class GroupNote:
    """A group: its pattern, the ONNX nodes of its operators, modelled µs and bytes over global
    memory, and the same for its operators apart. None where no kernel could be costed.
    """

    name: str
    ops: tuple[str, ...]
    us: float | None
    gm_bytes: int | None
    apart_us: float | None
    apart_bytes: int | None


@dataclass(frozen=True)
class EdgeNote:
    """A value that one group writes and another reads: why not one group. `nodes` are all ONNX
    nodes that the producer and the consumer are made of."""

    producer: str
    consumer: str
    groups: tuple[str, str]
    bytes: int
    reason: str
    message: str
    advice: str
    numbers: Mapping[str, Number] = field(default_factory=dict[str, Number])
    nodes: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


@dataclass(frozen=True)
class MissedNote:
    """A place where a named pattern or an own fusion fits and is not taken: why not, like a value
    that escapes, or both times.
    """

    fusion: str
    ops: tuple[str, ...]
    reason: str
    message: str
    advice: str
    numbers: Mapping[str, Number] = field(default_factory=dict[str, Number])


@dataclass(frozen=True)
class Explanation:
    """Groups in program order, edges between them in the order of their producers, the plan as
    `saved_plan` keeps it, and places where fusions fit but for something.
    """

    groups: tuple[GroupNote, ...]
    edges: tuple[EdgeNote, ...]
    plan: Mapping[str, Any] = field(default_factory=dict[str, Any])
    missed: tuple[MissedNote, ...] = ()


def explain(planner: Planner, before: Sequence[Remark] = ()) -> Explanation:
    """Every group and every edge; legality is asked once more about each pair. `before` was said
    before the planner ran."""
    keys = sorted(planner.cover.groups, key=lambda k: min(planner.cover.groups[k].owned))
    groups = tuple(_group(planner, key) for key in keys)
    edges = tuple(note for key in keys for note in _edges(planner, key))
    missed = tuple(
        MissedNote(r.pattern, r.ops, r.reason, r.message, ADVICE.get(r.reason, DEFAULT_ADVICE))
        for r in (*before, *planner.remarks)
        if r.kind == "refused" and r.pattern in OWN.fusions
    )
    return Explanation(groups, edges, save(planner), (*missed, *_missed_patterns(planner)))


def _missed_patterns(planner: Planner) -> Iterator[MissedNote]:
    """The best named pattern at each operator, where its operators are in several groups."""
    dag, cover = planner.dag, planner.cover
    told: set[int] = set()
    for op in range(len(dag.ops)):
        match = next(iter(matches_at(dag, op)), None) if op in cover.owner else None
        if match is None or told.issuperset(match.ops):
            continue
        keys = {cover.owner[i] for i in match.ops if i in cover.owner}
        if len(keys) < 2:
            continue
        told.update(match.ops)
        refusal = _why_not(planner, Group(set(match.ops), match.name), keys)
        yield MissedNote(
            match.name,
            dag.named(match.ops),
            refusal.reason,
            refusal.message,
            advice(refusal),
            refusal.numbers,
        )


def _why_not(planner: Planner, group: Group, keys: set[int]) -> Refusal:
    """Why a pattern's operators, in several groups now, are not one kernel."""
    if not planner.enabled:
        return FUSION_OFF
    whole = planner.merged((group,), group.name)
    if (refused := planner.permits(whole, automatic=False)) is not None:
        return refused
    cost = planner.legal_cost(whole)
    if isinstance(cost, Refusal):
        return cost
    costs = [planner.cost_of(key) for key in keys]
    apart = sum(c.us for c in costs if isinstance(c, Cost))
    return Refusal(
        "not-profitable",
        f"{cost.us:.1f} us as one kernel; its operators are in {len(keys)} groups that take "
        f"{apart:.1f} us with all that is in them (modelled)",
        {"fused": cost.us, "apart": apart},
    )


def _group(planner: Planner, key: int) -> GroupNote:
    group = planner.cover.groups[key]
    cost = planner.cost_of(key)
    us, gm_bytes = (cost.us, cost.gm_bytes) if isinstance(cost, Cost) else (None, None)
    apart = [planner.legal_cost(Group({i}, "")) for i in group.owned if not planner.dag.is_view(i)]
    known = [c for c in apart if isinstance(c, Cost)]
    whole = len(known) == len(apart)
    return GroupNote(
        group.name,
        planner.dag.named(group.owned),
        us,
        gm_bytes,
        sum(c.us for c in known) if whole else None,
        sum(c.gm_bytes for c in known) if whole else None,
    )


def _edges(planner: Planner, key: int) -> Iterator[EdgeNote]:
    cover, dag = planner.cover, planner.dag
    judged: dict[int, Refusal] = {}
    for i in sorted(cover.groups[key].owned):
        for target in dict.fromkeys(cover.targets(i)):
            other = cover.owner[target]
            if other == key:
                continue
            if other not in judged:
                judged[other] = _refusal(planner, key, other)
            refusal = judged[other]
            yield EdgeNote(
                dag.place(i),
                dag.place(target),
                (cover.groups[key].name, cover.groups[other].name),
                sum(tensor_bytes(r.type) for r in dag.ops[i].results),
                refusal.reason,
                refusal.message,
                advice(refusal),
                refusal.numbers,
                (dag.nodes(i), dag.nodes(target)),
            )


def advice(refusal: Refusal) -> str:
    """What would change a refusal."""
    if refusal.reason == "type" and (cast := refusal.numbers.get("cast")):
        return f"a cast of its operands from {refusal.numbers['type']} to {cast}"
    return ADVICE.get(refusal.reason, DEFAULT_ADVICE)


def _refusal(planner: Planner, first: int, second: int) -> Refusal:
    """Why two groups of the final cover are not one."""
    groups = planner.cover.groups
    owned = groups[first].owned | groups[second].owned
    merged = Group(owned, planner.name_of(owned))
    merged.borrowed = (groups[first].borrowed | groups[second].borrowed) - owned
    if not planner.enabled:
        return FUSION_OFF
    if not planner.automatic:
        return Refusal(
            "automatic-off",
            "no named pattern that is switched on spans both, and automatic fusion is off",
        )
    answer = planner.judge((first, second), merged, exact=True)
    if answer is not None:
        return answer
    return Refusal(
        "not-tried", "the plan was found without trying this pair; another strategy may take it"
    )
