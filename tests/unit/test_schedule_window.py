"""Pooling: what is refused and why, which hand-written tiles are, and what is placed in the end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fusec
from fusec.accuracy.inputs import seeded_inputs
from fusec.hw import load_target
from fusec.schedule.region import Region
from fusec.schedule.schedule import schedule
from fusec.schedule.types import Refusal
from fusec.schedule.window import WindowSchedule, check_window
from fusec.simulator.witness import witness
from fusec_dialects.graph.shape_rules import window_size
from kernel_check import kernel


def tensor(shape: tuple[int | str, ...], dtype: str) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}{dtype}>"


def pool(
    name: str = "max_pool",
    shape: tuple[int, ...] = (1, 8, 9, 32),
    kernel_shape: tuple[int, ...] = (3, 3),
    strides: tuple[int, ...] = (1, 1),
    pads: tuple[int, ...] = (0, 0, 0, 0),
    dilations: tuple[int, ...] = (1, 1),
    dtype: str = "f32",
    more: str = "",
) -> tuple[str, str, str]:
    """A kernel of one pooling operator, channels last, and the types of its input and output."""
    rank = len(kernel_shape)
    out = [
        int(
            window_size(
                *(shape[1 + i], kernel_shape[i], strides[i], dilations[i], pads[i], pads[rank + i]),
                "ceil_mode = true" in more,
            )
        )
        for i in range(rank)
    ]
    x, y = tensor(shape, dtype), tensor((shape[0], *out, shape[-1]), dtype)
    attrs = (
        f"kernel_shape = {list(kernel_shape)}, strides = {list(strides)}, pads = {list(pads)}, "
        f'dilations = {list(dilations)}, layout = "NHWC"{more}'
    )
    text = (
        f'graph.kernel @k "k"(%x: {x}) -> {y} {{\n'
        f"  %0 = graph.{name} %x {{{attrs}}} : {x} -> {y}\n  graph.yield %0 : {y}\n}}\n"
    )
    return text, x, y


def region(text: str) -> Region:
    return Region.of_block(kernel(text).body.block)


def answer(text: str, target: str = "ascend910b3") -> object:
    return schedule(region(text), load_target(target))


TINY = 'base = "tiny"\nname = "chip"\n[capacity]\nub = 512\n'


def test_channels_first_are_refused() -> None:
    text = pool(shape=(1, 32, 8, 32))[0]
    x, y = tensor((1, 8, 9, 32), "f32"), tensor((1, 8, 7, 30), "f32")
    text = text.replace('"NHWC"', '"NCHW"').replace(tensor((1, 32, 8, 32), "f32"), x)
    text = text.replace(tensor((1, 30, 6, 32), "f32"), y)
    found = answer(text)
    assert isinstance(found, Refusal)
    assert found.reason == "layout"
    assert "graph-assign-layout" in found.message


def test_dynamic_sizes_are_refused() -> None:
    text = pool()[0].replace("1x8x9x32xf32", "?x8x9x32xf32").replace("1x6x7x32", "?x6x7x32")
    found = answer(text)
    assert isinstance(found, Refusal)
    assert "--shape" in found.message


def test_bytes_are_refused() -> None:
    found = answer(pool(dtype="i8")[0])
    assert isinstance(found, Refusal)
    assert (found.reason, "cast" in found.message) == ("type", True)


def test_a_memory_that_is_too_small(tmp_path: Path) -> None:
    chip = tmp_path / "chip.toml"
    chip.write_text(TINY)
    found = answer(pool(shape=(1, 40, 40, 64), kernel_shape=(9, 9))[0], str(chip))
    assert isinstance(found, Refusal)
    assert found.reason == "ub-capacity"
    assert "chip has 512" in found.message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (WindowSchedule(columns=0, channels=32, blocks=1), "a tile of 0 columns"),
        (WindowSchedule(columns=8, channels=32, blocks=1), "a tile of 8 columns and 32 channels"),
        (WindowSchedule(columns=7, channels=33, blocks=1), "there are 7 and 32"),
        (WindowSchedule(columns=7, channels=32, blocks=7), "7 blocks, 2 copies for 6 tiles"),
        (WindowSchedule(columns=7, channels=32, blocks=0), "0 blocks"),
        (WindowSchedule(columns=7, channels=32, blocks=1, copies=0), "0 copies"),
    ],
)
def test_hand_written_tiles_that_are_refused(given: WindowSchedule, message: str) -> None:
    found = check_window(region(pool()[0]), given, load_target("tiny"))
    assert found is not None
    assert found.reason == "schedule"
    assert message in found.message


def test_a_hand_written_tile_that_does_not_fit() -> None:
    text = pool(shape=(1, 40, 400, 64))[0]
    found = check_window(region(text), WindowSchedule(398, 64, 1), load_target("tiny"))
    assert found is not None
    assert "bytes of ub, tiny has" in found.message


PLACED = {
    "max": pool("max_pool", (1, 12, 12, 64), strides=(2, 2), pads=(1, 1, 1, 1)),
    "uneven": pool("max_pool", (2, 13, 11, 40), (3, 2), (2, 1), (1, 0, 0, 1), (1, 2), "f16"),
    "whole": pool("average_pool", (1, 7, 7, 130), (7, 7)),
    "ceil": pool(
        "average_pool", (1, 9, 10, 33), strides=(2, 2), pads=(1, 1, 1, 1), more=", ceil_mode = true"
    ),
    "line": pool("max_pool", (1, 30, 5), (3,), (5,), (2, 2), (1,), "bf16"),
    "gaps": pool("max_pool", (1, 4, 20, 17), (1, 4), (1, 7), (0, 3, 0, 3), (1, 3)),
    "volume": pool(
        "average_pool", (1, 5, 6, 7, 20), (2, 2, 2), (2, 1, 2), (0,) * 6, (1, 1, 1), "f16"
    ),
}


@pytest.mark.parametrize("target", ["tiny", "ascend910b3"])
@pytest.mark.parametrize("name", PLACED)
def test_placed_pools(name: str, target: str, tmp_path: Path) -> None:
    """The placed kernel computes the pool, and the witness finds nothing wrong with it."""
    text, x, y = PLACED[name]
    path = tmp_path / "pool.mlir"
    path.write_text(
        f"func.func @main(%x: {x}) -> {y} {{\n  %0 = graph.call @k(%x) : ({x}) -> {y}\n"
        f"  func.return %0 : {y}\n}}\n{text}"
    )
    model = fusec.load(path)
    compiled = fusec.compile(model, target=target)
    inputs = seeded_inputs(model.module, 0)
    found, expected = compiled.run(inputs)["out0"], model.run(inputs)["out0"]
    wide = expected.astype(np.float64)
    tolerance = {"float32": 1e-6, "float16": 1e-3}.get(expected.dtype.name, 1e-2)
    np.testing.assert_allclose(found.astype(np.float64), wide, atol=tolerance)
    assert list(map(str, witness(compiled.npu, arrays=inputs))) == []
