"""npu-sync on random kernels and on those of its FileCheck tests, judged by the simulator's witness
(races, balance, numbers of events), by its adversarial executor and by `flag_reuse`."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, memref, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import PassFailedException

from flag_reuse import early_sets
from fusec.npu.module import blocks_of, kernels
from fusec.npu.place import NpuPlacePass
from fusec.npu.sync import NpuSyncPass
from fusec.simulator.adversary import run_adversary
from fusec.simulator.functional import run_kernel
from fusec.simulator.witness import witness
from fusec_dialects.npu import Npu
from fusec_dialects.npu.control import BarrierOp, FlagOp, SyncBlockOp
from random_kernels import RandomKernel

CORES = ("vector", "cube", "mixed")
FOLDER = Path(__file__).parents[1] / "filecheck/npu/npu-sync"
EXAMPLES = sorted(path for path in FOLDER.glob("*.mlir") if path.stem != "invalid")


@pytest.fixture(scope="module")
def context() -> Context:
    context = Context()
    for dialect in (builtin.Builtin, func.Func, arith.Arith, scf.Scf, memref.MemRef, Npu):
        context.load_dialect(dialect)
    return context


def synchronised(context: Context, text: str) -> ModuleOp:
    module = Parser(context, text).parse_module()
    NpuPlacePass().apply(context, module)
    NpuSyncPass().apply(context, module)
    return module


def faults(kernel: FuncOp, blocks: int) -> list[str]:
    """What is wrong with flags and barriers. Random kernels read what nothing has written and let
    blocks touch the same bytes; that is not for flags to mend."""
    found = witness(kernel, blocks=blocks, max_instructions=None)
    kept = [str(v) for v in found if v.kind in ("race", "flag", "event")]
    return [text for text in kept if "of another block" not in text] + early_sets(kernel, blocks)


def whole_flags(kernel: FuncOp) -> dict[tuple[object, ...], list[Operation]]:
    """The sets and waits of each event or cross-core flag that a set names first."""
    found: dict[tuple[object, ...], list[Operation]] = {}
    for op in kernel.walk():
        if isinstance(op, FlagOp):
            key = (op.source.data, op.to.data, op.id.value.data)
        elif isinstance(op, SyncBlockOp):
            key = ("block", op.flag.value.data)
        else:
            continue
        found.setdefault(key, []).append(op)
    return found


def superfluous(module: ModuleOp, index: int, blocks: int) -> list[tuple[object, ...]]:
    """The flags of a kernel without which nothing is wrong."""
    found: list[tuple[object, ...]] = []
    for key in whole_flags(list(kernels(module))[index]):
        kernel = list(kernels(module.clone()))[index]
        for op in whole_flags(kernel)[key]:
            op.detach()
        if not faults(kernel, blocks):
            found.append(key)
    return found


def random_kernel(seed: int, core: str, size: int, *, place: bool, tidy: bool) -> RandomKernel:
    random = Random(seed)
    blocks = random.choice((1, 2, 3) if tidy else (1, 2, 3, 9))
    known = tidy or random.random() < 0.6
    count = random.randint(3, size)
    return RandomKernel(random, core, place, blocks, count, known, tidy)


@pytest.mark.parametrize("place", (True, False))
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("seed", range(16))
def test_nothing_races(context: Context, core: str, place: bool, seed: int) -> None:
    made = random_kernel(seed, core, 20, place=place, tidy=False)
    (kernel,) = kernels(synchronised(context, made.text()))
    assert faults(kernel, made.blocks) == []


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("seed", range(3))
def test_nothing_races_where_events_run_out(context: Context, core: str, seed: int) -> None:
    made = random_kernel(seed, core, 20, place=False, tidy=False)
    made.size = 60
    (kernel,) = kernels(synchronised(context, made.text()))
    assert faults(kernel, made.blocks) == []


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("seed", range(16))
def test_no_flag_is_superfluous(context: Context, core: str, seed: int) -> None:
    made = random_kernel(seed, core, 14, place=True, tidy=True)
    module = synchronised(context, made.text())
    assert superfluous(module, 0, made.blocks) == []


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("seed", range(5))
def test_every_order_gives_the_same(context: Context, core: str, seed: int) -> None:
    made = random_kernel(100 + seed, core, 12, place=True, tidy=seed % 2 == 0)
    made.blocks = 1
    (kernel,) = kernels(synchronised(context, made.text()))
    random = np.random.default_rng(seed)
    given = [random.integers(-3, 4, (64, 16)).astype(np.float32) for _ in range(3)]
    arrays = [*given, np.zeros((64, 16), np.int64)]
    expected = [array.copy() for array in arrays]
    run_kernel(kernel, expected, blocks=1)
    for order in range(2):
        got = [array.copy() for array in arrays]
        run_adversary(kernel, got, order, blocks=1)
        for a, b in zip(got, expected, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(context: Context, path: Path) -> None:
    module = synchronised(context, path.read_text())
    for index, kernel in enumerate(kernels(module)):
        blocks = blocks_of(kernel) or 5
        name = kernel.sym_name.data
        assert faults(kernel, blocks) == [], name
        assert superfluous(module, index, blocks) == [], name


def test_barriers_of_a_chain_are_needed(context: Context) -> None:
    module = synchronised(context, (FOLDER / "chain.mlir").read_text())
    for index, kernel in enumerate(kernels(module)):
        for number in range(sum(isinstance(op, BarrierOp) for op in kernel.walk())):
            other = list(kernels(module.clone()))[index]
            [op for op in other.walk() if isinstance(op, BarrierOp)][number].detach()
            assert faults(other, 1) != []


def test_synchronises_only_once(context: Context) -> None:
    module = synchronised(context, random_kernel(0, "vector", 10, place=True, tidy=True).text())
    with pytest.raises(PassFailedException, match="synchronisation already"):
        NpuSyncPass().apply(context, module)


def test_same_input_same_output(context: Context) -> None:
    text = random_kernel(7, "mixed", 30, place=False, tidy=False).text()
    assert str(synchronised(context, text)) == str(synchronised(context, text))
