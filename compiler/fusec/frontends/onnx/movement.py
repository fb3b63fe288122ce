"""ONNX's views and movements: inputs that must be constant become attributes or result shapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from xdsl.ir import SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.entry import Entry, static
from fusec.frontends.onnx.maker import Maker
from fusec.frontends.onnx.node import Node
from fusec.frontends.onnx.operators_moves import pad_by, taken
from fusec_dialects.graph import AttrValue
from fusec_dialects.graph.shape_rules import SLICE_END
from fusec_dialects.graph.shapes import Dim, broadcast, normal_axis
from fusec_dialects.graph.sizes import quotient, text


def _transpose(node: Node) -> Sequence[SSAValue]:
    x = node.value(0)
    perm = node.ints("perm")
    if perm is None:
        perm = tuple(reversed(range(len(node.shape(x)))))
    return node.build("transpose", [x], {"perm": perm})


def _reshape(node: Node) -> Sequence[SSAValue]:
    x = node.value(0)
    old = node.shape(x)
    wanted = node.ints_input(1, "the shape")
    keep_zero = bool(node.int_("allowzero", 0))
    if wanted.count(-1) > 1 or min(wanted, default=0) < -1:
        raise ImportFailure(f"shape {list(wanted)}; one size may be -1, others are not negative")
    new: list[Dim | None] = []
    for i, size in enumerate(wanted):
        if size == 0 and not keep_zero:
            if i >= len(old):
                raise ImportFailure(
                    f"size {i} of {list(wanted)} is 0, {text(old)} has no such axis"
                )
            new.append(old[i])
        else:
            new.append(None if size == -1 else size)
    known = tuple(d for d in new if d is not None)
    rest: Dim | None = 1
    if len(known) < len(new):
        rest = quotient(old, known)
    if rest is None:
        raise ImportFailure(f"{text(old)} does not reshape to {list(wanted)}")
    return node.build("reshape", [x], shape=tuple(rest if d is None else d for d in new))


def _expand(node: Node) -> Sequence[SSAValue]:
    x = node.value(0)
    shape = broadcast(node.shape(x), node.ints_input(1, "the shape"))
    return node.build("expand", [x], shape=shape)


def _squeeze(axes_input: bool) -> Entry:
    def entry(node: Node) -> Sequence[SSAValue]:
        x = node.value(0)
        axes = node.ints("axes")
        if axes_input:
            axes = node.ints_input(1, "axes") if node.has(1) else None
        if axes is None:
            sizes = static(node.shape(x), "a squeeze without axes")
            axes = tuple(i for i, d in enumerate(sizes) if d == 1)
        return node.build("squeeze", [x], {"axes": axes}) if axes else node.build("identity", [x])

    return entry


def _unsqueeze(axes_input: bool) -> Entry:
    def entry(node: Node) -> Sequence[SSAValue]:
        axes = node.ints_input(1, "axes") if axes_input else node.ints("axes")
        if axes is None:
            raise ImportFailure("attribute 'axes' is missing")
        return node.build("unsqueeze", [node.value(0)], {"axes": axes})

    return entry


def _slice_attributes(node: Node) -> Sequence[SSAValue]:
    starts, ends = node.ints("starts") or (), node.ints("ends") or ()
    axes = node.ints("axes") or tuple(range(len(starts)))
    return _slice_of(node, starts, ends, axes, (1,) * len(starts))


def _slice(node: Node) -> Sequence[SSAValue]:
    starts, ends = node.ints_input(1, "starts"), node.ints_input(2, "ends")
    axes = node.ints_input(3, "axes") if node.has(3) else tuple(range(len(starts)))
    steps = node.ints_input(4, "steps") if node.has(4) else (1,) * len(starts)
    return _slice_of(node, starts, ends, axes, steps)


def _slice_of(
    node: Node,
    starts: tuple[int, ...],
    ends: tuple[int, ...],
    axes: tuple[int, ...],
    steps: tuple[int, ...],
) -> Sequence[SSAValue]:
    def clamp(values: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(max(-SLICE_END, min(SLICE_END, v)) for v in values)

    attrs: dict[str, AttrValue] = {
        "starts": clamp(starts),
        "ends": clamp(ends),
        "axes": axes,
        "steps": clamp(steps),
    }
    x = node.value(0)
    sizes = node.shape(x)
    backward = any(step < 0 for step in steps)
    if not backward or not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        return node.build("slice", [x], attrs)
    if not all(isinstance(sizes[normal_axis(a, len(sizes))], int) for a in axes):
        return node.build("slice", [x], attrs)
    return _backward(Maker(node), x, zip(axes, starts, ends, steps, strict=True))


def _backward(
    m: Maker, x: SSAValue, cuts: Iterable[tuple[int, int, int, int]]
) -> Sequence[SSAValue]:
    """Axis after axis, (axis, start, end, step); backwards as a gather."""
    given = x
    for number, start, end, step in cuts:
        axis = normal_axis(number, m.rank(x))
        size = static((m.node.shape(x)[axis],), "a slice backwards")[0]
        places = np.arange(size)[start:end:step]
        if places.size == 0:
            x = m.cut(x, axis, 0, 0)
        else:
            x = taken(m, x, axis, places)
    return (m("identity", x) if x is given else x,)


def _pad(node: Node) -> Sequence[SSAValue]:
    mode = node.text("mode", "constant")
    if mode not in ("constant", "edge", "reflect", "wrap"):
        raise ImportFailure(f"mode '{mode}' is not supported")
    x = node.value(0)
    pads = (node.ints("pads") or ()) if node.opset < 11 else node.ints_input(1, "pads")
    if mode != "constant":
        if node.has(3):
            pads = _spread(pads, node.ints_input(3, "axes"), len(node.shape(x)))
        return (pad_by(Maker(node), x, pads, mode),)
    if node.opset < 11:
        return node.build("pad", [x], {"pads": pads, "value": node.float_("value", 0.0)})
    number = node.number(2, "the value") if node.has(2) else 0
    if float(number) != number and number == number:
        raise ImportFailure(f"the value {number} is not exact in f64")
    if node.has(3):
        pads = _spread(pads, node.ints_input(3, "axes"), len(node.shape(x)))
    return node.build("pad", [x], {"pads": pads, "value": float(number)})


def _spread(pads: tuple[int, ...], axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    if len(pads) != 2 * len(axes):
        raise ImportFailure(f"{len(axes)} axes have {2 * len(axes)} pads, not {len(pads)}")
    full = [0] * (2 * rank)
    for i, axis in enumerate(axes):
        axis = normal_axis(axis, rank)
        full[axis], full[rank + axis] = pads[i], pads[len(axes) + i]
    return tuple(full)


def _gather(node: Node) -> Sequence[SSAValue]:
    """One constant index is a slice."""
    x, known, axis = node.value(0), node.known(1), node.int_("axis", 0)
    size = node.shape(x)[normal_axis(axis, len(node.shape(x)))]
    if known is None or known.size != 1 or known.ndim > 1 or not isinstance(size, int):
        return node.build("gather", node.values(2, 2), {"axis": axis})
    place = int(known.item())
    if not -size <= place < size:
        raise ImportFailure(f"index {place} leaves axis {axis} of size {size}")
    m = Maker(node)
    entry = m.cut(x, normal_axis(axis, m.rank(x)), place % size, place % size + 1)
    return (entry if known.ndim else m("squeeze", entry, axes=(axis,)),)


def _gather_elements(node: Node) -> Sequence[SSAValue]:
    return node.build("gather_elements", node.values(2, 2), {"axis": node.int_("axis", 0)})


def _concat(node: Node) -> Sequence[SSAValue]:
    """Operands without entries add nothing; one operand is the result itself."""
    values = node.values()
    axis = node.int_("axis")
    full = [v for v in values if node.shape(v)[normal_axis(axis, len(node.shape(v)))] != 0]
    if len(full) == 1 and len(values) > 1:
        return node.build("identity", full)
    return node.build("concat", full or values, {"axis": axis})


def _split(node: Node) -> Sequence[SSAValue]:
    x = node.value(0)
    axis = normal_axis(node.int_("axis", 0), len(node.shape(x)))
    sizes = node.ints("split")
    if node.opset >= 13:
        sizes = node.ints_input(1, "the sizes") if node.has(1) else None
    count = len(node.proto.output)
    if sizes is None:
        (total,) = static((node.shape(x)[axis],), "a split without sizes")
        piece = -(-total // count)
        sizes = tuple(max(0, min(piece, total - i * piece)) for i in range(count))
    if len(sizes) != count:
        raise ImportFailure(f"{len(sizes)} sizes for {count} outputs")
    if 0 in sizes:
        return _pieces(Maker(node), x, axis, sizes)
    return node.build("split", [x], {"axis": axis, "sizes": sizes})


def _pieces(m: Maker, x: SSAValue, axis: int, sizes: Sequence[int]) -> Sequence[SSAValue]:
    """Each piece as a slice, so that one without entries is no result of anything else."""
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [m.cut(x, axis, s, s + n) for s, n in zip(starts, sizes, strict=True)]


def _flatten(node: Node) -> Sequence[SSAValue]:
    return node.build("flatten", [node.value(0)], {"axis": node.int_("axis", 1)})


MOVEMENT: dict[str, list[tuple[int, Entry]]] = {
    "Transpose": [(1, _transpose)],
    "Reshape": [(5, _reshape)],
    "Flatten": [(1, _flatten)],
    "Expand": [(8, _expand)],
    "Squeeze": [(13, _squeeze(True)), (1, _squeeze(False))],
    "Unsqueeze": [(13, _unsqueeze(True)), (1, _unsqueeze(False))],
    "Slice": [(10, _slice), (1, _slice_attributes)],
    "Pad": [(2, _pad)],
    "Gather": [(1, _gather)],
    "GatherElements": [(11, _gather_elements)],
    "Concat": [(4, _concat)],
    "Split": [(2, _split)],
}
"""Entries by operator type, the newest opset first."""
