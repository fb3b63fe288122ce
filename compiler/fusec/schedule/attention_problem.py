"""What an attention kernel computes: a contraction, a softmax over its rows, a second contraction.

In: a region. Out: an `AttentionProblem`: two cube problems, the vector program between them, and
where the axes of the scores lie among the program's axes. Scores and weights are never a tensor of
the network: a workspace holds whole rows of them. RefusalError for what is no such region.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod

from xdsl.ir import Operation, SSAValue

from fusec.hw import DTYPE_BYTES
from fusec.schedule.axes import dtype_of, find_axes
from fusec.schedule.contraction import ADDENDS, A, Axis, Contraction, Y, contraction
from fusec.schedule.cube_problem import TYPES, Chain, CubeProblem, follow, undone
from fusec.schedule.expand import Expander, Form
from fusec.schedule.mixed_problem import Place
from fusec.schedule.operands import labels_of
from fusec.schedule.ports import Port
from fusec.schedule.program import Program
from fusec.schedule.region import Region, once
from fusec.schedule.types import RefusalError
from fusec.schedule.unit_types import type_refusal
from fusec.schedule.views import Access, Part, checked, load_access, stored, whole
from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import element_name, tensor_type
from fusec_dialects.place import place

STORED = ADDENDS
"""The place of the tensor that is written, among the strides of the second contraction."""


@dataclass(frozen=True, eq=False)
class AttentionProblem:
    """`scores`: the result of the first contraction has axes (grid, row, col, n), a row of it being
    `n`. `values`: its left operand are the weights, which lie as the scores do. `program`: from
    scores, loaded through the port `source`, to weights. `rows`: by the stride of an axis in the
    scores, where it lies in the program."""

    scores: CubeProblem
    values: CubeProblem
    program: Program
    source: Port
    rows: dict[int, Place]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the program's axes."""
        return self.program.axes.sizes

    @property
    def keys(self) -> int:
        """How long a row of scores is."""
        return self.scores.axes.n.size

    @property
    def queries(self) -> Axis:
        """The axis of the rows of a tile."""
        return self.scores.axes.col

    @cached_property
    def outer(self) -> tuple[Axis, ...]:
        """The axes of the scores along which a tile is one step."""
        axes = self.scores.axes
        return (*axes.grid, axes.row)

    @cached_property
    def along(self) -> tuple[int, ...]:
        """The program's axes that a row runs along, outermost first."""
        strides = self.source.strides
        return tuple(a for a in sorted(strides, key=lambda a: -strides[a]) if a not in self._across)

    @cached_property
    def _across(self) -> frozenset[int]:
        return frozenset(where.axis for where in self.rows.values())

    @cached_property
    def row_axis(self) -> int | None:
        """The program's axis along which the rows of a tile follow each other."""
        axis = self.queries
        return None if axis.size == 1 else self.rows[axis.strides[Y]].axis

    def tiles(self, rows: int, columns: int) -> tuple[int, ...]:
        """Tile sizes along the program's axes: so many rows, so many columns of each."""
        found = [1] * len(self.sizes)
        for axis in self.along:
            found[axis] = self.sizes[axis]
        if columns < self.keys:
            found[self.along[0]] = columns
        if self.row_axis is not None:
            found[self.row_axis] = rows
        return tuple(found)

    @cached_property
    def count(self) -> int:
        """Elements of the scores."""
        return prod(axis.size for axis in self.outer) * self.queries.size * self.keys


