"""Adds constants to a module's `@weights`, as results that are looked up by name.

In: the constants that kernels and the host function read. Out: `func.func @weights` with one more
result for each, named by `graph.name`; it is made where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
    IntegerType,
    LocationAttr,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from fusec.lowering.emitted import KernelConstant
from fusec.lowering.layout import scalar_type
from fusec_dialects.graph import ConstantOp
from fusec_dialects.graph.movement import EyeLikeOp

FUNCTION = "weights"
NAME = "graph.name"


def add_constants(
    module: ModuleOp, constants: Sequence[KernelConstant], location: LocationAttr
) -> None:
    """Appends the constants to `@weights`; names that it already has are left as they are."""
    if not constants:
        return
    weights = _function(module, location)
    end = weights.body.block.last_op
    if not isinstance(end, ReturnOp):
        return
    attrs = list(weights.res_attrs or ())
    attrs += [DictionaryAttr({}) for _ in end.operands[len(attrs) :]]
    known = {str(name) for a in attrs if (name := a.data.get(NAME)) is not None}
    values: list[SSAValue] = list(end.operands)
    for constant in constants:
        name = StringAttr(constant.name)
        if str(name) in known:
            continue
        known.add(str(name))
        op = constant_op(constant)
        op.location = location
        weights.body.block.insert_op_before(op, end)
        values.append(op.results[0])
        attrs.append(DictionaryAttr({NAME: name}))
    end.operands = values
    types = [value.type for value in values]
    weights.properties["function_type"] = FunctionType.from_lists([], types)
    weights.properties["res_attrs"] = ArrayAttr(attrs)


def constant_op(constant: KernelConstant) -> Operation:
    """The graph operator that makes a constant."""
    type_ = TensorType(cast("AnyFloat | IntegerType", scalar_type(constant.dtype)), constant.shape)
    if constant.data is None:
        return EyeLikeOp.make([], [type_])
    return ConstantOp(DenseIntOrFPElementsAttr(type_, BytesAttr(constant.data.tobytes())))


def _function(module: ModuleOp, location: LocationAttr) -> FuncOp:
    for op in module.body.block.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == FUNCTION:
            return op
    made = FuncOp(FUNCTION, ((), ()))
    made.location = location
    end = ReturnOp()
    end.location = location
    made.body.block.add_op(end)
    module.body.block.add_op(made)
    return made
