"""Kernels of reductions over any axes, as text: alone, and as mean and variance of a norm."""

from __future__ import annotations

from collections.abc import Sequence

from vector_regions import Shape, tensor


def kept(shape: Shape, axes: Sequence[int]) -> Shape:
    """The shape with 1 for the axes that are reduced."""
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


def reduction(kind: str, shape: Shape, axes: Sequence[int], dtype: str = "f32") -> str:
    """kind(x) over axes."""
    x, y = tensor(shape, dtype), tensor(kept(shape, axes), dtype)
    return (
        f'graph.kernel @k "k"(%x: {x}) -> {y} {{\n'
        f"  %0 = graph.{kind} %x {{axes = {list(axes)}, keepdims = true}} : {x} -> {y}\n"
        f"  graph.yield %0 : {y}\n}}\n"
    )


def along(kind: str, shape: Shape, axis: int, dtype: str = "f32") -> str:
    """A softmax along an axis."""
    x = tensor(shape, dtype)
    return (
        f'graph.kernel @k "k"(%x: {x}) -> {x} {{\n'
        f"  %0 = graph.{kind} %x {{axis = {axis}}} : {x} -> {x}\n  graph.yield %0 : {x}\n}}\n"
    )


def _steps(x: str, r: str, axes: Sequence[int], dtype: str) -> list[str]:
    """From %v, %y = (v - mean) / sqrt(variance + 1e-5)."""
    mean = f"{{axes = {list(axes)}, keepdims = true}} : {x} -> {r}"
    return [
        f"%eps = graph.constant dense<1.0e-5> : tensor<{dtype}>",
        f"%mean = graph.reduce_mean %v {mean}",
        f"%d = graph.sub %v, %mean : ({x}, {r}) -> {x}",
        f"%square = graph.mul %d, %d : ({x}, {x}) -> {x}",
        f"%variance = graph.reduce_mean %square {mean}",
        f"%sum = graph.add %variance, %eps : ({r}, tensor<{dtype}>) -> {r}",
        f"%root = graph.sqrt %sum : {r} -> {r}",
        f"%y = graph.div %d, %root : ({x}, {r}) -> {x}",
    ]


def standardised(shape: Shape, axes: Sequence[int], dtype: str = "f32") -> str:
    """(x - mean) / sqrt(variance + epsilon) over axes."""
    x, r = tensor(shape, dtype), tensor(kept(shape, axes), dtype)
    body = "\n  ".join(_steps(x, r, axes, dtype)).replace("%v,", "%x,").replace("%v ", "%x ")
    return f'graph.kernel @k "k"(%x: {x}) -> {x} {{\n  {body}\n  graph.yield %y : {x}\n}}\n'


def group_norm(
    batch: int, channels: int, groups: int, pixels: int, *, last: bool, dtype: str = "f32"
) -> str:
    """With scale and bias for each channel, over [N, C, pixels] or (`last`) [N, pixels, C]."""
    each = channels // groups
    shape = (batch, pixels, channels) if last else (batch, channels, pixels)
    seen = (batch, pixels, groups, each) if last else (batch, groups, each, pixels)
    axes = (1, 3) if last else (2, 3)
    x, v, r = (tensor(s, dtype) for s in (shape, seen, kept(seen, axes)))
    h = tensor((1, 1, groups, each) if last else (1, groups, each, 1), dtype)
    p = tensor((channels,), dtype)
    lines = [
        f"%v = graph.reshape %x : {x} -> {v}",
        *_steps(v, r, axes, dtype),
        f"%h = graph.reshape %scale : {p} -> {h}",
        f"%z = graph.mul %y, %h : ({v}, {h}) -> {v}",
        f"%i = graph.reshape %bias : {p} -> {h}",
        f"%w = graph.add %z, %i : ({v}, {h}) -> {v}",
        f"%o = graph.reshape %w : {v} -> {x}",
        f"graph.yield %o : {x}",
    ]
    body = "\n  ".join(lines)
    head = f'graph.kernel @k "k"(%x: {x}, %scale: {p}, %bias: {p}) -> {x}'
    return f"{head} {{\n  {body}\n}}\n"
