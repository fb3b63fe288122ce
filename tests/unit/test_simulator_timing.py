"""The timing half of the simulator: order of times, extrapolation, L2, errors."""

import math
import re
from collections.abc import Hashable
from dataclasses import replace

import pytest

from fusec.hw.target import load_target
from fusec.simulator.decode import decode_kernel
from fusec.simulator.errors import SimulationError
from fusec.simulator.form import Loop
from fusec.simulator.timing import KernelTiming, time_host, time_kernel
from fusec.simulator.timing_facts import Facts
from fusec.simulator.timing_l2 import L2State
from fusec.simulator.timing_program import LoopInfo
from fusec.simulator.timing_steady import State, steady_turns
from simulator_kernels import KERNELS, MIXED, RELU, SOFTMAX, kernel, parse
from timing_kernels import matmul, vector_add

B1 = load_target("ascend910b1")
B3 = load_target("ascend910b3")
TINY = load_target("tiny")

LONG_SOFTMAX = SOFTMAX.replace("48x200", "2400x200").replace(
    "c6 = arith.constant 6", "c6 = arith.constant 300"
)
LONG_RELU = (
    RELU.replace("250x300", "3210x300")
    .replace("constant 250", "constant 3210")
    .replace("  scf.for", "  %tiles = arith.constant 201 : index\n  scf.for")
    .replace("to %c16 step", "to %tiles step")
)
LONG_MIXED = (
    MIXED.replace("64x32", "1600x32")
    .replace("64x48", "1600x48")
    .replace("constant 4", "constant 100")
)


def time(text: str, target: str = "ascend910b3", extrapolate: bool = True) -> KernelTiming:
    return time_kernel(kernel(text), target, extrapolate=extrapolate)


def work(timing: KernelTiming) -> float:
    """Cycles without the launch."""
    return timing.cycles - timing.launch_cycles


# Published times


def test_large_vector_additions_take_what_was_published_in_the_published_order():
    # asc-devkit, 05_best_practices: 306.6, 268.5 and 264.0 us on 48 cores; vector pipe 15.9, 12.8.
    elements = 8192 * 8192
    small = time(vector_add(elements, 4096), "ascend910b1")
    large = time(vector_add(elements, 16384), "ascend910b1")
    double = time(vector_add(elements, 16384, copies=2), "ascend910b1")
    assert small.us > large.us > double.us
    for timing, published in ((small, 306.6), (large, 268.5), (double, 264.0)):
        assert published / 1.15 < timing.us < published * 1.15
    assert B1.cycles_to_us(double.pipe_busy["vector.v"]) == pytest.approx(12.85, rel=0.1)
    assert double.gm_bytes == double.hbm_bytes == 3 * elements * 2


def test_small_vector_kernels_take_their_launch_and_little_more():
    timing = time(vector_add(40 * 4096, 4096, blocks=40))
    assert 3.3 < timing.us < 5.0
    assert timing.launch_cycles == B3.us_to_cycles(3.3)


def test_mixed_kernels_have_a_floor():
    timing = time(MIXED)
    assert timing.us == pytest.approx(B3.floor_us["mixed"])
    assert work(time(LONG_MIXED)) > 10 * 1800


def test_cube_kernels_are_bound_by_the_cube_or_by_loads():
    timing = time(matmul(4096, 4096, 4096), "ascend910b1")
    products = math.prod((4096, 4096, 4096)) / 4096 / 24
    assert products < timing.pipe_busy["cube.m"] < products * 1.1
    assert 526 / 1.5 < timing.us < 526 * 1.5  # cann-bench, 910B2
    assert timing.hbm_bytes == 3 * 4096 * 4096 * 2
    assert timing.gm_bytes == (32 + 16 + 1) * 4096 * 4096 * 2


# Order


