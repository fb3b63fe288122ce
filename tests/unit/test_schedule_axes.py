"""Which dimensions of a region are one axis, how axes collapse, and what has no iteration space."""

from __future__ import annotations

import pytest

from fusec.schedule.axes import find_axes
from fusec.schedule.axis_set import AxisSet
from fusec.schedule.region import Region
from fusec.schedule.types import RefusalError
from kernel_check import kernel


def region(arguments: str, results: str, *lines: str) -> Region:
    body = "\n".join(f"  {line}" for line in lines)
    text = f'graph.kernel @k "k"({arguments}) -> {results} {{\n{body}\n}}\n'
    return Region.of_block(kernel(text).body.block)


def sizes(*parts: str) -> tuple[int, ...]:
    return find_axes(region(*parts)).sizes


T = "tensor<1x128x768xf32>"


def test_an_elementwise_chain_is_one_axis() -> None:
    assert sizes(
        f"%x: {T}, %y: {T}",
        T,
        f"%0 = graph.add %x, %y : ({T}, {T}) -> {T}",
        f"%1 = graph.relu %0 : {T} -> {T}",
        f"graph.yield %1 : {T}",
    ) == (98304,)


def test_a_norm_tells_rows_from_columns() -> None:
    row = "tensor<768xf32>"
    assert sizes(
        f"%x: {T}, %g: {row}, %b: {row}",
        T,
        f"%0 = graph.layer_normalization %x, %g, %b : ({T}, {row}, {row}) -> {T}",
        f"graph.yield %0 : {T}",
    ) == (128, 768)


@pytest.mark.parametrize(
    ("axis", "expected"), [(0, (12, 8192)), (1, (12, 128, 64)), (2, (1536, 64))]
)
def test_softmax_along_any_axis(axis: int, expected: tuple[int, ...]) -> None:
    x = "tensor<12x128x64xf32>"
    assert (
        sizes(
            f"%x: {x}",
            x,
            f"%0 = graph.softmax %x {{axis = {axis}}} : {x} -> {x}",
            f"graph.yield %0 : {x}",
        )
        == expected
    )


def test_a_mask_for_all_heads_keeps_heads_apart() -> None:
    x, m = "tensor<12x128x64xf32>", "tensor<128x64xf32>"
    axes = find_axes(
        region(
            f"%x: {x}, %m: {m}",
            x,
            f"%0 = graph.add %x, %m : ({x}, {m}) -> {x}",
            f"graph.yield %0 : {x}",
        )
    )
    assert axes.sizes == (12, 8192)
    mask = next(port for port in axes.loads.values() if len(port.strides) == 1)
    assert mask.strides == {1: 1}


def test_channels_of_batch_norm() -> None:
    x, c = "tensor<2x64x7x7xf32>", "tensor<64xf32>"
    line = f"%0 = graph.batch_normalization %x, %c, %c, %c, %c : ({x}, {c}, {c}, {c}, {c}) -> {x}"
    assert sizes(f"%x: {x}, %c: {c}", x, line, f"graph.yield %0 : {x}") == (2, 64, 49)


def test_a_reshape_in_the_middle_cuts_axes() -> None:
    x, y, b = "tensor<128x768xf32>", "tensor<128x12x64xf32>", "tensor<12x1xf32>"
    assert sizes(
        f"%x: {x}, %b: {b}",
        y,
        f"%0 = graph.exp %x : {x} -> {x}",
        f"%1 = graph.reshape %0 : {x} -> {y}",
        f"%2 = graph.add %1, %b : ({y}, {b}) -> {y}",
        f"graph.yield %2 : {y}",
    ) == (128, 12, 64)


