"""What follows contractions in a region, as a region of its own."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from fusec.schedule.region import Region


def epilogue_of(region: Region, *results: SSAValue) -> Region:
    """The operators that the outputs need, without those behind `results`, now inputs."""
    needed: set[Operation] = set()
    stack = [value for value in region.outputs if value not in results]
    while stack:
        owner = stack.pop().owner
        if isinstance(owner, Operation) and owner in region.inside and owner not in needed:
            needed.add(owner)
            stack += [value for value in owner.operands if value not in results]
    ops = [op for op in region.ops if op in needed]
    return Region.of_ops(ops, region.outputs, region.strides)
