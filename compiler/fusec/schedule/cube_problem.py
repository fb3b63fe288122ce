"""What a cube kernel computes: one contraction, what is added to it, relu, cast, where it goes.

In: a region. Out: a `CubeProblem`, or a Refusal that says which operator or view does not fit the
order of the cube core: contraction, additions, relu, cast, store through views.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, cast

from xdsl.ir import SSAValue

from fusec.hw import DTYPE_BYTES
from fusec.schedule.contraction import ADDENDS, A, Axis, Contraction, Y, contraction
from fusec.schedule.operands import labels_of
from fusec.schedule.region import Region, once
from fusec.schedule.types import RefusalError
from fusec.schedule.unit_types import type_refusal
from fusec.schedule.views import (
    INVERTIBLE,
    Access,
    Part,
    Parts,
    checked,
    load_access,
    stored,
    undo,
    whole,
)
from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import element_name

BIAS, ROW, COLUMN, TILE, TURNED = "bias", "row", "column", "tile", "turned"
"""How something is added: as the bias of the first mmad, as one product with a row or a column of
ones, as the product of a tile with an identity matrix, be it stored as it is or transposed."""

TILES = frozenset({TILE, TURNED})

TYPES = ("f32", "f16", "bf16")
"""What a matmul, gemm or convolution multiplies here; all accumulate in f32."""

ACCUMULATOR = {"f32": "f32", "f16": "f32", "bf16": "f32", "i8": "i32"}
"""What the cube core accumulates in; matmul_integer multiplies i8."""


@dataclass(frozen=True)
class Addend:
    """What is added to the product: its operand's place in the strides, how, and times what."""

    place: int
    form: str
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class CubeProblem:
    """`roots` and `offsets` by place: a, b, result, addends; `adders` are the operators that add
    them, `last` the one whose result is stored. `alpha` multiplies the product."""

    anchor: GraphOp
    axes: Contraction
    roots: tuple[SSAValue, ...]
    offsets: tuple[int, ...]
    addends: tuple[Addend, ...]
    adders: tuple[GraphOp, ...]
    last: GraphOp
    relu: bool
    dtype: str
    out_dtype: str
    alpha: float = 1.0

    @property
    def accumulator(self) -> str:
        """The element type of a finished tile."""
        return ACCUMULATOR[self.dtype]

    @cached_property
    def operand_bytes(self) -> int:
        """Bytes of what is read, each element once."""
        axes = self.axes
        every = (*axes.grid, axes.row, axes.col, axes.n, *axes.outer_k, axes.k)
        total = 0
        for place in range(len(self.roots)):
            if place == Y:
                continue
            count = 1
            for axis in every:
                if axis.window is not None and place == A:
                    count *= axis.window.size if axis in axes.outer_k else 1
                elif axis.strides[place] != 0:
                    count *= axis.size
            total += count * DTYPE_BYTES[self.dtype]
        return total

    def unit_column(self, addend: Addend) -> bool:
        """Whether a column that is added lies in gm without gaps, so that it loads as one row."""
        return addend.form == COLUMN and self.axes.col.strides[addend.place] == 1


class _Added(NamedTuple):
    """Something added, by which operator, times what."""

    access: Access
    op: GraphOp
    scale: float


@dataclass
class Chain:
    """The operators after the contraction, as far as a cube kernel does them."""

    views: list[GraphOp] = field(default_factory=list[GraphOp])
    addends: list[_Added] = field(default_factory=list["_Added"])
    relu: bool = False
    cast: bool = False
    last: GraphOp | None = None


def anchor_of(region: Region) -> GraphOp:
    """The only contraction of a region; raises RefusalError where there is none or are several."""
    found = [op for op in region.compute_ops if fusion_class(op.op_name) == FusionClass.CONTRACTION]
    if len(found) != 1 or found[0].op_name == "attention":
        what = ", ".join(op.op_name for op in found) or "none"
        apart = any(op.op_name == "attention" for op in found)
        raise RefusalError(
            "contraction-count",
            f"a cube kernel has exactly one matmul, gemm or conv, found {what}"
            + ("; graph-fuse takes attention apart" if apart else ""),
            {"contractions": len(found)},
        )
    return found[0]


NOTHING: frozenset[SSAValue] = frozenset()


