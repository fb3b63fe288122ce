"""Parallel products of one value become one: their weights side by side, its result cut in slices.

Q, K and V of an attention are the case that everybody knows. What follows each product goes along
while it is a bias or an equal activation. A product stays by itself where only elementwise
operators read it, since they would be its epilogue, and where a reader takes no slice in place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import AttrValue, ConstantOp, GraphOp, WeightOp, build
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.locations import joined

PRODUCTS = ("matmul", "gemm")
_READERS = (
    FusionClass.ELEMENTWISE,
    FusionClass.REDUCTION,
    FusionClass.NORM,
    FusionClass.CONTRACTION,
)
"""What reads a slice of a matrix where it lies."""

LIMIT = 1 << 16
"""Columns of a joined product at most, so that a tile plan of it always exists."""


@dataclass
class _Stalk:
    """A product and what follows it alone: the addition of a bias, then activations."""

    product: GraphOp
    bias: SSAValue | None = None
    added: GraphOp | None = None
    rest: list[GraphOp] = field(default_factory=list[GraphOp])

    @property
    def ops(self) -> list[GraphOp]:
        return [self.product, *([] if self.added is None else [self.added]), *self.rest]

    @property
    def last(self) -> GraphOp:
        return self.ops[-1]


def merge_parallel(block: Block) -> int:
    """Joins what can be joined in a function's block; gives how many products went away."""
    known: set[SSAValue] = set()
    position = {op: i for i, op in enumerate(block.ops)}
    by_value: dict[SSAValue, list[GraphOp]] = defaultdict(list)
    for op in block.ops:
        if isinstance(op, WeightOp | ConstantOp) or (
            isinstance(op, GraphOp) and op.operands and known.issuperset(op.operands)
        ):
            known.update(op.results)
        elif isinstance(op, GraphOp) and op.op_name in PRODUCTS and _joinable(op, known):
            by_value[op.operands[0]].append(op)
    merged = 0
    for products in by_value.values():
        if len(products) < 2:
            continue
        alike: dict[object, list[_Stalk]] = defaultdict(list)
        for product in products:
            stalk = _stalk(product, known)
            if not _stays(stalk):
                alike[_kind(stalk)].append(stalk)
        for stalks in alike.values():
            if len(stalks) > 1 and sum(_columns(s.product) for s in stalks) <= LIMIT:
                _join(block, stalks, position)
                merged += len(stalks) - 1
    return merged


def _joinable(op: GraphOp, known: set[SSAValue]) -> bool:
    """A product with a known matrix on the right, and a known row or nothing added to it."""
    x, w, *added = op.operands
    if x in known or w not in known or len(tensor_type(w).shape) != 2:
        return False
    if not (tensor_type(x).has_static_shape() and tensor_type(w).has_static_shape()):
        return False
    return all(c in known and tensor_type(c).get_shape() == (_columns(op),) for c in added)


def _columns(product: GraphOp) -> int:
    return tensor_type(product.results[0]).get_shape()[-1]


def _only_user(op: GraphOp) -> GraphOp | None:
    users = {use.operation for use in op.results[0].uses}
    user = users.pop() if len(users) == 1 else None
    return user if isinstance(user, GraphOp) and op.results[0].has_one_use() else None


def _stalk(product: GraphOp, known: set[SSAValue]) -> _Stalk:
    stalk = _Stalk(product)
    user = _only_user(product)
    if len(product.operands) == 2 and user is not None and user.op_name == "add":
        other = user.operands[0 if user.operands[1] is product.results[0] else 1]
        if other in known and tensor_type(other).get_shape() == (_columns(product),):
            stalk.bias, stalk.added = other, user
            user = _only_user(user)
    while user is not None and len(user.operands) == 1 and _is_elementwise(user):
        stalk.rest.append(user)
        user = _only_user(user)
    return stalk


def _is_elementwise(op: Operation) -> bool:
    return isinstance(op, GraphOp) and fusion_class(op.op_name) == FusionClass.ELEMENTWISE


def _stays(stalk: _Stalk) -> bool:
    """Whether a product is better off by itself: only elementwise operators, its epilogue, read it,
    or something that cannot read a slice in place does.
    """
    uses = [use.operation for use in stalk.last.results[0].uses]
    return all(map(_is_elementwise, uses)) or not all(map(_reads_in_place, uses))


