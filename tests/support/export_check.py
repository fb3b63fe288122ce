"""Whether the HIVM text of a kernel computes what the kernel does in the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp

from fusec.export.kernels import export_kernel
from fusec.export.mixed_text import WORKSPACE
from fusec.simulator.functional import run_kernel
from fusec_dialects.npu.attrs import memref_type
from hivm_interpreter import DTYPES, run_hivm

Array = np.ndarray[Any, Any]

TOLERANCE = 1e-3
"""Absolute and relative: sums in another order, and f16 once more rounded."""


def arguments_of(func: FuncOp, seed: int) -> list[Array]:
    """Random arrays for the arguments of a kernel: floats in (-1, 1), small integers, coins."""
    rng = np.random.default_rng(seed)
    found: list[Array] = []
    for value in func.args:
        type_ = memref_type(value.type)
        assert type_ is not None
        shape, dtype = type_.get_shape(), DTYPES[str(type_.element_type)]
        if np.dtype(dtype).kind == "b":
            array = rng.random(shape) < 0.5
        elif np.dtype(dtype).kind == "i":
            array = rng.integers(-5, 6, shape)
        else:
            array = rng.uniform(-1.0, 1.0, shape)
        found.append(np.asarray(array).astype(dtype))
    return found


def check_numbers(func: FuncOp, seed: int = 0) -> None:
    """Runs a kernel and its text on the same arguments; AssertionError where they differ."""
    simulated = arguments_of(func, seed)
    exported = [array.copy() for array in simulated]
    run_kernel(func, simulated)
    marks = func.arg_attrs or [None] * len(exported)
    read = [
        array.view(np.int8) if array.dtype == np.bool_ else array
        for array, mark in zip(exported, marks, strict=True)
        if mark is None or WORKSPACE not in mark.data
    ]
    text = export_kernel(func).func_text
    run_hivm(text, read)
    for index, (found, wanted, mark) in enumerate(zip(exported, simulated, marks, strict=True)):
        if mark is not None and WORKSPACE in mark.data:
            continue
        np.testing.assert_allclose(
            found.astype(np.float64),
            wanted.astype(np.float64),
            TOLERANCE,
            TOLERANCE,
            err_msg=f"argument {index} of\n{text}",
        )
