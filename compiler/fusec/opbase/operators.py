"""`@RegOp`: an operator of one's own, with its numpy meaning, its types, and a kernel if there is
one.

In: a class derived from OperatorBase. Out: `graph.NAME` in text, `ascendc.NAME` in fusions, ONNX
nodes of that type in a domain of one's own, its meaning at every level; the host computes it where
it has no kernel.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, TypeVar, cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from fusec.fusion.patterns import all_patterns
from fusec.opbase.base import OperatorBase, Tensor
from fusec.opbase.kernels import KernelCheck
from fusec.opbase.names import check_name
from fusec.opbase.symbols import FusionError
from fusec.schedule.known import forget
from fusec.schedule.own import KERNELS, OwnKernel, Unsupported
from fusec.semantics import TABLE, Array, Attr, Call, Kind, Semantic, SemanticsError
from fusec.semantics.base import AttrValue as SemanticValue
from fusec.semantics.dtypes import FLOAT64, is_floating
from fusec.semantics.types import ELEMENT_TYPES, NUMPY_NAMES, numpy_type, tensor_of
from fusec_dialects.graph import (
    OPERATORS,
    OWN,
    AttrValue,
    Graph,
    GraphOp,
    OwnOperator,
    add_operator,
    remove_operator,
)
from fusec_dialects.graph.sizes import dims_of, make_type

Operator = TypeVar("Operator", bound=OperatorBase)
Compute = Callable[[Call], list[Array]]

_KINDS: dict[type, Kind] = {
    bool: Kind.BOOL,
    int: Kind.INT,
    float: Kind.FLOAT,
    str: Kind.TEXT,
    tuple: Kind.INTS,
}

ADVICE = "look into the operator's own code"


def RegOp(name: str, *, domain: str = "") -> Callable[[type[Operator]], type[Operator]]:
    """Register a class derived from OperatorBase as an operator.

    ONNX nodes of type `name` in `domain`, by default in any domain that is not ONNX's own, import
    as it. Raises FusionError for a name that is taken or no identifier, and for a class without
    inputs, outputs or meaning.
    """

    def decorate(made: type[Operator]) -> type[Operator]:
        operator = made()
        check_name(name)
        if name in OPERATORS or f"graph.{name}" in {op.name for op in Graph.operations}:
            raise FusionError(f"{name}: an operator of this name exists; choose another one")
        if name in all_patterns():
            raise FusionError(f"{name}: a fusion of this name exists; choose another one")
        _check_declared(name, operator)
        own = OwnOperator(
            name,
            tuple(operator.inputs),
            tuple(operator.outputs),
            _rule(name, operator),
            dict(operator.attributes),
            bool(operator.optional_inputs),
            name,
            domain,
            inspect.getdoc(made) or "",
        )
        lower = _lower(operator) if made.has_lower() else None
        register_operator(own, _compute(own, operator), lower)
        return made

    return decorate


def register_operator(
    own: OwnOperator, compute: Compute, lower: Callable[..., None] | None = None
) -> None:
    """Make an operator known to the dialect, the semantics and the schedules."""
    attrs = {k: Attr(_KINDS[type(v)], _plain(v)) for k, v in own.defaults.items()}
    add_operator(own)
    TABLE[own.name] = Semantic(compute, own.least, len(own.inputs), attrs)
    if lower is not None:
        KERNELS[own.name] = OwnKernel(lower, KernelCheck(own.name, lower).estimate)
    forget()


def unregister_operator(name: str) -> None:
    """Take an own operator out again; a name that is none is no error."""
    if name in OWN:
        remove_operator(name)
        TABLE.pop(name)
        KERNELS.pop(name, None)
        forget()


def _plain(value: AttrValue) -> SemanticValue:
    if value is None:
        raise ValueError("an attribute has a default")
    return value


def _check_declared(name: str, operator: OperatorBase) -> None:
    if not operator.inputs or not operator.outputs:
        raise FusionError(f"{name}: declare at least one input and one output (add_input, ...)")
    if type(operator).compute is OperatorBase.compute:
        raise FusionError(f"{name}: it has no compute, so nothing says what it means")
    if operator.optional_inputs - set(operator.inputs[-1:]) or (
        operator.optional_inputs and len(operator.inputs) == 1
    ):
        raise FusionError(f"{name}: only the last of several inputs may be optional")
    for key, value in operator.attributes.items():
        check_name(key, f"{name}: attribute ")
        if type(value) not in _KINDS:
            raise FusionError(
                f"{name}: attribute '{key}' is {value!r}; bool, int, float, str or a list of ints"
            )


def _bound(operator: OperatorBase, attrs: Mapping[str, Any]) -> Any:
    """The operator with the attributes of one node."""
    bound = copy(operator)
    bound.attributes = {k: attrs.get(k, v) for k, v in operator.attributes.items()}
    return bound


def _rule(name: str, operator: OperatorBase) -> Callable[..., list[TensorType[Attribute]]]:
    def infer(
        types: Sequence[TensorType[Attribute]], attrs: Mapping[str, AttrValue]
    ) -> list[TensorType[Attribute]]:
        given = [Tensor(dims_of(t), str(t.element_type)) for t in types]
        try:
            found = _bound(operator, attrs).infer(given)
        except Exception as error:  # whatever the user's own code raises
            raise VerifyException(f"its infer fails: {_text(error)}") from error
        return _types(cast("object", found), len(operator.outputs))

    return infer


def _types(found: object, count: int) -> list[TensorType[Attribute]]:
    tensors = cast("list[object]", found) if isinstance(found, list | tuple) else []
    if len(tensors) != count:
        raise VerifyException(f"its infer has to give a list of {count} Tensor(shape, dtype)")
    made: list[TensorType[Attribute]] = []
    for tensor in tensors:
        if not isinstance(tensor, Tensor) or tensor.dtype not in NUMPY_NAMES:
            raise VerifyException(f"its infer gives {tensor!r}, expected Tensor(shape, 'f32')")
        made.append(make_type(ELEMENT_TYPES[NUMPY_NAMES[tensor.dtype]], tuple(tensor.shape)))
    return made


def _compute(own: OwnOperator, operator: OperatorBase) -> Compute:
    def compute(call: Call) -> list[Array]:
        outputs: list[Any] = [None] * len(own.outputs)
        try:
            _bound(operator, call.attrs).compute(list(call.inputs), outputs)
        except SemanticsError:
            raise
        except Exception as error:  # whatever the user's own code raises
            raise call.error(f"its compute fails: {_text(error)}", ADVICE) from error
        arrays = [a for a in call.inputs if a is not None]
        given = [tensor_of(a.dtype, a.shape) for a in arrays]
        try:
            types = own.infer(given, cast("Mapping[str, AttrValue]", call.attrs))
        except VerifyException as error:
            raise call.error(str(error), ADVICE) from error
        return [
            _result(call, name, value, type_)
            for name, value, type_ in zip(own.outputs, outputs, types, strict=True)
        ]

    return compute


def _result(call: Call, name: str, value: object, type_: TensorType[Attribute]) -> Array:
    """An output as its type says; floats are rounded to it, with the oracle widened."""
    if value is None:
        raise call.error(f"its compute leaves '{name}' unset", f"set outputs[i] for '{name}'")
    array = np.asarray(value)
    dtype, shape = numpy_type(type_.element_type), type_.get_shape()
    both = is_floating(array.dtype) and is_floating(dtype)
    if array.shape != shape or not (both or array.dtype == dtype):
        raise call.error(
            f"its compute gives '{name}' as {array.dtype.name}{list(array.shape)}, its infer says "
            f"{dtype.name}{list(shape)}",
            "make them agree",
        )
    wide = call.oracle and is_floating(dtype)
    return array.astype(FLOAT64 if wide else dtype, copy=False)


def _lower(operator: OperatorBase) -> Callable[..., None]:
    def lower(op: GraphOp, npu: Any, inputs: list[Any], outputs: list[Any]) -> None:
        _bound(operator, op.attrs()).lower(npu, inputs, outputs)

    return lower


def _text(error: BaseException) -> str:
    plain = isinstance(error, DiagnosticException | Unsupported)
    return str(error) if plain else f"{type(error).__name__}: {error}"
