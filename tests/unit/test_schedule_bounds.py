"""What searches for tiles leave out is worse than what they find, and what is known without a
search is what a search would say."""

from __future__ import annotations

import re
from itertools import product
from math import inf

import pytest
from xdsl.ir import SSAValue

from fusec.hw import Target, load_target
from fusec.schedule.cost import estimate
from fusec.schedule.cube import CubeSearch
from fusec.schedule.cube_problem import cube_problem
from fusec.schedule.cube_room import CubeRoom
from fusec.schedule.cube_schedule import CubeSchedule, fits, footprint
from fusec.schedule.expand import expand
from fusec.schedule.footprint import Footprint, Tiles
from fusec.schedule.known import answer, refused
from fusec.schedule.memory import Strides
from fusec.schedule.mixed import MixedSchedule, Planner, with_chunk
from fusec.schedule.mixed_problem import problem_of
from fusec.schedule.plan_tables import Tilings
from fusec.schedule.planner import make_plan
from fusec.schedule.region import Region
from fusec.schedule.schedule import schedule
from fusec.schedule.sized import SMALL
from fusec.schedule.templates import Template, template_of
from fusec.schedule.types import Refusal, RefusalError
from fusec.schedule.ways import way_of
from fusec.schedule.work import work_us
from fusec_dialects.graph import KernelOp
from kernel_check import kernel
from vector_regions import random_region

VIEWS = ("reshape", "squeeze", "flatten", "expand", "slice")
"""Operators whose sizes are not free."""

TARGET = load_target("ascend910b3")


def region_of(op: KernelOp) -> Region:
    return Region.of_block(op.body.block)


def sizes_of(text: str) -> tuple[int, ...]:
    """The sizes above SMALL of all tensors, each once, in order."""
    shapes = re.findall(r"tensor<((?:\d+x)+)", text)
    found = (int(n) for shape in shapes for n in shape.split("x") if n)
    return tuple(dict.fromkeys(n for n in found if n > SMALL))


def resized(text: str, sizes: dict[int, int]) -> str:
    """The kernel with other sizes."""

    def shape(match: re.Match[str]) -> str:
        numbers = (int(n) for n in match[1].split("x") if n)
        return "tensor<" + "".join(f"{sizes.get(n, n)}x" for n in numbers)

    return re.sub(r"tensor<((?:\d+x)+)", shape, text)


def norm(rows: int, columns: int) -> str:
    x, s = f"tensor<{rows}x{columns}xf32>", f"tensor<{columns}xf32>"
    return (
        f'graph.kernel @k "k"(%x: {x}, %s: {s}) -> {x} {{\n'
        f"  %0 = graph.layer_normalization %x, %s {{axis = -1}} : ({x}, {s}) -> {x}\n"
        f"  %1 = graph.softmax %0 : {x} -> {x}\n  graph.yield %1 : {x}\n}}\n"
    )


def matmul(m: int, k: int, n: int, then: str = "") -> str:
    a, b, c, y = f"{m}x{k}xf32", f"{k}x{n}xf32", f"{n}xf32", f"tensor<{m}x{n}xf32>"
    last = f"  %2 = graph.{then} %1 : {y} -> {y}\n" if then else ""
    return (
        f'graph.kernel @k "k"(%a: tensor<{a}>, %b: tensor<{b}>, %c: tensor<{c}>) -> {y} {{\n'
        f"  %0 = graph.matmul %a, %b : (tensor<{a}>, tensor<{b}>) -> {y}\n"
        f"  %1 = graph.add %0, %c : ({y}, tensor<{c}>) -> {y}\n"
        f"{last}  graph.yield {'%2' if then else '%1'} : {y}\n}}\n"
    )


