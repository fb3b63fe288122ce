"""Schedules of vector, movement and window kernels: they fit, use the cores, and refuse clearly."""

from __future__ import annotations

from dataclasses import replace

import pytest
from xdsl.context import Context
from xdsl.dialects.scf import ForOp

from fusec.hw import Target, load_target
from fusec.npu.buffers import alloc_of
from fusec.npu.multi_buffer import NpuMultiBufferPass
from fusec.npu.place import NpuPlacePass
from fusec.schedule.cost import estimate
from fusec.schedule.expand import expand
from fusec.schedule.footprint import Footprint, Tiles
from fusec.schedule.movement import MovementSchedule, check_movement
from fusec.schedule.region import Region
from fusec.schedule.schedule import schedule
from fusec.schedule.types import Refusal, RefusalError, ScheduleError
from fusec.schedule.unit_types import type_refusal
from fusec.schedule.vector import VectorSchedule, check, plan_of
from fusec.schedule.window import WindowSchedule, check_window
from fusec.semantics.types import NUMPY_NAMES
from fusec_dialects.graph import KernelOp
from fusec_dialects.npu.move import AllocOp, LoadOp
from fusec_dialects.npu.storage import storage_bytes
from kernel_check import emitted_module, kernel, scheduled
from vector_regions import random_region, tensor

TARGET = load_target("ascend910b3")


def region_of(op: KernelOp) -> Region:
    return Region.of_block(op.body.block)


def softmax(rows: int, columns: int, dtype: str = "f32") -> KernelOp:
    x = tensor((rows, columns), dtype)
    return kernel(
        f'graph.kernel @k "k"(%x: {x}) -> {x} {{\n'
        f"  %0 = graph.softmax %x : {x} -> {x}\n  graph.yield %0 : {x}\n}}\n"
    )


def vector_schedule(op: KernelOp, target: Target = TARGET) -> VectorSchedule:
    answer = schedule(region_of(op), target)
    assert isinstance(answer, VectorSchedule), answer
    return answer


