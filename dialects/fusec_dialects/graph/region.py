"""Fused groups, kernels and calls: the operators of the graph dialect that hold or name a region.

graph.fused is one future kernel; graph.kernel is its outlined body and graph.call its use. All are
isolated from above; graph.yield ends their block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import (
    FlatSymbolRefAttrConstr,
    FunctionType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_attr_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    Pure,
    RecursiveMemoryEffect,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from .base import Tensor
from .movement import WeightOp
from .opaque import OpaqueOp


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The values that a fused group or kernel gives back."""

    name = "graph.yield"

    values = var_operand_def(Tensor)

    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "$values `:` type($values) attr-dict"

    def __init__(self, values: Sequence[SSAValue]) -> None:
        super().__init__(operands=[values])


def _verify_block(name: str, block: Block, results: Sequence[Attribute]) -> None:
    end = block.last_op
    if not isinstance(end, YieldOp):
        raise VerifyException(f"{name}: the region ends with graph.yield")
    if not results:
        raise VerifyException(f"{name}: gives no result, so it computes nothing")
    found = [v.type for v in end.values]
    if found != list(results):
        text = ", ".join(map(str, results))
        raise VerifyException(
            f"{name}: graph.yield gives {', '.join(map(str, found)) or 'nothing'}, not {text}"
        )
    for op in block.ops:
        if isinstance(op, WeightOp):
            raise VerifyException(
                f"{name}: '{op.weight.data}' is read inside; make the weight an operand"
            )
        if isinstance(op, FusedOp | CallOp):
            raise VerifyException(f"{name}: {op.name} stands inside; kernels do not nest")
        if isinstance(op, OpaqueOp):
            what = f"{op.name} {op.op_type.data}"
            raise VerifyException(f"{name}: {what} stands inside; the host computes it, no kernel")


@irdl_op_definition
class FusedOp(IRDLOperation):
    """One future kernel, named after its pattern; isolated from above.

    `graph.fused "matmul_relu"(%a_1 = %a : T, %b_1 = %b : T) -> T { ... graph.yield %3 : T }`
    """

    name = "graph.fused"

    pattern = prop_def(StringAttr)
    inputs = var_operand_def(Tensor)
    outputs = var_result_def(Tensor)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), RecursiveMemoryEffect())

    def __init__(
        self, pattern: str, inputs: Sequence[SSAValue], results: Sequence[Attribute], body: Region
    ) -> None:
        super().__init__(
            operands=[inputs],
            result_types=[results],
            properties={"pattern": StringAttr(pattern)},
            regions=[body],
        )

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """The values inside that the results stand for."""
        end = self.body.block.last_op
        return end.operands if isinstance(end, YieldOp) else ()

    def verify_(self) -> None:
        arguments = [a.type for a in self.body.block.args]
        if arguments != [v.type for v in self.inputs]:
            raise VerifyException(
                "graph.fused: block arguments and inputs differ in type or number"
            )
        _verify_block(self.name, self.body.block, [r.type for r in self.outputs])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        pattern = parser.parse_str_literal()
        arguments: list[Parser.Argument] = []

        def argument() -> SSAValue:
            inner = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            outer = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            type_ = parser.parse_type()
            arguments.append(inner.resolve(type_))
            return parser.resolve_operand(outer, type_)

        inputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, argument)
        parser.parse_punctuation("->")
        results = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(pattern, inputs, results, parser.parse_region(arguments))
        if attributes is not None:
            op.attributes = dict(attributes.data)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.pattern)
        block = self.body.block

        def pair(index: int) -> None:
            printer.print_ssa_value(block.args[index])
            printer.print_string(" = ")
            printer.print_ssa_value(self.inputs[index])
            printer.print_string(" : ")
            printer.print_attribute(self.inputs[index].type)

        with printer.in_parens():
            printer.print_list(range(len(self.inputs)), pair)
        printer.print_string(" -> ")
        printer.print_list([r.type for r in self.outputs], printer.print_attribute)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


