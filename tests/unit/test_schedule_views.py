"""Strides of views: chains that compose, chains that do not, and regions as sets of operators."""

from __future__ import annotations

import pytest

from fusec.schedule.region import Region
from fusec.schedule.types import Refusal
from fusec.schedule.views import Access, Part, load_access, split, store_access
from kernel_check import kernel


def chain(source: str, steps: list[tuple[str, str]]) -> Region:
    """The region of a kernel that applies views one after another."""
    lines: list[str] = []
    value, type_ = "%x", source
    for number, (text, result) in enumerate(steps):
        lines.append(f"  %{number} = graph.{text.format(v=value)} : {type_} -> {result}")
        value, type_ = f"%{number}", result
    body = "\n".join(lines)
    text = (
        f'graph.kernel @k "k"(%x: {source}) -> {type_} {{\n{body}\n'
        f"  graph.yield {value} : {type_}\n}}\n"
    )
    return Region.of_block(kernel(text).body.block)


LOADS: dict[str, tuple[str, list[tuple[str, str]], int, tuple[int, ...]]] = {
    "transpose": (
        "tensor<4x6xf32>",
        [("transpose {v} {{perm = [1, 0]}}", "tensor<6x4xf32>")],
        0,
        (1, 6),
    ),
    "split heads": (
        "tensor<128x768xf32>",
        [
            ("reshape {v}", "tensor<128x12x64xf32>"),
            ("transpose {v} {{perm = [1, 0, 2]}}", "tensor<12x128x64xf32>"),
        ],
        0,
        (64, 768, 1),
    ),
    "slice with a step": (
        "tensor<10x20xf32>",
        [
            (
                "slice {v} {{starts = [2, 5], ends = [10, 20], axes = [0, -1], steps = [3, 2]}}",
                "tensor<3x8xf32>",
            )
        ],
        45,
        (60, 2),
    ),
    "squeeze and expand": (
        "tensor<1x5x1xf32>",
        [
            ("squeeze {v} {{axes = [0]}}", "tensor<5x1xf32>"),
            ("expand {v}", "tensor<3x5x7xf32>"),
        ],
        0,
        (0, 1, 0),
    ),
    "flatten": ("tensor<2x3x4xf32>", [("flatten {v} {{axis = 2}}", "tensor<6x4xf32>")], 0, (4, 1)),
    "merge after a slice of the outer axis": (
        "tensor<8x3x4xf32>",
        [
            (
                "slice {v} {{starts = [2], ends = [6], axes = [0], steps = [1]}}",
                "tensor<4x3x4xf32>",
            ),
            ("reshape {v}", "tensor<48xf32>"),
        ],
        24,
        (1,),
    ),
}


@pytest.mark.parametrize("name", LOADS)
def test_loads(name: str) -> None:
    source, steps, offset, strides = LOADS[name]
    region = chain(source, steps)
    access = load_access(region, region.outputs[0])
    assert isinstance(access, Access)
    assert access.root is region.inputs[0]
    assert (access.offset, access.strides) == (offset, strides)


def test_merged_heads_have_parts() -> None:
    """[12, 128, 64] seen as [128, 768] has no single stride along its second dimension."""
    region = chain(
        "tensor<12x128x64xf32>",
        [
            ("transpose {v} {{perm = [1, 0, 2]}}", "tensor<128x12x64xf32>"),
            ("reshape {v}", "tensor<128x768xf32>"),
        ],
    )
    access = load_access(region, region.outputs[0])
    assert isinstance(access, Access)
    assert access.strides is None and not access.contiguous
    assert access.dims == ((Part(128, 64),), (Part(12, 8192), Part(64, 1)))


REFUSED = {
    "reshape": [
        ("transpose {v} {{perm = [1, 0]}}", "tensor<6x4xf32>"),
        ("reshape {v}", "tensor<4x6xf32>"),
    ],
    "negative-step": [
        ("slice {v} {{starts = [3], ends = [0], axes = [0], steps = [-1]}}", "tensor<3x6xf32>")
    ],
    "empty": [
        ("slice {v} {{starts = [2], ends = [2], axes = [0], steps = [1]}}", "tensor<0x6xf32>")
    ],
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refusals_carry_a_reason(reason: str) -> None:
    region = chain("tensor<4x6xf32>", REFUSED[reason])
    access = load_access(region, region.outputs[0])
    assert isinstance(access, Refusal) and access.reason == reason and access.message


def test_a_slice_through_merged_heads_is_refused() -> None:
    region = chain(
        "tensor<12x128x64xf32>",
        [
            ("transpose {v} {{perm = [1, 0, 2]}}", "tensor<128x12x64xf32>"),
            ("reshape {v}", "tensor<128x768xf32>"),
            (
                "slice {v} {{starts = [32], ends = [160], axes = [1], steps = [1]}}",
                "tensor<128x128xf32>",
            ),
        ],
    )
    access = load_access(region, region.outputs[0])
    assert isinstance(access, Refusal) and access.reason == "slice"


def test_stores_go_backwards_through_views() -> None:
    region = chain(
        "tensor<128x768xf32>",
        [
            ("relu {v}", "tensor<128x768xf32>"),
            ("reshape {v}", "tensor<128x12x64xf32>"),
            ("transpose {v} {{perm = [1, 0, 2]}}", "tensor<12x128x64xf32>"),
        ],
    )
    answer = store_access(region, region.outputs[0])
    assert not isinstance(answer, Refusal)
    value, access = answer
    assert value is region.compute_ops[0].results[0]
    assert access.dims == ((Part(128, 64),), (Part(12, 8192), Part(64, 1)))


def test_dynamic_sizes_are_refused_with_advice() -> None:
    region = chain("tensor<?x6xf32>", [("relu {v}", "tensor<?x6xf32>")])
    access = load_access(region, region.inputs[0])
    assert isinstance(access, Refusal) and access.reason == "dynamic-shape"
    assert "--shape" in access.message


def test_split_regroups_parts() -> None:
    assert split([Part(4, 6), Part(6, 1)], [8, 3]) == [(Part(8, 3),), (Part(3, 1),)]
    assert split([Part(6, 1), Part(4, 6)], [4, 6]) is None
    assert split([Part(1, 7), Part(5, 1)], [5, 1]) == [(Part(5, 1),), ()]


def test_a_region_of_some_operators_of_a_block() -> None:
    block = kernel(
        'graph.kernel @k "k"(%x: tensor<5xf32>) -> tensor<5xf32>, tensor<5xf32> {\n'
        "  %c = graph.constant dense<2.0> : tensor<f32>\n"
        "  %0 = graph.mul %x, %c : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>\n"
        "  %1 = graph.exp %0 : tensor<5xf32> -> tensor<5xf32>\n"
        "  %2 = graph.relu %1 : tensor<5xf32> -> tensor<5xf32>\n"
        "  graph.yield %0, %2 : tensor<5xf32>, tensor<5xf32>\n}\n"
    ).body.block
    _, scaled, powers, last = list(block.ops)[:4]
    region = Region.of_ops([scaled, powers])
    assert [value.owner for value in region.outputs] == [scaled, powers]
    assert len(region.inputs) == 2
    assert region.users(scaled.results[0]) == [powers]
    whole = Region.of_ops(list(block.ops)[:4])
    assert [value.owner for value in whole.outputs] == [scaled, last]
    assert whole.inputs == (block.args[0],)
