"""Counts, bytes and modelled time of one compilation, as plain data.

Times are modelled by the timing simulator, in cycles of the target's clock and in µs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypedDict

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from fusec.semantics.classes import FusionClass, fusion_class
from fusec.semantics.interpreter import main_function
from fusec.semantics.types import tensor_bytes
from fusec_dialects.graph import CallOp, GraphOp, OpaqueOp
from fusec_dialects.locations import sources


class Profile(TypedDict):
    """The figures of `fusec profile --json`.

    `operators`: imported ones, what is constant and views not counted. `kernels`: launches of the
    placed host function. `groups`: fused groups and single operators before lowering.
    `gm_boundary_bytes`: each tensor that crosses a group's boundary, once for every group that
    reads or writes it.
    `workspace_bytes` of global memory hold what lives between kernels. `gm_bytes` cross the cores'
    port to global memory, `hbm_bytes` of them come from or go to HBM rather than L2. `pipe_busy`:
    part of `cycles` by pipe. `host_calls`: operators that the host computes, of which no time is
    modelled; `host_bytes` cross to it and back. `compile_seconds`: by stage.
    """

    model: str
    target: str
    operators: int
    kernels: int
    groups: int
    gm_boundary_bytes: int
    workspace_bytes: int
    gm_bytes: int
    hbm_bytes: int
    cycles: float
    modelled_us: float
    pipe_busy: dict[str, float]
    host_calls: int
    host_bytes: int
    compile_seconds: dict[str, float]


def count_operators(module: ModuleOp) -> int:
    """Imported operators that depend on an input; views are not counted.

    Operators of one known place (an ONNX node that became several) are one.
    """
    main = main_function(module)
    varying: set[SSAValue] = set(main.body.block.args)
    found: set[str] = set()
    unknown = 0
    for op in main.body.block.ops:
        if not isinstance(op, GraphOp | OpaqueOp) or _is_constant(op, varying):
            continue
        varying.update(op.results)
        if isinstance(op, GraphOp) and fusion_class(op.op_name) == FusionClass.VIEW:
            continue
        names = sources(op.location, views=False)
        found.update(names)
        unknown += not names
    return len(found) + unknown


def _is_constant(op: GraphOp | OpaqueOp, varying: set[SSAValue]) -> bool:
    return isinstance(op, GraphOp) and varying.isdisjoint(op.operands)


def _source(value: SSAValue) -> SSAValue:
    """The value behind free views."""
    owner = value.owner
    while isinstance(owner, GraphOp) and fusion_class(owner.op_name) == FusionClass.VIEW:
        value = owner.operands[0]
        owner = value.owner
    return value


def _calls(module: ModuleOp) -> Iterator[CallOp]:
    return (op for op in main_function(module).body.block.ops if isinstance(op, CallOp))


def boundary_bytes(module: ModuleOp) -> int:
    """Bytes of the tensors that groups read and write, each once for each group."""
    total = 0
    for call in _calls(module):
        read = {_source(v) for v in call.inputs}
        total += sum(tensor_bytes(v.type) for v in read)
        total += sum(tensor_bytes(r.type) for r in call.outputs)
    return total


def profile_levels(
    model: str,
    imported: ModuleOp,
    fused: ModuleOp,
    npu: ModuleOp,
    seconds: Mapping[str, float],
) -> Profile:
    """The figures of one compilation: `model` is its name, `seconds` those of its stages."""
    from fusec.simulator.timing import time_host

    timing = time_host(npu)
    return {
        "model": model,
        "target": timing.target,
        "operators": count_operators(imported),
        "kernels": len(timing.kernels),
        "groups": sum(1 for _ in _calls(fused)),
        "gm_boundary_bytes": boundary_bytes(fused),
        "workspace_bytes": timing.workspace_bytes,
        "gm_bytes": timing.gm_bytes,
        "hbm_bytes": timing.hbm_bytes,
        "cycles": timing.cycles,
        "modelled_us": timing.us,
        "pipe_busy": dict(timing.pipe_busy),
        "host_calls": timing.host_calls,
        "host_bytes": timing.host_bytes,
        "compile_seconds": dict(seconds),
    }
