"""Modules of the graph level from text, and passes on them with everything checked after each."""

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp

from fusec.api import context, run_passes
from fusec.frontends.mlir import LocatedParser
from fusec.semantics import Array, np_dtype
from fusec.semantics.interpreter import Interpreter, argument_names
from fusec.semantics.types import numpy_type
from fusec_dialects.dominance import verify_dominance
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import tensor_type

PREPARE = ("graph-infer-shapes", "graph-simplify", "graph-raise")
OPTIMISE = ("graph-fuse{objective=kernels}", "graph-fold-weights", "graph-assign-layout")


def parse(text: str) -> ModuleOp:
    """A verified module whose operators know where they stand."""
    module = LocatedParser(context(), text, "test.mlir").parse_module()
    module.verify()
    return module


def function(arguments: str, results: str, body: str) -> ModuleOp:
    """`func.func @main(arguments) -> results { body }`; the body ends with func.return."""
    return parse(f"func.func @main({arguments}) -> {results} {{\n{body}\n}}")


def main_of(module: ModuleOp) -> FuncOp:
    return next(
        op for op in module.body.block.ops if isinstance(op, FuncOp) and op.sym_name.data == "main"
    )


def operators(module: ModuleOp) -> list[str]:
    """Names of all operators of the graph level, in order."""
    return [op.op_name for op in module.walk() if isinstance(op, GraphOp)]


def check(module: ModuleOp) -> None:
    """Valid, dominated, every operator's place known, and the text reads back to the same text."""
    module.verify()
    verify_dominance(module)
    for op in module.walk():
        assert op.location != UNKNOWN_LOC, f"{op.name} has lost its place"
    text = str(module)
    assert str(parse(text)) == text


def apply(module: ModuleOp, *passes: str) -> ModuleOp:
    """Passes one after the other, `check` after each; the module is changed and given back."""
    for spec in passes:
        run_passes(module, spec)
        check(module)
    return module


def random_inputs(module: ModuleOp, seed: int = 0) -> dict[str, Array]:
    """Normal values for floats, small integers and booleans, by the names that `run` takes."""
    main = main_of(module)
    rng = np.random.default_rng(seed)
    found: dict[str, Array] = {}
    for name, argument in zip(argument_names(main), main.body.block.args, strict=True):
        type_ = tensor_type(argument)
        found[name] = random_array(rng, type_)
    return found


def random_array(rng: np.random.Generator, type_: TensorType) -> Array:
    dtype, shape = numpy_type(type_.element_type), type_.get_shape()
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        return rng.integers(0, 3, shape).astype(dtype)
    return np.asarray(rng.standard_normal(shape)).astype(dtype)


def run(
    module: ModuleOp,
    inputs: Mapping[str, Array],
    weights: Mapping[str, Array] | None = None,
    *,
    oracle: bool = False,
) -> list[Array]:
    """The outputs of @main, in order."""
    return list(Interpreter(module, weights or {}, oracle=oracle).run(inputs).values())


def relative_error(found: Array, expected: Array) -> float:
    """max|a - b| / max|b| of the finite values; inf and nan have to stand at equal places."""
    assert found.shape == expected.shape
    a, b = found.astype(np_dtype("float64")), expected.astype(np_dtype("float64"))
    finite = np.isfinite(a) & np.isfinite(b)
    assert np.array_equal(a[~finite], b[~finite], equal_nan=True)
    error = float(np.max(np.abs(a[finite] - b[finite]), initial=0.0))
    return error / max(float(np.max(np.abs(b[finite]), initial=0.0)), 1e-30)


def assert_close(
    found: Sequence[Array], expected: Sequence[Array], tolerance: float = 1e-5
) -> None:
    """`relative_error` within the tolerance, for each of the arrays."""
    for a, b in zip(found, expected, strict=True):
        assert relative_error(a, b) <= tolerance


def assert_as_good(
    found: Sequence[Array], before: Sequence[Array], exact: Sequence[Array], margin: float = 2e-6
) -> None:
    """No further from the exact values than four times what it was before, or than the margin."""
    for a, b, c in zip(found, before, exact, strict=True):
        assert relative_error(a, c) <= max(margin, 4 * relative_error(b, c))


def assert_same_bits(found: Sequence[Array], expected: Sequence[Array]) -> None:
    """Equal types and bytes: signs of zeros and kinds of nan included."""
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        assert a.tobytes() == b.tobytes()