def test_time_grows_with_size():
    sizes = [4096 * tiles for tiles in (48, 480, 4800, 9600, 19200, 38400)]
    times = [time(vector_add(size, 4096, 2), "ascend910b1").cycles for size in sizes]
    assert times == sorted(times)
    depths = [time(matmul(512, depth, 512, 8)).cycles for depth in (256, 300, 512, 1024, 4096)]
    assert depths == sorted(set(depths))


def test_double_buffers_help():
    assert work(time(vector_add(2**22, 4096, 2))) < 0.8 * work(time(vector_add(2**22, 4096, 1)))
    assert work(time(matmul(1024, 2048, 1024, 16, 2))) < 0.8 * work(
        time(matmul(1024, 2048, 1024, 16, 1))
    )


WAITS = re.compile(r"npu\.(wait_flag|barrier|sync_block_wait)")


@pytest.mark.parametrize("name", [*KERNELS, "long softmax", "long mixed"])
def test_a_wait_less_is_never_slower(name: str):
    text = {**KERNELS, "long softmax": LONG_SOFTMAX, "long mixed": LONG_MIXED}[name]
    lines = text.split("\n")
    whole = time(text).cycles
    for at, line in enumerate(lines):
        if WAITS.search(line):
            less = "\n".join(lines[:at] + lines[at + 1 :])
            timing = time(less)
            assert timing.cycles <= whole * (1 + 1e-9), line
            assert timing.cycles == pytest.approx(time(less, extrapolate=False).cycles, rel=0.02)


def test_waves_of_blocks_follow_each_other():
    one, two, three = (
        work(time(vector_add(40 * 4096, 4096, blocks=blocks))) for blocks in (40, 80, 120)
    )
    dispatch = B3.sync.block_dispatch_cycles
    idle = two - one - dispatch  # blocks without a tile
    assert 0 < idle < one
    assert three - two == pytest.approx(dispatch + idle)


# Extrapolation


@pytest.mark.parametrize(
    "text",
    [
        LONG_SOFTMAX,
        LONG_MIXED,
        vector_add(4096 * 777, 4096, 3, 7),
        matmul(1000, 1000, 1000, 5),
        matmul(130, 5000, 3 * 256 + 16, 3, 1),
        LONG_RELU,
    ],
    ids=["softmax", "mixed", "add", "matmul", "wide matmul", "relu"],
)
def test_extrapolation_is_full_play(text: str):
    short, full = time(text), time(text, extrapolate=False)
    assert short.cycles == pytest.approx(full.cycles, rel=1e-6)
    assert short.pipe_busy == pytest.approx(full.pipe_busy, rel=1e-6)
    assert short.stalls == pytest.approx(full.stalls, rel=1e-6, abs=1e-3)


class Clockwork:
    """One pipe that takes as long as a turn's label says."""

    is_held = False

    def __init__(self) -> None:
        self.time = 0.0
        self.played: list[int] = []

    def state(self) -> State:
        return State([0.0] * 5 + [self.time] + [0.0] * 12, (), [self.time])

    def forward(self, times: list[float], sums: list[float], turns: int) -> None:
        assert times[5] == sums[0]
        self.time += times[5] * turns

    def run(self, costs: list[int], period: int = 1, labelled: bool = True) -> None:
        loop = decode_kernel(kernel(RELU)).body[-2]
        assert isinstance(loop, Loop)
        info = LoopInfo(loop, 0, (5,), period)

        def label(turn: int) -> Hashable:
            return costs[turn]

        for turn in steady_turns(self, info, range(len(costs)), label if labelled else None):
            self.played.append(turn)
            self.time += costs[turn]


@pytest.mark.parametrize(
    ("costs", "most"),
    [
        ([7] * 1000, 3),
        ([7] * 999 + [3], 4),
        (([7] * 4 + [2]) * 100 + [1], 20),
        ([5] * 500 + [6] * 500, 8),
        ([7] * 31 + ([5] * 30 + [1]) * 5, 50),
        (list(range(100)), 100),
        ([], 0),
    ],
)
@pytest.mark.parametrize("period", [1, 2])
def test_only_turns_that_differ_are_played(costs: list[int], most: int, period: int):
    clock = Clockwork()
    clock.run(costs, period)
    assert clock.time == sum(costs)
    assert len(clock.played) <= most * period
    assert clock.played == sorted(clock.played)


