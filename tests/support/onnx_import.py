"""ONNX models through the importer: the module, the numbers, or the one message of a failure."""

import pytest
from onnx import ModelProto, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.frontend import import_onnx
from fusec.semantics import Array
from fusec.semantics.interpreter import Interpreter
from onnx_text import graph


def read(proto: ModelProto) -> ModuleOp:
    module, _ = import_onnx(proto.SerializeToString())
    module.verify()
    return module


def run(proto: ModelProto, **inputs: Array) -> dict[str, Array]:
    module, weights = import_onnx(proto.SerializeToString())
    return Interpreter(module, weights).run(inputs)


def failure(proto: ModelProto | bytes) -> str:
    with pytest.raises(ImportFailure) as caught:
        import_onnx(proto if isinstance(proto, bytes) else proto.SerializeToString())
    return str(caught.value)


def weighted(array: Array, name: str = "w") -> ModelProto:
    """y = x + w."""
    proto = graph(f"g (float[{array.size}] x) => (float[{array.size}] y) {{ y = Add(x, {name}) }}")
    proto.graph.initializer.append(numpy_helper.from_array(array, name))
    return proto
