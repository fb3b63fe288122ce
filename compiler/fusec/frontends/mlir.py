"""Reads MLIR text; every operator without a location of its own gets the place where it is written.

In: UTF-8 text. Out: a module that is not verified yet. A text of a type is parsed once.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from difflib import get_close_matches
from typing import IO, Any

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AnyFloat,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.frontend.mlir import MLIRFrontend
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import DiagnosticException, ParseError
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

_TYPE = re.compile(r'[a-z]\w*(?:<(?:[^<>"\n]|<[^<>"\n]*>)*>)?')
"""A builtin type, angle brackets nested once at most: `memref<4xf32, #npu.space<ub>>`."""


class _Lexer(MLIRLexer):
    """xDSL's lexer, whose own expression for strings takes exponential time on an open quote."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


class LocatedParser(Parser):
    """xDSL's parser with file, line and column on operators and a cache of types by their text.

    A hexadecimal element of a floating `dense<>` is its bits, as in MLIR: so xDSL prints inf and
    nan, which its own parser takes for large numbers.
    """

    class _Bits(Parser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
        def to_type(self, parser: AttrParser, type: Any) -> Any:
            if not isinstance(type, AnyFloat):
                return super().to_type(parser, type)
            bits = self.to_int(parser)
            if bits.bit_length() > type.bitwidth:
                parser.raise_error(f"more bits than {type} has", self.span)
            return next(type.iter_unpack(bits.to_bytes(type.compile_time_size, "little")))

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0) -> None:
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(_Lexer(Input(text, name)))
        self._text = text
        self._file = StringAttr(name)
        self._lines = [match.end() for match in re.finditer(r"^", text, re.MULTILINE)]
        self._line_offset = line_offset
        self._types: dict[str, TypeAttribute] = {}
        self._undefined: dict[str, Span] = {}

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """As xDSL's; a text without operators is an empty module, as in MLIR.

        Raises ParseError where the text goes wrong, not where it ends.
        """
        if allow_implicit_module and self._current_token.kind is MLIRTokenKind.EOF:
            module = ModuleOp([])
            module.location = self.location(0)
            return module
        try:
            module = super().parse_module(allow_implicit_module)
        except ParseError as error:
            if error.msg == "Could not parse entire input!":
                raise ParseError(error.span, "expected an operator here") from error
            missing = next(iter(self.forward_ssa_references), None)
            if missing is None or not error.msg.startswith("values used but not defined"):
                raise
            raise ParseError(
                self._undefined.get(missing, error.span), f"%{missing} is used but not defined"
            ) from error
        if module.location is UNKNOWN_LOC:
            module.location = self.location(0)
        return module

    def resolve_operand(self, operand: UnresolvedOperand, type: Attribute) -> SSAValue:
        value = super().resolve_operand(operand, type)
        if isinstance(value, ForwardDeclaredValue):
            self._undefined.setdefault(operand.operand_name, operand.span)
        return value

    def parse_operation(self) -> Operation:
        start = self.pos
        op = super().parse_operation()
        if op.location is UNKNOWN_LOC:
            op.location = self.location(start)
        return op

    def _parse_tensor_literal_element(self) -> Parser._TensorLiteralElement:
        hexadecimal = self._current_token.text[:2] in ("0x", "0X")
        element = super()._parse_tensor_literal_element()
        if not hexadecimal:
            return element
        return self._Bits(element.is_negative, element.value, element.span)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        try:
            return super()._get_op_by_name(name)
        except ParseError as error:
            known = {op.name for op in self.ctx.loaded_ops} | set(self.ctx.registered_dialect_names)
            near = get_close_matches(name, known, n=1)
            advice = f"; did you mean {near[0]!r}?" if near else ""
            start = self._text.rfind(name, 0, error.span.start)
            span = Span(max(start, 0), max(start, 0) + len(name), self.lexer.input)
            raise ParseError(span, f"operator {name!r} is not registered{advice}") from error

    def location(self, position: int) -> FileLineColLoc:
        """File, line and column of a position in the text."""
        line = bisect_right(self._lines, position)
        column = position - self._lines[line - 1] + 1
        return FileLineColLoc(self._file, IntAttr(line + self._line_offset), IntAttr(column))

    def parse_optional_type(self) -> TypeAttribute | None:
        match = _TYPE.match(self._text, self.pos)
        if match is None:
            return super().parse_optional_type()
        text = match.group()
        if (known := self._types.get(text)) is not None:
            self._resume_from(match.end())
            return known
        found = super().parse_optional_type()
        if found is not None and self._text[match.start() : self.pos].rstrip() == text:
            self._types[text] = found
        return found


@dataclass(frozen=True)
class LocatedMlirFrontend(MLIRFrontend):
    """xDSL's `mlir` frontend with LocatedParser; `line_offset` lines stand before the text."""

    line_offset: int = 0

    def parse(self, ctx: Context, input: IO[bytes], input_name: str = "input") -> ModuleOp:
        text = decode(input.read(), input_name)
        parser = LocatedParser(ctx, text, input_name, self.line_offset)
        return parser.parse_module(not self.no_implicit_module)


def decode(data: bytes, name: str) -> str:
    """`data` as text. Raises DiagnosticException with the line when it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DiagnosticException(
            f"{name}:{line}: not UTF-8 text; MLIR is read as text, "
            "a model file needs an ending that names its kind (.onnx)"
        ) from error
