"""Import and the passes of the graph level cost in proportion to the operators."""

import gc
import time
from collections.abc import Callable

import numpy as np
import pytest
from onnx import TensorProto, helper

from fusec.api import run_passes
from fusec.frontends.onnx.frontend import import_onnx
from graph_modules import OPTIMISE, PREPARE, apply, parse, run

OPERATORS = ("Relu", "Add", "Mul", "Sigmoid", "Abs", "Sub", "Tanh", "MatMul")


def chain(count: int, kind: str) -> bytes:
    """`count` operators one behind the other.

    Of kind `hub` all of them read one more value too, of kind `views` they only move elements.
    """
    nodes = [helper.make_node("Exp", ["x"], ["hub"])]
    value = "x"
    for i in range(count):
        match kind:
            case "hub":
                node = helper.make_node("Add", [value, "hub"], [f"v{i}"])
            case "views" if i % 2:
                node = helper.make_node("Reshape", [value, "shape"], [f"v{i}"])
            case "views":
                node = helper.make_node("Transpose", [value], [f"v{i}"], perm=[1, 0])
            case _:
                name = OPERATORS[i % len(OPERATORS)]
                other = ["w"] if name in ("Add", "Mul", "Sub", "MatMul") else []
                node = helper.make_node(name, [value, *other], [f"v{i}"])
        nodes.append(node)
        value = f"v{i}"
    nodes.append(helper.make_node("Relu", [value], ["y"]))
    port = [8, 4] if kind == "views" else [8, 8]
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, port)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, port)],
        [
            helper.make_tensor("w", TensorProto.FLOAT, [8, 8], [0.5] * 64),
            helper.make_tensor("shape", TensorProto.INT64, [2], [8, 4]),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


def seconds(work: Callable[[], object]) -> float:
    """Processor time without the garbage collector, whose pauses are as long as a whole pass."""
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        work()
        return time.process_time() - start
    finally:
        gc.enable()


@pytest.mark.parametrize("kind", ["mixed", "hub", "views"])
def test_four_times_the_operators_cost_about_four_times(kind: str) -> None:
    """A quadratic step would cost sixteen times."""
    passes = (*PREPARE, *OPTIMISE, "graph-outline")
    spent: list[dict[str, float]] = []
    for count in (500, 500, 2000):
        data = chain(count, kind)
        times = {"import": seconds(lambda data=data: import_onnx(data))}
        module, _ = import_onnx(data)
        for spec in passes:
            times[spec] = seconds(lambda spec=spec, module=module: run_passes(module, spec))
        spent.append(times)
    warm, large = (sum(times.values()) for times in spent[1:])
    assert large < 7 * warm + 1.0, f"{warm:.2f} s, then {large:.2f} s: {spent[2]}"


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


def test_long_expressions_of_weights_need_no_deep_stack() -> None:
    type_ = "tensor<32xf32>"
    lines = [f"%{i} = graph.neg %{i - 1 if i else 'w'} : {type_} -> {type_}" for i in range(1501)]
    body = "\n".join([f'%w = graph.weight "w" : {type_}', *lines])
    text = f"func.func @main(%x: {type_}) -> {type_} {{\n{body}\n"
    text += (
        f"%y = graph.add %x, %1500 : ({type_}, {type_}) -> {type_}\nfunc.return %y : {type_}\n}}"
    )
    module = apply(parse(text), "graph-fuse", "graph-fold-weights", "graph-outline")
    weights = {"w": np.ones(32, np.float32)}
    assert np.array_equal(run(module, {"0": np.ones(32, np.float32)}, weights)[0], np.zeros(32))
