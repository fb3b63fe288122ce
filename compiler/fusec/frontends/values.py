"""`NAME=V`: inputs that are the same number at every call become constants of the network.

In: texts of a command line, or Python numbers by name. Out: arrays of the inputs' types and shapes;
for MLIR text a module without these inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, TensorType
from xdsl.dialects.func import FuncOp

from fusec.frontends.errors import ImportFailure
from fusec.semantics.dtypes import Array
from fusec.semantics.interpreter import argument_names
from fusec.semantics.types import numpy_type
from fusec_dialects.graph import ConstantOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.dense import dense
from fusec_dialects.graph.shapes import Shape, dims_of

_WORDS = {"true": True, "false": False}


def parse_values(texts: Iterable[str]) -> dict[str, Array]:
    """Numbers by input name, a list where there are commas. Raises ImportFailure on anything
    else."""
    values: dict[str, Array] = {}
    for text in texts:
        name, sign, numbers = text.rpartition("=")
        try:
            found = [_number(part.strip()) for part in numbers.split(",")]
        except ValueError:
            found = []
        if not sign or not name or not found:
            raise ImportFailure(f"value '{text}' is not of the form NAME=NUMBER, like sr=16000")
        if name in values:
            raise ImportFailure(f"--value gives '{name}' twice")
        values[name] = np.array(found if "," in numbers else found[0])
    return values


def _number(text: str) -> float | int | bool:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return int(text)
    except ValueError:
        return float(text)


def constant_input(name: str, value: object, dtype: np.dtype, dims: Shape) -> Array:
    """What an input of this type and these sizes always is: a number for all of its elements, or
    an array of as many.

    Raises ImportFailure where the type cannot hold a number, or the sizes contradict.
    """
    given = np.asarray(value)
    with np.errstate(all="ignore"):
        array = given.astype(dtype)
    kept = array.astype(given.dtype) == given if given.dtype.kind in "biuf" else np.array(False)
    if dtype.kind in "biu" and not np.all(kept):
        raise ImportFailure(f"--value {name}: {_text(given)} is no number of type {dtype.name}")
    if given.ndim == 0:
        if not all(isinstance(d, int) for d in dims):
            sizes = ", ".join(map(str, dims))
            raise ImportFailure(
                f"--value {name}: the input is [{sizes}]; give it a static shape by --shape "
                f"{name}=AxB"
            )
        return np.full(tuple(int(d) for d in dims), array)
    fits = len(dims) == given.ndim and all(
        isinstance(d, str) or d == n for d, n in zip(dims, given.shape, strict=True)
    )
    if not fits:
        sizes, found = (", ".join(map(str, s)) for s in (dims, given.shape))
        raise ImportFailure(f"--value {name}: [{found}] numbers, but the input is [{sizes}]")
    return array


def _text(given: Array) -> str:
    return ", ".join(str(n) for n in given.reshape(-1)[:4])


def check_names(values: Iterable[str], inputs: Iterable[str]) -> None:
    """Raises ImportFailure for a name that is no input."""
    known = list(inputs)
    for name in values:
        if name not in known:
            raise ImportFailure(
                f"--value names '{name}', but the inputs are {', '.join(known) or 'none'}"
            )


def give_values(main: FuncOp, values: Mapping[str, object]) -> None:
    """Makes constants of inputs of a function on the graph level. Raises ImportFailure."""
    names = argument_names(main)
    check_names(values, names)
    block = main.body.block
    attrs = list(main.arg_attrs or (DictionaryAttr({}) for _ in names))
    for i in reversed(range(len(names))):
        if names[i] not in values:
            continue
        argument = block.args[i]
        if not isinstance(argument.type, TensorType):
            raise ImportFailure(f"--value {names[i]}: the input is no tensor")
        type_ = tensor_type(argument)
        dtype = numpy_type(type_.element_type)
        array = constant_input(names[i], values[names[i]], dtype, dims_of(type_))
        constant = ConstantOp(dense(TensorType(type_.element_type, array.shape), array.tobytes()))
        constant.location = argument.location
        constant.y.name_hint = argument.name_hint
        first = block.first_op
        if first is None:
            raise ImportFailure("the function is empty")
        block.insert_op_before(constant, first)
        argument.replace_all_uses_with(constant.y)
        block.erase_arg(argument)
        del attrs[i]
    main.properties["arg_attrs"] = ArrayAttr(attrs)
    main.properties["function_type"] = FunctionType.from_lists(
        [a.type for a in block.args], list(main.function_type.outputs)
    )