def test_an_output_stored_through_views() -> None:
    x, y, z = "tensor<128x768xf32>", "tensor<128x12x64xf32>", "tensor<12x128x64xf32>"
    axes = find_axes(
        region(
            f"%x: {x}",
            z,
            f"%0 = graph.exp %x : {x} -> {x}",
            f"%1 = graph.reshape %0 : {x} -> {y}",
            f"%2 = graph.transpose %1 {{perm = [1, 0, 2]}} : {y} -> {z}",
            f"graph.yield %2 : {z}",
        )
    )
    assert axes.sizes in ((128, 12, 64), (12, 128, 64))
    assert sorted(axes.stores[0].strides.values()) == [1, 64, 8192]


REFUSED: dict[str, tuple[str, ...]] = {
    "two-dimensions-on-one-axis": (
        "%x: tensor<7x7xf32>",
        "tensor<7x7xf32>",
        "%0 = graph.relu %x : tensor<7x7xf32> -> tensor<7x7xf32>",
        "%1 = graph.transpose %0 {perm = [1, 0]} : tensor<7x7xf32> -> tensor<7x7xf32>",
        "%2 = graph.add %0, %1 : (tensor<7x7xf32>, tensor<7x7xf32>) -> tensor<7x7xf32>",
        "graph.yield %2 : tensor<7x7xf32>",
    ),
    "reshape": (
        "%x: tensor<4x6xf32>, %y: tensor<3x8xf32>, %z: tensor<4x1xf32>",
        "tensor<3x8xf32>",
        "%0 = graph.add %x, %z : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>",
        "%1 = graph.reshape %0 : tensor<4x6xf32> -> tensor<3x8xf32>",
        "%2 = graph.add %1, %y : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>",
        "graph.yield %2 : tensor<3x8xf32>",
    ),
    "slice-of-computed": (
        "%x: tensor<4x6xf32>",
        "tensor<2x6xf32>",
        "%0 = graph.relu %x : tensor<4x6xf32> -> tensor<4x6xf32>",
        "%1 = graph.slice %0 {starts = [0], ends = [2], axes = [0], steps = [1]} "
        ": tensor<4x6xf32> -> tensor<2x6xf32>",
        "%2 = graph.exp %1 : tensor<2x6xf32> -> tensor<2x6xf32>",
        "graph.yield %2 : tensor<2x6xf32>",
    ),
    "operator": (
        "%x: tensor<9x6xf32>, %w: tensor<6x5xf32>",
        "tensor<9x5xf32>",
        "%0 = graph.matmul %x, %w : (tensor<9x6xf32>, tensor<6x5xf32>) -> tensor<9x5xf32>",
        "graph.yield %0 : tensor<9x5xf32>",
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_regions_without_an_iteration_space(reason: str) -> None:
    with pytest.raises(RefusalError) as caught:
        find_axes(region(*REFUSED[reason]))
    assert caught.value.refusal.reason == reason


def test_a_transposed_input_added_to_itself_is_two_loads() -> None:
    """x + transpose(x) of an input is fine: the transposed one is another load."""
    x = "tensor<7x7xf32>"
    axes = find_axes(
        region(
            f"%x: {x}",
            x,
            f"%0 = graph.transpose %x {{perm = [1, 0]}} : {x} -> {x}",
            f"%1 = graph.add %x, %0 : ({x}, {x}) -> {x}",
            f"graph.yield %1 : {x}",
        )
    )
    assert sorted(tuple(sorted(p.strides.items())) for p in axes.loads.values()) == [
        ((0, 1), (1, 7)),
        ((0, 7), (1, 1)),
    ]


def test_axes_are_cut_where_a_reshape_cuts() -> None:
    axes = AxisSet()
    whole, outer, inner, third = axes.new(24), axes.new(4), axes.new(6), axes.new(2)
    axes.unify([whole], [outer, inner])
    axes.unify([inner], [axes.new(3), third])
    assert [axes.size(a) for a in axes.atoms(whole)] == [4, 3, 2]
    assert axes.atoms(whole)[-1] == axes.find(third)
    with pytest.raises(RefusalError):
        axes.unify([whole], [axes.new(3), axes.new(8)])
