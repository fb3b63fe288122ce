"""Kernels of the vector cores against the oracle, simulated on random inputs of any type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from fusec.hw import load_target
from fusec.lowering.emit import emit
from fusec.schedule.types import Refusal, Schedule
from fusec.semantics import evaluate, np_dtype
from fusec.semantics.interpreter import constant_array, semantic_attrs
from fusec.semantics.types import NUMPY_NAMES
from fusec.simulator.functional import run_kernel
from fusec_dialects.graph import ConstantOp, GraphOp, KernelOp, YieldOp
from fusec_dialects.graph.base import element_name, static_shape
from kernel_check import constant_array as kernel_constant
from kernel_check import dtype_of, scheduled

Array = np.ndarray[Any, Any]

MARGIN = 3.0
"""The kernel's error may be this many times that of the operators one by one, plus TOLERANCE."""

TOLERANCE = {"f32": 2e-6, "f16": 1e-3, "bf16": 8e-3}
"""Relative to the largest value of a result, or to 1 where all are smaller."""


@dataclass(frozen=True)
class Outcome:
    """The schedule of a kernel that was right, and what it computed."""

    schedule: Schedule
    outputs: list[Array]


def inputs_of(op: KernelOp, seed: int) -> list[Array]:
    """Normal floats, small integers, coin tosses."""
    rng = np.random.default_rng(seed)
    found: list[Array] = []
    for argument in op.body.block.args:
        shape, dtype = static_shape(argument), dtype_of(argument)
        if dtype.kind == "b":
            found.append(rng.random(shape) < 0.5)
        elif dtype.kind in "iu":
            found.append(rng.integers(-5, 6, shape).astype(dtype))
        else:
            found.append(rng.standard_normal(shape).astype(dtype))
    return found


def meaning(op: KernelOp, inputs: Sequence[Array], *, exact: bool) -> list[Array]:
    """What the operators give one by one: in float64 if `exact`, else each in its own type."""
    values: dict[SSAValue, Array] = dict(zip(op.body.block.args, inputs, strict=True))
    for inner in op.body.block.ops:
        if isinstance(inner, ConstantOp):
            values[inner.y] = constant_array(inner)
        elif isinstance(inner, GraphOp):
            operands = [values[o] for o in inner.operands]
            attrs = cast("dict[str, Any]", semantic_attrs(inner))
            found = evaluate(inner.op_name, operands, attrs, oracle=exact)
            values.update(zip(inner.results, found, strict=True))
        elif isinstance(inner, YieldOp):
            return [values[v] for v in inner.values]
    raise ValueError("the kernel yields nothing")


def simulate(op: KernelOp, target: str, inputs: Sequence[Array]) -> list[Array]:
    """The outputs of a scheduled kernel."""
    emitted = emit(op, load_target(target))
    emitted.func.verify()
    end = op.body.block.last_op
    assert end is not None
    outputs = [np.full(static_shape(v), 7, dtype_of(v)) for v in end.operands]
    arrays = [np.array(a, order="C") for a in inputs]
    arrays += [kernel_constant(c) for c in emitted.constants]
    rooms = [
        np.full(shape, np.nan, np_dtype(NUMPY_NAMES[dtype])) for shape, dtype in emitted.workspaces
    ]
    run_kernel(emitted.func, [*arrays, *outputs, *rooms], target=target)
    return outputs


def check_kernel(
    op: KernelOp,
    target: str,
    *,
    seed: int = 0,
    given: Schedule | None = None,
    inputs: Sequence[Array] | None = None,
) -> Outcome | Refusal:
    """Schedules, emits and simulates a kernel; AssertionError where a result is wrong."""
    answer = scheduled(op, target, given)
    if isinstance(answer, Refusal):
        return answer
    inputs = inputs_of(op, seed) if inputs is None else inputs
    outputs = simulate(op, target, inputs)
    exact, plain = meaning(op, inputs, exact=True), meaning(op, inputs, exact=False)
    kinds = {element_name(v.type) for v in op.body.block.args}
    tolerance = max(TOLERANCE.get(kind, 0.0) for kind in kinds)
    for found, wanted, unfused in zip(outputs, exact, plain, strict=True):
        _compare(found, wanted, unfused, tolerance, answer)
    return Outcome(answer, outputs)


def _compare(found: Array, wanted: Array, unfused: Array, tolerance: float, what: object) -> None:
    found, wanted, unfused = (np.asarray(a).astype(np.float64) for a in (found, wanted, unfused))
    regular = np.isfinite(wanted) & np.isfinite(unfused)
    assert np.isfinite(found[regular]).all(), f"not finite, with {what}"
    if not regular.any():
        return
    scale = max(float(np.abs(wanted[regular]).max()), 1.0)
    error = float(np.abs(found - wanted)[regular].max())
    limit = MARGIN * float(np.abs(unfused - wanted)[regular].max()) + tolerance * scale
    assert error <= limit, f"error {error} above {limit}, with {what}"
