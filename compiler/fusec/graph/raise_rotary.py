"""Rotary embedding by halves: x cos + rotate_half(x) sin without the rotated copy of x.

rotate_half(x) is [-x2, x1], x1 and x2 the halves of the last axis. The result is the concat of
x1 cos1 - x2 sin1 and x2 cos2 + x1 sin2: the same products and sums, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from fusec.graph.query import axis_of, dims, rank, single, slice_attrs, static
from fusec.graph.simplify_moves import place_of
from fusec.rewrite.driver import Rewriter, Rule
from fusec_dialects.graph import GraphOp


def _products(op: GraphOp) -> Iterator[tuple[SSAValue, SSAValue, SSAValue, SSAValue]]:
    """x, cos, what is rotated, sin in every order of the operands."""
    for left, right in (tuple(op.operands), tuple(op.operands)[::-1]):
        plain, turned = single(left, "mul"), single(right, "mul")
        if plain is None or turned is None:
            continue
        for x, cos in (tuple(plain.operands), tuple(plain.operands)[::-1]):
            for rotated, sin in (tuple(turned.operands), tuple(turned.operands)[::-1]):
                yield x, cos, rotated, sin


def _half(value: SSAValue, x: SSAValue, second: bool) -> bool:
    """Whether a value is the first or second half of x along its last axis; x may be a part too."""
    shape, part = static(x), place_of(value)
    if part is None or shape is None or not shape or shape[-1] % 2:
        return False
    whole = (x, [range(n) for n in shape])
    if part[0] is not x:
        found = place_of(x)
        if found is None or found[0] is not part[0]:
            return False
        whole = found
    root, positions = whole
    middle = shape[-1] // 2
    last = positions[-1][middle:] if second else positions[-1][:middle]
    return part == (root, [*positions[:-1], last])


def _rotates(value: SSAValue, x: SSAValue) -> bool:
    concat = single(value, "concat")
    if concat is None or len(concat.operands) != 2 or axis_of(concat) != rank(x) - 1:
        return False
    negated, first = concat.operands
    negative = single(negated, "neg")
    return negative is not None and _half(negative.operands[0], x, True) and _half(first, x, False)


def _cut(value: SSAValue, second: bool, rewriter: Rewriter) -> SSAValue:
    """A half of a value along its last axis; all of it where that has size 1."""
    shape = static(value) or ()
    if not shape or shape[-1] == 1:
        return value
    middle = shape[-1] // 2
    half = range(middle, shape[-1]) if second else range(middle)
    positions = [*(range(n) for n in shape[:-1]), half]
    return rewriter.build("slice", [value], slice_attrs(positions, shape))


def _raise(op: GraphOp, rewriter: Rewriter) -> bool:
    for x, cos, rotated, sin in _products(op):
        shape = static(x)
        if shape is None or x.type != op.results[0].type or not _rotates(rotated, x):
            continue
        if any(not dims(v) or dims(v)[-1] not in (1, shape[-1]) for v in (cos, sin)):
            continue
        parts = [[_cut(v, second, rewriter) for v in (x, cos, sin)] for second in (False, True)]
        (x1, cos1, sin1), (x2, cos2, sin2) = parts
        build = rewriter.build
        first = build("sub", [build("mul", [x1, cos1]), build("mul", [x2, sin1])])
        second = build("add", [build("mul", [x2, cos2]), build("mul", [x1, sin2])])
        types = [op.results[0].type]
        attrs = {"axis": rank(x) - 1}
        return rewriter.replace(build("concat", [first, second], attrs, types))
    return False


ROTARY_RULES = (Rule("raise-rotary", ("graph.add",), _raise),)
