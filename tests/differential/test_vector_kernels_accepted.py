"""Huawei's compiler takes the kernels of the vector cores as they are exported, and links them."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects.func import FuncOp

from fusec.export.ascend_check import check_kernels
from fusec.export.bishengir import CompilerMissing, find_installation
from fusec.export.exported_kernel import ExportedKernel
from fusec.export.kernels import export_kernel
from fusec.npu.multi_buffer import NpuMultiBufferPass
from fusec.schedule.types import Refusal
from kernel_check import emitted_module, kernel, scheduled
from vector_regions import Shape, random_integers, random_region, tensor

TARGET = "ascend910b3"


def found() -> bool:
    """Whether the compiler is installed."""
    try:
        find_installation()
    except CompilerMissing:
        return False
    return True


pytestmark = pytest.mark.skipif(not found(), reason="needs the extra `ascend`")


def exported(text: str, name: str) -> ExportedKernel:
    """The kernel with two copies of its moving buffers, under a name of its own."""
    op = kernel(text.replace("@k", f"@{name}"))
    assert not isinstance(scheduled(op, TARGET), Refusal)
    module = emitted_module(op, TARGET)
    NpuMultiBufferPass().apply(Context(), module)
    return next(export_kernel(func) for func in module.ops if isinstance(func, FuncOp))


def all_accepted(kernels: list[ExportedKernel]) -> None:
    for verdict in check_kernels(kernels, TARGET):
        assert verdict.verdict.accepted, (verdict.kernel.text, verdict.verdict.reason)


@pytest.mark.parametrize("first", [0, 16])
def test_random_regions(first: int) -> None:
    seeds = range(first, first + 16)
    all_accepted([exported(random_region(seed), f"r{seed}") for seed in seeds])


def test_integers_and_casts() -> None:
    all_accepted([exported(random_integers(seed), f"i{seed}") for seed in range(12)])


def one(name: str, inputs: list[Shape], result: Shape, attrs: str = "", dtype: str = "f32") -> str:
    """A kernel of one operator."""
    arguments = ", ".join(f"%a{i}: {tensor(s, dtype)}" for i, s in enumerate(inputs))
    operands = ", ".join(f"%a{i}" for i in range(len(inputs)))
    types = ", ".join(tensor(s, dtype) for s in inputs)
    types = f"({types})" if len(inputs) > 1 else types
    y = tensor(result, dtype)
    return (
        f'graph.kernel @k "k"({arguments}) -> {y} {{\n'
        f"  %0 = graph.{name} {operands} {attrs} : {types} -> {y}\n  graph.yield %0 : {y}\n}}\n"
    )


POOL = (
    "{{kernel_shape = [3, 3], strides = [{s}, {s}], pads = [1, 1, 1, 1], dilations = [1, 1], "
    'layout = "NHWC"}}'
)


def test_kernels_that_fill_ub() -> None:
    """Scratch is counted as the compiler counts it: no tile overflows."""
    row: Shape = (1001,)
    all_accepted(
        [
            exported(one("softmax", [(4096, 1001)], (4096, 1001)), "rows"),
            exported(one("softmax", [(4096, 1001)], (4096, 1001), "{axis = 0}"), "columns"),
            exported(one("softmax", [(64, 50000)], (64, 50000)), "swept"),
            exported(
                one("layer_normalization", [(999, 1001), row, row], (999, 1001), "", "f16"), "norm"
            ),
            exported(one("gelu", [(1 << 20,)], (1 << 20,), "", "bf16"), "chain"),
        ]
    )


def test_movement_and_windows() -> None:
    nhwc: Shape = (1, 56, 56, 64)
    all_accepted(
        [
            exported(one("transpose", [(1000, 2000)], (2000, 1000), "{perm = [1, 0]}"), "turn"),
            exported(
                one("transpose", [(1, 3, 224, 224)], (1, 224, 224, 3), "{perm = [0, 2, 3, 1]}"),
                "woven",
            ),
            exported(
                one("transpose", [(12, 128, 64)], (128, 12, 64), "{perm = [1, 0, 2]}", "i64"), "dma"
            ),
            exported(one("pad", [(9, 33)], (12, 40), "{pads = [1, 2, 2, 5], value = 1.0}"), "pad"),
            exported(one("concat", [(9, 33), (9, 5)], (9, 38), "{axis = 1}", "i8"), "concat"),
            exported(one("max_pool", [nhwc], (1, 28, 28, 64), POOL.format(s=2), "f16"), "largest"),
            exported(one("average_pool", [nhwc], nhwc, POOL.format(s=1), "f16"), "mean"),
        ]
    )