def around(m: int, k: int, n: int) -> str:
    """A norm, a product, a softmax: what the cores hand over row by row."""
    x, b, y = f"tensor<{m}x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"
    s = f"tensor<{k}xf32>"
    return (
        f'graph.kernel @k "k"(%x: {x}, %s: {s}, %b: {b}) -> {y} {{\n'
        f"  %0 = graph.layer_normalization %x, %s {{axis = -1}} : ({x}, {s}) -> {x}\n"
        f"  %1 = graph.matmul %0, %b : ({x}, {b}) -> {y}\n"
        f"  %2 = graph.softmax %1 : {y} -> {y}\n  graph.yield %2 : {y}\n}}\n"
    )


def costs(text: str, target: Target) -> float | None:
    """Modelled µs of a kernel, found by a search."""
    region = region_of(kernel(text))
    found = schedule(region, target)
    return None if isinstance(found, Refusal) else estimate(region, found, target).us


TEXTS = {
    "norm": norm(197, 768),
    "bias": matmul(197, 768, 300),
    "relu": matmul(64, 96, 128, "relu"),
    "around": around(130, 70, 90),
    "large": around(520, 1200, 900),
    "large gelu": matmul(520, 1200, 900, "gelu"),
    "gelu": matmul(130, 70, 90, "gelu"),
    **{f"random {seed}": random_region(seed) for seed in range(40)},
}


@pytest.mark.parametrize("name", ["ascend910b3", "tiny"])
def test_a_template_says_of_other_sizes_what_a_search_says(name: str) -> None:
    target, answered, bounded, refined = load_target(name), 0, 0, 0
    for text in TEXTS.values():
        sizes = sizes_of(text)
        made = template_of(kernel(text).body.block, sizes, target)
        if not isinstance(made, Template):
            continue
        for factor, more in ((1, 0), (1, 17), (5, 3)):
            others = tuple(n * factor + more for n in sizes)
            wanted = costs(resized(text, dict(zip(sizes, others, strict=True))), target)
            found = made.answer(others)
            assert found is None or found.us == wanted
            answered += found is not None
            bounds = made.bounds(others)
            if bounds is None:
                continue
            assert wanted is None or bounds.least <= wanted
            if bounds.refine():
                refined += 1
                assert wanted is not None and bounds.least <= wanted
            if bounds.most is not None:
                assert wanted is not None and wanted <= bounds.most
                bounded += 1
    assert answered > 20 and bounded > 10 and (refined > 0 or name == "tiny")


def test_other_numbers_of_equal_sizes_are_another_template() -> None:
    """Rows and columns that are one size are told apart from two: the caller numbers them."""
    made = template_of(kernel(norm(96, 96)).body.block, (96,), TARGET)
    assert isinstance(made, Template)
    found = made.answer((70,))
    assert found is not None and found.us == costs(norm(70, 70), TARGET)


def test_views_and_windows_have_no_template() -> None:
    x = "tensor<32x64xf32>"
    text = (
        f'graph.kernel @k "k"(%x: {x}) -> tensor<2048xf32> {{\n'
        f"  %0 = graph.relu %x : {x} -> {x}\n"
        f"  %1 = graph.reshape %0 : {x} -> tensor<2048xf32>\n"
        "  graph.yield %1 : tensor<2048xf32>\n}\n"
    )
    assert template_of(kernel(text).body.block, (32, 64, 2048), TARGET) is None


@pytest.mark.parametrize("name", ["ascend910b3", "tiny"])
@pytest.mark.parametrize("shape", [(197, 768, 300), (1, 1000, 700), (64, 64, 5000)])
def test_no_step_in_k_is_faster_than_the_bound_of_its_tile(
    shape: tuple[int, int, int], name: str
) -> None:
    target = load_target(name)
    problem = cube_problem(region_of(kernel(matmul(*shape, "relu"))))
    search = CubeSearch(problem, target)
    looked = 0
    for tile in (tile for group in search.groups() for tile in group):
        least = search.time.least(tile, search.blocks(tile))
        for depth in search.steps(tile):
            looked += 1
            assert search.time.least_us() <= least <= search.time.us(tile, depth)
            whole = CubeSchedule(*tile, *depth)
            assert fits(footprint(problem, whole, target), target)
    assert looked > 3


