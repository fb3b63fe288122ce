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
from fusec.schedule.attention_lines import Lines, lines_of, program_on
from fusec.schedule.axes import dtype_of
from fusec.schedule.contraction import ADDENDS, A, Axis, Contraction, Y, contraction
from fusec.schedule.cube_problem import TYPES, Chain, CubeProblem, follow, undone
from fusec.schedule.epilogue import epilogue_of
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
    `n`. `values`: its left operand are the weights, which lie as the scores do. `softmax`: from
    scores to weights; `finish`: what follows the values on the vector cores, None where fixpipe
    stores them."""

    scores: CubeProblem
    values: CubeProblem
    softmax: Lines
    finish: Lines | None

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
    def rows(self) -> int:
        """Rows of the scores."""
        return prod(axis.size for axis in self.outer) * self.queries.size


@once
def attention_problem(region: Region) -> AttentionProblem:
    """The problem of a region; raises RefusalError where it has none."""
    first, second = _contractions(region)
    between = _between(region, first, second)
    source, program = program_on(between, first.results[0])
    if program.axes.stores[0].strides != source.strides:
        raise RefusalError(
            "weights-view", "the softmax is transposed before the second product; drop that"
        )
    query, key = (_operand(region, first, value) for value in first.operands[:2])
    value = _operand(region, second, second.operands[1])
    scores, weights = (checked(whole(v)) for v in (first.results[0], second.operands[0]))
    made = checked(whole(second.results[0]))
    result, chain, last, out_dtype, finish = _result(region, second, made)

    def one(cuts: Iterable[int]) -> Contraction:
        parts = _cut(scores, cuts)
        return contraction(labels_of(first, query, key, [scores, parts]), separate=True)

    def two(cuts: Iterable[int]) -> Contraction:
        parts = _cut(weights, cuts)
        results = [made, result, Access(made.root, 0, (*parts.dims[:-1], ()))]
        return contraction(labels_of(second, weights, value, results), separate=True)

    length, depth = scores.sizes[-1], made.sizes[-1]
    cuts = {*source.strides.values(), *_strides(one(()), Y), *_strides(two(()), A)}
    if finish is not None:
        cuts |= {t // depth * length for t in finish[0].strides.values() if t % depth == 0}
    axes = one(cuts), two(cuts)
    _check(first, second, axes)
    if axes[1].n.size > 1 and axes[1].n.strides[STORED] != 1:
        raise RefusalError(
            "output-stride",
            f"{place(last)}: the columns of the values are no neighbours in the result; drop the "
            "last transposition from the group",
        )
    across = [[a for a in (*x.grid, x.row, x.col) if a.size > 1] for x in axes]
    return AttentionProblem(
        _cube(first, axes[0], (query, key, scores), "f32"),
        _cube(second, axes[1], (weights, value, made, result), out_dtype, chain, last),
        lines_of(program, source, across[0], (Y, Y), axes[0].col, length),
        None
        if finish is None
        else lines_of(finish[1], finish[0], across[1], (A, Y), axes[1].col, depth),
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


def _result(
    region: Region, second: GraphOp, made: Access
) -> tuple[Access, Chain, GraphOp, str, tuple[Port, Program] | None]:
    """Where the second product goes, what fixpipe does on the way, the last operator, the type; and
    what the vector cores do where fixpipe does not, the product then going to a workspace."""
    chain = Chain()
    try:
        value = follow(region, second, chain)
        result = undone(checked(stored(region, value)), chain.views)
        strides = [part.stride for part in result.dims[-1]] or [1]
        if not chain.addends and strides == [1]:
            return result, chain, chain.last or second, element_name(value.type), None
    except RefusalError as error:
        if error.refusal.reason != "epilogue":
            raise
    behind = epilogue_of(region, second.results[0])
    if any(
        value not in region.inputs and value is not second.results[0] for value in behind.inputs
    ):
        raise RefusalError(
            "epilogue", f"{place(second)}: scores or weights are used behind attention as well"
        )
    return made, Chain(), second, "f32", program_on(behind, second.results[0])


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
    if max(one.col.size, two.col.size) > 1 and one.col.strides[Y] != two.col.strides[A]:
        raise RefusalError(
            "rows-differ", f"{place(second)}: no tile of its rows is one of {place(first)}"
        )


def _rows(axes: Contraction, operand: int) -> list[tuple[int, int]]:
    """Stride and size of the axes that are not inside a row, outermost first."""
    every = (*axes.grid, axes.row, axes.col)
    return sorted((a.strides[operand], a.size) for a in every if a.size > 1)


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
    return problem.rows * problem.keys * DTYPE_BYTES[problem.values.dtype]
