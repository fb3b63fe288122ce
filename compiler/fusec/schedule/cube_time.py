"""What the pipes of the cube core have to do for a tiling of a contraction.

In: problem and schedule. Out: `Work`: loads, copies to l0, products and stores of one core.
"""

from __future__ import annotations

from math import prod

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.contraction import A, B
from fusec.schedule.cube_problem import TILE, TILES, TURNED, CubeProblem
from fusec.schedule.cube_schedule import CubeSchedule, nz_bytes, tile_counts
from fusec.schedule.work import Work

LOAD = "gm->l1:nd2nz"
GM_LINE = 512
"""Bytes that an aligned burst starts on."""


def cube_work(problem: CubeProblem, schedule: CubeSchedule, target: Target) -> Work:
    """Cycles of the core that has the most tiles: the slowest pipe, its filling and draining.

    Loads and products of different steps overlap where buffers rotate; fixpipe overlaps the next
    tile where two accumulators fit l0c.
    """
    axes, s = problem.axes, schedule
    size, out = DTYPE_BYTES[problem.dtype], DTYPE_BYTES[problem.out_dtype]
    m, n = s.tile_m, s.n
    outer = prod(axis.size for axis in axes.outer_k)
    steps = outer * -(-axes.k.size // s.k)
    tiles = prod(tile_counts(problem, s))
    waves = -(-tiles // s.blocks)

    a_load = _a_load(problem, s, target)
    b_load = _b_load(problem, s, target)
    l0_steps = -(-s.k // s.l0_k)
    l0_k = min(s.l0_k, s.k)
    mte1 = l0_steps * (
        target.transfer_cost("l1->l0a", m * l0_k * size)
        + target.transfer_cost("l1->l0b", n * l0_k * size)
    )
    mac = l0_steps * target.mmad_cost(m, l0_k, n, problem.dtype)
    mte2_extra = mac_extra = 0.0
    for addend in problem.addends:
        rows, length = {TILE: (m, n), TURNED: (n, m)}.get(addend.form, (1, n))
        mte2_extra += target.transfer_cost(
            LOAD, rows * length * size, bursts=rows, cores=s.blocks, aligned=axes.n.size % 256 == 0
        )
        mac_extra += target.mmad_cost(m, n if addend.form in TILES else 1, n, problem.dtype)
    fix = target.transfer_cost(
        "l0c->gm", m * n * out, bursts=m, cores=s.blocks, aligned=_aligned(axes.n.size, out)
    )
    mte2 = steps * (a_load + b_load) + mte2_extra
    cube = steps * mac + mac_extra
    move = steps * mte1
    first = a_load + b_load + target.transfer(LOAD).latency + mte1 / l0_steps
    l0_double = 2 * nz_bytes(max(m, n), l0_k, size) <= min(map(target.capacity, ("l0a", "l0b")))
    inner = max(cube, move) if s.copies > 1 and l0_double else cube + move
    overlapped = max(mte2, inner) if s.copies > 1 else mte2 + inner
    double = 2 * m * n * 4 <= target.capacity("l0c") and waves > 1
    tile = max(overlapped, fix) if double else overlapped + fix
    cycles = waves * tile + first + (fix if double else 0.0)
    pipes = {"mte2": mte2, "mte1": move, "m": cube, "fix": fix}
    return Work(
        kind="cube",
        cycles=cycles,
        gm_bytes=tiles * (steps * s.k * (m + n) * size + m * n * out),
        hbm_bytes=problem.operand_bytes,
        pipes={pipe: waves * busy for pipe, busy in pipes.items()},
    )


def _a_load(problem: CubeProblem, s: CubeSchedule, target: Target) -> float:
    axes = problem.axes
    size = DTYPE_BYTES[problem.dtype]
    if axes.a_transposed:
        aligned = _aligned(axes.k.strides[A], size)
        return target.transfer_cost(
            LOAD, s.m * s.k * size, bursts=s.k, cores=s.blocks, aligned=aligned
        )
    aligned = _aligned(axes.col.strides[A], size)
    row = target.transfer_cost(LOAD, s.m * s.k * size, bursts=s.m, cores=s.blocks, aligned=aligned)
    fill = s.tile_m * s.k * size / target.transfer("gm->l1").rate if axes.windows else 0.0
    return s.rows * row + fill


def _b_load(problem: CubeProblem, s: CubeSchedule, target: Target) -> float:
    axes = problem.axes
    size = DTYPE_BYTES[problem.dtype]
    rows, stride = (s.n, axes.n) if axes.b_transposed else (s.k, axes.k)
    return target.transfer_cost(
        LOAD,
        s.n * s.k * size,
        bursts=rows,
        cores=s.blocks,
        aligned=_aligned(stride.strides[B], size),
    )


def _aligned(stride: int, size: int) -> bool:
    return stride * size % GM_LINE == 0
