"""What groups cost, or why they are refused, when their tensors lie in larger buffers.

In: a group and the places of all values. Answers are kept by structure and strides.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from fusec.fusion.in_place_edges import values_of
from fusec.graph.outline import structure
from fusec.hw import Target
from fusec.schedule.known import answer, refused
from fusec.schedule.memory import Strides
from fusec.schedule.places import Places
from fusec.schedule.types import Refusal
from fusec_dialects.graph import FusedOp

Ports = tuple[tuple[Strides | None, ...], tuple[Strides | None, ...]]


class PortCosts:
    """Asks and remembers for one target."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._keys: dict[FusedOp, object] = {}
        self._known: dict[object, float | Refusal] = {}
        self._refused: dict[object, bool] = {}

    def strides(self, op: FusedOp, places: Places | None) -> Ports:
        """Strides of inputs and results; None for what is one run of memory."""
        if places is None:
            return ((None,) * len(op.inputs), (None,) * len(op.results))
        return (
            tuple(places.strides(v) for v in op.inputs),
            tuple(places.strides(v) for v in op.results),
        )

    def strided(self, op: FusedOp, places: Places) -> list[SSAValue]:
        """The tensors of a group that are not one run of memory."""
        return [v for v in dict.fromkeys(values_of(op)) if places.is_strided(v)]

    def refused(self, op: FusedOp, places: Places) -> list[SSAValue]:
        """The tensors that cannot lie where they lie; none where the group takes them all."""
        strided = self.strided(op, places)
        if not strided:
            return []
        without = [v for v in strided if places.strides(v) is None]
        if without:
            return without
        inputs, outputs = self.strides(op, places)
        if not self._is_refused(op, (inputs, outputs)):
            return []
        wrong: list[SSAValue] = []
        for value in strided:
            ports = (
                tuple(s if v is value else None for v, s in zip(op.inputs, inputs, strict=True)),
                tuple(s if v is value else None for v, s in zip(op.results, outputs, strict=True)),
            )
            if self._is_refused(op, ports):
                wrong.append(value)
        return wrong or strided

    def cost(self, op: FusedOp, places: Places | None) -> float:
        """Modelled µs of a group; infinite where it has no kernel."""
        answer = self._answer(op, self.strides(op, places))
        return float("inf") if isinstance(answer, Refusal) else answer

    def _is_refused(self, op: FusedOp, ports: Ports) -> bool:
        key = self._key(op, ports)
        if key in self._known:
            return isinstance(self._known[key], Refusal)
        if key not in self._refused:
            strides = self._strides(op, ports)
            self._refused[key] = isinstance(strides, Refusal) or (
                refused(op.body.block, self._target, strides) is not None
            )
        return self._refused[key]

    def _answer(self, op: FusedOp, ports: Ports) -> float | Refusal:
        key = self._key(op, ports)
        if key not in self._known:
            self._known[key] = self._ask(op, ports)
        return self._known[key]

    def _key(self, op: FusedOp, ports: Ports) -> object:
        if op not in self._keys:
            self._keys[op] = structure(op.body.block)
        return (self._keys[op], ports)

    def _ask(self, op: FusedOp, ports: Ports) -> float | Refusal:
        strides = self._strides(op, ports)
        if isinstance(strides, Refusal):
            return strides
        found = answer(op.body.block, self._target, strides)
        return found if isinstance(found, Refusal) else found.estimate.us

    def _strides(self, op: FusedOp, ports: Ports) -> dict[SSAValue, Strides] | Refusal:
        """How the values of a group's block lie, or why they cannot."""
        block, (inputs, outputs) = op.body.block, ports
        strides: dict[SSAValue, Strides] = {}
        for values, given in ((block.args, inputs), (op.yielded, outputs)):
            for value, one in zip(values, given, strict=True):
                if one is not None and strides.setdefault(value, one) != one:
                    return Refusal("two-places", "one value is stored to two places")
        if any(op.yielded.count(v) > 1 or v.owner is block for v in op.yielded if v in strides):
            return Refusal("two-places", "an input or a result stored twice cannot be in place")
        return strides
