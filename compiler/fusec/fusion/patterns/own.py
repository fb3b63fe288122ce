"""Fusions that users bring: an expression each, tried before the named patterns of the library.

A registered fusion is a row of this table until the process ends or it is taken out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from fusec.fusion.dag import Dag
from fusec.fusion.patterns.terms import Apply, Found, find


@dataclass(frozen=True)
class OwnFusion:
    """`root` is the last operator; `escapes` are inner terms that others may use as well; the
    inputs are the names `i0`, `i1`, ..., `inputs` of them."""

    name: str
    root: Apply
    benefit: int
    doc: str = ""
    escapes: tuple[Apply, ...] = ()
    inputs: int = 0

    @property
    def outputs(self) -> tuple[Apply, ...]:
        """The terms that others may use, the result last."""
        return (*self.escapes, self.root)


@dataclass(frozen=True)
class OwnMatch:
    """Where a fusion fits. `seen` are operators inside that others use though they may not; `at`
    says which operator each term is, `values` what each name stands for."""

    fusion: OwnFusion
    ops: tuple[int, ...]
    seen: tuple[int, ...] = ()
    at: Mapping[Apply, int] = field(default_factory=dict[Apply, int])
    values: Mapping[str, SSAValue] = field(default_factory=dict[str, SSAValue])


@dataclass
class Registry:
    """Own fusions by name, in the order in which they came."""

    fusions: dict[str, OwnFusion] = field(default_factory=dict[str, OwnFusion])

    def matches(self, dag: Dag) -> Iterator[OwnMatch]:
        """Every place where a fusion fits, the most benefit first, then in program order."""
        for fusion in sorted(self.fusions.values(), key=lambda f: -f.benefit):
            for i, name in enumerate(dag.names):
                if name != fusion.root.op or dag.is_constant(i):
                    continue
                found = find(dag, i, fusion.root, {})
                if found is not None:
                    ops = tuple(sorted(found.ops))
                    seen = _seen(dag, i, fusion, found)
                    yield OwnMatch(fusion, ops, seen, found.at, found.values)


OWN = Registry()
"""The fusions of this process."""


def _seen(dag: Dag, root: int, fusion: OwnFusion, found: Found) -> tuple[int, ...]:
    """Inner operators of a match that something outside of it uses and that may not escape."""
    ops = found.ops
    allowed = {root, *(found.at[term] for term in fusion.escapes)}
    return tuple(i for i in sorted(ops - allowed) if not ops.issuperset(dag.users[i]))
