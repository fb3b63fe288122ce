"""The interpreter of the graph level: outputs by name, every value checked against its type."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from fusec.semantics import Array
from fusec.semantics.interpreter import GraphError, Interpreter
from graph_modules import function, parse

T = "tensor<2x3xf32>"
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def relu(result: str = T) -> ModuleOp:
    body = f"%0 = graph.relu %x : {T} -> {result}\nfunc.return %0 : {result}"
    return function(f'%x: {T} {{graph.name = "in"}}', f'({result} {{graph.name = "out"}})', body)


def error(module: ModuleOp, inputs: dict[str, Array], weights: dict[str, Array]) -> str:
    with pytest.raises(GraphError) as caught:
        Interpreter(module, weights).run(inputs)
    return str(caught.value)


def test_names_of_inputs_and_outputs() -> None:
    assert list(Interpreter(relu(), {}).run({"in": X})) == ["out"]
    unnamed = function(f"%x: {T}, %y: {T}", f"({T}, {T})", f"func.return %y, %x : {T}, {T}")
    found = Interpreter(unnamed, {}).run({"0": X, "1": X + 1})
    assert list(found) == ["0", "1"] and np.array_equal(found["0"], X + 1)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "input 'in' is missing; there are none"),
        ({"x": X}, "input 'in' is missing; there are x"),
        ({"in": X.astype(np.float64)}, "input 'in' is float64, the model takes float32"),
        ({"in": X[:, :2]}, "input 'in' is [2, 2], the model takes [2, 3]"),
        ({"in": X[0]}, "input 'in' is [3], the model takes [2, 3]"),
    ],
)
def test_inputs_that_do_not_fit(inputs: dict[str, Array], message: str) -> None:
    assert error(relu(), inputs, {}) == message


def test_a_module_without_main() -> None:
    assert (
        error(parse("func.func @f() { func.return }"), {}, {}) == "the module has no function @main"
    )


def test_weights_are_looked_up_among_derived_ones_first() -> None:
    module = parse(f"""
      func.func @main() -> ({T}, {T}) {{
        %d = graph.weight "d" : {T}
        %s = graph.weight "s" : {T}
        func.return %d, %s : {T}, {T}
      }}
      func.func @weights() -> ({T} {{graph.name = "d"}}) {{
        %d = graph.weight "d" : {T}
        %0 = graph.neg %d : {T} -> {T}
        func.return %0 : {T}
      }}""")
    found = Interpreter(module, {"d": X, "s": X + 1}).run({})
    assert np.array_equal(found["0"], -X) and np.array_equal(found["1"], X + 1)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({}, "weight 'w' is in no store; load the model it belongs to"),
        ({"w": X[0]}, "the value is float32[3], its type is tensor<2x3xf32>"),
        ({"w": X.astype(np.float16)}, "the value is float16[2, 3], its type is tensor<2x3xf32>"),
    ],
)
def test_weights_that_do_not_fit(weights: dict[str, Array], message: str) -> None:
    module = function("", T, f'%w = graph.weight "w" : {T}\nfunc.return %w : {T}')
    found = error(module, {}, weights)
    assert found.startswith("test.mlir:2:1: 'graph.weight' in @main: ") and message in found


def test_an_operator_without_meaning_is_named_with_its_place() -> None:
    body = f"""%0 = graph.gather %x, %i : ({T}, tensor<1xi64>) -> tensor<1x3xf32> loc("lookup")
    func.return %0 : tensor<1x3xf32>"""
    module = function(f"%x: {T}, %i: tensor<1xi64>", "tensor<1x3xf32>", body)
    message = error(module, {"0": X, "1": np.array([5])}, {})
    assert message.startswith(
        "node \"lookup\": 'graph.gather' in @main: gather: indices 5..5 leave"
    )


def test_a_value_that_is_not_what_its_type_says_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A wrong shape rule or a wrong meaning does not go unseen."""

    def wrong(*_: object, **__: object) -> list[Array]:
        return [X.T]

    monkeypatch.setattr("fusec.semantics.interpreter.evaluate", wrong)
    message = error(relu(), {"in": X}, {})
    assert message.endswith("the value is float32[3, 2], its type is tensor<2x3xf32>")


def test_dynamic_sizes_have_their_value_from_the_inputs() -> None:
    dims = "tensor<?x?x8xf32, #graph.dims<[N, S, 8]>>"
    split = "tensor<?x?x2x4xf32, #graph.dims<[N, S, 2, 4]>>"
    grown = "tensor<?x?x8xf32, #graph.dims<[S, N, 8]>>"
    body = f"""
      %0 = graph.reshape %x : {dims} -> {split}
      %1 = graph.expand %o : tensor<1x1x8xf32> -> {grown}
      func.return %0, %1 : {split}, {grown}"""
    module = function(f"%x: {dims}, %o: tensor<1x1x8xf32>", f"({split}, {grown})", body)
    inputs = {"0": np.ones((3, 5, 8), np.float32), "1": np.ones((1, 1, 8), np.float32)}
    found = Interpreter(module, {}).run(inputs)
    assert found["0"].shape == (3, 5, 2, 4) and found["1"].shape == (5, 3, 8)


