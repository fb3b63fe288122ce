"""`fusec explain MODEL`: what fused and what that saves; what did not, and what would change it."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path

from fusec.explain import explain
from fusec.fusion.explain import EdgeNote, Explanation, GroupNote, MissedNote
from fusec.fusion.remarks import listening
from fusec.tools.cli.session import (
    Progress,
    compile_options,
    open_graph,
    print_json,
    write_log,
)
from fusec.tools.output import write_text
from fusec.tools.status import UsageError


def run(options: argparse.Namespace) -> int:
    """Explains the whole plan, or one edge of it."""
    progress = Progress(options)
    model = open_graph(options, progress)
    progress("deciding what to fuse")
    with listening() as heard:
        found = explain(model, compile_options(options))
    write_log(options, heard)
    if options.save_plan is not None:
        write_text(Path(options.save_plan), json.dumps(found.plan, indent=1) + "\n")
    if options.edge:
        found = _edge(found, *options.edge)
    if options.json:
        print_json({"model": options.model, **asdict(found)})
    else:
        lines = (*_groups(found.groups), "", *_edges(found.edges), *_missed(found.missed))
        print("\n".join(lines))
    return 0


def _edge(found: Explanation, first: str, second: str) -> Explanation:
    """Only what concerns two operators; raises UsageError for a name that no operator has."""
    names = dict.fromkeys(op for group in found.groups for op in group.ops)
    for name in (first, second):
        if name not in names:
            near = get_close_matches(name, names, n=1)
            advice = f"did you mean '{near[0]}'?" if near else "names are those of the ONNX nodes"
            raise UsageError(f"--edge: no operator is called '{name}'; {advice}")
    groups = tuple(g for g in found.groups if first in g.ops or second in g.ops)
    edges = tuple(e for e in found.edges if _joins(e, first, second) or _joins(e, second, first))
    missed = tuple(m for m in found.missed if first in m.ops and second in m.ops)
    if edges:
        return Explanation(groups, edges, missed=missed)
    if any(first in g.ops and second in g.ops for g in groups):
        return Explanation(tuple(g for g in groups if first in g.ops and second in g.ops), ())
    raise UsageError(f"--edge: '{second}' does not read what '{first}' gives, nor the other way")


def _missed(missed: Iterable[MissedNote]) -> Iterable[str]:
    for m in missed:
        yield f"{m.fusion} fits {', '.join(m.ops)}: not taken: {m.reason}: {m.message}"
        yield f"    would change it: {m.advice}"


def _joins(edge: EdgeNote, first: str, second: str) -> bool:
    return first in edge.nodes[0] and second in edge.nodes[1]


def _name(place: str, nodes: tuple[str, ...]) -> str:
    """An operator by its node, and the others that it is made of."""
    others = ", ".join(node for node in nodes if node != place)
    return f"{place} (with {others})" if others else place


def _groups(groups: Iterable[GroupNote]) -> Iterable[str]:
    yield f"{'pattern':32} {'us':>9} {'apart':>9} {'MB':>8} {'apart':>8}  operators"
    for g in groups:
        ops = ", ".join(dict.fromkeys(g.ops))
        us, apart = _figure(g.us, 9, 2), _figure(g.apart_us, 9, 2)
        mb, apart_mb = (_figure(b and b / 1e6, 8, 3) for b in (g.gm_bytes, g.apart_bytes))
        yield f"{g.name:32} {us} {apart} {mb} {apart_mb}  {ops}"


def _figure(value: float | None, width: int, digits: int) -> str:
    return f"{'-':>{width}}" if value is None else f"{value:{width}.{digits}f}"


def _edges(edges: tuple[EdgeNote, ...]) -> Iterable[str]:
    if not edges:
        yield "No value goes from one kernel to another, or the two operators are in one kernel."
        return
    counts = Counter(e.reason for e in edges)
    total = ", ".join(f"{reason} {count}" for reason, count in counts.most_common())
    yield f"edges that are not fused: {len(edges)}: {total}"
    for e in edges:
        producer, consumer = _name(e.producer, e.nodes[0]), _name(e.consumer, e.nodes[1])
        yield f"{producer} -> {consumer} ({e.bytes / 1e6:.3f} MB): {e.reason}: {e.message}"
        yield f"    would change it: {e.advice}"
