"""Whether graph-simplify keeps every bit of a small module and leaves the operators it should."""

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from graph_modules import apply, assert_same_bits, function, operators, random_inputs, run

Case = tuple[str, str, str, list[str]]
"""The type of %x, a body that computes %y, the type of %y, the operators that stay."""


def module_of(argument: str, body: str, result: str) -> ModuleOp:
    """`main` of one %x, which returns the %y of the body."""
    return function(f"%x: {argument}", result, f"{body}func.return %y : {result}")


def check_simplified(case: Case) -> None:
    """On random values, -0, inf and a subnormal number among them."""
    argument, body, result, expected = case
    module = module_of(argument, body, result)
    inputs = random_inputs(module, 1)
    inputs["0"].flat[:3] = np.array([-0.0, np.inf, 1e-45], np.float32)
    before = run(module, inputs)
    apply(module, "graph-simplify")
    assert_same_bits(run(module, inputs), before)
    assert operators(module) == expected
