"""Own operators and fusions for tests: a table of kernels, right and wrong, and what cleans up."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from fusec.api import Compiled, Model, compile, context, run_passes
from fusec.fusion.patterns.own import OWN
from fusec.opbase import OperatorBase, RegOp, unregister
from fusec.semantics.weights import WeightStore
from fusec_dialects.graph import OWN as OPERATORS
from fusec_dialects.graph import FusedOp, KernelOp
from graph_modules import function

Body = Callable[[Any, Any, Any], None]

M = "tensor<16x16xf32>"


@contextmanager
def nothing_left() -> Generator[None]:
    """What is registered inside is gone afterwards."""
    before = {*OWN.fusions, *OPERATORS}
    try:
        yield
    finally:
        for name in {*OWN.fusions, *OPERATORS} - before:
            unregister(name)


def twice(name: str, body: Body | None) -> type[OperatorBase]:
    """An operator that doubles its input, with `body` as its kernel."""

    class Twice(OperatorBase):
        def __init__(self) -> None:
            super().__init__()
            self.add_input("x")
            self.add_output("y")

        def compute(self, inputs: list[Any], outputs: list[Any]) -> None:
            outputs[0] = inputs[0] * 2

    class Lowered(Twice):
        def lower(self, npu: Any, inputs: list[Any], outputs: list[Any]) -> None:
            if body is not None:
                body(npu, inputs[0], outputs[0])

    return RegOp(name)(Twice if body is None else Lowered)


def scale(npu: Any, x: Any, y: Any, factor: float = 2.0, rows: int | None = None) -> None:
    """The right kernel: tiles of 16 rows; with another factor or number of rows a wrong one."""
    height, width = x.shape
    with npu.rows(height if rows is None else rows, 16) as (start, count):
        part = (start, 0), (count, width)
        tile = npu.ub((16, width), x.dtype, (count, width))
        npu.load(npu.view(x, *part), tile)
        npu.vmul(tile, factor, tile)
        npu.store(tile, npu.view(y, *part))


def parsed(text: str) -> ModuleOp:
    """A module of text that may hold own operators."""
    module = Parser(context(), text).parse_module()
    module.verify()
    return module


def applied(name: str, type_: str = "tensor<40x24xf32>") -> ModuleOp:
    """A network of one operator."""
    return parsed(
        f"""func.func @main(%x: {type_}) -> {type_} {{
          %0 = graph.{name} %x : {type_} -> {type_}
          func.return %0 : {type_}
        }}"""
    )


def compiled(module: ModuleOp) -> Compiled:
    """Fused wherever that makes fewer kernels."""
    return compile(Model(module, WeightStore()), objective="kernels")


def kernels(made: Compiled) -> list[str]:
    """The patterns of the kernels."""
    return [op.pattern.data for op in made.fused.walk() if isinstance(op, KernelOp)]


def groups(module: ModuleOp) -> list[str]:
    """The patterns of the groups that graph-fuse makes."""
    run_passes(module, "graph-fuse{objective=kernels}")
    return [op.pattern.data for op in module.walk() if isinstance(op, FusedOp)]


def chain(*ops: str, results: str = "%2") -> ModuleOp:
    """%0 = x y by a product, then what `ops` say; `results` are returned."""
    body = [f"%0 = graph.matmul %x, %y : ({M}, {M}) -> {M}", *ops]
    count = results.count("%")
    types = ", ".join([M] * count)
    body.append(f"func.return {results} : {types}")
    return function(f"%x: {M}, %y: {M}, %b: {M}", f"({types})", "\n".join(body))


BIAS_RELU = (
    f"%1 = graph.add %b, %0 : ({M}, {M}) -> {M}",
    f"%2 = graph.relu %1 : {M} -> {M}",
)
