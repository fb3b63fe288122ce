"""Counts, bytes and modelled time of one compilation, as plain data.

`operators`: imported ONNX operators, constants and views not counted. `groups`: calls on the fused
level.
`gm_boundary_bytes`: each tensor that crosses a group's boundary, once for every group that reads or
writes it. Times are modelled by the timing simulator, in cycles of the target's clock and in µs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from fusec.semantics.classes import FusionClass, fusion_class
from fusec.semantics.types import numpy_type
from fusec_dialects.graph import CallOp, ConstantOp, GraphOp, WeightOp
from fusec_dialects.npu.control import LaunchOp
from fusec_dialects.npu.move import AllocOp


def _main(module: ModuleOp) -> FuncOp:
    for op in module.body.block.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "main":
            return op
    raise ValueError("the module has no function @main")


def count_operators(module: ModuleOp) -> int:
    """Imported ONNX operators that depend on an input; views and constants are not counted."""
    known: set[SSAValue] = set()
    places: set[object] = set()
    for op in _main(module).body.block.ops:
        if isinstance(op, WeightOp | ConstantOp):
            known.add(op.results[0])
        elif isinstance(op, GraphOp):
            if all(o in known for o in op.operands):
                known.update(op.results)
            elif fusion_class(op.op_name) != FusionClass.VIEW:
                places.add(op.location)
    return len(places)


def tensor_bytes(type_: Attribute) -> int:
    """Size of a static tensor in bytes."""
    if not isinstance(type_, TensorType):
        return 0
    tensor = cast(TensorType[Attribute], type_)
    return prod(tensor.get_shape()) * numpy_type(tensor.element_type).itemsize


def _source(value: SSAValue) -> SSAValue:
    """The value behind free views."""
    owner = value.owner
    while isinstance(owner, GraphOp) and fusion_class(owner.op_name) == FusionClass.VIEW:
        value = owner.operands[0]
        owner = value.owner
    return value


def _calls(module: ModuleOp) -> Iterator[CallOp]:
    return (op for op in _main(module).body.block.ops if isinstance(op, CallOp))


def boundary_bytes(module: ModuleOp) -> int:
    """Bytes of the tensors that groups read and write, each once for each group."""
    total = 0
    for call in _calls(module):
        read = {_source(v) for v in call.inputs}
        total += sum(tensor_bytes(v.type) for v in read)
        total += sum(tensor_bytes(r.type) for r in call.outputs)
    return total


def _of_type(module: ModuleOp, kind: type[Operation]) -> Iterator[Operation]:
    return (op for op in _main(module).body.block.ops if isinstance(op, kind))


def workspace_bytes(module: ModuleOp) -> int:
    """Highest byte of global memory that the placed host function allocates between its kernels."""
    top = 0
    for op in _of_type(module, AllocOp):
        if isinstance(op, AllocOp):
            start = 0 if op.address is None else op.address.value.data
            type_ = op.result.type
            size = prod(type_.get_shape()) * numpy_type(type_.element_type).itemsize
            top = max(top, start + size)
    return top


def profile_levels(
    imported: ModuleOp, fused: ModuleOp, npu: ModuleOp, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """The figures of one compilation, with the names of `fusec profile --json`."""
    from fusec.simulator.timing import time_host

    timing = time_host(npu)
    target = npu.attributes.get("npu.target")
    return {
        "target": target.data if isinstance(target, StringAttr) else "",
        "operators": count_operators(imported),
        "kernels": sum(1 for _ in _of_type(npu, LaunchOp)),
        "groups": sum(1 for _ in _calls(fused)),
        "gm_boundary_bytes": boundary_bytes(fused),
        "workspace_bytes": workspace_bytes(npu),
        "gm_bytes": timing.gm_bytes,
        "hbm_bytes": timing.hbm_bytes,
        "cycles": timing.cycles,
        "modelled_us": timing.us,
        "pipe_busy": dict(timing.pipe_busy),
        "host_calls": 0,
        "compile_seconds": dict(seconds),
    }
