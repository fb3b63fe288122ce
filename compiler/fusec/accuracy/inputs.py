"""Seeded inputs for a model: normal floats, integers that index a table inside of it."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from fusec.semantics.classes import FusionClass, fusion_class
from fusec.semantics.dtypes import Array
from fusec.semantics.interpreter import GraphError, argument_names
from fusec.semantics.types import numpy_type
from fusec.semantics.weights import seeded_input
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.movement import GatherOp


def table_size(value: SSAValue) -> int | None:
    """The length of the smallest table that a value indexes, directly or through views."""
    sizes: list[int] = []
    for use in value.uses:
        op = use.operation
        if isinstance(op, GatherOp) and use.index == 1:
            shape = tensor_type(op.x).get_shape()
            sizes.append(shape[op.axis.value.data % len(shape)])
        elif isinstance(op, GraphOp) and (
            fusion_class(op.op_name) == FusionClass.VIEW or op.op_name == "cast"
        ):
            inner = table_size(op.results[0])
            sizes += [] if inner is None else [inner]
    return min(sizes, default=None)


def seeded_inputs(module: ModuleOp, seed: int) -> dict[str, Array]:
    """Inputs of `main` by name. Raises GraphError where a shape is dynamic."""
    function = next(
        op for op in module.body.block.ops if isinstance(op, FuncOp) and op.sym_name.data == "main"
    )
    found: dict[str, Array] = {}
    for name, argument in zip(argument_names(function), function.body.block.args, strict=True):
        type_ = argument.type
        if not isinstance(type_, TensorType) or not type_.has_static_shape():
            raise GraphError(
                f"input '{name}' is {type_}; give it a static shape by --shape {name}=AxB"
            )
        tensor = tensor_type(argument)
        found[name] = seeded_input(
            name, seed, tensor.get_shape(), numpy_type(tensor.element_type), table_size(argument)
        )
    return found
