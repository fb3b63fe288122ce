"""What an emitter gives back: the kernel's function and the constants that it reads.

Arguments of the function: the kernel's inputs, its constants, its outputs, its workspaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp

from fusec.semantics import Array

IDENTITY = "identity"
DATA = "data"


@dataclass(frozen=True)
class KernelConstant:
    """A constant tensor that a kernel reads as an argument; equal names mean equal tensors.

    `kind` is "identity" (a square matrix; `data` is None) or "data" (numpy array in `data`).
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    kind: str
    data: Array | None = None

    @staticmethod
    def identity(size: int, dtype: str) -> KernelConstant:
        """The identity matrix, `constant.identity_128_f32`."""
        return KernelConstant(
            f"constant.identity_{size}_{dtype}", dtype, (size, size), IDENTITY, None
        )


def data_constant(data: Array, dtype: str) -> KernelConstant:
    """An array that a kernel reads as an argument; `dtype` is MLIR's name of its type."""
    text = f"{dtype}{data.shape}".encode() + data.tobytes()
    name = f"constant.data_{sha256(text).hexdigest()[:16]}"
    return KernelConstant(name, dtype, data.shape, DATA, data)


class Workspace(NamedTuple):
    """A buffer in gm through which the halves of a mixed kernel meet: `shape[0]` is the blocks."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class EmittedKernel:
    """`func` takes the inputs, `constants` in this order, the outputs, the workspaces."""

    func: FuncOp
    constants: Sequence[KernelConstant] = ()
    workspaces: Sequence[Workspace] = ()

    @property
    def blocks(self) -> int:
        """How many blocks the function is launched on."""
        blocks = self.func.attributes["npu.blocks"]
        return blocks.value.data if isinstance(blocks, IntegerAttr) else 1
