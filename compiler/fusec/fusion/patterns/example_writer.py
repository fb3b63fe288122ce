"""Writes a small network operator by operator: what examples of patterns are made with.

Weights are constants with seeded values, so that the text of an example is all that it takes to run
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    DictionaryAttr,
    Float16Type,
    Float32Type,
    IntegerType,
    ModuleOp,
    Signedness,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from fusec.fusion.patterns.terms import Apply, Term
from fusec.semantics.dtypes import Array
from fusec.semantics.types import numpy_type
from fusec_dialects.graph import AttrValue, ConstantOp, build
from fusec_dialects.graph.dense import dense

SCALARS = {
    "$epsilon": 1e-5,
    "$alpha": 0.75,
    "$beta": 0.4,
    "$gamma": 1.05,
    "$inverse": 4.0 / 3.0,
    "$factor": 8.0,
    "decay": 0.01,
    "momentum": 0.9,
    "beta1": 0.9,
    "gamma1": 0.1,
    "beta2": 0.99,
    "gamma2": 0.01,
    "epsilon": 1e-3,
    "kept": 0.99,
}
"""What constants of one element are in an example."""

FREE_ATTRS: dict[str, dict[str, AttrValue]] = {
    "reduce_mean": {"axes": (-1,)},
    "reduce_sum": {"axes": (-1,)},
    "reduce_sum_square": {"axes": (-1,)},
    "clip": {"min": -0.5, "max": 1.5},
    "swish": {"alpha": 0.75},
}
"""What attributes that a pattern leaves free are in an example."""

ELEMENTS: dict[str, Attribute] = {
    "f32": Float32Type(),
    "f16": Float16Type(),
    "bf16": BFloat16Type(),
    "i1": IntegerType(1),
    "i8": IntegerType(8),
    "ui8": IntegerType(8, Signedness.UNSIGNED),
    "i32": IntegerType(32),
    "i64": IntegerType(64),
}
"""Element types by their names."""


@dataclass
class Writer:
    """A function in the making: arguments, constants and operators on one element type."""

    element: Attribute
    block: Block = field(default_factory=Block)
    inputs: list[str] = field(default_factory=list[str])
    constants: int = 0
    results: list[SSAValue] = field(default_factory=list[SSAValue])
    """What leaves next to what nothing uses."""

    def input(self, shape: tuple[int, ...], element: Attribute | None = None) -> SSAValue:
        """A further argument."""
        name = "x" if not self.inputs else f"x{len(self.inputs)}"
        self.inputs.append(name)
        type_ = TensorType(element or self.element, shape)
        argument = self.block.insert_arg(type_, len(self.block.args))
        argument.name_hint = name
        return argument

    def weight(self, *shape: int, positive: bool = False) -> SSAValue:
        """A constant of normal values, smaller where many are summed; seeded by its place."""
        rng = np.random.default_rng(self.constants)
        fan_in = max(prod(shape[1:]), 1) if len(shape) > 1 else 4
        values = rng.standard_normal(shape) / fan_in**0.5
        return self.array((np.abs(values) + 0.5) if positive else values, self.element)

    def array(self, values: Array, element: Attribute) -> SSAValue:
        """A constant with these values."""
        self.constants += 1
        content = np.ascontiguousarray(values.astype(numpy_type(element))).tobytes()
        return self.add(ConstantOp(dense(TensorType(element, values.shape), content)))

    def number(self, value: float) -> SSAValue:
        """A constant of one element."""
        return self.array(np.full((), value), self.element)

    def op(
        self,
        name: str,
        *operands: SSAValue,
        attrs: Mapping[str, AttrValue | Attribute] | None = None,
        types: list[Attribute] | None = None,
    ) -> SSAValue:
        """A further operator."""
        return self.add(build(name, operands, attrs, types))

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def reshape(self, value: SSAValue, *shape: int) -> SSAValue:
        return self.op("reshape", value, types=[TensorType(self.element, shape)])

    def term(
        self,
        term: Term,
        values: dict[str, SSAValue],
        made: dict[Apply, SSAValue],
        attrs: Mapping[Apply, Mapping[str, AttrValue]] | None = None,
    ) -> SSAValue:
        """The value of a term; one part is computed once, names get a constant where they have
        none. `attrs`: attributes of single parts."""
        if isinstance(term, str):
            if term not in values:
                values[term] = self.number(SCALARS[term])
            return values[term]
        if not isinstance(term, Apply):
            return self.number(term)
        if term not in made:
            operands = [self.term(t, values, made, attrs) for t in term.operands]
            given: dict[str, AttrValue | Attribute] = {**FREE_ATTRS.get(term.op, {})}
            given |= {**dict(term.attrs), **(attrs or {}).get(term, {})}
            if term.op == "cast":
                given["to"] = ELEMENTS[str(given.get("to", "f32"))]
            made[term] = self.op(term.op, *operands, attrs=given)
        return made[term]

    def module(self) -> ModuleOp:
        """The function `main`, whose results are `results` and what nothing uses."""
        unused = [r for op in self.block.ops for r in op.results if not r.first_use]
        results = list(dict.fromkeys((*self.results, *unused)))
        self.block.add_op(ReturnOp(*results))
        types = [a.type for a in self.block.args]

        def names(found: list[str]) -> ArrayAttr[DictionaryAttr]:
            return ArrayAttr([DictionaryAttr({"graph.name": StringAttr(n)}) for n in found])

        main = FuncOp(
            "main",
            (types, [r.type for r in results]),
            Region(self.block),
            arg_attrs=names(self.inputs),
            res_attrs=names(["y", *(f"y{i}" for i in range(1, len(results)))]),
        )
        return ModuleOp([main])
