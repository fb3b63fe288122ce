"""Which merges count as like one that lost, and that the planner asks about the others."""

from __future__ import annotations

import pytest

from fusec.config.fusion_options import AUTO, FusionOptions
from fusec.fusion.dag import Dag
from fusec.fusion.group import Cover, Group
from fusec.fusion.legality import Cost, Legality
from fusec.fusion.losses import Losses, cut_of
from fusec.fusion.planner import Planner
from fusec.hw import load_target
from fusec.schedule.types import Refusal
from graph_modules import function, main_of


@pytest.mark.parametrize(
    ("sizes", "known"),
    [((96, 1000), True), ((96, 1200), True), ((96, 1300), False), ((70, 1000), False)],
)
def test_only_near_sizes_are_alike(sizes: tuple[int, ...], known: bool) -> None:
    losses = Losses()
    losses.add(("kind", (96, 1000)), "cut", 30.0, 20.0)
    assert (losses.near(("kind", sizes), "cut") is not None) == known
    assert losses.near(("other", sizes), "cut") is None
    assert losses.near(("kind", sizes), "other") is None


def test_what_lost_by_little_is_asked_again() -> None:
    losses = Losses()
    losses.add(("kind", (96, 1000)), "cut", 24.0, 20.0)
    assert losses.near(("kind", (96, 1000)), "cut") is None


def test_a_cut_goes_by_places_in_the_group() -> None:
    merged = Group({3, 5, 9}, "")
    assert cut_of(merged, [Group({9}, ""), Group({3, 5}, "")]) == ((0, 1), (2,))


class Counting(Legality):
    """Remembers how many operators each group had that was asked about in full."""

    def __init__(self) -> None:
        super().__init__(load_target("ascend910b3"))
        self.asked: list[int] = []

    def cost(self, cover: Cover, group: Group) -> Cost | Refusal:
        self.asked.append(len(group.owned))
        return super().cost(cover, group)


def plan(widths: list[int]) -> tuple[Planner, Counting]:
    """A wide product and a layer norm behind it for each width: two kernels are far better."""
    arguments, lines, results = list[str](), list[str](), list[str]()
    for n, width in enumerate(widths):
        x, w, y = f"tensor<96x{width}xf32>", f"tensor<{width}x{width}xf32>", f"tensor<{width}xf32>"
        arguments += [f"%x{n}: {x}", f"%w{n}: {w}", f"%s{n}: {y}"]
        lines.append(f"%p{n} = graph.matmul %x{n}, %w{n} : ({x}, {w}) -> {x}")
        norm = f"graph.layer_normalization %p{n}, %s{n}, %s{n}"
        lines.append(f"%n{n} = {norm} : ({x}, {y}, {y}) -> {x}")
        results.append(x)
    given = ", ".join(f"%n{n}" for n in range(len(widths)))
    lines.append(f"func.return {given} : {', '.join(results)}")
    module = function(", ".join(arguments), f"({', '.join(results)})", "\n".join(lines))
    legality = Counting()
    options = FusionOptions(strategy="greedy", only=frozenset({AUTO}))
    planner = Planner(Dag.of(main_of(module).body.block), legality, options)
    planner.run()
    return planner, legality


def test_layers_alike_are_not_asked_about_again() -> None:
    near, asked = plan([2048, 2080, 2112])
    far, more = plan([2048, 3072, 4608])
    assert len(near.cover.groups) == len(far.cover.groups) == 6
    assert asked.asked.count(2) == 1
    assert more.asked.count(2) == 3
    reasons = [r.message for r in near.remarks if r.reason == "not-profitable"]
    assert [("sizes near" in text) for text in reasons] == [False, True, True]


def test_explanations_have_the_figures_of_the_pair_itself() -> None:
    near, _ = plan([2048, 2080])
    cover = near.cover
    keys = [cover.owner[i] for i in (2, 3)]
    merged = near.merged([cover.groups[k] for k in keys])
    refusal = near.judge(keys, merged, exact=True)
    assert isinstance(refusal, Refusal)
    assert "sizes near" not in refusal.message
