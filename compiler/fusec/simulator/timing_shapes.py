"""Sizes and strides of an instruction's operands in one run, and the contiguous runs in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from fusec.simulator.form import Instr, Reg, Size, View


@dataclass(frozen=True, slots=True)
class Box:
    """A view with its numbers, in elements."""

    view: View
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def elements(self) -> int:
        return prod(self.sizes)

    @property
    def nbytes(self) -> int:
        return self.elements * self.view.buffer.itemsize

    def spread(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """The strides with which a box of `sizes` is walked: 0 where this one is broadcast."""
        if len(self.sizes) != len(sizes):
            return (0,) * (len(sizes) - len(self.sizes)) + self.strides
        return tuple(
            0 if own == 1 and size != 1 else stride
            for own, size, stride in zip(self.sizes, sizes, self.strides, strict=True)
        )


def dynamic_values(instr: Instr) -> tuple[Reg, ...]:
    """The registers that what an instruction costs depends on, each once."""
    found: dict[Reg, None] = {}
    for operand in instr.operands:
        if isinstance(operand, View):
            sizes = (s for s in (*operand.sizes, *operand.strides) if isinstance(s, Reg))
            found.update(dict.fromkeys(sizes))
    if instr.kind == "mmad" and len(instr.operands) > 4 and isinstance(instr.operands[2], Reg):
        found[instr.operands[2]] = None
    return tuple(found)


class Operands:
    """The operands of an instruction, `values` being those of `dynamic_values` in this run."""

    def __init__(self, instr: Instr, values: tuple[int, ...]):
        self.instr = instr
        self._values: dict[Reg, int] = dict(zip(dynamic_values(instr), values, strict=True))

    def number(self, position: int) -> float:
        """A scalar operand."""
        operand = self.instr.operands[position]
        if isinstance(operand, View):
            raise TypeError(f"operand {position} of {self.instr.kind} is a buffer")
        return self._values[operand] if isinstance(operand, Reg) else operand

    def box(self, position: int) -> Box:
        view = self.instr.view(position)
        return Box(view, self._sizes(view.sizes), self._sizes(view.strides))

    @property
    def dest(self) -> Box:
        return self.box(self.instr.writes[0])

    def boxes(self) -> list[Box]:
        """The views among the operands, the scratch left out."""
        scratch = self.instr.writes[1:]
        return [
            self.box(position)
            for position, operand in enumerate(self.instr.operands)
            if isinstance(operand, View) and position not in scratch
        ]

    def _sizes(self, sizes: tuple[Size, ...]) -> tuple[int, ...]:
        return tuple(max(self._values[s], 0) if isinstance(s, Reg) else s for s in sizes)


@dataclass(frozen=True, slots=True)
class Axis:
    """A dimension that several views are walked along together, with the stride of each."""

    size: int
    strides: tuple[int, ...]


def joined(sizes: Sequence[int], strides: Sequence[Sequence[int]]) -> list[Axis]:
    """The dimensions, outermost first, without those of size 1; neighbours over which every one of
    the views is contiguous are one."""
    axes: list[Axis] = []
    for size, steps in zip(sizes, zip(*strides, strict=True), strict=True):
        if size == 1:
            continue
        outer = axes[-1] if axes else None
        if outer is not None and outer.strides == tuple(step * size for step in steps):
            axes[-1] = Axis(outer.size * size, steps)
        else:
            axes.append(Axis(size, steps))
    return axes
