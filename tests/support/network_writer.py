"""Writes a network of the graph level as text, operator by operator, for those that draw one.

Each value has a bound: what would pass LARGE goes through tanh, so that numbers stay small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from fusec.semantics.dtypes import Array, np_dtype

Shape = tuple[int, ...]

SIZES = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 33)
MOST = 2048
"""Elements of a value."""
LARGE = 64.0
NUMPY = {"f32": "float32", "f16": "float16", "i32": "int32", "i1": "bool"}


@dataclass(frozen=True)
class Value:
    """`given`: no rounding is in it, so a comparison of it is the same on every level."""

    name: str
    shape: Shape
    element: str
    bound: float = 4.0
    given: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def type(self) -> str:
        return f"tensor<{'x'.join(map(str, (*self.shape, self.element)))}>"


@dataclass
class Network:
    """A function under construction, its weights, and the values that an operator may read."""

    rng: Random
    lines: list[str] = field(default_factory=list[str])
    weights: dict[str, Array] = field(default_factory=dict[str, Array])
    arguments: list[Value] = field(default_factory=list[Value])
    values: list[Value] = field(default_factory=list[Value])
    kinds: dict[object, Value] = field(default_factory=dict[object, Value])
    count: int = 0

    def argument(self, shape: Shape, element: str = "f32") -> Value:
        made = Value(f"%x{len(self.arguments)}", shape, element, given=True)
        self.arguments.append(made)
        self.values.append(made)
        return made

    def weight(
        self, shape: Shape, element: str, scale: float = 1.0, low: float | None = None
    ) -> Value:
        """Uniform in -scale to scale, or from `low` to `low` + 1; at times one that exists already:
        shared weights are where folding errs."""
        kind = (shape, element, scale, low)
        if (known := self.kinds.get(kind)) is not None and self.rng.random() < 0.3:
            return known
        name = f"w{len(self.weights)}"
        seed = np.random.default_rng(self.rng.randrange(1 << 16))
        at, to = (-scale, scale) if low is None else (low, low + 1)
        self.weights[name] = seed.uniform(at, to, shape).astype(np_dtype(NUMPY[element]))
        made = Value(f"%{name}", shape, element, max(abs(at), abs(to)), given=True)
        self.lines.append(f'{made.name} = graph.weight "{name}" : {made.type} loc("{name}")')
        self.kinds[kind] = made
        return made

    def number(self, value: float, element: str) -> Value:
        made = Value(f"%c{len(self.lines)}", (), element, abs(value), given=True)
        text = str(int(value)) if element == "i32" else repr(float(value))
        self.lines.append(f'{made.name} = graph.constant dense<{text}> : {made.type} loc("c")')
        return made

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        shape: Shape,
        attrs: str = "",
        *,
        element: str = "",
        bound: float | None = None,
        given: bool = False,
    ) -> Value:
        """An operator of one result; one of a bound above LARGE is followed by a tanh."""
        types = [o.type for o in operands]
        source = types[0] if len(types) == 1 else f"({', '.join(types)})"
        most = max(o.bound for o in operands) if bound is None else bound
        made = Value(f"%v{self.count}", shape, element or operands[0].element, most, given)
        attrs = f" {{{attrs}}}" if attrs else ""
        names = ", ".join(o.name for o in operands)
        self.lines.append(
            f"{made.name} = graph.{name} {names}{attrs} : {source} -> {made.type}"
            f' loc("{name}_{self.count}")'
        )
        self.count += 1
        if most > LARGE and made.element in ("f32", "f16"):
            return self.op("tanh", [made], shape, bound=1.0)
        self.values.append(made)
        return made

    def split(self, x: Value, axis: int, sizes: Sequence[int]) -> None:
        """The only operator of several results here."""
        parts = [
            Value(
                f"%v{self.count}_{i}",
                (*x.shape[:axis], size, *x.shape[axis + 1 :]),
                x.element,
                x.bound,
                x.given,
            )
            for i, size in enumerate(sizes)
        ]
        self.lines.append(
            f"{', '.join(p.name for p in parts)} = graph.split {x.name} {{axis = {axis}, sizes = "
            f"{list(sizes)}}} : {x.type} -> {', '.join(p.type for p in parts)}"
            f' loc("split_{self.count}")'
        )
        self.count += 1
        self.values += parts

    def pick(self, *elements: str, rank: int = 0) -> Value | None:
        """A value of one of these types and at least that rank, the last ones more often."""
        fits = [v for v in self.values if v.element in elements and len(v.shape) >= rank]
        if not fits:
            return None
        return self.rng.choice(fits[-4:] if self.rng.random() < 0.7 else fits)

    def module(self) -> str:
        """The text; one to four values are results, the last one always."""
        last = self.values[-1]
        others = [self.rng.choice(self.values) for _ in range(self.rng.choice([0, 0, 1, 1, 2, 3]))]
        results = list(dict.fromkeys([last, *others]))
        arguments = ", ".join(f'{a.name}: {a.type} loc("{a.name[1:]}")' for a in self.arguments)
        types = ", ".join(r.type for r in results)
        names = ", ".join(r.name for r in results)
        body = "\n  ".join([*self.lines, f'func.return {names} : {types} loc("end")'])
        return f"func.func @main({arguments}) -> ({types}) {{\n  {body}\n}}"


def broadcast(a: Shape, b: Shape) -> Shape | None:
    """The shape that numpy makes of two; None where they do not fit or it is too large."""
    try:
        shape = np.broadcast_shapes(a, b)
    except ValueError:
        return None
    return shape if np.prod(shape, dtype=int) <= MOST else None
