"""Tiles of cube and mixed kernels: they fit, they do not change from run to run, their cost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from xdsl.context import Context

from fusec.hw import Target, load_target
from fusec.npu.expand_l0 import NpuExpandL0Pass
from fusec.npu.multi_buffer import NpuMultiBufferPass
from fusec.npu.place import NpuPlacePass
from fusec.schedule.cost import estimate
from fusec.schedule.cube import schedule_cube
from fusec.schedule.cube_problem import cube_problem
from fusec.schedule.cube_schedule import CubeSchedule, footprint, round_up
from fusec.schedule.mixed import MixedSchedule
from fusec.schedule.region import Region
from fusec.schedule.schedule import schedule
from fusec.schedule.types import Refusal
from fusec_dialects.npu.attrs import space_of
from fusec_dialects.npu.move import AllocOp
from fusec_dialects.npu.storage import storage_bytes
from kernel_check import emitted_module, kernel, scheduled


def matmul(m: int, k: int, n: int, dtype: str = "f16", then: str = "", plain: bool = False) -> str:
    """A matmul with bias and residual, unless `plain`, and one more operator."""
    y = f"tensor<{m}x{n}x{dtype}>"
    text = (
        f'graph.kernel @k "k"(%a: tensor<{m}x{k}x{dtype}>, %b: tensor<{k}x{n}x{dtype}>, '
        f"%c: tensor<{n}x{dtype}>, %r: {y}) -> {y} {{\n"
        f"  %0 = graph.matmul %a, %b : (tensor<{m}x{k}x{dtype}>, tensor<{k}x{n}x{dtype}>) -> {y}\n"
    )
    last = "%0"
    if not plain:
        text += f"  %1 = graph.add %0, %c : ({y}, tensor<{n}x{dtype}>) -> {y}\n"
        text += f"  %2 = graph.add %1, %r : ({y}, {y}) -> {y}\n"
        last = "%2"
    if then:
        text += f"  %3 = graph.{then} {last} : {y} -> {y}\n"
        last = "%3"
    return text + f"  graph.yield {last} : {y}\n}}\n"


ATTRS = (
    "{strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], "
    'x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"}'
)
X, W, Y = "tensor<1x28x28x64xf32>", "tensor<3x3x64x96xf32>", "tensor<1x28x28x96xf32>"
CONV = (
    f'graph.kernel @k "k"(%x: {X}, %w: {W}) -> {Y} {{\n'
    f"  %0 = graph.conv %x, %w {ATTRS} : ({X}, {W}) -> {Y}\n"
    f"  graph.yield %0 : {Y}\n}}\n"
)

KERNELS = {
    "square": matmul(512, 512, 512),
    "tails": matmul(250, 300, 200, "f32"),
    "row": matmul(1, 1000, 700, "f32"),
    "wide": matmul(64, 64, 30720),
    "conv": CONV,
}


@pytest.mark.parametrize("target", ["ascend910b3", "tiny"])
@pytest.mark.parametrize("name", KERNELS)
def test_placed_peak_is_within_the_footprint(name: str, target: str) -> None:
    op, chip = kernel(KERNELS[name]), load_target(target)
    own = schedule_cube(cube_problem(Region.of_block(op.body.block)), chip)
    assert isinstance(own, CubeSchedule)
    chosen = scheduled(op, target, own)
    assert isinstance(chosen, CubeSchedule)
    need: dict[str, int] = {}
    for buffer in footprint(cube_problem(Region.of_block(op.body.block)), chosen, chip):
        size = round_up(buffer.bytes, chip.alignment(buffer.space)) * buffer.copies
        need[buffer.space] = need.get(buffer.space, 0) + size
    module = emitted_module(op, target)
    for step in (NpuMultiBufferPass(), NpuExpandL0Pass(), NpuPlacePass()):
        step.apply(Context(), module)
    peaks: dict[str, int] = {}
    for alloc in module.walk():
        if isinstance(alloc, AllocOp) and alloc.address is not None:
            space = str(space_of(alloc.result.type))
            size = round_up(storage_bytes(alloc.result.type), chip.alignment(space))
            end = alloc.address.value.data + size * alloc.copy_count
            peaks[space] = max(peaks.get(space, 0), end)
    assert peaks.keys() >= {"l1", "l0a", "l0b", "l0c"}
    assert peaks["l1"] <= need["l1"]
    for space, peak in peaks.items():  # in l0 more copies are a gift where they fit
        assert peak <= chip.capacity(space)


def test_the_same_problem_has_the_same_schedule() -> None:
    answers = {str(scheduled(kernel(KERNELS["tails"]), "ascend910b3")) for _ in range(3)}
    assert len(answers) == 1


def us(text: str, target: Target | None = None) -> float:
    region = Region.of_block(kernel(text).body.block)
    chip = target or load_target("ascend910b3")
    answer = schedule(region, chip)
    assert not isinstance(answer, Refusal), answer
    return estimate(region, answer, chip).us


def test_time_grows_with_work() -> None:
    times = [us(matmul(n, n, n)) for n in (256, 512, 1024, 2048)]
    assert times == sorted(times) and times[-1] > 4 * times[0]


def test_published_times() -> None:
    """Within a factor of 1.6 of measured times of a 910B1 with 24 cores (square, float16)."""
    chip = load_target("ascend910b1")
    for size, measured in ((1024, 15.65), (2048, 80.8), (4096, 526.0)):
        plain = matmul(size, size, size, plain=True)
        assert measured / 1.6 < us(plain, chip) < measured * 1.6


def test_a_mixed_kernel_costs_its_launch_more() -> None:
    plain, gelu = us(matmul(512, 512, 512)), us(matmul(512, 512, 512, then="gelu"))
    assert gelu >= 16.5 and gelu - plain > 5


def test_mixed_tiles_are_cut_into_chunks_that_fit_ub() -> None:
    op = kernel(matmul(256, 256, 1024, "f32", "gelu"))
    chosen = scheduled(op, "tiny")
    assert isinstance(chosen, MixedSchedule)
    assert chosen.chunk <= chosen.lines
    assert chosen.chunk == chosen.lines or chosen.chunk % 2 == 0


def test_nothing_fits_a_chip_without_room() -> None:
    chip = load_target("tiny")
    small = replace(chip, capacities={**chip.capacities, "l0c": 512})
    answer = schedule_cube(
        cube_problem(Region.of_block(kernel(KERNELS["tails"]).body.block)), small
    )
    assert isinstance(answer, Refusal) and answer.reason == "capacity"
    assert "l0c holds 512 bytes, the kernel needs 1024" in answer.message
    assert answer.numbers == {"space": "l0c", "capacity": 512, "need": 1024}
