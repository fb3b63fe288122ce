"""How the tensors of a kernel lie in gm where they are parts of larger buffers.

In: the attributes `graph.input_strides` and `graph.output_strides` of a group or kernel, one entry
for each tensor: `unit` (contiguous), or its strides in elements, `array<i64: ...>`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from fusec_dialects.graph import FusedOp, KernelOp, YieldOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.place import place

INPUTS, OUTPUTS = "graph.input_strides", "graph.output_strides"

Strides: TypeAlias = tuple[int, ...]


def strides_of(op: FusedOp | KernelOp) -> dict[SSAValue, Strides]:
    """The strides of block arguments and yielded values that are not contiguous.

    Raises VerifyException for attributes of another form.
    """
    if INPUTS not in op.attributes and OUTPUTS not in op.attributes:
        return {}
    block = op.body.block
    end = block.last_op
    yielded = tuple(end.operands) if isinstance(end, YieldOp) else ()
    found: dict[SSAValue, Strides] = {}
    for name, values in ((INPUTS, tuple(block.args)), (OUTPUTS, yielded)):
        for value, strides in zip(values, _entries(op, name, values), strict=True):
            if strides is None:
                continue
            if found.setdefault(value, strides) != strides or values.count(value) > 1:
                raise VerifyException(f"{place(op)}: {name}: one value has two places")
    return found


def _entries(op: Operation, name: str, values: Sequence[SSAValue]) -> Iterator[Strides | None]:
    attr = op.attributes.get(name)
    if attr is None:
        yield from (None for _ in values)
        return
    entries = cast("ArrayAttr[Attribute]", attr).data if isinstance(attr, ArrayAttr) else ()
    if not isinstance(attr, ArrayAttr) or len(entries) != len(values):
        raise VerifyException(
            f"{place(op)}: {name} is an array with an entry for each of {len(values)} tensors: "
            "unit, or array<i64: strides>"
        )
    for entry, value in zip(entries, values, strict=True):
        yield None if isinstance(entry, UnitAttr) else _strides(op, name, entry, value)


def _strides(op: Operation, name: str, entry: Attribute, value: SSAValue) -> Strides:
    rank = len(tensor_type(value).get_shape())
    given = tuple(map(int, entry.get_values())) if isinstance(entry, DenseArrayBase) else ()
    if len(given) != rank or any(stride < 1 for stride in given):
        raise VerifyException(
            f"{place(op)}: {name}: {value.type} needs {rank} positive strides, found {entry}"
        )
    return given


def put_strides(
    op: FusedOp, inputs: Sequence[Strides | None], outputs: Sequence[Strides | None]
) -> None:
    """Writes the attributes of a group; absent where everything is contiguous."""
    for name, given in ((INPUTS, inputs), (OUTPUTS, outputs)):
        op.attributes.pop(name, None)
        if any(given):
            op.attributes[name] = ArrayAttr(
                [UnitAttr() if s is None else DenseArrayBase.from_list(i64, s) for s in given]
            )
