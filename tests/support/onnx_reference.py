"""A model as imported against ONNX Runtime, graph optimisations off."""

from collections.abc import Mapping

import numpy as np
from onnx import ModelProto
from xdsl.dialects.builtin import ModuleOp

from fusec.frontends.onnx.frontend import import_onnx
from fusec.semantics import Array
from fusec.semantics.interpreter import Interpreter
from fusec_dialects.graph import ConstantOp, GraphOp, OpaqueOp, WeightOp
from ort import by_runtime


def runtime_outputs(proto: ModelProto, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs by name."""
    return by_runtime(proto.SerializeToString(), inputs)


def operators(module: ModuleOp) -> list[str]:
    """Names of the operators of `main`, without weights and constants, in order."""
    found: list[str] = []
    for op in module.walk():
        if isinstance(op, OpaqueOp):
            found.append(f"opaque {op.op_type.data}")
        elif isinstance(op, GraphOp) and not isinstance(op, ConstantOp | WeightOp):
            found.append(op.op_name)
    return found


def check_import(
    proto: ModelProto,
    inputs: Mapping[str, Array],
    *,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    allow_opaque: bool = False,
    tolerance: float = 1e-5,
) -> list[str]:
    """Asserts that the imported module gives ONNX Runtime's outputs; its operators."""
    module, weights = import_onnx(proto.SerializeToString(), shapes, allow_opaque)
    module.verify()
    found = Interpreter(module, weights).run(inputs)
    expected = runtime_outputs(proto, inputs)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape, name
        np.testing.assert_allclose(found[name], array, tolerance, tolerance, err_msg=name)
    return operators(module)
