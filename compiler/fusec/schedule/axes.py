"""The iteration space of a region: which dimensions of its values are one axis.

In: a region of elementwise operators, reductions, norms and views. Out: axes (collapsed where
nothing tells them apart), the axes of each value, and where loads and stores lie along them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import cast

from xdsl.ir import SSAValue

from fusec.schedule.axis_set import AxisIds, AxisSet
from fusec.schedule.region import Region
from fusec.schedule.types import RefusalError
from fusec.schedule.views import (
    VIEWS,
    Access,
    checked,
    load_access,
    static_shape,
    store_access,
    whole,
)
from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import ConstantOp, GraphOp
from fusec_dialects.graph.base import element_name, tensor_type
from fusec_dialects.graph.shapes import normal_axis
from fusec_dialects.place import place

Dims = tuple[AxisIds, ...]

REDUCTIONS = frozenset(
    {
        *("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"),
        "global_average_pool",
    }
)
NORMS = frozenset({"softmax", "log_softmax", "layer_normalization", "batch_normalization"})


@dataclass(frozen=True, eq=False)
class Port:
    """A tensor in gm that a region loads `value` from or stores it to.

    `root` is the region's input, constant or output; an element of the value lies at `offset` plus
    the sum of strides times positions, `strides` by axis. Axes that it does not vary along are
    absent. `output` is which output of the region a store writes.
    """

    value: SSAValue
    root: SSAValue
    offset: int
    strides: dict[int, int]
    output: int | None = None

    def order(self) -> AxisIds:
        """Its axes as they lie in memory, outermost first."""
        return tuple(sorted(self.strides, key=lambda a: (-self.strides[a], a)))


@dataclass(frozen=True, eq=False)
class Axes:
    """`sizes` of the axes, outermost first; a dimension of a value may run over several."""

    sizes: tuple[int, ...]
    dims: dict[SSAValue, Dims]
    loads: dict[SSAValue, Port]
    stores: tuple[Port, ...]

    def of(self, value: SSAValue) -> frozenset[int]:
        """The axes that a value of the region has."""
        return frozenset(a for dim in self.dims[value] for a in dim)


def find_axes(region: Region, resident: SSAValue | None = None) -> Axes:
    """The axes of a region; RefusalError where it has no single iteration space.

    `resident` is an input that is in ub already: its dimensions stay one axis each, in order.
    """
    return _Finder(region, resident).find()


@dataclass(eq=False)
class _Finder:
    region: Region
    resident: SSAValue | None
    axes: AxisSet = field(default_factory=AxisSet)
    dims: dict[SSAValue, Dims] = field(default_factory=dict[SSAValue, Dims])
    reduced: list[AxisIds] = field(default_factory=list[AxisIds])
    """The axes of each reduction, those inside norms included."""
    loads: dict[SSAValue, tuple[Access, list[tuple[int, int]]]] = field(
        default_factory=dict[SSAValue, tuple[Access, list[tuple[int, int]]]]
    )

    def find(self) -> Axes:
        for op in self.region.compute_ops:
            if op.op_name in VIEWS and self._is_argument(op.results[0]):
                continue
            self._visit(op)
        stores = [self._store(output) for output in self.region.outputs]
        return self._resolve(stores)

    # Values

    def of(self, value: SSAValue) -> Dims:
        """The axes of each dimension; a value that comes from outside becomes a load."""
        found = self.dims.get(value)
        if found is None:
            found = self.dims[value] = self._argument(value)
        return found

    def _is_argument(self, value: SSAValue) -> bool:
        """Whether views alone lead from outside to this value."""
        while (op := self.region.producer(value)) is not None and op.op_name in VIEWS:
            if value is self.resident:
                return False
            value = op.operands[0]
        return value is not self.resident and self.region.producer(value) is None

    def _argument(self, value: SSAValue) -> Dims:
        shape = _shape(value)
        scalar = isinstance(value.owner, ConstantOp) and prod(shape) == 1
        if scalar or value is self.resident:
            return tuple(self._fresh(size) for size in shape)
        access = checked(load_access(self.region, value))
        dims: list[AxisIds] = []
        strides: list[tuple[int, int]] = []
        for parts in access.dims:
            ids = tuple(self.axes.new(p.size) for p in parts)
            strides += [(i, p.stride) for i, p in zip(ids, parts, strict=True) if p.stride]
            dims.append(ids)
        self.loads[value] = (access, strides)
        return tuple(dims)

    def _fresh(self, size: int) -> AxisIds:
        return (self.axes.new(size),) if size > 1 else ()

    def _store(self, output: SSAValue) -> tuple[SSAValue, Access, list[tuple[int, int]]]:
        if self._is_argument(output):
            value, access = output, checked(whole(output))
        else:
            value, access = checked(store_access(self.region, output))
        strides: list[tuple[int, int]] = []
        for dim, parts in zip(self.of(value), access.dims, strict=True):
            ids = tuple(self.axes.new(p.size) for p in parts)
            self.axes.unify(dim, ids)
            strides += [(i, p.stride) for i, p in zip(ids, parts, strict=True)]
        return value, access, strides

    # Operators

    def _visit(self, op: GraphOp) -> None:
        name = op.op_name
        for value in (*op.operands, *op.results):
            _shape(value)
        if fusion_class(name) == FusionClass.ELEMENTWISE:
            self.dims[op.results[0]] = self._joined(op.operands)
        elif name in REDUCTIONS:
            self.dims[op.results[0]] = self._reduced(op)
        elif name in NORMS:
            self.dims[op.results[0]] = self._normalised(op)
        elif name in VIEWS:
            self.dims[op.results[0]] = self._viewed(op)
        else:
            raise RefusalError(
                "operator", f"{place(op)} is neither elementwise, a reduction, a norm nor a view"
            )

    def _joined(self, operands: Sequence[SSAValue]) -> Dims:
        dims = [self.of(operand) for operand in operands]
        rank = max(map(len, dims))
        result: list[AxisIds] = [()] * rank
        for one in dims:
            for at, ids in enumerate(one, rank - len(one)):
                if ids and result[at]:
                    self.axes.unify(result[at], ids)
                result[at] = result[at] or ids
        return tuple(result)

    def _reduced(self, op: GraphOp) -> Dims:
        dims = self.of(op.operands[0])
        gone = set(reduced_axes(op, len(dims)))
        self.reduced.append(tuple(a for at in gone for a in dims[at]))
        if op.attrs().get("keepdims", True):
            return tuple(() if at in gone else ids for at, ids in enumerate(dims))
        return tuple(ids for at, ids in enumerate(dims) if at not in gone)

    def _normalised(self, op: GraphOp) -> Dims:
        dims = self.of(op.operands[0])
        if op.op_name == "batch_normalization":
            channel = len(dims) - 1 if op.attrs()["layout"] == "NHWC" else 1
            for parameter in op.operands[1:]:
                self._unify(self.of(parameter)[0], dims[channel])
            return dims
        axis = normal_axis(cast(int, op.attrs()["axis"]), len(dims))
        if op.op_name == "layer_normalization":
            self._joined(op.operands)
            self.reduced.append(tuple(a for ids in dims[axis:] for a in ids))
        else:
            self.reduced.append(dims[axis])
        return dims

    def _unify(self, a: AxisIds, b: AxisIds) -> None:
        if a and b:
            self.axes.unify(a, b)

    def _viewed(self, op: GraphOp) -> Dims:
        dims, shape = self.of(op.operands[0]), _shape(op.results[0])
        if op.op_name == "transpose":
            return tuple(dims[p] for p in cast("tuple[int, ...]", op.attrs()["perm"]))
        if op.op_name == "expand":
            lead = (() for _ in range(len(shape) - len(dims)))
            return tuple(
                ids or self._fresh(n) for ids, n in zip((*lead, *dims), shape, strict=True)
            )
        if op.op_name == "slice":
            if shape != _shape(op.operands[0]):
                raise RefusalError(
                    "slice-of-computed",
                    f"{place(op)} takes part of a value computed in the same kernel; "
                    "slice the operands instead, or store the whole value first",
                )
            return dims
        result = tuple(self._fresh(size) for size in shape)
        self.axes.unify([a for ids in dims for a in ids], [a for ids in result for a in ids])
        return result

    # The result

    def _resolve(self, stores: list[tuple[SSAValue, Access, list[tuple[int, int]]]]) -> Axes:
        dims = {
            value: tuple(tuple(a for i in ids for a in self.axes.atoms(i)) for ids in one)
            for value, one in self.dims.items()
        }
        for value, one in dims.items():
            flat = [a for ids in one for a in ids]
            if len(set(flat)) != len(flat):
                raise RefusalError(
                    "two-dimensions-on-one-axis",
                    f"two dimensions of {value.type} run along one axis, as in x + transpose(x); "
                    "transpose in a kernel of its own",
                )
        ports = [self._port(value, *entry) for value, entry in self.loads.items()]
        ports += [self._port(*entry, output=at) for at, entry in enumerate(stores)]
        size = self.axes.size
        present = list(dict.fromkeys(a for one in dims.values() for ids in one for a in ids))
        if self.resident is None:
            sets = [{a for ids in one for a in ids} for one in dims.values()]
            sets += [{a for i in ids for a in self.axes.atoms(i)} for ids in self.reduced]
            groups = _collapse(_order(ports, present), ports, sets, size)
        else:
            groups = [[a] for a in self._pinned(self.resident, present)]
        number = {a: at for at, group in enumerate(groups) for a in group}
        inner = {group[-1] for group in groups}

        def renumbered(port: Port) -> Port:
            strides = {number[a]: s for a, s in port.strides.items() if a in inner}
            return Port(port.value, port.root, port.offset, strides, port.output)

        moved = [renumbered(port) for port in ports]
        return Axes(
            tuple(prod(map(size, group)) for group in groups),
            {
                value: tuple(tuple(number[a] for a in ids if a in inner) for ids in one)
                for value, one in dims.items()
            },
            {port.value: port for port in moved[: len(self.loads)]},
            tuple(moved[len(self.loads) :]),
        )

    def _port(
        self,
        value: SSAValue,
        access: Access,
        strides: list[tuple[int, int]],
        output: int | None = None,
    ) -> Port:
        spread: dict[int, int] = {}
        for axis, stride in strides:
            for atom in reversed(self.axes.atoms(axis)):
                spread[atom] = stride
                stride *= self.axes.size(atom)
        return Port(value, access.root, access.offset, spread, output)

    def _pinned(self, resident: SSAValue, present: list[int]) -> list[int]:
        pinned = [self.axes.atoms(i) for ids in self.of(resident) for i in ids]
        flat = [atoms[0] for atoms in pinned]
        if any(len(atoms) > 1 for atoms in pinned) or set(present) - set(flat):
            raise RefusalError(
                "epilogue-axes",
                "what follows the contraction cuts its result's axes or adds axes to them; "
                "reshape in a kernel of its own",
            )
        return flat


def reduced_axes(op: GraphOp, rank: int) -> tuple[int, ...]:
    """The dimensions that a reduction reduces: none given means all, a global pool the spatial."""
    if op.op_name == "global_average_pool":
        return tuple(range(1, rank - 1) if op.attrs()["layout"] == "NHWC" else range(2, rank))
    axes = cast("tuple[int, ...]", op.attrs()["axes"])
    return tuple(normal_axis(a, rank) for a in axes) or tuple(range(rank))


def _order(ports: list[Port], present: list[int]) -> list[int]:
    """All axes, outermost first: as the port with most axes lies in memory, or most bytes agree on;
    an axis that it lacks goes before the one it precedes elsewhere."""
    orders: dict[AxisIds, int] = {}
    for port in ports:
        key = port.order()
        orders[key] = orders.get(key, 0) + prod(tensor_type(port.value).get_shape())
    longest = max(map(len, orders), default=0)

    def agreeing(order: AxisIds) -> int:
        at = {a: i for i, a in enumerate(order)}
        return sum(
            weight
            for other, weight in orders.items()
            if (known := [at[a] for a in other if a in at]) == sorted(known)
        )

    leaders = [order for order in orders if len(order) == longest]
    result = list(max(leaders, key=agreeing)) if leaders else []
    for order in sorted(orders, key=len, reverse=True):
        for at, axis in enumerate(order):
            if axis not in result:
                later = next((a for a in order[at + 1 :] if a in result), None)
                result.insert(len(result) if later is None else result.index(later), axis)
    return [a for a in present if a not in result] + result


def _collapse(
    order: list[int], ports: list[Port], sets: list[set[int]], size: Callable[[int], int]
) -> list[list[int]]:
    """Groups of neighbours in `order` that no set tells apart, contiguous in every port."""
    strides = [port.strides for port in ports]

    def joined(a: int, b: int) -> bool:
        return all((a in s) == (b in s) for s in sets) and all(
            (a in s) == (b in s) and (a not in s or s[a] == s[b] * size(b)) for s in strides
        )

    groups: list[list[int]] = []
    for axis in order:
        if groups and joined(groups[-1][-1], axis):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    return groups


def _shape(value: SSAValue) -> tuple[int, ...]:
    return checked(static_shape(value))


def dtype_of(value: SSAValue) -> str:
    """MLIR name of a value's element type."""
    return element_name(value.type)
