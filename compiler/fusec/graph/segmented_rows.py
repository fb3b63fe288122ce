"""A convolution that reads its picture channels first, in whole segments of its rows.

A row of W elements is W / S segments of S neighbours, and what the convolution makes of a segment
is q = S / stride neighbours of its result, q times the filters. So [N, C, H, W] is read as it is,
as pixels [H, W / S] of C x S channels, by a filter [kernel, segments, C x S, q x O] that has zeros
where an element does not count. Its padding is whole segments, which a load can leave out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Block, BlockArgument, SSAValue

from fusec.graph.reshaped import Reshaped, Sizes, is_static, sizes_of
from fusec.graph.weights_function import WeightsFunction
from fusec_dialects.graph import AttrValue, build
from fusec_dialects.graph.compute import ConvOp

SHORTEST, LONGEST = 4, 32
"""Elements of the segments that are tried: loads of shorter ones cost more than they bring (though
their filters have fewer zeros), longer ones multiply too many zeros."""


@dataclass(frozen=True)
class Segments:
    """`size` elements each, `outputs` positions of the result. A window has `count` of them, of
    which `before` lie before the first element of the segment that it stands for; `behind` are
    missing at the end of a row. `pads`: of all spatial axes, those of the picture's elements."""

    size: int
    outputs: int
    count: int
    before: int
    behind: int
    pads: Sizes


@dataclass(frozen=True)
class Segmented:
    """The new block. `filter` and `vectors` are the arguments whose weights change, by
    `segmented_filter` and by `repeated`."""

    block: Block
    filter: int
    vectors: tuple[int, ...]
    segments: Segments


