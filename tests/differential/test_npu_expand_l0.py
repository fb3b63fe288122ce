"""npu-expand-l0 and npu-place by numbers: a product with every form of operand, before and after.

The operands are small integers, so every order of summation gives the same bits.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from fusec.npu.expand_l0 import NpuExpandL0Pass
from fusec.npu.place import NpuPlacePass
from fusec.npu.verify import NpuVerifyPass
from fusec.simulator.functional import run_kernel
from fusec.simulator.numerics import Array
from npu_ir import context, function, named, parse


def view(name: str, source: str, sizes: list[str], type_: str, space: str) -> tuple[str, str]:
    """A leading sub-view of a matrix and its type. `type_` is `RxCxelement`."""
    _, columns, element = type_.split("x")
    shape = "x".join(size if size.isdigit() else "?" for size in sizes)
    result = f"memref<{shape}x{element}, strided<[{columns}, 1]>, #npu.space<{space}>>"
    text = (
        f"{name} = memref.subview {source}[0, 0] [{', '.join(sizes)}] [1, 1] : "
        f"memref<{type_}, #npu.space<{space}>> to {result}"
    )
    return text, result


class Product:
    """The text of a kernel that multiplies the leading part of two matrices, and its operands."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.element = rng.choice(["f16", "f32", "i8"])
        self.result = "i32" if self.element == "i8" else "f32"
        unit = 32 if self.element == "i8" else 16
        self.capacity = [rng.randint(1, 40), rng.randint(1, 150), rng.randint(1, 40)]
        self.real = [rng.randint(1, size) for size in self.capacity]
        dynamic = [rng.random() < 0.5 for _ in range(3)]
        self.step = rng.choice([unit, 2 * unit, 4 * unit, 200, None])
        self.transposed = (rng.random() < 0.4, rng.random() < 0.4)
        self.bias = not any(self.transposed) and rng.random() < 0.5
        self.twice = rng.random() < 0.5
        names = ["%m", "%k", "%n"]
        pairs = zip(self.real, dynamic, self.capacity, strict=True)
        self.real = [real if is_value else size for real, is_value, size in pairs]
        self.sizes = [
            name if is_value else str(size)
            for name, is_value, size in zip(names, dynamic, self.real, strict=True)
        ]
        self.rng = np.random.default_rng(seed)

    def stored(self, axes: tuple[int, int], transposed: bool) -> tuple[list[str], str]:
        first, second = reversed(axes) if transposed else axes
        shape = [self.capacity[first], self.capacity[second]]
        sizes = [self.sizes[first], self.sizes[second]]
        return sizes, f"{shape[0]}x{shape[1]}x{self.element}"

    def text(self) -> str:
        a_sizes, a = self.stored((0, 1), self.transposed[0])
        b_sizes, b = self.stored((1, 2), self.transposed[1])
        c = f"{self.capacity[0]}x{self.capacity[2]}x{self.result}"
        v = f"{self.capacity[2]}x{self.result}"
        lines = [
            "%true = arith.constant true",
            "%c0 = arith.constant 0 : index",
            "%c1 = arith.constant 1 : index",
            "%c2 = arith.constant 2 : index",
        ]
        for i, name in enumerate(("m", "k", "n")):
            lines += [
                f"%{name}0 = memref.load %s[%c{i}] : memref<3xi32, #npu.space<gm>>",
                f"%{name}1 = arith.index_cast %{name}0 : i32 to index",
                f"%{name}2 = arith.constant {self.capacity[i]} : index",
                f"%{name} = arith.minsi %{name}1, %{name}2 : index",
            ]
        types: dict[str, str] = {}
        for name, sizes, type_ in (("x", a_sizes, a), ("w", b_sizes, b)):
            part, gm = view(f"%{name}v", f"%{name}", sizes, type_, "gm")
            held, l1 = view(f"%{name}t", f"%{name}l", sizes, type_, "l1")
            types[name] = l1
            lines += [
                f"%{name}l = npu.alloc : memref<{type_}, #npu.space<l1>>",
                *(part, held),
                f"npu.load ins(%{name}v : {gm}) outs(%{name}t : {l1})",
            ]
        c_sizes = [self.sizes[0], self.sizes[2]]
        acc, l0c = view("%acct", "%acc", c_sizes, c, "l0c")
        out, gm = view("%yv", "%y", c_sizes, c, "gm")
        bias = ""
        if self.bias:
            n = self.sizes[2]
            dim = n if n.isdigit() else "?"
            vector = f"memref<{dim}x{self.result}, strided<[1]>, #npu.space<SPACE>>"
            lines.append(f"%vl = npu.alloc : memref<{v}, #npu.space<l1>>")
            for name, source, space in (("%vg", "%v", "gm"), ("%vt", "%vl", "l1")):
                lines.append(
                    f"{name} = memref.subview {source}[0] [{n}] [1] : memref<{v}, "
                    f"#npu.space<{space}>> to {vector.replace('SPACE', space)}"
                )
            gm_vector, l1_vector = vector.replace("SPACE", "gm"), vector.replace("SPACE", "l1")
            lines.append(f"npu.load ins(%vg : {gm_vector}) outs(%vt : {l1_vector})")
            bias = f"bias(%vt : {l1_vector}) "
        flags = "".join(
            f"{name}_transpose " for name, on in zip("ab", self.transposed, strict=True) if on
        )
        l0 = "" if self.step is None else f" l0 [{self.step}]"
        operands = f"ins(%xt, %wt : {types['x']}, {types['w']})"
        lines += [f"%acc = npu.alloc : memref<{c}, #npu.space<l0c>>", acc, out]
        lines.append(
            f"scf.for %i = %c0 to %c{2 if self.twice else 1} step %c1 {{\n"
            f"%first = arith.cmpi eq, %i, %c0 : index\n"
            f"npu.mmad {flags}{operands} {bias}init %first outs(%acct : {l0c}){l0}\n}}"
        )
        lines.append(f"npu.fixpipe ins(%acct : {l0c}) outs(%yv : {gm})")
        arguments = ", ".join(
            f"%{name}: memref<{type_}, #npu.space<gm>>"
            for name, type_ in (("x", a), ("w", b), ("v", v), ("s", "3xi32"), ("y", c))
        )
        body = "\n".join(lines)
        head = f'func.func @k({arguments}) attributes {{npu.core = "cube"}}'
        return f"{head} {{\n{body}\nfunc.return\n}}"

    def arrays(self) -> list[Array]:
        """x, w, v, the sizes, and y."""
        kinds = {"f16": np.float16, "f32": np.float32, "i8": np.int8, "i32": np.int32}
        m, k, n = self.capacity
        shapes = [
            (k, m) if self.transposed[0] else (m, k),
            (n, k) if self.transposed[1] else (k, n),
        ]
        operands = [self.rng.integers(-3, 4, shape).astype(kinds[self.element]) for shape in shapes]
        result = kinds[self.result]
        vector = self.rng.integers(-3, 4, n).astype(result)
        return [*operands, vector, np.array(self.real, np.int32), np.zeros((m, n), result)]

    def expected(self, arrays: list[Array]) -> Array:
        x, w, v = (a.astype(np.float64) for a in arrays[:3])
        m, k, n = self.real
        a = (x.T if self.transposed[0] else x)[:m, :k]
        b = (w.T if self.transposed[1] else w)[:k, :n]
        full = np.zeros((self.capacity[0], self.capacity[2]))
        full[:m, :n] = a @ b * (2 if self.twice else 1) + (v[:n] if self.bias else 0)
        return full.astype(arrays[4].dtype)


def run(module: ModuleOp, arrays: list[Array]) -> Array:
    given = [array.copy() for array in arrays]
    run_kernel(function(module, "k"), given)
    return given[4]


@pytest.mark.parametrize("seed", range(60))
def test_product(seed: int) -> None:
    product = Product(seed)
    module = parse(product.text())
    arrays = product.arrays()
    expected = product.expected(arrays)
    NpuVerifyPass().apply(context(), module)
    np.testing.assert_array_equal(run(module, arrays), expected, err_msg="on l1")
    NpuExpandL0Pass().apply(context(), module)
    module.verify()
    assert all("l1" not in str(op.operands[0].type) for op in named(module, "npu.mmad"))
    np.testing.assert_array_equal(run(module, arrays), expected, err_msg="on l0")
    NpuPlacePass().apply(context(), module)
    NpuVerifyPass().apply(context(), module)
    np.testing.assert_array_equal(run(module, arrays), expected, err_msg="placed")
