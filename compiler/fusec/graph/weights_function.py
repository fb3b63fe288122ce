"""The function `@weights`: what is computed from weights alone, evaluated once for each model.

Passes add expressions; each result has a name that `graph.weight` in the other functions refers to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    LocationAttr,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from fusec.semantics.interpreter import result_names
from fusec.semantics.types import numpy_type
from fusec_dialects.graph import AttrValue, ConstantOp, WeightOp, build
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.dense import dense
from fusec_dialects.graph.shapes import Shape, make_type
from fusec_dialects.locations import named

NAME = "weights"


class WeightsFunction:
    """`@weights` under construction. Call `finish` once when all is added.

    A derived weight takes no name that a `graph.weight` of the module has: it would hide that one.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._function: FuncOp | None = None
        self._results: dict[str, SSAValue] = {}
        self._names: dict[SSAValue, list[str]] = {}
        self._inputs: dict[str, SSAValue] = {}
        self._taken = {op.weight.data for op in module.walk() if isinstance(op, WeightOp)}
        self._made: dict[tuple[object, ...], SSAValue] = {}
        self._new: list[Operation] = []
        self._counts: dict[str, int] = {}
        for op in module.body.block.ops:
            if isinstance(op, FuncOp) and op.sym_name.data == NAME:
                self._function = op
        if self._function is None:
            return
        end = self._function.body.block.last_op
        values: Sequence[SSAValue] = end.operands if isinstance(end, ReturnOp) else ()
        for name, value in zip(result_names(self._function), values, strict=True):
            self._results[name] = value
            self._names.setdefault(value, []).append(name)
        for op in self._function.body.block.ops:
            if isinstance(op, WeightOp):
                self._inputs[op.weight.data] = op.y

    def weight(self, name: str, type_: TensorType[Attribute]) -> SSAValue:
        """The weight of that name inside of `@weights`, be it stored or derived."""
        found = self._results.get(name) or self._inputs.get(name)
        if found is None:
            op = WeightOp.named(name, type_)
            op.location = named(name)
            self._new.append(op)
            found = self._inputs[name] = op.y
            self._taken.add(name)
        return found

    def build(
        self,
        name: str,
        operands: Sequence[SSAValue],
        attrs: Mapping[str, AttrValue | Attribute] | None = None,
        *,
        loc: LocationAttr,
        shape: Shape | None = None,
    ) -> SSAValue:
        """An operator on values of `@weights`; equal ones are made once."""
        key = (name, tuple(operands), tuple(sorted((attrs or {}).items(), key=str)), shape)
        if (found := self._made.get(key)) is not None:
            return found
        types = None
        if shape is not None:
            types = [make_type(tensor_type(operands[0]).element_type, shape)]
        op = build(name, operands, attrs, types)
        op.location = loc
        self._new.append(op)
        self._made[key] = op.results[0]
        return op.results[0]

    def scalar(self, value: float, element: Attribute) -> SSAValue:
        """A scalar of that element type, made once."""
        key = ("scalar", value, element)
        if key not in self._made:
            array = np.full((), value, numpy_type(element))
            op = ConstantOp(dense(TensorType(element, []), array.tobytes()))
            op.location = named(str(value))
            self._new.append(op)
            self._made[key] = op.y
        return self._made[key]

    def adopt(self, op: Operation) -> None:
        """An operator that was made or cloned elsewhere, on values of `@weights`."""
        self._new.append(op)

    def name(self, base: str, value: SSAValue) -> str:
        """The name under which a value is a result; one is made of `base` where it has none."""
        known = self._names.setdefault(value, [])
        found = next((name for name in known if name.startswith(base)), None)
        owner = value.owner
        if found is not None:
            return found
        if isinstance(owner, WeightOp):
            return owner.weight.data
        name, n = base, self._counts.get(base, 1)
        while name in self._results or name in self._taken:
            n += 1
            name = f"{base}.{n}"
        self._counts[base] = n
        self._results[name] = value
        known.append(name)
        return name

    def finish(self) -> None:
        """Write the function; results without a user, and what only they need, go away."""
        used = {
            op.weight.data
            for function in self._module.body.block.ops
            if function is not self._function
            for op in function.walk()
            if isinstance(op, WeightOp)
        }
        results = {n: v for n, v in self._results.items() if n in used}
        if self._function is None:
            if not results:
                for op in reversed(self._new):
                    op.erase()
                return
            self._function = FuncOp(NAME, FunctionType.from_lists([], []))
            self._function.location = named(NAME)
            self._module.body.block.add_op(self._function)
        block = self._function.body.block
        old_end = block.last_op
        if isinstance(old_end, ReturnOp):
            old_end.detach()
            old_end.erase()
        block.add_ops(self._new)
        self._new = []
        end = ReturnOp(*results.values())
        end.location = self._function.location
        block.add_op(end)
        for op in reversed(list(block.ops)):
            if not isinstance(op, ReturnOp) and not any(r.first_use for r in op.results):
                op.detach()
                op.erase()
        if not results:
            self._function.detach()
            self._function.erase()
            return
        self._function.properties["function_type"] = FunctionType.from_lists(
            [], [v.type for v in results.values()]
        )
        self._function.properties["res_attrs"] = ArrayAttr(
            [DictionaryAttr({"graph.name": StringAttr(n)}) for n in results]
        )
