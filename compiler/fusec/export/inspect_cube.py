"""Rules for the calls of the cube core: matrix tiles (`mma_tile_*`) and the way out (`fixpipe_*`).

The library keeps matrices in blocks: A in L1 is [K/c][M/16][16][c], B is [N/c][K/16][16][c] (c
elements in 32 bytes), transposed ones the other way round, C in L0C is [N/16][M/16][16][16].
"""

from collections.abc import Iterator
from dataclasses import dataclass

from fusec.export.finding import Finding, error
from fusec.export.hivm_module import Call, Function, MemRef, Operation, Use, parse_memref

L0_BYTES = 64 * 1024
"""L0A and L0B each, of every 910B and 910_93 chip."""
ROWS = 16
"""Rows and columns of a block in L0C."""
BIAS_COLUMNS = 256
"""float32 bias values that the bias table (1 KB) holds; a half bias is widened on the way in."""
_ELEMENT_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "i8": 1}
_QUANT_MODES = {
    "float_to_half": 1,
    "float_to_bfloat16_t": 16,
    "float_to_float": 0,
    "int32_t_to_int32_t": 0,
}
"""Conversions of fixpipe that need no scale, with the mode the library wants; a scale never
reaches it.
"""
_CUBE_CALLS = ("mma_tile_", "nd2nz_", "load_gm_to_cbuf_", "fixpipe_")


@dataclass(frozen=True)
class Tile:
    """One `mma_tile` call. Sizes are of the blocked buffers, `real` the m, k, n that are
    computed (None: a value).
    """

    call: Call
    place: str
    a: MemRef | None
    b: MemRef | None
    c: MemRef | None
    real: tuple[int | None, int | None, int | None]
    transpose_a: bool
    transpose_b: bool

    @property
    def bias(self) -> bool:
        return self.call.callee.startswith("mma_tile_with_")

    @property
    def result(self) -> Use:
        return self.call.operands[7 if self.bias else 6]


def inspect_cube(function: Function) -> Iterator[Finding]:
    cube = [call for call in function.calls if call.callee.startswith(_CUBE_CALLS)]
    if cube and not function.core:
        message = "cube code without hivm.func_core_type: the layout pass leaves plain matrices"
        yield error("missing-core-type", f"{function.name}:{function.line}", message)
        return
    blocked: set[Operation | str] = set()
    for call in cube:
        if call.callee.startswith("nd2nz_"):
            blocked |= function.roots(call.operands[1])
    tiles = [read_tile(function, call) for call in cube if call.callee.startswith("mma_tile_")]
    for tile in tiles:
        yield from _tile(function, tile, blocked)
    for call in cube:
        if call.callee.startswith("fixpipe_"):
            yield from _fixpipe(function, call)
            yield from _stored(function, call, tiles)


def read_tile(function: Function, call: Call) -> Tile:
    """Operands are a, b, init, m, k, n, [bias,] c, then flags."""
    tail = call.callee.removesuffix("_hf32").split("_to_")[-1]
    real = tuple(function.constant(v) for v in call.operands[3:6])
    return Tile(
        call=call,
        place=f"{function.name}:{call.line}",
        a=function.memref(call.operands[0]),
        b=function.memref(call.operands[1]),
        c=function.memref(call.operands[7 if call.callee.startswith("mma_tile_with_") else 6]),
        real=(real[0], real[1], real[2]),
        transpose_a="_ta" in tail,
        transpose_b="_tb" in tail,
    )


def _tile(function: Function, tile: Tile, blocked: set[Operation | str]) -> Iterator[Finding]:
    ranks = [len(m.sizes) for m in map(parse_memref, tile.call.types) if m is not None]
    if any(rank != 4 for rank in (*ranks[:2], ranks[-1])):
        message = "a cube operand is a plain matrix, not in blocks of 16 rows"
        yield error("cube-layout", tile.place, message)
        return
    for value in tile.call.operands[:2]:
        if not function.roots(value) <= blocked:
            yield error("cube-layout", tile.place, "an operand in L1 was not loaded by nd2nz")
    yield from _real_sizes(tile)
    for side, buffer in (("left", tile.a), ("right", tile.b)):
        if buffer is not None and _skips_blocks(buffer):
            message = (
                f"the {side} operand is part of a larger L1 buffer over several blocks of columns "
                f"({buffer.sizes[0]} of stride {buffer.strides[0]}): the library reads wrong data; "
                "load a whole buffer, or one block of columns at a time"
            )
            yield error("l1-view-operand", tile.place, message)
    yield from _l0(tile)
    if tile.bias and function.constant(tile.call.operands[2]) == 0:
        message = "the bias is added only by a call that initialises, and this one never does"
        yield error("bias-not-added", tile.place, message)


