"""The inputs of a model by name: their types, the check of given ones, seeded ones.

Seeded floats are normal; integers that index a table lie inside of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, SSAValue

from fusec.semantics.classes import FusionClass, fusion_class
from fusec.semantics.dtypes import Array
from fusec.semantics.interpreter import GraphError, argument_names, check_input, main_function
from fusec.semantics.types import numpy_type
from fusec.semantics.weights import seeded_input
from fusec_dialects.graph import CallOp, FusedOp, GraphOp, KernelOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.movement import GatherElementsOp, GatherOp


def input_types(module: ModuleOp) -> dict[str, TensorType[Attribute]]:
    """Types of the inputs of `main` by name, on any level."""
    main = main_function(module)
    found: dict[str, TensorType[Attribute]] = {}
    attrs = () if main.arg_attrs is None else main.arg_attrs.data
    names = argument_names(main)
    for i, argument in enumerate(main.body.block.args):
        if isinstance(argument.type, MemRefType):
            type_ = cast(MemRefType[Attribute], argument.type)
            name = attrs[i].data.get("npu.input") if i < len(attrs) else None
            if isinstance(name, StringAttr):
                found[name.data] = TensorType(type_.element_type, type_.get_shape())
        elif isinstance(argument.type, TensorType):
            found[names[i] or str(i)] = tensor_type(argument)
    return found


def check_inputs(module: ModuleOp, inputs: Mapping[str, Array]) -> None:
    """Raises GraphError where an input is missing or of another type or shape."""
    for name, type_ in input_types(module).items():
        check_input(name, inputs, type_)


def table_size(value: SSAValue) -> int | None:
    """The length of the smallest table that a value indexes, also through views and in groups."""
    return min(_table_sizes(value), default=None)


def _table_sizes(value: SSAValue) -> Iterator[int]:
    for use in value.uses:
        op = use.operation
        if isinstance(op, GatherOp | GatherElementsOp) and use.index == 1:
            shape = tensor_type(op.x).get_shape()
            yield shape[op.axis.value.data % len(shape)]
        elif isinstance(op, FusedOp):
            yield from _table_sizes(op.body.block.args[use.index])
        elif isinstance(op, CallOp):
            kernel = _kernel(op)
            if kernel is not None:
                yield from _table_sizes(kernel.body.block.args[use.index])
        elif isinstance(op, GraphOp) and (
            fusion_class(op.op_name) == FusionClass.VIEW or op.op_name in _SAME_VALUES
        ):
            yield from _table_sizes(op.results[0])


_SAME_VALUES = ("cast", "transpose", "slice", "expand", "concat")


def _kernel(call: CallOp) -> KernelOp | None:
    module = call
    while (above := module.parent_op()) is not None:
        module = above
    name = call.callee.string_value()
    for op in module.regions[0].block.ops:
        if isinstance(op, KernelOp) and op.sym_name.data == name:
            return op
    return None


def seeded_inputs(module: ModuleOp, seed: int) -> dict[str, Array]:
    """Inputs of `main` by name. Raises GraphError where a shape is dynamic."""
    types = input_types(module)
    arguments = main_function(module).body.block.args
    found: dict[str, Array] = {}
    for (name, type_), argument in zip(types.items(), arguments, strict=False):
        if not type_.has_static_shape():
            raise GraphError(
                f"input '{name}' is {type_}; give it a static shape by --shape {name}=AxB"
            )
        high = table_size(argument)
        dtype = numpy_type(type_.element_type)
        found[name] = seeded_input(name, seed, type_.get_shape(), dtype, high)
    return found
