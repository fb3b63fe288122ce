"""The same network in ONNX Runtime, its graph optimisations off, with the store's weights.

Weights that the file gives as one repeated number become inputs of the session, so that seeded
values can be fed to it without writing them to a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import onnx
from onnx import ModelProto

from fusec.semantics.dtypes import Array
from fusec.semantics.weights import WeightStore


class ReferenceFailed(ValueError):
    """ONNX Runtime cannot run the model; the text says why and what else there is."""


def run_reference(
    path: str, store: WeightStore, replaced: set[str], inputs: Mapping[str, Array]
) -> dict[str, Array]:
    """Outputs of ONNX Runtime by name; `replaced` weights are taken from the store.

    Raises ReferenceFailed where ONNX Runtime refuses the model, like types that it has no kernel
    for.
    """
    try:
        session = _session(path, store, replaced)
        names = [i.name for i in session.get_inputs()]
        feed = {n: inputs[n] if n in inputs else store[n] for n in names}
        outputs = [o.name for o in session.get_outputs()]
        return dict(zip(outputs, session.run(outputs, feed), strict=True))
    except _faults() as error:
        text = " ".join(str(error).split())
        raise ReferenceFailed(
            f"ONNX Runtime cannot run '{path}': {text[:300]}; compare with the operators "
            "themselves by --reference float64"
        ) from error


def _session(path: str, store: WeightStore, replaced: set[str]) -> Any:
    import onnxruntime

    runtime = cast(Any, onnxruntime)
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    source: str | bytes = path
    if replaced:
        model = cast(Any, onnx).load(path)
        _open_weights(model, replaced, store)
        source = model.SerializeToString()
    return runtime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def _open_weights(model: ModelProto, names: set[str], store: WeightStore) -> None:
    """Turns weights into inputs: their initializers and ConstantOfShape nodes go away."""
    graph = model.graph
    kept = [n for n in graph.node if not (n.op_type == "ConstantOfShape" and n.output[0] in names)]
    del graph.node[:]
    graph.node.extend(kept)
    initializers = [i for i in graph.initializer if i.name not in names]
    del graph.initializer[:]
    graph.initializer.extend(initializers)
    present = {i.name for i in graph.input}
    for name in sorted(names - present):
        array = store[name]
        kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        graph.input.append(onnx.helper.make_tensor_value_info(name, kind, array.shape))


def _faults() -> tuple[type[Exception], ...]:
    """What ONNX Runtime raises: classes of its own without a common base."""
    from importlib import import_module

    state = vars(import_module("onnxruntime.capi.onnxruntime_pybind11_state"))
    names = ("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NotImplemented")
    own = [state[n] for n in (*names, "RuntimeException", "NoSuchFile")]
    return (*own, onnx.checker.ValidationError)
