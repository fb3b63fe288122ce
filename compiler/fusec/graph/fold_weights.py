"""graph-fold-weights: what follows from weights alone moves to `@weights`, batch norms included.

In: `main` with fused groups. Out: `main` reads derived weights by name; groups hold no batch norm
that could be folded; `@weights` computes each derived weight once.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp, bf16, f16, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from fusec.graph.batch_norm import FoldedBatchNorm, fold_batch_norms
from fusec.graph.weights_function import NAME, WeightsFunction
from fusec_dialects.graph import ConstantOp, FusedOp, GraphOp, WeightOp
from fusec_dialects.graph.base import tensor_type


class _Folder:
    """Works on one function with the weights function beside it."""

    def __init__(self, function: FuncOp, weights: WeightsFunction) -> None:
        self._function = function
        self._weights = weights
        self._inner: dict[SSAValue, SSAValue] = {}
        self._loaded: dict[str, SSAValue] = {}

    def run(self) -> None:
        block = self._function.body.block
        self._move_constant_expressions()
        for op in list(block.ops):
            if isinstance(op, FusedOp):
                self._fold_group(op)
        for op in reversed(list(block.ops)):
            if isinstance(op, WeightOp | ConstantOp) and not op.results[0].first_use:
                block.erase_op(op)

    def _move_constant_expressions(self) -> None:
        """Operators on weights and constants alone go to `@weights`, where others use them."""
        block = self._function.body.block
        known: set[SSAValue] = set()
        moved: list[GraphOp] = []
        for op in block.ops:
            if isinstance(op, WeightOp | ConstantOp):
                known.add(op.results[0])
            elif isinstance(op, GraphOp) and all(o in known for o in op.operands):
                known.update(op.results)
                moved.append(op)
        inside = set[Operation](moved)
        for op in moved:
            for result in op.results:
                outside = [use for use in result.uses if use.operation not in inside]
                if not outside:
                    continue
                base = result.name_hint or op.op_name
                new = self._load(self._weights.name(base, self._value(result)), result, op)
                for use in outside:
                    use.operation.operands[use.index] = new
        for op in reversed(moved):
            block.erase_op(op)

    def _load(self, name: str, like: SSAValue, before: Operation) -> SSAValue:
        if name not in self._loaded:
            weight = WeightOp.named(name, tensor_type(like))
            weight.location = before.location
            weight.y.name_hint = like.name_hint
            block = self._function.body.block
            block.insert_op_before(weight, before)
            self._loaded[name] = weight.y
        return self._loaded[name]

    def _value(self, value: SSAValue) -> SSAValue:
        """The value that `@weights` has for one of `main` that depends on weights alone."""
        stack = [value]
        while stack:
            top = stack[-1]
            op = top.owner
            if not isinstance(op, Operation):
                raise ValueError("not a weight")
            missing = [o for o in op.operands if o not in self._inner]
            if top in self._inner or not missing:
                stack.pop()
            if top in self._inner:
                continue
            if missing:
                stack.extend(reversed(missing))
            elif isinstance(op, WeightOp):
                stored = self._weights.weight(op.weight.data, tensor_type(op.y))
                stored.name_hint = stored.name_hint or top.name_hint
                self._inner[top] = stored
            else:
                self._weights.adopt(op.clone(self._inner))
        return self._inner[value]

    def _fold_group(self, group: FusedOp) -> None:
        block = group.body.block
        known = [isinstance(v.owner, WeightOp | ConstantOp) for v in group.inputs]
        folds = fold_batch_norms(block, known)
        if not folds:
            return
        inputs = list(group.inputs)
        for fold in folds:
            inputs += self._derive(group, fold)
        for i in reversed(range(len(block.args))):
            if not block.args[i].first_use:
                block.erase_arg(block.args[i])
                del inputs[i]
        group.operands = inputs

    def _derive(self, group: FusedOp, fold: FoldedBatchNorm) -> tuple[SSAValue, SSAValue]:
        """The new filter and bias, computed in f32 where the weights are narrower."""
        outer = group.inputs
        loc: LocationAttr = group.location
        build = self._weights.build
        scale, offset, mean, variance = (self._wide(outer[i], loc) for i in fold.parameters)
        w = self._wide(outer[fold.old_weight], loc)
        eps = self._weights.scalar(fold.epsilon, tensor_type(variance).element_type)
        deviation = build("sqrt", [build("add", [variance, eps], loc=loc)], loc=loc)
        s = build("div", [scale, deviation], loc=loc)
        rank = len(tensor_type(w).get_shape())
        shape = tuple(tensor_type(s).get_shape()[0] if i == fold.axis else 1 for i in range(rank))
        folded = build("mul", [w, build("reshape", [s], shape=shape, loc=loc)], loc=loc)
        if fold.old_bias is not None:
            mean = build("sub", [mean, self._wide(outer[fold.old_bias], loc)], loc=loc)
        bias = build("sub", [offset, build("mul", [mean, s], loc=loc)], loc=loc)
        stems = (outer[fold.old_weight], outer[fold.parameters[1]])
        first, second = (
            self._load(
                self._weights.name(f"{_stem(old)}.bn", self._narrow(new, old, loc)),
                self._narrow(new, old, loc),
                group,
            )
            for old, new in zip(stems, (folded, bias), strict=True)
        )
        return first, second

    def _wide(self, value: SSAValue, loc: LocationAttr) -> SSAValue:
        inner = self._value(value)
        if tensor_type(inner).element_type not in (f16, bf16):
            return inner
        return self._weights.build("cast", [inner], {"to": f32}, loc=loc)

    def _narrow(self, value: SSAValue, like: SSAValue, loc: LocationAttr) -> SSAValue:
        element = tensor_type(like).element_type
        if tensor_type(value).element_type == element:
            return value
        return self._weights.build("cast", [value], {"to": element}, loc=loc)


def _stem(value: SSAValue) -> str:
    owner = value.owner
    return owner.weight.data if isinstance(owner, WeightOp) else "weight"


@dataclass(frozen=True)
class GraphFoldWeightsPass(ModulePass):
    """Evaluate once what depends on weights alone; fold batch norms into weights before them."""

    name = "graph-fold-weights"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        weights = WeightsFunction(op)
        for function in list(op.body.block.ops):
            if isinstance(function, FuncOp) and function.sym_name.data != NAME:
                _Folder(function, weights).run()
        weights.finish()
