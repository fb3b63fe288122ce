"""The baseline of every comparison: without fusion each imported operator is one kernel."""

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import fusec
from fusec.report.profile import count_operators
from fusec_dialects.graph import CallOp, GraphOp
from networks import Net

MODELS = Path(__file__).parents[2] / "examples" / "models"


def calls(module: ModuleOp) -> int:
    return sum(isinstance(op, CallOp) for op in module.walk())


@pytest.mark.parametrize("name", ["bert_base_s128", "gpt2_s128"])
def test_a_kernel_for_each_operator(name: str) -> None:
    """Transposes, slices and splits too: nothing is absorbed, nothing written in place."""
    model = fusec.load(MODELS / f"{name}.onnx")
    fused = fusec.fuse(model, fusion=False).module
    assert calls(fused) >= count_operators(model.module)
    main = next(op for op in fused.body.block.ops if op.name == "func.func")
    names = {op.op_name for op in main.walk() if isinstance(op, GraphOp)}
    assert names <= {"reshape", "squeeze", "unsqueeze", "flatten", "identity"}


@pytest.mark.parametrize(
    ("kind", "shapes", "attributes", "kernels"),
    [
        ("GatherND", [[8, 16]], {}, 1),
        ("LpNormalization", [[4, 8]], {}, 1),
        ("MeanVarianceNormalization", [[2, 16, 8, 8]], {}, 1),
        ("Selu", [[4, 8]], {}, 1),
        ("LSTM", [[3, 2, 16], [1, 64, 16], [1, 64, 16]], {"hidden_size": 16}, 9),
    ],
)
def test_an_operator_that_is_taken_apart(
    kind: str, shapes: list[list[int]], attributes: dict[str, int], kernels: int
) -> None:
    """One kernel where there is such a kernel; an LSTM takes at most three for each step."""
    net = Net()
    inputs = [net.input("x", shapes[0]), *map(net.weight, shapes[1:])]
    if kind == "GatherND":
        inputs.append(net.constant(np.array([[0], [3]], np.int64)))
    model = fusec.load(net.model({net.op(kind, inputs, **attributes): ["a", "b"]}))
    assert count_operators(model.module) == 1
    assert calls(fusec.fuse(model, fusion=False).module) <= kernels
