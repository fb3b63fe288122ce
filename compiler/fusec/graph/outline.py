"""graph-outline: each fused group becomes a `graph.kernel` and a `graph.call`; equal groups share
one.

Equal means the same operators, attributes, types and edges; locations do not count and stay on the
call.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from fusec_dialects.graph import CallOp, FusedOp, KernelOp


def structure(block: Block) -> tuple[object, ...]:
    """What two equal blocks have in common: a hashable form without names and locations."""
    numbers: dict[SSAValue, int] = {a: i for i, a in enumerate(block.args)}
    rows: list[object] = [tuple(a.type for a in block.args)]
    for op in block.ops:
        operands = tuple(numbers[o] for o in op.operands)
        for result in op.results:
            numbers[result] = len(numbers)
        types: tuple[Attribute, ...] = tuple(r.type for r in op.results)
        rows.append((op.name, operands, tuple(sorted(op.properties.items())), types))
    return tuple(rows)


@dataclass(frozen=True)
class GraphOutlinePass(ModulePass):
    """Outline fused groups as kernels, each distinct one once."""

    name = "graph-outline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        taken = {k.sym_name.data for k in op.body.block.ops if isinstance(k, KernelOp)}
        known: dict[object, str] = {}
        for kernel in op.body.block.ops:
            if isinstance(kernel, KernelOp):
                known.setdefault(structure(kernel.body.block), kernel.sym_name.data)
        counts: dict[str, int] = {}
        for group in list(op.walk()):
            if isinstance(group, FusedOp):
                _outline(op, group, known, taken, counts)


def _outline(
    module: ModuleOp,
    group: FusedOp,
    known: dict[object, str],
    taken: set[str],
    counts: dict[str, int],
) -> None:
    key = structure(group.body.block)
    name = known.get(key)
    if name is None:
        base = _symbol(group.pattern.data)
        number = counts.get(base, 0)
        while f"{base}_{number}" in taken:
            number += 1
        counts[base] = number + 1
        name = known[key] = f"{base}_{number}"
        taken.add(name)
        module.body.block.add_op(_kernel(name, group))
    call = CallOp(name, group.inputs, [r.type for r in group.results])
    call.location = group.location
    block = group.parent
    if block is None:
        return
    block.insert_op_before(call, group)
    for old, new in zip(group.results, call.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    block.erase_op(group)


def _kernel(name: str, group: FusedOp) -> Operation:
    type_ = FunctionType.from_lists([v.type for v in group.inputs], [r.type for r in group.results])
    kernel = KernelOp(name, group.pattern.data, type_, group.body.clone())
    kernel.location = group.location
    return kernel


def _symbol(pattern: str) -> str:
    return "".join(c if c.isalnum() or c == "_" else "_" for c in pattern) or "kernel"
