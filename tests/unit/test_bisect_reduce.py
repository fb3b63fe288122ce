"""The search for culprits and the search for a small failing network, on planted faults."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.ir import Operation

from fusec.accuracy.bisect import NothingToBlame, bisect
from fusec.accuracy.reduce import minimize, operators, subset
from graph_modules import check, function, main_of

NAMES = [f"p{i}" for i in range(300)]

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_one_culprit_among_300_takes_12_evaluations() -> None:
    counts: list[int] = []
    for name in NAMES:
        found = bisect(NAMES, lambda off, name=name: name in off)
        assert found.names == (name,)
        counts.append(found.evaluations)
    assert max(counts) <= 12


@unhurried
@given(st.sets(st.sampled_from(NAMES[:60]), min_size=1, max_size=6))
def test_several_culprits(culprits: set[str]) -> None:
    found = bisect(NAMES[:60], culprits.issubset)
    assert set(found.names) == culprits
    assert found.evaluations <= 3 + 8 * len(culprits)


def test_either_of_two_is_enough() -> None:
    found = bisect(NAMES, lambda off: bool({"p7", "p200"} & off))
    assert len(found.names) == 1


def test_the_smaller_of_two_sets_is_given() -> None:
    found = bisect(NAMES, lambda off: "p290" in off or {"p3", "p40", "p7"} <= off)
    assert found.names == ("p290",)


def test_fusions_that_go_wrong_when_others_are_off() -> None:
    """The answer passes, and no name of it can stay on."""

    def passes(off: frozenset[str]) -> bool:
        return "p5" in off and ("p9" not in off or "p11" in off)

    for names in (NAMES[:12], NAMES[:12][::-1]):
        found = frozenset(bisect(names, passes).names)
        assert passes(found)
        assert not any(passes(found - {name}) for name in found)


def test_nothing_to_blame() -> None:
    with pytest.raises(NothingToBlame, match="right with every fusion on"):
        bisect(NAMES, lambda off: True)
    with pytest.raises(NothingToBlame, match="wrong with every one"):
        bisect(NAMES, lambda off: False)
    with pytest.raises(NothingToBlame):
        bisect([], lambda off: False)


@unhurried
@given(st.integers(1, 400), st.data())
def test_minimize_keeps_what_fails(count: int, data: st.DataObject) -> None:
    needed = set(data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=5)))
    calls = 0

    def fails(items: Sequence[int]) -> bool:
        nonlocal calls
        calls += 1
        return needed.issubset(items)

    assert minimize(range(count), fails) == sorted(needed)
    assert calls <= 60 * len(needed)


M = "tensor<4x4xf32>"


def network(count: int) -> str:
    """A chain of operators with a branch from each tenth one, seeded."""
    rng = random.Random(0)
    lines, last = [f'%w = graph.weight "w" : {M}'], "%x"
    for i in range(count):
        kind = rng.choice(("relu", "exp", "add", "mul", "sub"))
        other = f"%{rng.randrange(max(i - 10, 0), i)}" if i else "%w"
        if kind in ("relu", "exp"):
            lines.append(f"%{i} = graph.{kind} {last} : {M} -> {M}")
        else:
            lines.append(f"%{i} = graph.{kind} {last}, {other} : ({M}, {M}) -> {M}")
        last = f"%{i}"
    return "\n".join([*lines, f"func.return {last} : {M}"])


def test_a_network_of_400_operators_comes_down_to_what_fails() -> None:
    module = function(f"%x: {M}", M, network(400))
    ops = operators(module)
    assert len(ops) == 400

    def has(kept: Sequence[Operation]) -> bool:
        """An exp whose result a mul reads."""
        made = subset(module, kept)
        check(made)
        return any(
            op.name == "graph.mul" and use.name == "graph.exp"
            for op in made.walk()
            for use in (o.owner for o in op.operands)
            if isinstance(use, Operation)
        )

    assert has(ops)
    kept = minimize(ops, has)
    assert sorted(op.name for op in kept) == ["graph.exp", "graph.mul"]


def test_subset_has_the_types_and_names_of_the_whole() -> None:
    module = function(
        f"%x: {M}, %y: {M}",
        M,
        f"""%w = graph.weight "w" : {M}
        %0 = graph.exp %x : {M} -> {M}
        %1 = graph.add %0, %w : ({M}, {M}) -> {M}
        %2 = graph.mul %1, %y : ({M}, {M}) -> {M}
        func.return %2 : {M}""",
    )
    made = subset(module, operators(module)[1:2])
    check(made)
    main = main_of(made)
    assert [op.name for op in main.body.block.ops] == ["graph.weight", "graph.add", "func.return"]
    assert len(main.body.block.args) == 1
    whole = subset(module, operators(module))
    assert str(whole) == str(subset(whole, operators(whole)))
