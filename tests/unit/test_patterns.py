"""Every named pattern fires on its own example, obeys its switch, and is right at every level.

The default run takes one pattern for each pair of an anchor and a word, and a seeded sample of
numbers; `-m campaign` takes all of them, on every element type.
"""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Iterable
from functools import cache
from itertools import cycle

import numpy as np
import pytest
from xdsl.ir import Block

from fusec.api import run_passes
from fusec.config.fusion_options import FusionOptions
from fusec.frontends.onnx.frontend import import_onnx
from fusec.fusion.dag import Dag
from fusec.fusion.decompose import decompose
from fusec.fusion.fuse import fuse_module
from fusec.fusion.patterns import all_patterns
from fusec.fusion.patterns.example_writer import ELEMENTS
from fusec.fusion.patterns.examples import example
from fusec.rewrite.driver import erase_dead_code
from fusec.semantics.dtypes import Array
from fusec.semantics.interpreter import Interpreter, main_function
from fusec.simulator.functional import Program
from fusec_dialects.graph import FusedOp
from graph_modules import random_inputs, relative_error
from networks import mixed_chain

PATTERNS = {n: p for n, p in all_patterns().items() if p.family != "automatic"}
FAMILIES = sorted({p.family for p in PATTERNS.values()})
FLOATS = ("f32", "f16", "bf16")
BY_DTYPE = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
TOLERANCE = {"f32": 2e-6, "f16": 4e-3, "bf16": 3e-2}
"""Largest error relative to the largest value, by the coarser of the types it went through."""

MARGIN = 1.2
"""How much more than operator by operator a kernel may be wrong."""

OTHER_STEP = {"f32": 0.02, "f16": 0.2, "bf16": 0.5}
"""Part of 8-bit results that may be one step off: what lay next to the middle of two steps."""


@cache
def chosen(count: int) -> tuple[str, ...]:
    """One pattern for each pair of a first word and another one, and `count` more."""
    names = list(PATTERNS)
    random.Random(0).shuffle(names)
    pairs = {
        (p.words[0], word): name for name in names for p in [PATTERNS[name]] for word in p.words
    }
    return tuple(sorted({*pairs.values(), *names[:count]}))


def sample(count: int) -> tuple[str, ...]:
    """Some patterns of each family."""
    found: list[str] = []
    for family in FAMILIES:
        names = [name for name, p in PATTERNS.items() if p.family == family]
        found += random.Random(1).sample(names, min(count, len(names)))
    return tuple(found)


def fused(name: str, element: str, disable: Collection[str] = ()) -> list[FusedOp]:
    """The groups that the library alone makes of an example."""
    module = example(PATTERNS[name], ELEMENTS[element])
    module.verify()
    options = FusionOptions("patterns", "kernels", disable=frozenset(disable))
    fuse_module(module, options)
    return [op for op in module.walk() if isinstance(op, FusedOp)]


def check_fires(name: str, element: str) -> None:
    """One group of that name, which holds every operator of the example in its order."""
    block = main_function(example(PATTERNS[name], ELEMENTS[element])).body.block
    decompose(block)
    erase_dead_code(block)
    (group,) = (g for g in fused(name, element) if g.pattern.data != "concat")
    assert group.pattern.data == name
    folded = {"rotary": "concat", "movement": ""}.get(PATTERNS[name].family, "pad")
    assert computed(group.body.block) == [op for op in computed(block) if op != folded]


def computed(block: Block) -> list[str]:
    """Names of the operators that a kernel does, in order."""
    dag = Dag.of(block)
    every = (dag.names[i] for i in range(len(dag.ops)) if dag.is_compute(i))
    return [name for name in every if name != "graph.yield"]


def check_off(name: str, element: str = "f32") -> None:
    assert name not in {g.pattern.data for g in fused(name, element, [name])}


def check_numbers(name: str, element: str) -> None:
    """Graph, fused and placed level against the example's own meaning in float64; fused and placed
    may miss it by as much as the operators one by one do."""
    module = example(PATTERNS[name], ELEMENTS[element])
    inputs = random_inputs(module)
    if PATTERNS[name].family == "optimiser":
        inputs = {key: np.abs(value) for key, value in inputs.items()}
    wanted = list(Interpreter(module, {}, oracle=True).run(inputs).values())
    own = errors(element, Interpreter(module, {}).run(inputs).values(), wanted)
    assert max(own) <= 2.0, f"{name}: {own} times the tolerance, operator by operator"
    run_passes(module, "graph-fuse{objective=kernels},graph-fold-weights,graph-assign-layout")
    run_passes(module, "graph-in-place")
    fused = errors(element, Interpreter(module, {}).run(inputs).values(), wanted)
    run_passes(module, "graph-outline,compile")
    weights = Interpreter(module, {}).derived_weights()
    found = errors(element, Program(module).run({**weights, **inputs}).values(), wanted)
    for level, values in (("fused", fused), ("placed", found)):
        for value, unfused in zip(values, own, strict=True):
            assert value <= max(1.0, MARGIN * unfused), f"{name}, {level}: {values} times tolerance"


def errors(element: str, found: Iterable[Array], wanted: list[Array]) -> list[float]:
    """The error of each result as a multiple of the tolerance."""
    multiples: list[float] = []
    for value, expected in zip(found, wanted, strict=True):
        if value.dtype.kind in "iu":
            steps = np.abs(value.astype(np.float64) - expected)
            most = 1 if element == "f32" else 2
            multiples.append(max(steps.max() / most, (steps > 0).mean() / OTHER_STEP[element]))
            continue
        coarsest = max(TOLERANCE[element], TOLERANCE[BY_DTYPE[value.dtype.name]])
        multiples.append(relative_error(value, expected) / coarsest)
    return multiples


def test_there_are_hundreds_and_each_is_documented() -> None:
    assert len(PATTERNS) >= 300
    assert {"attention", "embedding", "gated", "loss", "norm", "optimiser", "softmax"} <= set(
        FAMILIES
    )
    for name, pattern in PATTERNS.items():
        assert name == pattern.name == "_".join(pattern.words)
        assert pattern.benefit > 0 and pattern.doc and pattern.family


def test_more_names_cost_no_more_time() -> None:
    """Patterns are found from an operator's name, not one after the other."""
    names = random.Random(0).sample(sorted(PATTERNS), 400)

    def seconds(count: int) -> float:
        module, _ = import_onnx(mixed_chain(300))
        run_passes(module, "prepare")
        start = time.process_time()
        fuse_module(module, FusionOptions("patterns", only=frozenset(names[:count])))
        return time.process_time() - start

    few, many = (min(seconds(count) for _ in range(3)) for count in (40, 400))
    assert many < 2 * few + 0.2, (few, many)


@pytest.mark.parametrize("name", chosen(40)[::2])
def test_fires_on_its_example(name: str) -> None:
    check_fires(name, "f32")


@pytest.mark.parametrize("name", chosen(0)[::6])
def test_obeys_its_switch(name: str) -> None:
    check_off(name)


@pytest.mark.parametrize(("name", "element"), [*zip(sample(3), cycle(FLOATS), strict=False)])
def test_numbers(name: str, element: str) -> None:
    check_numbers(name, element)


@pytest.mark.campaign
@pytest.mark.parametrize("family", FAMILIES)
def test_every_pattern(family: str) -> None:
    for name in (p.name for p in PATTERNS.values() if p.family == family):
        check_off(name)
        for element in FLOATS:
            check_fires(name, element)
            check_numbers(name, element)
