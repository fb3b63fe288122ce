"""A block of graph operators turned from channels first (NCHW) to channels last (NHWC).

The old block stays. The new one's arguments and yielded values have other types, and what they are
is returned, so that the same function serves a fused group and a group that is only thought of.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from fusec.graph.pixel_filters import kept_filters
from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import AttrValue, ConstantOp, GraphOp, YieldOp, build
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.compute import (
    AveragePoolOp,
    BatchNormalizationOp,
    ConvOp,
    GlobalAveragePoolOp,
    MaxPoolOp,
    ReduceOp,
)
from fusec_dialects.graph.movement import ReshapeOp, TransposeOp
from fusec_dialects.graph.shapes import Shape, dims_of, make_type, normal_axis

POOLS = (MaxPoolOp, AveragePoolOp, GlobalAveragePoolOp, BatchNormalizationOp)

PLACED = frozenset({"concat", "split", "slice", "pad"})
"""Movements that are the same in either order of the axes."""


def to_last(rank: int) -> tuple[int, ...]:
    """The permutation from channels first to channels last."""
    return (0, *range(2, rank), 1)


def to_first(rank: int) -> tuple[int, ...]:
    """The permutation from channels last to channels first."""
    return (0, rank - 1, *range(1, rank - 1))


def filter_last(rank: int) -> tuple[int, ...]:
    """The permutation of a filter from [O][I][kernel] to [kernel][I][O]."""
    return (*range(2, rank), 1, 0)


@dataclass(frozen=True)
class Change:
    """What a new argument is: the old value reshaped to `shape`, then permuted by `perm`."""

    shape: Shape
    perm: tuple[int, ...]

    def dims(self) -> Shape:
        """Sizes after the change."""
        return tuple(self.shape[p] for p in self.perm)


@dataclass
class ChannelsLast:
    """The converted block. `arguments[i]` is the change of argument i; `results` are the numbers of
    the yielded values that are channels last now."""

    block: Block
    arguments: dict[int, Change]
    results: set[int]


class _Refused(Exception):
    pass


def is_spatial(op: Operation) -> bool:
    """Whether an operator works channels first, or on a filter that does not go with the rest."""
    if isinstance(op, ConvOp):
        return "NCHW" in (op.x_layout.data, op.y_layout.data) or op.w_layout.data == "OIHW"
    return isinstance(op, POOLS) and op.layout.data == "NCHW"


def channels_last(block: Block, arguments: Collection[int] = ()) -> ChannelsLast | None:
    """The block with channels last; None where nothing changes or an operator needs channels first.

    `arguments` are those that come as channels last anyway; without them only blocks with a
    convolution, pooling or batch norm change.
    """
    worth = any(is_spatial(op) for op in block.ops) or bool(arguments)
    if not worth:
        return None
    converter = _Converter(block)
    try:
        converter.plan(arguments)
    except _Refused:
        return None
    return converter.build()


class _Converter:
    def __init__(self, block: Block) -> None:
        self._block = block
        self._last: set[SSAValue] = set()
        self._changes: dict[SSAValue, Change] = {}
        self._converted: list[GraphOp] = []
        self._attrs: dict[Operation, dict[str, AttrValue]] = {}
        self._first_users: set[SSAValue] = set()
        self._kept = kept_filters(block)

    def plan(self, arguments: Collection[int]) -> None:
        """Decides which values become channels last, touching nothing; raises _Refused."""
        for i in arguments:
            argument = self._block.args[i]
            self._want_last(argument, len(dims_of(tensor_type(argument))))
        for op in self._block.ops:
            if isinstance(op, YieldOp):
                self._first_users.update(v for v in op.values if v not in self._last)
            if isinstance(op, YieldOp | ConstantOp):
                continue
            if not isinstance(op, GraphOp):
                raise _Refused
            if is_spatial(op):
                self._spatial(op)
            elif any(o in self._last for o in op.operands):
                self._follow(op)
            else:
                self._first_users.update(op.operands)
        if self._first_users & (self._last | self._changes.keys()):
            raise _Refused

    def _spatial(self, op: GraphOp) -> None:
        x, *rest = op.operands
        rank = len(dims_of(tensor_type(x)))
        if isinstance(op, ConvOp) and op.x_layout.data != op.y_layout.data:
            raise _Refused
        first = not isinstance(op, ConvOp) or op.x_layout.data == "NCHW"
        if first:
            self._want_last(x, rank)
        if isinstance(op, ConvOp) and op.w_layout.data == "OIHW" and op not in self._kept:
            self._want(rest[0], Change(dims_of(tensor_type(rest[0])), filter_last(rank)))
            rest = rest[1:]
        self._first_users.update(rest)
        if first:
            self._last.update(op.results)
        self._converted.append(op)

    def _follow(self, op: GraphOp) -> None:
        kind = fusion_class(op.op_name)
        shape = dims_of(tensor_type(op.results[0]))
        if isinstance(op, TransposeOp):
            order = to_first(len(shape))
            self._attrs[op] = {"perm": tuple(order[p] for p in op.perm.get_values())}
            self._converted.append(op)
            return
        if isinstance(op, ReduceOp):
            self._reduction(op)
            return
        if kind == FusionClass.VIEW and op.op_name != "identity":
            source = dims_of(tensor_type(op.operands[0]))
            if any(d != 1 for d in source[2:]):
                raise _Refused
            self._converted.append(op)
            return
        if op.op_name in PLACED:
            self._placed(op)
            return
        if kind != FusionClass.ELEMENTWISE and op.op_name != "identity":
            raise _Refused
        for operand in op.operands:
            dims = dims_of(tensor_type(operand))
            if operand in self._last and len(dims) < len(shape):
                raise _Refused
            if operand in self._last or (all(d == 1 for d in dims) and len(dims) <= len(shape)):
                continue
            self._want_last(operand, len(shape))
        self._last.update(op.results)
        self._converted.append(op)

    def _placed(self, op: GraphOp) -> None:
        """Parts are put together or cut the same way; the axes that say where have moved."""
        rank = len(dims_of(tensor_type(op.operands[0])))
        order, attrs = to_last(rank), op.attrs()
        for operand in op.operands:
            self._want_last(operand, rank)
        if op.op_name == "pad":
            pads = cast("tuple[int, ...]", attrs["pads"])
            self._attrs[op] = {"pads": tuple(pads[side + p] for side in (0, rank) for p in order)}
        elif op.op_name == "slice":
            axes = cast("tuple[int, ...]", attrs["axes"])
            self._attrs[op] = {"axes": tuple(order.index(normal_axis(a, rank)) for a in axes)}
        else:
            axis = normal_axis(cast(int, attrs["axis"]), rank)
            self._attrs[op] = {"axis": order.index(axis)}
        self._last.update(op.results)
        self._converted.append(op)

    def _reduction(self, op: ReduceOp) -> None:
        """Reduced axes move; without them the others must come in the order that they had."""
        rank = len(dims_of(tensor_type(op.x)))
        gone = {normal_axis(axis, rank) for axis in op.axes.get_values()} or set(range(rank))
        order = to_last(rank)
        kept = [axis for axis in order if axis not in gone]
        if op.keepdims.value.data:
            self._last.add(op.y)
        elif kept != sorted(kept):
            raise _Refused
        self._attrs[op] = {"axes": tuple(sorted(order.index(axis) for axis in gone))}
        self._converted.append(op)

    def _want_last(self, value: SSAValue, rank: int) -> None:
        if value in self._last:
            return
        dims = dims_of(tensor_type(value))
        op = value.owner
        if isinstance(op, TransposeOp) and op.parent is self._block and op not in self._attrs:
            if len(dims) < rank:
                raise _Refused
            perm = op.perm.get_values()
            self._attrs[op] = {"perm": tuple(perm[p] for p in to_last(rank))}
            self._converted.append(op)
            self._last.add(value)
            return
        self._want(value, Change((1,) * (rank - len(dims)) + dims, to_last(rank)))

    def _want(self, value: SSAValue, change: Change) -> None:
        if not isinstance(value, BlockArgument) or value.block is not self._block:
            raise _Refused
        if self._changes.setdefault(value, change) != change:
            raise _Refused
        if change.perm == to_last(len(change.perm)):
            self._last.add(value)

    def build(self) -> ChannelsLast:
        """The converted block; the old one stays as it is."""
        block = Block()
        mapping: dict[SSAValue, SSAValue] = {}
        arguments: dict[int, Change] = {}
        for argument in self._block.args:
            type_ = tensor_type(argument)
            if (change := self._changes.get(argument)) is not None:
                arguments[argument.index] = change
                type_ = make_type(type_.element_type, change.dims())
            new = block.insert_arg(type_, argument.index)
            new.name_hint = argument.name_hint
            mapping[argument] = new
        converted = set[Operation](self._converted)
        results: set[int] = set()
        for op in self._block.ops:
            if isinstance(op, TransposeOp) and self._stays(op):
                mapping[op.y] = mapping[op.x]
                continue
            if isinstance(op, GraphOp) and op in converted:
                copy = self._rewritten(op, [mapping[o] for o in op.operands])
                copy.location = op.location
                for old, fresh in zip(op.results, copy.results, strict=True):
                    fresh.name_hint = old.name_hint
                    mapping[old] = fresh
            else:
                copy = op.clone(mapping)
            block.add_op(copy)
            if isinstance(op, YieldOp):
                results = {i for i, v in enumerate(op.values) if v in self._last}
        return ChannelsLast(block, arguments, results)

    def _stays(self, op: TransposeOp) -> bool:
        """Whether a transposition of what is channels last now moves nothing."""
        perm = self._attrs.get(op, {}).get("perm")
        return perm is not None and perm == tuple(range(len(op.perm.get_values())))

    def _rewritten(self, op: GraphOp, operands: Sequence[SSAValue]) -> GraphOp:
        if fusion_class(op.op_name) == FusionClass.VIEW and op.op_name != "identity":
            return ReshapeOp.make(operands, [r.type for r in op.results])
        values: dict[str, AttrValue] = {**self._attrs.get(op, {})}
        if isinstance(op, ConvOp):
            filters = op.w_layout.data if op in self._kept else "HWIO"
            values = {"x_layout": "NHWC", "w_layout": filters, "y_layout": "NHWC"}
        elif isinstance(op, POOLS):
            values = {"layout": "NHWC"}
        return build(op.op_name, operands, {**op.properties, **values})
