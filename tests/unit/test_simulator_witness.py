"""The witness: good kernels are clean, and every kind of fault that is put into one is found."""

import re
from functools import cache

import numpy as np
import pytest
from xdsl.dialects import func

from fusec.simulator.errors import SimulationError
from fusec.simulator.violations import KINDS
from fusec.simulator.witness import witness
from fusec.simulator.witness_kernel import spread
from simulator_kernels import (
    GATHER,
    KERNELS,
    MATMUL,
    MIXED,
    RELU,
    SOFTMAX,
    TRANSPOSED,
    kernel,
    replaced,
    without,
)

SYNC = re.compile(r"npu\.(set_flag|wait_flag|barrier|sync_block_set|sync_block_wait)")
EVENT = re.compile(r"npu\.\w+_(?:set|wait|flag) (<.*(?:id|flag) \d+)")


def sync_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if SYNC.search(line)]


def drop(name: str, numbers: list[int]) -> func.FuncOp:
    """A kernel without some of its flags and barriers, by their number in the text."""
    function = parsed(name).clone()
    operators = [op for op in function.walk() if SYNC.match(op.name)]
    for number in numbers:
        operators[number].detach()
    return function


@cache
def parsed(name: str) -> func.FuncOp:
    return kernel(KERNELS[name])