@once
def attention_problem(region: Region) -> AttentionProblem:
    """The problem of a region; raises RefusalError where it has none."""
    first, second = _contractions(region)
    between = _between(region, first, second)
    source, program, target = _program(between, first.results[0])
    result, chain, last, out_dtype = _result(region, second)
    query, key = (_operand(region, first, value) for value in first.operands[:2])
    value = _operand(region, second, second.operands[1])
    scores, weights = (checked(whole(v)) for v in (first.results[0], second.operands[0]))
    made = checked(whole(second.results[0]))

    def one(cuts: Iterable[int]) -> Contraction:
        parts = _cut(scores, cuts)
        return contraction(labels_of(first, query, key, [scores, parts]), separate=True)

    def two(cuts: Iterable[int]) -> Contraction:
        parts = _cut(weights, cuts)
        results = [made, result, Access(made.root, 0, (*parts.dims[:-1], ()))]
        return contraction(labels_of(second, weights, value, results), separate=True)

    cuts = {*target.strides.values(), *_strides(one(()), Y), *_strides(two(()), A)}
    axes = one(cuts), two(cuts)
    _check(first, second, axes)
    if axes[1].n.size > 1 and axes[1].n.strides[STORED] != 1:
        raise RefusalError(
            "output-stride",
            f"{place(last)}: the columns of the values are no neighbours in the result; drop the "
            "last transposition from the group",
        )
    places = [*(axis for axis in (*axes[0].grid, axes[0].row, axes[0].col) if axis.size > 1)]
    return AttentionProblem(
        scores=_cube(first, axes[0], (query, key, scores), "f32"),
        values=_cube(second, axes[1], (weights, value, made, result), out_dtype, chain, last),
        program=program,
        source=source,
        rows={axis.strides[Y]: _place(axis, source, program) for axis in places},
    )


def _contractions(region: Region) -> tuple[GraphOp, GraphOp]:
    found = [op for op in region.compute_ops if fusion_class(op.op_name) == FusionClass.CONTRACTION]
    if len(found) != 2 or any(op.op_name != "matmul" for op in found):
        raise RefusalError(
            "contraction-count",
            "attention is a softmax between two matmuls, found "
            + (", ".join(op.op_name for op in found) or "none"),
            {"contractions": len(found)},
        )
    first, second = found
    if any(len(tensor_type(v).shape) < 2 for v in (second.operands[0], first.results[0])):
        raise RefusalError("rank", f"{place(first)}: attention is on matrices, not on vectors")
    if len(region.outputs) != 1:
        raise RefusalError(
            "several-outputs",
            f"an attention kernel stores one result, the group has {len(region.outputs)}",
            {"outputs": len(region.outputs)},
        )
    return first, second


def _between(region: Region, first: GraphOp, second: GraphOp) -> Region:
    """The operators from the scores to the weights, as a region of its own."""
    scores, weights = first.results[0], second.operands[0]
    needed: set[Operation] = set()
    stack = [weights]
    while stack:
        value = stack.pop()
        owner = value.owner
        if value is scores or not isinstance(owner, Operation):
            continue
        if owner in region.inside and owner not in needed:
            needed.add(owner)
            stack += owner.operands
    names = {op.op_name for op in needed if isinstance(op, GraphOp)}
    leaves = any(user not in needed for user in region.users(scores))
    if scores in region.output_set or leaves or "softmax" not in names:
        raise RefusalError(
            "no-softmax",
            f"{place(second)} does not multiply what a softmax makes of {place(first)} alone",
        )
    for op in needed:
        others = [user for result in op.results for user in region.users(result)]
        if any(user not in needed and user is not second for user in others):
            raise RefusalError(
                "epilogue", f"{place(op)}: is used behind the second contraction as well"
            )
    return Region.of_ops([op for op in region.ops if op in needed], (weights,), region.strides)


def _program(between: Region, scores: SSAValue) -> tuple[Port, Program, Port]:
    """Where scores are loaded from, the program, where weights are stored to."""
    axes = find_axes(between, scores)
    strides: dict[int, int] = {}
    for ids, parts in zip(axes.dims[scores], checked(whole(scores)).dims, strict=True):
        step = parts[0].stride if parts else 1
        for axis in reversed(ids):
            strides[axis] = step
            step *= axes.sizes[axis]
    source = Port(scores, scores, 0, strides)
    expander = Expander(between, axes)
    loaded = expander.program.step("load", "f32", axes.of(scores), (), port=source)
    expander.forms[scores] = Form(wide=loaded)
    program = expander.expand(None)
    target = axes.stores[0]
    if target.strides != strides:
        raise RefusalError(
            "weights-view", "the softmax is transposed before the second product; drop that"
        )
    return source, program, target


def _operand(region: Region, op: GraphOp, value: SSAValue) -> Access:
    access = checked(load_access(region, value))
    if access.root not in region.inputs:
        raise RefusalError(
            "operand-computed",
            f"{place(op)}: an operand is computed inside the group; the cube core loads its "
            "operands from gm, so it has to be a kernel of its own",
        )
    if dtype_of(value) not in TYPES:
        raise type_refusal(place(op), dtype_of(value), TYPES, "has no cube kernel here")
    return access


