"""The weights that belong to a module of MLIR text: what its attribute `graph.source` names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr

from fusec.frontends.errors import ImportFailure
from fusec.semantics.dtypes import Array, np_dtype
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
    from fusec.frontends.onnx.frontend import read_weights

    return read_weights(path)


_SAFETENSORS = {
    **{"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "BOOL": "bool"},
    **{f"I{width}": f"int{width}" for width in (8, 16, 32, 64)},
    **{f"U{width}": f"uint{width}" for width in (8, 16, 32, 64)},
}
"""numpy name by safetensors' name of an element type."""


def _open_safetensors(path: Path) -> WeightStore:
    """The arrays as views of the mapped file, which the package reads but does not give.

    The package checks the file first: a header of 8 bytes that say its length, then JSON with type,
    shape and place of each tensor, places counted from the header's end.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np"):
            pass
    except SafetensorError as error:
        raise ImportFailure(f"'{path}' is not a safetensors file: {error}") from error
    data = np.memmap(path, np.uint8, "r")
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    header = cast("dict[str, dict[str, Any]]", json.loads(data[8:start].tobytes()))
    arrays: dict[str, Array] = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        kind = cast(str, entry["dtype"])
        if kind not in _SAFETENSORS:
            raise ImportFailure(f"'{path}': '{name}' has elements of {kind}, not supported")
        begin, end = cast("list[int]", entry["data_offsets"])
        raw = data[start + begin : start + end].view(np_dtype(_SAFETENSORS[kind]))
        arrays[name] = raw.reshape(cast("list[int]", entry["shape"]))
    return WeightStore(arrays, source=str(path))
