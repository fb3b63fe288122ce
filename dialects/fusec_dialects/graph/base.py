"""Base of the graph operators: one assembly format, attributes as plain Python values, types that
agree.

`graph.NAME %a, %b {axis = -1, perm = [0, 2, 1]} : (T, T) -> T`; a single operand's type stands
without parentheses, several results are separated by commas, attributes equal to their default are
not printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from math import isfinite
from typing import ClassVar, Self, TypeAlias, cast

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    IRDLOperation,
    VerificationContext,
    base,
    irdl_attr_definition,
    param_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

Tensor = base(TensorType)
"""Constraint of every operand and result."""

_NAME = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)

Ints = DenseArrayBase.constr(i64)
Int = IntegerAttr[I64]
Float = FloatAttr[Float64Type]

AttrValue: TypeAlias = int | float | bool | str | tuple[int, ...] | None
"""An operator's attribute as the semantics see it; element types by their MLIR name, like "f32"."""


@irdl_attr_definition
class DimsAttr(ParametrizedAttribute):
    """`#graph.dims<[N, 128]>`: names of the dynamic sizes of a tensor, as its encoding.

    Two sizes of one name are equal; a `?` has no name.
    """

    name = "graph.dims"
    dims: ArrayAttr[StringAttr | IntegerAttr] = param_def()

    @classmethod
    def get(cls, dims: Sequence[int | str]) -> DimsAttr:
        return cls(
            ArrayAttr([StringAttr(d) if isinstance(d, str) else IntegerAttr(d, i64) for d in dims])
        )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def dim() -> StringAttr | IntegerAttr:
            value = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
            if value is not None:
                return IntegerAttr(value, i64)
            if parser.parse_optional_punctuation("?") is not None:
                return StringAttr("?")
            return StringAttr(parser.parse_identifier())

        with parser.in_angle_brackets():
            dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, dim)
        return (ArrayAttr(dims),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("[" + ", ".join(map(str, self.values())) + "]")

    def verify(self) -> None:
        for value in self.values():
            if isinstance(value, str) and value != "?" and not _NAME.fullmatch(value):
                raise VerifyException(f"#graph.dims: '{value}' is not a name like N or seq_len")

    def values(self) -> tuple[int | str, ...]:
        """Sizes, names for the dynamic ones."""
        return tuple(d.data if isinstance(d, StringAttr) else d.value.data for d in self.dims)


def attribute(value: AttrValue | Attribute) -> Attribute:
    """The IR attribute of a plain Python value; an attribute (an element type) stays as it is."""
    if isinstance(value, Attribute):
        return value
    if isinstance(value, bool):
        return IntegerAttr(int(value), i1)
    if isinstance(value, int):
        return IntegerAttr(value, i64)
    if isinstance(value, float):
        return FloatAttr(value, f64)
    if isinstance(value, str):
        return StringAttr(value)
    if value is None:
        raise ValueError("an absent attribute has no value")
    return DenseArrayBase.from_list(i64, value)


def _width(attr: Attribute) -> int:
    """Bits of an integer attribute's type; 0 for an index."""
    type_ = cast("IntegerAttr[IntegerType | IndexType]", attr).type
    return type_.width.data if isinstance(type_, IntegerType) else 0


def python_value(attr: Attribute) -> AttrValue:
    """The plain Python value of an operator's attribute."""
    if isinstance(attr, StringAttr):
        return attr.data
    if isinstance(attr, IntegerAttr):
        return bool(attr.value.data) if _width(cast(Attribute, attr)) == 1 else attr.value.data
    if isinstance(attr, FloatAttr):
        return attr.value.data
    if isinstance(attr, DenseArrayBase):
        return tuple(int(v) for v in attr.get_values())
    return str(attr)


def _print_attribute(printer: Printer, attr: Attribute) -> None:
    value = python_value(attr)
    if isinstance(value, float) and isfinite(value):
        text = repr(value)
        if "." not in text:
            mantissa, _, exponent = text.partition("e")
            text = f"{mantissa}.0" + (f"e{exponent}" if exponent else "")
        printer.print_string(text)
    elif isinstance(value, bool | int):
        printer.print_string(str(value).lower())
    elif isinstance(value, tuple):
        printer.print_string(str(list(value)))
    else:
        printer.print_attribute(attr)


def _parse_attribute(parser: Parser) -> Attribute:
    """A number is i64 or f64, a list of integers an array; inf and nan are hexadecimal f64."""
    ints = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
    )
    if ints is not None:
        return DenseArrayBase.from_list(i64, ints)
    number = parser.parse_optional_builtin_int_or_float_attr()
    return parser.parse_attribute() if number is None else cast(Attribute, number)


_SAMPLES: tuple[tuple[Attribute, str], ...] = (
    (attribute(0), "an integer"),
    (attribute(True), "true or false"),
    (attribute(0.0), "a number"),
    (attribute(()), "a list of integers, like [0, 1]"),
    (attribute(""), "a string"),
    (f64, "an element type"),
)
"""An attribute of each kind, and what a message calls the kind."""


