"""ONNX Runtime as a second opinion, its graph optimisations off."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import onnxruntime
from onnx import helper

from fusec.semantics import Array


def run_node(
    op: str,
    inputs: Sequence[Array | None],
    attrs: Mapping[str, Any] | None = None,
    *,
    results: int = 1,
    opset: int = 20,
) -> list[Array]:
    """The results of one ONNX node on `inputs` (None: an absent optional one)."""
    names = ["" if array is None else f"x{index}" for index, array in enumerate(inputs)]
    pairs = zip(names, inputs, strict=True)
    feeds = {name: np.asarray(array) for name, array in pairs if array is not None}
    infos = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in feeds.items()
    ]
    outputs = [f"y{index}" for index in range(results)]
    node = helper.make_node(op, names, outputs, **(attrs or {}))
    empty = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph([node], "one_node", infos, empty)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    found = by_runtime(model.SerializeToString(), feeds)
    return [found[name] for name in outputs]


def by_runtime(model: bytes, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs of a model by name."""
    runtime = cast(Any, onnxruntime)
    options: Any = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session: Any = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    found = session.run(names, dict(inputs))
    return {name: np.asarray(array) for name, array in zip(names, found, strict=True)}
