"""graph-assign-layout: the convolutional part of a network becomes channels last, filters
[kernel][I][O].

In: `main` with fused groups. Out: groups with convolutions and pooling, and the elementwise ones
between them, work on NHWC; weights are permuted in `@weights`; every transposition that remains is
a group of its own. Where a convolution with few input channels reads a transposed value, its
padding is done by that transposition, so that the window's columns fold into the contraction.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from fusec.config.fusion_options import OBJECTIVES, one_of
from fusec.fusion.absorb_layouts import STEM_CHANNELS, LayoutAbsorber
from fusec.fusion.in_place import OBJECTIVE, UNFUSED
from fusec.graph.channels_last import (
    Change,
    ChannelsLast,
    channels_last,
    is_spatial,
    to_first,
    to_last,
)
from fusec.graph.weights_function import NAME, WeightsFunction
from fusec.schedule.target import module_target
from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import OPERATORS, AttrValue, FusedOp, GraphOp, WeightOp, YieldOp
from fusec_dialects.graph.base import static_shape, tensor_type
from fusec_dialects.graph.compute import ConvOp
from fusec_dialects.graph.movement import ReshapeOp
from fusec_dialects.graph.shapes import Shape, dims_of, infer_types, make_type
from fusec_dialects.locations import part


class _Assigner:
    def __init__(self, function: FuncOp, weights: WeightsFunction) -> None:
        self._block = function.body.block
        self._weights = weights
        self._last: dict[SSAValue, SSAValue] = {}
        self._first: dict[SSAValue, SSAValue] = {}
        self._padded: dict[tuple[SSAValue, tuple[int, ...]], SSAValue] = {}
        self._here: Operation | None = None
        self._done: list[Operation] = []

    def run(self) -> None:
        for op in list(self._block.ops):
            self._here = op
            if isinstance(op, FusedOp) and (made := self._converted(op)) is not None:
                self._replace(op, made)
            else:
                self._keep(op)
        for op in reversed(self._done):
            self._block.erase_op(op)

    def _converted(self, group: FusedOp) -> ChannelsLast | None:
        given = [i for i, v in enumerate(group.inputs) if v in self._last]
        if not given and not any(is_spatial(op) for op in group.body.block.ops):
            return None
        return channels_last(group.body.block, given) or channels_last(group.body.block)

    def _replace(self, group: FusedOp, made: ChannelsLast) -> None:
        inputs: list[SSAValue] = []
        for i, value in enumerate(group.inputs):
            change = made.arguments.get(i)
            inputs.append(self._as_first(value) if change is None else self._changed(value, change))
        self._pad_stems(group, made, inputs)
        end = made.block.last_op
        types = [v.type for v in end.operands] if isinstance(end, YieldOp) else []
        new = FusedOp(group.pattern.data, inputs, types, Region(made.block))
        new.location = group.location
        new.attributes = dict(group.attributes)
        self._block.insert_op_before(new, group)
        for i, (old, fresh) in enumerate(zip(group.results, new.results, strict=True)):
            fresh.name_hint = old.name_hint
            if i in made.results:
                self._last[old] = fresh
            else:
                old.replace_all_uses_with(fresh)
        self._done.append(group)

    def _keep(self, op: Operation) -> None:
        """An operator that stays: operands are channels first, but for views of single pixels."""
        if isinstance(op, GraphOp) and self._view_of_pixel(op):
            source = self._last[op.operands[0]]
            view = ReshapeOp.make([source], [op.results[0].type])
            self._insert(view, op.location)
            op.results[0].replace_all_uses_with(view.results[0])
            self._done.append(op)
            return
        for i, operand in enumerate(op.operands):
            if operand in self._last:
                op.operands[i] = self._as_first(operand)

    def _view_of_pixel(self, op: GraphOp) -> bool:
        if fusion_class(op.op_name) != FusionClass.VIEW or op.operands[0] not in self._last:
            return False
        return all(d == 1 for d in dims_of(tensor_type(op.operands[0]))[2:])

    def _as_first(self, value: SSAValue) -> SSAValue:
        """The value with channels first, transposed where it only exists as channels last."""
        if value not in self._last:
            return value
        if value not in self._first:
            source = self._last[value]
            rank = len(dims_of(tensor_type(source)))
            self._first[value] = self._moved(source, to_first(rank), tensor_type(value))
        return self._first[value]

    def _changed(self, value: SSAValue, change: Change) -> SSAValue:
        """What a converted group takes in place of `value`."""
        rank = len(change.perm)
        is_last = change.perm == to_last(rank)
        if is_last and value in self._last:
            return self._last[value]
        owner = value.owner
        if isinstance(owner, WeightOp):
            return self._changed_weight(owner, change)
        value = self._as_first(value)
        type_ = make_type(tensor_type(value).element_type, change.dims())
        source = value
        if change.shape != dims_of(tensor_type(value)):
            shape = make_type(tensor_type(value).element_type, change.shape)
            view = ReshapeOp.make([value], [shape])
            self._insert(view, self._location())
            source = view.results[0]
        made = self._moved(source, change.perm, type_)
        if is_last:
            self._last[value] = made
        return made

    def _changed_weight(self, op: WeightOp, change: Change) -> SSAValue:
        inner = self._weights.weight(op.weight.data, op.y.type)
        loc = op.location
        if change.shape != dims_of(tensor_type(inner)):
            inner = self._weights.build("reshape", [inner], shape=change.shape, loc=loc)
        inner = self._weights.build("transpose", [inner], {"perm": change.perm}, loc=loc)
        name = self._weights.name(op.weight.data + ".last", inner)
        new = WeightOp.named(name, tensor_type(inner))
        new.y.name_hint = op.y.name_hint
        self._insert(new, loc)
        return new.y

    def _moved(
        self, value: SSAValue, perm: tuple[int, ...], type_: Attribute, pads: tuple[int, ...] = ()
    ) -> SSAValue:
        """A transposition (then padding) as its own group, or a view where no element moves."""
        dims = dims_of(tensor_type(value))
        order = [p for p in perm if dims[p] != 1]
        if order == sorted(order) and not any(pads):
            view = ReshapeOp.make([value], [type_])
            self._insert(view, self._location())
            return view.results[0]
        block = Block(arg_types=[value.type])
        result: SSAValue = block.args[0]
        steps: list[tuple[str, dict[str, AttrValue]]] = [("transpose", {"perm": perm})]
        if any(pads):
            steps.append(("pad", {"pads": pads}))
        for name, attrs in steps:
            cls = OPERATORS[name]
            draft = cls.make([result], [result.type], attrs)
            types = infer_types(draft) or [result.type]
            draft.erase()
            step = cls.make([result], types, attrs)
            step.location = self._location()
            block.add_op(step)
            result = step.results[0]
        end = YieldOp([result])
        end.location = self._location()
        block.add_op(end)
        pattern = "_".join(name for name, _ in steps)
        fused = FusedOp(pattern, [value], [result.type], Region(block))
        self._insert(fused, self._location())
        fused.results[0].name_hint = value.name_hint
        return fused.results[0]

    def _pad_stems(self, group: FusedOp, made: ChannelsLast, inputs: list[SSAValue]) -> None:
        """Moves the padding of a convolution with few channels into the transposition before it."""
        for op in list(made.block.ops):
            if not isinstance(op, ConvOp) or not any(op.pads.get_values()):
                continue
            argument = op.x
            if not isinstance(argument, BlockArgument) or argument.block is not made.block:
                continue
            i = argument.index
            old = group.inputs[i]
            if i not in made.arguments or not argument.has_one_use():
                continue
            if isinstance(old.owner, FusedOp) or static_shape(argument)[-1] >= STEM_CHANNELS:
                continue
            padded = self._stem_input(old, tuple(op.pads.get_values()), argument)
            new_argument = made.block.insert_arg(padded.type, i)
            new_argument.name_hint = argument.name_hint
            attrs = {**op.properties, "pads": (0,) * len(op.pads.get_values())}
            conv = ConvOp.make([new_argument, *list(op.operands)[1:]], [op.y.type], attrs)
            conv.location = op.location
            made.block.insert_op_before(conv, op)
            op.y.replace_all_uses_with(conv.y)
            conv.y.name_hint = op.y.name_hint
            made.block.erase_op(op)
            made.block.erase_arg(argument)
            inputs[i] = padded

    def _stem_input(self, value: SSAValue, conv_pads: tuple[int, ...], like: SSAValue) -> SSAValue:
        n = len(conv_pads) // 2
        pads = (0, *conv_pads[:n], 0, 0, *conv_pads[n:], 0)
        if (value, pads) not in self._padded:
            shape: Shape = dims_of(tensor_type(value))
            rank = len(shape)
            type_ = tensor_type(like)
            self._padded[value, pads] = self._moved(value, to_last(rank), type_, pads)
        return self._padded[value, pads]

    def _insert(self, op: Operation, location: LocationAttr) -> None:
        op.location = location
        if self._here is not None:
            self._block.insert_op_before(op, self._here)

    def _location(self) -> LocationAttr:
        if self._here is None:
            raise ValueError("nothing is being converted")
        return part(self._here.location)


def _erase_unused(block: Block) -> None:
    for op in reversed(list(block.ops)):
        dead = not any(r.first_use for r in op.results) and bool(op.results)
        if dead and isinstance(op, WeightOp | FusedOp):
            block.erase_op(op)


@dataclass(frozen=True)
class GraphAssignLayoutPass(ModulePass):
    """Channels last for convolutions and pooling, transpositions only where they must be.

    `objective`, by default that of graph-fuse, decides whether the kernels around a transposition
    do it themselves; without fusion none does.
    """

    name = "graph-assign-layout"

    objective: str | None = None
    target: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        given = op.attributes.get(OBJECTIVE)
        judged = given.data if isinstance(given, StringAttr) else "time"
        objective = judged if self.objective is None else self.objective
        absorbs = objective != UNFUSED
        if absorbs:
            one_of("objective", objective, OBJECTIVES)
        weights = WeightsFunction(op)
        target = module_target(op, self.target)
        for function in list(op.body.block.ops):
            if isinstance(function, FuncOp) and function.sym_name.data != NAME:
                _Assigner(function, weights).run()
                if absorbs:
                    LayoutAbsorber(function.body.block, weights, target, objective).run()
                _erase_unused(function.body.block)
        weights.finish()
