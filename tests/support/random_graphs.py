"""Seeded random modules of the graph level: whatever the operators of one kind allow."""

import random
from dataclasses import dataclass, field

import numpy as np

from fusec.semantics import Array

Shape = tuple[int, ...]


def tensor(shape: Shape, element: str = "f32") -> str:
    return f"tensor<{'x'.join(map(str, (*shape, element)))}>"


@dataclass
class Text:
    """A function under construction: values by name with their shapes, weights with arrays."""

    rng: random.Random
    lines: list[str] = field(default_factory=list[str])
    shapes: dict[str, Shape] = field(default_factory=dict[str, Shape])
    weights: dict[str, Array] = field(default_factory=dict[str, Array])
    arguments: list[str] = field(default_factory=list[str])

    def argument(self, shape: Shape) -> str:
        name = f"%x{len(self.arguments)}"
        self.arguments.append(name)
        self.shapes[name] = shape
        return name

    def op(self, name: str, operands: list[str], shape: Shape, attrs: str = "") -> str:
        types = [tensor(self.shapes[o]) for o in operands]
        source = types[0] if len(types) == 1 else f"({', '.join(types)})"
        result = f"%v{len(self.lines)}"
        attrs = f" {{{attrs}}}" if attrs else ""
        arrow = f"{source} -> " if operands else ""
        self.lines.append(
            f"{result} = graph.{name} {', '.join(operands)}{attrs} : {arrow}{tensor(shape)}"
            f' loc("{name}_{len(self.lines)}")'
        )
        self.shapes[result] = shape
        return result

    def weight(self, shape: Shape, low: float = -1.0, high: float = 1.0) -> str:
        """A stored weight, or an old one of that shape: shared weights are where folding errs."""
        known = [name for name in self.weights if self.shapes[f"%{name}"] == shape and low == -1.0]
        if known and self.rng.random() < 0.3:
            return f"%{self.rng.choice(known)}"
        name = f"w{len(self.weights)}"
        seed = np.random.default_rng(self.rng.randrange(1 << 30))
        self.weights[name] = seed.uniform(low, high, shape).astype(np.float32)
        self.shapes[f"%{name}"] = shape
        self.lines.append(f'%{name} = graph.weight "{name}" : {tensor(shape)} loc("{name}")')
        return f"%{name}"

    def module(self, results: list[str]) -> str:
        arguments = ", ".join(f"{a}: {tensor(self.shapes[a])}" for a in self.arguments)
        types = ", ".join(tensor(self.shapes[r]) for r in results)
        self.lines.append(f"func.return {', '.join(results)} : {types}")
        body = "\n  ".join(self.lines)
        return f"func.func @main({arguments}) -> ({types}) {{\n  {body}\n}}"


def conv_net(seed: int) -> tuple[str, dict[str, Array]]:
    """Convolutions of one to three spatial axes with norms, biases, residuals and poolings.

    Values have several users, are outputs as well, and weights are shared.
    """
    rng = random.Random(seed)
    t = Text(rng)
    axes = rng.choice([1, 2, 2, 2, 3])
    spatial = tuple(rng.randint(5, 9) for _ in range(axes))
    value = t.argument((rng.randint(1, 2), rng.randint(2, 6), *spatial))
    values = [value]
    for _ in range(rng.randint(2, 6)):
        shape = t.shapes[value]
        choice = rng.random()
        if choice < 0.5:
            value = _conv(t, value)
        elif choice < 0.6 and min(shape[2:]) >= 2:
            value = _pool(t, value)
        elif choice < 0.8:
            value = t.op(rng.choice(["relu", "sigmoid", "neg"]), [value], shape)
        else:
            value = _addition(t, value, [v for v in values if t.shapes[v] == shape])
        values.append(value)
    results = sorted({value, rng.choice(values)}, key=lambda v: (v[1], int(v[2:])))
    return t.module(results), t.weights


