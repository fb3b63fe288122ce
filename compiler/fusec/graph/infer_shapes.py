"""graph-infer-shapes: result types follow from operand types; sizes that become known replace `?`.

Raises a diagnostic where an operator's operands contradict each other. Fused groups are inferred
from within; kernels have one type for all of their calls, so they are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException, VerifyException

from fusec_dialects.graph import CallOp, FusedOp, GraphOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.shapes import dims_of, make_type, refined
from fusec_dialects.place import place


def infer_function(function: FuncOp, sizes: Mapping[str, int | str] | None = None) -> None:
    """Refines the types of one function in program order; `sizes` are named ones that are
    known, or UNNAMED where the name says nothing.

    Raises PassFailedException, with the operator's place, where operands contradict each other.
    """
    block = function.body.block
    if sizes:
        _fill_in(block, sizes)
    _infer_block(block)
    end = block.last_op
    if isinstance(end, ReturnOp):
        function.properties["function_type"] = FunctionType.from_lists(
            [a.type for a in block.args], [v.type for v in end.arguments]
        )


def _fill_in(block: Block, sizes: Mapping[str, int | str]) -> None:
    """Known sizes in place of their names, in the types of all values."""
    values: list[SSAValue] = list(block.args)
    for op in block.walk():
        values += op.results
        values += (a for region in op.regions for b in region.blocks for a in b.args)
    for value in values:
        if not isinstance(value.type, TensorType):
            continue
        type_ = tensor_type(value)
        old = dims_of(type_)
        new = tuple(sizes.get(d, d) if isinstance(d, str) else d for d in old)
        if new != old:
            Rewriter.replace_value_with_new_type(value, make_type(type_.element_type, new))


def _infer_block(block: Block) -> None:
    for op in block.ops:
        for value, type_ in _refinements(op):
            if value.type != type_:
                _check_users(value)
                Rewriter.replace_value_with_new_type(value, type_)


def _refinements(op: Operation) -> Iterator[tuple[SSAValue, Attribute]]:
    """The results of an operator with their better types; groups are gone into on the way."""
    if isinstance(op, FusedOp):
        for argument, operand in zip(op.body.block.args, op.inputs, strict=True):
            if argument.type != operand.type:
                Rewriter.replace_value_with_new_type(argument, operand.type)
        _infer_block(op.body.block)
        yield from zip(op.results, (v.type for v in op.yielded), strict=True)
    elif isinstance(op, GraphOp):
        try:
            types = refined(op)
        except VerifyException as error:
            raise PassFailedException(f"{place(op)}: {error}") from error
        yield from zip(op.results, types, strict=True)


def _check_users(value: SSAValue) -> None:
    for use in value.uses:
        if isinstance(use.operation, CallOp):
            raise PassFailedException(
                f"{place(use.operation)}: the type of an operand becomes more precise than its "
                "kernel's; infer shapes before graph-outline"
            )


@dataclass(frozen=True)
class GraphInferShapesPass(ModulePass):
    """Infer the types of all results from the types of operands."""

    name = "graph-infer-shapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and function.body.blocks:
                infer_function(function)
