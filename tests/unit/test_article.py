"""The article's snippets run after changing import lines only: examples/article is all of them."""

from __future__ import annotations

import runpy
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import fusec
from cli_runner import Fusec
from fusec import npu_options
from fusec.fusion.patterns.own import OWN
from own_cases import nothing_left

ARTICLE = Path(__file__).parents[2] / "examples" / "article"


@pytest.fixture
def run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Fusec]:
    """The Python of the article has been run in this folder."""
    monkeypatch.chdir(tmp_path)
    with nothing_left(), warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path(str(ARTICLE / "article.py"))
        assert list(OWN.fusions) == ["MatMulAddReluFusion"]
        yield Fusec(tmp_path, capsys)
    fusec.npu.set_option(dict.fromkeys(npu_options.OPTIONS))


def test_all_of_it(
    run: Fusec, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    title, _, speedup = capsys.readouterr().out.strip().partition(": ")
    assert title == "Fusion speedup" and float(speedup.removesuffix("x")) > 1.2
    for name in ("before_fusion.png", "after_fusion.png"):
        assert Path(name).read_bytes().startswith(b"\x89PNG")
    # The environment of the article, and `grep "Fusion" ge_host.log`.
    monkeypatch.setenv("GE_LOG_LEVEL", "2")
    monkeypatch.setenv("GE_FUSION_SWITCH", "1")
    monkeypatch.setenv("GE_FUSION_CONFIG_PATH", str(ARTICLE / "fusion_config.json"))
    log = ("compile", "network.mlir", "-o", "out.mlir", "--log-file", "ge_host.log")
    assert run(*log).status == 0
    assert matched() == ["Fusion fused: matmul_bias_relu [product, bias, activation]"]
    monkeypatch.setenv("GE_FUSION_MAX_DEPTH", "2")
    assert run(*log).status == 0
    assert matched() == [] and "max-depth" in Path("ge_host.log").read_text()
    monkeypatch.setenv("GE_FUSION_MAX_DEPTH", "3")
    monkeypatch.setenv("GE_FUSION_SWITCH", "0")
    assert run(*log).status == 0
    assert matched() == []


def matched() -> list[str]:
    lines = Path("ge_host.log").read_text().splitlines()
    assert lines and all("Fusion" in line for line in lines)
    return [line for line in lines if line.startswith("Fusion fused")]
