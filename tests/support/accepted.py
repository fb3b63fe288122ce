"""Whether Huawei's compiler takes kernels that carry their schedules."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from xdsl.dialects.func import FuncOp

from fusec.export.ascend_check import check_kernels
from fusec.export.bishengir import CompilerMissing, find_installation
from fusec.export.kernels import export_kernel
from fusec_dialects.graph import KernelOp
from kernel_check import emitted_module

CHIP = "ascend910b3"


def check_accepted(ops: Iterable[KernelOp]) -> None:
    """AssertionError with the reason where one is not; skips the test without the compiler."""
    try:
        find_installation()
    except CompilerMissing:
        pytest.skip("needs the extra `ascend`")
    modules = [emitted_module(op, CHIP) for op in ops]
    functions = [func for module in modules for func in module.ops if isinstance(func, FuncOp)]
    for verdict in check_kernels([export_kernel(func) for func in functions], CHIP):
        assert verdict.verdict.accepted, (verdict.kernel.text, verdict.verdict.reason)
