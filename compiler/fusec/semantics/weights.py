"""Where weights live outside the IR: a store of named arrays, memory-mapped or given as one number.

A store never copies what it maps; a weight given as one repeated number is a broadcast view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from fusec.semantics.dtypes import Array


@dataclass(frozen=True)
class Role:
    """What a weight is for, as far as seeded random values depend on it.

    `kind` is "matrix" (`fan_in` inputs for each output), "scale" (norm scales, variances) or
    "vector".
    """

    kind: str = "vector"
    fan_in: int = 1
    gain: float = 1.0


@dataclass
class WeightStore(Mapping[str, Array]):
    """Arrays by name; `repeated` names those that the file gives as one repeated number."""

    arrays: dict[str, Array] = field(default_factory=dict[str, Array])
    repeated: set[str] = field(default_factory=set[str])
    roles: dict[str, Role] = field(default_factory=dict[str, Role])
    source: str = ""

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def fill(self, name: str, shape: tuple[int, ...], value: Array) -> None:
        """Add a weight that is one number repeated; takes no memory for its elements."""
        self.arrays[name] = np.broadcast_to(value.reshape(()), shape)
        self.repeated.add(name)

    def seeded(self, seed: int) -> WeightStore:
        """A copy in which the repeated numbers are random values that a network can work with.

        Matrices and filters are normal, scaled by gain / sqrt(fan-in); scales and variances uniform
        in 0.5 to 1.5, times gain; other vectors normal, scaled by 0.1. Each depends on the seed and
        its own name only.
        """
        store = WeightStore(dict(self.arrays), set(), self.roles, self.source)
        for name in self.repeated:
            old = self.arrays[name]
            if old.dtype.kind == "f" or old.dtype.name == "bfloat16":
                store.arrays[name] = _draw(name, seed, old, self.roles.get(name, Role()))
        return store


def _draw(name: str, seed: int, like: Array, role: Role) -> Array:
    generator = np.random.default_rng([seed, *name.encode()])
    if role.kind == "scale":
        values = generator.random(like.shape, dtype=np.float32) + np.float32(0.5)
        values *= np.float32(role.gain)
    else:
        scale = role.gain / max(role.fan_in, 1) ** 0.5 if role.kind == "matrix" else 0.1
        values = generator.standard_normal(like.shape, dtype=np.float32)
        values *= np.float32(scale)
    return values.astype(like.dtype, copy=False)


def seeded_input(
    name: str, seed: int, shape: tuple[int, ...], dtype: np.dtype, high: int | None = None
) -> Array:
    """Seeded values for a model's input: normal for floats, 0 to `high` - 1 for integers (default
    2).
    """
    generator = np.random.default_rng([seed, *name.encode()])
    if dtype.kind == "b":
        return generator.random(shape) < 0.5
    if dtype.kind in "iu":
        return generator.integers(0, 2 if high is None else high, shape, dtype=dtype)
    return generator.standard_normal(shape, dtype=np.float32).astype(dtype, copy=False)


Tap = Callable[[str, Array], None]
"""Called with a value's name (the ONNX node's, or the pattern's) and its array."""