def _real_sizes(tile: Tile) -> Iterator[Finding]:
    """The buffers hold at least the m x k, k x n and m x n elements that are computed."""
    m, k, n = tile.real
    for side, buffer, transposed, rows, columns in (
        ("left", tile.a, tile.transpose_a, m, k),
        ("right", tile.b, tile.transpose_b, k, n),
        ("result", tile.c, False, m, n),
    ):
        if buffer is None or None in buffer.sizes:
            continue
        if transposed:
            rows, columns = columns, rows
        outer, mid, inner, last = (size or 0 for size in buffer.sizes)
        held = (mid * inner, outer * last)
        if (rows or 0) > held[0] or (columns or 0) > held[1]:
            message = (
                f"the {side} buffer holds {held[0]} x {held[1]} elements, "
                f"{rows} x {columns} are used"
            )
            if tile.bias:
                message += (
                    "; with a bias the library has no transposed form, the transpose was dropped"
                )
            yield error("tile-size", tile.place, message)


def _skips_blocks(buffer: MemRef) -> bool:
    """Whether there is a gap between the blocks along the first dimension, which the library
    does not see.
    """
    first, *others = buffer.sizes
    if first == 1:
        return False
    dense = 1
    for size in others:
        if size is None:
            return True
        dense *= size
    return buffer.strides[0] != dense


def _l0(tile: Tile) -> Iterator[Finding]:
    """The library traps at run time where L0 cannot hold one block of K (LocalMmad.cpp: k_part =
    0).
    """
    if tile.a is None or tile.b is None or None in tile.a.sizes or None in tile.b.sizes:
        return
    rows = _outer_extent(tile.a, inverted=tile.transpose_a)
    columns = _outer_extent(tile.b, inverted=not tile.transpose_b)
    size = _ELEMENT_BYTES.get(tile.a.element, 1)
    align = max(32 // size, 16)
    widest = -(-max(rows, columns) // align) * align
    if L0_BYTES // size // widest < align:
        message = (
            f"a tile of {rows} x {columns} {tile.a.element} leaves no room in L0 "
            f"for {align} columns of K"
        )
        yield error("l0-overflow", tile.place, message)
    if tile.bias and columns > BIAS_COLUMNS:
        message = f"a bias of {columns} values exceeds the bias table ({BIAS_COLUMNS})"
        yield error("bias-table-overflow", tile.place, message)


def _outer_extent(buffer: MemRef, *, inverted: bool) -> int:
    """Rows of a (m) or columns of b (n) that the blocked buffer spans."""
    outer, mid, inner, last = (size or 0 for size in buffer.sizes)
    return outer * last if inverted else mid * inner


def _fixpipe(function: Function, call: Call) -> Iterator[Finding]:
    place = f"{function.name}:{call.line}"
    conversion = call.callee.removeprefix("fixpipe_nz2nd_").removeprefix("fixpipe_normal_")
    conversion = conversion.removesuffix("_gm").removesuffix("_4d_to_2d").removesuffix("_2d_to_2d")
    wanted = _QUANT_MODES.get(conversion)
    mode = function.constant(call.operands[2])
    if wanted is None:
        message = (
            f"{call.callee} converts without a scale; write int32 and scale on the vector core"
        )
        yield error("fixpipe-scale", place, message)
    elif mode is not None and mode != wanted:
        yield error(
            "fixpipe-mode",
            place,
            f"{call.callee} is called with conversion mode {mode}, not {wanted}",
        )


def _stored(function: Function, call: Call, tiles: list[Tile]) -> Iterator[Finding]:
    """What is stored was computed: rows and columns past `real` m and n hold what was there before.

    To a workspace whole tiles are stored, of which a kernel may use a part: there, only whole
    blocks of 16 that are missing count.
    """
    source, target = (function.roots(value) for value in call.operands[:2])
    stored = function.memref(call.operands[1])
    if stored is None or len(stored.sizes) != 2:
        return
    block = 1 if target <= function.arguments.keys() else ROWS
    for tile in tiles:
        if not source & function.roots(tile.result):
            continue
        for what, computed, size in zip(
            ("rows", "columns"), tile.real[::2], stored.sizes, strict=True
        ):
            if size is None or (computed is None and block > 1):
                continue
            if computed is not None and -(-computed // block) >= -(-size // block):
                continue
            known = "not all" if computed is None else computed
            message = (
                f"{size} {what} are stored, {known} computed: the size was taken from a load of "
                "part of the tile; fill the tile in memref form"
            )
            yield error("not-computed", tile.place, message)
