"""Kernels that users write: the builder that `lower` gets, and the emitter that calls it.

In: a graph.kernel of one own operator. Out: its function on buffers, like those of other emitters.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from math import prod
from pathlib import Path
from traceback import extract_tb
from typing import Any, TypeAlias

import xdsl
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import DiagnosticException, PassFailedException

from fusec.hw import Target
from fusec.lowering.arguments import arguments_of, output
from fusec.lowering.builder import Index, KernelBuilder
from fusec.lowering.emitted import EmittedKernel, Workspace, data_constant
from fusec.lowering.layout import memref_of, standard
from fusec.schedule.own import KERNELS, OwnSchedule, Unsupported
from fusec.schedule.region import Region
from fusec.semantics.interpreter import constant_array
from fusec_dialects.graph import ConstantOp, GraphOp, KernelOp
from fusec_dialects.graph.base import element_name, static_shape
from fusec_dialects.npu import Npu
from fusec_dialects.npu.attrs import Core, Space
from fusec_dialects.npu.base import NpuOp
from fusec_dialects.npu.vector import VCmpOp
from fusec_dialects.place import place

OPERATORS: dict[str, type[IRDLOperation]] = {
    op.name.removeprefix("npu."): op for op in Npu.operations if issubclass(op, NpuOp)
}
"""What a kernel is written with, by name: the instructions of both cores."""

Number: TypeAlias = int | float

_OURS = (str(Path(__file__).parents[1]), str(Path(xdsl.__file__ or "").parent))
"""Where code is that is no user's."""


@dataclass(frozen=True)
class Buffer:
    """A buffer or a view of one: `shape` are its sizes, numbers or values of the program."""

    value: SSAValue
    shape: tuple[Index, ...]
    dtype: str


