"""The walker that checks definitions before uses, on functions, control flow and modules."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.cf import Cf
from xdsl.dialects.func import Func
from xdsl.dialects.scf import Scf
from xdsl.dialects.test import Test
from xdsl.utils.exceptions import VerifyException

from fusec.frontends.mlir import LocatedParser
from fusec_dialects.dominance import verify_dominance


def parse(text: str) -> ModuleOp:
    ctx = Context()
    for dialect in (Builtin, Cf, Func, Scf, Test):
        ctx.load_dialect(dialect)
    return LocatedParser(ctx, text, "in.mlir").parse_module()


GOOD = {
    "straight": """
        func.func @f(%a: i32) {
          %b = "test.op"(%a) : (i32) -> i32
          "test.op"(%b, %a) : (i32, i32) -> ()
          func.return
        }""",
    "outer value in a nested region": """
        func.func @f(%a: i32) {
          "test.op"() ({
            "test.op"(%a) : (i32) -> ()
          }) : () -> ()
          func.return
        }""",
    "diamond": """
        func.func @f(%c: i1, %a: i32) {
          %b = "test.op"(%a) : (i32) -> i32
          cf.cond_br %c, ^left, ^right
        ^left:
          cf.br ^join(%a : i32)
        ^right:
          cf.br ^join(%b : i32)
        ^join(%d: i32):
          "test.op"(%b, %d) : (i32, i32) -> ()
          func.return
        }""",
    "loop, blocks written out of order": """
        func.func @f(%c: i1) {
          cf.br ^body
        ^exit:
          "test.op"(%x) : (i32) -> ()
          func.return
        ^body:
          %x = "test.op"() : () -> i32
          cf.cond_br %c, ^body, ^exit
        }""",
    "a block out of reach is not checked": """
        func.func @f() {
          func.return
        ^dead:
          "test.op"(%x) : (i32) -> ()
          %x = "test.op"() : () -> i32
          func.return
        }""",
    "a module is a graph": """
        "test.op"(%x) : (i32) -> ()
        %x = "test.op"() : () -> i32""",
}

BAD = {
    "used before": (
        """
        func.func @f(%a: i32) {
          "test.op"(%a, %b) : (i32, i32) -> ()
          %b = "test.op"(%a) : (i32) -> i32
          func.return
        }""",
        r"^in.mlir:3:11: 'test.op' in @f: operand 1 %b .* by 'test.op' at in.mlir:4:11 does not",
    ),
    "used by itself": (
        """
        func.func @f() {
          %b = "test.op"(%b) : (i32) -> i32
          func.return
        }""",
        r"^in.mlir:3:11: .* operand 0 %b ",
    ),
    "used inside its own region": (
        """
        func.func @f() {
          %b = "test.op"() ({
            "test.op"(%b) : (i32) -> ()
          }) : () -> i32
          func.return
        }""",
        r"^in.mlir:4:13: .* operand 0 %b ",
    ),
    "one branch only": (
        """
        func.func @f(%c: i1) {
          cf.cond_br %c, ^left, ^join
        ^left:
          %b = "test.op"() : () -> i32
          cf.br ^join
        ^join:
          "test.op"(%b) : (i32) -> ()
          func.return
        }""",
        r"^in.mlir:8:11: .* operand 0 %b ",
    ),
    "argument of a block beside": (
        """
        func.func @f(%c: i1, %a: i32) {
          cf.cond_br %c, ^left(%a : i32), ^right
        ^left(%d: i32):
          cf.br ^right
        ^right:
          "test.op"(%d) : (i32) -> ()
          func.return
        }""",
        r"^in.mlir:7:11: .* operand 0 %d is an argument of a block that does not",
    ),
    "in a nested region of a module": (
        """
        "test.op"() ({
          "test.op"(%x) : (i32) -> ()
          %x = "test.op"() : () -> i32
        }) : () -> ()""",
        r"^in.mlir:3:11: .* operand 0 %x ",
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_good(name: str) -> None:
    verify_dominance(parse(GOOD[name]))


@pytest.mark.parametrize("name", BAD)
def test_bad(name: str) -> None:
    text, message = BAD[name]
    module = parse(text)
    with pytest.raises(VerifyException, match=message):
        verify_dominance(module)


def test_value_that_left_the_scope() -> None:
    """A value of one region is not seen by the operator after it."""
    module = parse("""
        func.func @f() {
          "test.op"() ({
            %x = "test.op"() : () -> i32
            "test.termop"() : () -> ()
          }) : () -> ()
          %y = "test.op"() : () -> i32
          "test.op"(%y) : (i32) -> ()
          func.return
        }""")
    ops = {(op.name, len(op.operands), len(op.results)): op for op in module.walk()}
    inner = next(op for op in module.walk() if op.results and op.results[0].name_hint == "x")
    ops["test.op", 1, 0].operands[0] = inner.results[0]
    with pytest.raises(VerifyException, match=r"^in.mlir:8:11: .* operand 0 %x "):
        verify_dominance(module)


def test_long_chain_of_blocks_takes_linear_time() -> None:
    """Five thousand blocks: a set of dominators for each would hold twelve million entries."""
    blocks = "\n".join(
        f'^b{i}:\n  %v{i} = "test.op"() : () -> i32\n  cf.br ^b{i + 1}' for i in range(5000)
    )
    module = parse(f"""
        func.func @f() {{
          cf.br ^b0
        {blocks}
        ^b5000:
          "test.op"(%v0, %v4999) : (i32, i32) -> ()
          func.return
        }}""")
    verify_dominance(module)
