"""Reading MLIR text: places of operators, types by their text, what is no text."""

import io

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    Builtin,
    FusedLoc,
    MemRefType,
    NoneAttr,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import Func
from xdsl.dialects.test import Test
from xdsl.parser import Parser
from xdsl.utils.exceptions import DiagnosticException, ParseError

from fusec.frontends.mlir import LocatedMlirFrontend, LocatedParser
from fusec_dialects.place import place, place_of_location


def context() -> Context:
    ctx = Context()
    for dialect in (Builtin, Func, Test):
        ctx.load_dialect(dialect)
    return ctx


def test_places() -> None:
    text = """// a comment
func.func @f() {
  "test.op"() : () -> ()
  "test.op"() : () -> () loc("conv1")
  func.return
}
"""
    module = LocatedMlirFrontend(line_offset=10).parse(context(), io.BytesIO(text.encode()), "a")
    places = [place(op) for op in module.walk()]
    assert places == [
        "a:11:1: 'builtin.module'",
        "a:12:1: 'func.func'",
        "a:13:3: 'test.op' in @f",
        "node \"conv1\": 'test.op' in @f",
        "a:15:3: 'func.return' in @f",
    ]


def test_place_of_a_fused_location() -> None:
    known = LocatedParser(context(), "", "a").location(0)
    fused = FusedLoc(ArrayAttr([UNKNOWN_LOC, known]), NoneAttr())
    assert place_of_location(fused) == "a:1:1"
    assert place_of_location(UNKNOWN_LOC) == ""


TYPES = [
    "i32",
    "tensor<4x?xf32>",
    "tensor<4x4xf32, strided<[4, 1]>>",
    "memref<4x4xf32, strided<[4, 1], offset: ?>, 3 : i32>",
    "memref<4xf32, affine_map<(d0) -> (d0 + 1)>>",
    "tuple<tensor<4xf32>, tuple<i32, vector<4xi1>>>",
    "(tensor<4xf32>, i32) -> tensor<4xf32>",
    '!test.type<"a>b">',
    "complex<f32>",
    "none",
]


@pytest.mark.parametrize("text", TYPES)
def test_a_type_reads_the_same_each_time(text: str) -> None:
    """Whatever is taken from the cache equals what xDSL reads, and the text after it is intact."""
    wanted = Parser(context(), text).parse_type()
    parser = LocatedParser(context(), f"{text} , {text}// note\n, {text},{text}", "a")
    for index in range(4):
        if index:
            parser.parse_punctuation(",")
        assert parser.parse_type() == wanted


def test_equal_types_are_one_object() -> None:
    parser = LocatedParser(context(), "tensor<4xf32> memref<4xf32, 1 : i32> tensor<4xf32>", "a")
    first, other, second = (parser.parse_type() for _ in range(3))
    assert isinstance(first, TensorType)
    assert isinstance(other, MemRefType)
    assert first is second


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(DiagnosticException, match=r"^a:2: not UTF-8 text; .*\.onnx"):
        LocatedMlirFrontend().parse(context(), io.BytesIO(b"ok\n\x08\xff"), "a")


@pytest.mark.parametrize("text", ["", "// nothing\n", "\n\n"])
def test_no_operator_is_an_empty_module(text: str) -> None:
    module = LocatedMlirFrontend().parse(context(), io.BytesIO(text.encode()), "a")
    assert not list(module.body.block.ops)


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ('"test.op"(%a, %b) : (i32, i32) -> ()', 10, "%a is used but not defined"),
        ('%a = "test.opp"() : () -> i32', 6, "operator 'test.opp' is not registered; did you mean"),
        ("func.funk @f() { }", 0, "did you mean 'func.func'"),
        ('"test.op"() : () -> () }', 23, "expected an operator here"),
    ],
)
def test_errors_point_at_the_fault(text: str, position: int, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        LocatedParser(context(), text, "a").parse_module()
    assert message in caught.value.msg
    assert caught.value.span.start == position


def test_an_open_quote_is_found_at_once() -> None:
    """xDSL's own expression takes time exponential in the length of the line."""
    text = 'func.func @f() attributes {x = "' + "abc defg " * 1000
    with pytest.raises(ParseError, match="closing string literal"):
        LocatedParser(context(), text, "a").parse_module()


def test_escapes_in_strings() -> None:
    module = LocatedParser(context(), r'"test.op"() {x = "a\"b\n\41"} : () -> ()', "a")
    op = module.parse_module().body.block.first_op
    assert op is not None
    assert str(op.attributes["x"]) == str(StringAttr('a"b\nA'))
