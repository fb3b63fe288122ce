"""Interval arithmetic on index values: certain on every operator, exact where it can be."""

from collections.abc import Callable
from itertools import product

import pytest
from xdsl.dialects.scf import ForOp
from xdsl.ir import SSAValue

from fusec.npu.intervals import ANYTHING, UNBOUNDED, Interval, Intervals
from npu_ir import function, named, parse

HEAD = """
func.func @k(%p: memref<1xi64, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %block = npu.block_idx : index
  %blocks = npu.block_num : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c10 = arith.constant 10 : index
  %m2 = arith.constant -2 : index
  %x = memref.load %p[%c0] : memref<1xi64, #npu.space<gm>>
  %any = arith.index_cast %x : i64 to index
  %low = arith.minsi %any, %c10 : index
  %two = arith.maxsi %low, %c3 : index
"""


def values(body: str, blocks: int | None = 4) -> tuple[dict[str, Interval], Intervals]:
    """The interval of every named value of a kernel."""
    intervals = Intervals(blocks)
    kernel = function(parse(f"{HEAD}{body}\nfunc.return\n}}"), "k")
    found: dict[str, Interval] = {}
    for op in kernel.walk():
        results: list[SSAValue] = list(op.results)
        if isinstance(op, ForOp):
            results.append(op.body.block.args[0])
        found.update({value.name_hint or "": intervals.of(value) for value in results})
    return found, intervals


def test_leaves() -> None:
    found, _ = values("")
    assert found["block"] == (0, 3)
    assert found["blocks"] == (4, 4)
    assert found["any"] == ANYTHING
    assert found["low"] == (-UNBOUNDED, 10)
    assert found["two"] == (3, 10)
    assert found["c10"].constant == 10
    assert found["two"].constant is None
    unknown, _ = values("", blocks=None)
    assert unknown["block"] == (0, UNBOUNDED)
    assert unknown["blocks"] == (1, UNBOUNDED)


RULES: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "divui": lambda a, b: a // b,
    "divsi": lambda a, b: a // b,
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
    "ceildivui": lambda a, b: -(-a // b),
    "remui": lambda a, b: a % b,
    "remsi": lambda a, b: a % b,
    "minsi": min,
    "maxsi": max,
    "minui": min,
    "maxui": max,
}


@pytest.mark.parametrize("name", RULES)
def test_rule(name: str) -> None:
    """The interval is exactly what all pairs of values give."""
    found, _ = values(f"""
        %b = arith.addi %block, %c1 : index
        %r = arith.{name} %two, %b : index""")
    results = [RULES[name](a, b) for a, b in product(range(3, 11), range(1, 5))]
    low, high = found["r"]
    assert (low, high) == (min(results), max(results))


@pytest.mark.parametrize(
    "name", ["divui", "divsi", "ceildivsi", "remsi", "remui", "minui", "maxui"]
)
def test_negative_operands_are_not_guessed(name: str) -> None:
    found, _ = values(f"%r = arith.{name} %m2, %c3 : index")
    assert found["r"] == ANYTHING


def test_remainder_of_what_is_smaller() -> None:
    found, _ = values("%r = arith.remui %block, %c10 : index")
    assert found["r"] == (0, 3)


def test_select_and_unknown_operators() -> None:
    found, _ = values("""
        %b = arith.cmpi slt, %any, %c1 : index
        %r = arith.select %b, %c1, %two : index
        %s = arith.xori %c1, %c3 : index""")
    assert found["r"] == (1, 10)
    assert found["s"] == ANYTHING


@pytest.mark.parametrize(
    ("bounds", "counter", "trips"),
    [
        ("%c0 to %c10 step %c3", (0, 9), (4, 4)),
        ("%c1 to %c10 step %c3", (1, 7), (3, 3)),
        ("%c3 to %c3 step %c1", (3, 3), (0, 0)),
        ("%c10 to %c3 step %c1", (10, 10), (0, 0)),
        ("%block to %c10 step %blocks", (0, 9), (2, 3)),
        ("%block to %c3 step %blocks", (0, 2), (0, 1)),
        ("%c0 to %two step %c3", (0, 9), (1, 4)),
        ("%c0 to %any step %c1", (0, UNBOUNDED - 1), (0, UNBOUNDED)),
        ("%c0 to %c10 step %low", (0, 9), (0, UNBOUNDED)),
    ],
)
def test_loops(bounds: str, counter: tuple[int, int], trips: tuple[int, int]) -> None:
    text = f"scf.for %i = {bounds} {{\n}}"
    found, intervals = values(text)
    loop = next(named(function(parse(f"{HEAD}{text}\nfunc.return\n}}"), "k"), "scf.for"))
    assert isinstance(loop, ForOp)
    assert intervals.trips(loop) == trips
    assert found["i"] == counter
