"""How many nodes the functions of a model become, before any body is put in place.

A few functions that call each other twice are as many nodes as anybody likes: refused at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from onnx import FunctionProto, NodeProto

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.bodies import FunctionKey, function_key
from fusec.frontends.onnx.functions import subgraphs
from fusec.frontends.onnx.names import NodeNames

MOST_NODES = 1 << 19
"""Nodes that the bodies behind one model may become in all."""

MOST_DEEP = 64
"""Functions inside of functions."""

ADVICE = "each body takes the place of every call: call fewer functions from functions"


def check_expansion(
    nodes: Iterable[NodeProto], functions: Mapping[FunctionKey, FunctionProto]
) -> None:
    """Raises ImportFailure where the bodies behind a graph's nodes would be too many or too deep.

    One that calls itself counts once: it is refused where it is put in place.
    """
    if not functions:
        return
    sizes = _sizes(functions)
    names, total = NodeNames(), 0
    for index, node in enumerate(nodes):
        name = names.of(index, node)
        for key, times in _calls([node], functions).items():
            size, depth = sizes[key]
            total += times * size
            why = ""
            if depth > MOST_DEEP:
                why = f"it calls functions {depth} deep, at most {MOST_DEEP} are read"
            elif total > MOST_NODES:
                why = f"with functions the model has {total} nodes, at most {MOST_NODES} are read"
            if why:
                raise ImportFailure(f"node '{name}' ({node.op_type}): {why}; {ADVICE}")


def _sizes(functions: Mapping[FunctionKey, FunctionProto]) -> dict[FunctionKey, tuple[int, int]]:
    """Nodes that each function becomes, and how deeply functions are nested in it."""
    calls = {key: _calls(function.node, functions) for key, function in functions.items()}
    found: dict[FunctionKey, tuple[int, int]] = {}
    entered: set[FunctionKey] = set()
    stack = list(functions)
    while stack:
        key = stack[-1]
        missing = [c for c in calls[key] if c not in found and c not in entered]
        entered.add(key)
        if key not in found and missing:
            stack += missing
            continue
        stack.pop()
        if key in found:
            continue
        inner = [(found[c], n) for c, n in calls[key].items() if c in found]
        size = sum(1 for _ in _all(functions[key].node)) + sum(n * s for (s, _), n in inner)
        found[key] = (size, 1 + max((depth for (_, depth), _ in inner), default=0))
    return found


def _calls(
    nodes: Iterable[NodeProto], functions: Mapping[FunctionKey, FunctionProto]
) -> Counter[FunctionKey]:
    keys = map(function_key, _all(nodes))
    return Counter(key for key in keys if key in functions)


def _all(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Nodes and those of their subgraphs."""
    for node in nodes:
        yield node
        for graph in subgraphs(node):
            yield from _all(graph.node)
