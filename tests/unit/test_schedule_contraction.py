"""How views become the axes of a contraction, and which positions a padded axis has."""

from __future__ import annotations

import pytest

from fusec.schedule.contraction import A, B, Contraction, Label, Window, Y, contraction
from fusec.schedule.cube_problem import cube_problem
from fusec.schedule.region import Region
from fusec.schedule.types import RefusalError
from fusec.schedule.views import Part
from kernel_check import kernel


def axes_of(text: str) -> Contraction:
    return cube_problem(Region.of_block(kernel(text).body.block)).axes


def matmul(a: str, b: str, y: str) -> str:
    return (
        f'graph.kernel @k "k"(%a: tensor<{a}>, %b: tensor<{b}>) -> tensor<{y}> {{\n'
        f"  %0 = graph.matmul %a, %b : (tensor<{a}>, tensor<{b}>) -> tensor<{y}>\n"
        f"  graph.yield %0 : tensor<{y}>\n}}\n"
    )


def conv(x: str, w: str, y: str, attrs: str) -> str:
    layouts = 'x_layout = "NHWC", w_layout = "HWIO", y_layout = "NHWC"'
    return (
        f'graph.kernel @k "k"(%x: tensor<{x}>, %w: tensor<{w}>) -> tensor<{y}> {{\n'
        f"  %0 = graph.conv %x, %w {{{attrs}, {layouts}}} : (tensor<{x}>, tensor<{w}>)"
        f" -> tensor<{y}>\n"
        f"  graph.yield %0 : tensor<{y}>\n}}\n"
    )


def test_batch_of_one_weight_is_rows() -> None:
    axes = axes_of(matmul("4x25x30xf32", "30x20xf32", "4x25x20xf32"))
    assert (axes.grid, axes.row.size, axes.col.size) == ((), 1, 100)
    assert (axes.k.size, axes.n.size, axes.swapped) == (30, 20, False)


def test_batch_of_both_is_grid() -> None:
    axes = axes_of(matmul("2x3x25x30xf32", "2x3x30x20xf32", "2x3x25x20xf32"))
    assert [axis.size for axis in axes.grid] == [6]
    assert axes.grid[0].strides[:3] == (750, 600, 500)


def test_broadcast_batch_of_the_left() -> None:
    """The right operand alone varies: rows of the same left operand for each batch."""
    axes = axes_of(matmul("25x30xf32", "3x30x20xf32", "3x25x20xf32"))
    assert [axis.size for axis in axes.grid] == [3]
    assert axes.grid[0].strides[A] == 0


def test_a_column_is_computed_as_a_row() -> None:
    axes = axes_of(matmul("50x200xf32", "200xf32", "50xf32"))
    assert axes.swapped and axes.b_transposed
    assert (axes.col.size, axes.n.size, axes.k.size) == (1, 50, 200)


def test_unpadded_convolution_folds_kw_into_k() -> None:
    axes = axes_of(
        conv(
            *("1x38x38x3xf32", "7x7x3x16xf32", "1x16x16x16xf32"),
            "strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]",
        )
    )
    assert axes.k.size == 21 and [axis.size for axis in axes.outer_k] == [7]
    assert (axes.row.size, axes.col.size) == (16, 16)
    assert axes.col.strides[A] == 6 and axes.windows == ()


def test_dilation_keeps_kernel_positions_apart() -> None:
    axes = axes_of(
        conv(
            *("1x9x9x8xf32", "3x3x8x16xf32", "1x5x5x16xf32"),
            "strides = [1, 1], pads = [0, 0, 0, 0], dilations = [2, 2]",
        )
    )
    assert axes.k.size == 8 and [axis.strides[A] for axis in axes.outer_k] == [144, 16]


def test_padding_is_a_window() -> None:
    axes = axes_of(
        conv(
            *("1x9x9x8xf32", "3x3x8x16xf32", "1x9x9x16xf32"),
            "strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]",
        )
    )
    assert [w.size for w in axes.windows] == [9, 9] and axes.whole_rows
    assert axes.row.window in axes.windows and axes.col.window in axes.windows


def test_groups_are_grid() -> None:
    axes = axes_of(
        conv(
            *("1x9x9x24xf32", "1x1x8x36xf32", "1x9x9x36xf32"),
            "strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 3",
        )
    )
    assert [axis.size for axis in axes.grid] == [3]
    assert axes.grid[0].strides[:3] == (8, 12, 12)


def test_views_without_common_pieces() -> None:
    labels = [
        Label(6, ([Part(2, 3), Part(3, 1)], (), [Part(3, 2), Part(2, 1)])),
        Label(4, ([Part(4, 6)], [Part(4, 1)], ()), contracted=True),
    ]
    with pytest.raises(RefusalError) as error:
        contraction(labels)
    assert error.value.refusal.reason == "views-disagree"


def test_refinement_cuts_at_every_border() -> None:
    """A merged transposition on one side cuts the axis of the other."""
    labels = [
        Label(12, ([Part(3, 64), Part(4, 100)], (), [Part(12, 8)])),
        Label(8, ((), [Part(8, 1)], [Part(8, 1)])),
        Label(5, ([Part(5, 1)], [Part(5, 8)], ()), contracted=True),
    ]
    axes = contraction(labels)
    assert (axes.row.size, axes.col.size, axes.n.size) == (3, 4, 8)
    assert axes.col.strides[Y] == 8 and axes.row.strides[Y] == 32 and axes.row.strides[B] == 0


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("pad", [0, 1, 4])
def test_window_bounds(stride: int, dilation: int, pad: int) -> None:
    window = Window(0, stride, dilation, pad, 7, 1)
    for first in range(6):
        for kernel_position in range(5):
            for count in (1, 3):
                existing = [
                    i
                    for i in range(count)
                    if 0 <= (first + i) * stride + kernel_position * dilation - pad < 7
                ]
                low, high = window.bounds(first, kernel_position, count)
                assert list(range(low, high)) == existing
