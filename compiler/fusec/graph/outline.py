"""graph-outline: each fused group becomes a `graph.kernel` and a `graph.call`; equal groups share
one.

Equal means the same operators, attributes, types and edges; names and locations do not count, the
location stays on the call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass

from fusec_dialects.graph import CallOp, FusedOp, KernelOp

_OTHER = re.compile(r"[^A-Za-z0-9_]")
"""What a pattern's name may hold and a symbol may not."""


LIMIT = 1 << 16
"""Attributes that have a number at a time."""


class _Numbers:
    """A number for each attribute, the same for equal ones: hashing a type takes as long as looking
    up a hundred of them. Numbers are never used again, so that forgetting some does no harm."""

    def __init__(self) -> None:
        self._equal: dict[Attribute, int] = {}
        self._same: dict[int, tuple[Attribute, int]] = {}
        self._next = 0

    def of(self, attribute: Attribute) -> int:
        """The number of an attribute."""
        known = self._same.get(id(attribute))
        if known is not None and known[0] is attribute:
            return known[1]
        if len(self._same) >= LIMIT:
            self._same.clear()
            self._equal.clear()
        number = self._equal.get(attribute)
        if number is None:
            number = self._equal[attribute] = self._next
            self._next += 1
        self._same[id(attribute)] = attribute, number
        return number


_NUMBERS = _Numbers()


def structure(block: Block) -> tuple[object, ...]:
    """What two equal blocks have in common: a hashable form without names and locations."""
    number = _NUMBERS.of
    numbers: dict[SSAValue, int] = {a: i for i, a in enumerate(block.args)}
    rows: list[object] = [tuple([number(a.type) for a in block.args])]
    for op in block.ops:
        operands = tuple([numbers[o] for o in op.operands])
        types: list[int] = []
        for result in op.results:
            numbers[result] = len(numbers)
            types.append(number(result.type))
        properties = tuple([(k, number(v)) for k, v in sorted(op.properties.items())])
        rows.append((op.name, operands, properties, tuple(types)))
    return tuple(rows)


@dataclass(frozen=True)
class GraphOutlinePass(ModulePass):
    """Outline fused groups as kernels, each distinct one once."""

    name = "graph-outline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _Outliner(op).run()


class _Outliner:
    """`_known` has the kernels by structure, `_taken` every symbol of the module."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._known: dict[object, str] = {}
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}
        for op in module.body.block.ops:
            symbol = op.get_attr_or_prop("sym_name")
            if isinstance(symbol, StringAttr):
                self._taken.add(symbol.data)
            if isinstance(op, KernelOp):
                self._known.setdefault(_key(op), op.sym_name.data)

    def run(self) -> None:
        for group in [op for op in self._module.walk() if isinstance(op, FusedOp)]:
            self._outline(group)

    def _outline(self, group: FusedOp) -> None:
        key = _key(group)
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = self._kernel(group)
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

    def _kernel(self, group: FusedOp) -> str:
        """The group's body becomes a kernel at the end of the module; gives its name."""
        base = _OTHER.sub("_", group.pattern.data) or "kernel"
        number = self._counts.get(base, 0)
        while f"{base}_{number}" in self._taken:
            number += 1
        self._counts[base] = number + 1
        name = f"{base}_{number}"
        self._taken.add(name)
        type_ = FunctionType.from_lists(
            [v.type for v in group.inputs], [r.type for r in group.results]
        )
        kernel = KernelOp(name, group.pattern.data, type_, group.detach_region(group.body))
        kernel.attributes = dict(group.attributes)
        kernel.location = group.location
        self._module.body.block.add_op(kernel)
        return name


def _key(op: FusedOp | KernelOp) -> object:
    """The structure, and what a user wrote on the group (a schedule by hand)."""
    return structure(op.body.block), tuple(sorted(op.attributes.items()))
