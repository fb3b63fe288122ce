"""Decoding of a module's host function: buffers in gm, the launches and host calls between them.

In: a module with one function that has `npu.host`. Out: a `Host`, plain Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DictionaryAttr, MemRefType, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from fusec.semantics.dtypes import DType
from fusec.simulator.decode_state import function_place
from fusec.simulator.errors import SimulationError
from fusec.simulator.numerics import DTYPES
from fusec_dialects.npu import AllocOp, LaunchOp
from fusec_dialects.npu.base import element_type
from fusec_dialects.npu.host import HostCallOp
from fusec_dialects.place import place

ROLES = ("input", "output", "weight")

HOST_TYPES: dict[str, DType] = {
    **DTYPES,
    "f64": np.dtype(np.float64),
    **{f"ui{width}": np.dtype(f"uint{width}") for width in (16, 32, 64)},
}
"""numpy's type of what buffers in gm hold; no kernel works on the last four."""


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
class HostCall:
    """An ONNX operator that the host computes; `onnx` is its node, as npu.host_call has it."""

    op_type: str
    onnx: str
    reads: tuple[HostView, ...]
    writes: tuple[HostView, ...]
    place: str

    @property
    def views(self) -> tuple[HostView, ...]:
        return (*self.reads, *self.writes)

    @property
    def nbytes(self) -> int:
        """Bytes that cross between the NPU's memory and the host."""
        return sum(view.nbytes for view in self.views)


@dataclass(frozen=True, slots=True, eq=False)
class Host:
    """The host function: all its buffers (arguments first), launches and host calls in order."""

    name: str
    buffers: tuple[HostBuffer, ...]
    steps: tuple[Launch | HostCall, ...]

    @property
    def launches(self) -> tuple[Launch, ...]:
        return tuple(step for step in self.steps if isinstance(step, Launch))

    @property
    def calls(self) -> tuple[HostCall, ...]:
        return tuple(step for step in self.steps if isinstance(step, HostCall))

    @property
    def arguments(self) -> tuple[HostBuffer, ...]:
        return tuple(b for b in self.buffers if b.role)

    @property
    def gm_bytes(self) -> int:
        """Bytes of gm that placed allocs span; 0 where nothing is placed."""
        placed = (b.address + b.nbytes for b in self.buffers if b.address is not None)
        return max(placed, default=0)


def _nbytes(shape: Sequence[int], dtype: str) -> int:
    count = HOST_TYPES[dtype].itemsize
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
    steps: list[Launch | HostCall] = []
    launches = 0
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
                name, blocks = op.kernel.root_reference.data, op.blocks.value.data
                arguments = _views(views, op.arguments, op)
                steps.append(Launch(launches, name, blocks, arguments, place(op)))
                launches += 1
            case HostCallOp():
                reads, writes = _views(views, op.inputs, op), _views(views, op.outputs, op)
                call = HostCall(op.op_type.data, op.onnx.data, reads, writes, place(op))
                steps.append(call)
            case func.ReturnOp():
                pass
            case _:
                raise SimulationError(
                    place(op),
                    "the host side does not know it",
                    "use npu.alloc, memref.reinterpret_cast, npu.launch and npu.host_call",
                )
    return Host(function.sym_name.data, tuple(buffers), tuple(steps))


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
    if dtype not in HOST_TYPES:
        raise SimulationError(
            where, f"no memory holds {dtype}", f"use one of {', '.join(HOST_TYPES)}"
        )
    return dtype, type_.get_shape()


def _view(views: dict[SSAValue, HostView], value: SSAValue, user: Operation) -> HostView:
    found = views.get(value)
    if found is None:
        raise SimulationError(
            place(user), "a buffer is used before it is defined", "define it first"
        )
    return found


def _views(
    views: dict[SSAValue, HostView], values: Sequence[SSAValue], user: Operation
) -> tuple[HostView, ...]:
    return tuple(_view(views, value, user) for value in values)


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
    start = op.static_offsets.get_values()[0] * HOST_TYPES[dtype].itemsize
    inside = start >= 0 and start + _nbytes(shape, dtype) <= source.buffer.nbytes
    if not contiguous or not inside:
        raise SimulationError(
            where,
            "the host side casts only to contiguous parts of a buffer",
            "let a kernel read the buffer through a view of its own",
        )
    return HostView(source.buffer, start, dtype, shape)
