"""The decoded form of a kernel: a tree of plain Python objects that every reader of a kernel
shares.

`decode.decode_kernel` makes it from a kernel function; nothing of xDSL is needed afterwards.
Readers either walk `Kernel.body`, or take the flat stream of one block from `stream.stream_of`.

Scalars. A `Value` is a Python number, or a `Reg` that a statement computes during the run. `level`
says how often a value can change: LAUNCH (once a launch), BLOCK (once a block), BLOCK + n (in each
iteration of the n-th loop around it). Scalar statements stand at their own level, out of the loops
that do not matter to them; so do views: a view's address is constant below its `level`.

Views. `View` is a box of one buffer: offset, sizes and strides in elements, innermost dimension
last, all sub-views and casts resolved. A view of a placed buffer starts at byte
`buffer.address + slot * buffer.pitch + offset * buffer.itemsize` of the buffer's space.

Statements: Scalar, ScalarLoad, Alloc, Loop, Instr, Flag, Barrier, BlockFlag.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from fusec_dialects.npu.attrs import Core, Pipe
from fusec_dialects.npu.base import Agent

LAUNCH = 0
BLOCK = 1

AGENTS: tuple[Agent, ...] = (
    Agent(Core.CUBE, Pipe.S),
    Agent(Core.CUBE, Pipe.MTE1),
    Agent(Core.CUBE, Pipe.MTE2),
    Agent(Core.CUBE, Pipe.M),
    Agent(Core.CUBE, Pipe.FIX),
    Agent(Core.VECTOR, Pipe.S),
    Agent(Core.VECTOR, Pipe.MTE2),
    Agent(Core.VECTOR, Pipe.V),
    Agent(Core.VECTOR, Pipe.MTE3),
)
"""Every queue there is. Statements name an agent by its index in this table."""

AGENT_INDEX: dict[Agent, int] = {agent: index for index, agent in enumerate(AGENTS)}
CUBE_S = AGENT_INDEX[Agent(Core.CUBE, Pipe.S)]
VECTOR_S = AGENT_INDEX[Agent(Core.VECTOR, Pipe.S)]
SCALAR_OF: tuple[int, ...] = tuple(CUBE_S if a.core == Core.CUBE else VECTOR_S for a in AGENTS)
"""The scalar pipe of each agent's core, which issues the agent's instructions."""

ITEMSIZE: dict[str, int] = {
    "f32": 4,
    "f16": 2,
    "bf16": 2,
    "i64": 8,
    "i32": 4,
    "i16": 2,
    "i8": 1,
    "ui8": 1,
    "i1": 1,
}
"""Bytes of an element in every memory, by MLIR's name of the type; i1 takes a byte."""


@dataclass(frozen=True, slots=True)
class Reg:
    """A scalar that the run computes. As text it is a Python name, `v<id>`."""

    id: int
    level: int

    def __str__(self) -> str:
        return f"v{self.id}"


Value: TypeAlias = int | float | bool | Reg
Size: TypeAlias = int | Reg


def level_of(value: Value) -> int:
    return value.level if isinstance(value, Reg) else LAUNCH


