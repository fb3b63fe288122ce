"""ONNX as an xDSL frontend, and the same from Python with the weights.

`fuse-opt model.onnx` comes here; so do `fusec.load` and the commands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend

from fusec.semantics.weights import WeightStore
from fusec_dialects.collector import without_collector


def import_onnx(
    source: str | Path | bytes,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    allow_opaque: bool = False,
    values: Mapping[str, object] | None = None,
) -> tuple[ModuleOp, WeightStore]:
    """A module of the graph dialect and its weights, mapped from the file.

    `shapes` gives inputs static shapes by name, `values` makes constants of inputs; with
    `allow_opaque` operators that are not supported become graph.opaque. Raises ImportFailure with
    place, cause and advice.
    """
    from fusec.frontends.onnx.container import read_model
    from fusec.frontends.onnx.importer import Importer

    with without_collector():
        model, raw = read_model(source)
        path = None if isinstance(source, bytes) else Path(source)
        importer = Importer(model, raw, path, shapes or {}, allow_opaque, values or {})
        return importer.run(), importer.store


def read_weights(path: Path) -> WeightStore:
    """The weights of a model alone, mapped; needs no shapes of inputs. Raises ImportFailure."""
    from fusec.frontends.onnx.container import read_model
    from fusec.frontends.onnx.importer import Importer

    model, raw = read_model(path)
    return Importer(model, raw, path, {}).weights()


@dataclass(frozen=True)
class OnnxFrontend(Frontend):
    """Reads an ONNX model; `-f 'onnx{shape="x=1x3x224x224","y=2"}'` gives inputs static shapes,
    `value="sr=16000"` makes an input a constant.

    With `allow-opaque` operators that are not supported are kept as graph.opaque.
    """

    name = "onnx"

    shape: tuple[str, ...] = ()
    value: tuple[str, ...] = ()
    allow_opaque: bool = False

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        from fusec.frontends.shapes import parse_shapes
        from fusec.frontends.values import parse_values

        shapes, values = parse_shapes(self.shape), parse_values(self.value)
        path = Path(input_name)
        source = path if path.is_file() else input.read()
        return import_onnx(source, shapes, self.allow_opaque, values)[0]
