"""Depthwise convolutions with epilogues against the oracle: one to three spatial axes, strides,
dilations, uneven pads, every element type; the placed kernels under the witness."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from xdsl.dialects.builtin import ModuleOp

from fusec.api import run_passes
from fusec.hw import load_target
from fusec.schedule.depthwise import Planner
from fusec.schedule.depthwise_problem import depthwise_problem
from fusec.schedule.depthwise_schedule import DepthwiseSchedule
from fusec.schedule.plan import Plan
from fusec.schedule.region import Region
from fusec.simulator.witness import witness
from fusec_dialects.graph.shape_rules import window_size
from fusec_dialects.npu.move import AllocOp
from fusec_dialects.npu.storage import storage_bytes
from kernel_check import Checked, check, emitted_module, kernel, scheduled
from vector_check import Outcome, check_kernel
from vector_regions import RegionText, Shape

TARGETS = ("ascend910b3", "tiny")
AFTER = "npu-multi-buffer,npu-expand-l0,npu-place,npu-sync,npu-verify"


@dataclass
class Case:
    """A convolution in `channels` groups of `depth` channels, each with `multiplier` outputs.

    `pads` are those before, then those after.
    """

    sizes: list[int]
    kernel: list[int]
    channels: int = 8
    batch: int = 1
    depth: int = 1
    multiplier: int = 1
    strides: list[int] = field(default_factory=list[int])
    dilations: list[int] = field(default_factory=list[int])
    pads: list[int] = field(default_factory=list[int])
    bias: bool = False
    dtype: str = "f32"
    after: tuple[str, ...] = ()

    def text(self, rng: random.Random) -> str:
        """The kernel's text."""
        rank = len(self.sizes)
        strides, dilations = self.strides or [1] * rank, self.dilations or [1] * rank
        pads = self.pads or [0] * (2 * rank)
        outputs = [
            int(window_size(size, k, s, d, pads[i], pads[rank + i], False))
            for i, (size, k, s, d) in enumerate(
                zip(self.sizes, self.kernel, strides, dilations, strict=True)
            )
        ]
        text = RegionText(rng, self.dtype)
        filters = self.channels * self.multiplier
        operands = [
            text.argument((self.batch, *self.sizes, self.channels * self.depth)),
            text.argument((*self.kernel, self.depth, filters)),
        ]
        if self.bias:
            operands.append(text.argument((filters,)))
        shape = (self.batch, *outputs, filters)
        attrs = (
            f"{{strides = {strides}, pads = {pads}, dilations = {dilations}, "
            f'group = {self.channels}, x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"}}'
        )
        value = text.op("conv", operands, shape, attrs, self.dtype)
        outputs_of_kernel: list[str] = []
        for name in self.after:
            if name == "output":
                outputs_of_kernel.append(value)
            elif name == "mean":
                axes = list(range(1, rank + 1))
                shape = (self.batch, *(1 for _ in axes), filters)
                value = text.op("reduce_mean", [value], shape, f"{{axes = {axes}}}")
            else:
                value = step(text, name, value, shape)
        return text.finish([*outputs_of_kernel, value])


def step(text: RegionText, name: str, value: str, shape: Shape) -> str:
    """One thing that may follow a convolution."""
    channels = shape[-1]
    if name == "clip":
        return text.op("clip", [value], shape, "{min = 0.0, max = 6.0}")
    if name == "hard_swish":
        shifted = text.op("add", [value, text.constant(3.0)], shape)
        clipped = text.op("clip", [shifted], shape, "{min = 0.0, max = 6.0}")
        return text.op("mul", [value, text.op("div", [clipped, text.constant(6.0)], shape)], shape)
    if name == "silu":
        return text.op("mul", [value, text.op("sigmoid", [value], shape)], shape)
    if name == "residual":
        return text.op("add", [text.argument(shape), value], shape)
    if name == "scale":
        return text.op("mul", [value, text.argument((channels,))], shape)
    if name == "gate":
        ones = (1,) * (len(shape) - 2)
        return text.op("mul", [value, text.argument((shape[0], *ones, channels))], shape)
    if name == "norm":
        operands = [value, text.argument((channels,)), text.argument((channels,))]
        return text.op("layer_normalization", operands, shape, "{axis = -1}")
    return text.op(name, [value], shape)


AFTER_CONV = ("relu", "clip", "hard_swish", "silu", "residual", "scale", "gate", "norm", "output")


