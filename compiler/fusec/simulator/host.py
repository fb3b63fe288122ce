"""Decoding of a module's host function: buffers in gm and the launches between them.

In: a module with one function that has `npu.host`. Out: a `Host`, plain Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DictionaryAttr, MemRefType, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from fusec.simulator.decode_state import function_place
from fusec.simulator.errors import SimulationError
from fusec.simulator.form import ITEMSIZE
from fusec_dialects.npu import AllocOp, LaunchOp
from fusec_dialects.npu.base import element_type
from fusec_dialects.place import place

ROLES = ("input", "output", "weight")


@dataclass(frozen=True, slots=True, eq=False)
class HostBuffer:
    """An argument of the host function (`role` is not empty) or an npu.alloc in gm.

    `name` is the name the user knows an argument by, else the value's.
    """

    index: int
    name: str
    role: str
    dtype: str
    shape: tuple[int, ...]
    address: int | None
    place: str

    @property
    def nbytes(self) -> int:
        return _nbytes(self.shape, self.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class HostView:
    """Contiguous bytes of a host buffer, from byte `start`."""

    buffer: HostBuffer
    start: int
    dtype: str
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return _nbytes(self.shape, self.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """One kernel on `blocks` blocks; `index` counts the launches."""

    index: int
    kernel: str
    blocks: int
    arguments: tuple[HostView, ...]
    place: str


@dataclass(frozen=True, slots=True, eq=False)
class Host:
    """The host function: all its buffers (arguments first) and its launches in order."""

    name: str
    buffers: tuple[HostBuffer, ...]
    launches: tuple[Launch, ...]

    @property
    def arguments(self) -> tuple[HostBuffer, ...]:
        return tuple(b for b in self.buffers if b.role)

    @property
    def gm_bytes(self) -> int:
        """Bytes of gm that placed allocs span; 0 where nothing is placed."""
        placed = (b.address + b.nbytes for b in self.buffers if b.address is not None)
        return max(placed, default=0)


def _nbytes(shape: Sequence[int], dtype: str) -> int:
    count = ITEMSIZE[dtype]
    for size in shape:
        count *= size
    return count


def find_host(module: ModuleOp) -> func.FuncOp:
    """The host function of a module. Raises SimulationError where there is none, or more than
    one."""
    hosts = [
        op
        for op in module.body.block.ops
        if isinstance(op, func.FuncOp) and "npu.host" in op.attributes
    ]
    if len(hosts) != 1:
        raise SimulationError(
            "module",
            f"{len(hosts)} functions have the attribute npu.host",
            "mark one function as the host side, or run a kernel by itself with run_kernel",
        )
    return hosts[0]


def kernels_of(module: ModuleOp) -> dict[str, func.FuncOp]:
    """Every kernel function by name."""
    return {
        op.sym_name.data: op
        for op in module.body.block.ops
        if isinstance(op, func.FuncOp) and "npu.host" not in op.attributes
    }


def decode_host(function: func.FuncOp) -> Host:
    """The host function in plain Python. Raises SimulationError for what it does not know."""
    entry = function.body.first_block
    if entry is None:
        raise SimulationError(
            function_place(function), "the host function has no body", "give it one"
        )
    attributes = function.arg_attrs.data if function.arg_attrs else ()
    buffers: list[HostBuffer] = []
    launches: list[Launch] = []
    views: dict[SSAValue, HostView] = {}
    for position, argument in enumerate(entry.args):
        given = attributes[position] if position < len(attributes) else DictionaryAttr({})
        role, name = _role(function, position, given)
        where = f"{function_place(function)}, argument {position}"
        _add(buffers, views, argument, name, role, None, where)
    for op in entry.ops:
        match op:
            case AllocOp():
                name = op.result.name_hint or f"b{len(buffers)}"
                address = None if op.address is None else op.address.value.data
                _add(buffers, views, op.result, name, "", address, place(op))
            case memref.ReinterpretCastOp():
                views[op.result] = _cast(op, _view(views, op.source, op))
            case LaunchOp():
                launches.append(
                    Launch(
                        len(launches),
                        op.kernel.root_reference.data,
                        op.blocks.value.data,
                        tuple(_view(views, value, op) for value in op.arguments),
                        place(op),
                    )
                )
            case func.ReturnOp():
                pass
            case _:
                raise SimulationError(
                    place(op),
                    "the host side does not know it",
                    "use npu.alloc, memref.reinterpret_cast and npu.launch",
                )
    return Host(function.sym_name.data, tuple(buffers), tuple(launches))


def _role(function: func.FuncOp, position: int, given: DictionaryAttr) -> tuple[str, str]:
    for role in ROLES:
        name = given.data.get(f"npu.{role}")
        if isinstance(name, StringAttr):
            return role, name.data
    raise SimulationError(
        f"{function_place(function)}, argument {position}",
        "it has no name",
        'say what it is: {npu.input = "name"}, npu.output or npu.weight',
    )


def _add(
    buffers: list[HostBuffer],
    views: dict[SSAValue, HostView],
    value: SSAValue,
    name: str,
    role: str,
    address: int | None,
    where: str,
) -> None:
    dtype, shape = _type(value, where)
    buffer = HostBuffer(len(buffers), name, role, dtype, shape, address, where)
    buffers.append(buffer)
    views[value] = HostView(buffer, 0, dtype, shape)


def _type(value: SSAValue, where: str) -> tuple[str, tuple[int, ...]]:
    type_ = value.type
    if not isinstance(type_, MemRefType) or not type_.has_static_shape():
        raise SimulationError(where, f"{type_} is no buffer of static shape", "give it a shape")
    dtype = str(element_type(value))
    if dtype not in ITEMSIZE:
        raise SimulationError(
            where, f"no memory holds {dtype}", f"use one of {', '.join(ITEMSIZE)}"
        )
    return dtype, type_.get_shape()


def _view(views: dict[SSAValue, HostView], value: SSAValue, user: Operation) -> HostView:
    found = views.get(value)
    if found is None:
        raise SimulationError(
            place(user), "a buffer is used before it is defined", "define it first"
        )
    return found


def _cast(op: memref.ReinterpretCastOp, source: HostView) -> HostView:
    """A contiguous view; its offset counts elements from the start of the buffer."""
    where = place(op)
    dtype, shape = _type(op.result, where)
    step = 1
    contiguous = not (op.offsets or op.sizes or op.strides) and dtype == source.dtype
    for size, stride in zip(
        reversed(op.static_sizes.get_values()),
        reversed(op.static_strides.get_values()),
        strict=True,
    ):
        contiguous &= stride == step or size == 1
        step *= size
    start = op.static_offsets.get_values()[0] * ITEMSIZE[dtype]
    inside = start >= 0 and start + _nbytes(shape, dtype) <= source.buffer.nbytes
    if not contiguous or not inside:
        raise SimulationError(
            where,
            "the host side casts only to contiguous parts of a buffer",
            "let a kernel read the buffer through a view of its own",
        )
    return HostView(source.buffer, start, dtype, shape)
