"""Gives the inputs of a module on the graph level names and static shapes.

In: `main`. Out: every input and result has a `graph.name`; given sizes stand in the types of the
inputs and in all that follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import Rewriter

from fusec.frontends.shapes import fit_all, known_sizes
from fusec.graph.infer_shapes import infer_function
from fusec.semantics.interpreter import argument_names
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.shapes import dims_of, make_type

NAME = "graph.name"


def name_ports(main: FuncOp) -> None:
    """Gives a name to each input and result that has none: its SSA name, `in0`, `out0`, ..."""
    inputs = [a.name_hint or f"in{i}" for i, a in enumerate(main.body.block.args)]
    results = [f"out{i}" for i in range(len(main.function_type.outputs.data))]
    main.properties["arg_attrs"] = _named(main.arg_attrs, inputs)
    main.properties["res_attrs"] = _named(main.res_attrs, results)


def _named(
    attrs: ArrayAttr[DictionaryAttr] | None, names: Sequence[str]
) -> ArrayAttr[DictionaryAttr]:
    found = [dict(a.data) for a in attrs or ()]
    found += [{} for _ in names[len(found) :]]
    for entry, name in zip(found, names, strict=True):
        entry.setdefault(NAME, StringAttr(name))
    return ArrayAttr([DictionaryAttr(entry) for entry in found])


def give_shapes(main: FuncOp, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Gives inputs static shapes by name and infers the rest.

    A named size that one input is given holds for all. Raises ImportFailure for a name that is no
    input and for a shape that does not fit.
    """
    arguments = dict(zip(argument_names(main), main.body.block.args, strict=True))
    tensors = {n: a for n, a in arguments.items() if isinstance(a.type, TensorType)}
    dims = {name: dims_of(tensor_type(argument)) for name, argument in tensors.items()}
    sizes = known_sizes(dims, shapes)
    for name, given in fit_all(dims, shapes).items():
        argument = tensors[name]
        if given != dims[name]:
            type_ = make_type(tensor_type(argument).element_type, given)
            Rewriter.replace_value_with_new_type(argument, type_)
    infer_function(main, sizes)
