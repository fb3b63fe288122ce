"""The judge of the witness: one result in every order exactly where the witness finds nothing."""

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects import func

from fusec.simulator.adversary import run_adversary
from fusec.simulator.decode import decode_kernel
from fusec.simulator.errors import SimulationError
from fusec.simulator.functional import run_kernel
from fusec.simulator.numerics import DTYPES
from fusec.simulator.witness import witness
from simulator_kernels import KERNELS, MATMUL, SOFTMAX, kernel, replaced, without

Array = npt.NDArray[Any]
SEEDS = 6


def arrays_of(function: func.FuncOp) -> list[Array]:
    rng = np.random.default_rng(3)
    return [
        rng.integers(0, 50, a.shape)
        if a.dtype == "i64"
        else rng.standard_normal(a.shape).astype(DTYPES[a.dtype])
        for a in decode_kernel(function).arguments
    ]


def differing_seeds(function: func.FuncOp, want: list[Array], given: list[Array]) -> int:
    """How many of the seeds give another result, or never end."""
    count = 0
    for seed in range(SEEDS):
        got = [a.copy() for a in given]
        try:
            run_adversary(function, got, seed)
        except SimulationError:
            count += 1
            continue
        same = (np.array_equal(g, w, equal_nan=True) for g, w in zip(got, want, strict=True))
        count += not all(same)
    return count


@pytest.mark.parametrize("name", KERNELS)
def test_every_order_gives_the_same_result(name: str) -> None:
    function = kernel(KERNELS[name])
    given = arrays_of(function)
    want = [a.copy() for a in given]
    run_kernel(function, want)
    assert differing_seeds(function, want, given) == 0


EVENTS = [
    (name, event)
    for name, text in KERNELS.items()
    for event in sorted(set(re.findall(r"_(?:set|wait|flag) (<.*?(?:id|flag) \d+)", text)))
]


@pytest.mark.parametrize(("name", "event"), EVENTS)
def test_without_a_flag_some_order_gives_another(name: str, event: str) -> None:
    good = kernel(KERNELS[name])
    given = arrays_of(good)
    want = [a.copy() for a in given]
    run_kernel(good, want)
    bad = kernel(without(KERNELS[name], event))
    assert differing_seeds(bad, want, given) > 0
    assert witness(bad)


def test_a_redundant_flag_is_no_race_for_either() -> None:
    flag = "npu.set_flag <mte2> to <m> id 0\nnpu.wait_flag <mte2> to <m> id 0\n"
    line = "  npu.set_flag <fix> to <m> id 0\n  scf.for"
    function = kernel(replaced(MATMUL, line, flag + line))
    given = arrays_of(function)
    want = [a.copy() for a in given]
    run_kernel(function, want)
    assert differing_seeds(function, want, given) == 0
    assert not witness(function)


def test_a_deadlock_is_told() -> None:
    text = replaced(SOFTMAX, "npu.wait_flag <v> to <mte3> id 0", "npu.wait_flag <v> to <mte3> id 1")
    function = kernel(text)
    with pytest.raises(SimulationError, match="waits for ever"):
        run_adversary(function, arrays_of(function), 0)
