"""Kernels of the graph level for tests: from text to a simulated result next to the oracle's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, StringAttr
from xdsl.dialects.func import Func
from xdsl.ir import SSAValue
from xdsl.parser import Parser

from fusec.hw import load_target
from fusec.lowering.emit import emit
from fusec.lowering.emitted import EmittedKernel, KernelConstant
from fusec.npu.expand_l0 import NpuExpandL0Pass
from fusec.npu.multi_buffer import NpuMultiBufferPass
from fusec.npu.place import NpuPlacePass
from fusec.npu.sync import NpuSyncPass
from fusec.npu.verify import NpuVerifyPass
from fusec.schedule.region import Region
from fusec.schedule.schedule import schedule
from fusec.schedule.types import Refusal, Schedule
from fusec.semantics import evaluate, np_dtype
from fusec.semantics.types import NUMPY_NAMES
from fusec.simulator.functional import run_kernel
from fusec.simulator.witness import witness
from fusec_dialects.graph import ConstantOp, Graph, GraphOp, KernelOp, YieldOp
from fusec_dialects.graph.base import element_name, static_shape

Array = np.ndarray[Any, Any]

TOLERANCE = {"f32": 2e-5, "f16": 2e-3, "bf16": 1.6e-2}
"""Largest error allowed, relative to the largest value: a few roundings of the narrowest type."""


@dataclass(frozen=True)
class Checked:
    """What a kernel was given, and how far its result is from the oracle's."""

    schedule: Schedule
    emitted: EmittedKernel
    error: float


def kernel(text: str) -> KernelOp:
    """The only kernel of a module in text form, verified."""
    ctx = Context()
    for dialect in (Builtin, Func, Graph):
        ctx.load_dialect(dialect)
    module = Parser(ctx, text).parse_module()
    module.verify()
    return next(op for op in module.ops if isinstance(op, KernelOp))


def dtype_of(value: SSAValue) -> np.dtype[Any]:
    """The numpy type of a tensor's elements."""
    return np_dtype(NUMPY_NAMES[element_name(value.type)])


def scheduled(op: KernelOp, target: str, given: Schedule | None = None) -> Schedule | Refusal:
    """Puts a schedule on the kernel, `given` or the compiler's own; a refusal leaves it alone."""
    answer = given or schedule(Region.of_block(op.body.block), load_target(target))
    if isinstance(answer, Schedule):
        op.attributes["npu.schedule"] = answer.to_attr()
    return answer


def emitted_module(op: KernelOp, target: str) -> ModuleOp:
    """A module with the function of a scheduled kernel, for the passes on the npu level."""
    module = ModuleOp([emit(op, load_target(target)).func])
    module.attributes["npu.target"] = StringAttr(target)
    return module


def random_inputs(op: KernelOp, seed: int) -> list[Array]:
    """Normal values in the types of the kernel's inputs."""
    rng = np.random.default_rng(seed)
    return [
        np.asarray(rng.standard_normal(static_shape(a)), dtype_of(a)) for a in op.body.block.args
    ]


def oracle(op: KernelOp, inputs: Sequence[Array]) -> list[Array]:
    """What the kernel means, in float64: nothing is rounded in between."""
    values: dict[SSAValue, Array] = {}
    for argument, array in zip(op.body.block.args, inputs, strict=True):
        values[argument] = _wide(array)
    for inner in op.body.block.ops:
        if isinstance(inner, ConstantOp):
            raw = np.frombuffer(inner.value.data.data, dtype_of(inner.y))
            values[inner.y] = _wide(raw.reshape(static_shape(inner.y)))
        elif isinstance(inner, GraphOp):
            operands = [values[o] for o in inner.operands]
            attrs = cast("dict[str, Any]", inner.attrs())
            if inner.op_name == "cast":
                found = [_cast(operands[0], attrs["to"])]
            else:
                found = evaluate(inner.op_name, operands, attrs)
            values.update(zip(inner.results, found, strict=True))
        elif isinstance(inner, YieldOp):
            return [values[v] for v in inner.values]
    raise ValueError("the kernel yields nothing")


def _cast(array: Array, to: str) -> Array:
    """What is cast to a floating type is as wide as all that is."""
    return array.astype(np.float64) if to in TOLERANCE else array


def _wide(array: Array) -> Array:
    floating = array.dtype.kind == "f" or array.dtype.name == "bfloat16"
    return array.astype(np.float64) if floating else array


def constant_array(constant: KernelConstant) -> Array:
    """A constant operand of a kernel."""
    if constant.data is None:
        return np.eye(constant.shape[0], dtype=np_dtype(NUMPY_NAMES[constant.dtype]))
    return np.ascontiguousarray(constant.data)


def check(
    op: KernelOp,
    target: str,
    *,
    seed: int = 0,
    given: Schedule | None = None,
    placed: bool = False,
) -> Checked | Refusal:
    """Schedules, emits and simulates a kernel; AssertionError where the numbers are wrong.

    `placed`: after placement and synchronisation, with the witness looking on.
    """
    answer = scheduled(op, target, given)
    if isinstance(answer, Refusal):
        return answer
    emitted = emit(op, load_target(target))
    emitted.func.verify()
    if placed:
        _place(emitted, target)
    inputs = random_inputs(op, seed)
    expected = oracle(op, inputs)
    end = op.body.block.last_op
    assert end is not None
    outputs = [np.full(static_shape(v), 7, dtype_of(v)) for v in end.operands]
    arrays = [*inputs, *(constant_array(c) for c in emitted.constants), *outputs]
    arrays += [
        np.full(shape, np.nan, np_dtype(NUMPY_NAMES[dtype])) for shape, dtype in emitted.workspaces
    ]
    run_kernel(emitted.func, arrays, target=target)
    types = [element_name(v.type) for v in (*op.body.block.args, *end.operands)]
    limit = max(TOLERANCE.get(name, 0.0) for name in types)
    error = max(map(_error, outputs, expected))
    assert error <= limit, f"error {error} above {limit} with {answer}"
    return Checked(answer, emitted, error)


def _place(emitted: EmittedKernel, target: str) -> None:
    """Runs the passes of the npu level on a function, in place."""
    module = ModuleOp([emitted.func])
    module.attributes["npu.target"] = StringAttr(target)
    ctx = Context()
    for step in (
        NpuMultiBufferPass(),
        NpuExpandL0Pass(),
        NpuPlacePass(),
        NpuSyncPass(),
        NpuVerifyPass(),
    ):
        step.apply(ctx, module)
    found = witness(emitted.func, target=target)
    assert not found, [f"{v.kind}: {v.message}" for v in found]


def _error(found: Array, expected: Array) -> float:
    found = _wide(found)
    if not np.isfinite(found.astype(np.float64)).all():
        return float("inf")
    return float(np.abs(found - expected).max() / max(float(np.abs(expected).max()), 1e-9))
