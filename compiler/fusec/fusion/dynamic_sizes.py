"""A group with dynamic sizes, asked about as one of static sizes: whether it may be a kernel.

Sizes of one name are equal; all others are taken as different numbers, none of them round, and the
sizes of results follow. What needs two of them to be equal, or one to be 1, is refused: nothing
proves it.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from fusec.schedule.types import Refusal
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.shapes import refined
from fusec_dialects.graph.sizes import UNNAMED, dims_of, make_type
from fusec_dialects.place import place

NUMBERS = tuple(n for n in range(61, 500) if all(n % d for d in range(2, 23)))
"""What sizes stand for, in the order in which they occur: primes, so that tails are there."""


def give_sizes(block: Block) -> Refusal | None:
    """Puts numbers for the dynamic sizes of a block; the refusal says what is not proved.

    A block without dynamic sizes stays as it is.
    """
    if all(tensor_type(v).has_static_shape() for v in _values(block)):
        return None
    sizes = _Sizes()
    for argument in block.args:
        _set(argument, sizes.of(tensor_type(argument), unnamed=True))
    for op in block.ops:
        for result in op.results:
            _set(result, sizes.of(tensor_type(result), unnamed=False))
        if not isinstance(op, GraphOp):
            continue
        try:
            types = refined(op)
        except VerifyException as error:
            return Refusal(
                "dynamic-shape",
                f"{place(op)}: nothing says that its sizes agree: with {sizes}: {error}; name them "
                "alike, or fix them with --shape NAME=AxB",
            )
        for result, type_ in zip(op.results, types, strict=True):
            if not type_.has_static_shape():
                return Refusal(
                    "dynamic-shape",
                    f"{place(op)}: {type_} has a size that follows from nothing; name it, or fix "
                    "it with --shape NAME=AxB",
                )
            _set(result, type_)
    return None


class _Sizes:
    """Numbers by name; a size without a name has one of its own."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}

    def __str__(self) -> str:
        return ", ".join(f"{name} = {size}" for name, size in self._names.items())

    def of(self, type_: TensorType[Attribute], *, unnamed: bool) -> TensorType[Attribute]:
        """The type with numbers for its named sizes, and for the `unnamed` ones if asked for."""
        if type_.has_static_shape():
            return type_
        dims = [
            self._number(d) if isinstance(d, str) and (d != UNNAMED or unnamed) else d
            for d in dims_of(type_)
        ]
        return make_type(type_.element_type, tuple(dims))

    def _number(self, name: str) -> int:
        if name == UNNAMED:
            name = f"?{len(self._names)}"
        number = NUMBERS[len(self._names) % len(NUMBERS)]
        return self._names.setdefault(name, number)


def _values(block: Block) -> Iterable[SSAValue]:
    yield from block.args
    for op in block.ops:
        yield from op.results


def _set(value: SSAValue, type_: Attribute) -> None:
    if value.type != type_:
        Rewriter.replace_value_with_new_type(value, type_)
