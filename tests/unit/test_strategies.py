"""Strategies against every possible plan, under costs that are drawn at random; time budget, own
strategies, the cache of plans.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from random import Random

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

import fusec
from fusec.config.fusion_options import AUTO, FusionOptions
from fusec.fusion.dag import Dag
from fusec.fusion.group import Cover, Group
from fusec.fusion.legality import Cost, Legality
from fusec.fusion.plan_cache import plan_with_cache
from fusec.fusion.planner import Planner
from fusec.fusion.strategies import STRATEGIES, register_strategy
from fusec.fusion.strategies.beam import Beam
from fusec.hw import load_target
from fusec.schedule.templates import Bounds
from fusec.schedule.types import Refusal
from fusec_dialects.graph import FusedOp
from graph_modules import function, main_of

S = "tensor<16x16xf32>"
TARGET = load_target("ascend910b3")


class Drawn(Legality):
    """Costs of groups from a seed: an operator alone 10 µs, groups of it less or more, or none."""

    def __init__(self, seed: int, refused: float = 0.25) -> None:
        super().__init__(TARGET)
        self._seed = seed
        self._refused = refused
        self.asked = 0

    def cost(self, cover: Cover, group: Group) -> Cost | Refusal:
        self.asked += 1
        size = len(group.owned)
        if size == 1:
            return Cost(10.0, 10, 10)
        draw = Random(f"{self._seed} {sorted(group.owned)}")
        if size > 5 or draw.random() < self._refused:
            return Refusal("drawn", "no such kernel")
        us = 10.0 * size * draw.uniform(0.5, 1.1)
        return Cost(us, int(us), int(us))

    def bounds(self, cover: Cover, group: Group) -> Bounds | Refusal:
        return Bounds(5.0 * len(group.owned), None)


def drawn(seed: int, length: int) -> Dag:
    """Softmaxes and sums of two earlier values, every one of them used."""
    draw = Random(seed)
    values, lines, unused = ["%x"], list[str](), set[str]()
    for i in range(length):
        one = draw.choice(values[-4:])
        if i % 3 == 2:
            other = draw.choice(values)
            lines.append(f"%{i} = graph.matmul {one}, {other} : ({S}, {S}) -> {S}")
            unused -= {one, other}
        else:
            lines.append(f"%{i} = graph.softmax {one} {{axis = 1}} : {S} -> {S}")
            unused -= {one}
        values.append(f"%{i}")
        unused.add(f"%{i}")
    left = sorted(unused)
    types = ", ".join(S for _ in left)
    lines.append(f"func.return {', '.join(left)} : {types}")
    return Dag.of(main_of(function(f"%x: {S}", f"({types})", "\n".join(lines))).body.block)


def planned(
    dag: Dag, seed: int, strategy: str, objective: str = "time", refused: float = 0.25
) -> Planner:
    options = FusionOptions(strategy=strategy, objective=objective, only=frozenset({AUTO}))
    planner = Planner(dag, Drawn(seed, refused), options)
    planner.run()
    return planner


def partitions(line: list[int]) -> Iterator[list[list[int]]]:
    for count in range(len(line)):
        for cuts in combinations(range(1, len(line)), count):
            ends = [0, *cuts, len(line)]
            yield [line[a:b] for a, b in pairwise(ends)]


def softmax_chain(length: int) -> ModuleOp:
    lines = [f"%0 = graph.softmax %x {{axis = 1}} : {S} -> {S}"]
    lines += [f"%{i} = graph.softmax %{i - 1} {{axis = 1}} : {S} -> {S}" for i in range(1, length)]
    return function(f"%x: {S}", S, "\n".join((*lines, f"func.return %{length - 1} : {S}")))


def softmaxes(length: int) -> Dag:
    return Dag.of(main_of(softmax_chain(length)).body.block)


@pytest.mark.parametrize(("strategy", "refused"), [("dp", 0.0), ("dp", 0.25), ("wide", 0.0)])
@pytest.mark.parametrize("seed", range(12))
def test_the_best_of_all_plans_is_found_on_a_chain(
    strategy: str, refused: float, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STRATEGIES, "wide", Beam(width=8, reach=100.0))
    dag, legality = softmaxes(8), Drawn(seed, refused)
    cover = Cover.unfused(dag)

    def us(part: list[int]) -> float:
        cost = legality.cost(cover, Group(set(part), ""))
        return cost.us if isinstance(cost, Cost) else float("inf")

    best = min(sum(map(us, plan)) for plan in partitions(list(range(8))))
    assert planned(dag, seed, strategy, refused=refused).total().first == pytest.approx(best)


@pytest.mark.parametrize("objective", ["time", "bytes", "kernels"])
@pytest.mark.parametrize("seed", range(12))
def test_no_search_is_worse_than_greedy_and_every_plan_can_run(seed: int, objective: str) -> None:
    dag = drawn(seed, 14)
    greedy = planned(dag, seed, "greedy", objective)
    for strategy in ("dp", "beam"):
        planner = planned(dag, seed, strategy, objective)
        assert planner.total().first <= greedy.total().first + 1e-6
        groups = planner.cover.groups
        assert sorted(i for g in groups.values() for i in g.owned) == sorted(planner.cover.owner)
        assert len(planner.cover.order()) == len(groups), "some groups wait for each other"
        if objective == "time":
            assert planner.total().first <= 10.0 * len(planner.cover.owner)
        assert planner.total() == planned(dag, seed, strategy, objective).total()


def test_a_merge_that_pays_only_later_is_found() -> None:
    class Late(Drawn):
        def cost(self, cover: Cover, group: Group) -> Cost | Refusal:
            us = {1: 10.0, 2: 21.0, 3: 12.0}.get(len(group.owned))
            return Refusal("drawn", "no") if us is None else Cost(us, 1, 1)

    totals = {}
    for strategy in ("greedy", "dp", "beam"):
        planner = Planner(
            softmaxes(3), Late(0), FusionOptions(strategy=strategy, only=frozenset({AUTO}))
        )
        planner.run()
        totals[strategy] = planner.total().first
    assert totals == {"greedy": 30.0, "dp": 12.0, "beam": 12.0}


@pytest.mark.parametrize("strategy", ["greedy", "dp", "beam"])
def test_out_of_time_the_best_plan_so_far_is_taken(strategy: str) -> None:
    options = FusionOptions(strategy=strategy, only=frozenset({AUTO}), time_budget=1e-9)
    planner = Planner(softmaxes(8), Drawn(0), options)
    planner.run()
    assert sorted(planner.cover.owner) == list(range(8))
    assert len(planner.cover.order()) == len(planner.cover.groups)


def test_an_own_strategy_goes_by_its_name() -> None:
    def pairs(planner: Planner) -> None:
        for i in range(0, len(planner.dag.ops) - 1, 2):
            planner.try_merge({planner.cover.owner[i], planner.cover.owner[i + 1]})

    register_strategy("neighbours", pairs)
    try:
        module = softmax_chain(4)
        fusec.run_passes(module, "graph-fuse{strategy=neighbours objective=kernels}")
        sizes = [len(f.body.block.ops) for f in module.walk() if isinstance(f, FusedOp)]
        assert sizes == [3, 3]
        with pytest.raises(ValueError, match="'neighbours' exists already"):
            register_strategy("neighbours", pairs)
    finally:
        del STRATEGIES["neighbours"]
    with pytest.raises(PassFailedException, match="unknown strategy 'neighbours'"):
        fusec.run_passes(softmax_chain(4), "graph-fuse{strategy=neighbours}")


def cached(folder: Path, **options: object) -> tuple[Planner, Drawn]:
    legality = Drawn(3)
    said = FusionOptions(strategy="beam", plan_cache=str(folder))
    planner = Planner(softmaxes(8), legality, replace(said, **options))
    plan_with_cache(planner, TARGET)
    return planner, legality


def test_an_equal_question_is_answered_from_the_cache(tmp_path: Path) -> None:
    first, asked = cached(tmp_path)
    again, few = cached(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    assert few.asked < asked.asked / 3
    assert [g.owned for g in again.cover.groups.values()] == [
        g.owned for g in first.cover.groups.values()
    ]
    cached(tmp_path, objective="bytes")
    assert len(list(tmp_path.iterdir())) == 2


def test_a_plan_that_time_ran_out_for_is_not_kept(tmp_path: Path) -> None:
    cached(tmp_path, time_budget=1e-9)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "{", '{"version": 1, "graph": "other", "groups": []}', "[1]"])
def test_a_plan_that_does_not_replay_is_made_anew(tmp_path: Path, text: str) -> None:
    first, _ = cached(tmp_path)
    (file,) = tmp_path.iterdir()
    kept = file.read_text()
    file.write_text(text)
    assert cached(tmp_path)[0].total() == first.total()
    assert json.loads(file.read_text()) == json.loads(kept)


def test_a_cache_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PassFailedException, match="plan-cache: cannot write to"):
        cached(tmp_path / "file" / "folder")
