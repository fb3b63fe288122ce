"""graph-infer-shapes: result types follow from operand types; sizes that become known replace `?`.

Raises a diagnostic where an operator's operands contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException, VerifyException

from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.shapes import Shape, dims_of, infer_types, make_type


def _refined(old: Shape, new: Shape) -> Shape:
    """The more precise size of each axis."""
    if len(old) != len(new):
        return new
    return tuple(
        o if isinstance(n, str) and (isinstance(o, int) or n == "?") else n
        for o, n in zip(old, new, strict=True)
    )


def infer_function(function: FuncOp) -> None:
    """Refines the types of one function in program order."""
    for op in function.body.walk():
        if not isinstance(op, GraphOp):
            continue
        try:
            types = infer_types(op)
        except VerifyException as error:
            raise PassFailedException(f"{op.name} at {op.location}: {error}") from error
        for result, type_ in zip(op.results, types or [], strict=False):
            old = tensor_type(result)
            new = make_type(type_.element_type, _refined(dims_of(old), dims_of(type_)))
            if new != old:
                Rewriter.replace_value_with_new_type(result, new)
    end = function.body.block.last_op
    if isinstance(end, ReturnOp):
        inputs = function.function_type.inputs.data
        function.properties["function_type"] = FunctionType.from_lists(
            inputs, [v.type for v in end.arguments]
        )


@dataclass(frozen=True)
class GraphInferShapesPass(ModulePass):
    """Infer the types of all results from the types of operands."""

    name = "graph-infer-shapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and function.body.blocks:
                infer_function(function)