def random_case(rng: random.Random) -> Case:
    rank = rng.choice([1, 2, 2, 2, 2, 3])
    kernel_sizes = [rng.choice([1, 2, 3, 3, 5]) for _ in range(rank)]
    dilations = [rng.choice([1, 1, 1, 2]) for _ in range(rank)]
    reach = [(k - 1) * d for k, d in zip(kernel_sizes, dilations, strict=True)]
    pads = [rng.randint(0, r + (rng.random() < 0.1)) for r in (*reach, *reach)]
    sizes = [
        rng.randint(max(1, r + 1 - a - b), 13)
        for r, a, b in zip(reach, pads[:rank], pads[rank:], strict=True)
    ]
    return Case(
        sizes,
        kernel_sizes,
        rng.choice([2, 5, 16, 32, 72, 200]),
        rng.choice([1, 1, 2]),
        strides=[rng.choice([1, 1, 2, 3]) for _ in range(rank)],
        dilations=dilations,
        pads=pads,
        bias=rng.random() < 0.5,
        dtype=rng.choice(["f32", "f32", "f16", "bf16"]),
        after=tuple(rng.sample(AFTER_CONV, rng.choice([0, 1, 1, 2]))),
    )


@pytest.mark.parametrize("seed", range(50))
def test_random_convolutions(seed: int) -> None:
    rng = random.Random(seed)
    text = random_case(rng).text(rng)
    for target in TARGETS:
        answer = check_kernel(kernel(text), target, seed=seed)
        assert isinstance(answer, Outcome), answer
        assert isinstance(answer.schedule, DepthwiseSchedule), answer.schedule


@pytest.mark.parametrize("seed", range(24))
def test_means_over_the_image_follow(seed: int) -> None:
    rng = random.Random(3000 + seed)
    case = random_case(rng)
    while len(case.sizes) == 3:
        case = random_case(rng)
    case.after = (*rng.choice([(), ("silu",), ("clip", "output"), ("output",)]), "mean")
    case.after += rng.choice([(), ("sigmoid",)])
    text = case.text(rng)
    for target in TARGETS:
        answer = check_kernel(kernel(text), target, seed=seed)
        assert isinstance(answer, Outcome), answer
        assert isinstance(answer.schedule, DepthwiseSchedule), answer.schedule


@pytest.mark.parametrize("seed", range(40))
def test_any_tile_gives_the_same(seed: int) -> None:
    rng = random.Random(1000 + seed)
    case = random_case(rng)
    case.after = tuple(name for name in case.after if name != "norm")
    op = kernel(case.text(rng))
    conv = depthwise_problem(Region.of_block(op.body.block))
    given = DepthwiseSchedule(
        rng.randint(1, conv.near.output) if conv.joins_rows else 1,
        rng.randint(1, conv.last.output),
        rng.randint(2, conv.channels),
        1,
        rng.choice([1, 2]),
    )
    assert isinstance(check_kernel(op, "ascend910b3", seed=seed, given=given), Outcome)


def placed_peak(module: ModuleOp) -> int:
    """Bytes of ub that a placed kernel uses."""
    ends = [0]
    for op in module.walk():
        if isinstance(op, AllocOp) and op.address is not None:
            size = -(-storage_bytes(op.result.type) // 32) * 32
            ends.append(op.address.value.data + size * op.copy_count)
    return max(ends)


@pytest.mark.parametrize("seed", range(16))
def test_placed_kernels_are_clean(seed: int) -> None:
    """They take no more than the schedule says, every hazard is synchronised."""
    rng = random.Random(2000 + seed)
    case = random_case(rng)
    if seed % 4 == 0 and len(case.sizes) < 3:
        case.after = (*case.after, "mean")
    op = kernel(case.text(rng))
    schedule = scheduled(op, "tiny")
    assert isinstance(schedule, DepthwiseSchedule)
    module = run_passes(emitted_module(op, "tiny"), AFTER)
    assert not list(witness(module, max_instructions=3000))
    planner = Planner(depthwise_problem(Region.of_block(op.body.block)), load_target("tiny"))
    plan = planner.plan(schedule)
    assert isinstance(plan, Plan)
    assert placed_peak(module) <= planner.need(plan, schedule, schedule.copies)


@pytest.mark.parametrize("seed", range(24))
def test_other_groups_run_on_the_cube(seed: int) -> None:
    """Few channels and outputs for each group, several outputs for one channel."""
    rng = random.Random(4000 + seed)
    case = random_case(rng)
    case.channels = rng.choice([2, 3, 4, 8])
    case.depth, case.multiplier = rng.choice([1, 1, 2, 3, 5, 8]), rng.choice([2, 3, 4, 7, 8])
    case.after = rng.choice([(), ("relu",), ("clip",)])
    text = case.text(rng)
    for target in TARGETS:
        answer = check(kernel(text), target, seed=seed)
        assert isinstance(answer, Checked), answer
        assert answer.schedule.family in ("cube", "mixed")
