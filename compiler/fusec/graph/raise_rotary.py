"""Rotary embedding, by halves or by pairs: without the rotated copy of x.

The rotated copy is [-x2, x1], x1 and x2 the halves of the last axis, or its even and odd entries.
The result is x1 cos1 - x2 sin1 and x2 cos2 + x1 sin2, put together in the same way: the same
products and sums, bit for bit. Parts that a split gives become slices, which a kernel reads in
place.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from fusec.graph.query import axis_of, dims, producer, rank, single, slice_attrs, static
from fusec.graph.simplify_moves import place_of
from fusec.rewrite.driver import Rewriter, Rule
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import tensor_type

VIEWS = ("reshape", "squeeze", "unsqueeze", "flatten")


def _products(op: GraphOp) -> Iterator[tuple[SSAValue, SSAValue, SSAValue, SSAValue]]:
    """x, cos, what is rotated, sin in every order of the operands."""
    for left, right in (tuple(op.operands), tuple(op.operands)[::-1]):
        plain, turned = single(left, "mul"), single(right, "mul")
        if plain is None or turned is None:
            continue
        for x, cos in (tuple(plain.operands), tuple(plain.operands)[::-1]):
            for rotated, sin in (tuple(turned.operands), tuple(turned.operands)[::-1]):
                yield x, cos, rotated, sin


def _part(size: int, second: bool, pairs: bool) -> range:
    """The entries of the last axis that are one of the two parts."""
    if pairs:
        return range(int(second), size, 2)
    return range(size // 2, size) if second else range(size // 2)


def _is_part(value: SSAValue, x: SSAValue, second: bool, pairs: bool) -> bool:
    """Whether a value is the first or second part of x along its last axis; x may be cut out of
    something too."""
    shape, found = static(x), place_of(value)
    if found is None or shape is None or not shape or shape[-1] % 2:
        return False
    whole = (x, [range(n) for n in shape])
    if found[0] is not x:
        place = place_of(x)
        if place is None or found[0] is not place[0]:
            return False
        whole = place
    root, positions = whole
    entries = _part(shape[-1], second, pairs)
    last = positions[-1][entries.start : entries.stop : entries.step]
    return found[1][:-1] == positions[:-1] and list(found[1][-1]) == list(last) and root is found[0]


def _behind_views(value: SSAValue) -> SSAValue:
    while (view := producer(value, *VIEWS)) is not None:
        value = view.operands[0]
    return value


def _rotates(value: SSAValue, x: SSAValue) -> bool | None:
    """Whether a value is the rotated copy of x, and by pairs (True) or halves (False)."""
    shape = static(x)
    concat = single(_behind_views(value), "concat")
    if shape is None or not shape or concat is None or len(concat.operands) != 2:
        return None
    pairs = rank(concat.results[0]) > len(shape)
    together = (*shape[:-1], shape[-1] // 2, 2) if pairs else shape
    if static(concat.results[0]) != together or axis_of(concat) != len(together) - 1:
        return None
    first, second = (_behind_views(v) if pairs else v for v in concat.operands)
    negative = single(first, "neg")
    if negative is None:
        return None
    turned = _is_part(negative.operands[0], x, True, pairs) and _is_part(second, x, False, pairs)
    return pairs if turned else None


def _cut(value: SSAValue, second: bool, pairs: bool, rewriter: Rewriter) -> SSAValue:
    """A part of a value along its last axis; all of it where that has size 1."""
    shape = static(value) or ()
    if not shape or shape[-1] == 1:
        return value
    positions = [*(range(n) for n in shape[:-1]), _part(shape[-1], second, pairs)]
    return rewriter.build("slice", [value], slice_attrs(positions, shape))


def _raise(op: GraphOp, rewriter: Rewriter) -> bool:
    for x, cos, rotated, sin in _products(op):
        shape = static(x)
        if shape is None or x.type != op.results[0].type:
            continue
        pairs = _rotates(rotated, x)
        if pairs is None or any(
            not dims(v) or dims(v)[-1] not in (1, shape[-1]) for v in (cos, sin)
        ):
            continue
        parts = [
            [_cut(v, second, pairs, rewriter) for v in (x, cos, sin)] for second in (False, True)
        ]
        (x1, cos1, sin1), (x2, cos2, sin2) = parts
        build = rewriter.build
        first = build("sub", [build("mul", [x1, cos1]), build("mul", [x2, sin1])])
        second = build("add", [build("mul", [x2, cos2]), build("mul", [x1, sin2])])
        return rewriter.replace(_together(first, second, op, pairs, rewriter))
    return False


def _together(
    first: SSAValue, second: SSAValue, op: GraphOp, pairs: bool, rewriter: Rewriter
) -> SSAValue:
    """Both parts in the place and of the type of an operator's result."""
    type_ = tensor_type(op.results[0])
    shape, element = type_.get_shape(), type_.element_type
    if not pairs:
        attrs = {"axis": len(shape) - 1}
        return rewriter.build("concat", [first, second], attrs, [type_])
    column = TensorType(element, (*shape[:-1], shape[-1] // 2, 1))
    columns = [rewriter.build("reshape", [v], types=[column]) for v in (first, second)]
    pair = TensorType(element, (*shape[:-1], shape[-1] // 2, 2))
    beside = rewriter.build("concat", columns, {"axis": len(shape)}, [pair])
    return rewriter.build("reshape", [beside], types=[type_])


def _pieces(products: list[GraphOp]) -> GraphOp | None:
    """The split whose two pieces along the last axis are operands of all of these products."""
    splits = {
        split
        for product in products
        for v in product.operands
        if (split := producer(_behind_views(v), "split")) is not None
    }
    split = splits.pop() if len(splits) == 1 else None
    if split is None or len(split.results) != 2 or axis_of(split) != rank(split.operands[0]) - 1:
        return None
    used = [[_behind_views(v) for v in product.operands] for product in products]
    each = all(sum(v in split.results for v in values) == 1 for values in used)
    return split if each else None


def _slices(op: GraphOp, rewriter: Rewriter) -> bool:
    """A rotation of the pieces of a split becomes one of slices."""
    ends = [_behind_views(v) for v in op.operands]
    parts = [single(ends[0], "sub"), single(ends[-1], "add")]
    found = [single(v, "mul") for part in parts if part is not None for v in part.operands]
    products = [product for product in found if product is not None]
    split = _pieces(products) if len(products) == 4 and len(ends) == 2 else None
    if split is None:
        return False
    cuts: dict[SSAValue, SSAValue] = {}
    for piece in split.results:
        place = place_of(piece)
        if place is None:
            return False
        x, positions = place
        attrs = slice_attrs(positions, static(x) or ())
        cuts[piece] = rewriter.build("slice", [x], attrs, [piece.type])

    def seen(value: SSAValue, like: SSAValue) -> SSAValue:
        same = value.type == like.type
        return value if same else rewriter.build("reshape", [value], types=[like.type])

    made: list[SSAValue] = []
    for product in products:
        values = ((v, cuts.get(_behind_views(v))) for v in product.operands)
        made.append(
            rewriter.build("mul", [v if cut is None else seen(cut, v) for v, cut in values])
        )
    sums = [rewriter.build("sub", made[:2]), rewriter.build("add", made[2:])]
    operands = [seen(new, old) for new, old in zip(sums, op.operands, strict=True)]
    types = [op.results[0].type]
    return rewriter.replace(rewriter.build("concat", operands, op.attrs(), types))


ROTARY_RULES = (
    Rule("raise-rotary", ("graph.add",), _raise),
    Rule("raise-rotary-parts", ("graph.concat",), _slices),
)
