"""Models of a few ONNX nodes; their outputs by our meaning, by placed kernels, by ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import onnx
import onnxruntime
from onnx import helper, numpy_helper

from fusec import api
from fusec.semantics.dtypes import Array


def _runtime_errors() -> tuple[type[Exception], ...]:
    """Every error of ONNX Runtime's own: they have no common class."""
    state = cast(Any, onnxruntime).capi.onnxruntime_pybind11_state
    kinds = ("Fail", "NotImplemented", "InvalidGraph", "InvalidArgument", "RuntimeException")
    return tuple(getattr(state, kind) for kind in kinds)


RUNTIME_ERRORS = _runtime_errors()
"""What `by_runtime` raises for a model that ONNX Runtime does not take."""


def model_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array] | None = None,
    opset: int = 20,
    outputs: Sequence[str] = ("y",),
) -> bytes:
    """A model of the nodes; types and shapes of the outputs are inferred."""
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in inputs.items()
        ],
        [helper.make_value_info(name, onnx.TypeProto()) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 9
    return onnx.shape_inference.infer_shapes(model).SerializeToString()


def by_meaning(model: bytes, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs by the meaning of the graph's operators."""
    return api.load(model).run(inputs)


def by_kernels(model: bytes, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs of the placed kernels in the simulator; AssertionError for a host call."""
    compiled = api.compile(api.load(model))
    assert all(op.name != "npu.host_call" for op in compiled.npu.walk())
    return compiled.run(inputs, "npu")
