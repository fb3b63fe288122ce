"""The operators of one function as numbers: who computes what, who uses it, what kind it is.

Built once in linear time; planning works on it and touches no IR.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from fusec.graph.channels_last import PLACED, is_spatial, to_first
from fusec.semantics.classes import FusionClass, fusion_class
from fusec.semantics.types import tensor_bytes
from fusec_dialects.graph import CallOp, ConstantOp, FusedOp, GraphOp, OpaqueOp, WeightOp
from fusec_dialects.graph.movement import TransposeOp
from fusec_dialects.locations import nodes, sources

ACCESS = frozenset({"transpose", "slice", "expand"})
"""Movements that a kernel can also do as an access map of an operand or result."""


@dataclass
class Dag:
    """`ops[i]` is the i-th operator in program order; the other lists go with it.

    `operands[i]` has the operator that computes each operand, -1 for an argument; `users[i]` has
    the operators that use a result of i, once for each use, -1 for the function's return;
    `constant[i]` says that i follows from weights and constants alone (its results are in `known`).
    `last` are pictures that will lie channels last, whatever their types say.
    `loaded` are the operands of contractions, which a kernel loads from global memory, and of batch
    norms, which are folded into them; `roots[i]` is the operator behind the views that end with i,
    i itself where it is no view; `behind` has the value behind the result of each view. Values have
    numbers too: `sizes` in bytes by that number, `reads[i]` the operator that computes each operand
    with the number of the value behind its views, inline constants left out, `writes[i]` the number
    of each result.
    """

    ops: list[Operation] = field(default_factory=list[Operation])
    names: list[str] = field(default_factory=list[str])
    classes: list[FusionClass] = field(default_factory=list[FusionClass])
    operands: list[list[int]] = field(default_factory=list[list[int]])
    users: list[list[int]] = field(default_factory=list[list[int]])
    constant: list[bool] = field(default_factory=list[bool])
    known: set[SSAValue] = field(default_factory=set[SSAValue])
    last: set[SSAValue] = field(default_factory=set[SSAValue])
    loaded: set[int] = field(default_factory=set[int])
    roots: list[int] = field(default_factory=list[int])
    behind: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    reads: list[tuple[tuple[int, int], ...]] = field(
        default_factory=list[tuple[tuple[int, int], ...]]
    )
    writes: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    sizes: list[int] = field(default_factory=list[int])
    _imported: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    _nodes: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])

    @classmethod
    def of(cls, block: Block) -> Dag:
        """The operators of a function's block, its return left out."""
        dag = cls()
        index: dict[Operation, int] = {}
        numbers: dict[SSAValue, int] = {}

        def number(value: SSAValue) -> int:
            value = dag.source(value)
            if (known := numbers.get(value)) is None:
                known = numbers[value] = len(dag.sizes)
                dag.sizes.append(tensor_bytes(value.type))
            return known

        for op in block.ops:
            owners = [
                index.get(o.owner, -1) if isinstance(o.owner, Operation) else -1
                for o in op.operands
            ]
            if isinstance(op, ReturnOp):
                for owner in owners:
                    if owner >= 0:
                        dag.users[owner].append(-1)
                continue
            i = index[op] = len(dag.ops)
            name = op.op_name if isinstance(op, GraphOp) else op.name
            dag.ops.append(op)
            dag.names.append(name)
            dag.classes.append(fusion_class(name))
            dag.operands.append(owners)
            dag.users.append([])
            if dag.is_view(i) and owners:
                dag.roots.append(dag.root(owners[0]))
                dag.behind[op.results[0]] = dag.source(op.operands[0])
            else:
                dag.roots.append(i)
            constant = isinstance(op, WeightOp | ConstantOp) or (
                bool(owners)
                and not isinstance(op, OpaqueOp)
                and all(o >= 0 and dag.constant[o] for o in owners)
            )
            dag.constant.append(constant)
            if constant:
                dag.known.update(op.results)
            if dag.classes[i] == FusionClass.CONTRACTION or name == "batch_normalization":
                dag.loaded.update(owners)
            for owner in owners:
                if owner >= 0:
                    dag.users[owner].append(i)
            if _comes_last(op, name, dag):
                dag.last.update(op.results)
            dag.writes.append(tuple(map(number, op.results)))
            dag.reads.append(
                tuple(
                    (owner, number(value))
                    for value, owner in zip(op.operands, owners, strict=True)
                    if not (owner >= 0 and dag.is_inline(owner))
                )
            )
        return dag

    def is_constant(self, i: int) -> bool:
        """A weight, an inline constant, or what follows from these alone."""
        return self.constant[i]

    def is_known(self, value: SSAValue) -> bool:
        """Whether a value is known before the model runs."""
        return value in self.known

    def is_inline(self, i: int) -> bool:
        """A constant that is copied into the groups that use it."""
        op = self.ops[i]
        return isinstance(op, ConstantOp) and len(op.value) == 1 and i not in self.loaded

    def is_view(self, i: int) -> bool:
        """An operator that costs nothing between kernels."""
        return self.classes[i] == FusionClass.VIEW

    def root(self, i: int) -> int:
        """The operator behind views, -1 for an argument."""
        return self.roots[i] if i >= 0 else -1

    def source(self, value: SSAValue) -> SSAValue:
        """The value behind views, the value itself where it is the result of none."""
        return self.behind.get(value, value)

    def is_access(self, i: int) -> bool:
        """An operator that a kernel can do as an access map."""
        return not self.constant[i] and (self.is_view(i) or self.names[i] in ACCESS)

    def is_settled(self, i: int) -> bool:
        """An operator that stays by itself: a group or a call already, or one for the host."""
        return isinstance(self.ops[i], FusedOp | CallOp | OpaqueOp)

    def is_compute(self, i: int) -> bool:
        """An operator that has to be in a group, or is settled."""
        return not self.is_constant(i) and not self.is_view(i)

    def only_user(self, i: int) -> int | None:
        """The one operator that uses i, all of its uses; None for outputs and for several users.

        The number of uses may be larger than one: in add(y, y) the adder is the only user of y.
        """
        users = self.users[i]
        if not users or users[0] < 0 or len(self.ops[i].results) != 1:
            return None
        return users[0] if all(user == users[0] for user in users) else None

    def place(self, i: int) -> str:
        """The ONNX node whose result it gives, else the operator's own name with its number."""
        return self.nodes(i)[-1]

    def imported(self, i: int) -> tuple[str, ...]:
        """The ONNX nodes that an operator computes, views not counted; none in MLIR text."""
        if (known := self._imported.get(i)) is None:
            known = self._imported[i] = tuple(sources(self.ops[i].location, views=False))
        return known

    def nodes(self, i: int) -> tuple[str, ...]:
        """All ONNX nodes that an operator is made of, that of `place` last."""
        if (known := self._nodes.get(i)) is None:
            found = nodes(self.ops[i].location)
            known = self._nodes[i] = found or (f"{self.names[i]}#{i}",)
        return known

    def named(self, ops: Iterable[int]) -> tuple[str, ...]:
        """All ONNX nodes that operators are made of, each once, in the order of the operators."""
        return tuple(dict.fromkeys(node for i in sorted(ops) for node in self.nodes(i)))


def _comes_last(op: Operation, name: str, dag: Dag) -> bool:
    """Whether graph-assign-layout will make the results channels last: what works on pictures does,
    what follows it elementwise, and what is turned channels first from rows of channels."""
    if is_spatial(op):
        return True
    if isinstance(op, TransposeOp):
        perm = op.perm.get_values()
        return len(perm) > 2 and perm == to_first(len(perm))
    follows = fusion_class(name) == FusionClass.ELEMENTWISE or name in PLACED
    return follows and any(o in dag.last for o in op.operands)
