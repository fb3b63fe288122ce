"""Exported kernels: the text computes what the kernel does, and Huawei's compiler takes it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import onnx
import pytest
from xdsl.context import Context
from xdsl.dialects.func import FuncOp

import fusec
from ascend_inputs import needs_compiler
from contraction_regions import random_contraction
from export_check import check_numbers
from fusec.export.ascend_check import check_kernels
from fusec.export.exported_kernel import ExportedKernel
from fusec.export.kernels import export_kernel, export_kernels
from fusec.npu.module import kernels
from fusec.npu.multi_buffer import NpuMultiBufferPass
from fusec.schedule.types import Refusal
from kernel_check import emitted_module, kernel, scheduled
from npu_ir import parse
from vector_regions import random_integers, random_region

TARGET = "ascend910b3"
ROOT = Path(__file__).parents[1]
LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"
BY_HAND = [
    path
    for path in sorted((ROOT / "filecheck/export/ascend-npu-ir").glob("*.mlir"))
    if path.stem not in ("booleans", "reasons", "no_kernels", "placed", "views")
]
CONTRACTIONS = range(48)


@lru_cache(maxsize=128)
def contraction(seed: int, target: str) -> FuncOp | None:
    """The function of a random region, None where it is refused."""
    op = kernel(random_contraction(seed))
    if isinstance(scheduled(op, target), Refusal):
        return None
    module = emitted_module(op, target)
    NpuMultiBufferPass().apply(Context(), module)
    return next(iter(kernels(module)))


def renamed(exported: ExportedKernel, name: str) -> ExportedKernel:
    text = exported.func_text.replace(f"@{exported.name}(", f"@{name}(")
    return replace(exported, name=name, func_text=text)


def all_accepted(exported: list[ExportedKernel]) -> None:
    for verdict in check_kernels(exported, TARGET):
        assert verdict.verdict.accepted, (verdict.kernel.text, verdict.verdict.reason)


@pytest.mark.parametrize("path", BY_HAND, ids=lambda path: path.stem)
def test_numbers_by_hand(path: Path) -> None:
    for func in kernels(parse(path.read_text())):
        check_numbers(func)


@pytest.mark.parametrize("target", [TARGET, "tiny"])
@pytest.mark.parametrize("first", range(0, len(CONTRACTIONS), 12))
def test_numbers_of_contractions(first: int, target: str) -> None:
    """On the small chip, tiles and chunks have tails of all kinds."""
    for seed in CONTRACTIONS[first : first + 12]:
        func = contraction(seed, target)
        if func is not None:
            check_numbers(func, seed)


@pytest.mark.parametrize("make", [random_region, random_integers])
def test_numbers_of_vector_regions(make: object) -> None:
    for seed in range(24):
        text = random_region(seed) if make is random_region else random_integers(seed)
        op = kernel(text)
        assert not isinstance(scheduled(op, TARGET), Refusal)
        for func in kernels(emitted_module(op, TARGET)):
            check_numbers(func, seed)


def test_wrong_text_is_noticed() -> None:
    """The judge of these tests: one operator less, and one view moved."""
    from export_check import arguments_of
    from hivm_interpreter import run_hivm

    path = ROOT / "filecheck/export/ascend-npu-ir/vector_chain.mlir"
    func = next(iter(kernels(parse(path.read_text()))))
    text = export_kernel(func).func_text
    arrays = [[a.copy() for a in arguments_of(func, 0)] for _ in range(2)]
    run_hivm(text, arrays[0])
    run_hivm("\n".join(line for line in text.splitlines() if "vexp" not in line), arrays[1])
    assert not (arrays[0][1] == arrays[1][1]).all()
    with pytest.raises(AssertionError, match="outside"):
        run_hivm(text.replace("%in[%o, 0]", "%in[%o, 1]"), arrays[1])


@needs_compiler
def test_kernels_by_hand_are_accepted() -> None:
    exported = [
        export_kernel(func) for path in BY_HAND for func in kernels(parse(path.read_text()))
    ]
    assert len(exported) > len(BY_HAND)
    all_accepted(exported)


@needs_compiler
def test_contractions_are_accepted() -> None:
    funcs = {seed: contraction(seed, TARGET) for seed in CONTRACTIONS}
    exported = [
        renamed(export_kernel(func), f"k{seed}") for seed, func in funcs.items() if func is not None
    ]
    assert len(exported) > len(CONTRACTIONS) * 3 // 4
    all_accepted(exported)


@needs_compiler
@pytest.mark.parametrize(
    "model", [ROOT.parent / "examples/models/bert_base_s128.onnx", LIGHT / "light_resnet50.onnx"]
)
def test_models_are_accepted(model: Path) -> None:
    """Every kernel, both cores of the mixed ones at work."""
    compiled = fusec.compile(model, objective="kernels")
    exported, refused = export_kernels(compiled.unplaced)
    assert not refused
    verdicts = check_kernels(exported, TARGET)
    bad = {v.kernel.name: v.verdict.reason for v in verdicts if not v.verdict.accepted}
    warned = {v.kernel.name: v.verdict.findings for v in verdicts if v.verdict.findings}
    assert not bad
    assert not warned
