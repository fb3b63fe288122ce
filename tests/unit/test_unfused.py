"""The baseline of every comparison: without fusion each imported operator is one kernel."""

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

import fusec
from fusec.report.profile import count_operators
from fusec_dialects.graph import CallOp, GraphOp

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
