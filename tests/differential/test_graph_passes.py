"""The passes of the graph level on random modules: equal results, and text that reads back.

After each pass the module is verified, printed and parsed again, and no operator may have lost its
place (`graph_modules.check`).
"""

from random import Random

import numpy as np
import pytest

from fusec_dialects.graph import FusedOp, GraphOp
from graph_modules import (
    OPTIMISE,
    PREPARE,
    apply,
    assert_as_good,
    assert_close,
    assert_same_bits,
    parse,
    random_inputs,
    run,
)
from random_networks import CONVOLUTIONS, random_network


@pytest.mark.parametrize("seed", range(20))
def test_convolutional_networks(seed: int) -> None:
    """Batch norms folded and layouts turned, whatever pads, strides, groups and axes there are."""
    text, weights = random_network(Random(seed), 12, CONVOLUTIONS)
    module = parse(text)
    inputs = random_inputs(module)
    before = run(module, inputs, weights)
    exact = run(module, inputs, weights, oracle=True)
    for spec in (*PREPARE, *OPTIMISE, "graph-outline"):
        apply(module, spec)
        assert_close(run(module, inputs, weights, oracle=True), exact, 1e-11)
    assert_as_good(run(module, inputs, weights), before, exact)
    assert not any(isinstance(op, FusedOp) for op in module.walk())


@pytest.mark.parametrize("seed", range(16))
def test_networks_of_other_operators(seed: int) -> None:
    text, weights = random_network(Random(seed), 20)
    module = parse(text)
    inputs = random_inputs(module)
    exact = run(module, inputs, weights, oracle=True)
    for spec in (*PREPARE, *OPTIMISE, "graph-outline"):
        apply(module, spec)
        assert_close(run(module, inputs, weights, oracle=True), exact, 1e-10)


@pytest.mark.parametrize("seed", range(16))
def test_simplification_changes_no_bit_and_ends(seed: int) -> None:
    text, weights = random_network(Random(100 + seed), 20)
    module = parse(text)
    inputs = random_inputs(module)
    before = run(module, inputs, weights)
    apply(module, "graph-infer-shapes", "graph-simplify")
    assert_same_bits(run(module, inputs, weights), before)
    once = str(module)
    apply(module, "graph-simplify", "graph-infer-shapes")
    assert str(module) == once


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, 3e38], np.float32)

EXACT = {
    "sub": "%c = graph.constant dense<0.0> : tensor<f32>\n%0 = graph.sub %x, %c",
    "add": "%c = graph.constant dense<-0.0> : tensor<f32>\n%0 = graph.add %x, %c",
    "add_zero": "%c = graph.constant dense<0.0> : tensor<f32>\n%0 = graph.add %x, %c",
    "mul": "%c = graph.constant dense<1.0> : tensor<f32>\n%0 = graph.mul %x, %c",
    "mul_zero": "%c = graph.constant dense<-0.0> : tensor<f32>\n%0 = graph.mul %x, %c",
    "div": "%c = graph.constant dense<1.0> : tensor<f32>\n%0 = graph.div %x, %c",
}


@pytest.mark.parametrize("name", EXACT)
def test_neutral_operands_keep_every_bit_of_special_values(name: str) -> None:
    """C24: -0, inf, nan and the smallest and largest numbers."""
    t = "tensor<9xf32>"
    text = f"func.func @main(%x: {t}) -> {t} {{\n{EXACT[name]} : ({t}, tensor<f32>) -> {t}\n"
    module = parse(text + f"func.return %0 : {t}\n}}")
    before = run(module, {"0": SPECIAL})
    apply(module, "graph-simplify")
    assert_same_bits(run(module, {"0": SPECIAL}), before)
    kept = any(isinstance(op, GraphOp) for op in module.walk())
    assert kept == name.endswith("zero")


@pytest.mark.parametrize("name", ["relu", "abs"])
def test_repeated_operators_keep_every_bit_of_special_values(name: str) -> None:
    t = "tensor<9xf32>"
    lines = [f"%{i} = graph.{name} %{i - 1 if i else 'x'} : {t} -> {t}" for i in range(3)]
    module = parse(
        f"func.func @main(%x: {t}) -> {t} {{\n" + "\n".join(lines) + f"\nfunc.return %2 : {t}\n}}"
    )
    before = run(module, {"0": SPECIAL})
    apply(module, "graph-simplify")
    assert_same_bits(run(module, {"0": SPECIAL}), before)
    assert sum(isinstance(op, GraphOp) for op in module.walk()) == 1