class NpuKernel:
    """What `lower` builds a kernel with.

    Every instruction of the npu dialect is a method under its name, which takes buffers in the
    order of its constructor, the destination last: `npu.vadd(a, b, out)`; a number stands for a
    scalar of the instruction's type. Arithmetic on sizes and offsets: add, sub, mul, floordiv,
    ceildiv, mod, min, max.
    """

    def __init__(self, builder: KernelBuilder, target: Target) -> None:
        self._builder = builder
        self.target = target
        self.workspaces: list[Workspace] = []
        self.blocks = 1
        self.add, self.sub, self.mul = builder.add, builder.sub, builder.mul
        self.min, self.max, self.mod = builder.min, builder.max, builder.mod
        self.floordiv, self.ceildiv = builder.floordiv, builder.ceildiv
        self.cores: set[Core] = set()
        self._gridded = False

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("_"):
            raise AttributeError(name)
        operator = OPERATORS.get(name)
        if operator is None:
            near = get_close_matches(name, OPERATORS, n=1)
            advice = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(OPERATORS)}"
            raise AttributeError(f"npu.{name}: no such instruction; {advice}")
        return lambda *operands, **options: self._instruction(operator, operands, options)

    def _instruction(
        self, operator: type[Any], operands: Sequence[object], options: dict[str, Any]
    ) -> None:
        buffers = [o for o in operands if isinstance(o, Buffer)]
        if not buffers:
            raise TypeError(f"{operator.name}: it is given no buffer")
        dtype = buffers[0 if operator is VCmpOp else -1].dtype
        given = {k: v.value if isinstance(v, Buffer) else v for k, v in options.items()}
        plain: list[Any] = [self._operand(o, dtype) for o in operands]
        made = operator(*plain, **given)
        made.verify()
        self._builder.insert(made)
        self.cores.add(made.agent().core)

    def _operand(self, operand: object, dtype: str) -> object:
        if isinstance(operand, Buffer):
            return operand.value
        if isinstance(operand, bool):
            return self._builder.flag(operand)
        return self._builder.scalar(operand, dtype) if isinstance(operand, Number) else operand

    # Loops

    @contextmanager
    def tiles(self, *counts: int, core: str = "vector") -> Generator[tuple[Index, ...]]:
        """All positions of a grid, shared among the cores of a kind; once in a kernel.

        Gives the position of a tile; the last count varies fastest.
        """
        if self._gridded:
            raise ValueError("a kernel has one grid of tiles; use npu.loop inside of it")
        self._gridded = True
        self.blocks = min(prod(counts), self.target.cores(core))
        with self._builder.block_loop(counts, self.blocks) as position:
            yield position

    @contextmanager
    def rows(self, total: int, tile: int, core: str = "vector") -> Generator[tuple[Index, Index]]:
        """Tiles of `tile` rows out of `total`, shared among the cores: first row and count."""
        if tile < 1:
            raise ValueError(f"a tile of {tile} rows")
        with self.tiles(-(-total // tile), core=core) as (number,):
            start = self.mul(number, tile)
            yield start, self._builder.rest(total, start, tile)

    @contextmanager
    def loop(self, start: Index, end: Index, step: Index = 1) -> Generator[Index]:
        """`scf.for`; what is built inside is the body."""
        with self._builder.loop(start, end, step) as index:
            yield index

    # Buffers

    def buffer(
        self, space: str, shape: Sequence[int], dtype: str, sizes: Sequence[Index] | None = None
    ) -> Buffer:
        """A buffer in `ub`, `l1` or `l0c`; `sizes`: the part of it that is in use."""
        b, sizes = self._builder, tuple(shape if sizes is None else sizes)
        value = b.tile(Space(space), shape, dtype, sizes)
        return Buffer(value, sizes, dtype)

    def ub(self, shape: Sequence[int], dtype: str, sizes: Sequence[Index] | None = None) -> Buffer:
        """A buffer of the vector core."""
        return self.buffer("ub", shape, dtype, sizes)

    def l1(self, shape: Sequence[int], dtype: str, sizes: Sequence[Index] | None = None) -> Buffer:
        """A buffer of the cube core for operands."""
        return self.buffer("l1", shape, dtype, sizes)

    def l0c(self, shape: Sequence[int], dtype: str, sizes: Sequence[Index] | None = None) -> Buffer:
        """An accumulator of the cube core."""
        return self.buffer("l0c", shape, dtype, sizes)

    def workspace(self, shape: Sequence[int], dtype: str = "f32") -> Buffer:
        """A buffer in gm, for what goes from one core to the other."""
        b = self._builder
        self.workspaces.append(Workspace(tuple(shape), dtype))
        value = b.entry.insert_arg(memref_of(standard(shape, dtype)), len(b.entry.args))
        value.name_hint = "ws"
        b.args = (*b.args, value)
        return Buffer(value, tuple(shape), dtype)

    def view(
        self,
        source: Buffer,
        offsets: Sequence[Index],
        sizes: Sequence[Index],
        drop: Sequence[int] = (),
    ) -> Buffer:
        """A part of a buffer, without the dimensions in `drop` (of size 1)."""
        if not len(offsets) == len(sizes) == len(source.shape):
            raise ValueError(
                f"a view of a buffer of rank {len(source.shape)} with {len(offsets)} offsets and "
                f"{len(sizes)} sizes"
            )
        value = self._builder.subview(source.value, offsets, sizes, drop=drop)
        kept = tuple(size for i, size in enumerate(sizes) if i not in drop)
        return Buffer(value, kept, source.dtype)

    def reshape(self, source: Buffer, shape: Sequence[int]) -> Buffer:
        """A whole tensor in gm under another shape."""
        if not all(isinstance(n, int) for n in source.shape):
            raise ValueError("only a whole tensor in gm has another shape")
        if prod(n for n in source.shape if isinstance(n, int)) != prod(shape):
            raise ValueError(f"{list(source.shape)} as {list(shape)} has other elements")
        strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
        value = self._builder.reinterpret(source.value, 0, shape, strides)
        return Buffer(value, tuple(shape), source.dtype)


def emit(kernel: KernelOp, schedule: OwnSchedule, target: Target) -> EmittedKernel:
    """The function of a kernel of one own operator. Raises PassFailedException, with the line of
    the user's file, where `lower` fails."""
    op = Region.of_block(kernel.body.block).compute_ops[0]
    constants = {
        o: data_constant(constant_array(o.owner), element_name(o.type))
        for o in op.operands
        if isinstance(o.owner, ConstantOp)
    }
    arguments = arguments_of(kernel, list(constants.values()))
    b = KernelBuilder(kernel.sym_name.data, arguments.all)
    b.location = op.location
    npu = NpuKernel(b, target)
    end = kernel.body.block.last_op
    yielded = list(() if end is None else end.operands)

    def argument(value: SSAValue) -> Buffer:
        key = constants[value].name if value in constants else value
        return Buffer(b.args[arguments.places[key]], static_shape(value), element_name(value.type))

    inputs = [argument(value) for value in op.operands]
    outputs: list[Buffer] = []
    for result in op.results:
        shape, dtype = static_shape(result), element_name(result.type)
        if result in yielded:
            value = b.args[arguments.places[output(yielded.index(result))]]
            outputs.append(Buffer(value, shape, dtype))
        else:
            outputs.append(npu.workspace(shape, dtype))
    _lower(op, npu, inputs, outputs)
    core = "mixed" if len(npu.cores) > 1 else str(next(iter(npu.cores)))
    func = b.finish(core, npu.blocks, schedule.to_attr(), len(npu.workspaces))
    return EmittedKernel(func, list(constants.values()), tuple(npu.workspaces))


def _lower(op: GraphOp, npu: NpuKernel, inputs: list[Buffer], outputs: list[Buffer]) -> None:
    try:
        KERNELS[op.op_name].lower(op, npu, inputs, outputs)
    except Unsupported:
        raise
    except DiagnosticException as error:
        raise PassFailedException(f"{_where(op, error)}: {error}") from error
    except Exception as error:  # whatever the user's own code raises
        raise PassFailedException(
            f"{_where(op, error)}: {type(error).__name__}: {error}"
        ) from error
    if not npu.cores:
        raise PassFailedException(f"{place(op)}: its `lower` does nothing")


def _where(op: GraphOp, error: BaseException) -> str:
    """The operator, and the line of the user's file that failed."""
    for frame in reversed(extract_tb(error.__traceback__)):
        if not frame.filename.startswith(_OURS):
            return f"{place(op)}: its `lower` fails at {frame.filename}:{frame.lineno}"
    return f"{place(op)}: its `lower` fails"
