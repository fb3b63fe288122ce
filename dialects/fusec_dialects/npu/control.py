"""Blocks, synchronisation and the host side: block index, flags, barriers, launches."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I64,
    FlatSymbolRefAttrConstr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StridedLayoutAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import NoMemoryEffect, SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from .attrs import PIPE_CORE, Core, CoreAttr, Pipe, PipeAttr, memref_type
from .base import Buffer

EVENT_IDS = 8
"""Events of one pair of pipes (EVENT_ID0 to EVENT_ID7)."""

BLOCK_FLAGS = 16
"""Cross-core flags of one kernel."""


class IndexOp(IRDLOperation):
    """An index that the launch determines."""

    result = result_def(IndexType())
    traits = traits_def(NoMemoryEffect())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])


@irdl_op_definition
class BlockIdxOp(IndexOp):
    """Which block of the launch this is, from 0."""

    name = "npu.block_idx"


@irdl_op_definition
class BlockNumOp(IndexOp):
    """How many blocks the launch has."""

    name = "npu.block_num"


class FlagOp(IRDLOperation):
    """`<mte2> to <v> id 0`: an event of a pair of pipes.

    With `slot(%buf)` the event is id plus the buffer's current copy; with `copies N` all of id to
    id + N - 1 are meant (to prime and drain a rotating buffer).
    """

    source = prop_def(PipeAttr)
    to = prop_def(PipeAttr)
    id = prop_def(IntegerAttr[I64])
    copies = opt_prop_def(IntegerAttr[I64])
    slot = opt_operand_def(Buffer)

    assembly_format = (
        "$source `to` $to `id` $id (`copies` $copies^)? "
        "(`slot` `(` $slot^ `:` type($slot) `)`)? attr-dict"
    )

    def __init__(
        self,
        source: Pipe,
        to: Pipe,
        id: int,
        *,
        copies: int | None = None,
        slot: SSAValue | None = None,
    ) -> None:
        properties: dict[str, Attribute | None] = {
            "source": PipeAttr(source),
            "to": PipeAttr(to),
            "id": IntegerAttr(id, i64),
            "copies": None if copies is None else IntegerAttr(copies, i64),
        }
        super().__init__(operands=[slot], properties=properties)

    def verify_(self) -> None:
        if self.source == self.to:
            raise VerifyException(f"{self.name}: one pipe orders itself with npu.barrier")
        cores = {PIPE_CORE[p.data] for p in (self.source, self.to) if p.data in PIPE_CORE}
        if len(cores) > 1:
            raise VerifyException(
                f"{self.name}: {self.source.data.value} and {self.to.data.value} are on different "
                "cores; use npu.sync_block_set and npu.sync_block_wait"
            )
        copies = 1 if self.copies is None else self.copies.value.data
        if self.copies is not None and self.slot is not None:
            raise VerifyException(f"{self.name}: either `copies` or `slot`, not both")
        if self.id.value.data < 0 or copies < 1 or self.id.value.data + copies > EVENT_IDS:
            raise VerifyException(f"{self.name}: a pair of pipes has events 0 to {EVENT_IDS - 1}")

    def core(self, default: Core) -> Core:
        """The core whose pipes these are; `default` where both kinds of core have them."""
        for pipe in (self.source.data, self.to.data):
            if pipe in PIPE_CORE:
                return PIPE_CORE[pipe]
        return default


@irdl_op_definition
class SetFlagOp(FlagOp):
    """Raised when all that `source` was given before is done."""

    name = "npu.set_flag"


@irdl_op_definition
class WaitFlagOp(FlagOp):
    """`to` starts nothing that comes later before the flag is raised; the flag is then lowered."""

    name = "npu.wait_flag"


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """What the pipe was given before is done before it starts what comes later."""

    name = "npu.barrier"
    pipe = prop_def(PipeAttr)
    assembly_format = "$pipe attr-dict"

    def __init__(self, pipe: Pipe) -> None:
        super().__init__(properties={"pipe": PipeAttr(pipe)})


class SyncBlockOp(IRDLOperation):
    """`<cube> <fix> to <vector> <mte2> flag 0`: between the cube core and its vector cores."""

    core = prop_def(CoreAttr)
    pipe = prop_def(PipeAttr)
    to_core = prop_def(CoreAttr)
    to_pipe = prop_def(PipeAttr)
    flag = prop_def(IntegerAttr[I64])
    assembly_format = "$core $pipe `to` $to_core $to_pipe `flag` $flag attr-dict"

    def __init__(self, core: Core, pipe: Pipe, to_core: Core, to_pipe: Pipe, flag: int) -> None:
        properties: dict[str, Attribute | None] = {
            "core": CoreAttr(core),
            "pipe": PipeAttr(pipe),
            "to_core": CoreAttr(to_core),
            "to_pipe": PipeAttr(to_pipe),
            "flag": IntegerAttr(flag, i64),
        }
        super().__init__(properties=properties)

    def verify_(self) -> None:
        if self.core == self.to_core:
            raise VerifyException(f"{self.name}: pipes of one core are ordered with npu.set_flag")
        for core, pipe in ((self.core, self.pipe), (self.to_core, self.to_pipe)):
            if PIPE_CORE.get(pipe.data, core.data) != core.data:
                raise VerifyException(
                    f"{self.name}: the {core.data.value} core has no pipe {pipe.data.value}"
                )
        if not 0 <= self.flag.value.data < BLOCK_FLAGS:
            raise VerifyException(f"{self.name}: flags are 0 to {BLOCK_FLAGS - 1}")


@irdl_op_definition
class SyncBlockSetOp(SyncBlockOp):
    """Counts the flag up when all that the pipe was given before is done."""

    name = "npu.sync_block_set"


@irdl_op_definition
class SyncBlockWaitOp(SyncBlockOp):
    """`to_pipe` starts nothing that comes later before it could count the flag down."""

    name = "npu.sync_block_wait"


def passed_as(type_: Attribute) -> Attribute:
    """What a kernel sees of a buffer: a contiguous part is a buffer that begins at the part."""
    buffer = memref_type(type_)
    if buffer is None or not isinstance(buffer.layout, StridedLayoutAttr):
        return type_
    step = 1
    shape, strides = buffer.get_shape(), tuple(buffer.layout.get_strides())
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if stride != step and size != 1:
            return type_
        step *= size
    return MemRefType(buffer.element_type, shape, memory_space=buffer.memory_space)


class LaunchSymbol(SymbolUserOpInterface):
    """The launched kernel exists and takes what it is given."""

    def verify(self, op: Operation) -> None:
        if not isinstance(op, LaunchOp):
            return
        kernel = SymbolTable.lookup_symbol(op, op.kernel)
        if not isinstance(kernel, FuncOp):
            raise VerifyException(f"npu.launch: no kernel {op.kernel}")
        expected = kernel.function_type.inputs.data
        found = tuple(passed_as(v.type) for v in op.arguments)
        if expected == found:
            return
        for i, (e, f) in enumerate(zip(expected, found, strict=False)):
            if e != f:
                raise VerifyException(f"npu.launch {op.kernel}: argument {i} is {f}, expected {e}")
        raise VerifyException(
            f"npu.launch {op.kernel}: {len(found)} arguments, expected {len(expected)}"
        )


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """One kernel on the NPU: `npu.launch @relu_0 blocks(20) (%x, %y : memref<..>, memref<..>)`."""

    name = "npu.launch"

    kernel = prop_def(FlatSymbolRefAttrConstr)
    blocks = prop_def(IntegerAttr[I64])
    arguments = var_operand_def(Buffer)

    traits = traits_def(LaunchSymbol())
    assembly_format = (
        "$kernel `blocks` `(` $blocks `)` `(` $arguments `:` type($arguments) `)` attr-dict"
    )

    def __init__(self, kernel: str, blocks: int, arguments: Sequence[SSAValue]) -> None:
        super().__init__(
            operands=[arguments],
            properties={"kernel": SymbolRefAttr(kernel), "blocks": IntegerAttr(blocks, i64)},
        )

    def verify_(self) -> None:
        if self.blocks.value.data < 1:
            raise VerifyException("npu.launch: a launch has at least one block")
