"""Import and the passes of the graph level cost in proportion to the operators."""

import time
from collections.abc import Callable

import pytest
from onnx import TensorProto, helper

from fusec.api import run_passes
from fusec.frontends.onnx.frontend import import_onnx
from graph_modules import OPTIMISE, PREPARE, parse

OPERATORS = ("Relu", "Add", "Mul", "Sigmoid", "Abs", "Sub", "Tanh", "MatMul")


def chain(count: int, hub: bool) -> bytes:
    """`count` operators one behind the other; with `hub` all of them read one more value too."""
    nodes = [helper.make_node("Exp", ["x"], ["hub"])]
    value = "x"
    for i in range(count):
        kind = "Add" if hub else OPERATORS[i % len(OPERATORS)]
        other = "hub" if hub else "w"
        inputs = [value, other] if kind in ("Add", "Mul", "Sub", "MatMul") else [value]
        nodes.append(helper.make_node(kind, inputs, [f"v{i}"], f"n{i}"))
        value = f"v{i}"
    port = [8, 8]
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, port)],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, port)],
        [helper.make_tensor("w", TensorProto.FLOAT, port, [0.5] * 64)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


@pytest.mark.parametrize("hub", [False, True])
def test_four_times_the_operators_cost_about_four_times(hub: bool) -> None:
    """A quadratic step would cost sixteen times."""
    passes = (*PREPARE, *OPTIMISE, "graph-outline")
    spent: list[dict[str, float]] = []
    for count in (750, 750, 3000):
        data = chain(count, hub)
        times = {"import": seconds(lambda data=data: import_onnx(data))}
        module, _ = import_onnx(data)
        for spec in passes:
            times[spec] = seconds(lambda spec=spec, module=module: run_passes(module, spec))
        spent.append(times)
    warm, large = spent[1:]
    for name, time_ in large.items():
        assert time_ < 7 * warm[name] + 0.1, f"{name}: {warm[name]:.2f} s, then {time_:.2f} s"


def test_verification_of_calls_is_linear() -> None:
    """Every kernel is another one, so each call needs the module's table of symbols."""

    def module_text(count: int) -> str:
        calls = [
            f"%{i} = graph.call @k{i}(%x) : (tensor<4xf32>) -> tensor<4xf32>" for i in range(count)
        ]
        kernels = [
            f'graph.kernel @k{i} "neg"(%a: tensor<4xf32>) -> tensor<4xf32> {{\n'
            "%0 = graph.neg %a : tensor<4xf32> -> tensor<4xf32>\n"
            "graph.yield %0 : tensor<4xf32>\n}"
            for i in range(count)
        ]
        body = "\n".join(calls)
        main = f"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n{body}\n"
        return f"{main}func.return %0 : tensor<4xf32>\n}}\n" + "\n".join(kernels)

    small, large = parse(module_text(300)), parse(module_text(1200))
    small.verify()
    assert seconds(large.verify) < 7 * seconds(small.verify) + 0.1
