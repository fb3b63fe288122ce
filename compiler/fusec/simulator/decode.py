"""From a kernel function of npu IR, placed or not, to the decoded form of `form.py`.

All sub-views and casts are resolved, constants folded, and scalars moved out of loops that they do
not depend on. After this no reader needs xDSL.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation

from fusec.hw.target import DEFAULT_TARGET, Target, load_target
from fusec.simulator.decode_npu import (
    BLOCK_FLAG_OPS,
    FLAG_OPS,
    decode_barrier,
    decode_block_flag,
    decode_flag,
    decode_instruction,
)
from fusec.simulator.decode_state import DecodeState, function_place
from fusec.simulator.decode_views import (
    decode_alloc,
    decode_argument,
    decode_reinterpret_cast,
    decode_subview,
    element,
)
from fusec.simulator.errors import SimulationError
from fusec.simulator.form import BLOCK, CUBE_S, VECTOR_S, Kernel, ScalarLoad
from fusec.simulator.scalars import PREDICATES, ROUND
from fusec_dialects.npu import AllocOp, BarrierOp, BlockIdxOp, BlockNumOp
from fusec_dialects.npu.base import NpuOp
from fusec_dialects.place import place

_CORES = {"cube": (CUBE_S,), "vector": (VECTOR_S,), "mixed": (CUBE_S, VECTOR_S)}


def decode_kernel(kernel: func.FuncOp, target: str | Target | None = None) -> Kernel:
    """The decoded form of one kernel function.

    `target` (a name, a file or the object) gives the alignment of the copies of rotating buffers;
    by default it is the module's `npu.target`. Raises SimulationError for IR that is not of the npu
    level, and UnknownTargetError for a target that does not exist.
    """
    core = _text(kernel.attributes, "npu.core", "vector")
    if core not in _CORES:
        raise SimulationError(
            function_place(kernel), f"npu.core is '{core}'", 'write "vector", "cube" or "mixed"'
        )
    entry = kernel.body.first_block
    if entry is None:
        raise SimulationError(
            function_place(kernel), "the kernel has no body", "give its definition"
        )
    if not isinstance(target, Target):
        target = load_target(target or target_of(kernel))
    state = DecodeState(kernel, target, core)
    attributes = kernel.arg_attrs.data if kernel.arg_attrs else ()
    for position, argument in enumerate(entry.args):
        workspace = position < len(attributes) and "npu.workspace" in attributes[position].data
        decode_argument(state, argument, position, workspace)
    arguments = tuple(state.buffers)
    _block(state, entry)
    blocks = kernel.attributes.get("npu.blocks")
    return Kernel(
        name=kernel.sym_name.data,
        core=core,
        blocks=blocks.value.data if isinstance(blocks, IntegerAttr) else None,
        target=state.target.name,
        arguments=arguments,
        buffers=tuple(state.buffers),
        views=tuple(state.views),
        instructions=tuple(state.instructions),
        prelude=tuple(state.prelude),
        body=tuple(state.bodies[BLOCK]),
        block=state.block,
        block_count=state.block_count,
        cores=_CORES[core],
        place=state.place,
    )


def target_of(op: Operation) -> str:
    """The target that the module around `op` names, or the default."""
    above = op.parent_op()
    return (
        DEFAULT_TARGET if above is None else _text(above.attributes, "npu.target", DEFAULT_TARGET)
    )


def _text(attributes: dict[str, Attribute], name: str, default: str) -> str:
    value = attributes.get(name)
    return value.data if isinstance(value, StringAttr) else default


def _block(state: DecodeState, block: Block) -> None:
    for op in block.ops:
        _operation(state, op)


def _operation(state: DecodeState, op: Operation) -> None:
    handler = _HANDLERS.get(type(op))
    if handler is not None:
        handler(state, op)
    elif (name := _ARITH.get(type(op))) is not None:
        _arith(state, op, name)
    elif isinstance(op, NpuOp):
        decode_instruction(state, op)
    else:
        raise state.refuse(
            op,
            "it is not of the npu level",
            "a kernel consists of arith, scf.for, memref views and loads, and npu operators",
        )


def _arith(state: DecodeState, op: Operation, name: str) -> None:
    args = [state.value(operand, op) for operand in op.operands]
    result = op.results[0]
    types = str(result.type), str(op.operands[-1].type)
    state.values[result] = state.scalar(name, args, *types)


def _same(state: DecodeState, op: Operation) -> None:
    """A conversion between integer types, which hold the same Python integer."""
    state.values[op.results[0]] = state.value(op.operands[0], op)


def _constant(state: DecodeState, op: arith.ConstantOp) -> None:
    attribute = op.value
    dtype = str(op.result.type)
    match attribute:
        case IntegerAttr():
            number = attribute.value.data
            state.values[op.result] = bool(number) if dtype == "i1" else number
        case FloatAttr():
            number = attribute.value.data
            state.values[op.result] = ROUND[dtype](number) if dtype in ROUND else number
        case _:
            raise state.refuse(op, f"a constant of {dtype} is no scalar", "pass it as an argument")


def _compare(state: DecodeState, op: arith.CmpiOp) -> None:
    args = [state.value(op.lhs, op), state.value(op.rhs, op)]
    name = f"cmpi.{PREDICATES[op.predicate.value.data]}"
    state.values[op.result] = state.scalar(name, args, "i1", str(op.lhs.type))


def _block_idx(state: DecodeState, op: BlockIdxOp) -> None:
    state.values[op.result] = state.block


def _block_num(state: DecodeState, op: BlockNumOp) -> None:
    state.values[op.result] = state.block_count


def _for(state: DecodeState, op: scf.ForOp) -> None:
    if op.iter_args:
        raise state.refuse(op, "the loop carries values", "keep them in buffers")
    lower, upper, step = (state.value(v, op) for v in (op.lb, op.ub, op.step))
    if isinstance(step, int) and step < 1:
        raise state.refuse(op, f"the step is {step}", "steps are positive")
    state.values[op.body.block.args[0]] = state.open_loop(lower, step)
    _block(state, op.body.block)
    state.close_loop(upper, place(op))


def _load(state: DecodeState, op: memref.LoadOp) -> None:
    source = state.memref(op.memref, op)
    if source.space != "gm":
        raise state.refuse(op, f"the scalar unit reads {source.space}", "read from gm")
    view = element(state, source, [state.size(i, op) for i in op.indices], op)
    dest = state.reg(state.level)
    state.values[op.res] = dest
    state.add(ScalarLoad(dest, view, _CORES[state.core], place(op)))


def _nothing(state: DecodeState, op: Operation) -> None:
    """Terminators: the body ends anyway."""


_ARITH: dict[type[Operation], str] = {
    arith.AddiOp: "addi",
    arith.SubiOp: "subi",
    arith.MuliOp: "muli",
    arith.DivUIOp: "divui",
    arith.RemUIOp: "remui",
    arith.DivSIOp: "divsi",
    arith.RemSIOp: "remsi",
    arith.CeilDivSIOp: "ceildivsi",
    arith.CeilDivUIOp: "ceildivui",
    arith.FloorDivSIOp: "floordivsi",
    arith.MinSIOp: "minsi",
    arith.MaxSIOp: "maxsi",
    arith.MinUIOp: "minui",
    arith.MaxUIOp: "maxui",
    arith.AndIOp: "andi",
    arith.OrIOp: "ori",
    arith.XOrIOp: "xori",
    arith.ShLIOp: "shli",
    arith.ShRSIOp: "shrsi",
    arith.ShRUIOp: "shrui",
    arith.SelectOp: "select",
    arith.AddfOp: "addf",
    arith.SubfOp: "subf",
    arith.MulfOp: "mulf",
    arith.DivfOp: "divf",
    arith.NegfOp: "negf",
    arith.MaximumfOp: "maximumf",
    arith.MinimumfOp: "minimumf",
    arith.SIToFPOp: "to_float",
    arith.ExtFOp: "to_float",
    arith.TruncFOp: "to_float",
    arith.FPToSIOp: "to_int",
}
"""arith operators that are a row of `scalars.OPERATIONS`."""

_HANDLERS: dict[type[Operation], Callable[[DecodeState, Any], None]] = {
    arith.ConstantOp: _constant,
    arith.CmpiOp: _compare,
    arith.IndexCastOp: _same,
    arith.ExtSIOp: _same,
    arith.ExtUIOp: _same,
    arith.TruncIOp: _same,
    BlockIdxOp: _block_idx,
    BlockNumOp: _block_num,
    scf.ForOp: _for,
    scf.YieldOp: _nothing,
    func.ReturnOp: _nothing,
    memref.SubviewOp: decode_subview,
    memref.ReinterpretCastOp: decode_reinterpret_cast,
    memref.LoadOp: _load,
    AllocOp: decode_alloc,
    BarrierOp: decode_barrier,
    **dict.fromkeys(FLAG_OPS, decode_flag),
    **dict.fromkeys(BLOCK_FLAG_OPS, decode_block_flag),
}
