"""A host call executed: bytes of gm in, ONNX's reference implementation, bytes of gm out."""

from __future__ import annotations

from collections.abc import Sequence

from fusec.semantics.base import SemanticsError
from fusec.semantics.opaque import evaluate_opaque
from fusec.simulator.errors import SimulationError
from fusec.simulator.host import HOST_TYPES, HostCall
from fusec.simulator.numerics import Array


def run_call(call: HostCall, reads: Sequence[Array], writes: Sequence[Array]) -> None:
    """Computes one call; `reads` and `writes` are the bytes of its buffers, in order.

    Raises SimulationError where the reference implementation cannot compute it.
    """
    inputs = [
        raw.view(HOST_TYPES[view.dtype]).reshape(view.shape)
        for raw, view in zip(reads, call.reads, strict=True)
    ]
    types = [(HOST_TYPES[view.dtype], view.shape) for view in call.writes]
    try:
        results = evaluate_opaque(call.op_type, call.onnx, inputs, types)
    except SemanticsError as error:
        cause = f"{error.operator}: {error.cause}"
        raise SimulationError(call.place, cause, error.advice) from error
    for raw, result, (dtype, shape) in zip(writes, results, types, strict=True):
        raw.view(dtype).reshape(shape)[...] = result