def test_the_room_of_tiles_is_that_of_their_footprint() -> None:
    for text in (matmul(197, 768, 300), matmul(64, 96, 128, "relu")):
        problem = cube_problem(region_of(kernel(text)))
        room = CubeRoom(problem, TARGET)
        seen: set[bool] = set()
        for m, n, k, copies in product((16, 120, 256), (16, 256, 500), (16, 300, 768), (1, 2)):
            whole = CubeSchedule(1, m, n, k, min(k, 64), 1, copies)
            expected = fits(footprint(problem, whole, TARGET), TARGET)
            assert room.fits(m, n, k, min(k, 64), copies) == expected
            seen.add(expected)
        assert seen == {True, False}


def test_no_mixed_schedule_is_faster_than_the_bound_of_its_tile() -> None:
    problem = problem_of(region_of(kernel(matmul(130, 70, 90, "gelu"))))
    planner = Planner(problem, TARGET)
    looked = 0
    for tile in (tile for group in planner.search.groups() for tile in group):
        least = planner.least_of(tile)
        for depth in planner.search.steps(tile):
            s = with_chunk(planner, CubeSchedule(*tile, *depth), inf)
            if isinstance(s, MixedSchedule):
                looked += 1
                assert least <= work_us(planner.work(s), TARGET)
    assert looked > 3


@pytest.mark.parametrize("seed", range(12))
def test_tilings_need_what_their_plan_needs(seed: int) -> None:
    """Plans are shared by programs of other sizes."""
    text = random_region(seed)
    texts = [text]
    if not any(name in text for name in VIEWS):
        texts.append(resized(text, {n: 2 * n + 1 for n in sizes_of(text)}))
    for each in texts:
        try:
            program = expand(region_of(kernel(each)))
        except RefusalError:
            return
        axes = program.axes.sizes
        tilings = Tilings(program, TARGET)
        for tiles in (axes, tuple(-(-n // 2) for n in axes), (*(1 for _ in axes[1:]), *axes[-1:])):
            found = tilings.at(tiles)
            if found is None:
                continue
            plan = make_plan(program, *found.shape)
            for copies in (1, 2):
                wanted = Footprint(plan, copies).bytes(Tiles.of(axes, tiles))
                assert found.need(tiles, copies) == wanted


def test_ways_cost_what_the_target_says() -> None:
    engines = ("gm->ub", "ub->gm", "gm->l1:nd2nz", "l0c->gm", "l1->l0a")
    for engine, cores, size, bursts in product(engines, (1, 40), (0, 20, 4096), (1, 3, 200)):
        for aligned in (False, True):
            found = way_of(TARGET, engine, cores).cycles(size, bursts, aligned)
            assert found == TARGET.transfer_cost(
                engine, size, bursts=bursts, aligned=aligned, cores=cores
            )


@pytest.mark.parametrize("second", ["relu", "softmax"])
@pytest.mark.parametrize(
    ("which", "strides", "taken"), [(0, (64, 1), True), (1, (48, 1), True), (1, (64, 2), False)]
)
def test_a_group_is_refused_without_a_search_where_a_search_refuses_it(
    second: str, which: int, strides: tuple[int, int], taken: bool
) -> None:
    x, w, y = (f"tensor<{n}xf32>" for n in ("128x24", "24x32", "128x32"))
    text = (
        f'graph.kernel @k "k"(%x: {x}, %w: {w}) -> {y} {{\n'
        f"%0 = graph.relu %x : {x} -> {x}\n"
        f"%1 = graph.matmul %0, %w : ({x}, {w}) -> {y}\n"
        f"%2 = graph.{second} %1 : {y} -> {y}\ngraph.yield %2 : {y}\n}}"
    )
    block = kernel(text).body.block
    lie: dict[SSAValue, Strides] = {block.args[which]: strides}
    quick, found = refused(block, TARGET, lie), answer(block, TARGET, lie)
    assert (quick is None) == taken == (not isinstance(found, Refusal))
    assert taken or quick == found
