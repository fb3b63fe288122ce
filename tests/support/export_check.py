"""Whether the HIVM text of a kernel computes what the kernel does in the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp

from fusec.export.kept_workspaces import kept_workspaces, workspaces_of
from fusec.export.kernels import export_kernel
from fusec.export.live_ops import live_operations
from fusec.export.tensor_shapes import tensor_shapes
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
    inner = set(workspaces_of(func))
    live = live_operations(func)
    kept = kept_workspaces(func, live, tensor_shapes(live)) if inner else frozenset[object]()
    read = [
        array.view(np.int8) if array.dtype == np.bool_ else array
        for array, value in zip(exported, func.args, strict=True)
        if value not in inner or value in kept
    ]
    text = export_kernel(func).func_text
    run_hivm(text, read)
    for index, (found, wanted, value) in enumerate(
        zip(exported, simulated, func.args, strict=True)
    ):
        if value in inner:
            continue
        np.testing.assert_allclose(
            found.astype(np.float64),
            wanted.astype(np.float64),
            TOLERANCE,
            TOLERANCE,
            err_msg=f"argument {index} of\n{text}",
        )
