"""The weights that belong to a module of MLIR text: what its attribute `graph.source` names."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, StringAttr

from fusec.frontends.errors import ImportFailure
from fusec.semantics.dtypes import Array
from fusec.semantics.weights import WeightStore


def open_store(module: ModuleOp, folder: Path) -> WeightStore:
    """The store of an ONNX model or `.safetensors` file, mapped; empty where the module names none.

    Relative names are looked up beside the module. Raises ImportFailure where the file is missing.
    """
    source = module.attributes.get("graph.source")
    if not isinstance(source, StringAttr):
        return WeightStore()
    path = Path(source.data)
    if not path.is_absolute() and not path.exists():
        path = folder / path
    if not path.is_file():
        raise ImportFailure(
            f"the weights of this module are in '{source.data}', which does not exist"
        )
    if path.suffix == ".safetensors":
        return _open_safetensors(path)
    from fusec.frontends.onnx.frontend import import_onnx

    return import_onnx(path)[1]


def _open_safetensors(path: Path) -> WeightStore:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]

    try:
        arrays: dict[str, Array] = load_file(path)
    except SafetensorError as error:
        raise ImportFailure(f"'{path}' is not a safetensors file: {error}") from error
    return WeightStore(arrays, source=str(path))
