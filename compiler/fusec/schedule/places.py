"""Where the values of `main` live when concats and slices stand outside of kernels: in one buffer.

In: the block of `main` after graph-in-place. Out: for each value that is a part of another's buffer
its access there. Operands of a concat live in its result, results of slices in their operand.
"""

from __future__ import annotations

from math import prod

from xdsl.ir import Block, SSAValue
from xdsl.utils.exceptions import PassFailedException

from fusec.schedule.memory import Strides
from fusec.schedule.types import RefusalError
from fusec.schedule.views import RESHAPES, Access, apply, checked, part, undo, whole
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.movement import ConcatOp, SliceOp, SplitOp
from fusec_dialects.graph.shapes import normal_axis
from fusec_dialects.place import place


class PlacesError(PassFailedException):
    """`value` cannot lie where concats and slices put it."""

    def __init__(self, op: GraphOp, value: SSAValue, why: RefusalError) -> None:
        super().__init__(f"{place(op)}: {why.refusal}")
        self.value = value


class Places:
    """The accesses of the values that live in another value's buffer, by value."""

    def __init__(self, block: Block) -> None:
        """Raises PlacesError where a value would live in two places, or in none."""
        self._found: dict[SSAValue, Access] = {}
        ops = [op for op in block.ops if isinstance(op, GraphOp)]
        for op in reversed(ops):
            try:
                self._above(op)
            except RefusalError as error:
                raise PlacesError(op, op.results[0], error) from error
        for op in ops:
            try:
                self._below(op)
            except RefusalError as error:
                raise PlacesError(op, self._wrong(op), error) from error

    def get(self, value: SSAValue) -> Access | None:
        """Where a value lies in another's buffer; None where it has a buffer of its own."""
        return self._found.get(value)

    def strides(self, value: SSAValue) -> Strides | None:
        """Strides of a part that is not one run of memory; None for all other values."""
        found = self._found.get(value)
        return None if found is None or is_run(found) else strides_of(found)

    def is_strided(self, value: SSAValue) -> bool:
        """Whether a value is a part that is not one run of memory."""
        found = self._found.get(value)
        return found is not None and not is_run(found)

    @staticmethod
    def _wrong(op: GraphOp) -> SSAValue:
        return op.operands[0] if op.op_name in RESHAPES else op.results[0]

    def of(self, value: SSAValue) -> Access:
        """Where a value lies, be it in a buffer of its own."""
        return self._found.get(value) or checked(whole(value))

    def _above(self, op: GraphOp) -> None:
        """From results to operands: concats, and the reshapes that lead to them."""
        if isinstance(op, ConcatOp):
            into = self.of(op.y)
            axis = normal_axis(op.axis.value.data, len(into.dims))
            begin = 0
            for value in op.inputs:
                size = tensor_type(value).get_shape()[axis]
                self._put(value, checked(part(into, axis, range(begin, begin + size))))
                begin += size
        elif op.op_name in RESHAPES and (found := self._found.get(op.results[0])) is not None:
            self._put(op.operands[0], checked(undo(op, found)))

    def _put(self, value: SSAValue, access: Access) -> None:
        if value in self._found:
            raise RefusalError("two-places", "a value would live in two buffers; copy it for one")
        self._found[value] = access

    def _below(self, op: GraphOp) -> None:
        """From operands to results: slices, and views of parts."""
        source = op.operands[0] if op.operands else None
        if source is None:
            return
        if isinstance(op, SplitOp):
            access, begin = self.of(source), 0
            axis = normal_axis(op.axis.value.data, len(access.dims))
            for value, size in zip(op.outputs, op.sizes.get_values(), strict=True):
                self._put(value, checked(part(access, axis, range(begin, begin + size))))
                begin += size
        elif isinstance(op, SliceOp):
            self._put(op.y, checked(apply(op, self.of(source))))
        elif op.op_name in RESHAPES and source in self._found:
            self._found.setdefault(op.results[0], checked(apply(op, self._found[source])))


def is_run(access: Access) -> bool:
    """Whether the elements lie one behind the other, without gaps and in order."""
    step = 1
    for dim in reversed(access.dims):
        for one in reversed(dim):
            if one.stride != step:
                return False
            step *= one.size
    return True


def strides_of(access: Access) -> Strides | None:
    """A positive stride for each dimension; None where one has several."""
    found: list[int] = []
    step = 1
    for parts in reversed(access.dims):
        if len(parts) > 1 or any(p.stride < 1 for p in parts):
            return None
        if parts:
            step = parts[0].stride
        found.append(step)
        step *= prod(p.size for p in parts)
    return tuple(reversed(found))
