"""`fusec.visualize_graph` and `fusec.precision_compare`."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from xdsl.utils.exceptions import DiagnosticException

import fusec
from fusec.explain import Precision, PrecisionWarning
from fusec.semantics.interpreter import GraphError

M = "tensor<64x64xf16>"
NETWORK = f"""
func.func @main(%x: {M}, %y: {M}) -> {M} {{
  %0 = graph.matmul %x, %y : ({M}, {M}) -> {M} loc("product")
  %1 = graph.relu %0 : {M} -> {M} loc("activation")
  %2 = graph.softmax %1 : {M} -> {M} loc("soft<max>")
  func.return %2 : {M}
}}
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> fusec.Model:
    monkeypatch.chdir(tmp_path)
    Path("net.mlir").write_text(NETWORK)
    return fusec.load("net.mlir")


def test_a_picture_shows_kernels_and_what_goes_between_them(model: fusec.Model) -> None:
    fusec.visualize_graph(model, "after.dot")
    after = Path("after.dot").read_text()
    assert "matmul_relu\\nmatmul\\nrelu\\n64x64 f16" in after
    assert after.count("fillcolor") == 5 and "8.0 KB" in after
    fusec.visualize_graph(model, Path("before.dot"), fusion=False)
    before = Path("before.dot").read_text()
    assert before.count("fillcolor") == 6 and "matmul_relu" not in before
    fusec.visualize_graph(model, "after.svg")
    tree = ET.parse("after.svg")
    assert len(tree.findall(".//{*}rect")) == 6
    texts = [text.text for text in tree.findall(".//{*}text")]
    assert {"matmul_relu", "softmax", "64x64 f16", "x"} <= set(texts)
    fusec.visualize_graph(model, "after.png")
    assert Path("after.png").read_bytes().startswith(b"\x89PNG")


def test_no_box_lies_on_another(model: fusec.Model) -> None:
    """Many branches, and a value that skips ranks."""
    lines = [f"%a{i} = graph.exp %x : {M} -> {M}" for i in range(6)]
    lines += [f"%b{i} = graph.matmul %a{i}, %x : ({M}, {M}) -> {M}" for i in range(6)]
    sums = [f"%c{i} = graph.matmul %b{i}, %b{i + 1} : ({M}, {M}) -> {M}" for i in range(5)]
    body = "\n".join((*lines, *sums))
    types, values = ", ".join([M] * 5), ", ".join(f"%c{i}" for i in range(5))
    text = f"func.func @main(%x: {M}) -> ({types}) {{ {body}\nfunc.return {values} : {types} }}"
    Path("wide.mlir").write_text(text)
    fusec.visualize_graph(fusec.load("wide.mlir"), "wide.svg", fusion=False)
    boxes = [
        tuple(float(rect.attrib[k]) for k in ("x", "y", "width", "height"))
        for rect in ET.parse("wide.svg").findall(".//{*}rect[@rx]")
    ]
    assert len(boxes) == 1 + 6 + 6 + 5 + 5
    for i, (x, y, w, h) in enumerate(boxes):
        for u, v, s, t in boxes[:i]:
            assert x >= u + s or u >= x + w or y >= v + t or v >= y + h


def test_what_cannot_be_drawn(model: fusec.Model) -> None:
    with pytest.raises(DiagnosticException, match=r"'a\.pdf': a picture is a \.svg"):
        fusec.visualize_graph(model, "a.pdf")
    with pytest.raises(DiagnosticException, match=r"cannot write 'no/a\.svg'"):
        fusec.visualize_graph(model, "no/a.svg")
    with pytest.raises(DiagnosticException, match="only the graph level"):
        fusec.visualize_graph(fusec.fuse(model), "a.svg")


def arrays(scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.random.default_rng(0).standard_normal((2, 64, 64)) * scale
    return x.astype(np.float16), y.astype(np.float16)


def test_precision_of_a_compiled_network(model: fusec.Model) -> None:
    compiled = fusec.compile(model)
    found = fusec.precision_compare(model, compiled, *arrays(), tolerance=1e-3)
    assert found.passed and found.first is None and len(found.tensors) == 2
    text = str(found)
    assert text.startswith("out0: largest difference") and text.endswith("passed (tolerance 0.001)")
    assert "2 tensors against float64: " in text


def test_a_spoilt_network_warns_and_says_where(model: fusec.Model, tmp_path: Path) -> None:
    """Another network in the place of the fused one: relu has become a square."""
    Path("other.mlir").write_text(NETWORK.replace("graph.relu %0", "graph.exp %0"))
    other = fusec.compile(fusec.load("other.mlir"))
    with pytest.warns(PrecisionWarning, match="FAILED"):
        result = fusec.precision_compare(model, fusec.load("other.mlir"), *arrays(0.3))
    assert isinstance(result, Precision) and not result.passed
    with pytest.warns(PrecisionWarning, match="FAILED"):
        assert not fusec.precision_compare(fusec.compile(model), other, *arrays(0.3)).passed


def test_wrong_arguments(model: fusec.Model) -> None:
    x, y = arrays()
    with pytest.raises(GraphError, match="1 inputs, the network takes x, y"):
        fusec.precision_compare(model, model, x)
    with pytest.raises(GraphError, match="float64"):
        fusec.precision_compare(model, model, x.astype(np.float64), y)
    renamed = NETWORK.replace(f"-> {M} {{", f'-> ({M} {{graph.name = "z"}}) {{', 1)
    Path("named.mlir").write_text(renamed)
    with pytest.raises(GraphError, match="no output 'out0'"):
        fusec.precision_compare(model, fusec.load("named.mlir"), x, y)
