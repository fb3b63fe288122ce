"""What graph.opaque and npu.host_call mean: ONNX's reference implementation of their node.

The package onnx is imported when the first one is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from fusec.semantics.base import AttrValue, SemanticsError
from fusec.semantics.dtypes import Array, DType
from fusec.semantics.table import evaluate
from fusec_dialects.graph import OWN, OwnOperator

if TYPE_CHECKING:
    from onnx import FunctionProto
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import OpRun

ArrayType: TypeAlias = tuple[DType, tuple[int, ...]]
"""Element type and shape."""

_ERRORS = (
    RuntimeError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    AssertionError,
)
"""What the reference implementation raises for a node that it does not know or take."""

OWN_DOMAIN = "fusec.own"
"""The domain of operators of a user's that name none."""

_ADVICE = "compile and profile it without running it, or replace the operator in the model"


def evaluate_opaque(
    op_type: str, text: str, inputs: Sequence[Array], types: Sequence[ArrayType]
) -> list[Array]:
    """The results of the node in `text`, a FunctionProto in hexadecimal; `types` are theirs.

    Raises SemanticsError where the reference implementation does not know the operator or refuses
    the inputs, and for results of other types; ModuleNotFoundError where onnx is not installed.
    """
    function, evaluator = _evaluator(op_type, text)
    results = _run(op_type, function, evaluator, inputs)
    return [_result(op_type, r, t) for r, t in zip(results, types, strict=True)]


def run_function(function: FunctionProto, inputs: Sequence[Array]) -> Sequence[object]:
    """The outputs of an ONNX function by ONNX's reference implementation: arrays, lists or None.

    Raises SemanticsError where that has no such operator or refuses the inputs.
    """
    return _run(function.name, function, _prepared(function.name, function), inputs)


def _run(
    op_type: str, function: FunctionProto, evaluator: ReferenceEvaluator, inputs: Sequence[Array]
) -> Sequence[object]:
    feeds = dict(zip(function.input, inputs, strict=True))
    run = cast("Callable[..., Sequence[object]]", evaluator.run)  # pyright: ignore[reportUnknownMemberType]
    try:
        with np.errstate(all="ignore"):
            return run(None, feeds, attributes={})
    except _ERRORS as error:
        raise SemanticsError(
            op_type, f"ONNX's reference implementation failed: {error}", _ADVICE
        ) from error


def _plain(value: object) -> AttrValue:
    """An attribute as the semantics take it."""
    plain: Any = cast(Any, value).tolist() if isinstance(value, np.generic | np.ndarray) else value
    return tuple(cast("list[Any]", plain)) if isinstance(plain, list) else plain


def _own_operators() -> list[type[OpRun]]:
    """The operators of users' in this process, for ONNX's reference implementation."""
    from onnx.reference.op_run import OpRun

    def made(own: OwnOperator) -> type[OpRun]:
        def run(_: OpRun, *inputs: Array, **attrs: AttrValue) -> tuple[Array, ...]:
            return tuple(evaluate(own.name, inputs, {k: _plain(v) for k, v in attrs.items()}))

        domain = own.domain or OWN_DOMAIN
        return type(own.name, (OpRun,), {"op_domain": domain, "_run": run})

    return [made(own) for own in OWN.values()]


@lru_cache(maxsize=256)
def _evaluator(op_type: str, text: str) -> tuple[FunctionProto, ReferenceEvaluator]:
    from google.protobuf.message import DecodeError
    from onnx import FunctionProto

    try:
        function = FunctionProto.FromString(bytes.fromhex(text))
    except DecodeError as error:
        raise SemanticsError(
            op_type, "its bytes are no ONNX FunctionProto", "import the model again"
        ) from error
    return function, _prepared(op_type, function)


def _prepared(op_type: str, function: FunctionProto) -> ReferenceEvaluator:
    from onnx.reference import ReferenceEvaluator

    try:
        return ReferenceEvaluator(function, new_ops=_own_operators())
    except _ERRORS as error:
        unknown = isinstance(error, NotImplementedError)
        why = "" if unknown else f": {error}"
        own = unknown and any(o.domain not in ("", "ai.onnx") for o in function.opset_import)
        raise SemanticsError(
            op_type,
            f"ONNX's reference implementation does not have it{why}",
            f"load the file that registers it (--load FILE.py), or {_ADVICE}" if own else _ADVICE,
        ) from error


def _result(op_type: str, value: object, type_: ArrayType) -> Array:
    """The value as an array of that type.

    The reference `Loop` joins what it scans along the first axis instead of a new one: the same
    elements in the same order.
    """
    dtype, shape = type_
    if value is None or isinstance(value, list):
        raise SemanticsError(op_type, "a result is no tensor", _ADVICE)
    array = np.asarray(value)
    if array.dtype != dtype or array.size != prod(shape):
        raise SemanticsError(
            op_type,
            f"ONNX's reference implementation gives {array.dtype.name}{list(array.shape)}, "
            f"the type is {dtype.name}{list(shape)}",
            _ADVICE,
        )
    return array.reshape(shape)
