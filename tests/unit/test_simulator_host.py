"""Modules: inputs and outputs by name, several launches, buffers in gm, errors of the caller."""

import numpy as np
import pytest

from fusec.simulator.errors import SimulationError
from fusec.simulator.functional import Program, run_host
from fusec.simulator.witness import witness
from simulator_kernels import parse, replaced

MODULE = """
!m = memref<4x16xf32, #npu.space<gm>>
!v = memref<64xf32, #npu.space<gm>>
!h = memref<32xf32, strided<[1], offset: 32>, #npu.space<gm>>
!u = memref<64xf32, #npu.space<ub>>
func.func @main(%x: !m {npu.input = "x"}, %w: !v {npu.weight = "w"}, %y: !v {npu.output = "y"})
    attributes {npu.host} {
  %flat = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1] : !m to !v
  %t = npu.alloc at 0 : !v
  %s = npu.alloc at 512 : !v
  npu.launch @add blocks(1) (%flat, %w, %t : !v, !v, !v)
  npu.launch @add blocks(1) (%t, %w, %s : !v, !v, !v)
  npu.launch @add blocks(1) (%s, %t, %y : !v, !v, !v)
  func.return
}
func.func @add(%a: !v, %b: !v, %c: !v) attributes {npu.core = "vector"} {
  %ua = npu.alloc at 0 : !u
  %ub = npu.alloc at 256 : !u
  npu.load ins(%a : !v) outs(%ua : !u)
  npu.load ins(%b : !v) outs(%ub : !u)
  npu.set_flag <mte2> to <v> id 0
  npu.wait_flag <mte2> to <v> id 0
  npu.vadd ins(%ua, %ub : !u, !u) outs(%ua : !u)
  npu.set_flag <v> to <mte3> id 0
  npu.wait_flag <v> to <mte3> id 0
  npu.store ins(%ua : !u) outs(%c : !v)
  func.return
}
"""
X = np.arange(64, dtype=np.float32).reshape(4, 16)
W = np.full(64, 0.5, np.float32)
WANT = 2 * X.reshape(64) + 3 * W


@pytest.mark.parametrize("address", [" at 0", ""])
def test_a_module_runs_with_and_without_addresses(address: str) -> None:
    text = MODULE.replace(" at 0 : !v", f"{address} : !v").replace(
        " at 512", " at 512" if address else ""
    )
    program = Program(parse(text))
    for _ in range(2):
        assert np.array_equal(program.run({"x": X, "w": W, "unknown": X})["y"], WANT)
    assert np.array_equal(run_host(parse(text), {"x": X, "w": W})["y"], WANT)
    assert not list(witness(parse(text)))


def test_outputs_of_two_runs_are_different_arrays() -> None:
    program = Program(parse(MODULE))
    first = program.run({"x": X, "w": W})["y"]
    kept = first.copy()
    program.run({"x": X + 1, "w": W})
    assert np.array_equal(first, kept)


def test_an_input_that_is_not_contiguous_is_copied() -> None:
    x = np.asfortranarray(X)
    assert np.array_equal(run_host(parse(MODULE), {"x": x, "w": W})["y"], WANT)


def test_tap_tells_the_kernel() -> None:
    seen: list[tuple[str, str]] = []
    run_host(parse(MODULE), {"x": X, "w": W}, tap=lambda k, v, b, a: seen.append((k, v)))
    assert seen == [("add", "ua"), ("add", "ub"), ("add", "ua"), ("add", "c")] * 3


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": X}, 'weight "w": no array of this name is given; add it; given: x'),
        ({}, 'input "x": no array of this name is given; add it; given: nothing'),
        ({"x": X, "w": W.astype(np.float16)}, r"the array is float16\[64\]; give float32\[64\]"),
        ({"x": X.T, "w": W}, r"the array is float32\[16, 4\]; give float32\[4, 16\]"),
    ],
)
def test_wrong_arrays(arrays: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        run_host(parse(MODULE), arrays)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('{npu.input = "x"}', "", "argument 0: it has no name"),
        ("attributes {npu.host}", "", "0 functions have the attribute npu.host"),
        (
            "offset: [0], sizes: [64], strides: [1] : !m to !v",
            "offset: [8], sizes: [64], strides: [1] : !m to !v",
            "casts only to contiguous parts",
        ),
        ("%t = npu.alloc at 0", "%c = arith.constant 0 : index\n%t = npu.alloc at 0", "host side"),
    ],
)
def test_host_refusals(old: str, new: str, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        Program(parse(replaced(MODULE, old, new)))


def kinds(text: str) -> set[str]:
    return {violation.kind for violation in witness(parse(text))}


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("npu.alloc at 512", "npu.alloc at 128", "out-of-bounds"),
        ("npu.alloc at 512", "npu.alloc at 0", "corruption"),
        ("npu.alloc at 512", "npu.alloc at 68719476736", "out-of-bounds"),
        ("(%s, %t, %y : !v, !v, !v)", "(%s, %w, %s : !v, !v, !v)", "corruption"),
        ("(%s, %t, %y : !v, !v, !v)", "(%s, %t, %w : !v, !v, !v)", "corruption"),
        ("(%s, %t, %y : !v, !v, !v)", "(%s, %t, %t : !v, !v, !v)", "uninitialised"),
        ("(%flat, %w, %t : !v, !v, !v)", "(%s, %w, %t : !v, !v, !v)", "uninitialised"),
    ],
)
def test_the_witness_of_the_host(old: str, new: str, kind: str) -> None:
    assert kind in kinds(replaced(MODULE, old, new))


def test_a_buffer_overwritten_between_its_uses() -> None:
    text = replaced(MODULE, "npu.alloc at 512", "npu.alloc at 0")
    text = replaced(text, "(%t, %w, %s : !v, !v, !v)", "(%w, %w, %s : !v, !v, !v)")
    found = [v for v in witness(parse(text)) if "has overwritten" in v.message]
    assert [v.kind for v in found] == ["corruption"]
    assert "reads t, of which s" in found[0].message
    results = run_host(parse(text), {"x": X, "w": W})
    assert not np.array_equal(results["y"], X.reshape(64) + 3 * W)


def test_without_a_host_function_each_kernel_is_played() -> None:
    text = MODULE[: MODULE.index("func.func @main")] + MODULE[MODULE.index("func.func @add") :]
    verdict = witness(parse(text))
    assert not verdict
    assert verdict.sampled == {"add": 1.0}
