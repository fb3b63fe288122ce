"""What a kernel on row blocks computes: an operand before its contractions, what follows on rows.

In: a region of contractions that read the same left operand. Out: a `RowsProblem`: the vector
program that computes the operand, if it is computed, the cube halves, and what follows: additions
and relu on the cube core, or a vector program on rows of the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from fusec.schedule.contraction import A, Axis, Contraction, Y
from fusec.schedule.cube_problem import CubeProblem, anchor_of, cube_problem, mixed_problem
from fusec.schedule.epilogue import epilogue_of
from fusec.schedule.line_program import LineProgram, line_program, refused
from fusec.schedule.region import Region, once
from fusec.schedule.small_contraction import contractions_of
from fusec.schedule.types import RefusalError
from fusec.schedule.views import checked, load_access, static_shape
from fusec_dialects.graph import ConstantOp, GraphOp

NOT_ON_CUBE = frozenset({"epilogue", "several-outputs", "output-stride", "operand-computed"})
"""Reasons why the cube core does not store a result, although the vector core may."""


class Product(NamedTuple):
    """A contraction. `cube`: with the strides of its left operand in the workspace, where that is
    computed; `output`: which output of the kernel the cube core stores, None for what the vector
    program reads."""

    cube: CubeProblem
    output: int | None

    @property
    def columns(self) -> int:
        return self.cube.axes.n.size


@dataclass(frozen=True, eq=False)
class RowsProblem:
    """`products`, the widest first. `before`: which outputs of the kernel the prologue stores
    behind the operand; `after`: which ones the epilogue."""

    products: tuple[Product, ...]
    prologue: LineProgram | None
    epilogue: LineProgram | None
    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def cube(self) -> CubeProblem:
        """The widest product: its lines are those of all."""
        return self.products[0].cube

    @property
    def handed(self) -> list[Product]:
        """The products that the epilogue reads."""
        return [product for product in self.products if product.output is None]

    @property
    def whole_rows(self) -> bool:
        """Whether the epilogue needs all columns of a row at once."""
        return self.epilogue is not None and self.epilogue.column is None


@once
def rows_problem(region: Region) -> RowsProblem:
    """The problem of a region; raises RefusalError where it has none."""
    anchors = contractions_of(region)
    if len(anchors) < 2:
        anchors = [anchor_of(region)]
    behind = [_behind(region, anchor.results[0]) for anchor in anchors]
    _check_apart(anchors, behind)
    values = {_computed(region, anchor) for anchor in anchors}
    if len(values) > 1:
        raise refused("the contractions do not read the same operand")
    value = values.pop()
    every = set[SSAValue]().union(*behind)
    before = [at for at, output in enumerate(region.outputs) if output not in every]
    if before and value is None:
        raise RefusalError(
            "several-outputs", "an output of the group does not depend on its contractions"
        )
    try:
        return _Builder(region, anchors, behind, value, before).build(separate=False)
    except RefusalError:
        return _Builder(region, anchors, behind, value, before).build(separate=True)


def _computed(region: Region, anchor: GraphOp) -> SSAValue | None:
    """The operand of the contraction that the region computes; RefusalError for two, also where
    they are one value."""
    roots = [checked(load_access(region, operand)).root for operand in anchor.operands[:2]]
    found = [root for root in roots if region.producer(root) is not None]
    if len(found) > 1:
        raise RefusalError(
            "operand-computed",
            f"both operands of {anchor.name} are computed inside the group; a kernel computes one",
        )
    return next(iter(found), None)


def _behind(region: Region, value: SSAValue) -> set[SSAValue]:
    """The value and what depends on it."""
    found = {value}
    for op in region.ops:
        if not found.isdisjoint(op.operands):
            found.update(op.results)
    return found


def _check_apart(anchors: Sequence[GraphOp], behind: Sequence[set[SSAValue]]) -> None:
    for anchor in anchors:
        if anchor.op_name == "attention" or any(o in b for b in behind for o in anchor.operands):
            raise RefusalError(
                "contraction-count",
                "a kernel has one contraction, or several that read the same left operand; "
                f"{anchor.name} reads what another one computes",
                {"contractions": len(anchors)},
            )


@dataclass(frozen=True, eq=False)
class _Builder:
    """One problem. `behind`: what depends on each contraction; `value`: the operand that is
    computed; `before`: outputs that do not depend on any contraction."""

    region: Region
    anchors: Sequence[GraphOp]
    behind: Sequence[set[SSAValue]]
    value: SSAValue | None
    before: Sequence[int]

    def build(self, *, separate: bool) -> RowsProblem:
        """`separate`: an axis of the contractions for each dimension of their results."""
        found = [self._stored(at, separate) for at in range(len(self.anchors))]
        handed = [at for at, product in enumerate(found) if product is None]
        cubes = {at: self._handed(at) for at in handed}
        products = [p or Product(cubes[at][0], None) for at, p in enumerate(found)]
        first = products[0].cube
        for product in products[1:]:
            _check_alike(first, product.cube)
        stored = {p.output for p in products}
        later = set[SSAValue]().union(*self.behind)
        outputs = self.region.outputs
        after = [at for at, o in enumerate(outputs) if o in later and at not in stored]
        read = sorted(cubes.values(), key=lambda one: -one[0].axes.n.size)
        epilogue = self._epilogue(read, after) if read else None
        prologue = None
        if self.value is not None:
            prologue = self._prologue(self.value, first)
            products = [
                p._replace(cube=replace(p.cube, axes=_in_workspace(p.cube.axes))) for p in products
            ]
        if prologue is None and epilogue is None:
            raise RefusalError("epilogue", "nothing in the group is for the vector cores")
        products.sort(key=lambda p: -p.columns)
        return RowsProblem(tuple(products), prologue, epilogue, tuple(self.before), tuple(after))

    @property
    def _given(self) -> frozenset[SSAValue]:
        return frozenset() if self.value is None else frozenset({self.value})

    def _alone(self, at: int, outputs: Sequence[SSAValue]) -> Region:
        """The region without the other contractions and what depends on them."""
        others = set[SSAValue]().union(*(b for i, b in enumerate(self.behind) if i != at))
        ops = tuple(op for op in self.region.ops if others.isdisjoint(op.results))
        return Region(ops, self.region.inputs, tuple(outputs), self.region.strides)

    def _stored(self, at: int, separate: bool) -> Product | None:
        """The contraction as one whose result the cube core stores, if it can."""
        region = self.region
        mine = [i for i, o in enumerate(region.outputs) if o in self.behind[at]]
        alone = self._alone(at, [region.outputs[i] for i in mine])
        if len(mine) != 1 or any(region.outputs[i] in b for b in self._others(at) for i in mine):
            return None
        try:
            found = cube_problem(alone, self._given, separate=separate)
        except RefusalError as error:
            if error.refusal.reason not in NOT_ON_CUBE:
                raise
            return None
        return Product(found, mine[0]) if found.alpha == 1.0 else None

    def _handed(self, at: int) -> tuple[CubeProblem, SSAValue]:
        """The contraction with the vectors that the cube core adds to its rows, and the result."""
        alone, value = self._alone(at, ()), self.anchors[at].results[0]
        while (more := self._added(alone, value)) is not None:
            value = more
        if value is self.anchors[at].results[0]:
            return mixed_problem(alone, self._given), value
        later = _behind(alone, value) - {value}
        ops = tuple(op for op in alone.ops if later.isdisjoint(op.results))
        ahead = Region(ops, alone.inputs, (value,))
        found = cube_problem(ahead, self._given, separate=True)
        return replace(found, out_dtype=found.accumulator), value

    def _added(self, region: Region, value: SSAValue) -> SSAValue | None:
        """The sum of a value and a vector from outside, if that is its only use."""
        users = region.users(value)
        op = users[0] if len(users) == 1 and value not in self.region.output_set else None
        if not isinstance(op, GraphOp) or op.op_name != "add" or op.results[0].type != value.type:
            return None
        other = op.operands[1] if op.operands[0] is value else op.operands[0]
        *outer, _ = checked(static_shape(other)) or (1,)
        if region.producer(other) is not None or isinstance(other.owner, ConstantOp):
            return None
        return op.results[0] if prod(outer) == 1 else None

    def _others(self, at: int) -> list[set[SSAValue]]:
        return [b for i, b in enumerate(self.behind) if i != at]

    def _epilogue(
        self, cubes: Sequence[tuple[CubeProblem, SSAValue]], outputs: Sequence[int]
    ) -> LineProgram:
        """What follows the products that are handed over."""
        depths: dict[SSAValue, int] = {}
        for cube, result in cubes:
            axes = cube.axes
            if cube.alpha != 1.0:
                raise RefusalError("gemm-alpha", "a scaled product is scaled on tiles, not on rows")
            if axes.n.strides[Y] != 1 or any(0 < a.strides[Y] < axes.n.size for a in axes.grid):
                raise refused("its rows are cut into parts")
            depths[result] = axes.n.size
        wanted = tuple(self.region.outputs[at] for at in outputs)
        rest = Region(self.region.ops, self.region.inputs, wanted, self.region.strides)
        return line_program(epilogue_of(rest, *depths), depths, cubes[0][0].axes, Y, reads=True)

    def _prologue(self, value: SSAValue, cube: CubeProblem) -> LineProgram:
        """What computes the operand, and other outputs before the contractions."""
        axes, region = cube.axes, self.region
        if value in region.strides:
            raise refused("it is a part of a larger buffer")
        if cube.roots[A] is not value:
            raise refused("it is not the operand with the rows of the product")
        if axes.outer_k or axes.a_transposed or cube.offsets[A] or axes.k.strides[A] != 1:
            raise refused("the product does not read it line by line")
        every = (*axes.grid, axes.row, axes.col, axes.k)
        varying = [axis.size for axis in every if axis.strides[A] != 0]
        if prod(varying) != prod(checked(static_shape(value))):
            raise refused("the product reads only a part of it")
        wanted = (value, *(region.outputs[at] for at in self.before))
        part = Region.of_ops(_needed(region, wanted), wanted, region.strides)
        return line_program(part, {value: axes.k.size}, axes, A, reads=False)


def _check_alike(a: CubeProblem, b: CubeProblem) -> None:
    """RefusalError where two contractions have other lines, or do not read the same operand."""
    pairs = list(zip(_lines(a.axes), _lines(b.axes), strict=False))
    same = len(_lines(a.axes)) == len(_lines(b.axes)) and all(
        x.size == y.size and x.strides[A] == y.strides[A] and x.window is None and y.window is None
        for x, y in pairs
    )
    same = same and a.axes.a_transposed == b.axes.a_transposed
    if not same or a.roots[A] is not b.roots[A] or a.offsets[A] != b.offsets[A]:
        raise RefusalError(
            "contraction-count",
            "a kernel has one contraction, or several that read the same left operand row by row",
        )


def _lines(axes: Contraction) -> tuple[Axis, ...]:
    return (*axes.grid, axes.row, axes.col, *axes.outer_k, axes.k)


def _needed(region: Region, values: Sequence[SSAValue]) -> list[Operation]:
    """The operators of a region that compute these values."""
    found: set[Operation] = set()
    stack = list(values)
    while stack:
        owner = stack.pop().owner
        if isinstance(owner, Operation) and owner in region.inside and owner not in found:
            found.add(owner)
            stack += owner.operands
    return [op for op in region.ops if op in found]


def _in_workspace(axes: Contraction) -> Contraction:
    """The axes with the strides of a left operand that lies line by line in the workspace."""
    depth = axes.k.size

    def moved(axis: Axis, stride: int) -> Axis:
        return replace(axis, strides=(stride, *axis.strides[1:]))

    return replace(
        axes,
        grid=tuple(moved(axis, 0) for axis in axes.grid),
        row=moved(axes.row, axes.col.size * depth),
        col=moved(axes.col, depth),
        k=moved(axes.k, 1),
    )