def events(text: str) -> dict[str, list[int]]:
    """The numbers of the operators of each event, of both sides; each barrier by itself."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(sync_lines(text)):
        match = EVENT.search(line)
        found.setdefault(match[1] if match else f"barrier {number}", []).append(number)
    return found


SINGLE = [(name, n) for name, text in KERNELS.items() for n in range(len(sync_lines(text)))]
WHOLE = [(name, event) for name, text in KERNELS.items() for event in events(text)]


def kinds(text: str) -> set[str]:
    return {violation.kind for violation in witness(kernel(text))}


@pytest.mark.parametrize("name", KERNELS)
def test_good_kernels_are_clean(name: str) -> None:
    verdict = witness(kernel(KERNELS[name]))
    assert [str(v) for v in verdict] == []
    assert verdict.sampled == {name: 1.0}


@pytest.mark.parametrize(("name", "number"), SINGLE)
def test_every_single_removal_is_caught(name: str, number: int) -> None:
    assert {v.kind for v in witness(drop(name, [number]))} & {"race", "flag"}


@pytest.mark.parametrize(("name", "event"), WHOLE)
def test_every_removal_of_a_whole_flag_is_a_race(name: str, event: str) -> None:
    numbers = events(KERNELS[name])[event]
    assert "race" in {v.kind for v in witness(drop(name, numbers))}


FAULTS: list[tuple[str, str, str, str, str]] = [
    ("beyond the memory", RELU, "at 0 copies 2", "at 160000 copies 2", "out-of-bounds"),
    ("too many copies", RELU, "at 0 copies 2 :", "at 0 copies 11 :", "out-of-bounds"),
    ("misaligned", SOFTMAX, "%u = npu.alloc at 64", "%u = npu.alloc at 68", "out-of-bounds"),
    ("tail not cut", RELU, "[%n0, 300]", "[%c16, 300]", "out-of-bounds"),
    ("one tile too many", RELU, "%t = %block to %c16", "%t = %block to %c250", "out-of-bounds"),
    ("cast beyond", TRANSPOSED, "%xt = memref.reinterpret_cast %x to offset: [0]",
     "%xt = memref.reinterpret_cast %x to offset: [60]", "out-of-bounds"),
    ("not loaded", SOFTMAX, "npu.load ins(%in : !gs) outs(%u : !u)", "", "uninitialised"),
    ("workspace not written", MIXED, "npu.fixpipe ins(%acc : !acc) outs(%w : !ys)", "",
     "uninitialised"),
    ("accumulator not started", MATMUL, "%first = arith.cmpi eq", "%first = arith.cmpi ne",
     "uninitialised"),
    ("the tail of another size", MATMUL, "%bgs = memref.subview %b[%k, 0] [%kn, 96]",
     "%bgs = memref.subview %b[%k, 0] [%c32, 96]", "shape"),
    ("operands overlap", SOFTMAX, "%s = npu.alloc at 32", "%s = npu.alloc at 96", "corruption"),
    ("a live buffer is overwritten", MATMUL, "%bias1 = npu.alloc at 65536",
     "%bias1 = npu.alloc at 4096", "corruption"),
    ("blocks write the same", RELU, "%t = %block to %c16", "%t = %c0 to %c16", "race"),
    ("blocks share a workspace", MIXED, "%w = memref.subview %ws[%block, 0, 0]",
     "%w = memref.subview %ws[0, 0, 0]", "race"),
    ("raised twice", SOFTMAX, "npu.set_flag <v> to <mte3> id 0",
     "npu.set_flag <v> to <mte3> id 0\nnpu.set_flag <v> to <mte3> id 0", "flag"),
    ("never raised", SOFTMAX, "npu.wait_flag <v> to <mte3> id 0",
     "npu.wait_flag <v> to <mte3> id 1", "flag"),
    ("primed once too little", RELU, "npu.set_flag <mte3> to <mte2> id 0 copies 2",
     "npu.set_flag <mte3> to <mte2> id 0 copies 1", "flag"),
    ("primed once too much", RELU, "npu.set_flag <mte3> to <mte2> id 0 copies 2",
     "npu.set_flag <mte3> to <mte2> id 0 copies 3", "flag"),
    ("no such cross-core flag", MIXED, "flag 1", "flag 13", "event"),
    ("no such event", RELU, "<mte2> to <v> id 0 slot", "<mte2> to <v> id 7 slot", "event"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "old", "new", "kind"), FAULTS)
def test_fault(name: str, text: str, old: str, new: str, kind: str) -> None:
    changed = replaced(text, old, new)
    if "%c0 to" in new:
        changed = replaced(changed, "%c16 =", "%c0 = arith.constant 0 : index\n%c16 =")
    if "offset: [60]" in new:
        changed = changed.replace("strided<[1, 30]>", "strided<[1, 30], offset: 60>")
    assert kind in kinds(changed), name


def test_a_value_used_before_its_definition() -> None:
    function = kernel(RELU)
    assert not witness(function)
    ops = list(function.body.block.ops)
    loop = next(op for op in ops if op.name == "scf.for")
    constant = next(op for op in ops if op.name == "arith.constant")
    constant.detach()
    function.body.block.insert_op_after(constant, loop)
    assert [v.kind for v in witness(function)] == ["dominance"]


def test_every_kind_is_tested() -> None:
    assert {kind for *_, kind in FAULTS} | {"dominance"} == set(KINDS)


def test_a_gather_beyond_the_table_needs_the_index() -> None:
    function = kernel(GATHER)
    index = np.array([0, 1, 2, 3, 49, 50, 6, 7, 8, 9, 10, 11])
    assert not witness(function)
    found = witness(function, arrays=[None, index, None])
    assert {v.kind for v in found} == {"out-of-bounds"}
    assert "takes 1 from 50 to 50 of 50 (block 2)" in found[0].message


def test_a_flag_that_is_raised_later_than_awaited_is_no_deadlock() -> None:
    wait, raise_ = "npu.wait_flag <v> to <mte3> id 0", "npu.set_flag <v> to <mte3> id 0"
    text = replaced(SOFTMAX, raise_, "TEMP")
    text = replaced(text, wait, raise_)
    text = replaced(text, "TEMP", wait)
    assert not witness(kernel(text))


def test_the_message_says_who_and_what_to_do() -> None:
    text = without(RELU, "<v> to <mte3> id 0")
    messages = [v.message for v in witness(kernel(text))]
    assert any("set and await a flag <v> to <mte3>" in m for m in messages)
    assert any("store on vector mte3 and vrelu on vector v" in m for m in messages)
    text = without(MIXED, "<cube> <fix> to <vector> <mte2> flag 0")
    messages = [v.message for v in witness(kernel(text))]
    assert any("npu.sync_block_set <cube> <fix> to <vector> <mte2>" in m for m in messages)
    assert any("npu.barrier <v>" in v.message for v in witness(kernel(without(SOFTMAX, "barrier"))))


def test_a_large_kernel_is_sampled() -> None:
    verdict = witness(kernel(RELU), blocks=16, max_instructions=12)
    assert not verdict
    assert verdict.sampled == {"relu": 0.25}
    assert witness(kernel(RELU), blocks=16, max_instructions=None).sampled == {"relu": 1.0}
    cut = witness(kernel(RELU), blocks=1, max_instructions=6)
    assert not cut
    assert cut.sampled == {"relu": 0.5}


def test_blocks_are_spread() -> None:
    assert spread(1) == [0]
    assert spread(8)[:4] == [0, 7, 4, 2]
    assert sorted(spread(13)) == list(range(13))


def test_the_padding_of_fractals_belongs_to_the_buffer() -> None:
    """17 rows of l1 are stored as 32: what lies behind row 17 is taken."""
    text = """
    !g = memref<17x16xf16, #npu.space<gm>>
    !a = memref<17x16xf16, #npu.space<l1>>
    !l = memref<17x16xf16, #npu.space<l0a>>
    func.func @k(%x: !g) attributes {npu.core = "cube"} {
      %b = npu.alloc at ADDRESS : !a
      %a = npu.alloc at 0 : !a
      %l = npu.alloc at 0 : !l
      npu.load ins(%x : !g) outs(%b : !a)
      npu.load ins(%x : !g) outs(%a : !a)
      npu.set_flag <mte2> to <mte1> id 0
      npu.wait_flag <mte2> to <mte1> id 0
      npu.copy ins(%b : !a) outs(%l : !l)
      func.return
    }"""
    assert kinds(replaced(text, "ADDRESS", "1024")) == set()
    assert kinds(replaced(text, "ADDRESS", "544")) == {"corruption"}


def test_only_placed_kernels_have_a_witness() -> None:
    text = replaced(TRANSPOSED, "npu.alloc at 0", "npu.alloc")
    with pytest.raises(SimulationError, match="run npu-place"):
        witness(kernel(text))
