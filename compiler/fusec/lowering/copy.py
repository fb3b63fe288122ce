"""A kernel that copies one tensor to another, for an output that is not a kernel's own result."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import LocationAttr
from xdsl.dialects.func import FuncOp

from fusec.hw import DTYPE_BYTES, Target
from fusec.lowering.builder import KernelBuilder, standard
from fusec_dialects.npu.attrs import Space
from fusec_dialects.npu.move import LoadOp, StoreOp


def emit_copy(
    name: str, shape: tuple[int, ...], dtype: str, target: Target, location: LocationAttr
) -> FuncOp:
    """`name(in, out)`: all elements in row-major order, by tiles of a quarter of ub."""
    count = prod(shape)
    cores = target.cores("vector")
    tile = min(target.capacity("ub") // 4 // DTYPE_BYTES[dtype], -(-count // cores))
    tile = -(-tile // 32) * 32
    tiles = -(-count // tile)
    blocks = min(tiles, cores)
    b = KernelBuilder(name, [("in", standard(shape, dtype)), ("out", standard(shape, dtype))])
    b.location = location
    source, dest = (b.reinterpret(value, 0, [count], [1]) for value in b.args)
    with b.block_loop((tiles,), blocks) as (index,):
        start = b.mul(index, tile)
        size = b.rest(count, start, tile)
        buffer = b.tile(Space.UB, (tile,), dtype, (size,), "u")
        b.op(LoadOp, b.subview(source, [start], [size]), buffer)
        b.op(StoreOp, buffer, b.subview(dest, [start], [size]))
    return b.finish("vector", blocks)
