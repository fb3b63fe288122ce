"""The two networks of the first road: what is grouped, and which switch each pattern obeys."""

from collections import Counter
from pathlib import Path

import onnx
import pytest
from xdsl.dialects.builtin import ModuleOp

from fusec.api import run_passes
from fusec.frontends.onnx.frontend import import_onnx
from fusec_dialects.graph import CallOp, FusedOp, GraphOp
from graph_modules import OPTIMISE, PREPARE, check

ROOT = Path(__file__).resolve().parents[2]
RESNET = Path(onnx.__file__).parent / "backend/test/data/light/light_resnet50.onnx"
BERT = ROOT / "examples/models/bert_base_s128.onnx"


def prepared(path: Path) -> ModuleOp:
    module, _ = import_onnx(path)
    return run_passes(module, ",".join(PREPARE))


def patterns(module: ModuleOp, fuse: str) -> Counter[str]:
    copy = run_passes(module.clone(), fuse)
    return Counter(op.pattern.data for op in copy.walk() if isinstance(op, FusedOp))


@pytest.fixture(scope="module")
def resnet() -> ModuleOp:
    return prepared(RESNET)


def test_every_conv_norm_relu_is_one_group(resnet: ModuleOp) -> None:
    found = patterns(resnet, "graph-fuse{objective=kernels}")
    assert found["conv_bn_relu"] == 33
    assert found["conv_bn_residual_relu"] == 16
    assert found["conv_bn"] == 4
    assert found.total() <= 60


def test_the_switch_turns_every_one_of_them_off(resnet: ModuleOp) -> None:
    off = "objective=kernels disable=conv_bn_relu"
    assert "conv_bn_relu" not in patterns(resnet, f"graph-fuse{{{off}}}")
    found = patterns(resnet, f"graph-fuse{{{off} strategy=greedy}}")
    assert "conv_bn_relu" not in found
    assert found["conv_bn"] == 4 + 33 and found["relu"] == 33
    only = patterns(resnet, "graph-fuse{only=conv_bn_relu}")
    assert only["conv_bn_relu"] == 33
    assert not any(name.startswith("conv_bn") for name in only if name != "conv_bn_relu")
    none = patterns(resnet, "graph-fuse{strategy=none}")
    assert none["conv"] == none["batch_normalization"] == 53 and none["relu"] == 49


def test_resnet_after_optimise(resnet: ModuleOp) -> None:
    module = run_passes(resnet.clone(), ",".join((*OPTIMISE, "graph-outline")))
    check(module)
    calls = sum(isinstance(op, CallOp) for op in module.walk())
    names = [op.op_name for op in module.walk() if isinstance(op, GraphOp)]
    assert calls <= 60 and "batch_normalization" not in names


def test_bert_is_raised_and_grouped() -> None:
    module = prepared(BERT)
    names = Counter(op.op_name for op in module.walk() if isinstance(op, GraphOp))
    assert names["attention"] == names["gelu"] == 12 and names["layer_normalization"] == 25
    assert not {"erf", "softmax"} & names.keys()
    run_passes(module, ",".join((*OPTIMISE, "graph-outline")))
    check(module)
    assert sum(isinstance(op, CallOp) for op in module.walk()) <= 170
