"""Affine maps of channels go into the convolution or norm before them by graph-raise, by numbers,
in float32 and float16.
"""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp

from fusec_dialects.graph import GraphOp
from graph_modules import apply, assert_close, random_inputs, run
from spelled_modules import module_of
from vector_regions import tensor


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("shape", ["4x1x1", "1x4x1x1", ""])
def test_an_affine_map_of_channels_goes_into_the_convolution(
    shape: str, biased: bool, element: str
) -> None:
    one = f"tensor<{shape}{'x' if shape else ''}{element}>"
    operands, types = ("%x, %w, %b", "(T, F, V)") if biased else ("%x, %w", "(T, F)")
    names = {
        "T": tensor((2, 3, 5, 6), element),
        "F": tensor((4, 3, 3, 3), element),
        "V": tensor((4,), element),
        "C": one,
        "Y": tensor((2, 4, 3, 4), element),
        "S": f"tensor<{element}>",
    }
    weights = "".join(
        f'%{name} = graph.weight "{name}" : {type_}\n'
        for name, type_ in (("w", "F"), ("b", "V"), ("s", "C"), ("o", "C"))
    )
    body = weights + (
        f"%1 = graph.conv {operands} {{strides = [1, 1], pads = [0, 0, 0, 0], "
        f"dilations = [1, 1]}} : {types} -> Y\n%2 = graph.mul %s, %1 : (C, Y) -> Y\n"
        "%y = graph.sub %2, %o : (Y, C) -> Y"
    )
    module = module_of(("%x: T", "Y"), body, names)
    rng = np.random.default_rng(0)
    dtype = np.float32 if element == "f32" else np.float16
    size = (4, *(1,) * (shape.count("x"))) if shape == "4x1x1" else (1, 4, 1, 1)
    stored = {
        "w": rng.standard_normal((4, 3, 3, 3)).astype(dtype),
        "b": rng.standard_normal(4).astype(dtype),
        "s": np.asarray(rng.standard_normal(size if shape else ())).astype(dtype),
        "o": np.asarray(rng.standard_normal(size if shape else ())).astype(dtype),
    }
    inputs = random_inputs(module, 3)
    before, exact = run(module, inputs, stored), run(module, inputs, stored, oracle=True)
    apply(module, "graph-raise")
    kept = not shape and not biased
    assert ("sub" in conv_users(module)) is kept
    assert_close(run(module, inputs, stored, oracle=True), exact, 1e-12)
    assert_close(run(module, inputs, stored), before, 3e-6 if element == "f32" else 4e-3)


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("shape", ["4x1x1", "1x4x1x1", ""])
def test_an_affine_map_of_channels_goes_into_the_norm(shape: str, element: str) -> None:
    sizes = tuple(int(n) for n in shape.split("x")) if shape else ()
    names = {
        "T": tensor((2, 4, 3, 5), element),
        "V": tensor((4,), element),
        "C": f"tensor<{shape}{'x' if shape else ''}{element}>",
        "S": f"tensor<{element}>",
    }
    stored_types = {"s": "V", "b": "V", "m": "V", "v": "V", "k": "C", "c": "C"}
    weights = "".join(f'%{n} = graph.weight "{n}" : {t}\n' for n, t in stored_types.items())
    body = weights + (
        "%1 = graph.batch_normalization %x, %s, %b, %m, %v : (T, V, V, V, V) -> T\n"
        "%2 = graph.div %1, %k : (T, C) -> T\n%y = graph.sub %2, %c : (T, C) -> T"
    )
    module = module_of(("%x: T", "T"), body, names)
    rng = np.random.default_rng(0)
    dtype = np.float32 if element == "f32" else np.float16
    stored = {
        name: np.asarray(rng.uniform(0.5, 1.5, (4,) if kind == "V" else sizes)).astype(dtype)
        for name, kind in stored_types.items()
    }
    inputs = random_inputs(module, 3)
    before, exact = run(module, inputs, stored), run(module, inputs, stored, oracle=True)
    apply(module, "graph-raise")
    norms = [op for op in module.walk() if isinstance(op, GraphOp) and op.op_name[:5] == "batch"]
    assert [isinstance(use.operation, ReturnOp) for n in norms for use in n.results[0].uses] == [
        True
    ]
    assert_close(run(module, inputs, stored, oracle=True), exact, 1e-12)
    assert_close(run(module, inputs, stored), before, 3e-6 if element == "f32" else 4e-3)


def conv_users(module: ModuleOp) -> set[str]:
    """The operators that read the result of a convolution."""
    found: set[str] = set()
    for op in module.walk():
        if isinstance(op, GraphOp) and op.op_name == "conv":
            users = [use.operation for use in op.results[0].uses]
            found |= {user.op_name for user in users if isinstance(user, GraphOp)}
    return found
