"""Kernels that gather rows of a table and go on computing, as text, and inputs for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from vector_regions import Shape, tensor

Array = np.ndarray[Any, Any]


def embedding(
    ids: Shape, rows: int, width: int, *, dtype: str = "f32", index: str = "i64", norm: bool = True
) -> str:
    """table[i] + positions + types[j], then (`norm`) a layer norm."""
    y = (*ids, width)
    t, p, u, c, i, g = (
        tensor(s, d)
        for s, d in (
            ((rows, width), dtype),
            ((*ids[-1:], width), dtype),
            ((2, width), dtype),
            ((width,), dtype),
            (ids, index),
            (y, dtype),
        )
    )
    lines = [
        f"%a = graph.gather %t, %i : ({t}, {i}) -> {g}",
        f"%b = graph.add %a, %p : ({g}, {p}) -> {g}",
        f"%d = graph.gather %u, %j : ({u}, {i}) -> {g}",
        f"%e = graph.add %b, %d : ({g}, {g}) -> {g}",
        f"%n = graph.layer_normalization %e, %s, %o : ({g}, {c}, {c}) -> {g}",
        f"graph.yield {'%n' if norm else '%e'} : {g}",
    ]
    body = "\n  ".join(lines if norm else [*lines[:4], lines[5]])
    head = f"%t: {t}, %i: {i}, %p: {p}, %u: {u}, %j: {i}, %s: {c}, %o: {c}"
    return f'graph.kernel @k "k"({head}) -> {g} {{\n  {body}\n}}\n'


def embedding_inputs(
    ids: Shape, rows: int, width: int, *, dtype: str = "f32", index: str = "i64"
) -> list[Array]:
    """For `embedding`; indices count from the end as well."""
    rng = np.random.default_rng(0)
    floats, whole = {"f32": np.float32, "f16": np.float16}[dtype], f"int{index[1:]}"
    shapes: list[Shape] = [(rows, width), (*ids[-1:], width), (2, width), (width,), (width,)]
    table, positions, types, scale, bias = (
        rng.standard_normal(shape).astype(floats) for shape in shapes
    )
    first = rng.integers(-rows, rows, ids).astype(whole)
    second = rng.integers(0, 2, ids).astype(whole)
    return [table, first, positions, types, second, scale, bias]