def segments_of(
    conv: ConvOp, width: int, pads: Sizes, shortest: int = SHORTEST
) -> Iterator[Segments]:
    """The segments in which a channels-last convolution could read rows of `width` elements that
    are padded by `pads` (all begins, then all ends). None where the result has no whole number."""
    spatial = len(pads) // 2
    begin = pads[spatial - 1]
    stride, dilation = (a.get_values()[-1] for a in (conv.strides, conv.dilations))
    kernel, made = sizes_of(conv.w)[spatial - 1], sizes_of(conv.y)[-2]
    for outputs in range(1, made + 1):
        size = outputs * stride
        if size > LONGEST:
            return
        if size < shortest or made % outputs or width % size or begin < 0:
            continue
        before = -(-begin // size)
        last = (outputs - 1) * stride + kernel * dilation - 1 - begin
        count = before + last // size + 1
        behind = made // outputs + count - 1 - before - width // size
        if behind >= 0:
            yield Segments(size, outputs, count, before, behind, pads)


def segmented(
    block: Block, argument: BlockArgument, source: Sizes, segments: Segments
) -> Segmented | None:
    """The block, taking `source` (channels first) in place of `argument`, which a convolution alone
    reads. Results have [..., W / q, q x O] in place of [..., W, O]: the same elements in order.

    None where the convolution is grouped, its bias is no argument, or something in the block does
    not follow.
    """
    conv = only_reader(argument)
    if conv is None or not isinstance(conv.w, BlockArgument) or not is_static(block):
        return None
    q, size = segments.outputs, segments.size
    filters = sizes_of(conv.y)[-1]
    bias = conv.operands[2:]
    vectors = [
        a
        for a in block.args
        if a is not conv.w and (a in bias or filters > 1) and _is_vector(a, filters)
    ]
    if any(b not in vectors for b in bias):
        return None
    made = Reshaped(block, conv.location)
    for old in block.args:
        shape = sizes_of(old)
        if old is argument:
            shape = source
        elif old is conv.w:
            shape = (*shape[:-3], segments.count, shape[-2] * size, shape[-1] * q)
        elif old in vectors:
            shape = (*shape[:-1], shape[-1] * q)
        made.argument(old, shape)

    def wider(shape: Sizes) -> Sizes:
        return (*shape[:-2], shape[-2] // q, shape[-1] * q)

    def change() -> SSAValue:
        x = _pixels(made, made.mapping[argument], size)
        others = (made.mapping[v] for v in conv.operands if v is not conv.x)
        return made.add(build("conv", [x, *others], _attributes(conv, segments)))

    def operand(new: SSAValue, old: SSAValue) -> SSAValue | None:
        if old in vectors:
            return new
        same = sizes_of(old) == sizes_of(conv.y)
        return made.reshape(new, wider(sizes_of(old))) if same else None

    found = made.follow(conv, change, operand)
    if found is None:
        return None
    return Segmented(found, conv.w.index, tuple(v.index for v in vectors), segments)


def only_reader(argument: BlockArgument) -> ConvOp | None:
    """The channels-last convolution that alone reads an argument, once, as its picture."""
    use = next(iter(argument.uses), None)
    if use is None or not argument.has_one_use() or not isinstance(use.operation, ConvOp):
        return None
    conv = use.operation
    last = conv.x_layout.data == conv.y_layout.data == "NHWC" and conv.w_layout.data == "HWIO"
    return conv if conv.x is argument and last and conv.group.value.data == 1 else None


def _is_vector(argument: BlockArgument, filters: int) -> bool:
    """Whether an argument has one element for each filter and nothing else."""
    shape = sizes_of(argument)
    return shape[-1:] == (filters,) and prod(shape) == filters


def _pixels(made: Reshaped, x: SSAValue, size: int) -> SSAValue:
    """[N, C, rows, W] as [N, rows, W / size, C x size]: a view."""
    batch, channels, *rows, width = sizes_of(x)
    cut = made.reshape(x, (batch, channels, *rows, width // size, size))
    rank = len(rows) + 4
    turned = made.transpose(cut, (0, *range(2, rank - 1), 1, rank - 1))
    return made.reshape(turned, (batch, *rows, width // size, channels * size))


def _attributes(conv: ConvOp, segments: Segments) -> dict[str, AttrValue]:
    """The attributes of the convolution on segments."""
    pads = segments.pads
    n = len(pads) // 2
    return {
        "x_layout": "NHWC",
        "w_layout": "HWIO",
        "y_layout": "NHWC",
        "strides": (*conv.strides.get_values()[:-1], 1),
        "dilations": (*conv.dilations.get_values()[:-1], 1),
        "pads": (*pads[: n - 1], segments.before, *pads[n:-1], segments.behind),
    }


def segmented_filter(
    weights: WeightsFunction, filter: SSAValue, conv: ConvOp, segments: Segments, loc: LocationAttr
) -> SSAValue:
    """The filter [kernel, C, O] of `@weights` as [kernel, segments, C x S, q x O]: a copy for each
    of the q outputs of a segment, at its place in the window."""
    *outer, taps, channels, filters = sizes_of(filter)
    size, axis = segments.size, len(outer)
    rank = axis + 3
    stride, dilation = (a.get_values()[-1] for a in (conv.strides, conv.dilations))
    begin = segments.pads[len(segments.pads) // 2 - 1]

    def pad(value: SSAValue, axis: int, before: int, behind: int) -> SSAValue:
        pads = [0] * (2 * len(sizes_of(value)))
        pads[axis], pads[axis + len(pads) // 2] = before, behind
        return weights.build("pad", [value], {"pads": tuple(pads)}, loc=loc)

    def reshape(value: SSAValue, *shape: int) -> SSAValue:
        return weights.build("reshape", [value], shape=shape, loc=loc)

    if dilation > 1:
        apart = reshape(filter, *outer, taps, 1, channels, filters)
        apart = pad(apart, axis + 1, 0, dilation - 1)
        filter = reshape(apart, *outer, taps * dilation, channels, filters)
    length = segments.count * size
    copies: list[SSAValue] = []
    for output in range(segments.outputs):
        before = output * stride - begin + segments.before * size
        behind = length - before - taps * dilation
        copies.append(pad(filter, axis, before, behind))
    whole = copies[0]
    if len(copies) > 1:
        whole = weights.build("concat", copies, {"axis": rank - 1}, loc=loc)
    wide = filters * segments.outputs
    whole = reshape(whole, *outer, segments.count, size, channels, wide)
    perm = (*range(axis + 1), axis + 2, axis + 1, axis + 3)
    whole = weights.build("transpose", [whole], {"perm": perm}, loc=loc)
    return reshape(whole, *outer, segments.count, channels * size, wide)


def repeated(weights: WeightsFunction, vector: SSAValue, times: int, loc: LocationAttr) -> SSAValue:
    """A vector of `@weights`, as often as a segment has outputs."""
    if times == 1:
        return vector
    axis = len(sizes_of(vector)) - 1
    return weights.build("concat", [vector] * times, {"axis": axis}, loc=loc)
