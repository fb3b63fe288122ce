"""The constant operands with which the cube core adds: rows of ones and identity matrices.

ones[1, m] times a row adds the row to every line of a tile, a column times ones[1, n] adds the
column; a tile times the identity adds the tile.
"""

from __future__ import annotations

import numpy as np

from fusec.lowering.emitted import DATA, KernelConstant
from fusec.schedule.cube_problem import BIAS, ROW, TILES, Addend, CubeProblem
from fusec.schedule.cube_schedule import CubeSchedule
from fusec.semantics import np_dtype
from fusec.semantics.types import NUMPY_NAMES


def constants_of(problem: CubeProblem, schedule: CubeSchedule) -> list[KernelConstant]:
    """The constants of a kernel, each once, in the order of its arguments."""
    found: dict[str, KernelConstant] = {}
    for addend in problem.addends:
        if addend.form != BIAS:
            constant = constant_of(addend, problem, schedule)
            found[constant.name] = constant
    return list(found.values())


def constant_of(addend: Addend, problem: CubeProblem, schedule: CubeSchedule) -> KernelConstant:
    """The constant that an addend is multiplied with; the addend's scale is in it."""
    dtype, scale = problem.dtype, addend.scale
    size = schedule.tile_m if addend.form == ROW else schedule.n
    if addend.form in TILES and scale == 1.0:
        return KernelConstant.identity(size, dtype)
    what = "identity" if addend.form in TILES else "ones"
    times = "" if scale == 1.0 else f"_times_{scale!r}"
    array = np.eye(size) if addend.form in TILES else np.ones((1, size))
    data = (array * scale).astype(np_dtype(NUMPY_NAMES[dtype]))
    return KernelConstant(f"constant.{what}{times}_{size}_{dtype}", dtype, data.shape, DATA, data)
