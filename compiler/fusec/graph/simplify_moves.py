"""Movements that do nothing, cancel or merge: slices, concats, splits, expands, gathers.

Every rule moves the same bits. None makes a value that is still needed twice as large.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from fusec.graph.query import (
    axis_of,
    dims,
    ints,
    producer,
    rank,
    single,
    slice_attrs,
    static,
    taken,
)
from fusec.rewrite.driver import Rewriter, Rule
from fusec.semantics.classes import FusionClass, fusion_class
from fusec.semantics.interpreter import constant_array
from fusec_dialects.graph import ConstantOp, GraphOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.shapes import make_type
from fusec_dialects.graph.sizes import UNNAMED

Positions: TypeAlias = list[range]
Place: TypeAlias = tuple[SSAValue, Positions]

LONGEST = 4096
"""Indices that are looked at one by one."""


def becomes(op: GraphOp, rewriter: Rewriter, value: SSAValue) -> bool:
    """The result is `value`, where that has the very type that users expect."""
    return value.type == op.results[0].type and rewriter.replace(value)


def _sliced(x: SSAValue, positions: Positions, rewriter: Rewriter) -> SSAValue:
    """x at these positions; x itself where they are all of it."""
    shape = static(x) or ()
    if all(r == range(n) for r, n in zip(positions, shape, strict=True)):
        return x
    return rewriter.build("slice", [x], slice_attrs(positions, shape))


def _compose(outer: Positions, inner: Positions) -> Positions | None:
    """The positions of a slice of a slice in what the inner one slices; None where empty."""
    found: Positions = []
    for o, i in zip(outer, inner, strict=True):
        if not o or not i:
            return None
        step = i.step * o.step
        first = i[o[0]]
        found.append(range(first, first + step * len(o), step))
    return found


def _slice(op: GraphOp, rewriter: Rewriter) -> bool:
    """A slice of everything, of a slice, of a split, of one part of a concat, inside of a pad."""
    positions = taken(op)
    if positions is None:
        return False
    x = op.operands[0]
    if all(r == range(n) for r, n in zip(positions, static(x) or (), strict=True)):
        return becomes(op, rewriter, x)
    source = producer(x, "slice", "split", "concat", "pad")
    if source is None or not all(positions):
        return False
    found = _through(positions, source, x)
    return found is not None and becomes(op, rewriter, _sliced(*found, rewriter))


def _through(positions: Positions, source: GraphOp, x: SSAValue) -> Place | None:
    """Where the positions of `x`, a result of `source`, lie in an operand of that."""
    match source.op_name:
        case "concat":
            return _in_part(positions, source)
        case "pad":
            return _inside_pad(positions, source)
        case "slice":
            inner = taken(source)
        case _:
            inner = _part_of_split(source, x)
    both = None if inner is None else _compose(positions, inner)
    return None if both is None else (source.operands[0], both)


def _part_of_split(op: GraphOp, value: SSAValue) -> Positions | None:
    """The positions of the operand that a result of a split holds."""
    shape = static(op.operands[0])
    if shape is None:
        return None
    axis, sizes = axis_of(op), ints(op, "sizes")
    at = next(i for i, result in enumerate(op.results) if result is value)
    found = [range(n) for n in shape]
    found[axis] = range(sum(sizes[:at]), sum(sizes[: at + 1]))
    return found


def _in_part(positions: Positions, concat: GraphOp) -> Place | None:
    axis, start = axis_of(concat), 0
    for part in concat.operands:
        shape = static(part)
        if shape is None:
            return None
        mine = range(start, start + shape[axis])
        wanted = positions[axis]
        if wanted[0] in mine and wanted[-1] in mine:
            step = wanted.step
            first = wanted[0] - start
            moved = range(first, first + step * len(wanted), step)
            return part, [*positions[:axis], moved, *positions[axis + 1 :]]
        start += shape[axis]
    return None


def _inside_pad(positions: Positions, pad: GraphOp) -> Place | None:
    shape, pads = static(pad.operands[0]), ints(pad, "pads")
    if shape is None:
        return None
    found: Positions = []
    for wanted, size, begin in zip(positions, shape, pads[: len(shape)], strict=True):
        first, last = wanted[0] - begin, wanted[-1] - begin
        if not (0 <= first < size and 0 <= last < size):
            return None
        found.append(range(first, first + wanted.step * len(wanted), wanted.step))
    return pad.operands[0], found


# Concats and splits


def _without_nothing(op: GraphOp, rewriter: Rewriter) -> bool:
    """A concat without its operands of size 0, of one operand, and of concats along one axis."""
    axis = axis_of(op)
    parts: list[SSAValue] = []
    for part in op.operands:
        inner = single(part, "concat")
        if inner is not None and axis_of(inner) == axis:
            parts += inner.operands
        elif dims(part)[axis] != 0:
            parts.append(part)
    if len(parts) == 1:
        return becomes(op, rewriter, parts[0])
    if not parts or parts == list(op.operands):
        return False
    types = [op.results[0].type]
    return rewriter.replace(rewriter.build("concat", parts, {"axis": axis}, types))


def place_of(part: SSAValue) -> Place | None:
    """The larger value that a slice or a piece of a split is of, and where it lies in it."""
    source = producer(part, "slice", "split")
    if source is None:
        return None
    found = taken(source) if source.op_name == "slice" else _part_of_split(source, part)
    return None if found is None else (source.operands[0], found)


def _adjacent(op: GraphOp, rewriter: Rewriter) -> bool:
    """Neighbouring pieces of one value joined again are one piece."""
    axis = axis_of(op)
    pieces: list[tuple[SSAValue, Place | None]] = []
    for part in op.operands:
        place = place_of(part)
        last = pieces[-1][1] if pieces else None
        joined = None if last is None or place is None else _joined(last, place, axis)
        if joined is not None:
            del pieces[-1]
        pieces.append((part, joined or place))
    if len(pieces) == len(op.operands):
        return False
    parts = [
        part
        if place is None or dims(part) == tuple(map(len, place[1]))
        else _sliced(*place, rewriter)
        for part, place in pieces
    ]
    if len(parts) == 1:
        return becomes(op, rewriter, parts[0])
    types = [op.results[0].type]
    return rewriter.replace(rewriter.build("concat", parts, {"axis": axis}, types))


def _joined(a: Place, b: Place, axis: int) -> Place | None:
    (x, first), (y, second) = a, b
    same = all(p == q for i, (p, q) in enumerate(zip(first, second, strict=True)) if i != axis)
    p, q = first[axis], second[axis]
    if x is not y or not same or p.step != 1 or q.step != 1 or p.stop != q.start:
        return None
    return x, [*first[:axis], range(p.start, q.stop), *first[axis + 1 :]]


def _repeated_concat(op: GraphOp, rewriter: Rewriter) -> bool:
    """One value several times along an axis: a view that repeats it."""
    x, count = op.operands[0], len(op.operands)
    shape = static(x)
    if count < 2 or shape is None or any(o is not x for o in op.operands):
        return False
    axis = axis_of(op)
    element = tensor_type(x).element_type
    spread = make_type(element, (*shape[:axis], count, *shape[axis:]))
    lone = rewriter.build("unsqueeze", [x], {"axes": (axis,)})
    wide = rewriter.build("expand", [lone], types=[spread])
    return rewriter.replace(rewriter.build("reshape", [wide], types=[op.results[0].type]))


def _split(op: GraphOp, rewriter: Rewriter) -> bool:
    """A split into one piece, and one that takes a concat apart where it was joined."""
    if len(op.results) == 1:
        return becomes(op, rewriter, op.operands[0])
    concat = producer(op.operands[0], "concat")
    if concat is None or axis_of(concat) != axis_of(op):
        return False
    parts = list(concat.operands)
    if [p.type for p in parts] != [r.type for r in op.results]:
        return False
    return all(static(p) is not None for p in parts) and rewriter.replace(*parts)


# Expands, transposes, gathers


def _expand(op: GraphOp, rewriter: Rewriter) -> bool:
    """An expand of an expand."""
    inner = producer(op.operands[0], "expand")
    if inner is None:
        return False
    types = [op.results[0].type]
    return rewriter.replace(rewriter.build("expand", [inner.operands[0]], types=types))


def _implicit(op: GraphOp, rewriter: Rewriter) -> bool:
    """An elementwise operator broadcasts by itself what an expand would repeat for it."""
    if len(op.operands) < 2 or fusion_class(op.op_name) != FusionClass.ELEMENTWISE:
        return False
    sources = [
        inner.operands[0] if (inner := producer(o, "expand")) is not None else o
        for o in op.operands
    ]
    if sources == list(op.operands) or UNNAMED in dims(op.results[0]):
        return False
    new = rewriter.build(op.op_name, sources, op.attrs())
    return new.type == op.results[0].type and rewriter.replace(new)


def _moves_ones(op: GraphOp, rewriter: Rewriter) -> bool:
    """A transpose that only moves axes of size 1 is a reshape."""
    shape, perm = dims(op.operands[0]), ints(op, "perm")
    kept = [p for p in perm if shape[p] != 1]
    if kept != sorted(kept) or perm == tuple(range(len(perm))):
        return False
    if sum(isinstance(d, str) for d in shape) > 1:
        return False
    x, types = op.operands[0], [op.results[0].type]
    return rewriter.replace(rewriter.build("reshape", [x], types=types))


def _regrouped(op: GraphOp, rewriter: Rewriter) -> bool:
    """Axes merged, permuted and seen otherwise: the axes as they were transposed, then a view."""
    turn = single(op.operands[0], "transpose")
    merge = None if turn is None else single(turn.operands[0], "reshape", "flatten")
    if turn is None or merge is None:
        return False
    x = merge.operands[0]
    before, merged = static(x), static(merge.results[0])
    if before is None or merged is None or 0 in before:
        return False
    groups = _merged_axes(before, merged)
    if groups is None:
        return False
    perm = [a for p in ints(turn, "perm") for a in groups[p]]
    turned = rewriter.build("transpose", [x], {"perm": tuple(perm)})
    if turned.type == op.results[0].type:
        return rewriter.replace(turned)
    return rewriter.replace(rewriter.build("reshape", [turned], types=[op.results[0].type]))


def _merged_axes(before: Sequence[int], merged: Sequence[int]) -> list[list[int]] | None:
    """Which axes each axis of the merged shape consists of; None where one is cut."""
    groups: list[list[int]] = []
    rest = list(range(len(before)))
    for size in merged:
        group: list[int] = []
        product = 1
        while rest and product < size:
            group.append(rest.pop(0))
            product *= before[group[-1]]
        if product != size:
            return None
        groups.append(group)
    if any(before[a] != 1 for a in rest) or not groups:
        return None
    groups[-1] += rest
    return groups


def _gather(op: GraphOp, rewriter: Rewriter) -> bool:
    """Constant neighbouring indices: a slice, seen in the shape of the indices."""
    x, indices = op.operands
    shape = static(x)
    if shape is None or not isinstance(indices.owner, ConstantOp):
        return False
    if not isinstance(tensor_type(indices).element_type, IntegerType):
        return False
    axis = axis_of(op)
    given = [int(i) for i in constant_array(indices.owner).reshape(-1)[:LONGEST]]
    if len(given) != len(indices.owner.value) or not given:
        return False
    if not all(-shape[axis] <= i < shape[axis] for i in given):
        return False
    found = [i % shape[axis] for i in given]
    if any(b != a + 1 for a, b in pairwise(found)):
        return False
    positions = [range(n) for n in shape]
    positions[axis] = range(found[0], found[-1] + 1)
    cut = _sliced(x, positions, rewriter)
    if rank(indices) == 1:
        return becomes(op, rewriter, cut)
    return rewriter.replace(rewriter.build("reshape", [cut], types=[op.results[0].type]))


def _rule(
    name: str, roots: str, apply: Callable[[GraphOp, Rewriter], bool], benefit: int = 2
) -> Rule:
    return Rule(name, tuple(f"graph.{r}" for r in roots.split()), apply, benefit)


_BROADCASTING = (
    "add sub mul div pow max min and or xor equal greater less greater_or_equal less_or_equal "
    "where mod bitwise_and bitwise_or bitwise_xor bit_shift"
)

MOVE_RULES = (
    _rule("slice", "slice", _slice),
    _rule("concat", "concat", _without_nothing, 3),
    _rule("adjacent-slices", "concat", _adjacent),
    _rule("repeated-concat", "concat", _repeated_concat),
    _rule("split", "split", _split),
    _rule("expand", "expand", _expand),
    _rule("implicit-broadcast", _BROADCASTING, _implicit),
    _rule("moves-ones", "transpose", _moves_ones, 1),
    _rule("regrouped", "reshape unsqueeze", _regrouped, 1),
    _rule("gather", "gather", _gather),
)
"""Rules on movements."""
