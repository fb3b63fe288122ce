"""Faults to be found: groups of some patterns compute something else than the network does.

`plant` exchanges an operator inside of them as they are outlined, so that every level below is
wrong. As a file of `--load` it takes what to plant from the environment variable FAULT:
`pattern:add:sub pattern:...`.
"""

import os
from collections.abc import Collection, Mapping

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from fusec.graph.outline import GraphOutlinePass
from fusec_dialects.graph import FusedOp, GraphOp, build

Faults = Mapping[str, tuple[str, str]]
"""Pattern -> the operator that is exchanged, and the one that takes its place."""


def plant(faults: Faults, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every graph-outline from now on plants these faults."""
    real = GraphOutlinePass.apply

    def apply(self: GraphOutlinePass, ctx: Context, op: ModuleOp) -> None:
        for group in [g for g in op.walk() if isinstance(g, FusedOp)]:
            if group.pattern.data in faults:
                _exchange(list(group.body.block.ops), *faults[group.pattern.data])
        real(self, ctx, op)

    monkeypatch.setattr(GraphOutlinePass, "apply", apply)


def _exchange(ops: Collection[Operation], right: str, wrong: str) -> None:
    for op in ops:
        if isinstance(op, GraphOp) and op.op_name == right and op.parent is not None:
            made = build(wrong, op.operands, {})
            made.location = op.location
            op.parent.insert_op_before(made, op)
            op.results[0].replace_all_uses_with(made.results[0])
            op.parent.erase_op(op)


if "FAULT" in os.environ:
    entries = [entry.split(":") for entry in os.environ["FAULT"].split()]
    plant({name: (right, wrong) for name, right, wrong in entries}, pytest.MonkeyPatch())