@irdl_op_definition
class KernelOp(IRDLOperation):
    """An outlined group: `graph.kernel @relu_0 "relu"(%x: T) -> T { ... graph.yield %0 : T }`.

    `graph-schedule` adds the attribute `npu.schedule`.
    """

    name = "graph.kernel"

    sym_name = prop_def(SymbolNameConstraint())
    pattern = prop_def(StringAttr)
    function_type = prop_def(FunctionType)
    schedule = opt_attr_def(Attribute, attr_name="npu.schedule")
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), RecursiveMemoryEffect())

    def __init__(self, sym_name: str, pattern: str, type_: FunctionType, body: Region) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(sym_name),
                "pattern": StringAttr(pattern),
                "function_type": type_,
            },
            regions=[body],
        )

    def verify_(self) -> None:
        inputs = self.function_type.inputs.data
        if tuple(a.type for a in self.body.block.args) != inputs:
            raise VerifyException("graph.kernel: block arguments and function type differ")
        _verify_block(self.name, self.body.block, self.function_type.outputs.data)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        sym_name = parser.parse_symbol_name()
        pattern = parser.parse_str_literal()
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument()
        )
        parser.parse_punctuation("->")
        results = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        type_ = FunctionType.from_lists([a.type for a in arguments], results)
        op = cls(sym_name.data, pattern, type_, parser.parse_region(arguments))
        if attributes is not None:
            op.attributes = dict(attributes.data)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" ")
        printer.print_attribute(self.pattern)
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        printer.print_string(" -> ")
        printer.print_list(self.function_type.outputs.data, printer.print_attribute)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


_SYMBOLS: WeakKeyDictionary[Operation, dict[str, KernelOp]] = WeakKeyDictionary()
"""Kernels of a module by name, as last seen: a search for each call would be quadratic."""


def kernel_of(call: CallOp) -> KernelOp | None:
    """The kernel that a call names; None where the module around it has none of that name."""
    module = call.parent_op()
    while module is not None and not module.has_trait(SymbolTable):
        module = module.parent_op()
    if module is None:
        return None
    name = call.callee.string_value()
    found = _SYMBOLS.get(module, {}).get(name)
    if found is not None and found.parent_op() is module and found.sym_name.data == name:
        return found
    kernels = [op for op in module.regions[0].ops if isinstance(op, KernelOp)]
    _SYMBOLS[module] = {kernel.sym_name.data: kernel for kernel in kernels}
    return _SYMBOLS[module].get(name)


class CallSymbol(SymbolUserOpInterface):
    """The called kernel exists and has this type."""

    def verify(self, op: Operation) -> None:
        if not isinstance(op, CallOp):
            return
        kernel = kernel_of(op)
        if kernel is None:
            raise VerifyException(f"graph.call: no kernel {op.callee}")
        found = FunctionType.from_lists([v.type for v in op.inputs], [r.type for r in op.outputs])
        if kernel.function_type != found:
            raise VerifyException(
                f"graph.call {op.callee}: called as {found}, defined as {kernel.function_type}"
            )


@irdl_op_definition
class CallOp(IRDLOperation):
    """`graph.call @relu_0(%x) : (T) -> T`."""

    name = "graph.call"

    callee = prop_def(FlatSymbolRefAttrConstr)
    inputs = var_operand_def(Tensor)
    outputs = var_result_def(Tensor)

    traits = traits_def(CallSymbol(), Pure())
    assembly_format = "$callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)"

    def __init__(
        self, callee: str, inputs: Sequence[SSAValue], results: Sequence[Attribute]
    ) -> None:
        super().__init__(
            operands=[inputs],
            result_types=[results],
            properties={"callee": SymbolRefAttr(callee)},
        )


__all__ = ["CallOp", "FusedOp", "KernelOp", "YieldOp", "kernel_of"]
