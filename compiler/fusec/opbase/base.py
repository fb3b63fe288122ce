"""What classes of own fusions and own operators derive from, in the words of CANN's opbase."""

from __future__ import annotations

from typing import Any, NamedTuple

from fusec.opbase.symbols import FusionError
from fusec_dialects.graph import AttrValue


class Tensor(NamedTuple):
    """A type: sizes, the names of dynamic ones, and the element type by MLIR's name ("f32")."""

    shape: tuple[int | str, ...]
    dtype: str


class OperatorBase:
    """Declare inputs, outputs and attributes in `__init__`; then `compute`, and `lower` if wanted.

    Of a fusion, `compute` gets symbols and writes with `ascendc`; of an operator, numpy arrays.
    """

    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, AttrValue]

    def __init__(self) -> None:
        self.inputs = []
        self.outputs = []
        self.attributes = {}
        self.optional_inputs: set[str] = set()

    def add_input(self, name: str, *, optional: bool = False) -> None:
        """Declare the next input; only the last one of an operator may be absent."""
        self.inputs.append(name)
        if optional:
            self.optional_inputs.add(name)

    def add_output(self, name: str) -> None:
        """Declare the next output; of a fusion, those before the last are inner values that others
        may use as well."""
        self.outputs.append(name)

    def add_attr(self, name: str, default: bool | int | float | str | list[int]) -> None:
        """Declare an attribute of an operator, of the kind of its default.

        `self.attributes[name]` has its value where `infer`, `compute` and `lower` run.
        """
        self.attributes[name] = tuple(default) if isinstance(default, list) else default

    def infer(self, inputs: list[Tensor]) -> list[Tensor]:
        """Types of an operator's outputs: here the broadcast shape and the first input's type."""
        shape: list[int | str] = []
        for tensor in inputs:
            shape = [1] * (len(tensor.shape) - len(shape)) + shape
            for i, size in enumerate(reversed(tensor.shape), 1):
                if shape[-i] == 1:
                    shape[-i] = size
                elif size not in (1, shape[-i]):
                    raise ValueError(f"{shape[-i]} and {size} do not broadcast")
        return [Tensor(tuple(shape), inputs[0].dtype) for _ in self.outputs]

    def compute(self, inputs: list[Any], outputs: list[Any]) -> None:
        """Set `outputs[i]` from `inputs`."""
        raise FusionError(f"{type(self).__name__}: it has no compute")

    def lower(self, npu: Any, inputs: list[Any], outputs: list[Any]) -> None:
        """Build the kernel with `npu` (see `fusec.lowering.own.NpuKernel`), from the buffers of the
        inputs to those of the outputs, all in gm. Raise Unsupported for shapes that it has no
        kernel for."""
        raise FusionError(f"{type(self).__name__}: it has no lower")

    @classmethod
    def has_lower(cls) -> bool:
        """Whether the class brings a kernel of its own."""
        return cls.lower is not OperatorBase.lower
