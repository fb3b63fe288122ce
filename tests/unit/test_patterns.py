"""Every named pattern fires on its own example, obeys its switch, and its kernel is right.

The default run takes each word behind each anchor and a seeded sample; `-m campaign` takes all.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import cache

import numpy as np
import pytest
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, ModuleOp
from xdsl.ir import Operation

from fusec.api import run_passes
from fusec.fusion.patterns import Pattern, all_patterns
from fusec.fusion.patterns.examples import example
from fusec.semantics.interpreter import Interpreter
from fusec.semantics.types import numpy_type
from fusec.simulator.functional import Program
from fusec_dialects.graph import FusedOp, WeightOp
from fusec_dialects.graph.base import GraphOp, tensor_type
from graph_modules import random_inputs, relative_error

PATTERNS = {n: p for n, p in all_patterns().items() if p.family != "automatic"}
ELEMENTS = {"f32": Float32Type(), "f16": Float16Type(), "bf16": BFloat16Type()}
BY_DTYPE = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
TOLERANCE = {"f32": 2e-6, "f16": 4e-3, "bf16": 3e-2}
"""Largest error relative to the largest value, by the coarser of the types it went through."""


@cache
def chosen(count: int) -> tuple[str, ...]:
    """One pattern for each pair of an anchor and a word behind it, and `count` more."""
    names = list(PATTERNS)
    random.Random(0).shuffle(names)
    pairs = {
        (p.words[0], word): name for name in names for p in [PATTERNS[name]] for word in p.words
    }
    return tuple(sorted({*pairs.values(), *names[:count]}))


def groups(module: ModuleOp) -> list[FusedOp]:
    return [op for op in module.walk() if isinstance(op, FusedOp)]


def fused(pattern: Pattern, options: str = "") -> list[FusedOp]:
    module = example(pattern, ELEMENTS["f32"])
    module.verify()
    run_passes(module, f"graph-fuse{{strategy=patterns objective=kernels {options}}}")
    return groups(module)


def check_fires(name: str) -> None:
    """One group of that name, which holds every operator of the example in its order."""
    before = _computed(example(PATTERNS[name], ELEMENTS["f32"]).walk())
    (group,) = fused(PATTERNS[name])
    assert group.pattern.data == name
    assert _computed(group.body.block.ops) == before


def _computed(ops: Iterable[Operation]) -> list[str]:
    """Names of the operators that are a group's, in order."""
    return [op.op_name for op in ops if isinstance(op, GraphOp) and not _of_weights_alone(op)]


def _of_weights_alone(op: GraphOp) -> bool:
    return bool(op.operands) and all(isinstance(o.owner, WeightOp) for o in op.operands)


def check_off(name: str) -> None:
    assert name not in {g.pattern.data for g in fused(PATTERNS[name], f"disable={name}")}


def check_numbers(name: str, element: str) -> None:
    """The placed kernel against the example's own meaning in float64."""
    module = example(PATTERNS[name], ELEMENTS[element])
    rng = np.random.default_rng(1)
    weights = {op.weight.data: _array(rng, op) for op in module.walk() if isinstance(op, WeightOp)}
    inputs = random_inputs(module)
    (expected,) = Interpreter(module, weights, oracle=True).run(inputs).values()
    run_passes(module, "graph-fuse{objective=kernels},graph-fold-weights,graph-assign-layout")
    run_passes(module, "graph-outline,compile")
    derived = Interpreter(module, weights).derived_weights()
    (found,) = Program(module).run({**weights, **derived, **inputs}).values()
    coarsest = max(TOLERANCE[element], TOLERANCE[BY_DTYPE[found.dtype.name]])
    assert relative_error(found, expected) <= coarsest


def _array(rng: np.random.Generator, op: WeightOp) -> np.ndarray:
    type_ = tensor_type(op.results[0])
    shape = type_.get_shape()
    fan_in = max(int(np.prod(shape[1:])), 1) if len(shape) > 1 else 4
    return (rng.standard_normal(shape) / fan_in**0.5).astype(numpy_type(type_.element_type))


def test_there_are_hundreds_and_each_is_documented() -> None:
    assert len(PATTERNS) >= 300
    for name, pattern in PATTERNS.items():
        assert name == pattern.name == "_".join(pattern.words)
        assert pattern.benefit > 0 and pattern.doc and pattern.family


@pytest.mark.parametrize("name", chosen(60))
def test_fires_on_its_example(name: str) -> None:
    check_fires(name)


@pytest.mark.parametrize("name", chosen(0)[::4])
def test_obeys_its_switch(name: str) -> None:
    check_off(name)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("name", chosen(0)[::5])
def test_numbers(name: str, element: str) -> None:
    check_numbers(name, element)


@pytest.mark.campaign
@pytest.mark.parametrize("family", sorted({p.family for p in PATTERNS.values()}))
def test_every_pattern(family: str) -> None:
    for name in (p.name for p in PATTERNS.values() if p.family == family):
        check_fires(name)
        check_off(name)
        check_numbers(name, "f32")