def _reads_in_place(user: Operation) -> bool:
    if not isinstance(user, GraphOp):
        return False
    kind = fusion_class(user.op_name)
    if kind == FusionClass.VIEW or user.op_name in ("transpose", "slice"):
        return all(_reads_in_place(use.operation) for r in user.results for use in r.uses)
    return kind in _READERS


def _kind(stalk: _Stalk) -> object:
    """What two stalks that can be joined have in common."""
    product = stalk.product
    w = tensor_type(product.operands[1])
    rows = w.get_shape()[_axis(product) - 1]
    steps = tuple((op.name, tuple(sorted(op.properties.items()))) for op in stalk.rest)
    fixed = tuple(sorted(product.properties.items()))
    return (
        product.name,
        fixed,
        rows,
        w.element_type,
        len(product.operands),
        stalk.bias is None,
        steps,
    )


def _axis(product: GraphOp) -> int:
    """The axis of the right operand that the columns of the result lie along."""
    return 0 if product.attrs().get("trans_b") else 1


def _join(block: Block, stalks: Sequence[_Stalk], position: dict[Operation, int]) -> None:
    first = stalks[0].product
    axis = _axis(first)
    whole = joined(s.product.location for s in stalks)

    def add(name: str, operands: Sequence[SSAValue], attrs: dict[str, AttrValue]) -> SSAValue:
        op = build(name, operands, attrs)
        op.location = whole
        block.insert_op_before(op, first)
        return op.results[0]

    def copy(op: GraphOp, operands: Sequence[SSAValue], like: Sequence[GraphOp]) -> SSAValue:
        made = build(op.op_name, operands, dict(op.properties))
        made.location = joined(each.location for each in like)
        block.insert_op_before(made, first)
        return made.results[0]

    def side_by_side(values: Sequence[SSAValue], along: int) -> SSAValue:
        for value in values:
            _hoist(block, value, first, position)
        return add("concat", values, {"axis": along})

    columns = [_columns(s.product) for s in stalks]
    weights = side_by_side([s.product.operands[1] for s in stalks], axis)
    operands = [first.operands[0], weights]
    if len(first.operands) == 3:
        operands.append(side_by_side([s.product.operands[2] for s in stalks], 0))
    value = copy(first, operands, [s.product for s in stalks])
    biases = [s.bias for s in stalks if s.bias is not None]
    if biases:
        whole = joined(s.added.location for s in stalks if s.added is not None)
        value = add("add", [value, side_by_side(biases, 0)], {})
    for i, op in enumerate(stalks[0].rest):
        value = copy(op, [value], [s.rest[i] for s in stalks])
    start, last = 0, len(tensor_type(value).shape) - 1
    for stalk, width in zip(stalks, columns, strict=True):
        attrs: dict[str, AttrValue] = {
            "starts": (start,),
            "ends": (start + width,),
            "axes": (last,),
            "steps": (1,),
        }
        part = build("slice", [value], attrs, [_typed(stalk.last)])
        part.location = stalk.last.location
        block.insert_op_before(part, first)
        part.results[0].name_hint = stalk.last.results[0].name_hint
        stalk.last.results[0].replace_all_uses_with(part.results[0])
        start += width
    for stalk in stalks:
        for op in reversed(stalk.ops):
            block.erase_op(op)


def _typed(op: GraphOp) -> TensorType[Attribute]:
    return tensor_type(op.results[0])


def _hoist(
    block: Block, value: SSAValue, anchor: Operation, position: dict[Operation, int]
) -> None:
    """What a known value follows from stands before `anchor`; it depends on nothing else.

    `position` has the operators in program order and is kept.
    """
    order: dict[Operation, None] = {}
    stack = [(value.owner, False)]
    while stack:
        op, ready = stack.pop()
        if not isinstance(op, Operation) or op in order or position[op] < position[anchor]:
            continue
        if ready:
            order[op] = None
            continue
        stack.append((op, True))
        stack += [(operand.owner, False) for operand in op.operands]
    for op in order:
        op.detach()
        block.insert_op_before(op, anchor)
        position[op] = position[anchor] - 1
