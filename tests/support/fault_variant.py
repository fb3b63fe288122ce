"""One graph that shows a fault of another compiler, and what is known of its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fusec.semantics.dtypes import Array
from onnx_text import graph

HALF, SINGLE = "float16", "float"


@dataclass(frozen=True)
class Variant:
    """One graph; inputs that are not given are random.

    `bits`: nothing may change a bit. `runtime`: whether ONNX Runtime has it and is right.
    `refused`: why there is no kernel; empty where there is.
    """

    text: str
    inputs: dict[str, Array] = field(default_factory=dict[str, Array])
    expected: dict[str, Array] = field(default_factory=dict[str, Array])
    opset: int = 18
    bits: bool = False
    runtime: bool = True
    refused: str = ""

    def model(self) -> bytes:
        return graph(f"g {self.text}", self.opset).SerializeToString()


def f32(*values: float) -> Array:
    return np.array(values, np.float32)


def ramp(*shape: int) -> Array:
    """0, 1, 2, ... as f32."""
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def sizes(shape: Sequence[int]) -> str:
    return ",".join(map(str, shape))
