"""ONNX's Einsum: each value with the letters of its axes; two at a time are joined by a matmul."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.entry import Entry
from fusec.frontends.onnx.maker import Maker
from fusec.frontends.onnx.node import Node


def _letters(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The letters of each operand and of the result; `...` becomes digits."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise ImportFailure(f"equation '{equation}' for {len(ranks)} operands")
    spare = max(
        (r - len(t) + 3 for t, r in zip(terms, ranks, strict=True) if "..." in t), default=0
    )
    rest = "0123456789"[:spare]

    def spelled(term: str, rank: int) -> str:
        letters = term.replace("...", rest[len(rest) - (rank - len(term) + 3) :] if spare else "")
        if len(letters) != rank:
            raise ImportFailure(f"term '{term}' of '{equation}' for rank {rank}")
        return letters

    found = [spelled(t, r) for t, r in zip(terms, ranks, strict=True)]
    if arrow:
        result = right.replace("...", rest)
        if len(set(result)) != len(result):
            raise ImportFailure(f"a letter twice in the result of '{equation}'")
        return found, result
    once = sorted(c for c in set("".join(found)) - set(rest) if "".join(found).count(c) == 1)
    return found, rest + "".join(once)


def _summed(m: Maker, x: SSAValue, letters: str, kept: str) -> tuple[SSAValue, str]:
    """Sums over the axes whose letter nothing else needs."""
    gone = [i for i, c in enumerate(letters) if c not in kept]
    if not gone:
        return x, letters
    rest = "".join(c for c in letters if c in kept)
    return m.reduce("sum", x, *gone, keepdims=False), rest


def _diagonal(m: Maker, x: SSAValue, letters: str) -> tuple[SSAValue, str]:
    """One axis for each letter: of two axes of one letter every (n + 1)st entry of both as one."""
    for letter in letters:
        while letters.count(letter) > 1:
            pair = [i for i, c in enumerate(letters) if c == letter][:2]
            others = [i for i in range(len(letters)) if i not in pair]
            sizes = m.sizes(x)
            n = sizes[pair[0]]
            if sizes[pair[1]] != n:
                raise ImportFailure(f"axes of '{letter}' have the sizes {n} and {sizes[pair[1]]}")
            lead = tuple(sizes[i] for i in others)
            flat = m.reshape(m.transpose(x, *others, *pair), (*lead, n * n))
            axis = (len(others),)
            x = m("slice", flat, starts=(0,), ends=(n * n,), axes=axis, steps=(n + 1,))
            letters = "".join(letters[i] for i in others) + letter
    return x, letters


def _widest(m: Maker, values: Sequence[tuple[SSAValue, str]]) -> list[tuple[SSAValue, str]]:
    """Without the axes of size 1 whose letter is larger elsewhere: they broadcast."""
    most: dict[str, int] = {}
    for x, letters in values:
        for letter, size in zip(letters, m.sizes(x), strict=True):
            most[letter] = max(most.get(letter, 0), size)
    found: list[tuple[SSAValue, str]] = []
    for x, letters in values:
        sizes = m.sizes(x)
        kept = [i for i, c in enumerate(letters) if sizes[i] != 1 or most[c] == 1]
        if len(kept) < len(letters):
            x = m.reshape(x, tuple(sizes[i] for i in kept))
        found.append((x, "".join(letters[i] for i in kept)))
    return found


def _grouped(m: Maker, x: SSAValue, letters: str, groups: Sequence[str]) -> SSAValue:
    """x with its axes in the order of the groups, each group one axis."""
    order = "".join(groups)
    turned = m.transpose(x, *(letters.index(c) for c in order))
    sizes = dict(zip(letters, m.sizes(x), strict=True))
    return m.reshape(turned, tuple(prod(sizes[c] for c in group) for group in groups))


def _joined(
    m: Maker, a: tuple[SSAValue, str], b: tuple[SSAValue, str], kept: str
) -> tuple[SSAValue, str]:
    """Two values as a batched matmul over the letters that they share."""
    left, right = (_summed(m, *v, other[1] + kept) for v, other in ((a, b), (b, a)))
    sizes = dict(zip(left[1], m.sizes(left[0]), strict=True))
    others = dict(zip(right[1], m.sizes(right[0]), strict=True))
    shared = [c for c in left[1] if c in right[1]]
    if any(sizes[c] != others[c] for c in shared):
        raise ImportFailure("axes of one letter differ in size, and none of them is 1")
    batch = "".join(c for c in shared if c in kept)
    inner = "".join(c for c in shared if c not in kept)
    rows = "".join(c for c in left[1] if c not in shared)
    columns = "".join(c for c in right[1] if c not in shared)
    product = m(
        "matmul",
        _grouped(m, *left, (batch, rows, inner)),
        _grouped(m, *right, (batch, inner, columns)),
    )
    letters = batch + rows + columns
    every = {**sizes, **others}
    return m.reshape(product, tuple(every[c] for c in letters)), letters


def _einsum(node: Node) -> Sequence[SSAValue]:
    m, values = Maker(node), node.values()
    terms, result = _letters(node.text("equation", ""), [m.rank(v) for v in values])
    single = [_diagonal(m, x, t) for x, t in zip(values, terms, strict=True)]
    first, *rest = _widest(m, single)
    for number, other in enumerate(rest):
        later = "".join(letters for _, letters in rest[number + 1 :])
        first = _joined(m, first, other, result + later)
    y, letters = _summed(m, *first, result)
    if sorted(letters) != sorted(result):
        raise ImportFailure(f"the result '{result}' names axes that no operand has")
    y = m.transpose(y, *(letters.index(c) for c in result))
    return (m("identity", y) if y is values[0] else y,)


CONTRACT: dict[str, list[tuple[int, Entry]]] = {"Einsum": [(12, _einsum)]}
"""Entries by operator type, the newest opset first."""
