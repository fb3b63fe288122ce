"""Seconds of graph-fuse, stage by stage, for graphs of doubling size without two equal layers.

`bench/scaling.py [--strategy NAME] [--wide] [COUNT ...]`: operators of the graphs, 5000, 10000 and
20000 by default. They are built in memory: matrix products with bias and activation, branches,
elementwise chains, softmax and layer norm. A branch has 50 layers, every one two columns wider, and
another number of rows than all others; --wide: one branch, so that layers of larger graphs are
wider. Processor time without the garbage collector's pauses; "asks" are the part of planning that
exact answers of legality and cost take.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from fusec.config.fusion_options import FusionOptions
from fusec.fusion import fuse
from fusec.fusion.legality import Legality
from fusec_dialects.graph import FusedOp, WeightOp
from fusec_dialects.graph.base import AttrValue
from fusec_dialects.graph.operators import build
from fusec_dialects.graph.shapes import make_type

ROWS, FIRST, LAYERS = 96, 64, 50
"""Rows of the first branch, columns of the first layer of each, layers of one."""

CHAIN = ("exp", "neg", "tanh", "abs", "sqrt")

STAGES = ("decompose", "put_own_kernels", "merge_parallel", "erase_dead_code", "plan_with_cache")
"""Functions of graph-fuse by name; the rest of it is "dag, build"."""


class Writer:
    """Writes operators into one block and counts them."""

    def __init__(self) -> None:
        self.block = Block()
        self.operators = 0
        self._weights = 0

    def __call__(self, name: str, *operands: SSAValue, **attrs: AttrValue) -> SSAValue:
        """The result of one more operator."""
        op = build(name, operands, attrs)
        self.block.add_op(op)
        self.operators += 1
        return op.results[0]

    def input(self, *shape: int) -> SSAValue:
        """One more argument of the function."""
        return self.block.insert_arg(make_type(f32, shape), len(self.block.args))

    def weight(self, *shape: int) -> SSAValue:
        """A weight of its own."""
        op = WeightOp(f"w{self._weights}", make_type(f32, shape))
        self._weights += 1
        self.block.add_op(op)
        return op.y

    def layer(self, value: SSAValue, columns: int) -> SSAValue:
        """Eighteen operators, the last ten on one column more."""
        value = self("matmul", value, self.weight(columns - 1, columns))
        value = self("add", value, self.weight(columns))
        value = self("gelu", value)
        joined = self("mul", self("relu", value), self("sigmoid", value))
        value = self("add", joined, value)
        for name in CHAIN:
            value = self(name, value)
        value = self("softmax", value, axis=-1)
        value = self("matmul", value, self.weight(columns, columns + 1))
        skip = value = self("relu", value)
        width = columns + 1
        value = self("layer_normalization", value, self.weight(width), self.weight(width))
        value = self("swish", value)
        return self("add", value, skip)


def layers(count: int, longest: int) -> ModuleOp:
    """A function of `count` operators at least, weights not counted, `longest` layers a branch."""
    write = Writer()
    results: list[SSAValue] = []
    while write.operators < count:
        value = write.input(ROWS + len(results), FIRST)
        columns = FIRST
        while write.operators < count and columns < FIRST + 2 * longest:
            value = write.layer(value, columns + 1)
            columns += 2
        results.append(value)
    write.block.add_op(ReturnOp(*results))
    types = [a.type for a in write.block.args], [r.type for r in results]
    return ModuleOp([FuncOp("main", types, Region(write.block))])


class Clock:
    """Adds up the seconds that some functions take."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.calls: dict[str, int] = {}

    def timed(self, name: str, body: Callable[..., Any]) -> Callable[..., Any]:
        """The function with its time taken."""

        @wraps(body)
        def run(*args: Any, **kwargs: Any) -> Any:
            start = time.process_time()
            try:
                return body(*args, **kwargs)
            finally:
                spent = time.process_time() - start
                self.seconds[name] = self.seconds.get(name, 0.0) + spent
                self.calls[name] = self.calls.get(name, 0) + 1

        return run


def measured(count: int, strategy: str, longest: int = LAYERS) -> tuple[dict[str, float], int, int]:
    """Seconds by stage, asks, groups."""
    module = layers(count, longest)
    clock = Clock()
    before = {name: getattr(fuse, name) for name in STAGES}
    ask = Legality.cost
    for name, body in before.items():
        setattr(fuse, name, clock.timed(name, body))
    Legality.cost = clock.timed("asks", ask)
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        fuse.fuse_module(module, FusionOptions(strategy=strategy))
        total = time.process_time() - start
    finally:
        gc.enable()
        for name, body in before.items():
            setattr(fuse, name, body)
        Legality.cost = ask
    groups = sum(isinstance(op, FusedOp) for op in module.walk())
    found = {name: clock.seconds.get(name, 0.0) for name in STAGES}
    found["dag, build"] = total - sum(found.values())
    return (
        {**found, "asks": clock.seconds.get("asks", 0.0), "total": total},
        clock.calls.get("asks", 0),
        groups,
    )


def main() -> None:
    """Prints a line for each count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("counts", nargs="*", type=int, default=[5000, 10000, 20000])
    parser.add_argument("--strategy", default="greedy")
    parser.add_argument("--wide", action="store_true")
    args = parser.parse_args()
    measured(100, args.strategy)
    last: tuple[int, float] | None = None
    for count in args.counts:
        seconds, asks, groups = measured(count, args.strategy, count if args.wide else LAYERS)
        text = "  ".join(f"{name} {spent:.2f}" for name, spent in seconds.items())
        print(f"{count:6} operators  {groups} groups  {asks} asks  {text}", end="")
        if last is not None:
            print(f"  x{seconds['total'] / last[1]:.2f} for x{count / last[0]:.1f}", end="")
        print(flush=True)
        last = count, seconds["total"]


if __name__ == "__main__":
    main()
