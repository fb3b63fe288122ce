"""Own fusions from `pdl` patterns: the part that matches is the fusion, `fuse` the only rewrite.

In: a module with `pdl.pattern @Name : benefit(N) { ...; pdl.rewrite %root with "fuse" }`. Out: a
fusion for each. Attributes that a pattern does not write are free, as in pdl. What stands behind
`"fuse"` in parentheses, operations or results, are inner values that others may use as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.pdl import (
    AttributeOp,
    OperandOp,
    OperationOp,
    PatternOp,
    ResultOp,
    RewriteOp,
    TypeOp,
)
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from fusec.config.errors import nearest
from fusec.fusion.patterns.own import OwnFusion
from fusec.fusion.patterns.terms import Apply, Term
from fusec_dialects.graph import OPERATORS, AttrValue
from fusec_dialects.graph.base import python_value
from fusec_dialects.place import place

REWRITE = "fuse"
"""The name of the external rewrite that means: one kernel of this name."""


def fusions_of(module: ModuleOp) -> Iterator[OwnFusion]:
    """Raises VerifyException, with the place, for what is no fusion."""
    for op in module.body.block.ops:
        if isinstance(op, PatternOp):
            yield _fusion(op)


def _fusion(pattern: PatternOp) -> OwnFusion:
    if pattern.sym_name is None:
        raise VerifyException(f"{place(pattern)}: a fusion needs a name: pdl.pattern @Name")
    reader = _Reader()
    for op in pattern.body.block.ops:
        if isinstance(op, RewriteOp):
            root = reader.root(op)
            benefit, name = pattern.benefit.value.data, pattern.sym_name.data
            escapes = reader.escapes(op, root)
            return OwnFusion(name, root, benefit, "a pdl pattern", escapes, reader.inputs)
        reader.read(op)
    raise VerifyException(f"{place(pattern)}: it has no pdl.rewrite")


class _Reader:
    """The terms of a pattern's values, read in order."""

    def __init__(self) -> None:
        self._terms: dict[SSAValue, Term] = {}
        self._attributes: dict[SSAValue, AttrValue] = {}
        self.inputs = 0

    def read(self, op: Operation) -> None:
        match op:
            case OperandOp():
                self._terms[op.value] = f"i{self.inputs}"
                self.inputs += 1
            case AttributeOp():
                if op.value is not None:
                    self._attributes[op.output] = python_value(op.value)
            case TypeOp(constantType=None):
                pass
            case OperationOp():
                self._terms[op.op] = self._operation(op)
            case ResultOp():
                if op.index.value.data != 0:
                    raise VerifyException(f"{place(op)}: operators of a fusion have one result")
                self._terms[op.val] = self._terms[op.parent_]
            case _:
                raise VerifyException(
                    f"{place(op)}: not a part of a fusion; it consists of operands, attributes, "
                    "operations and their results"
                )

    def root(self, op: RewriteOp) -> Apply:
        """The operation that is rewritten; the rewrite has to be `with "fuse"`."""
        name = None if op.name_ is None else op.name_.data
        if name != REWRITE or op.root is None:
            raise VerifyException(f'{place(op)}: expected pdl.rewrite %root with "{REWRITE}"')
        root = self._terms.get(op.root)
        if not isinstance(root, Apply):
            raise VerifyException(f"{place(op)}: the root has to be an operation of the pattern")
        return root

    def escapes(self, op: RewriteOp, root: Apply) -> tuple[Apply, ...]:
        """The operations that are named as arguments of the rewrite."""
        found: list[Apply] = []
        for value in op.external_args:
            term = self._terms.get(value)
            if not isinstance(term, Apply) or term is root:
                raise VerifyException(
                    f'{place(op)}: behind "{REWRITE}" stand inner operations that others may use '
                    "as well; the root is an output anyway"
                )
            found.append(term)
        return tuple(dict.fromkeys(found))

    def _operation(self, op: OperationOp) -> Apply:
        name = "" if op.opName is None else op.opName.data
        short = name.removeprefix("graph.")
        if not name.startswith("graph.") or short not in OPERATORS:
            advice = nearest(name, [f"graph.{known}" for known in OPERATORS])
            raise VerifyException(f"{place(op)}: unknown operator '{name}'; {advice}")
        known = OPERATORS[short].get_irdl_definition().properties
        attrs: list[tuple[str, AttrValue]] = []
        for key, value in zip(op.attributeValueNames.data, op.attribute_values, strict=True):
            if key.data not in known:
                advice = nearest(key.data, known)
                raise VerifyException(f"{place(op)}: {name} has no '{key.data}'; {advice}")
            if value in self._attributes:
                attrs.append((key.data, self._attributes[value]))
        return Apply(short, tuple(self._terms[o] for o in op.operand_values), tuple(attrs))