# What is added up


def test_pipes_are_busy_as_long_as_their_instructions():
    timing = time(vector_add(8 * 4096, 4096, blocks=8))
    add = B3.vector_cost("vadd", "f16", 4096) - B3.vector_row("vadd", "f16").head
    assert timing.pipe_busy["vector.v"] == pytest.approx(add * B3.vector.bank_conflict)
    load = B3.transfer_cost("gm->ub", 8192, level="hbm", cores=8)
    assert timing.pipe_busy["vector.mte2"] == pytest.approx(2 * load)
    store = B3.transfer_cost("ub->gm", 8192, cores=8)
    assert timing.pipe_busy["vector.mte3"] == pytest.approx(store)
    assert timing.instructions == 8 * 4
    assert timing.stalls["vector.v waits for vector.mte2"] > load


def test_sources_in_different_banks_do_not_conflict():
    apart = vector_add(8 * 4096, 4096, blocks=8).replace("npu.alloc at 8192", "npu.alloc at 8448")
    busy = time(apart).pipe_busy["vector.v"]
    add = B3.vector_cost("vadd", "f16", 4096) - B3.vector_row("vadd", "f16").head
    assert busy == pytest.approx(add)


def test_vector_cores_of_a_mixed_kernel_share_the_work():
    shared = time(MIXED).pipe_busy["vector.v"]
    alone = replace(B3, vector_per_cube=1)
    assert time_kernel(kernel(MIXED), alone).pipe_busy["vector.v"] == pytest.approx(2 * shared)


def test_unaligned_and_narrow_rows_cost_more():
    # Rows of 1200 bytes against rows of 1024: more than their bytes.
    rows = time(RELU.replace("300", "256").replace("304", "256"))
    narrow = time(RELU)
    ratio = narrow.pipe_busy["vector.mte2"] / rows.pipe_busy["vector.mte2"]
    assert ratio > 1.2 * narrow.gm_bytes / rows.gm_bytes


def test_bytes_count_tails_once():
    timing = time(matmul(200, 300, 400, 3))
    tiles = 2 * 2
    loads = 2 * 200 * 300 + 2 * 300 * 400
    assert tiles == 4
    assert timing.gm_bytes == 2 * (loads + 200 * 400)
    assert timing.hbm_bytes == 2 * (200 * 300 + 300 * 400 + 200 * 400)


def test_facts_bound_what_a_view_reaches():
    decoded = decode_kernel(kernel(RELU))
    facts = Facts(decoded, 5)
    load = next(i for i in decoded.instructions if i.kind == "load")
    assert facts.span(load.view(0)) == (0, 250 * 300 * 4)
    assert facts.aligned(load.view(0), 256)
    assert not facts.aligned(load.view(0), 512)


# L2


def test_l2_drops_what_was_used_longest_ago():
    state = L2State(100)
    state.touch("a", 0, 60)
    state.touch("b", 0, 30)
    assert (state.resident("a", 0, 60), state.resident("b", 10, 50)) == (60, 20)
    state.touch("a", 0, 20)
    state.touch("c", 0, 30)
    assert state.resident("a", 0, 20) == 20
    assert state.resident("a", 20, 60) == 20
    assert state.resident("b", 0, 30) == 30
    state.touch("d", 0, 1000)
    assert state.resident("d", 900, 1000) == 100
    assert state.resident("a", 0, 60) == 0


