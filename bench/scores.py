"""Scores of candidate schedules a second, by kernel family, on one core.

A score is the modelled time of one candidate (tile sizes) of a known problem, by the scorer that
the search itself uses; the candidates are all that a search of the problem could look at, those
that it leaves out by a bound included. Medians of several runs, in processor time; wanted are
100,000.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from statistics import median

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser

from fusec.hw import Target, load_target
from fusec.schedule.copies import copies_of
from fusec.schedule.cube import CubeSearch
from fusec.schedule.cube_problem import cube_problem
from fusec.schedule.cube_schedule import CubeSchedule
from fusec.schedule.depthwise import Planner as DepthwisePlanner
from fusec.schedule.depthwise import depthwise_candidates
from fusec.schedule.depthwise_problem import depthwise_problem
from fusec.schedule.expand import expand
from fusec.schedule.mixed import MixedSchedule, Planner, with_chunk
from fusec.schedule.mixed_problem import problem_of
from fusec.schedule.movement import CopyTime, movement_candidates
from fusec.schedule.region import Region
from fusec.schedule.vector import VectorSearch
from fusec.schedule.window import WindowTime, window_candidates, window_problem
from fusec_dialects.graph import Graph, KernelOp

RUNS, SECONDS, WANTED = 5, 0.2, 100_000
"""Runs of each family, how long one is at least, scores a second."""

Scorer = Callable[[], object]
"""Scores one candidate."""

ROWS = "tensor<197x768xf32>"
NORM = f"""graph.kernel @k "k"(%x: {ROWS}, %s: tensor<768xf32>) -> {ROWS} {{
  %0 = graph.layer_normalization %x, %s {{axis = -1}} : ({ROWS}, tensor<768xf32>) -> {ROWS}
  graph.yield %0 : {ROWS}
}}"""

CHAIN = f"""graph.kernel @k "k"(%x: {ROWS}, %b: {ROWS}) -> {ROWS} {{
  %0 = graph.add %x, %b : ({ROWS}, {ROWS}) -> {ROWS}
  %1 = graph.exp %0 : {ROWS} -> {ROWS}
  %2 = graph.relu %1 : {ROWS} -> {ROWS}
  graph.yield %2 : {ROWS}
}}"""

WIDE = "tensor<197x3072xf32>"
MATMUL = f"""graph.kernel @k "k"(%x: {ROWS}, %w: tensor<768x3072xf32>) -> {WIDE} {{
  %0 = graph.matmul %x, %w : ({ROWS}, tensor<768x3072xf32>) -> {WIDE}
  %1 = graph.OP %0 : {WIDE} -> {WIDE}
  graph.yield %1 : {WIDE}
}}"""

IMAGE, SMALL = "tensor<1x56x56x96xf32>", "tensor<1x28x28x96xf32>"
DEPTHWISE = f"""graph.kernel @k "k"(%x: {IMAGE}, %w: tensor<3x3x1x96xf32>) -> {IMAGE} {{
  %0 = graph.conv %x, %w {{strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 96,
    x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"}}
    : ({IMAGE}, tensor<3x3x1x96xf32>) -> {IMAGE}
  %1 = graph.relu %0 : {IMAGE} -> {IMAGE}
  graph.yield %1 : {IMAGE}
}}"""

WINDOW = f"""graph.kernel @k "k"(%x: {IMAGE}) -> {SMALL} {{
  %0 = graph.max_pool %x {{kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1],
    dilations = [1, 1], layout = "NHWC"}} : {IMAGE} -> {SMALL}
  graph.yield %0 : {SMALL}
}}"""

TURNED = "tensor<900x700xf16>"
MOVEMENT = f"""graph.kernel @k "k"(%x: tensor<700x900xf16>) -> {TURNED} {{
  %0 = graph.transpose %x {{perm = [1, 0]}} : tensor<700x900xf16> -> {TURNED}
  graph.yield %0 : {TURNED}
}}"""


def region_of(text: str) -> Region:
    """The body of the only kernel of a text."""
    ctx = Context()
    for dialect in (Builtin, Graph):
        ctx.load_dialect(dialect)
    module = Parser(ctx, text).parse_module()
    op = next(op for op in module.ops if isinstance(op, KernelOp))
    return Region.of_block(op.body.block)


def vector(text: str, target: Target) -> list[Scorer]:
    """Scorers of all tiles of a vector kernel that fit."""
    search = VectorSearch(expand(region_of(text)), target)
    return [
        lambda tiles=tiles, copies=copies: search.score(tiles, copies)
        for tiles, copies in search.candidates()
    ]


def cube(text: str, target: Target) -> list[Scorer]:
    """Of a cube kernel, no bound applied."""
    search = CubeSearch(cube_problem(region_of(text)), target)
    return [
        lambda tile=tile, depth=depth: search.time.us(tile, depth)
        for group in search.groups()
        for tile in group
        for depth in search.steps(tile)
    ]


def mixed(text: str, target: Target) -> list[Scorer]:
    """Of a mixed kernel, no bound applied."""
    planner = Planner(problem_of(region_of(text)), target)
    found = (
        with_chunk(planner, CubeSchedule(*tile, *depth), float("inf"))
        for group in planner.search.groups()
        for tile in group
        for depth in planner.search.steps(tile)
    )
    return [lambda s=s: planner.us(s) for s in found if isinstance(s, MixedSchedule)]


def depthwise(text: str, target: Target) -> list[Scorer]:
    """Of a depthwise convolution, no bound applied."""
    conv = depthwise_problem(region_of(text))
    planner = DepthwisePlanner(conv, target)
    found = [s for s in depthwise_candidates(conv, target, 2) if planner.misfit(s, 2) is None]
    return [lambda s=s: planner.score(s) for s in found]


def window(text: str, target: Target) -> list[Scorer]:
    """Of a pooling."""
    problem = window_problem(region_of(text))
    scorer = WindowTime(problem, target)
    return [lambda s=s: scorer.score(s) for s in window_candidates(problem, target)]


def movement(text: str, target: Target) -> list[Scorer]:
    """Of a transposition."""
    (copy,) = copies_of(region_of(text))
    scorer = CopyTime(copy, target)
    return [lambda tile=tile: scorer.score(*tile) for tile in movement_candidates(copy, target)]


FAMILIES: dict[str, tuple[Callable[[str, Target], list[Scorer]], str]] = {
    "vector (chain)": (vector, CHAIN),
    "vector (norm)": (vector, NORM),
    "cube": (cube, MATMUL.replace("OP", "relu")),
    "mixed": (mixed, MATMUL.replace("OP", "gelu")),
    "depthwise": (depthwise, DEPTHWISE),
    "window": (window, WINDOW),
    "movement": (movement, MOVEMENT),
}


def rate(scorers: Sequence[Scorer]) -> float:
    """Scores a second of one run over all candidates, again and again."""
    done, start = 0, time.process_time()
    while (spent := time.process_time() - start) < SECONDS:
        for scorer in scorers:
            scorer()
        done += len(scorers)
    return done / spent


def main() -> None:
    """Prints a line for each family."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", default="ascend910b3")
    target = load_target(parser.parse_args().target)
    print(f"scores a second, median of {RUNS} runs; wanted: {WANTED:,}")
    for name, (make, text) in FAMILIES.items():
        scorers = make(text, target)
        for scorer in scorers:
            scorer()
        found = median(rate(scorers) for _ in range(RUNS))
        mark = "" if found >= WANTED else "*"
        print(f"  {name:16}{found:10,.0f}{mark:1}  {len(scorers)} candidates", flush=True)


if __name__ == "__main__":
    main()
