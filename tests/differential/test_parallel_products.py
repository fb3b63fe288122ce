"""Joined products give what each gave by itself, on every level."""

import numpy as np
import pytest

from fusec.api import run_passes
from fusec.semantics import Array
from fusec.semantics.interpreter import Interpreter
from fusec.simulator.functional import Program
from fusec_dialects.graph import FusedOp, KernelOp
from graph_modules import function, random_inputs, relative_error

X, OUT = "tensor<2x24x32xf32>", "tensor<2x24x{}xf32>"


def network(widths: tuple[int, ...], *, bias: bool, activation: bool):
    """Softmax over products of one value; the third one is a product of the first one's result."""
    body: list[str] = []
    for i, n in enumerate(widths):
        w, y = f"tensor<32x{n}xf32>", OUT.format(n)
        body += [
            f'%w{i} = graph.weight "w{i}" : {w}',
            f"%p{i} = graph.matmul %x, %w{i} : ({X}, {w}) -> {y}",
        ]
        last = f"%p{i}"
        if bias:
            body.append(f'%b{i} = graph.weight "b{i}" : tensor<{n}xf32>')
            body.append(f"%a{i} = graph.add {last}, %b{i} : ({y}, tensor<{n}xf32>) -> {y}")
            last = f"%a{i}"
        if activation:
            body.append(f"%t{i} = graph.tanh {last} : {y} -> {y}")
            last = f"%t{i}"
        body.append(f"%s{i} = graph.softmax {last} : {y} -> {y}")
    types = ", ".join(OUT.format(n) for n in widths)
    values = ", ".join(f"%s{i}" for i in range(len(widths)))
    body.append(f"func.return {values} : {types}")
    named = ", ".join(f'{OUT.format(n)} {{graph.name = "y{i}"}}' for i, n in enumerate(widths))
    return function(f'%x: {X} {{graph.name = "x"}}', f"({named})", "\n".join(body))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("activation", [False, True])
@pytest.mark.parametrize("widths", [(16, 16), (16, 8, 24), (7, 33)])
def test_numbers(widths: tuple[int, ...], bias: bool, activation: bool) -> None:
    module = network(widths, bias=bias, activation=activation)
    rng = np.random.default_rng(0)
    weights = {f"w{i}": rng.standard_normal((32, n), np.float32) for i, n in enumerate(widths)}
    weights |= {f"b{i}": rng.standard_normal(n, np.float32) for i, n in enumerate(widths)}
    inputs = random_inputs(module)
    expected = Interpreter(module, weights, oracle=True).run(inputs)
    run_passes(module, "graph-fuse{objective=kernels}")
    assert sum(isinstance(op, FusedOp) for op in module.walk()) <= 1 + len(widths)
    assert relative(Interpreter(module, weights).run(inputs), expected) < 1e-5
    run_passes(module, "graph-fold-weights,graph-assign-layout,graph-outline,compile")
    assert not any(isinstance(op, KernelOp) for op in module.walk())
    derived = Interpreter(module, weights).derived_weights()
    assert relative(Program(module).run({**weights, **derived, **inputs}), expected) < 1e-5


def relative(found: dict[str, Array], expected: dict[str, Array]) -> float:
    return max(relative_error(found[name], expected[name]) for name in expected)
