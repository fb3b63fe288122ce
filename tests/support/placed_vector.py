"""Placed kernels of the vector family: clean under the witness, within what was planned."""

from __future__ import annotations

from fusec.api import run_passes
from fusec.hw import load_target
from fusec.schedule.expand import expand
from fusec.schedule.footprint import Footprint, Tiles
from fusec.schedule.region import Region
from fusec.schedule.vector import VectorSchedule, plan_of, schedule_vector
from fusec.simulator.witness import witness
from fusec_dialects.npu import AllocOp
from fusec_dialects.npu.storage import storage_bytes
from kernel_check import emitted_module, kernel

AFTER = "npu-multi-buffer,npu-place,npu-sync,npu-verify"


def check_placed(text: str, target: str) -> VectorSchedule:
    """AssertionError where the witness finds something, or more of ub is used than was planned."""
    op = kernel(text)
    region, chip = Region.of_block(op.body.block), load_target(target)
    answer = schedule_vector(region, chip)
    assert isinstance(answer, VectorSchedule), answer
    op.attributes["npu.schedule"] = answer.to_attr()
    module = run_passes(emitted_module(op, target), AFTER)
    found = list(witness(module, max_instructions=3000))
    assert not found, [f"{v.kind}: {v.message}" for v in found]
    plan = plan_of(expand(region), answer)
    need = Footprint(plan, answer.copies).bytes(Tiles.of(answer.axes, answer.tiles))
    ends = [0]
    for inner in module.walk():
        if isinstance(inner, AllocOp) and inner.address is not None:
            size = -(-storage_bytes(inner.result.type) // 32) * 32
            ends.append(inner.address.value.data + size * inner.copy_count)
    assert max(ends) <= need <= chip.capacity("ub")
    return answer
