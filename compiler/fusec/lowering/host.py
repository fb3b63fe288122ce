"""Builds the host function from `@main` on the graph level: buffers in gm, free views, launches.

In: `@main`, whose operators are calls of kernels, graph.opaque, weights, constants, contiguous
views, and concats and slices in one buffer. Out: `func.func @main(inputs, outputs, weights)
attributes {npu.host}`. An output that is not itself the result of a call (an input, a weight, a
second name of one result) is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import prod
from typing import cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    LocationAttr,
    StringAttr,
    UnitAttr,
    UnknownLoc,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.memref import ReinterpretCastOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from fusec.lowering.arguments import span
from fusec.lowering.emitted import DATA, EmittedKernel, KernelConstant
from fusec.lowering.layout import Layout, memref_of, row_major, standard
from fusec.schedule.places import Places, is_run, strides_of
from fusec.schedule.views import RESHAPES
from fusec_dialects.graph import CallOp, ConstantOp, GraphOp, OpaqueOp, WeightOp
from fusec_dialects.graph.base import element_name, tensor_type
from fusec_dialects.graph.movement import ConcatOp, SliceOp, SplitOp
from fusec_dialects.npu.attrs import Space
from fusec_dialects.npu.control import LaunchOp
from fusec_dialects.npu.host import HostCallOp
from fusec_dialects.npu.move import AllocOp
from fusec_dialects.place import place

NAME = "graph.name"


@dataclass(frozen=True)
class HostKernel:
    """A kernel as the host launches it."""

    name: str
    blocks: int
    kernel: EmittedKernel


@dataclass
class HostBuilder:
    """`kernels` gives the kernel of a call; `copies` one that copies a tensor of a layout, for the
    output that an operator returns."""

    main: FuncOp
    kernels: Callable[[CallOp], HostKernel]
    copies: Callable[[Layout, Operation], HostKernel]
    constants: dict[str, KernelConstant] = field(default_factory=dict[str, KernelConstant])
    _block: Block = field(default_factory=Block)
    _buffers: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    _outputs: list[SSAValue] = field(default_factory=list[SSAValue])
    _weights: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    _attrs: list[DictionaryAttr] = field(default_factory=list[DictionaryAttr])
    _places: Places = field(default_factory=lambda: Places(Block()))

    def build(self) -> FuncOp:
        """The host function; raises PassFailedException for what is not outlined or not free."""
        source = self.main.body.block
        end = source.last_op
        if not isinstance(end, ReturnOp):
            raise PassFailedException(f"{place(self.main)}: the function does not return")
        self._arguments(end)
        self._places = Places(source)
        direct, copied = self._destinations(end.operands)
        for op in source.ops:
            if op is not end and any(result.first_use for result in op.results):
                self._step(op, direct)
        for index in copied:
            if 0 in tensor_type(end.operands[index]).get_shape():
                continue
            self._copy(end.operands[index], index, end)
        self._add(ReturnOp(), self.main)
        host = FuncOp("main", ([a.type for a in self._block.args], ()), Region(self._block))
        host.location = self.main.location
        host.attributes["npu.host"] = UnitAttr()
        host.properties["arg_attrs"] = ArrayAttr(self._attrs)
        return host

    # Arguments

    def _arguments(self, end: ReturnOp) -> None:
        given = list(self.main.arg_attrs or ())
        results = list(self.main.res_attrs or ())
        for i, value in enumerate(self.main.body.block.args):
            name = _name(given, i, value.name_hint or f"in{i}")
            self._buffers[value] = self._argument("npu.input", name, self._layout(value), value)
        for i, value in enumerate(end.operands):
            name = _name(results, i, f"out{i}")
            argument = self._argument("npu.output", name, self._layout(value), None)
            argument.name_hint = "y" if len(end.operands) == 1 else f"y{i}"
            self._outputs.append(argument)
        for op in self.main.body.block.ops:
            if isinstance(op, WeightOp) and op.y.first_use:
                name = op.weight.data
                if name not in self._weights:
                    self._weights[name] = self._argument(
                        "npu.weight", name, self._layout(op.y), op.y
                    )
                self._buffers[op.y] = self._weights[name]

    def _argument(self, role: str, name: str, layout: Layout, like: SSAValue | None) -> SSAValue:
        value = self._block.insert_arg(memref_of(layout), len(self._block.args))
        value.name_hint = None if like is None else like.name_hint
        value.location = self._location(like)
        self._attrs.append(DictionaryAttr({role: StringAttr(name)}))
        return value

    def _location(self, like: SSAValue | None) -> LocationAttr:
        """Where an argument is from; the function's location where that is not known."""
        found: LocationAttr = UnknownLoc()
        if isinstance(like, BlockArgument):
            found = like.location
        elif isinstance(like, OpResult):
            found = like.op.location
        return self.main.location if isinstance(found, UnknownLoc) else found

    def _constant(self, constant: KernelConstant) -> SSAValue:
        """The argument that holds a constant, which `@weights` makes."""
        if constant.name not in self._weights:
            self.constants[constant.name] = constant
            layout = standard(constant.shape, constant.dtype)
            self._weights[constant.name] = self._argument("npu.weight", constant.name, layout, None)
        return self._weights[constant.name]

    # Where results go

    def _destinations(
        self, returned: Sequence[SSAValue]
    ) -> tuple[dict[SSAValue, SSAValue], list[int]]:
        """Result of a call or concat -> the output that it is stored to at once; outputs to be
        copied."""
        direct: dict[SSAValue, SSAValue] = {}
        copied: list[int] = []
        for index, value in enumerate(returned):
            base = value
            while isinstance(base, OpResult) and _is_free_view(base.op):
                base = base.op.operands[0]
            stored = isinstance(base.owner, CallOp | OpaqueOp | ConcatOp)
            if stored and base not in direct and self._places.get(base) is None:
                direct[base] = self._outputs[index]
            else:
                copied.append(index)
        return direct, copied

    # Operators

    def _step(self, op: Operation, direct: dict[SSAValue, SSAValue]) -> None:
        if isinstance(op, CallOp):
            self._call(op, direct)
        elif isinstance(op, OpaqueOp):
            self._host_call(op, direct)
        elif isinstance(op, ConstantOp):
            self._buffers[op.y] = self._constant(_data(op))
        elif isinstance(op, ConcatOp):
            self._concat(op, direct)
        elif isinstance(op, SliceOp | SplitOp):
            for result in op.results:
                self._buffers[result] = self._part(result, direct, op)
        elif _is_free_view(op):
            source, result = self._buffers[op.operands[0]], op.results[0]
            if self._places.get(result) is None:
                self._buffers[result] = self._view(source, self._layout(result), op)
            elif result not in self._buffers:
                self._buffers[result] = self._part(result, direct, op)
        elif not isinstance(op, WeightOp):
            raise PassFailedException(
                f"{place(op)} is not in a kernel; run graph-fuse and graph-outline first"
            )

    def _call(self, op: CallOp, direct: dict[SSAValue, SSAValue]) -> None:
        found = self.kernels(op)
        arguments = [self._buffers[value] for value in op.inputs]
        arguments += [self._constant(constant) for constant in found.kernel.constants]
        arguments += [self._result(result, direct, op) for result in op.results]
        for shape, dtype in found.kernel.workspaces:
            buffer = self._alloc(standard(shape, dtype), op)
            buffer.name_hint = "ws"
            arguments.append(buffer)
        self._add(LaunchOp(found.name, found.blocks, arguments), op)

    def _concat(self, op: ConcatOp, direct: dict[SSAValue, SSAValue]) -> None:
        """Nothing to do: what wrote the operands wrote them into the result's buffer."""
        for value in op.inputs:
            base = value
            while isinstance(base, OpResult) and _is_free_view(base.op):
                base = base.op.operands[0]
            if not isinstance(base.owner, CallOp | OpaqueOp | ConcatOp):
                raise PassFailedException(
                    f"{place(op)}: {value.type} is not made by a kernel, so it cannot be made in "
                    "the concat's buffer; run graph-in-place, or leave the concat in a kernel"
                )
        self._result(op.y, direct, op)

    def _host_call(self, op: OpaqueOp, direct: dict[SSAValue, SSAValue]) -> None:
        for value in (*op.inputs, *op.outputs):
            if self._places.is_strided(value):
                raise PassFailedException(
                    f"{place(op)}: {value.type} is no run of memory where it lies; make it a copy"
                )
        domain = "" if op.domain is None else op.domain.data
        opset, node = op.opset.value.data, op.onnx.data
        inputs = [self._buffers[value] for value in op.inputs]
        outputs = [self._result(result, direct, op) for result in op.results]
        self._add(HostCallOp(op.op_type.data, domain, opset, node, inputs, outputs), op)

    def _result(
        self, result: SSAValue, direct: dict[SSAValue, SSAValue], op: Operation
    ) -> SSAValue:
        """The buffer that a result is written to: an output of the network, or one of its own."""
        if self._places.get(result) is None:
            return self._root(result, direct, op)
        self._buffers[result] = self._part(result, direct, op)
        return self._buffers[result]

    def _root(self, value: SSAValue, direct: dict[SSAValue, SSAValue], op: Operation) -> SSAValue:
        """The buffer of a value that has one of its own, made when first needed."""
        if value in self._buffers:
            return self._buffers[value]
        layout = self._layout(value)
        output = direct.get(value)
        if output is None:
            buffer = self._alloc(layout, op)
            buffer.name_hint = value.name_hint
        else:
            buffer = self._view(output, layout, op)
        self._buffers[value] = buffer
        return buffer

    def _part(self, value: SSAValue, direct: dict[SSAValue, SSAValue], op: Operation) -> SSAValue:
        """The memory of a value that lives in another's buffer: itself where it is one run, else
        everything from its first element to its last."""
        access = self._places.of(value)
        layout = self._layout(value)
        sizes = cast("tuple[int, ...]", layout.shape)
        if not is_run(access):
            strides = strides_of(access)
            if strides is None:
                raise PassFailedException(
                    f"{place(op)}: {value.type} has no strides where it lies; make it a copy"
                )
            sizes = (span(sizes, strides),)
        source = self._root(access.root, direct, op)
        layout = Layout(sizes, row_major(sizes), access.offset, layout.dtype, layout.space)
        if access.offset == 0:
            return self._view(source, layout._replace(strides=None), op)
        return self._cast(source, layout, op)

    def _copy(self, value: SSAValue, index: int, end: Operation) -> None:
        if self._places.strides(value) is not None:
            raise PassFailedException(
                f"{place(end)}: output {index} is a part of a larger buffer; copy it in a kernel"
            )
        found = self.copies(self._layout(value), end)
        self._add(
            LaunchOp(found.name, found.blocks, [self._buffers[value], self._outputs[index]]), end
        )

    # Buffers

    def _alloc(self, layout: Layout, op: Operation) -> SSAValue:
        return self._add(AllocOp(memref_of(layout)), op).results[0]

    def _view(self, source: SSAValue, layout: Layout, op: Operation) -> SSAValue:
        """A contiguous buffer in another shape; the buffer itself if it has the shape."""
        type_ = memref_of(layout)
        if source.type == type_:
            return source
        return self._cast(source, layout, op)

    def _cast(self, source: SSAValue, layout: Layout, op: Operation) -> SSAValue:
        """A run of a buffer from an element on, in another shape."""
        sizes = cast("tuple[int, ...]", layout.shape)
        strides = cast("tuple[int, ...]", row_major(sizes))
        type_, offset = memref_of(layout), layout.offset or 0
        return self._add(
            ReinterpretCastOp.from_dynamic(source, [offset], sizes, strides, type_), op
        ).results[0]

    def _layout(self, value: SSAValue) -> Layout:
        shape = tensor_type(value).get_shape()
        if any(size < 0 for size in shape):
            raise PassFailedException(
                f"{place(self.main)}: {value.type} has sizes that are not known; "
                "fix them with --shape NAME=AxB"
            )
        return Layout(tuple(shape), None, 0, element_name(value.type), Space.GM)

    def _add(self, op: Operation, like: Operation) -> Operation:
        op.location = like.location
        self._block.add_op(op)
        return op


def _name(attrs: Sequence[DictionaryAttr], index: int, default: str) -> str:
    found: Attribute | None = attrs[index].data.get(NAME) if index < len(attrs) else None
    return found.data if isinstance(found, StringAttr) else default


def _is_free_view(op: Operation) -> bool:
    """Whether the result holds the same elements in the same order as the operand."""
    if not isinstance(op, GraphOp):
        return False
    if op.op_name in RESHAPES:
        return True
    if op.op_name != "transpose":
        return False
    shape = tensor_type(op.operands[0]).get_shape()
    perm = cast("tuple[int, ...]", op.attrs()["perm"])
    moved = [axis for axis in perm if shape[axis] != 1]
    return moved == sorted(moved)


def _data(op: ConstantOp) -> KernelConstant:
    """A constant of the graph, named after its contents."""
    type_ = tensor_type(op.y)
    shape = type_.get_shape()
    raw = op.value.data.data
    digest = sha256(str(type_).encode() + raw).hexdigest()[:12]
    array = np.frombuffer(raw, np.uint8).reshape(*shape, len(raw) // max(prod(shape), 1))
    return KernelConstant(f"constant.{digest}", element_name(op.y.type), tuple(shape), DATA, array)