def _accepts(rule: AttrConstraint, attr: Attribute) -> bool:
    try:
        rule.verify(attr, VerificationContext())
    except VerifyException:
        return False
    return True


def _checked(parser: Parser, key: str, attr: Attribute, rule: AttrConstraint) -> Attribute:
    """The attribute if `rule` accepts it, an integer taken as a number where one is asked for."""
    value = python_value(attr)
    if isinstance(value, int) and not isinstance(value, bool):
        number = attribute(float(value))
        attr = number if _accepts(rule, number) else attr
    if not _accepts(rule, attr):
        kind = next(text for sample, text in _SAMPLES if _accepts(rule, sample))
        parser.raise_error(f"attribute '{key}' is {attr}, expected {kind}")
    return attr


class GraphOp(IRDLOperation):
    """An operator on tensors with value semantics; names and meaning are ONNX's."""

    DEFAULTS: ClassVar[Mapping[str, AttrValue]] = {}
    """Attributes that need not be written, with the value that they then have."""

    traits = traits_def(Pure())

    @classmethod
    def make(
        cls,
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        attrs: Mapping[str, AttrValue | Attribute] | None = None,
    ) -> Self:
        """Build from operands (absent optional ones left out at the end) and plain attribute
        values; nothing is checked.
        """
        given = {k: attribute(v) for k, v in (attrs or {}).items() if v is not None}
        properties = cls.defaults() | given
        return cls.create(operands=operands, result_types=result_types, properties=properties)

    @classmethod
    @cache
    def defaults(cls) -> dict[str, Attribute]:
        """DEFAULTS as attributes; not to be changed. 0.0 and -0.0 are different ones."""
        return {k: attribute(v) for k, v in cls.DEFAULTS.items() if v is not None}

    @property
    def op_name(self) -> str:
        """Name without the dialect, as in the semantics' tables."""
        return self.name.removeprefix("graph.")

    def attrs(self) -> dict[str, AttrValue]:
        """The attributes as plain Python values."""
        return {k: python_value(v) for k, v in self.properties.items()}

    def verify_(self) -> None:
        from .shapes import verify_types

        verify_types(self)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        names = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        names = names or []
        properties = cls._parse_properties(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_type
        )
        if types is None:
            types = [parser.parse_type()]
        if not names:
            results = types if parser.parse_optional_punctuation("->") is None else None
        else:
            parser.parse_punctuation("->")
            results = None
        if results is None:
            results = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        operands = parser.resolve_operands(names, types if names else [], position)
        op = cls.create(operands=operands, result_types=results, properties=properties)
        if attributes is not None:
            op.attributes = dict(attributes.data)
        return op

    @classmethod
    def _parse_properties(cls, parser: Parser) -> dict[str, Attribute]:
        known = cls.get_irdl_definition().properties
        given: dict[str, Attribute] = {}

        def entry() -> None:
            start = parser.pos
            key = parser.parse_identifier()
            if key not in known:
                only = ", ".join(sorted(known)) or "none"
                parser.raise_error(f"{cls.name} has no attribute '{key}', only {only}", start)
            if key in given:
                parser.raise_error(f"attribute '{key}' is given twice", start)
            parser.parse_punctuation("=")
            given[key] = _checked(parser, key, _parse_attribute(parser), known[key].constr)

        parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, entry)
        return cls.defaults() | given

    def print(self, printer: Printer) -> None:
        if self.operands:
            printer.print_string(" ")
            printer.print_list(self.operands, printer.print_ssa_value)
        defaults = self.defaults()
        shown = {k: v for k, v in self.properties.items() if defaults.get(k) != v}
        if shown:
            printer.print_string(" {")
            for i, (key, value) in enumerate(shown.items()):
                printer.print_string(f"{', ' if i else ''}{key} = ")
                _print_attribute(printer, value)
            printer.print_string("}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        if len(self.operands) == 1:
            printer.print_attribute(self.operands[0].type)
            printer.print_string(" -> ")
        elif self.operands:
            with printer.in_parens():
                printer.print_list([o.type for o in self.operands], printer.print_attribute)
            printer.print_string(" -> ")
        printer.print_list([r.type for r in self.results], printer.print_attribute)


def tensor_type(value: SSAValue) -> TensorType[Attribute]:
    """The tensor type of a value; raises VerifyException for anything else."""
    if not isinstance(value.type, TensorType):
        raise VerifyException(f"expected a tensor, found {value.type}")
    return cast(TensorType[Attribute], value.type)


def static_shape(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tensor value whose sizes are all known; raises VerifyException otherwise."""
    shape = tensor_type(value).get_shape()
    if any(d < 0 for d in shape):
        raise VerifyException(f"expected a static shape, found {value.type}")
    return shape


@lru_cache(maxsize=1 << 12)
def element_name(type_: Attribute) -> str:
    """MLIR name of a tensor's element type, like "f32"."""
    if not isinstance(type_, TensorType):
        return str(type_)
    return str(cast(TensorType[Attribute], type_).element_type)