def _result(region: Region, second: GraphOp) -> tuple[Access, Chain, GraphOp, str]:
    """Where the second product goes, what fixpipe does on the way, the last operator, the type."""
    chain = Chain()
    value = follow(region, second, chain)
    if chain.addends:
        raise RefusalError(
            "epilogue", f"{place(second)}: what follows attention is its views, relu and a cast"
        )
    result = undone(checked(stored(region, value)), chain.views)
    return result, chain, chain.last or second, element_name(value.type)


def _strides(axes: Contraction, operand: int) -> list[int]:
    every = (*axes.grid, axes.row, axes.col, axes.n, axes.k, *axes.outer_k)
    return [axis.strides[operand] for axis in every if axis.size > 1 and axis.strides[operand]]


def _cut(access: Access, cuts: Iterable[int]) -> Access:
    """A tensor whose dimensions are cut wherever an axis of `cuts`, given by strides, begins."""
    known = sorted(set(cuts))
    dims: list[tuple[Part, ...]] = []
    for parts in access.dims:
        if not parts:
            dims.append(())
            continue
        size, stride = parts[0]
        inside = [c for c in known if stride < c < stride * size]
        steps = [stride, *inside, stride * size]
        if any(b % a for a, b in pairwise(steps)):
            raise RefusalError(
                "views-disagree",
                f"the views around the scores cut an axis of {size} into pieces without common "
                "parts; make one of the views a copy",
                {"size": size},
            )
        dims.append(tuple(Part(b // a, a) for a, b in pairwise(steps))[::-1])
    return Access(access.root, 0, tuple(dims))


def _check(first: GraphOp, second: GraphOp, axes: tuple[Contraction, Contraction]) -> None:
    """RefusalError unless both contractions have the same rows."""
    one, two = axes
    if one.swapped or two.swapped:
        raise RefusalError("output-stride", f"{place(first)}: rows of scores are no neighbours")
    length = tensor_type(first.results[0]).get_shape()[-1]
    if one.n.size != length or two.k.size * prod(a.size for a in two.outer_k) != length:
        raise RefusalError(
            "keys-cut", f"{place(first)}: a view of the keys cuts the rows of scores"
        )
    rows = _rows(one, Y), _rows(two, A)
    if rows[0] != rows[1] or 0 in dict(rows[1]):
        raise RefusalError(
            "rows-differ",
            f"{place(second)} has other rows than {place(first)}: the values cut them, or repeat "
            "them after the softmax",
        )
    if one.col.size > 1 and one.col.strides[Y] != two.col.strides[A]:
        raise RefusalError(
            "rows-differ", f"{place(second)}: no tile of its rows is one of {place(first)}"
        )


def _rows(axes: Contraction, operand: int) -> list[tuple[int, int]]:
    """Stride and size of the axes that are not inside a row, outermost first."""
    every = (*axes.grid, axes.row, axes.col)
    return sorted((a.strides[operand], a.size) for a in every if a.size > 1)


def _place(axis: Axis, source: Port, program: Program) -> Place:
    """The program's axis that holds an axis of the scores, with so many positions a step."""
    stride, sizes = axis.strides[Y], program.axes.sizes
    for at, step in source.strides.items():
        if stride % step == 0 and stride * axis.size <= step * sizes[at]:
            return Place(at, stride // step)
    raise RefusalError("epilogue-axes", "the softmax does not run along the axes of the scores")


def _cube(
    op: GraphOp,
    axes: Contraction,
    accesses: Sequence[Access],
    out_dtype: str,
    chain: Chain | None = None,
    last: GraphOp | None = None,
) -> CubeProblem:
    return CubeProblem(
        anchor=op,
        axes=axes,
        roots=tuple(access.root for access in accesses),
        offsets=tuple(access.offset for access in accesses),
        addends=(),
        adders=(),
        last=last or op,
        relu=chain is not None and chain.relu,
        dtype=dtype_of(op.operands[0]),
        out_dtype=out_dtype,
    )


def weights_bytes(problem: AttentionProblem) -> int:
    """Bytes of the weights, all of them."""
    return problem.count * DTYPE_BYTES[problem.values.dtype]
