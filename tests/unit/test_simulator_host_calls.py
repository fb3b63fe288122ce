"""Host calls in the simulator: decoding, numbers, what the witness sees, what they do to L2."""

from collections.abc import Sequence

import numpy as np
import pytest
from onnx import helper
from xdsl.dialects.builtin import ModuleOp

from fusec.api import context
from fusec.frontends.mlir import LocatedParser
from fusec.simulator.errors import SimulationError
from fusec.simulator.functional import Program, run_host
from fusec.simulator.host import HostCall, Launch, decode_host, find_host
from fusec.simulator.timing import time_host
from fusec.simulator.timing_l2 import L2State
from fusec.simulator.witness import witness


def onnx_text(op_type: str, inputs: Sequence[str], opset: int = 17) -> str:
    node = helper.make_node(op_type, inputs, ["y"])
    opsets = [helper.make_opsetid("", opset)]
    function = helper.make_function("fusec", op_type, inputs, ["y"], [node], opsets)
    return function.SerializeToString().hex()


NEG = f'npu.host_call "Neg" opset 17 onnx "{onnx_text("Neg", ["x"])}"'
ADD = f'npu.host_call "Add" opset 17 onnx "{onnx_text("Add", ["a", "b"])}"'

COPY = """
func.func @copy(%x: !x, %y: !x) attributes {npu.core = "vector", npu.blocks = 1 : i64} {
  %u = npu.alloc at 0 : memref<64xf32, #npu.space<ub>>
  npu.load ins(%x : !x) outs(%u : memref<64xf32, #npu.space<ub>>)
  npu.set_flag <mte2> to <mte3> id 0
  npu.wait_flag <mte2> to <mte3> id 0
  npu.store ins(%u : memref<64xf32, #npu.space<ub>>) outs(%y : !x)
  func.return
}"""

X = np.linspace(-1, 1, 64, dtype=np.float32)


def module(body: str) -> ModuleOp:
    text = (
        "!x = memref<64xf32, #npu.space<gm>>\n"
        'func.func @main(%x: !x {npu.input = "x"}, %y: !x {npu.output = "y"}) '
        f"attributes {{npu.host}} {{\n{body}\n  func.return\n}}{COPY}"
    )
    parsed = LocatedParser(context(), text, "host.mlir").parse_module()
    parsed.verify()
    return parsed


BETWEEN = f"""
  %a = npu.alloc at 0 : !x
  %b = npu.alloc at 512 : !x
  npu.launch @copy blocks(1) (%x, %a : !x, !x)
  {NEG} ins(%a : !x) outs(%b : !x)
  {ADD} ins(%b, %x : !x, !x) outs(%a : !x)
  npu.launch @copy blocks(1) (%a, %y : !x, !x)"""


def test_steps_keep_their_order() -> None:
    host = decode_host(find_host(module(BETWEEN)))
    assert [type(step) for step in host.steps] == [Launch, HostCall, HostCall, Launch]
    assert [launch.index for launch in host.launches] == [0, 1]
    assert [call.nbytes for call in host.calls] == [512, 768]


def test_numbers_pass_through_the_host() -> None:
    program = Program(module(BETWEEN))
    for scale in (1, 2):
        x = (X * scale).astype(np.float32)
        assert np.array_equal(program.run({"x": x})["y"], np.zeros(64, np.float32))
    assert np.array_equal(run_host(module(f"{NEG} ins(%x : !x) outs(%y : !x)"), {"x": X})["y"], -X)


def test_what_the_reference_refuses_is_an_error_with_its_place() -> None:
    wrong = f'npu.host_call "Neg" opset 17 onnx "{onnx_text("Frob", ["x"])}"'
    with pytest.raises(
        SimulationError, match="reference implementation does not have it"
    ) as caught:
        run_host(module(f"{wrong} ins(%x : !x) outs(%y : !x)"), {"x": X})
    assert "host.mlir:3" in str(caught.value)
    scalar = f'npu.host_call "Size" opset 17 onnx "{onnx_text("Size", ["x"])}"'
    with pytest.raises(SimulationError, match=r"gives int64\[\], the type is float32\[64\]"):
        run_host(module(f"{scalar} ins(%x : !x) outs(%y : !x)"), {"x": X})


def test_the_witness_accepts_what_is_in_order() -> None:
    assert not witness(module(BETWEEN), target="ascend910b3")


WRONG = {
    "uninitialised": f"""
  %a = npu.alloc at 0 : !x
  {NEG} ins(%a : !x) outs(%y : !x)""",
    "corruption by placement": f"""
  %a = npu.alloc at 0 : !x
  %b = npu.alloc at 128 : !x
  {NEG} ins(%x : !x) outs(%a : !x)
  {NEG} ins(%x : !x) outs(%b : !x)
  {NEG} ins(%a : !x) outs(%y : !x)""",
    "corruption of an input": f"""
  {NEG} ins(%y : !x) outs(%x : !x)""",
    "corruption of an operand": f"""
  {NEG} ins(%x : !x) outs(%y : !x)
  {NEG} ins(%y : !x) outs(%y : !x)""",
}


@pytest.mark.parametrize("name", WRONG)
def test_the_witness_sees_what_is_wrong(name: str) -> None:
    found = witness(module(WRONG[name]), target="ascend910b3")
    assert name.split()[0] in {violation.kind for violation in found}
    assert any("the host (Neg)" in violation.message for violation in found)


def test_a_host_call_takes_no_time_and_sends_its_buffers_out_of_l2() -> None:
    """The kernel behind it reads from HBM what the kernel before it left in L2."""
    timing = time_host(module(BETWEEN), "ascend910b3")
    assert timing.host_calls == 2 and timing.host_bytes == 512 + 768
    first, last = timing.kernels
    assert last.hbm_bytes == first.hbm_bytes == 512
    direct = BETWEEN.replace(NEG, "//").replace(ADD, "//")
    without = time_host(module(direct), "ascend910b3").kernels[1]
    assert without.hbm_bytes == 256
    assert timing.cycles == first.cycles + last.cycles


def test_a_range_that_is_dropped_is_not_in_l2() -> None:
    state = L2State(1000)
    state.touch("a", 0, 100)
    state.drop("a", 20, 30)
    state.drop("b", 0, 100)
    assert state.resident("a", 0, 100) == 90 and state.resident("a", 20, 30) == 0
    state.touch("a", 0, 1000)
    assert state.resident("a", 0, 1000) == 1000