@dataclass(frozen=True, slots=True)
class Offset:
    """constant + sum of factor * reg, in elements. As text it is a Python expression."""

    constant: int = 0
    terms: tuple[tuple[int, Reg], ...] = ()

    def plus(self, value: Size, factor: int = 1) -> Offset:
        """This offset + value * factor."""
        if not isinstance(value, Reg):
            return Offset(self.constant + value * factor, self.terms)
        factors = {reg: f for f, reg in self.terms}
        factors[value] = factors.get(value, 0) + factor
        return Offset(self.constant, tuple((f, reg) for reg, f in factors.items() if f))

    def times(self, factor: int) -> Offset:
        return Offset(self.constant * factor, tuple((f * factor, r) for f, r in self.terms))

    @property
    def level(self) -> int:
        return max((reg.level for _, reg in self.terms), default=LAUNCH)

    def __str__(self) -> str:
        parts = [str(reg) if f == 1 else f"{f} * {reg}" for f, reg in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """A gm argument of the kernel (`argument` is its position) or an `npu.alloc`.

    `storage` is the bytes that one copy takes, the padding of the cube's layouts included, `pitch`
    the same rounded up to the alignment of the space. `slot` is the copy in use where a placed
    buffer rotates (it has the level of the loop that the alloc stands in), None otherwise. `layout`
    is that of the space: nd, or the fractals nz, zz, zn.
    """

    index: int
    name: str
    space: str
    dtype: str
    shape: tuple[int, ...]
    level: int
    place: str
    storage: int
    pitch: int
    argument: int | None = None
    workspace: bool = False
    address: int | None = None
    copies: int = 1
    slot: Reg | None = None
    layout: str = "nd"

    @property
    def itemsize(self) -> int:
        return ITEMSIZE[self.dtype]

    @property
    def elements(self) -> int:
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def nbytes(self) -> int:
        """Bytes of the elements, without padding: the simulator keeps every memory row-major."""
        return self.elements * self.itemsize


@dataclass(frozen=True, slots=True)
class Bound:
    """What must hold of one axis of a sub-view: 0 <= start, start + (size - 1) * step < limit."""

    axis: int
    start: Size
    size: Size
    step: Size
    limit: Size


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A box of a buffer: what one memref value stands for.

    `name` is the value's name hint, or its buffer's name. `bounds` are the conditions of the
    sub-views on the way that are not plain from constants; `place` is that of the value's own
    operator.
    """

    index: int
    name: str
    buffer: Buffer
    offset: Offset
    sizes: tuple[Size, ...]
    strides: tuple[Size, ...]
    level: int
    place: str
    bounds: tuple[Bound, ...] = ()

    @property
    def dtype(self) -> str:
        return self.buffer.dtype

    @property
    def space(self) -> str:
        return self.buffer.space

    @property
    def static_shape(self) -> bool:
        """Whether sizes and strides are numbers; the offset may still change."""
        return not any(isinstance(s, Reg) for s in (*self.sizes, *self.strides))

    @property
    def byte_offset(self) -> Offset:
        """Bytes from the start of the buffer's first copy, the slot included: from the start of the
        space if `buffer.address` is added."""
        offset = self.offset.times(self.buffer.itemsize)
        slot = self.buffer.slot
        return offset if slot is None else offset.plus(slot, self.buffer.pitch)


Operand: TypeAlias = View | Value


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """dest = op(args); `op` is a key of `scalars.OPERATIONS`, `dtype` the type of the result and
    `operand_dtype` that of the last argument."""

    dest: Reg
    op: str
    args: tuple[Value, ...]
    dtype: str
    operand_dtype: str


@dataclass(frozen=True, slots=True, eq=False)
class ScalarLoad:
    """dest = the one element of `view` in gm, by the scalar pipe of every core of the kernel."""

    dest: Reg
    view: View
    agents: tuple[int, ...]
    place: str


@dataclass(frozen=True, slots=True, eq=False)
class Alloc:
    """From here on, in each iteration, `buffer` is a fresh one with undefined contents."""

    buffer: Buffer


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """for var in range(lower, upper, step); the body's own level is `level`."""

    var: Reg
    lower: Value
    upper: Value
    step: Value
    body: tuple[Statement, ...]
    level: int
    place: str


@dataclass(frozen=True, slots=True, eq=False)
class Instr:
    """An npu operator that a pipe executes. `kind` is its name without `npu.`.

    `operands` by kind (a last operand in brackets is absent where the operator has none):
      load, store, copy, fixpipe                    source, dest
      vabs ... vnot, vcast, vreduce, vtranspose     source, dest [, scratch]
      vadd ... vor, vcmp                            lhs, rhs, dest [, scratch]
      vsel                                          condition, lhs, rhs, dest [, scratch]
      vbrc                                          source, dest [, scratch]
      mmad                                          a, b, init, accumulator [, bias]
    A scalar operand is a Value. `reads` and `writes` are the positions of the views among them;
    the accumulator of mmad counts as read, unless the value of init is true in that run.

    `mode`: kind of vreduce, mode of vcmp, rounding of vcast ("" is rint). `dims`: of vreduce, or
    the permutation of vtranspose, or the l0 step of mmad on l1. `relu` of fixpipe. `transpose`: of
    a and b of mmad; the first one is that of copy.
    """

    index: int
    kind: str
    agent: int
    operands: tuple[Operand, ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    place: str
    mode: str = ""
    dims: tuple[int, ...] = ()
    relu: bool = False
    transpose: tuple[bool, bool] = (False, False)

    def view(self, position: int) -> View:
        operand = self.operands[position]
        if not isinstance(operand, View):
            raise TypeError(f"operand {position} of {self.kind} is a scalar")
        return operand

    @property
    def dest(self) -> View:
        """What is written (the scratch aside)."""
        return self.view(self.writes[0])


@dataclass(frozen=True, slots=True, eq=False)
class Flag:
    """Raises (`raised`) or awaits and lowers the events first + slot ... + count - 1 of a pipe
    pair.

    The event is (source, to, number), `source` and `to` being agents of one core.
    """

    raised: bool
    source: int
    to: int
    first: int
    slot: Reg | None
    count: int
    place: str


@dataclass(frozen=True, slots=True, eq=False)
class Barrier:
    """Each of `agents` has done all before it starts what comes later."""

    agents: tuple[int, ...]
    place: str


@dataclass(frozen=True, slots=True, eq=False)
class BlockFlag:
    """Counts cross-core flag `flag` up when `source` has done all before (`raised`), or makes `to`
    wait until it can count it down."""

    raised: bool
    source: int
    to: int
    flag: int
    place: str


Statement: TypeAlias = Scalar | ScalarLoad | Alloc | Loop | Instr | Flag | Barrier | BlockFlag


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """One kernel. `prelude` runs once a launch, `body` once a block.

    `block` and `block_count` are the registers that the launch sets; `blocks` is the number of
    blocks that the function asks for. `arguments` are the gm arguments in order. `placed`: every
    alloc has an address. `cores`: the scalar pipes of the cores that take part.
    """

    name: str
    core: str
    blocks: int | None
    target: str
    arguments: tuple[Buffer, ...]
    buffers: tuple[Buffer, ...]
    views: tuple[View, ...]
    instructions: tuple[Instr, ...]
    prelude: tuple[Scalar, ...]
    body: tuple[Statement, ...]
    block: Reg
    block_count: Reg
    cores: tuple[int, ...]
    place: str

    @property
    def allocs(self) -> Iterator[Buffer]:
        return (b for b in self.buffers if b.argument is None)

    @property
    def placed(self) -> bool:
        return all(b.address is not None for b in self.allocs)

    def argument_use(self) -> tuple[tuple[bool, bool], ...]:
        """For each argument, whether the kernel reads it and whether it writes it."""
        read = {i.view(p).buffer for i in self.instructions for p in i.reads}
        read.update(v.buffer for v in scalar_loads(self.body))
        written = {i.view(p).buffer for i in self.instructions for p in i.writes}
        return tuple((b in read, b in written) for b in self.arguments)


def scalar_loads(body: tuple[Statement, ...]) -> Iterator[View]:
    """The views that the scalar pipe reads, in `body` and its loops."""
    for statement in body:
        if isinstance(statement, ScalarLoad):
            yield statement.view
        elif isinstance(statement, Loop):
            yield from scalar_loads(statement.body)