def _conv(t: Text, x: str) -> str:
    rng, (n, c, *spatial) = t.rng, t.shapes[x]
    axes = len(spatial)
    group = rng.choice([g for g in (1, 1, 2, c) if c % g == 0])
    outputs = group * rng.randint(1, 3)
    kernel = [rng.choice([1, 2, 3]) for _ in spatial]
    strides, dilations = ([rng.choice([1, 1, 2]) for _ in spatial] for _ in range(2))
    pads = [rng.randint(0, 2) for _ in range(2 * axes)]
    result = [
        (size + pads[i] + pads[axes + i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1
        for i, size in enumerate(spatial)
    ]
    if min(result) < 1:
        return x
    operands = [x, t.weight((outputs, c // group, *kernel))]
    if rng.random() < 0.4:
        operands.append(t.weight((outputs,)))
    attrs = f"group = {group}, strides = {strides}, pads = {pads}, dilations = {dilations}"
    y = t.op("conv", operands, (n, outputs, *result), attrs)
    if rng.random() < 0.6:
        scale, variance = (t.weight((outputs,), 0.5, 1.5) for _ in range(2))
        parameters = [scale, t.weight((outputs,)), t.weight((outputs,)), variance]
        y = t.op("batch_normalization", [y, *parameters], t.shapes[y], "epsilon = 0.0009765625")
    return t.op("relu", [y], t.shapes[y]) if rng.random() < 0.4 else y


def _pool(t: Text, x: str) -> str:
    n, c, *spatial = t.shapes[x]
    kind = t.rng.choice(["max_pool", "average_pool", "global_average_pool"])
    if kind == "global_average_pool":
        return t.op(kind, [x], (n, c, *[1] * len(spatial)))
    ones = [1] * len(spatial)
    attrs = f"kernel_shape = {[2] * len(spatial)}, strides = {ones}, pads = {[0] * 2 * len(ones)}"
    shape = (n, c, *[size - 1 for size in spatial])
    return t.op(kind, [x], shape, f"{attrs}, dilations = {ones}")


def _addition(t: Text, x: str, others: list[str]) -> str:
    shape, rng = t.shapes[x], t.rng
    side = rng.choice(["residual", "bias", "row", "itself"])
    if side == "residual" and others:
        other = rng.choice(others)
    elif side == "row":
        other = t.weight(shape[-1:])
    elif side == "itself":
        other = x
    else:
        other = t.weight((shape[1], *[1] * (len(shape) - 2)))
    operands = [x, other] if rng.random() < 0.5 else [other, x]
    return t.op(rng.choice(["add", "mul", "sub"]), operands, shape)


def elementwise_net(seed: int) -> tuple[str, dict[str, Array]]:
    """A graph of elementwise operators, views, reductions and matmuls on small tensors."""
    rng = random.Random(seed)
    t = Text(rng)
    size = rng.choice([4, 8])
    values = [t.argument((size, size)) for _ in range(rng.randint(1, 2))]
    for _ in range(rng.randint(4, 14)):
        x, y = rng.choice(values), rng.choice(values)
        match rng.randrange(9):
            case 0:
                new = t.op("transpose", [x], (size, size), "perm = [1, 0]")
            case 1:
                flat = t.op("reshape", [x], (size * size,))
                new = t.op("reshape", [flat], (size, size))
            case 2:
                row = t.op("reduce_mean", [x], (size, 1), "axes = [1]")
                new = t.op("sub", [x, row], (size, size))
            case 3:
                new = t.op("softmax", [x], (size, size), f"axis = {rng.choice([-1, 0])}")
            case 4:
                new = t.op("matmul", [x, rng.choice([y, t.weight((size, size))])], (size, size))
            case 5:
                new = t.op(rng.choice(["relu", "tanh", "abs", "identity"]), [x], (size, size))
            case 6:
                new = t.op("add", [x, t.weight((size,))], (size, size))
            case _:
                new = t.op(rng.choice(["add", "mul", "sub", "max"]), [x, y], (size, size))
        values.append(new)
    results = [values[-1], *([rng.choice(values)] if rng.random() < 0.5 else [])]
    return t.module(results), t.weights
