"""The inputs of an ONNX graph as arguments of `main`; those with a given value as constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.container import numpy_dtype
from fusec.frontends.onnx.names import DimNames, hint
from fusec.frontends.shapes import fit_all, known_sizes
from fusec.frontends.values import check_names, constant_input
from fusec.semantics.types import element_type, numpy_type
from fusec_dialects.graph.shapes import Shape, make_type
from fusec_dialects.locations import named

if TYPE_CHECKING:
    from fusec.frontends.onnx.importer import Importer


def read_inputs(importer: Importer) -> list[str]:
    """Makes the arguments of `main`; their names in the model."""
    dims: dict[str, Shape] = {}
    elements: dict[str, Attribute] = {}
    dim_names = DimNames()
    for value in importer.model.graph.input:
        if value.name in importer.arrays:
            continue
        importer.new(value.name, "input ")
        if value.name in dims:
            raise ImportFailure(f"input '{value.name}' stands there twice")
        if not value.type.HasField("tensor_type"):
            raise ImportFailure(f"input '{value.name}' is not a tensor")
        what = f"input '{value.name}'"
        elements[value.name] = element_type(numpy_dtype(value.type.tensor_type.elem_type, what))
        dims[value.name] = dim_names.dims(value, importer.shapes.get(value.name))
    check_names(importer.given, dims)
    importer.sizes = dim_names.sizes(known_sizes(dims, importer.shapes))
    left: list[str] = []
    for name, sizes in fit_all(dims, importer.shapes).items():
        if name in importer.given:
            dtype = numpy_type(elements[name])
            array = constant_input(name, importer.given[name], dtype, sizes)
            importer.arrays[name] = importer.store.arrays[name] = array
            importer.generated.add(name)
            continue
        left.append(name)
        type_ = make_type(elements[name], sizes)
        argument = importer.block.insert_arg(type_, len(importer.block.args), named(name))
        argument.name_hint = hint(name)
        importer.values[name] = argument
        importer.know_empty(name, argument)
    return left


def port_names(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    """The attributes of inputs or outputs that say their names."""
    return ArrayAttr([DictionaryAttr({"graph.name": StringAttr(n)}) for n in names])
