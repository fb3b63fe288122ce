"""ONNX's shape queries, tilings, block moves and indexed moves."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.container import numpy_dtype
from fusec.frontends.onnx.entry import Entry, static
from fusec.frontends.onnx.folding import Result
from fusec.frontends.onnx.maker import Maker
from fusec.frontends.onnx.node import Node
from fusec.semantics.dtypes import Array
from fusec.semantics.types import numpy_type
from fusec_dialects.graph import AttrValue
from fusec_dialects.graph.shapes import normal_axis

EXACT = 1 << 24
"""Whole numbers up to here are exact in f32."""

FEW = 16
"""Updates of a TensorScatter that are compared with every position; more are scattered."""


def _sizes(node: Node) -> tuple[int, ...]:
    """The static shape of the first input, known or computed."""
    found = node.known(0)
    if found is not None:
        return found.shape
    return static(node.shape(node.value(0)), f"'{node.proto.op_type}'")


def _shape(node: Node) -> Sequence[Result]:
    sizes = _sizes(node)
    start, end = node.int_("start", 0), node.int_("end", len(sizes))
    return (np.array(sizes[slice(start, end)], np.int64),)


def _size(node: Node) -> Sequence[Result]:
    return (np.array(prod(_sizes(node)), np.int64),)


def _range(node: Node) -> Sequence[Result]:
    start, limit, delta = (
        node.array(i, name) for i, name in enumerate(("start", "limit", "delta"))
    )
    if delta == 0:
        raise ImportFailure("delta is 0")
    count = max(0, int(np.ceil((limit.item() - start.item()) / delta.item())))
    steps = np.arange(count).astype(start.dtype)
    return ((start + steps * delta).reshape(count).astype(start.dtype),)


def _eye_like(node: Node) -> Sequence[Result]:
    sizes = _sizes(node)
    if len(sizes) != 2:
        raise ImportFailure(f"the input has rank {len(sizes)}, not 2")
    dtype = numpy_type(node.element(node.value(0)))
    if (code := node.int_("dtype", 0)) != 0:
        dtype = numpy_dtype(code, "the result")
    return (np.eye(*sizes, k=node.int_("k", 0)).astype(dtype),)


def _tile(node: Node) -> Sequence[SSAValue]:
    """Each axis as a repeat axis and the axis itself."""
    m, x = Maker(node), node.value(0)
    sizes, repeats = m.sizes(x), node.ints_input(1, "repeats")
    if len(repeats) != len(sizes) or min(repeats, default=0) < 0:
        raise ImportFailure(f"repeats {list(repeats)} of {list(sizes)}; give one for each axis")
    pairs = [(r, s) for r, s in zip(repeats, sizes, strict=True)]
    single = m.reshape(x, tuple(n for _, s in pairs for n in (1, s)))
    whole = tuple(n for pair in pairs for n in pair)
    spread = m("expand", single, shape=whole) if any(r > 1 for r in repeats) else single
    if 0 in repeats:
        raise ImportFailure("a repeat of 0 leaves nothing")
    return (m.reshape(spread, tuple(r * s for r, s in pairs)),)


def _block_sizes(node: Node, m: Maker, x: SSAValue) -> tuple[int, int, int, int, int]:
    sizes, block = m.sizes(x), node.int_("blocksize")
    if len(sizes) != 4 or block < 1:
        raise ImportFailure(f"blocks of {block} in {list(sizes)}; x is [N, C, H, W]")
    return (*sizes, block)


def _space_to_depth(node: Node) -> Sequence[SSAValue]:
    m, x = Maker(node), node.value(0)
    n, c, h, w, b = _block_sizes(node, m, x)
    if h % b or w % b:
        raise ImportFailure(f"{h} x {w} does not divide into blocks of {b}")
    parts = m.reshape(x, (n, c, h // b, b, w // b, b))
    perms = {"DCR": (0, 3, 5, 1, 2, 4), "CRD": (0, 1, 3, 5, 2, 4)}
    mode = node.text("mode", "DCR")
    if mode not in perms:
        raise ImportFailure(f"mode '{mode}' is unknown")
    turned = m.transpose(parts, *perms[mode])
    return (m.reshape(turned, (n, c * b * b, h // b, w // b)),)


def _depth_to_space(node: Node) -> Sequence[SSAValue]:
    m, x = Maker(node), node.value(0)
    n, c, h, w, b = _block_sizes(node, m, x)
    if c % (b * b):
        raise ImportFailure(f"{c} channels do not divide into blocks of {b} x {b}")
    match node.text("mode", "DCR"):
        case "DCR":
            turned = m.transpose(m.reshape(x, (n, b, b, c // (b * b), h, w)), 0, 3, 4, 1, 5, 2)
        case "CRD":
            turned = m.transpose(m.reshape(x, (n, c // (b * b), b, b, h, w)), 0, 1, 4, 2, 5, 3)
        case mode:
            raise ImportFailure(f"mode '{mode}' is unknown")
    return (m.reshape(turned, (n, c // (b * b), h * b, w * b)),)


def _trilu(node: Node) -> Sequence[SSAValue]:
    m, x = Maker(node), node.value(0)
    sizes = m.sizes(x)
    if len(sizes) < 2:
        raise ImportFailure(f"a tensor of rank {len(sizes)} holds no matrices")
    k = int(node.number(1, "k")) if node.has(1) else 0
    ones = np.ones(sizes[-2:], np.bool_)
    mask = np.triu(ones, k) if node.int_("upper", 1) else np.tril(ones, k)
    if node.element(x) == node.element(node.constant(mask)):
        return (m("and", x, mask),)
    return (m("where", mask, x, 0),)


def _one_hot(node: Node) -> Sequence[SSAValue]:
    """The indices compared with 0, 1, ... in f32, where all that can match is exact."""
    m, indices = Maker(node), node.value(0)
    depth, values = int(node.number(1, "the depth")), node.array(2, "the values")
    rank = m.rank(indices)
    axis = normal_axis(node.int_("axis", -1), rank + 1)
    if not 0 < depth <= 1 << 24 or values.shape != (2,):
        raise ImportFailure(f"depth {depth}, values {list(values.shape)}")
    wide = m("unsqueeze", m.cast(indices, "float32"), axes=(axis,))
    wide = m("where", m("less", wide, 0.0), m("add", wide, float(depth)), wide)
    places = np.arange(depth, dtype=np.float32).reshape(-1, *(1,) * (rank - axis))
    hit = m("equal", wide, places)
    off, on = (v.item() for v in values)
    if (off, on) == (0, 1) or (values.dtype.kind == "i" and max(abs(on), abs(off)) < 1 << 24):
        numbers = m("where", hit, np.array(on, np.float32), np.array(off, np.float32))
        return (m.cast(numbers, values.dtype.name),)
    return (m("where", hit, np.asarray(values[1]), np.asarray(values[0])),)


def _compress(node: Node) -> Sequence[SSAValue]:
    """A constant condition says which entries are gathered."""
    m, x = Maker(node), node.value(0)
    places = np.flatnonzero(node.array(1, "the condition")).astype(np.int64)
    if not any(a.name == "axis" for a in node.proto.attribute):
        x, axis = m.reshape(x, (prod(m.sizes(x)),)), 0
    else:
        axis = node.int_("axis")
    return (taken(m, x, normal_axis(axis, m.rank(x)), places),)


def taken(m: Maker, x: SSAValue, axis: int, places: Array) -> SSAValue:
    """Entries of x along an axis at constant places; a slice where they are equally far apart."""
    steps = set(np.diff(places).tolist())
    if places.size == 0 or len(steps) > 1 or min(steps, default=1) < 1:
        return m("gather", x, places.astype(np.int64), axis=axis)
    step = int(min(steps, default=1))
    start, end = int(places[0]), int(places[-1]) + 1
    if (start, end, step) == (0, m.sizes(x)[axis], 1):
        return x
    return m("slice", x, starts=(start,), ends=(end,), axes=(axis,), steps=(step,))


def pad_by(m: Maker, x: SSAValue, pads: Sequence[int], mode: str) -> SSAValue:
    """x padded from its own entries (edge, reflect, wrap): a gather along each padded axis."""
    rank = m.rank(x)
    for axis, size in enumerate(m.sizes(x)):
        begin, end = pads[axis], pads[rank + axis]
        if not begin and not end:
            continue
        if size == 0 or (mode == "reflect" and size == 1 and max(begin, end) > 0):
            raise ImportFailure(f"axis {axis} of size {size} cannot be padded by mode '{mode}'")
        at = np.arange(-begin, size + end)
        match mode:
            case "edge":
                at = np.clip(at, 0, size - 1)
            case "wrap":
                at = at % size
            case _:
                period = max(1, 2 * (size - 1))
                at = np.minimum(at % period, -at % period)
        x = taken(m, x, axis, at)
    return x


def _gather_nd(node: Node) -> Sequence[SSAValue]:
    attrs: dict[str, AttrValue] = {"batch_dims": node.int_("batch_dims", 0)}
    return node.build("gather_nd", node.values(2, 2), attrs)


def _scatter(elements: bool) -> Entry:
    def entry(node: Node) -> Sequence[SSAValue]:
        attrs: dict[str, AttrValue] = {"reduction": node.text("reduction", "none")}
        if elements:
            attrs["axis"] = node.int_("axis", 0)
        name = "scatter_elements" if elements else "scatter_nd"
        return node.build(name, node.values(3, 3), attrs)

    return entry


def _tensor_scatter(node: Node) -> Sequence[SSAValue]:
    """Each update is written where its batch says; a few by comparing with every position, in f32.

    Past FEW updates, and where a position is not exact in f32, by scattering.
    """
    m, past, update = Maker(node), node.value(0), node.value(1)
    sizes, axis = m.sizes(past), normal_axis(node.int_("axis", -2), m.rank(past))
    count, size = m.sizes(update)[axis], sizes[axis]
    mode = node.text("mode", "linear")
    if axis == 0 or mode not in ("linear", "circular"):
        raise ImportFailure(f"axis {axis} in mode '{mode}'; use linear or circular, not axis 0")
    if count > size or size > EXACT:
        raise ImportFailure(f"{count} updates for an axis of {size}")
    shape = (sizes[0], *(1,) * (len(sizes) - 1))
    first = m.filled(shape, 0.0, "float32")
    if node.has(2):
        first = m.cast(m.reshape(node.value(2), shape), "float32")
    if count > FEW:
        order = np.arange(count, dtype=np.float32).reshape(-1, *(1,) * (len(sizes) - axis - 1))
        places = m.cast(_wrapped(m, m("add", first, order), size, mode), "int64")
        places = m("expand", places, shape=m.sizes(update))
        return (m("scatter_elements", past, places, update, axis=axis, reduction="none"),)
    numbers = np.arange(size, dtype=np.float32).reshape(-1, *(1,) * (len(sizes) - axis - 1))
    for number in range(count):
        place = _wrapped(m, m("add", first, float(number)), size, mode)
        new = m.cut(update, axis, number, number + 1)
        past = m("where", m("equal", place, numbers), new, past)
    return (past,)


def _wrapped(m: Maker, place: SSAValue, size: int, mode: str) -> SSAValue:
    """Places below twice the size, taken round where the mode says so."""
    if mode == "linear":
        return place
    over = m("greater_or_equal", place, float(size))
    return m("where", over, m("sub", place, float(size)), place)


def _reverse_sequence(node: Node) -> Sequence[SSAValue]:
    attrs: dict[str, AttrValue] = {
        "batch_axis": node.int_("batch_axis", 1),
        "time_axis": node.int_("time_axis", 0),
    }
    return node.build("reverse_sequence", node.values(2, 2), attrs)


_GRID_MODES = {"bilinear": "linear", "bicubic": "cubic"}


def _grid_sample(node: Node) -> Sequence[SSAValue]:
    mode = node.text("mode", "linear")
    attrs: dict[str, AttrValue] = {
        "mode": _GRID_MODES.get(mode, mode),
        "padding_mode": node.text("padding_mode", "zeros"),
        "align_corners": bool(node.int_("align_corners", 0)),
    }
    return node.build("grid_sample", node.values(2, 2), attrs)


def _det(node: Node) -> Sequence[SSAValue]:
    return node.build("det", [node.value(0)])


def _dropout(node: Node) -> Sequence[Result]:
    """In inference the input, and a mask that keeps all."""
    x = node.value(0)
    training = node.has(2) and bool(node.number(2, "training_mode"))
    if training and (not node.has(1) or node.number(1, "the ratio") != 0):
        raise ImportFailure("only inference is supported; export the model in evaluation mode")
    (y,) = node.build("identity", [x])
    if node.outputs() == 1:
        return (y,)
    return y, np.ones(static(node.shape(x), "the mask"), np.bool_)


def _if(node: Node) -> Sequence[Result]:
    """A constant condition takes one branch."""
    taken = bool(node.number(0, "the condition"))
    return node.branch("then_branch" if taken else "else_branch")


MOVES: dict[str, list[tuple[int, Entry]]] = {
    "Shape": [(1, _shape)],
    "Size": [(1, _size)],
    "Range": [(11, _range)],
    "EyeLike": [(9, _eye_like)],
    "Tile": [(6, _tile)],
    "SpaceToDepth": [(1, _space_to_depth)],
    "DepthToSpace": [(1, _depth_to_space)],
    "Trilu": [(14, _trilu)],
    "OneHot": [(9, _one_hot)],
    "Compress": [(9, _compress)],
    "GatherND": [(11, _gather_nd)],
    "ScatterElements": [(11, _scatter(True))],
    "Scatter": [(9, _scatter(True))],
    "ScatterND": [(11, _scatter(False))],
    "TensorScatter": [(24, _tensor_scatter)],
    "ReverseSequence": [(10, _reverse_sequence)],
    "GridSample": [(16, _grid_sample)],
    "Det": [(11, _det)],
    "Dropout": [(7, _dropout)],
    "If": [(1, _if)],
}
"""Entries by operator type, the newest opset first."""
