"""Checks that every value is defined before it is used; xDSL's `verify()` does not.

In: any operator with regions. Out: nothing, or a VerifyException that names the first bad use.
As in MLIR, blocks that cannot be reached are not checked, and modules hold operators in any order.
"""

from collections.abc import Iterable

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from fusec_dialects.place import place, place_of_location

_UNORDERED = ("builtin.module", "hw.module")
"""Operators whose regions MLIR calls graph regions: order means nothing in them."""


def verify_dominance(root: Operation) -> None:
    """Walks `root` once, in time linear in its operators.

    Raises VerifyException for the first operand that is not defined before its user.
    """
    for region in root.regions:
        _verify_region(region, set())


def _verify_region(region: Region, visible: set[SSAValue]) -> None:
    first = region.first_block
    if first is None:
        return
    if first is region.last_block:
        visible.difference_update(_verify_block(first, visible))
    else:
        _verify_tree(region, visible)


def _verify_block(block: Block, visible: set[SSAValue]) -> list[SSAValue]:
    """Checks one block and returns what it added to `visible`."""
    added: list[SSAValue] = list(block.args)
    parent = block.parent_op()
    unordered = parent is not None and parent.name in _UNORDERED
    if unordered:
        added.extend(result for op in block.ops for result in op.results)
    visible.update(added)
    for op in block.ops:
        for index, operand in enumerate(op.operands):
            if operand not in visible:
                raise VerifyException(_message(op, index, operand))
        for region in op.regions:
            _verify_region(region, visible)
        if not unordered:
            visible.update(op.results)
            added.extend(op.results)
    return added


def _verify_tree(region: Region, visible: set[SSAValue]) -> None:
    """Checks a region of several blocks: a block sees what those that dominate it define."""
    children = _dominator_tree(region)
    stack: list[tuple[Block, list[SSAValue] | None]] = [(region.blocks[0], None)]
    while stack:
        block, added = stack.pop()
        if added is not None:
            visible.difference_update(added)
            continue
        stack.append((block, _verify_block(block, visible)))
        stack.extend((child, None) for child in children.get(block, ()))


def _dominator_tree(region: Region) -> dict[Block, list[Block]]:
    """Block -> the blocks that it immediately dominates; blocks out of reach are absent.

    The algorithm is Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    """
    order = _reverse_post_order(region.blocks[0])
    number = {block: index for index, block in enumerate(order)}
    before: list[list[int]] = [[] for _ in order]
    for index, block in enumerate(order):
        for successor in _successors(block):
            before[number[successor]].append(index)

    above: list[int | None] = [0, *[None] * (len(order) - 1)]
    changed = True
    while changed:
        changed = False
        for index in range(1, len(order)):
            best = _common(above, (p for p in before[index] if above[p] is not None))
            changed |= best != above[index]
            above[index] = best

    children: dict[Block, list[Block]] = {}
    for index, parent in enumerate(above[1:], start=1):
        if parent is not None:
            children.setdefault(order[parent], []).append(order[index])
    return children


def _common(above: list[int | None], blocks: Iterable[int]) -> int | None:
    """The nearest block that dominates all `blocks`, by their numbers in reverse post-order."""
    best: int | None = None
    for block in blocks:
        left, right = block, block if best is None else best
        while left != right:
            left, right = max(left, right), min(left, right)
            left = above[left] or 0
        best = left
    return best


def _reverse_post_order(entry: Block) -> list[Block]:
    seen = {entry}
    order: list[Block] = []
    stack = [(entry, iter(_successors(entry)))]
    while stack:
        block, rest = stack[-1]
        following = next((b for b in rest if b not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(_successors(following))))
    return order[::-1]


def _successors(block: Block) -> Iterable[Block]:
    return () if block.last_op is None else block.last_op.successors


def _message(user: Operation, index: int, value: SSAValue) -> str:
    name = f" %{value.name_hint}" if value.name_hint else ""
    owner = value.owner
    if isinstance(owner, Block):
        return (
            f"{place(user)}: operand {index}{name} is an argument of a block "
            "that does not enclose or dominate this use"
        )
    where = place_of_location(owner.location)
    return (
        f"{place(user)}: operand {index}{name} is used where its definition by '{owner.name}'"
        f"{f' at {where}' if where else ''} does not reach; "
        "define it earlier in the same block, or in one that encloses or dominates this use"
    )
