"""Runs a module of the graph dialect, before or after fusion and outlining, on numpy arrays.

Values go away after their last use. With `oracle` everything floating is float64.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, NameLoc, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from fusec.semantics.base import AttrValue
from fusec.semantics.dtypes import Array
from fusec.semantics.table import evaluate
from fusec.semantics.types import NUMPY_NAMES, numpy_type
from fusec.semantics.weights import Tap
from fusec_dialects.graph import CallOp, ConstantOp, FusedOp, GraphOp, KernelOp, WeightOp, YieldOp
from fusec_dialects.graph.base import tensor_type


class GraphError(ValueError):
    """A module that cannot be run: something is missing or of the wrong type."""


def constant_array(op: ConstantOp) -> Array:
    """The value of an inline constant."""
    type_ = tensor_type(op.y)
    dtype = numpy_type(type_.element_type)
    return np.frombuffer(op.value.data.data, dtype).reshape(type_.get_shape())


def semantic_attrs(op: GraphOp) -> dict[str, AttrValue]:
    """The attributes as the semantics take them: element types by numpy's names."""
    attrs: dict[str, AttrValue] = {k: v for k, v in op.attrs().items() if v is not None}
    if isinstance(to := attrs.get("to"), str):
        attrs["to"] = NUMPY_NAMES[to]
    return attrs


def names_of(attrs: Sequence[DictionaryAttr] | None, count: int) -> list[str]:
    """The `graph.name` of each argument or result, "" where there is none."""
    found = [entry.data.get("graph.name") for entry in attrs or ()]
    names = [name.data if isinstance(name, StringAttr) else "" for name in found]
    return names + [""] * (count - len(names))


def argument_names(function: FuncOp) -> list[str]:
    """Names of a function's arguments in the model."""
    count = len(function.function_type.inputs.data)
    return names_of(None if function.arg_attrs is None else function.arg_attrs.data, count)


def result_names(function: FuncOp) -> list[str]:
    """Names of a function's results in the model."""
    count = len(function.function_type.outputs.data)
    return names_of(None if function.res_attrs is None else function.res_attrs.data, count)


class Interpreter:
    """Runs the functions of one module with one set of weights."""

    def __init__(
        self,
        module: ModuleOp,
        weights: Mapping[str, Array],
        *,
        oracle: bool = False,
        tap: Tap | None = None,
    ) -> None:
        self._weights: Mapping[str, Array] = weights
        self._derived: dict[str, Array] = {}
        self._oracle = oracle
        self._tap = tap
        self._kernels: dict[str, KernelOp] = {}
        self._functions: dict[str, FuncOp] = {}
        for op in module.body.block.ops:
            if isinstance(op, KernelOp):
                self._kernels[op.sym_name.data] = op
            elif isinstance(op, FuncOp):
                self._functions[op.sym_name.data] = op

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs of `main` by name. Raises GraphError on missing inputs and wrong types."""
        main = self._functions.get("main")
        if main is None:
            raise GraphError("the module has no function @main")
        self._derived = self.derived_weights()
        arguments = [
            check_input(name or str(i), inputs, type_)
            for i, (name, type_) in enumerate(
                zip(argument_names(main), main.function_type.inputs.data, strict=True)
            )
        ]
        results = self._block(main.body.block, arguments)
        return dict(zip(result_names(main), results, strict=True))

    def derived_weights(self) -> dict[str, Array]:
        """What `@weights` computes, by name."""
        function = self._functions.get("weights")
        if function is None:
            return {}
        results = self._block(function.body.block, [])
        return dict(zip(result_names(function), results, strict=True))

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
                results = [self._weight(op.weight.data)]
            case ConstantOp():
                results = [self._wide(constant_array(op))]
            case FusedOp():
                results = self._block(op.body.block, operands)
            case CallOp():
                kernel = self._kernels.get(op.callee.string_value())
                if kernel is None:
                    raise GraphError(f"no kernel {op.callee}")
                results = self._block(kernel.body.block, operands)
            case GraphOp():
                results = evaluate(op.op_name, operands, semantic_attrs(op), oracle=self._oracle)
            case _:
                raise GraphError(f"{op.name} is not an operator of the graph dialect")
        if self._tap is not None:
            self._report(op, results)
        return results

    def _report(self, op: Operation, results: Sequence[Array]) -> None:
        loc = op.location
        name = loc.desc.data if isinstance(loc, NameLoc) else op.name
        if self._tap is not None:
            for array in results:
                self._tap(name, array)

    def _weight(self, name: str) -> Array:
        if name in self._derived:
            return self._derived[name]
        if name not in self._weights:
            raise GraphError(f"weight '{name}' is in no store; load the model that it belongs to")
        return self._wide(self._weights[name])

    def _wide(self, array: Array) -> Array:
        floating = array.dtype.kind == "f" or array.dtype.name == "bfloat16"
        return array.astype(np.float64) if self._oracle and floating else array


def check_input(name: str, inputs: Mapping[str, Array], type_: object) -> Array:
    """The input of that name, of the model's type and shape; GraphError otherwise."""
    if name not in inputs:
        raise GraphError(
            f"input '{name}' is missing; there are {', '.join(sorted(inputs)) or 'none'}"
        )
    array = np.asarray(inputs[name])
    if not isinstance(type_, TensorType):
        raise GraphError(f"input '{name}' is {type_}, not a tensor")
    tensor = cast(TensorType[Attribute], type_)
    dtype, shape = numpy_type(tensor.element_type), tensor.get_shape()
    if array.dtype != dtype:
        raise GraphError(f"input '{name}' is {array.dtype.name}, the model takes {dtype.name}")
    if len(array.shape) != len(shape) or any(
        d not in (-1, s) for d, s in zip(shape, array.shape, strict=True)
    ):
        raise GraphError(f"input '{name}' is {list(array.shape)}, the model takes {list(shape)}")
    return array