def test_one_name_has_one_size() -> None:
    dims = "tensor<?xf32, #graph.dims<[N]>>"
    body = f"%0 = graph.add %x, %y : ({dims}, {dims}) -> {dims}\nfunc.return %0 : {dims}"
    module = function(f"%x: {dims}, %y: {dims}", dims, body)
    inputs = {"0": np.ones(3, np.float32), "1": np.ones(1, np.float32)}
    assert error(module, inputs, {}) == "input '1' has N = 1, another input has 3"
    again = {"0": np.ones(4, np.float32), "1": np.ones(4, np.float32)}
    assert Interpreter(module, {}).run(again)["0"].shape == (4,)


def test_groups_kernels_and_calls() -> None:
    module = parse(f"""
      func.func @main(%x: {T}) -> ({T}, {T}) {{
        %0, %1 = graph.fused "auto"(%a = %x : {T}) -> {T}, {T} {{
          %2 = graph.neg %a : {T} -> {T}
          %3 = graph.exp %2 : {T} -> {T}
          graph.yield %3, %2 : {T}, {T}
        }}
        %4 = graph.call @twice(%1) : ({T}) -> {T}
        func.return %0, %4 : {T}, {T}
      }}
      graph.kernel @twice "add"(%a: {T}) -> {T} {{
        %0 = graph.add %a, %a : ({T}, {T}) -> {T}
        graph.yield %0 : {T}
      }}""")
    found = Interpreter(module, {}).run({"0": X})
    assert np.array_equal(found["0"], np.exp(-X)) and np.array_equal(found["1"], -2 * X)


def test_the_oracle_computes_in_float64() -> None:
    body = """%c = graph.constant dense<1.0> : tensor<f16>
      %0 = graph.cast %x {to = f16} : tensor<1xf32> -> tensor<1xf16>
      %1 = graph.add %0, %c : (tensor<1xf16>, tensor<f16>) -> tensor<1xf16>
      func.return %1 : tensor<1xf16>"""
    module = function("%x: tensor<1xf32>", "tensor<1xf16>", body)
    x = np.array([2.0**-20], np.float32)
    assert Interpreter(module, {}).run({"0": x})["0"] == np.float16(1)
    exact = Interpreter(module, {}, oracle=True).run({"0": x})["0"]
    assert exact.dtype == np.float64 and exact[0] == 1 + 2.0**-20


def test_the_tap_sees_every_value_by_its_nodes_name() -> None:
    seen: list[tuple[str, float]] = []
    row = "tensor<1x3xf32>"
    body = f"""%0 = graph.neg %x : {T} -> {T} loc("first")
      %1, %2 = graph.split %0 {{sizes = [1, 1]}} : {T} -> {row}, {row} loc("cut")
      func.return %2 : {row}"""
    module = function(f"%x: {T}", row, body)
    tap = Interpreter(module, {}, tap=lambda name, array: seen.append((name, float(array.sum()))))
    tap.run({"0": X})
    assert seen == [("first", -15.0), ("cut", -3.0), ("cut", -12.0)]


def test_booleans_of_any_encoding_are_booleans() -> None:
    """xDSL writes true as 255 in a constant's bytes."""
    body = """%c = graph.constant dense<[true, false]> : tensor<2xi1>
      %0 = graph.not %c : tensor<2xi1> -> tensor<2xi1>
      func.return %c, %0 : tensor<2xi1>, tensor<2xi1>"""
    module = function("", "(tensor<2xi1>, tensor<2xi1>)", body)
    found = Interpreter(module, {}).run({})
    assert found["0"].view(np.uint8).tolist() == [1, 0] and found["1"].tolist() == [False, True]


def test_values_go_away_after_their_last_use() -> None:
    """A chain of large values never holds more than a few of them."""
    import tracemalloc

    large = "tensor<1000x1000xf32>"
    lines = [
        f"%{i} = graph.exp {f'%{i - 1}' if i else '%x'} : {large} -> {large}" for i in range(30)
    ]
    module = function(f"%x: {large}", large, "\n".join([*lines, f"func.return %29 : {large}"]))
    x = np.zeros((1000, 1000), np.float32)
    tracemalloc.start()
    try:
        Interpreter(module, {}).run({"0": x})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 * x.nbytes
