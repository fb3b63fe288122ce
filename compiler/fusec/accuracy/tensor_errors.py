"""How far each tensor that survives a level is from the same tensor of the model.

The model is run in float64 and, without fusion, in its own types. A tensor is over the tolerance
where its error against float64 is larger than that of the run without fusion by more than the
tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from math import prod
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from fusec.accuracy.compare import Difference, difference
from fusec.accuracy.surviving import Survivor, names_of, survivors, watch_graph
from fusec.semantics.dtypes import Array
from fusec.semantics.interpreter import Interpreter, Watch, main_function
from fusec_dialects.graph import GraphOp, OpaqueOp

Arrange: TypeAlias = Callable[[Array], Array]

SAME = 1e-6
"""Two values in float64 whose largest distance is below this part of the largest are one tensor:
weights are folded and sums reordered, nothing else."""

MOST_AXES = 5
"""Of tensors whose axes are permuted to find out how they lie."""


@dataclass(frozen=True)
class TensorError:
    """Errors of one tensor against float64, and against the run without fusion.

    `unfused_rel_error` is that run's own error against float64. A tensor that fusion made up (like
    joined Q, K and V) is compared with the fused operators instead: `own`.
    """

    tensor: Survivor
    float64: Difference
    unfused: Difference
    unfused_rel_error: float
    own: bool

    def excess(self) -> float:
        """By how much the error is larger than without fusion; both relative to the largest."""
        error = self.float64.max_rel_error
        return error if error == float("inf") else error - self.unfused_rel_error


@dataclass
class _Reference:
    """What a surviving tensor should be: exact, and as computed without fusion."""

    tensor: Survivor
    exact: Array
    plain: Array
    own: bool = False


@dataclass
class Survey:
    """Collects the errors of the tensors that survive a level, in the order they are made.

    `lowered` is the module whose operators make them: the fused one also for level npu, the graph
    itself for level graph. After `prepare`, `seen` is what a run of the level calls, and `outputs`
    has the outputs of the model in float64.
    """

    graph: ModuleOp
    lowered: ModuleOp
    weights: Mapping[str, Array]
    inputs: Mapping[str, Array]
    errors: list[TensorError] = field(default_factory=list[TensorError])
    outputs: dict[str, Array] = field(default_factory=dict[str, Array])
    _references: list[_Reference] = field(default_factory=list[_Reference])

    def prepare(self) -> None:
        """Runs the model and the lowered module in float64 and in their types."""
        if self.lowered is self.graph:
            exact, plain = (self._survivors(oracle) for oracle in (True, False))
            pairs = zip(exact, plain, strict=True)
            self._references = [_Reference(t, array, other) for (t, array), (_, other) in pairs]
            return
        model = self._model()
        for tensor, array in self._survivors(oracle=True):
            found = _counterpart(tensor, array, model)
            self._references.append(found or _Reference(tensor, array, array, own=True))
        if any(reference.own for reference in self._references):
            made = zip(self._references, self._survivors(oracle=False), strict=True)
            for reference, (_, array) in made:
                reference.plain = array if reference.own else reference.plain

    def seen(self, tensor: Survivor, array: Array) -> None:
        """The level has made its next tensor."""
        reference = self._references[len(self.errors)]
        exact, plain = reference.exact, reference.plain
        name = reference.tensor.name
        self.errors.append(
            TensorError(
                reference.tensor,
                difference(name, array, exact),
                difference(name, array, plain),
                difference(name, plain, exact).max_rel_error,
                reference.own,
            )
        )

    def over(self, tolerance: float) -> list[TensorError]:
        """The tensors over the tolerance, the first one first."""
        return [error for error in self.errors if error.excess() > tolerance]

    def _survivors(self, oracle: bool) -> list[tuple[Survivor, Array]]:
        """The tensors that the lowered module leaves, in order."""
        found: list[tuple[Survivor, Array]] = []
        watch = watch_graph(self.lowered, lambda tensor, array: found.append((tensor, array)))
        outputs = self._run(self.lowered, watch, oracle)
        if oracle and self.lowered is self.graph:
            self.outputs = outputs
        return found

    def _model(self) -> dict[str, list[_Value]]:
        """Values of the model by the names that surviving tensors may have there; of a node that is
        imported in parts there are several.
        """
        made = (tensor for several in survivors(self.lowered).values() for tensor in several)
        wanted = {name for tensor in made for name in tensor.names}
        names: dict[Operation, list[tuple[str, ...]]] = {}
        for op in main_function(self.graph).body.block.ops:
            if isinstance(op, GraphOp | OpaqueOp):
                found = [names_of(op, i) for i in range(len(op.results))]
                names[op] = [tuple(n for n in several if n in wanted) for several in found]
        values: dict[str, list[_Value]] = {}
        kept: list[_Value] = []

        def exact(op: Operation, results: Sequence[Array]) -> None:
            for called, array in zip(names.get(op, ()), results, strict=False):
                if called:
                    kept.append(_Value(array, array))
                for name in called:
                    values.setdefault(name, []).append(kept[-1])

        self.outputs = self._run(self.graph, exact, oracle=True)
        rest = iter(kept)

        def plain(op: Operation, results: Sequence[Array]) -> None:
            for called, array in zip(names.get(op, ()), results, strict=False):
                if called:
                    next(rest).plain = array

        self._run(self.graph, plain, oracle=False)
        return values

    def _run(self, module: ModuleOp, watch: Watch, oracle: bool) -> dict[str, Array]:
        run = Interpreter(module, self.weights, oracle=oracle, watch=watch)
        return run.run(self.inputs)


@dataclass
class _Value:
    """A value of the model: in float64, and in its type."""

    exact: Array
    plain: Array


def _counterpart(
    tensor: Survivor, array: Array, model: Mapping[str, Sequence[_Value]]
) -> _Reference | None:
    """The model's tensor that a surviving one, `array` in float64, is.

    Where the lowered operators do not compute it, it is what they say it is (`known`), in the
    arrangement that comes nearest; a node alone says nothing of a value.
    """
    nearest, best = float("inf"), None
    for name in tensor.names:
        for value in model.get(name, ()):
            for arrange in _arrangements(value.exact.shape, array.shape):
                exact = arrange(value.exact)
                off = difference("", array, exact).max_rel_error
                if off <= SAME or best is None or off < nearest:
                    named = tensor if tensor.known or off > SAME else replace(tensor, name=name)
                    nearest, best = off, _Reference(named, exact, arrange(value.plain))
                if off <= SAME:
                    return best
    return best if tensor.known else None


def _arrangements(given: tuple[int, ...], wanted: tuple[int, ...]) -> Iterator[Arrange]:
    """The ways in which a tensor may lie: as it is, in another shape, its axes in another order.

    Orders that give the wanted shape come first.
    """
    if prod(given) != prod(wanted):
        return
    yield lambda array: array.reshape(wanted)
    axes = [axis for axis, size in enumerate(given) if size != 1]
    if len(axes) > MOST_AXES:
        return
    ones = [axis for axis, size in enumerate(given) if size == 1]
    sizes = [size for size in wanted if size != 1]
    orders = [order for order in permutations(axes) if list(order) != axes]
    for order in sorted(orders, key=lambda order: [given[axis] for axis in order] != sizes):
        whole = (*order, *ones)
        yield lambda array, whole=whole: np.transpose(array, whole).reshape(wanted)
