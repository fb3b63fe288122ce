"""Kernels on row blocks against the oracle, placed, within their footprint, accepted by Huawei."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from accepted import check_accepted
from export_check import check_numbers
from fusec.hw import load_target
from fusec.lowering.emit import emit
from fusec.schedule.region import Region
from fusec.schedule.rows import schedule_rows
from fusec.schedule.rows_problem import rows_problem
from fusec.schedule.rows_schedule import RowsSchedule, VectorParts, ub_bytes
from fusec.schedule.types import Refusal
from fusec.simulator.functional import run_kernel
from fusec_dialects.graph import KernelOp
from fusec_dialects.npu.attrs import Space, space_of
from fusec_dialects.npu.move import AllocOp
from fusec_dialects.npu.storage import storage_bytes
from hivm_interpreter import DTYPES
from kernel_check import check, emitted_module, kernel, scheduled
from row_regions import NAMED, random_rows

CHIP = "ascend910b3"
QUICK = 20


def rows_schedule(text: str, target: str) -> RowsSchedule | Refusal:
    """The schedule of the family, whichever one a kernel would get."""
    answer = schedule_rows(Region.of_block(kernel(text).body.block), load_target(target))
    assert isinstance(answer, RowsSchedule | Refusal)
    return answer


def rows_scheduled(name: str) -> KernelOp:
    """A named kernel with its schedule."""
    op, answer = kernel(NAMED[name]), rows_schedule(NAMED[name], CHIP)
    assert isinstance(answer, RowsSchedule), answer
    scheduled(op, CHIP, answer)
    return op


def ub_peak(module: Operation) -> int:
    """The end of the last buffer in ub."""
    ends = [0]
    for op in module.walk():
        if isinstance(op, AllocOp) and op.address and space_of(op.result.type) == Space.UB:
            size = -(-storage_bytes(op.result.type) // 32) * 32
            ends.append(op.address.value.data + size * op.copy_count)
    return max(ends)


@pytest.mark.parametrize("name", NAMED)
def test_named_kernels_placed(name: str) -> None:
    op, answer = kernel(NAMED[name]), rows_schedule(NAMED[name], CHIP)
    assert isinstance(answer, RowsSchedule), answer
    done = check(op, CHIP, given=answer, placed=True)
    assert not isinstance(done, Refusal)
    parts = VectorParts(rows_problem(Region.of_block(op.body.block)), load_target(CHIP))
    need = sum(ub_bytes(part(answer), answer.copies) for part in (parts.prologue, parts.epilogue))
    assert 0 < ub_peak(done.emitted.func) <= need <= load_target(CHIP).capacity("ub")


@pytest.mark.parametrize("target", [CHIP, "tiny"])
@pytest.mark.parametrize(
    "seed",
    [*range(QUICK), *(pytest.param(s, marks=pytest.mark.campaign) for s in range(QUICK, 400))],
)
def test_random_kernels(seed: int, target: str) -> None:
    text = random_rows(seed)
    answer = rows_schedule(text, target)
    if isinstance(answer, Refusal):
        assert answer.reason in REFUSED, answer
        return
    check(kernel(text), target, seed=seed, given=answer, placed=seed % 4 == 0)


REFUSED = {"ub-capacity", "capacity", "epilogue-reduction", "column-reduction", "rows-apart"}
"""Why some random kernels have no schedule: lines too long for the chip, or on two axes."""


@pytest.mark.parametrize("name", NAMED)
def test_numbers_of_the_text(name: str) -> None:
    module = emitted_module(rows_scheduled(name), CHIP)
    (func,) = (f for f in module.ops if isinstance(f, FuncOp))
    check_numbers(func)


def test_named_kernels_are_accepted() -> None:
    check_accepted(map(rows_scheduled, NAMED))


QUANTISED = """graph.kernel @k "k"(%x: tensor<40x96xf32>, %w: tensor<96x64xi8>, %s: tensor<64xf32>)
    -> tensor<40x64xf32> {
  %0 = graph.cast %x {to = i8} : tensor<40x96xf32> -> tensor<40x96xi8>
  %1 = graph.matmul_integer %0, %w : (tensor<40x96xi8>, tensor<96x64xi8>) -> tensor<40x64xi32>
  %2 = graph.cast %1 {to = f32} : tensor<40x64xi32> -> tensor<40x64xf32>
  %3 = graph.mul %2, %s : (tensor<40x64xf32>, tensor<64xf32>) -> tensor<40x64xf32>
  %4 = graph.softmax %3 {axis = -1} : tensor<40x64xf32> -> tensor<40x64xf32>
  graph.yield %4 : tensor<40x64xf32>
}"""


def test_what_quantises_is_a_prologue_too() -> None:
    op, answer = kernel(QUANTISED), rows_schedule(QUANTISED, CHIP)
    assert isinstance(answer, RowsSchedule), answer
    scheduled(op, CHIP, answer)
    emitted = emit(op, load_target(CHIP))
    assert [dtype for _, dtype in emitted.workspaces] == ["i8", "i32"]
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-9, 10, shape) for shape in ((40, 96), (96, 64)))
    s = rng.random(64) / 64
    found = np.zeros((40, 64), np.float32)
    spaces = [np.zeros(shape, DTYPES[dtype]) for shape, dtype in emitted.workspaces]
    given = [x.astype(np.float32), w.astype(np.int8), s.astype(np.float32), found, *spaces]
    run_kernel(emitted.func, given, target=CHIP)
    e = np.exp((x @ w) * s)
    np.testing.assert_allclose(found, e / e.sum(axis=-1, keepdims=True), 1e-4)
