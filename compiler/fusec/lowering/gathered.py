"""The load of a tile whose rows are slices of a table, found by an index each."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from fusec.lowering.arithmetic import Index
from fusec.schedule.axes import dtype_of
from fusec.schedule.plan import Buffer
from fusec.schedule.ports import Picked, Port
from fusec_dialects.npu import LoadOp

if TYPE_CHECKING:
    from fusec.lowering.vector import TileEmitter


def gather(emitter: TileEmitter, port: Port, dest: Buffer) -> None:
    """Loads the tile row by row; a tile without such rows is a part of one slice."""
    b, picked, tile = emitter.builder, port.picked, emitter.make(dest)
    if picked is None:
        return
    at = next((i for i, a in enumerate(dest.dims) if a in picked.index.strides), None)
    extent = emitter.extent(dest.dims)
    loop = nullcontext(0) if at is None else b.loop(0, extent[at], 1, "row")
    with loop as row:
        offsets: list[Index] = [row if i == at else 0 for i in range(len(extent))]
        sizes: list[Index] = [1 if i == at else size for i, size in enumerate(extent)]
        part = tile if at is None else b.subview(tile, offsets, sizes)
        slice_at = _index(emitter, picked, None if at is None else dest.dims[at], row)
        dims = tuple(None if i == at else a for i, a in enumerate(dest.dims))
        b.op(LoadOp, emitter.gm(port, dims, (picked.size, picked.stride, slice_at)), part)


def _index(emitter: TileEmitter, picked: Picked, axis: int | None, row: Index) -> SSAValue:
    """The index for a row of the tile, a negative one counted from the end."""
    b, port = emitter.builder, picked.index
    order = port.order()
    sizes = [emitter.sizes[a] for a in order] or [1]
    strides = [port.strides[a] for a in order] or [1]
    whole = b.reinterpret(emitter.argument(port), port.offset, sizes, strides)
    position: list[Index] = []
    for a in order:
        offset = emitter.bound[a][0] if a in emitter.bound else 0
        position.append(b.add(offset, row) if a == axis else offset)
    loaded = b.load_scalar(whole, position or [0])
    zero, size = (b.scalar(n, dtype_of(port.value)) for n in (0, picked.size))
    wrapped = b.op(arith.AddiOp, loaded, size).result
    negative = b.op(arith.CmpiOp, loaded, zero, "slt").result
    return b.to_index(b.op(arith.SelectOp, negative, wrapped, loaded).result)
