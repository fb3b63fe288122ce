"""A block around a channels-last convolution whose result is stored with its channels first.

The product of the convolution is written transposed; elementwise operators after it follow. The
pixels of a 1x1 convolution are one axis then, so that a tile may have any number of them.
"""

from __future__ import annotations

from math import prod

from xdsl.ir import Block, SSAValue

from fusec.graph.channels_last import to_first
from fusec.graph.reshaped import Reshaped, Sizes, is_static, sizes_of
from fusec_dialects.graph import build
from fusec_dialects.graph.compute import ConvOp


def channels_first_result(block: Block) -> Block | None:
    """The block with one convolution, its results channels first: their elements in the order of
    [N, C, pixels]. None where the block is no other than that, or something does not follow."""
    found = [op for op in block.ops if isinstance(op, ConvOp)]
    if len(found) != 1 or found[0].y_layout.data != "NHWC" or not is_static(block):
        return None
    conv = found[0]
    made = Reshaped(block, conv.location)
    for argument in block.args:
        made.argument(argument)
    shape = sizes_of(conv.y)
    rank, flat = len(shape), _is_pointwise(conv)
    pixels = shape[1:-1]

    def merged(dims: Sizes) -> Sizes | None:
        """The shape with all pixels on the last spatial axis."""
        inner = dims[1:-1]
        if not flat or all(n == 1 for n in inner):
            return dims
        if inner != pixels:
            return None
        return (dims[0], *(1 for _ in inner[1:]), prod(inner), dims[-1])

    def change() -> SSAValue:
        x, *others = (made.mapping[v] for v in conv.operands)
        x = made.reshape(x, merged(sizes_of(x)) or shape)
        attrs = {**conv.properties, "y_layout": "NCHW"}
        return made.add(build("conv", [x, *others], attrs))

    def operand(new: SSAValue, old: SSAValue) -> SSAValue | None:
        dims = sizes_of(old)
        to = merged((1,) * (rank - len(dims)) + dims) if len(dims) <= rank else None
        return None if to is None else made.transpose(made.reshape(new, to), to_first(rank))

    return made.follow(conv, change, operand)


def _is_pointwise(conv: ConvOp) -> bool:
    """Whether each pixel of the result needs one pixel of the input, the same one."""
    kernel = sizes_of(conv.w)[:-2]
    attrs = (*conv.strides.get_values(), *kernel)
    return all(n == 1 for n in attrs) and not any(conv.pads.get_values())
