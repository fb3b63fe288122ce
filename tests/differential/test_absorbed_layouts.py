"""Convolutions that read or write channels first themselves: through all passes, in numbers.

A picture comes channels first and a result leaves so, as ONNX has it; what the kernels do about it
is decided by `graph-assign-layout`. Numbers are those of the graph level on the same weights.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from fusec.api import run_passes
from fusec.semantics.interpreter import Interpreter
from fusec.simulator.functional import run_host
from fusec_dialects.graph import KernelOp, WeightOp
from fusec_dialects.graph.base import tensor_type
from graph_modules import apply, function, main_of, random_array

Array = np.ndarray[Any, Any]

TOLERANCE = {"f32": 2e-5, "f16": 4e-3}


@dataclass(frozen=True)
class Case:
    """One convolution; `pads` are all begins, then all ends."""

    x: tuple[int, ...]
    w: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    dilations: tuple[int, ...] = (1, 1)
    after: str = "relu"
    dtype: str = "f32"

    @property
    def y(self) -> tuple[int, ...]:
        n = len(self.strides)
        sizes = (
            (self.x[2 + i] + self.pads[i] + self.pads[n + i] - self.dilations[i] * (k - 1) - 1)
            // self.strides[i]
            + 1
            for i, k in enumerate(self.w[2:])
        )
        return (self.x[0], self.w[0], *sizes)

    def module(self, *, kept: bool) -> ModuleOp:
        """The network. Its result leaves channels first where `kept`, else last."""

        def tensor(*shape: int) -> str:
            return f"tensor<{''.join(f'{n}x' for n in shape)}{self.dtype}>"

        x, w, b, y = tensor(*self.x), tensor(*self.w), tensor(self.w[0]), tensor(*self.y)
        last = tensor(self.y[0], *self.y[2:], self.y[1])
        attrs = (
            f"strides = {[*self.strides]}, pads = {[*self.pads]}, dilations = {[*self.dilations]}"
        )
        lines = [
            f'%w = graph.weight "w" : {w}',
            f'%b = graph.weight "b" : {b}',
            f"%0 = graph.conv %x, %w, %b {{{attrs}}} : ({x}, {w}, {b}) -> {y}",
        ]
        if self.after == "residual":
            lines += [
                f"%1 = graph.add %0, %0 : ({y}, {y}) -> {y}",
                f"%2 = graph.relu %1 : {y} -> {y}",
            ]
        else:
            scale = " {min = 0.0, max = 0.5}" if self.after == "clip" else ""
            lines.append(f"%2 = graph.{self.after} %0{scale} : {y} -> {y}")
        if not kept:
            perm = [0, *range(2, 2 + len(self.strides)), 1]
            lines.append(f"%3 = graph.transpose %2 {{perm = {perm}}} : {y} -> {last}")
        result, type_ = ("%2", y) if kept else ("%3", last)
        body = "\n".join([*lines, f"func.return {result} : {type_}"])
        return function(f'%x: {x} {{graph.name = "x"}}', f'({type_} {{graph.name = "y"}})', body)


def error(case: Case, *, kept: bool) -> tuple[list[str], float]:
    """The names of the kernels, and how far the placed program is from the graph."""
    return error_of(case.module(kept=kept), {"w": float(np.prod(case.w[1:]) ** -0.5)})


def error_of(module: ModuleOp, scales: Mapping[str, float]) -> tuple[list[str], float]:
    """As `error`, of a module; `scales` of weights that are not of size 1."""
    rng = np.random.default_rng(0)
    weights: dict[str, Array] = {}
    for op in module.walk():
        if isinstance(op, WeightOp):
            array = random_array(rng, tensor_type(op.y))
            scale = scales.get(op.weight.data, 1.0)
            weights[op.weight.data] = (array * scale).astype(array.dtype)
    x = random_array(rng, tensor_type(main_of(module).body.block.args[0]))
    expected = Interpreter(module.clone(), weights).run({"x": x})["y"]
    apply(module, "graph-infer-shapes", "graph-fuse{objective=kernels}", "graph-fold-weights")
    apply(module, "graph-assign-layout", "graph-outline")
    names = [op.pattern.data for op in module.ops if isinstance(op, KernelOp)]
    run_passes(module, "compile")
    derived = Interpreter(module, weights).derived_weights()
    found = run_host(module, {"x": x, **weights, **derived})["y"]
    wide = expected.astype(np.float64)
    return names, float(np.abs(found - wide).max() / max(np.abs(wide).max(), 1e-30))


STEMS = {
    "resnet": Case((1, 3, 32, 48), (16, 3, 7, 7), (2, 2), (3, 3, 3, 3)),
    "mobilenet, padded at the end": Case(
        (2, 3, 32, 32), (8, 3, 3, 3), (2, 2), (0, 0, 1, 1), after="clip"
    ),
    "stride 1": Case((1, 1, 24, 24), (24, 1, 3, 3), (1, 1), (1, 1, 1, 1)),
    "dilated": Case((1, 3, 30, 32), (16, 3, 3, 3), (1, 1), (2, 2, 2, 2), (2, 2)),
    "other strides": Case((1, 4, 20, 36), (17, 4, 5, 3), (3, 3), (2, 1, 1, 1)),
    "more padding than a segment": Case((1, 2, 16, 16), (16, 2, 3, 13), (1, 1), (1, 6, 1, 6)),
    "patches": Case((1, 3, 33, 36), (24, 3, 4, 4), (4, 4), (0, 0, 0, 0)),
    "one axis": Case((2, 3, 64), (16, 3, 5), (2,), (2, 2), (1,)),
    "three axes": Case((1, 2, 6, 8, 16), (8, 2, 3, 3, 3), (1, 2, 2), (1,) * 6, (1, 1, 1)),
    "half": Case((1, 3, 32, 32), (16, 3, 3, 3), (2, 2), (1, 1, 1, 1), dtype="f16"),
    "sigmoid": Case((1, 3, 32, 32), (16, 3, 3, 3), (2, 2), (1, 1, 1, 1), after="sigmoid"),
}


@pytest.mark.parametrize("name", STEMS)
def test_stem_reads_channels_first(name: str) -> None:
    """No kernel is left that only changes the layout of the picture."""
    names, found = error(STEMS[name], kept=False)
    assert not [n for n in names if n.startswith("transpose")]
    assert found < TOLERANCE[STEMS[name].dtype]


def test_stem_of_odd_rows_keeps_its_transposition() -> None:
    """33 elements with padding on both sides have no whole segments."""
    names, found = error(Case((1, 3, 33, 33), (8, 3, 3, 3), (2, 2), (1,) * 4), kept=False)
    assert "transpose_pad" in names
    assert found < TOLERANCE["f32"]


LAST = {
    "relu": Case((1, 40, 7, 7), (72, 40, 1, 1), (1, 1), (0,) * 4),
    "clip": Case((2, 40, 7, 9), (72, 40, 1, 1), (1, 1), (0,) * 4, after="clip"),
    "gelu": Case((1, 64, 14, 14), (33, 64, 1, 1), (1, 1), (0,) * 4, after="gelu"),
    "stride 2": Case((1, 64, 14, 14), (33, 64, 1, 1), (2, 2), (0,) * 4),
    "kernel 3": Case((1, 20, 14, 14), (33, 20, 3, 3), (1, 1), (0,) * 4),
    "half": Case((1, 40, 7, 7), (72, 40, 1, 1), (1, 1), (0,) * 4, dtype="f16"),
}


@pytest.mark.parametrize("name", LAST)
def test_last_writes_channels_first(name: str) -> None:
    """What only stands behind the convolution to transpose its result is gone."""
    names, found = error(LAST[name], kept=True)
    assert not names[-1].startswith("transpose")
    assert found < TOLERANCE[LAST[name].dtype]


CLASSIFIER = """
%w = graph.weight "w" : {w}
%v = graph.weight "v" : {v}
%0 = graph.conv %x, %w {{{window}, pads = [1, 1, 1, 1], dilations = [1, 1]}} : ({x}, {w}) -> {y}
%1 = graph.max_pool %0 {{kernel_shape = [1, 1], {window}, pads = [0, 0, 0, 0], dilations = [1, 1]}}
  : {y} -> {y}
