"""The iteration space of a region: which dimensions of its values are one axis.

In: a region of elementwise operators, reductions, norms and views. Out: axes (collapsed where
nothing tells them apart), the axes of each value, and where loads and stores lie along them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import cast

from xdsl.ir import SSAValue

from fusec.schedule.axis_order import collapsed, ordered
from fusec.schedule.axis_set import AxisIds, AxisSet
from fusec.schedule.ports import Picked, Port
from fusec.schedule.reductions import NORMS, REDUCTIONS, reduced_axes
from fusec.schedule.region import Region
from fusec.schedule.slots import Spaces, inner_axes
from fusec.schedule.small_contraction import check_chain, contractions_of, pairing
from fusec.schedule.types import RefusalError
from fusec.schedule.views import (
    VIEWS,
    Access,
    Part,
    checked,
    load_access,
    static_shape,
    store_access,
    stored,
)
from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import ConstantOp, GraphOp
from fusec_dialects.graph.base import element_name
from fusec_dialects.graph.shapes import normal_axis
from fusec_dialects.place import place

Dims = tuple[AxisIds, ...]
Rows = tuple[tuple[SSAValue, int], ...]


@dataclass(frozen=True, eq=False)
class Axes:
    """`sizes` of the axes, outermost first; a dimension of a value may run over several.

    `spaces`: the sets of axes of values, and of the products that contractions sum up.
    """

    sizes: tuple[int, ...]
    dims: dict[SSAValue, Dims]
    loads: dict[SSAValue, Port]
    stores: tuple[Port, ...]
    spaces: Spaces = frozenset()

    def of(self, value: SSAValue) -> frozenset[int]:
        """The axes that a value of the region has."""
        return frozenset(a for dim in self.dims[value] for a in dim)

    @cached_property
    def inner(self) -> frozenset[int]:
        """The axes that lie along the rows of tiles."""
        return inner_axes(len(self.sizes), self.spaces)


def find_axes(
    region: Region,
    resident: SSAValue | None = None,
    turned: bool = False,
    lines: Rows = (),
) -> Axes:
    """The axes of a region; RefusalError where it has no single iteration space.

    `resident` is an input that is in ub already: its dimensions stay in order, one axis each but
    where views cut them. `turned`: what would lie along rows stands across them, and the other way
    round. `lines`: inputs with the length of their lines, which all that is loaded of them shares.
    """
    return _Finder(region, resident, turned, lines).find()


@dataclass(eq=False)
class _Finder:
    region: Region
    resident: SSAValue | None
    turned: bool
    lines: Rows
    axes: AxisSet = field(default_factory=AxisSet)
    dims: dict[SSAValue, Dims] = field(default_factory=dict[SSAValue, Dims])
    reduced: list[AxisIds] = field(default_factory=list[AxisIds])
    """The axes of each reduction, those inside norms included."""
    products: list[AxisIds] = field(default_factory=list[AxisIds])
    """The axes of what each contraction sums up."""
    loads: dict[SSAValue, tuple[Access, list[tuple[int, int]]]] = field(
        default_factory=dict[SSAValue, tuple[Access, list[tuple[int, int]]]]
    )
    picked: dict[SSAValue, tuple[SSAValue, Part]] = field(
        default_factory=dict[SSAValue, tuple[SSAValue, Part]]
    )
    """Of what is gathered: the indices, and size and stride of the slices."""
    common: AxisIds = ()

    def find(self) -> Axes:
        check_chain(contractions_of(self.region))
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
        return self._loaded(value, checked(load_access(self.region, value)))

    def _loaded(self, value: SSAValue, access: Access) -> Dims:
        """The axes of each dimension of what is loaded as `value`."""
        dims: list[AxisIds] = []
        strides: list[tuple[int, int]] = []
        for parts in access.dims:
            ids = tuple(self.axes.new(p.size) for p in parts)
            strides += [(i, p.stride) for i, p in zip(ids, parts, strict=True) if p.stride]
            dims.append(ids)
        self.loads[value] = (access, strides)
        if (depth := dict(self.lines).get(access.root)) is not None:
            across = tuple(i for s, i in sorted((-s, i) for i, s in strides) if -s >= depth)
            self.common = self.common or across
            self._unify(self.common, across)
        return tuple(dims)

    def _fresh(self, size: int) -> AxisIds:
        return (self.axes.new(size),) if size > 1 else ()

    def _store(self, output: SSAValue) -> tuple[SSAValue, Access, list[tuple[int, int]]]:
        if self._is_argument(output):
            value, access = output, checked(stored(self.region, output))
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
        elif fusion_class(name) == FusionClass.CONTRACTION and self.resident is None:
            self.dims[op.results[0]] = self._contracted(op)
        elif name == "gather" and self.resident is None:
            self.dims[op.results[0]] = self._gathered(op)
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

    def _contracted(self, op: GraphOp) -> Dims:
        paired, known = pairing(op), dict[str, AxisIds]()
        for value, labels in zip(
            op.operands, (paired.left, paired.right, paired.bias), strict=False
        ):
            for label, ids in zip(labels, self.of(value), strict=True):
                if label:
                    self._unify(known.get(label, ()), ids)
                    known[label] = known.get(label) or ids
        self.reduced.append(known["k"])
        self.products.append(tuple(a for ids in known.values() for a in ids))
        return tuple(known.get(label, ()) for label in paired.result)

    def _gathered(self, op: GraphOp) -> Dims:
        """A load whose slices are found by an index each."""
        table, indices = op.operands
        if not self._is_argument(table) or not self._is_argument(indices):
            raise RefusalError(
                "gather", f"{place(op)} gathers from, or by, what is computed in its kernel"
            )
        if dtype_of(indices) not in ("i32", "i64"):
            raise RefusalError("gather", f"{place(op)}: indices are i32 or i64")
        access = checked(load_access(self.region, table))
        axis = normal_axis(cast(int, op.attrs()["axis"]), len(access.dims))
        parts = access.dims[axis]
        if len(parts) > 1:
            raise RefusalError("gather", f"{place(op)}: the gathered axis has no single stride")
        found = self.of(indices)
        if indices not in self.loads:
            self.loads[indices] = (checked(load_access(self.region, indices)), [])
        access = Access(access.root, access.offset, (*access.dims[:axis], *access.dims[axis + 1 :]))
        dims = self._loaded(op.results[0], access)
        self.picked[op.results[0]] = (indices, parts[0] if parts else Part(1, 0))
        return (*dims[:axis], *found, *dims[axis:])

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
            backwards = min(cast("tuple[int, ...]", op.attrs()["steps"]), default=1) < 0
            if backwards or shape != _shape(op.operands[0]):
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
            sets += [
                {a for i in ids for a in self.axes.atoms(i)}
                for ids in (*self.reduced, *self.products, self.common)
            ]
            groups = collapsed(ordered(ports, present), ports, sets, size)
        else:
            groups = [[a] for a in self._pinned(self.resident, present)]
        if self.turned:
            groups = self._turned(groups, dims)
        number = {a: at for at, group in enumerate(groups) for a in group}
        inner = {group[-1] for group in groups}

        def renumbered(port: Port) -> Port:
            strides = {number[a]: s for a, s in port.strides.items() if a in inner}
            picked = port.picked and replace(port.picked, index=renumbered(port.picked.index))
            return replace(port, strides=strides, picked=picked)

        moved = [renumbered(port) for port in ports]
        return Axes(
            tuple(prod(map(size, group)) for group in groups),
            {
                value: tuple(tuple(number[a] for a in ids if a in inner) for ids in one)
                for value, one in dims.items()
            },
            {port.value: port for port in moved[: len(self.loads)]},
            tuple(moved[len(self.loads) :]),
            self._spaces(groups, dims),
        )

    def _spaces(self, groups: list[list[int]], dims: dict[SSAValue, Dims]) -> Spaces:
        """The sets of axes, by number, that occur together."""
        number = {a: at for at, group in enumerate(groups) for a in group}
        found = {frozenset(number[a] for ids in one for a in ids) for one in dims.values()}
        return frozenset(found) | {
            frozenset(number[a] for i in ids for a in self.axes.atoms(i)) for ids in self.products
        }

    def _turned(self, groups: list[list[int]], dims: dict[SSAValue, Dims]) -> list[list[int]]:
        """The last axis that does not lie along rows, made the innermost."""
        along = inner_axes(len(groups), self._spaces(groups, dims))
        across = [at for at in range(len(groups)) if at not in along]
        return (
            [*groups[: across[-1]], *groups[across[-1] + 1 :], groups[across[-1]]]
            if across
            else groups
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
        picked = None
        if output is None and value in self.picked:
            indices, slices = self.picked[value]
            picked = Picked(self._port(indices, *self.loads[indices]), slices.size, slices.stride)
        return Port(value, access.root, access.offset, spread, output, picked)

    def _pinned(self, resident: SSAValue, present: list[int]) -> list[int]:
        flat = [a for ids in self.of(resident) for i in ids for a in self.axes.atoms(i)]
        if set(present) - set(flat):
            raise RefusalError(
                "epilogue-axes",
                "what follows the contraction adds axes to its result; "
                "reshape in a kernel of its own",
            )
        return flat


def _shape(value: SSAValue) -> tuple[int, ...]:
    return checked(static_shape(value))


def dtype_of(value: SSAValue) -> str:
    """MLIR name of a value's element type."""
    return element_name(value.type)
