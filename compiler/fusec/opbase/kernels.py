"""Own kernels: how long one takes, and whether it computes what it should, before it is used.

In: an operator with a `lower`, its types and a target. Out: the modelled time of its placed kernel,
or a Refusal where it has none for these types. One that computes something else is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import DiagnosticException

from fusec.hw import Target
from fusec.lowering.own import emit
from fusec.opbase.symbols import FusionError
from fusec.pipelines import STAGES
from fusec.schedule.own import Lower, OwnSchedule, Unsupported
from fusec.schedule.types import Refusal
from fusec.schedule.work import Estimate
from fusec.semantics import Array, evaluate, np_dtype
from fusec.semantics.dtypes import is_floating
from fusec.semantics.interpreter import semantic_attrs
from fusec.semantics.types import NUMPY_NAMES, numpy_type, tensor_bytes
from fusec.semantics.weights import seeded_input
from fusec_dialects.errors import DoesNotFitError
from fusec_dialects.graph import GraphOp, KernelOp, YieldOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.place import place

TOLERANCE = {"float64": 1e-9, "float32": 2e-5, "float16": 2e-3, "bfloat16": 1.6e-2}
"""Error allowed by the element type, relative to the largest value: a few roundings."""

MARGIN = 2.0
"""Beside that, the kernel may be this much further off than the operators one by one are."""

INDEX, INTEGER = 2, 100
"""Integers are drawn below this: beside floats they may be indices, alone they are numbers."""


@dataclass
class KernelCheck:
    """Answers for one kernel, by types, attributes and target."""

    name: str
    lower: Lower
    _known: dict[object, Estimate | Refusal] = field(default_factory=dict[object, Any])

    def estimate(self, op: GraphOp, target: Target) -> Estimate | Refusal:
        """The modelled time; raises FusionError for a kernel that fails or computes otherwise."""
        types = (*(o.type for o in op.operands), *(r.type for r in op.results))
        key = (types, tuple(sorted(op.properties.items())), target)
        if (found := self._known.get(key)) is None:
            found = self._known[key] = self._ask(op, target)
        return found

    def _ask(self, op: GraphOp, target: Target) -> Estimate | Refusal:
        if not all(tensor_type(v).has_static_shape() for v in (*op.operands, *op.results)):
            return Refusal(
                "dynamic-shape",
                f"{place(op)}: a kernel of yours is built for shapes that are known",
            )
        try:
            function, workspaces = self._placed(op, target)
        except Unsupported as error:
            return Refusal("own-unsupported", f"{place(op)}: {error}")
        except DoesNotFitError as error:
            return Refusal("own-capacity", f"{place(op)}: {error}")
        except DiagnosticException as error:
            raise FusionError(
                f"{self.name}: its lower is no kernel for {target.name}: {error}"
            ) from (error)
        self._check(op, function, workspaces)
        return _timed(op, function, target)

    def _placed(self, op: GraphOp, target: Target) -> tuple[FuncOp, list[Array]]:
        """The placed kernel of a copy of the operator, and its workspaces."""
        from fusec.universe import FUSEC_UNIVERSE

        made = emit(_kernel(op), OwnSchedule(self.name), target)
        module = ModuleOp([made.func], {"npu.target": StringAttr(target.source or target.name)})
        passes = STAGES["compile"]
        for name in passes[passes.index("npu-multi-buffer") :]:
            FUSEC_UNIVERSE.all_passes[name]()().apply(Context(), module)
        return made.func, [
            np.zeros(w.shape, np_dtype(NUMPY_NAMES[w.dtype])) for w in made.workspaces
        ]

    def _check(self, op: GraphOp, function: FuncOp, workspaces: Sequence[Array]) -> None:
        """Raises FusionError where the kernel races, or gives other numbers than the operator."""
        from fusec.simulator.errors import SimulationError
        from fusec.simulator.functional import run_kernel
        from fusec.simulator.witness import witness

        high = INDEX if any(is_floating(_dtype(o)) for o in op.operands) else INTEGER
        inputs = [
            seeded_input(f"in{i}", 0, tensor_type(o).get_shape(), _dtype(o), high)
            for i, o in enumerate(op.operands)
        ]
        results = [np.zeros(tensor_type(r).get_shape(), _dtype(r)) for r in op.results]
        try:
            run_kernel(function, [*inputs, *results, *workspaces])
            verdict = witness(function, arrays=[*inputs, *results, *workspaces])
        except SimulationError as error:
            raise FusionError(f"{self.name}: its lower cannot run: {error}") from error
        if verdict:
            raise FusionError(f"{self.name}: its lower is wrong: {verdict[0]}")
        attrs = semantic_attrs(op)
        right = evaluate(op.op_name, inputs, attrs, oracle=True)
        rounded = evaluate(op.op_name, inputs, attrs)
        for i, (found, oracle, plain) in enumerate(zip(results, right, rounded, strict=True)):
            if (fault := _fault(found, oracle, plain)) is not None:
                given = ", ".join(str(o.type) for o in op.operands)
                raise FusionError(
                    f"{self.name}: its lower does not compute its compute: output {i} of ({given}) "
                    f"{fault}, on seeded inputs"
                )


def _dtype(value: Any) -> np.dtype[Any]:
    return numpy_type(tensor_type(value).element_type)


def _kernel(op: GraphOp) -> KernelOp:
    """A kernel of the operator alone."""
    block = Block(arg_types=[o.type for o in op.operands])
    copy = op.clone(dict(zip(op.operands, block.args, strict=False)))
    for i, argument in enumerate(block.args):
        copy.operands[i] = argument
    block.add_ops([copy, YieldOp(copy.results)])
    type_ = FunctionType.from_lists([a.type for a in block.args], [r.type for r in copy.results])
    return KernelOp("own", op.op_name, type_, Region(block))


def _timed(op: GraphOp, function: FuncOp, target: Target) -> Estimate:
    from fusec.simulator.timing import time_kernel

    timing = time_kernel(function, target)
    us = max(timing.us, target.floor_us[timing.kind])
    size = sum(tensor_bytes(v.type) for v in (*dict.fromkeys(op.operands), *op.results))
    return Estimate(us, timing.cycles, size, timing.hbm_bytes, timing.kind)


def _fault(found: Array, oracle: Array, plain: Array) -> str | None:
    """What is wrong with a result; None where it is as near as the operator itself."""
    if not is_floating(found.dtype):
        wrong = np.argwhere(found != oracle)
        return (
            None if not len(wrong) else _first(found, oracle, wrong, f"differs {len(wrong)} times")
        )
    a, b, c = (x.astype(np.float64) for x in (found, oracle, plain))
    with np.errstate(invalid="ignore"):
        error = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
        other = np.where((c == b) | (np.isnan(c) & np.isnan(b)), 0.0, np.abs(c - b))
    error, other = (np.nan_to_num(e, nan=np.inf) for e in (error, other))
    largest = float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0)) or 1.0
    allowed = TOLERANCE[found.dtype.name] * largest + MARGIN * float(np.max(other, initial=0.0))
    worst = float(np.max(error, initial=0.0))
    if worst <= allowed:
        return None
    what = f"is off by {worst:.3g}, allowed are {allowed:.3g}"
    return _first(found, oracle, np.argwhere(error > allowed), what)


def _first(found: Array, oracle: Array, wrong: Array, what: str) -> str:
    at = tuple(int(i) for i in wrong[0])
    return f"{what} (at {list(at)} {found[at]:.6g} in place of {oracle[at]:.6g})"
