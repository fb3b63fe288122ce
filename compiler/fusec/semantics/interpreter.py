"""Runs a module of the graph dialect, before or after fusion and outlining, on numpy arrays.

Values go away after their last use. With `oracle` everything floating is float64. Every result is
checked against its type, so a wrong shape rule does not go unseen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from fusec.semantics.base import AttrValue, SemanticsError
from fusec.semantics.dtypes import FLOAT64, Array, is_floating
from fusec.semantics.opaque import evaluate_opaque
from fusec.semantics.table import evaluate
from fusec.semantics.types import NUMPY_NAMES, numpy_type
from fusec.semantics.weights import Tap
from fusec_dialects.graph import (
    CallOp,
    ConstantOp,
    FusedOp,
    GraphOp,
    KernelOp,
    OpaqueOp,
    WeightOp,
    YieldOp,
)
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.sizes import UNNAMED, dims_of, text
from fusec_dialects.locations import nodes
from fusec_dialects.place import place

Watch: TypeAlias = Callable[[Operation, Sequence[Array]], None]
"""Called with each operator that ran, those inside of kernels too, and its results."""


class GraphError(ValueError):
    """A module that cannot be run: something is missing or of the wrong type."""


def constant_array(op: ConstantOp) -> Array:
    """The value of an inline constant."""
    type_ = tensor_type(op.y)
    dtype = numpy_type(type_.element_type)
    return np.frombuffer(op.content, dtype).reshape(type_.get_shape())


def semantic_attrs(op: GraphOp, sizes: Mapping[str, int] | None = None) -> dict[str, AttrValue]:
    """The attributes as the semantics take them: element types by numpy's names.

    `sizes` has the dynamic sizes by name, where they are known.
    """
    attrs: dict[str, AttrValue] = {k: v for k, v in op.attrs().items() if v is not None}
    if isinstance(to := attrs.get("to"), str):
        attrs["to"] = NUMPY_NAMES[to]
    shape = attrs.get("shape")
    if sizes and isinstance(shape, tuple) and -1 in shape:
        dims = dims_of(tensor_type(op.results[0]))
        attrs["shape"] = tuple(sizes.get(d, -1) if isinstance(d, str) else d for d in dims)
    return attrs


def names_of(attrs: Sequence[DictionaryAttr] | None, count: int) -> list[str]:
    """The `graph.name` of each argument or result, its number where there is none."""
    found = [entry.data.get("graph.name") for entry in attrs or ()]
    found += [None] * (count - len(found))
    return [n.data if isinstance(n, StringAttr) else str(i) for i, n in enumerate(found)]


def argument_names(function: FuncOp) -> list[str]:
    """Names of a function's arguments in the model."""
    count = len(function.function_type.inputs.data)
    return names_of(None if function.arg_attrs is None else function.arg_attrs.data, count)


def result_names(function: FuncOp) -> list[str]:
    """Names of a function's results in the model."""
    count = len(function.function_type.outputs.data)
    return names_of(None if function.res_attrs is None else function.res_attrs.data, count)


def main_function(module: ModuleOp) -> FuncOp:
    """The function @main. Raises GraphError where there is none."""
    for op in module.body.block.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "main" and op.body.blocks:
            return op
    raise GraphError("the module has no function @main; give the network's function this name")


