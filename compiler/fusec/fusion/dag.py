"""The operators of one function as numbers: who computes what, who uses it, what kind it is.

Built once in linear time; planning works on it and touches no IR.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import NameLoc
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import CallOp, ConstantOp, FusedOp, GraphOp, OpaqueOp, WeightOp

ACCESS = frozenset({"transpose", "slice", "expand"})
"""Movements that a kernel can also do as an access map of an operand or result."""


@dataclass
class Dag:
    """`ops[i]` is the i-th operator in program order; the other lists go with it.

    `operands[i]` has the operator that computes each operand, -1 for an argument; `users[i]` has
    the operators that use a result of i, once for each use, -1 for the function's return;
    `constant[i]` says that i follows from weights and constants alone (its results are in `known`).
    `loaded` are the operands of contractions, which a kernel loads from global memory; `roots[i]`
    is the operator behind the views that end with i, i itself where it is no view.
    """

    ops: list[Operation] = field(default_factory=list[Operation])
    names: list[str] = field(default_factory=list[str])
    classes: list[FusionClass] = field(default_factory=list[FusionClass])
    operands: list[list[int]] = field(default_factory=list[list[int]])
    users: list[list[int]] = field(default_factory=list[list[int]])
    constant: list[bool] = field(default_factory=list[bool])
    known: set[SSAValue] = field(default_factory=set[SSAValue])
    loaded: set[int] = field(default_factory=set[int])
    roots: list[int] = field(default_factory=list[int])

    @classmethod
    def of(cls, block: Block) -> Dag:
        """The operators of a function's block, its return left out."""
        dag = cls()
        index: dict[Operation, int] = {}
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
            dag.roots.append(dag.root(owners[0]) if dag.is_view(i) and owners else i)
            constant = isinstance(op, WeightOp | ConstantOp) or (
                bool(owners)
                and not isinstance(op, OpaqueOp)
                and all(o >= 0 and dag.constant[o] for o in owners)
            )
            dag.constant.append(constant)
            if constant:
                dag.known.update(op.results)
            if dag.classes[i] == FusionClass.CONTRACTION:
                dag.loaded.update(owners)
            for owner in owners:
                if owner >= 0:
                    dag.users[owner].append(i)
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
        """The ONNX node's name, else the operator's own name with its number."""
        loc = self.ops[i].location
        return loc.desc.data if isinstance(loc, NameLoc) else f"{self.names[i]}#{i}"