@once
def cube_problem(
    region: Region, given: frozenset[SSAValue] = NOTHING, *, separate: bool = False
) -> CubeProblem:
    """The problem of a region that stays on the cube core; raises RefusalError. `given`: values
    computed in the region that lie in gm all the same when the cube core reads them. `separate`:
    an axis for each dimension of the result."""
    anchor = anchor_of(region)
    chain = Chain()
    value = follow(region, anchor, chain)
    if len(region.outputs) != 1:
        raise RefusalError(
            "several-outputs",
            f"a cube kernel stores one result, the group has {len(region.outputs)}",
            {"outputs": len(region.outputs)},
        )
    result = undone(checked(stored(region, value)), chain.views)
    dtype = element_name(value.type)
    return _problem(region, anchor, result, chain, dtype, given=given, separate=separate)


def mixed_problem(region: Region, given: frozenset[SSAValue] = NOTHING) -> CubeProblem:
    """The cube half of a mixed kernel: the contraction alone, stored as it is in f32, with an axis
    for each dimension of the result. `given` as for `cube_problem`."""
    anchor = anchor_of(region)
    result = checked(whole(anchor.results[0]))
    dtype = ACCUMULATOR.get(element_name(anchor.operands[0].type), "f32")
    return _problem(region, anchor, result, Chain(), dtype, given=given, separate=True)


def follow(region: Region, anchor: GraphOp, chain: Chain) -> SSAValue:
    """Walks from the contraction to the output; gives the output."""
    value: SSAValue = anchor.results[0]
    while True:
        users = region.users(value)
        if value in region.output_set:
            if users:
                raise _not_on_cube(users[0], "an intermediate result is also an output")
            return value
        if len(users) != 1:
            raise _not_on_cube(anchor, f"an intermediate result has {len(users)} uses")
        op = users[0]
        if not isinstance(op, GraphOp):
            raise _not_on_cube(anchor, "an intermediate result leaves the group")
        _step(region, op, value, chain)
        if anchor.op_name == "matmul_integer" and op.op_name not in INVERTIBLE:
            raise _not_on_cube(op, "fixpipe stores i32 as it is")
        chain.last = op
        value = op.results[0]


def _step(region: Region, op: GraphOp, value: SSAValue, chain: Chain) -> None:
    """One operator of the epilogue."""
    name = op.op_name
    if name in INVERTIBLE:
        chain.views.append(op)
    elif name == "add" and not chain.relu and not chain.cast:
        other = op.operands[1] if op.operands[0] is value else op.operands[0]
        if op.results[0].type != value.type:
            raise _not_on_cube(op, "the addition makes the result larger")
        access = _addend(region, other, op.results[0], chain.views)
        chain.addends.append(_Added(access, op, 1.0))
    elif name == "relu" and not chain.relu:
        chain.relu = True
    elif name == "cast" and not chain.cast and op.attrs()["to"] in TYPES:
        chain.cast = True
    else:
        raise _not_on_cube(op, "fixpipe does no such step, or not in this order")


def _not_on_cube(op: object, why: str) -> RefusalError:
    name = op.name if isinstance(op, GraphOp) else str(op)
    return RefusalError("epilogue", f"{name} does not stay on the cube core: {why}", {"op": name})


def undone(access: Access, views: Sequence[GraphOp]) -> Access:
    """From the shape after the views to the shape of the contraction's result."""
    for op in reversed(views):
        access = checked(undo(op, access))
    return access


def _addend(region: Region, value: SSAValue, like: SSAValue, views: Sequence[GraphOp]) -> Access:
    """How something added lies in its input, in the shape of the contraction's result."""
    access = checked(load_access(region, value))
    sizes = checked(whole(like)).sizes
    return undone(_broadcast(access, sizes), views)


def _broadcast(access: Access, sizes: Sequence[int]) -> Access:
    missing = len(sizes) - len(access.dims)
    dims = [*(() for _ in range(missing)), *access.dims]
    spread = tuple(
        parts or ((Part(size, 0),) if size > 1 else ())
        for parts, size in zip(dims, sizes, strict=True)
    )
    return Access(access.root, access.offset, spread)