def test_a_second_launch_finds_its_arguments_in_l2():
    state = L2State(B3.capacity("l2"))
    function = kernel(vector_add(2**20, 4096, 2, 40))
    cold = time_kernel(function, gm_state=state)
    warm = time_kernel(function, gm_state=state)
    assert cold.hbm_bytes == cold.gm_bytes == 3 * 2**21
    assert warm.hbm_bytes == 0
    assert warm.gm_bytes == cold.gm_bytes
    assert warm.cycles < cold.cycles


HOST = """
func.func @main(%x: !g {npu.input = "x"}, %y: !g {npu.output = "y"}) attributes {npu.host} {
  %t = npu.alloc at 0 : !g
  npu.launch @add blocks(2) (%x, %x, %t : !g, !g, !g)
  npu.launch @add blocks(2) (%t, %t, %y : !g, !g, !g)
  npu.launch @add blocks(2) (%t, %t, %y : !g, !g, !g)
  npu.launch @add blocks(2) (%t, %t, %y : !g, !g, !g)
  func.return
}
"""


def host(elements: int) -> str:
    return vector_add(elements, 1024, 1, 2) + HOST


def test_a_host_function_is_the_sum_of_its_launches():
    size = 2 * 16384
    timing = time_host(parse(host(16384)), TINY)
    assert [k.hbm_bytes for k in timing.kernels] == [2 * size, size, 0, 0]
    assert timing.kernels[2] is timing.kernels[3]
    assert timing.cycles == sum(k.cycles for k in timing.kernels)
    assert timing.gm_bytes == 12 * size
    assert timing.hbm_bytes == 3 * size
    assert timing.workspace_bytes == size
    assert 0 < timing.pipe_busy["vector.mte2"] < 1
    assert timing == time_host(parse(host(16384)), "tiny")


def test_what_does_not_fit_l2_comes_from_hbm_again():
    elements = TINY.capacity("l2")  # twice as many bytes
    timing = time_host(parse(host(elements)), TINY)
    assert timing.hbm_bytes == timing.gm_bytes


# What cannot be timed


def test_a_wait_may_stand_before_its_flag():
    load = re.compile(r"    npu\.load .*\n    npu\.set_flag <mte2> to <v> .*\n")
    match = load.search(RELU)
    assert match is not None
    late = load.sub("", RELU).replace(
        "    npu.set_flag <v> to <mte3>", match[0] + "    npu.set_flag <v> to <mte3>"
    )
    assert time(late).cycles == pytest.approx(time(RELU).cycles, rel=0.01)


@pytest.mark.parametrize("name", list(KERNELS))
def test_a_flag_that_never_comes_is_an_error(name: str):
    lines = KERNELS[name].split("\n")
    for at, line in enumerate(lines):
        if "npu.set_flag" in line or "npu.sync_block_set" in line:
            with pytest.raises(SimulationError, match=r"never raised; run the witness"):
                time("\n".join(lines[:at] + lines[at + 1 :]))


def test_unplaced_kernels_are_refused():
    with pytest.raises(SimulationError, match="no addresses; run npu-place and npu-sync"):
        time(re.sub(r"npu\.alloc at \d+", "npu.alloc", RELU))


def test_kernels_without_flags_are_refused():
    with pytest.raises(SimulationError, match="nothing orders the kernel's pipes; run npu-sync"):
        time(re.sub(r" *npu\.(set|wait)_flag.*\n", "", RELU))


def test_a_launch_without_a_block_is_refused():
    with pytest.raises(SimulationError, match="0 blocks"):
        time_kernel(kernel(RELU), blocks=0)


def test_an_unknown_step_is_an_error_with_a_place():
    text = RELU.replace(
        "  npu.set_flag <mte3> to <mte2> id 0 copies 2\n",
        "  %zero = arith.muli %block, %block : index\n"
        "  npu.set_flag <mte3> to <mte2> id 0 copies 2\n",
    ).replace("step %blocks", "step %zero")
    with pytest.raises(SimulationError, match="@relu: its scalars cannot be computed: range"):
        time(text)
