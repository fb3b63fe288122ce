"""What the pattern library proposes, before legality or cost are asked."""

import pytest

from fusec.fusion.dag import Dag
from fusec.fusion.patterns import matches_at
from graph_modules import function, main_of

M = "tensor<64x64xf32>"
X = "tensor<1x16x8x8xf32>"
Y = "tensor<1x32x8x8xf32>"
C = "tensor<32xf32>"
W = "tensor<32x16x3x3xf32>"
WINDOW = "{strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]}"
CONV = f"""
  %w = graph.weight "w" : {W}
  %s = graph.weight "s" : {C}
  %0 = graph.conv %x, %w {WINDOW} : ({X}, {W}) -> {Y}"""
MATMUL = f"""
  %w = graph.weight "w" : {M}
  %0 = graph.matmul %x, %w : ({M}, {M}) -> {M}"""


def norm(x: str, parameter: str = "%s") -> str:
    types = ", ".join([Y, C, C, C, C])
    return f"graph.batch_normalization {x}, {parameter}, %s, %s, %s : ({types}) -> {Y}"


def proposals(anchor: str, arguments: str, result: str, body: str) -> list[str]:
    """Names of the patterns at the first operator called `anchor`, the best first."""
    module = function(arguments, result, body)
    dag = Dag.of(main_of(module).body.block)
    return [match.name for match in matches_at(dag, dag.names.index(anchor))]


CASES: dict[str, tuple[str, str, str, str, list[str]]] = {
    "longest first": (
        "conv",
        f"%x: {X}",
        Y,
        f"{CONV}\n%1 = {norm('%0')}\n%2 = graph.relu %1 : {Y} -> {Y}\nfunc.return %2 : {Y}",
        ["conv_bn_relu", "conv_bn"],
    ),
    "the norm's parameter": (
        "conv",
        f"%x: {X}, %p: {C}",
        Y,
        f"{CONV}\n%1 = {norm('%0', '%p')}\nfunc.return %1 : {Y}",
        [],
    ),
    "an output on the way": (
        "conv",
        f"%x: {X}",
        f"({Y}, {Y})",
        f"{CONV}\n%1 = {norm('%0')}\n%2 = graph.relu %1 : {Y} -> {Y}\n"
        f"func.return %1, %2 : {Y}, {Y}",
        ["conv_bn"],
    ),
    "two users": (
        "matmul",
        f"%x: {M}",
        f"({M}, {M})",
        f"{MATMUL}\n%1 = graph.relu %0 : {M} -> {M}\n%2 = graph.exp %0 : {M} -> {M}\n"
        f"func.return %1, %2 : {M}, {M}",
        [],
    ),
    "one user, two uses": (
        "matmul",
        f"%x: {M}",
        M,
        f"{MATMUL}\n%1 = graph.add %0, %0 : ({M}, {M}) -> {M}\nfunc.return %1 : {M}",
        [],
    ),
    "a residual on either side": (
        "matmul",
        f"%x: {M}",
        M,
        f"{MATMUL}\n%1 = graph.add %x, %0 : ({M}, {M}) -> {M}\n"
        f"%2 = graph.relu %1 : {M} -> {M}\nfunc.return %2 : {M}",
        ["matmul_residual_relu", "matmul_residual"],
    ),
    "a larger result": (
        "matmul",
        "%x: tensor<1x64xf32>",
        M,
        f"""
        %w = graph.weight "w" : {M}
        %c = graph.weight "c" : {M}
        %0 = graph.matmul %x, %w : (tensor<1x64xf32>, {M}) -> tensor<1x64xf32>
        %1 = graph.add %0, %c : (tensor<1x64xf32>, {M}) -> {M}
        func.return %1 : {M}""",
        [],
    ),
    "slots out of order": (
        "matmul",
        f"%x: {M}",
        M,
        f"""{MATMUL}
        %b = graph.weight "b" : tensor<64xf32>
        %1 = graph.relu %0 : {M} -> {M}
        %2 = graph.add %1, %b : ({M}, tensor<64xf32>) -> {M}
        func.return %2 : {M}""",
        ["matmul_relu"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_proposals(name: str) -> None:
    *graph, expected = CASES[name]
    assert proposals(*graph) == expected