def _problem(
    region: Region,
    anchor: GraphOp,
    result: Access,
    chain: Chain,
    out_dtype: str,
    *,
    given: frozenset[SSAValue] = NOTHING,
    separate: bool = False,
) -> CubeProblem:
    dtype = element_name(anchor.operands[0].type)
    if dtype not in (("i8",) if anchor.op_name == "matmul_integer" else TYPES):
        raise type_refusal(anchor.name, dtype, TYPES, "has no cube kernel here")
    a, b = (checked(load_access(region, value)) for value in anchor.operands[:2])
    own, alpha = _own_addend(region, anchor)
    added = own + chain.addends
    outside = frozenset(region.inputs)
    operands = [access for access in (a, b) if access.root not in given]
    for access in (*operands, *(each.access for each in added)):
        if access.root not in outside:
            raise RefusalError(
                "operand-computed",
                f"an operand of {anchor.name} is computed inside the group; the cube core loads "
                "its operands from gm, so it has to be a kernel of its own",
            )
    results = [result, *(each.access for each in added)]
    axes = contraction(labels_of(anchor, a, b, results), separate=separate)
    if axes.swapped:
        a, b = b, a
    accesses = (a, b, *results)
    return CubeProblem(
        anchor=anchor,
        axes=axes,
        roots=tuple(access.root for access in accesses),
        offsets=tuple(access.offset for access in accesses),
        addends=_forms(axes, anchor, added, dtype),
        adders=tuple(each.op for each in added),
        last=chain.last or anchor,
        relu=chain.relu,
        dtype=dtype,
        out_dtype=out_dtype,
        alpha=alpha,
    )


def _own_addend(region: Region, anchor: GraphOp) -> tuple[list[_Added], float]:
    """The operator's own third operand with its scale (beta / alpha), and alpha."""
    attrs = anchor.attrs()
    alpha, beta = cast(float, attrs.get("alpha", 1.0)), cast(float, attrs.get("beta", 1.0))
    if len(anchor.operands) < 3 or beta == 0.0:
        return [], alpha
    if alpha == 0.0:
        raise RefusalError("gemm-alpha", "a gemm with alpha 0 multiplies nothing; simplify it")
    value, result = anchor.operands[2], anchor.results[0]
    if anchor.op_name == "gemm":
        return [_Added(_addend(region, value, result, ()), anchor, beta / alpha)], alpha
    access = checked(load_access(region, value))
    sizes = checked(whole(result)).sizes
    dims: list[Parts] = [()] * len(sizes)
    channel = 1 if attrs["y_layout"] == "NCHW" else len(sizes) - 1
    dims[channel] = access.dims[0]
    spread = Access(access.root, access.offset, tuple(dims))
    return [_Added(_broadcast(spread, sizes), anchor, 1.0)], alpha


def _forms(
    axes: Contraction, anchor: GraphOp, added: Sequence[_Added], dtype: str
) -> tuple[Addend, ...]:
    """How each addend is added, by the axes of a tile along which it varies."""
    plain = not axes.a_transposed and not axes.b_transposed
    found: list[Addend] = []
    for place, each in enumerate(added, ADDENDS):
        scale = each.scale
        rows = any(_varies(axis, place) for axis in (axes.row, axes.col))
        if not _varies(axes.n, place) and (rows or axes.n.size > 1):
            form = COLUMN
        elif axes.n.size > 1 and axes.n.strides[place] != 1:
            if axes.col.strides[place] != 1:
                raise RefusalError(
                    "addend-stride",
                    "what is added to the product is stored along neither rows nor columns of a "
                    "tile of the result; transpose it before",
                )
            form = TURNED
        elif rows:
            form = TILE
        else:
            first = not any(addend.form == BIAS for addend in found)
            form = BIAS if plain and first and dtype == "f32" and scale == 1.0 else ROW
        if form not in (BIAS, ROW) and each.op is not anchor and _repeats(axes.col, place):
            raise _not_on_cube(each.op, "a load to l1 repeats no element along the rows of a tile")
        found.append(Addend(place, form, scale))
    return tuple(found)


def _repeats(axis: Axis, place: int) -> bool:
    return axis.size > 1 and axis.strides[place] == 0


def _varies(axis: Axis, place: int) -> bool:
    return axis.size > 1 and axis.strides[place] != 0
