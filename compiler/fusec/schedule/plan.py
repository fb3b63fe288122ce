"""A vector program in the order in which a tiled kernel runs it, with its buffers.

In: a program and which axes are tiled. Out: actions before the grid loop, in it, and in sweeps over
tiled axes that are reduced; each action names its buffers, scratch included. Tile sizes are not
needed: `footprint` turns them into bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from fusec.schedule.program import Operand, Step

Dim: TypeAlias = int | None
"""The axis that a dimension of a buffer runs along, None for size 1."""

Dims: TypeAlias = tuple[Dim, ...]


@dataclass(eq=False, slots=True)
class Buffer:
    """A tile in ub, alive from action `first` to `last`.

    `home` numbers the place in the loops where it is made. `scratch` names how its size is found,
    for a buffer that an instruction wants on the side; `moved`: filled from or drained to gm in a
    loop, so that it may have two copies.
    """

    index: int
    dtype: str
    dims: Dims
    home: int
    first: int
    last: int = -1
    scratch: str = ""
    moved: bool = False


BufferOperand: TypeAlias = Buffer | float


@dataclass(frozen=True, eq=False, slots=True)
class Action:
    """One npu operator. `dims`: of vreduce, or the permutation of vtranspose."""

    kind: str
    dest: Buffer | None
    sources: tuple[BufferOperand, ...]
    step: Step
    mode: str = ""
    dims: tuple[int, ...] = ()
    temp: Buffer | None = None


@dataclass(eq=False)
class Sweep:
    """A loop nest over tiles of reduced axes, outermost first. `bodies[i]` runs in loop i, before
    the loops further inside."""

    axes: tuple[int, ...]
    bodies: list[list[Action]] = field(default_factory=list[list[Action]])
    homes: list[int] = field(default_factory=list[int])


@dataclass(eq=False)
class Plan:
    """`slots`: the dimensions of all buffers, outermost first: the axes that tiles extend along,
    those that never occur together in one dimension."""

    slots: tuple[tuple[int, ...], ...]
    looped: frozenset[int]
    entry: list[Action | Sweep] = field(default_factory=list["Action | Sweep"])
    grid: list[Action | Sweep] = field(default_factory=list["Action | Sweep"])
    buffers: list[Buffer] = field(default_factory=list[Buffer])
    resident: Buffer | None = None
    loops: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """The first and last action of the loop that each home stands in."""
    length: int = 0


def operand_values(operands: Sequence[Operand]) -> Iterator[int]:
    """The values among operands."""
    return (o for o in operands if isinstance(o, int))