%2 = graph.flatten %1 : {y} -> {f}
%3 = graph.{product} : ({f}, {v}) -> {z}
func.return %3 : {z}
"""

TYPES = {
    "w": "tensor<24x16x3x3xf32>",
    "x": "tensor<2x16x3x4xf32>",
    "y": "tensor<2x24x3x4xf32>",
    "f": "tensor<2x288xf32>",
    "z": "tensor<2x10xf32>",
    "window": "strides = [1, 1]",
}


@pytest.mark.parametrize(
    ("v", "product"),
    [("288x10", "matmul %2, %v"), ("10x288", "gemm %2, %v {trans_b = true}")],
)
def test_flattened_picture_stays_channels_last(v: str, product: str) -> None:
    """The weight behind a flattened picture has its rows permuted, the picture stays."""
    body = CLASSIFIER.format(v=f"tensor<{v}xf32>", product=product, **TYPES)
    x, y = (f'{TYPES[key]} {{graph.name = "{name}"}}' for key, name in (("x", "x"), ("z", "y")))
    module = function(f"%x: {x}", f"({y})", body)
    names, found = error_of(module, {"w": 0.1, "v": 0.1})
    assert names == ["transpose", "conv", "max_pool", product.split()[0]]
    assert found < TOLERANCE["f32"]


@pytest.mark.parametrize("seed", range(12))
def test_random_convolutions(seed: int) -> None:
    """Any convolution of few channels, with and without a kernel for the layout."""
    rng = random.Random(seed)
    kernel = rng.choice([(3, 3), (7, 7), (5, 3), (1, 5), (2, 2)])
    stride, dilation = rng.choice([1, 2, 2, 3, 4]), rng.choice([1, 1, 2])
    batch, channels = rng.choice([1, 2]), rng.choice([1, 3, 6])
    case = Case(
        (batch, channels, rng.randrange(14, 24), rng.choice([24, 32, 45])),
        (rng.choice([5, 16, 40]), channels, *kernel),
        (stride, stride),
        tuple(rng.randrange(k) for k in (*kernel, *kernel)),
        (dilation, dilation),
        rng.choice(["relu", "clip", "gelu", "residual"]),
    )
    _, found = error(case, kept=rng.random() < 0.5)
    assert found < TOLERANCE["f32"]
