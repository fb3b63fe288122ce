"""Inputs that are the same number at every call: constants of the network, on the command line and
from Python, of ONNX and of MLIR text.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import fusec
from cli_runner import Fusec
from fusec.frontends.errors import ImportFailure
from fusec.frontends.values import constant_input, parse_values
from fusec.semantics.interpreter import argument_names, main_function
from onnx_text import graph

RATES = graph("""speech (float[1,8] x, int64 sr, bool loud) => (float[1,8] y) {
  rate = Constant<value_int = 16000>()
  fast = Equal(sr, rate)
  y = If (fast) <
    then_branch = t () => (float[1,8] p) { p = Where(loud, x, x) },
    else_branch = e () => (float[1,8] p) { p = Neg(x) }>
}""")

TEXT = """
func.func @main(%x: tensor<2x4xf32>, %n: tensor<2xi32>, %s: tensor<f32>)
    -> (tensor<2x4xf32>, tensor<2xi32>) {
  %0 = graph.mul %x, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  func.return %0, %n : tensor<2x4xf32>, tensor<2xi32>
}
"""


@pytest.fixture
def run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Fusec]:
    monkeypatch.chdir(tmp_path)
    yield Fusec(tmp_path, capsys)


@pytest.mark.parametrize(
    ("text", "value"),
    [("a=3", 3), ("a=-2.5", -2.5), ("a=b=1e3", 1e3), ("a=true", True), ("a=1,2", [1, 2])],
)
def test_texts(text: str, value: object) -> None:
    ((name, array),) = parse_values([text]).items()
    assert name == text.rpartition("=")[0] and array.tolist() == value


@pytest.mark.parametrize("text", ["a", "a=", "=3", "a=x", "a=1,", "a=1x2"])
def test_texts_that_are_no_values(text: str) -> None:
    with pytest.raises(ImportFailure, match="not of the form NAME=NUMBER, like sr=16000"):
        parse_values([text])


def test_a_name_twice() -> None:
    with pytest.raises(ImportFailure, match="gives 'a' twice"):
        parse_values(["a=1", "a=2"])


@pytest.mark.parametrize(
    ("value", "dtype", "dims", "message"),
    [
        (2.5, "int64", (), "2.5 is no number of type int64"),
        (300, "uint8", (), "300 is no number of type uint8"),
        (-1, "uint32", (), "-1 is no number of type uint32"),
        (2, "bool", (), "2 is no number of type bool"),
        (float("nan"), "int32", (), "nan is no number of type int32"),
        ([1, 2], "int64", (3,), r"\[2\] numbers, but the input is \[3\]"),
        ([1, 2], "int64", (), r"\[2\] numbers, but the input is \[\]"),
        (1, "int64", ("n",), r"the input is \[n\]; give it a static shape by --shape a=AxB"),
    ],
)
def test_values_that_do_not_fit(
    value: object, dtype: str, dims: tuple[int | str, ...], message: str
) -> None:
    with pytest.raises(ImportFailure, match=message):
        constant_input("a", value, np.dtype(dtype), dims)


def test_values_that_fit() -> None:
    assert constant_input("a", 1, np.dtype("float16"), (2, 1)).tolist() == [[1.0], [1.0]]
    assert constant_input("a", 16000.0, np.dtype("int64"), ()).item() == 16000
    assert constant_input("a", [0, 1], np.dtype("bool"), ("n",)).tolist() == [False, True]


def test_a_branch_that_a_value_chooses() -> None:
    """Without the value the model cannot be read: its condition is open."""
    proto = RATES.SerializeToString()
    with pytest.raises(ImportFailure, match="If"):
        fusec.load(proto)
    for rate, sign in ((16000, 1), (8000, -1)):
        model = fusec.load(proto, values={"sr": rate, "loud": True})
        assert argument_names(main_function(model.module)) == ["x"]
        x = np.ones((1, 8), np.float32)
        assert np.array_equal(model.run({"x": x})["y"], sign * x)


def test_text_of_the_graph_level(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(TEXT)
    model = fusec.load(path, values={"s": 0.5, "n": [7, 8]})
    main = main_function(model.module)
    assert argument_names(main) == ["x"] and len(main.function_type.inputs.data) == 1
    found = list(fusec.compile(model).run({"x": np.full((2, 4), 3, np.float32)}).values())
    assert np.all(found[0] == 1.5) and found[1].tolist() == [7, 8]
    with pytest.raises(ImportFailure, match="--value names 'm', but the inputs are x, n, s"):
        fusec.load(path, values={"m": 1})


def test_commands(run: Fusec) -> None:
    path = run.file("m.onnx", RATES.SerializeToString())
    given = ("--value", "sr=8000", "--value", "loud=false")
    assert run("compare", path, "-q", *given).status == 0, "ONNX Runtime gets the values too"
    assert run("run", path, "-q", *given).out.startswith("y: float32[1, 8]")
    assert run("profile", path, "-q", "--json", *given).json["operators"] == 1
    done = run("run", path, "--value", "rate=8000")
    assert done.status == 3 and "--value names 'rate', but the inputs are x, sr, loud" in done.err
    done = run("run", path, "--value", "sr=fast")
    assert done.status == 2 and "value 'sr=fast' is not of the form NAME=NUMBER" in done.err
    run("compile", path, "-q", *given, "-o", "placed.mlir")
    assert run("run", "placed.mlir", "-q").status == 0
    done = run("run", "placed.mlir", *given)
    assert done.status == 3 and "values can be given on the graph level only" in done.err
