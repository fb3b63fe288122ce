"""Whether a plan of fusion keeps what a network computes, on every level, and what it costs.

The judge is float64. A result may be off by what rounding makes of the network as it is: `spread`
says how far apart the float64 results of runs are whose every operator is rounded at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fusec.accuracy.inputs import input_types
from fusec.api import CompileOptions, Model, compile, fuse
from fusec.config.fusion_options import FusionOptions
from fusec.explain import explain
from fusec.semantics.dtypes import Array
from fusec.semantics.interpreter import Interpreter
from fusec.semantics.types import numpy_type
from fusec.semantics.weights import WeightStore
from fusec.simulator.witness import witness
from fusec_dialects.graph import CallOp, GraphOp
from fusec_dialects.graph.base import tensor_type
from graph_modules import parse, random_array

EPSILON = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Half a unit in the last place of one."""

MARGIN = 16.0
"""How many times the network's own rounding a result may be off."""

OWN_MARGIN, OWN_SHARE = 1e-9, 1e-4
"""In float64 on another level, where weights are folded and sums reordered: of the largest value,
and of what the network's own rounding allows."""

ABSOLUTE = ("tanh", "erf")
"""What kernels compute with an error that is small beside one, not beside the result."""


class _Rounded(Interpreter):
    """Each operator's floating results are moved by up to one rounding of their type."""

    def __init__(self, model: Model, seed: int) -> None:
        super().__init__(model.module, model.weights, oracle=True)
        self._rng = np.random.default_rng(seed)

    def _evaluate(self, op: GraphOp, operands: Sequence[Array]) -> Sequence[Array]:
        results = super()._evaluate(op, operands)
        found: list[Array] = []
        for result, array in zip(op.results, results, strict=True):
            size = EPSILON.get(numpy_type(tensor_type(result).element_type).name)
            if size is not None:
                noise = size * self._rng.uniform(-1, 1, array.shape)
                array = array + noise * (1 if op.op_name in ABSOLUTE else array)
            found.append(np.asarray(array))
        return found


@dataclass
class Judged:
    """A network with what its outputs are, and how far each may be off (None: not to be judged)."""

    model: Model
    inputs: dict[str, Array]
    exact: dict[str, Array]
    limits: dict[str, float | None]

    @staticmethod
    def of(text: str, weights: Mapping[str, Array], seed: int = 0) -> Judged:
        """From a module's text; inputs are drawn."""
        model = Model(parse(text), WeightStore(dict(weights)))
        rng = np.random.default_rng(seed)
        inputs = {n: random_array(rng, t) for n, t in input_types(model.module).items()}
        exact = model.run(inputs, oracle=True)
        runs = [model.run(inputs), *(_Rounded(model, i).run(inputs) for i in range(3))]
        return Judged(model, inputs, exact, {n: _limit(n, exact, runs) for n in exact})

    def check(self, found: Mapping[str, Array], where: str, *, exact: bool = False) -> None:
        """AssertionError where an output is off; `exact`: found was computed in float64."""
        assert set(found) == set(self.exact)
        for name, limit in self.limits.items():
            wanted = self.exact[name]
            assert found[name].shape == wanted.shape, f"{where}: {name}"
            if limit is None:
                continue
            most = limit
            if exact:
                most = max(OWN_MARGIN * _size(wanted), limit * OWN_SHARE)
            off = _distance(found[name], wanted)
            assert off <= most, f"{where}: output {name} is off by {off}, allowed {most}"


def _limit(
    name: str, exact: Mapping[str, Array], runs: Sequence[Mapping[str, Array]]
) -> float | None:
    """Allowed distance of an output from the exact one."""
    wanted = exact[name]
    spread = max(_distance(run[name], wanted) for run in runs)
    if wanted.dtype.kind != "f":
        return 0.0 if spread == 0 else None
    if not np.isfinite(spread):
        return None
    size = EPSILON.get(runs[0][name].dtype.name, 0.0)
    return MARGIN * spread + 4 * size * _size(wanted)


def _distance(a: Array, b: Array) -> float:
    """max|a - b|; infinite where only one is finite, or infinities differ."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(x) & np.isfinite(y)
    if not np.array_equal(x[~finite], y[~finite], equal_nan=True):
        return float("inf")
    return float(np.max(np.abs(x[finite] - y[finite]), initial=0.0))


def _size(array: Array) -> float:
    values = array[np.isfinite(array)]
    return float(np.max(np.abs(values), initial=0.0))


def check_plan(judged: Judged, options: FusionOptions, *, npu: bool) -> None:
    """The fused graph in float64 and in its types; with `npu` the placed kernels in its place, and
    that they race nowhere and stay in their buffers.
    """
    where = f"{options.strategy}, {options.objective}"
    wanted = CompileOptions(fusion=options)
    if not npu:
        fused = fuse(judged.model, wanted)
        calls = [op for op in fused.module.walk() if isinstance(op, CallOp)]
        assert all(any(r.first_use for r in op.results) for op in calls), "a kernel for nothing"
        judged.check(fused.run(judged.inputs, oracle=True), f"{where}, fused, float64", exact=True)
        judged.check(fused.run(judged.inputs), f"{where}, fused")
        return
    compiled = compile(judged.model, wanted)
    judged.check(compiled.run(judged.inputs, "fused"), f"{where}, fused")
    judged.check(compiled.run(judged.inputs), f"{where}, npu")
    violations = list(map(str, witness(compiled.npu, arrays=judged.inputs)))
    assert not violations, f"{where}: {violations[:3]}"


def modelled_us(judged: Judged, options: FusionOptions) -> float | None:
    """Modelled time of a plan by the planner's own model; None where a group has no kernel."""
    groups = explain(judged.model, CompileOptions(fusion=options)).groups
    times = [group.us for group in groups if group.us is not None]
    return sum(times) if len(times) == len(groups) else None
