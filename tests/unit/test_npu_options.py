"""`fusec.npu.set_option`, calls of a model, the modelled clock; the order of strength in Python."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusec
from fusec import npu_options
from fusec.config.errors import ConfigError
from fusec.config.fusion_options import FusionOptions
from fusec.semantics.interpreter import GraphError
from fusec_dialects.graph import KernelOp

M = "tensor<64x64xf32>"
NETWORK = f"""
func.func @main(%x: {M}, %y: {M}) -> {M} {{
  %0 = graph.matmul %x, %y : ({M}, {M}) -> {M}
  %1 = graph.relu %0 : {M} -> {M}
  %2 = graph.exp %1 : {M} -> {M}
  func.return %2 : {M}
}}
"""


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    Path("net.mlir").write_text(NETWORK)
    yield
    fusec.npu.set_option(dict.fromkeys(npu_options.OPTIONS))


def asked(**keywords: Any) -> FusionOptions:
    return fusec.compile("net.mlir", **keywords).options.fusion


def kernels(**keywords: Any) -> int:
    made = fusec.compile("net.mlir", **keywords)
    return sum(isinstance(op, KernelOp) for op in made.fused.walk())


def test_the_article_s_switch() -> None:
    fusec.npu.set_option({"enable_fusion": False})
    assert fusec.npu.get_option() == {"enable_fusion": False} and kernels() == 3
    fusec.npu.set_option({"enable_fusion": True})
    assert kernels() < 3


def test_every_key_arrives() -> None:
    Path("config.json").write_text('{"min_fusion_ops": 2}')
    Path("switch.txt").write_text("MatmulReluFusionPass:on\nmatmul_relu:off\n")
    fusec.npu.set_option(
        {
            "fusion_patterns": ("matmul_bias_relu", "matmul_relu"),
            "auto_fusion": True,
            "disable_fusion": ["matmul_bias_relu"],
            "max_fusion_ops": 7,
            "fusion_max_depth": 3,
            "fusion_objective": "kernels",
            "fusion_strategy": "greedy",
            "fusion_config_path": "config.json",
        }
    )
    assert asked() == FusionOptions(
        strategy="greedy",
        objective="kernels",
        max_depth=3,
        min_ops=2,
        max_ops=7,
        disable=frozenset({"matmul_bias_relu"}),
        only=frozenset({"matmul_relu", "auto"}),
    )
    fusec.npu.set_option({"fusion_patterns": None, "fusion_config_path": None})
    assert asked().only is None and asked().min_ops == 1


def test_the_switch_file(tmp_path: Path) -> None:
    Path("switch.txt").write_text("matmul_relu:off\n")
    fusec.npu.set_option({"fusion_switch_file": "switch.txt"})
    assert asked().disable == {"matmul_relu"}


def test_the_order_of_strength(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GE_FUSION_MAX_DEPTH", "9")
    assert asked().max_depth == 9
    Path("config.json").write_text('{"max_fusion_ops": 5, "min_fusion_ops": 2}')
    monkeypatch.setenv("GE_FUSION_CONFIG_PATH", "config.json")
    fusec.npu.set_option({"max_fusion_ops": 6, "fusion_max_depth": 4})
    assert (asked().min_ops, asked().max_ops, asked().max_depth) == (2, 6, 4)
    assert (asked(max_ops=8).max_ops, asked(max_depth=1).max_depth) == (8, 1)
    monkeypatch.setenv("GE_FUSION_SWITCH", "0")
    assert not asked(fusion=True).enabled, "what any source switches off stays off"
    monkeypatch.setenv("GE_FUSION_SWITCH", "yes")
    with pytest.raises(ConfigError, match="GE_FUSION_SWITCH=yes: expected 0 to 1"):
        asked()
    options = fusec.CompileOptions(fusion=FusionOptions(max_depth=2))
    assert fusec.compile("net.mlir", options).options == options, "an object is all there is"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"enable_fuson": True}, "unknown option 'enable_fuson'; did you mean 'enable_fusion'"),
        ({"enable_fusion": 1}, "'enable_fusion' is 1, expected True or False"),
        ({"enable_fusion": "off"}, "'enable_fusion' is 'off', expected True or False"),
        ({"min_fusion_ops": 0}, "'min_fusion_ops' is 0, expected a whole number from 1"),
        ({"max_fusion_ops": 2.0}, "'max_fusion_ops' is 2.0"),
        ({"fusion_max_depth": -1}, "a whole number from 0"),
        ({"min_fusion_ops": True}, "a whole number"),
        ({"fusion_patterns": "conv_bn"}, "a list of pattern names"),
        ({"fusion_patterns": ["conv_bn_rleu"]}, "'conv_bn_rleu'; did you mean 'conv_bn_relu'"),
        ({"disable_fusion": [1]}, "'disable_fusion' holds 1"),
        ({"fusion_objective": "tim"}, "'tim'; did you mean 'time'"),
        ({"fusion_strategy": "gredy"}, "did you mean 'greedy'"),
        ({"min_fusion_ops": 5, "max_fusion_ops": 4}, "5 operators at least, but set_option"),
        ({"min_fusion_ops": 40}, "but the default allows 32"),
    ],
)
def test_wrong_options_change_nothing(options: dict[str, object], message: str) -> None:
    fusec.npu.set_option({"fusion_max_depth": 3})
    with pytest.raises(ConfigError) as caught:
        fusec.npu.set_option({"auto_fusion": False, **options})
    assert message in str(caught.value) and str(caught.value).startswith("set_option")
    assert fusec.npu.get_option() == {"fusion_max_depth": 3}


def test_a_model_is_called_as_in_torch() -> None:
    model = fusec.load("net.mlir")
    x, y = np.random.default_rng(0).standard_normal((2, 64, 64)).astype(np.float32) / 8
    start = fusec.modelled_time.time()
    fusec.npu.set_option({"enable_fusion": False})
    apart = model(x, y)
    between = fusec.modelled_time.time()
    fusec.npu.set_option({"enable_fusion": True})
    fused = model(x, y)
    assert isinstance(fused, np.ndarray) and np.allclose(fused, apart, rtol=1e-4)
    end = fusec.modelled_time.time()
    assert 0 < end - between < between - start, "times are modelled: fusion is quicker"
    assert len(model.compiled) == 2
    model(x, y)
    assert len(model.compiled) == 2
    again = fusec.compile(model)
    assert np.array_equal(np.asarray(again(x, y)), fused)
    with pytest.raises(GraphError, match="1 inputs, the network takes x, y"):
        model(x)
    with pytest.raises(GraphError, match="float64"):
        model(x.astype(np.float64), y)


def test_import_stays_light() -> None:
    """Neither `import fusec` nor the name of the switch loads the compiler."""
    code = "import sys, fusec; fusec.npu; print([m for m in sys.modules if 'xdsl' in m])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == (
        "[]\n"
    )


def test_decisions_go_to_a_logger(caplog: pytest.LogCaptureFixture) -> None:
    fusec.compile("net.mlir", objective="kernels")
    assert caplog.messages == []
    with caplog.at_level("INFO", logger="fusec.fusion"):
        fusec.compile("net.mlir", objective="kernels")
    assert any(line.startswith("Fusion fused: ") for line in caplog.messages)