class Interpreter:
    """Runs the functions of one module with one set of weights."""

    def __init__(
        self,
        module: ModuleOp,
        weights: Mapping[str, Array],
        *,
        oracle: bool = False,
        tap: Tap | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._weights: Mapping[str, Array] = weights
        self._derived: dict[str, Array] | None = None
        self._oracle = oracle
        self._tap = tap
        self._watch = watch
        self._sizes: dict[str, int] = {}
        self._kernels: dict[str, KernelOp] = {}
        self._functions: dict[str, FuncOp] = {}
        for op in module.body.block.ops:
            if isinstance(op, KernelOp):
                self._kernels[op.sym_name.data] = op
            elif isinstance(op, FuncOp):
                self._functions[op.sym_name.data] = op

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs of `main` by name.

        Raises GraphError on missing inputs, wrong types and operators without a meaning.
        """
        main = self._functions.get("main")
        if main is None:
            raise GraphError("the module has no function @main")
        self._sizes = {}
        self.derived_weights()
        named = zip(argument_names(main), main.function_type.inputs.data, strict=True)
        arguments = [check_input(name, inputs, type_, self._sizes) for name, type_ in named]
        results = self._block(main.body.block, arguments)
        return dict(zip(result_names(main), results, strict=True))

    def derived_weights(self) -> dict[str, Array]:
        """What `@weights` computes, by name; evaluated once."""
        if self._derived is None:
            function = self._functions.get("weights")
            results = [] if function is None else self._block(function.body.block, [])
            names = [] if function is None else result_names(function)
            self._derived = dict(zip(names, results, strict=True))
        return self._derived

    def _block(self, block: Block, arguments: Sequence[Array]) -> list[Array]:
        env: dict[SSAValue, Array] = dict(zip(block.args, arguments, strict=True))
        left = Counter(operand for op in block.ops for operand in op.operands)
        for op in block.ops:
            operands = [env[o] for o in op.operands]
            if isinstance(op, YieldOp | ReturnOp):
                return operands
            for operand in op.operands:
                left[operand] -= 1
                if not left[operand]:
                    env.pop(operand, None)
            for result, array in zip(op.results, self._op(op, operands), strict=True):
                if left[result]:
                    env[result] = array
        return []

    def _op(self, op: Operation, operands: Sequence[Array]) -> Sequence[Array]:
        match op:
            case WeightOp():
                results = [self._weight(op)]
            case ConstantOp():
                results = [self._wide(constant_array(op))]
            case FusedOp():
                results = self._block(op.body.block, operands)
            case CallOp():
                kernel = self._kernels.get(op.callee.string_value())
                if kernel is None:
                    raise GraphError(f"no kernel {op.callee}")
                results = self._block(kernel.body.block, operands)
            case OpaqueOp():
                results = self._opaque(op, operands)
            case GraphOp():
                results = self._evaluate(op, operands)
            case _:
                raise GraphError(f"{op.name} is not an operator of the graph dialect")
        if self._tap is not None:
            self._report(op, results)
        if self._watch is not None:
            self._watch(op, results)
        return results

    def _report(self, op: Operation, results: Sequence[Array]) -> None:
        found = nodes(op.location)
        name = found[-1] if found else op.name
        if self._tap is not None:
            for array in results:
                self._tap(name, array)

    def _evaluate(self, op: GraphOp, operands: Sequence[Array]) -> Sequence[Array]:
        attrs = semantic_attrs(op, self._sizes)
        try:
            results = evaluate(op.op_name, operands, attrs, oracle=self._oracle)
        except SemanticsError as error:
            raise GraphError(f"{place(op)}: {error}") from error
        for result, array in zip(op.results, results, strict=True):
            self._check(op, tensor_type(result), array)
        return results

    def _opaque(self, op: OpaqueOp, operands: Sequence[Array]) -> list[Array]:
        """In the types of the model; with the oracle what comes back is widened."""
        given = [
            array.astype(numpy_type(tensor_type(value).element_type), copy=False)
            for value, array in zip(op.inputs, operands, strict=True)
        ]
        types = [(numpy_type(t.element_type), t.get_shape()) for t in map(tensor_type, op.outputs)]
        try:
            results = evaluate_opaque(op.op_type.data, op.onnx.data, given, types)
        except SemanticsError as error:
            raise GraphError(f"{place(op)}: {error}") from error
        return [self._wide(array) for array in results]

    def _check(self, op: Operation, type_: TensorType[Attribute], array: Array) -> None:
        """The array is what the type says; with the oracle floating types are all float64."""
        dtype, shape = numpy_type(type_.element_type), type_.get_shape()
        wide = self._oracle and is_floating(dtype)
        if array.dtype != (FLOAT64 if wide else dtype) or not _fits(array.shape, shape):
            found = f"{array.dtype.name}{list(array.shape)}"
            raise GraphError(f"{place(op)}: the value is {found}, its type is {type_}")

    def _weight(self, op: WeightOp) -> Array:
        name = op.weight.data
        array = (self._derived or {}).get(name)
        if array is None:
            if name not in self._weights:
                raise GraphError(
                    f"{place(op)}: weight '{name}' is in no store; load the model it belongs to"
                )
            array = self._wide(self._weights[name])
        self._check(op, tensor_type(op.y), array)
        return array

    def _wide(self, array: Array) -> Array:
        return array.astype(FLOAT64) if self._oracle and is_floating(array.dtype) else array


def _fits(shape: Sequence[int], declared: Sequence[int]) -> bool:
    return len(shape) == len(declared) and all(
        d in (DYNAMIC_INDEX, s) for s, d in zip(shape, declared, strict=True)
    )


def check_input(
    name: str, inputs: Mapping[str, Array], type_: object, sizes: dict[str, int] | None = None
) -> Array:
    """The input of that name, of the model's type and shape; GraphError otherwise.

    `sizes` gets the dynamic sizes by name; one that another input gave already has to be the same.
    """
    if name not in inputs:
        raise GraphError(
            f"input '{name}' is missing; there are {', '.join(sorted(inputs)) or 'none'}"
        )
    array = np.asarray(inputs[name])
    if not isinstance(type_, TensorType):
        raise GraphError(f"input '{name}' is {type_}, not a tensor")
    tensor = cast(TensorType[Attribute], type_)
    dtype, dims = numpy_type(tensor.element_type), dims_of(tensor)
    if array.dtype != dtype:
        raise GraphError(f"input '{name}' is {array.dtype.name}, the model takes {dtype.name}")
    if not _fits(array.shape, tensor.get_shape()):
        raise GraphError(f"input '{name}' is {list(array.shape)}, the model takes {text(dims)}")
    for dim, size in zip(dims, array.shape, strict=True):
        if sizes is None or not isinstance(dim, str) or dim == UNNAMED:
            continue
        if sizes.setdefault(dim, size) != size:
            raise GraphError(f"input '{name}' has {dim} = {size}, another input has {sizes[dim]}")
    return array
