"""graph-simplify on movements and pads, chosen ones and random ones: same bits, and which operators
stay.
"""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from graph_modules import apply, assert_same_bits, operators, random_inputs, run
from simplify_check import Case, check_simplified, module_of

X = "tensor<2x6x4xf32>"


def cut(name: str, of: str, start: int, end: int, axis: int, before: str, after: str) -> str:
    attrs = f"starts = [{start}], ends = [{end}], axes = [{axis}], steps = [1]"
    return f"%{name} = graph.slice %{of} {{{attrs}}} : {before} -> {after}\n"


T3, T2, T1 = "tensor<2x3x4xf32>", "tensor<2x2x4xf32>", "tensor<2x1x4xf32>"

CASES: dict[str, Case] = {
    "slice of slice": (
        X,
        cut("1", "x", 1, 5, 1, X, "tensor<2x4x4xf32>")
        + cut("y", "1", -2, 99, 1, "tensor<2x4x4xf32>", T2),
        T2,
        ["slice"],
    ),
    "slice of slice with steps, one backwards": (
        "tensor<20xf32>",
        "%1 = graph.slice %x {starts = [-1], ends = [-99], axes = [0], steps = [-3]} "
        ": tensor<20xf32> -> tensor<7xf32>\n"
        "%y = graph.slice %1 {starts = [1], ends = [7], axes = [0], steps = [2]} "
        ": tensor<7xf32> -> tensor<3xf32>\n",
        "tensor<3xf32>",
        ["slice"],
    ),
    "slices there and back": (
        X,
        cut("1", "x", 0, 3, 1, X, T3)
        + cut("2", "x", 3, 6, 1, X, T3)
        + f"%y = graph.concat %1, %2 {{axis = 1}} : ({T3}, {T3}) -> {X}\n",
        X,
        [],
    ),
    "neighbours in a larger concat": (
        X,
        cut("1", "x", 0, 1, 1, X, T1)
        + cut("2", "x", 1, 3, 1, X, T2)
        + cut("3", "x", 5, 6, 1, X, T1)
        + f"%y = graph.concat %1, %2, %3 {{axis = 1}} : ({T1}, {T2}, {T1}) -> tensor<2x4x4xf32>\n",
        "tensor<2x4x4xf32>",
        ["slice", "slice", "concat"],
    ),
    "slices in another order": (
        X,
        cut("1", "x", 0, 3, 1, X, T3)
        + cut("2", "x", 3, 6, 1, X, T3)
        + f"%y = graph.concat %2, %1 {{axis = 1}} : ({T3}, {T3}) -> {X}\n",
        X,
        ["slice", "slice", "concat"],
    ),
    "slices joined along another axis": (
        X,
        cut("1", "x", 0, 3, 1, X, T3)
        + cut("2", "x", 3, 6, 1, X, T3)
        + f"%y = graph.concat %1, %2 {{axis = 0}} : ({T3}, {T3}) -> tensor<4x3x4xf32>\n",
        "tensor<4x3x4xf32>",
        ["slice", "slice", "concat"],
    ),
    "split and concat": (
        X,
        f"%1, %2 = graph.split %x {{axis = 1, sizes = [2, 4]}} : {X} -> {T2}, tensor<2x4x4xf32>\n"
        f"%y = graph.concat %1, %2 {{axis = -2}} : ({T2}, tensor<2x4x4xf32>) -> {X}\n",
        X,
        [],
    ),
    "slice of a split": (
        X,
        f"%1, %2 = graph.split %x {{axis = 1, sizes = [2, 4]}} : {X} -> {T2}, tensor<2x4x4xf32>\n"
        + cut("y", "2", 1, 3, 1, "tensor<2x4x4xf32>", T2),
        T2,
        ["slice"],
    ),
    "slice of one part of a concat": (
        X,
        f"%1 = graph.neg %x : {X} -> {X}\n"
        f"%2 = graph.concat %1, %x {{axis = 1}} : ({X}, {X}) -> tensor<2x12x4xf32>\n"
        + cut("y", "2", 6, 12, 1, "tensor<2x12x4xf32>", X),
        X,
        [],
    ),
    "slice across the parts of a concat": (
        X,
        f"%1 = graph.neg %x : {X} -> {X}\n"
        f"%2 = graph.concat %1, %x {{axis = 1}} : ({X}, {X}) -> tensor<2x12x4xf32>\n"
        + cut("y", "2", 5, 7, 1, "tensor<2x12x4xf32>", T2),
        T2,
        ["neg", "concat", "slice"],
    ),
    "split of a concat": (
        X,
        f"%1 = graph.neg %x : {X} -> {X}\n"
        f"%2 = graph.concat %1, %x {{axis = 1}} : ({X}, {X}) -> tensor<2x12x4xf32>\n"
        f"%3, %4 = graph.split %2 {{axis = 1, sizes = [6, 6]}} : tensor<2x12x4xf32> -> {X}, {X}\n"
        f"%y = graph.sub %3, %4 : ({X}, {X}) -> {X}\n",
        X,
        ["neg", "sub"],
    ),
    "concat of concat": (
        X,
        f"%1 = graph.neg %x : {X} -> {X}\n"
        f"%2 = graph.concat %1, %x {{axis = 1}} : ({X}, {X}) -> tensor<2x12x4xf32>\n"
        f"%y = graph.concat %x, %2 {{axis = 1}} "
        f": ({X}, tensor<2x12x4xf32>) -> tensor<2x18x4xf32>\n",
        "tensor<2x18x4xf32>",
        ["neg", "concat"],
    ),
    "one value twice": (
        X,
        f"%y = graph.concat %x, %x {{axis = 1}} : ({X}, {X}) -> tensor<2x12x4xf32>\n",
        "tensor<2x12x4xf32>",
        ["unsqueeze", "expand", "reshape"],
    ),
    "axes merged, turned, cut": (
        X,
        f"%1 = graph.reshape %x : {X} -> tensor<12x4xf32>\n"
        "%2 = graph.transpose %1 {perm = [1, 0]} : tensor<12x4xf32> -> tensor<4x12xf32>\n"
        "%y = graph.reshape %2 : tensor<4x12xf32> -> tensor<4x2x6xf32>\n",
        "tensor<4x2x6xf32>",
        ["transpose"],
    ),
    "axes merged, turned, cut elsewhere": (
        X,
        f"%1 = graph.reshape %x : {X} -> tensor<12x4xf32>\n"
        "%2 = graph.transpose %1 {perm = [1, 0]} : tensor<12x4xf32> -> tensor<4x12xf32>\n"
        "%y = graph.reshape %2 : tensor<4x12xf32> -> tensor<4x3x4xf32>\n",
        "tensor<4x3x4xf32>",
        ["transpose", "reshape"],
    ),
    "only ones move": (
        "tensor<1x6x1x4xf32>",
        "%y = graph.transpose %x {perm = [1, 2, 0, 3]} "
        ": tensor<1x6x1x4xf32> -> tensor<6x1x1x4xf32>\n",
        "tensor<6x1x1x4xf32>",
        ["reshape"],
    ),
    "index that is known": (
        X,
        "%i = graph.constant dense<-1> : tensor<i64>\n"
        f"%y = graph.gather %x, %i {{axis = 1}} : ({X}, tensor<i64>) -> tensor<2x4xf32>\n",
        "tensor<2x4xf32>",
        ["slice", "reshape"],
    ),
    "indices out of order": (
        X,
        "%i = graph.constant dense<[1, 0]> : tensor<2xi64>\n"
        f"%y = graph.gather %x, %i {{axis = 1}} : ({X}, tensor<2xi64>) -> {T2}\n",
        T2,
        ["gather"],
    ),
    "expand that broadcasting does": (
        "tensor<2x1x4xf32>",
        f"%1 = graph.expand %x : tensor<2x1x4xf32> -> {X}\n"
        f"%2 = graph.exp %1 : {X} -> {X}\n"
        f"%y = graph.mul %1, %2 : ({X}, {X}) -> {X}\n",
        X,
        ["expand", "exp", "mul"],
    ),
    "expand that is needed": (
        "tensor<2x1x4xf32>",
        f"%1 = graph.expand %x : tensor<2x1x4xf32> -> {X}\n"
        f"%y = graph.mul %1, %1 : ({X}, {X}) -> {X}\n",
        X,
        ["expand", "mul"],
    ),
    "transposes around operators": (
        "tensor<2x3x4xf32>",
        "%1 = graph.transpose %x {perm = [0, 2, 1]} : tensor<2x3x4xf32> -> tensor<2x4x3xf32>\n"
        "%w = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>\n"
        "%2 = graph.exp %1 : tensor<2x4x3xf32> -> tensor<2x4x3xf32>\n"
        "%3 = graph.add %2, %w : (tensor<2x4x3xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>\n"
        "%y = graph.transpose %3 {perm = [0, 2, 1]} : tensor<2x4x3xf32> -> tensor<2x3x4xf32>\n",
        "tensor<2x3x4xf32>",
        ["exp", "add"],
    ),
    "transposes that do not cancel": (
        "tensor<2x3x4xf32>",
        "%1 = graph.transpose %x {perm = [1, 2, 0]} : tensor<2x3x4xf32> -> tensor<3x4x2xf32>\n"
        "%2 = graph.exp %1 : tensor<3x4x2xf32> -> tensor<3x4x2xf32>\n"
        "%y = graph.transpose %2 {perm = [1, 2, 0]} : tensor<3x4x2xf32> -> tensor<4x2x3xf32>\n",
        "tensor<4x2x3xf32>",
        ["transpose", "exp", "transpose"],
    ),
    "transpose of a sum with another value": (
        "tensor<3x3xf32>",
        "%1 = graph.transpose %x {perm = [1, 0]} : tensor<3x3xf32> -> tensor<3x3xf32>\n"
        "%2 = graph.add %1, %x : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>\n"
        "%y = graph.transpose %2 {perm = [1, 0]} : tensor<3x3xf32> -> tensor<3x3xf32>\n",
        "tensor<3x3xf32>",
        ["transpose", "add", "transpose"],
    ),
    "pad of pad": (
        "tensor<4x5xf32>",
        "%1 = graph.pad %x {pads = [1, 0, 0, 2]} : tensor<4x5xf32> -> tensor<5x7xf32>\n"
        "%y = graph.pad %1 {pads = [0, 3, 1, 0]} : tensor<5x7xf32> -> tensor<6x10xf32>\n",
        "tensor<6x10xf32>",
        ["pad"],
    ),
    "pads of two values": (
        "tensor<4x5xf32>",
        "%1 = graph.pad %x {pads = [1, 0, 0, 2]} : tensor<4x5xf32> -> tensor<5x7xf32>\n"
        "%y = graph.pad %1 {pads = [0, 3, 1, 0], value = 1.0} "
        ": tensor<5x7xf32> -> tensor<6x10xf32>\n",
        "tensor<6x10xf32>",
        ["pad", "pad"],
    ),
    "pad and cut off again": (
        "tensor<4x5xf32>",
        "%1 = graph.pad %x {pads = [1, 0, 0, 2], value = 3.0} "
        ": tensor<4x5xf32> -> tensor<5x7xf32>\n"
        + cut("y", "1", 1, 4, 0, "tensor<5x7xf32>", "tensor<3x7xf32>").replace("%y", "%2")
        + cut("y", "2", 0, 4, 1, "tensor<3x7xf32>", "tensor<3x4xf32>"),
        "tensor<3x4xf32>",
        ["slice"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_simplified(name: str) -> None:
    check_simplified(CASES[name])


def _random_moves(seed: int) -> ModuleOp:
    """Slices, splits, concats, pads, transposes and reshapes of a few values, at random."""
    rng = np.random.default_rng(seed)
    values: list[tuple[str, tuple[int, ...]]] = [("x", (4, 6, 2))]
    lines: list[str] = []

    def typed(shape: tuple[int, ...]) -> str:
        return f"tensor<{'x'.join(map(str, (*shape, 'f32')))}>"

    def add(name: str, operands: list[int], shape: tuple[int, ...], attrs: str) -> None:
        given = [values[i] for i in operands]
        types = ", ".join(typed(s) for _, s in given)
        types = f"({types})" if len(given) > 1 else types
        names = ", ".join(f"%{n}" for n, _ in given)
        new = f"v{len(values)}"
        lines.append(f"%{new} = graph.{name} {names} {attrs} : {types} -> {typed(shape)}")
        values.append((new, shape))

    for _ in range(14):
        at = int(rng.integers(max(0, len(values) - 4), len(values)))
        _, shape = values[at]
        axis = int(rng.integers(3))
        match int(rng.integers(5)):
            case 0 if shape[axis] > 1:
                start = int(rng.integers(shape[axis]))
                step = int(rng.choice([1, 1, 2, -1]))
                end = shape[axis] if step > 0 else -99
                taken = len(range(start, shape[axis], step) if step > 0 else range(start, -1, step))
                attrs = f"starts = [{start}], ends = [{end}], axes = [{axis}], steps = [{step}]"
                add("slice", [at], (*shape[:axis], taken, *shape[axis + 1 :]), f"{{{attrs}}}")
            case 1 if shape[axis] > 1:
                first = int(rng.integers(1, shape[axis]))
                for start, end in ((0, first), (first, shape[axis])):
                    attrs = f"starts = [{start}], ends = [{end}], axes = [{axis}], steps = [1]"
                    add(
                        "slice",
                        [at],
                        (*shape[:axis], end - start, *shape[axis + 1 :]),
                        f"{{{attrs}}}",
                    )
                last = len(values) - 1
                add("concat", [last - 1, last], shape, f"{{axis = {axis}}}")
            case 2 if np.prod(shape) < 500:
                whole = (*shape[:axis], 2 * shape[axis], *shape[axis + 1 :])
                add("concat", [at, at], whole, f"{{axis = {axis}}}")
            case 3:
                perm = [int(p) for p in rng.permutation(3)]
                add("transpose", [at], tuple(shape[p] for p in perm), f"{{perm = {perm}}}")
            case _:
                wide = tuple(n + 1 if a == axis else n for a, n in enumerate(shape))
                pads = [0, 0, 0, *(int(a == axis) for a in range(3))]
                add("pad", [at], wide, f"{{pads = {pads}}}")
    name, shape = values[-1]
    body = "\n".join(lines) + f"\n%y = graph.neg %{name} : {typed(shape)} -> {typed(shape)}\n"
    return module_of("tensor<4x6x2xf32>", body, typed(shape))


@pytest.mark.parametrize("seed", range(40))
def test_random_movements_keep_every_bit_and_end(seed: int) -> None:
    module = _random_moves(seed)
    inputs = random_inputs(module, seed)
    before, count = run(module, inputs), len(operators(module))
    apply(module, "graph-simplify")
    assert_same_bits(run(module, inputs), before)
    once = str(module)
    apply(module, "graph-simplify")
    assert str(module) == once
    assert len(operators(module)) <= 3 * count
