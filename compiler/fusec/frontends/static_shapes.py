"""Gives the inputs of a module on the graph level names and static shapes.

In: `main`. Out: every input and result has a `graph.name`; given sizes stand in the types of the
inputs and in all that follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.rewriter import Rewriter

from fusec.frontends.errors import ImportFailure
from fusec.frontends.shapes import fit
from fusec.graph.infer_shapes import infer_function
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

    Raises ImportFailure for a name that is no input and for a shape that does not fit.
    """
    left = dict(shapes)
    names: list[str] = []
    for argument, attrs in zip(main.body.block.args, main.arg_attrs or (), strict=False):
        found = attrs.data.get(NAME)
        name = found.data if isinstance(found, StringAttr) else ""
        names.append(name)
        if name not in left or not isinstance(argument.type, TensorType):
            continue
        old = cast(TensorType[Attribute], argument.type)
        given = fit(name, dims_of(old), left.pop(name))
        Rewriter.replace_value_with_new_type(argument, make_type(old.element_type, given))
    if left:
        raise ImportFailure(
            f"--shape names '{next(iter(left))}', but the inputs are {', '.join(names) or 'none'}"
        )
    main.properties["function_type"] = FunctionType.from_lists(
        [a.type for a in main.body.block.args], main.function_type.outputs.data
    )
    infer_function(main)