def placed_peak(op: KernelOp, target: str) -> int:
    """Bytes of ub that the placed kernel uses."""
    module = emitted_module(op, target)
    NpuMultiBufferPass().apply(Context(), module)
    NpuPlacePass().apply(Context(), module)
    ends = [0]
    for alloc in module.walk():
        if isinstance(alloc, AllocOp) and alloc.address is not None:
            size = -(-storage_bytes(alloc.result.type) // 32) * 32
            ends.append(alloc.address.value.data + size * alloc.copy_count)
    return max(ends)


@pytest.mark.parametrize("target", ["ascend910b3", "tiny"])
@pytest.mark.parametrize("seed", range(30))
def test_the_footprint_is_never_below_the_placed_peak(seed: int, target: str) -> None:
    op = kernel(random_region(seed))
    answer = scheduled(op, target)
    if not isinstance(answer, VectorSchedule):
        return
    plan = plan_of(expand(region_of(op)), answer)
    need = Footprint(plan, answer.copies).bytes(Tiles.of(answer.axes, answer.tiles))
    assert placed_peak(op, target) <= need <= load_target(target).capacity("ub")


MOVED = {
    "transpose": "transpose %x {perm = [1, 0]} : tensor<700x900xf16> -> tensor<900x700xf16>",
    "woven": (
        "transpose %x {perm = [0, 2, 3, 1]} : tensor<1x3x99x96xf32> -> tensor<1x99x96x3xf32>"
    ),
    "pad": "pad %x {pads = [1, 3, 2, 0]} : tensor<300x500xf32> -> tensor<303x503xf32>",
    "max": (
        "max_pool %x {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], "
        'dilations = [1, 1], layout = "NHWC"} '
        ": tensor<1x112x112x64xbf16> -> tensor<1x56x56x64xbf16>"
    ),
    "average": (
        "average_pool %x {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], "
        'dilations = [1, 1], layout = "NHWC"} '
        ": tensor<1x40x100x300xf16> -> tensor<1x40x100x300xf16>"
    ),
}


@pytest.mark.parametrize("target", ["ascend910b3", "tiny"])
@pytest.mark.parametrize("name", MOVED)
def test_tiles_of_copies_and_pools_fit_twice(name: str, target: str) -> None:
    """As scheduled, each buffer that a loop loads really gets its two copies."""
    _, _, types = MOVED[name].rpartition(" : ")
    source, _, result = types.partition(" -> ")
    op = kernel(
        f'graph.kernel @k "k"(%x: {source}) -> {result} {{\n'
        f"  %0 = graph.{MOVED[name]}\n  graph.yield %0 : {result}\n}}\n"
    )
    answer = scheduled(op, target)
    assert isinstance(answer, MovementSchedule | WindowSchedule), answer
    scheduled(op, target, replace(answer, blocks=1))
    module = emitted_module(op, target)
    NpuMultiBufferPass().apply(Context(), module)
    NpuPlacePass().apply(Context(), module)
    for move in module.walk():
        alloc = alloc_of(move.dest) if isinstance(move, LoadOp) else None
        if answer.copies > 1 and alloc is not None and isinstance(alloc.parent_op(), ForOp):
            assert alloc.copy_count == 2


def test_rows_are_shared_among_all_cores() -> None:
    assert vector_schedule(softmax(1536, 128)).blocks == TARGET.cores("vector")


def test_a_row_stays_whole_where_it_fits() -> None:
    answer = vector_schedule(softmax(4096, 1001))
    assert answer.tiles[1] == 1001


def test_a_long_row_is_swept() -> None:
    answer = vector_schedule(softmax(8, 100_000))
    assert answer.tiles[1] < 100_000


def test_the_same_region_gets_the_same_schedule() -> None:
    assert vector_schedule(softmax(300, 77)) == vector_schedule(softmax(300, 77))


def test_an_attribute_and_back() -> None:
    answer = vector_schedule(softmax(300, 77))
    assert VectorSchedule.from_attr(answer.to_attr()) == answer


def test_more_cores_are_not_slower() -> None:
    op = softmax(1536, 512)
    answer = vector_schedule(op)
    one = replace(answer, blocks=1)
    region = region_of(op)
    assert estimate(region, answer, TARGET).us < estimate(region, one, TARGET).us


WRONG = [
    ({"axes": (128, 1536)}, "the region has axes [1536, 128]"),
    ({"tiles": (16,)}, "give one for each of the axes"),
    ({"tiles": (16, 129)}, "no longer than the axis"),
    ({"tiles": (0, 128)}, "at least 1"),
    ({"tiles": (16, 1)}, "strided-store: tiles do not extend along the innermost axis"),
    ({"blocks": 97}, "97 blocks for 96 tiles; use 1 to 96"),
    ({"copies": 0}, "copies is 0"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_schedules_written_by_hand(change: dict[str, object], message: str) -> None:
    good = VectorSchedule((1536, 128), (16, 128), 40)
    program = expand(region_of(softmax(1536, 128)))
    check(program, good, TARGET)
    with pytest.raises(ScheduleError) as caught:
        check(program, replace(good, **change), TARGET)  # pyright: ignore[reportArgumentType]
    assert message in str(caught.value)


def test_a_schedule_written_by_hand_that_is_too_big() -> None:
    program = expand(region_of(softmax(1536, 128)))
    with pytest.raises(RefusalError) as caught:
        check(program, VectorSchedule((1536, 128), (1536, 128), 1), TARGET)
    assert caught.value.refusal.reason == "ub-capacity"
    assert "make them shorter" in caught.value.refusal.message


def refused(text: str) -> Refusal:
    answer = schedule(region_of(kernel(text)), TARGET)
    assert isinstance(answer, Refusal)
    return answer


REFUSALS = {
    "type": (
        'graph.kernel @k "k"(%x: tensor<9xi64>, %y: tensor<9xi64>) -> tensor<9xi64> {\n'
        "  %0 = graph.add %x, %y : (tensor<9xi64>, tensor<9xi64>) -> tensor<9xi64>\n"
        "  graph.yield %0 : tensor<9xi64>\n}\n"
    ),
    "pow": (
        'graph.kernel @k "k"(%x: tensor<9xf32>) -> tensor<9xf32> {\n'
        "  %e = graph.constant dense<17.0> : tensor<f32>\n"
        "  %0 = graph.pow %x, %e : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>\n"
        "  graph.yield %0 : tensor<9xf32>\n}\n"
    ),
    "dynamic-shape": (
        'graph.kernel @k "k"(%x: tensor<?xf32>) -> tensor<?xf32> {\n'
        "  %0 = graph.relu %x : tensor<?xf32> -> tensor<?xf32>\n"
        "  graph.yield %0 : tensor<?xf32>\n}\n"
    ),
    "window": (
        'graph.kernel @k "k"(%x: tensor<1x4x4x8xf32>) -> tensor<1x2x2x8xf32> {\n'
        "  %0 = graph.max_pool %x {kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], "
        'dilations = [1, 1], layout = "NHWC"} : tensor<1x4x4x8xf32> -> tensor<1x2x2x8xf32>\n'
        "  %1 = graph.exp %0 : tensor<1x2x2x8xf32> -> tensor<1x2x2x8xf32>\n"
        "  graph.yield %1 : tensor<1x2x2x8xf32>\n}\n"
    ),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refusals_name_operator_and_reason(reason: str) -> None:
    answer = refused(REFUSALS[reason])
    assert answer.reason == reason and answer.message


def test_a_refused_type_names_operator_and_type() -> None:
    answer = refused(REFUSALS["type"])
    assert "graph.add" in answer.message and "i64" in answer.message
    assert answer.numbers == {"operator": "add", "type": "i64", "cast": "i32"}


def test_movement_schedules_written_by_hand() -> None:
    x, y = "tensor<100x72xf32>", "tensor<72x100xf32>"
    op = kernel(
        f'graph.kernel @k "k"(%x: {x}) -> {y} {{\n'
        f"  %0 = graph.transpose %x {{perm = [1, 0]}} : {x} -> {y}\n  graph.yield %0 : {y}\n}}\n"
    )
    region = region_of(op)
    for tiles, blocks, message in (
        ((8,), 1, "rows and columns for each of 1 copies"),
        ((80, 100), 1, "at most 72 x 100"),
        ((72, 100), 2, "2 blocks for 1 tiles"),
    ):
        answer = check_movement(region, MovementSchedule(tiles, blocks), TARGET)
        assert answer is not None and message in answer.message
    assert check_movement(region, MovementSchedule((72, 100), 1), TARGET) is None
    tiny = check_movement(region, MovementSchedule((72, 100), 1), load_target("tiny"))
    assert tiny is not None and "bytes of ub" in tiny.message
    assert tiny.reason == "ub-capacity"


def test_window_schedules_written_by_hand() -> None:
    text = REFUSALS["window"].replace("  %1 = graph.exp %0", "  %1 = graph.identity %0")
    region = region_of(kernel(text))
    for given, message in (
        (WindowSchedule(3, 8, 1), "there are 2 and 8"),
        (WindowSchedule(2, 8, 3), "no more blocks than tiles"),
    ):
        answer = check_window(region, given, TARGET)
        assert answer is not None and message in answer.message


def test_every_type_that_is_refused_has_a_cast_that_a_unit_takes() -> None:
    """Of what the dialect knows, and the numbers that a cast keeps are said."""
    takes = ("f32", "f16", "bf16")
    for dtype in sorted(NUMPY_NAMES.keys() - set(takes)):
        refusal = type_refusal("'graph.matmul'", dtype, takes, "has no kernel here").refusal
        cast = refusal.numbers["cast"]
        assert cast in takes and f"cast its operands to {cast} (" in refusal.message
    nothing = type_refusal("'graph.and'", "f64", ("i1",), "has no kernel here").refusal
    assert nothing.message.endswith("only on i1; no cast keeps its values")
