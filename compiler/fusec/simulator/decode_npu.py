"""Decoding of npu operators: instructions, flags, barriers and cross-core flags."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from fusec.simulator.decode_state import DecodeState
from fusec.simulator.form import (
    AGENT_INDEX,
    AGENTS,
    Barrier,
    BlockFlag,
    Flag,
    Instr,
    Operand,
    Reg,
    View,
)
from fusec_dialects.npu import (
    BarrierOp,
    CopyOp,
    FixpipeOp,
    MmadOp,
    SetFlagOp,
    SyncBlockSetOp,
    SyncBlockWaitOp,
    VCastOp,
    VCmpOp,
    VReduceOp,
    VTransposeOp,
    WaitFlagOp,
)
from fusec_dialects.npu.attrs import Core, Pipe
from fusec_dialects.npu.base import Agent, NpuOp
from fusec_dialects.npu.control import FlagOp, SyncBlockOp
from fusec_dialects.npu.move import MoveOp
from fusec_dialects.npu.vector import VectorOp
from fusec_dialects.place import place


def decode_instruction(state: DecodeState, op: NpuOp) -> None:
    """Any operator that a pipe executes on buffers."""
    values, writes = _operands(state, op)
    operands: list[Operand] = [state.operand(v, op) for v in values]
    sources = [p for p in range(len(values)) if p not in writes]
    if isinstance(op, MmadOp) and operands[2] is not True:
        sources.append(3)
    mode, dims = _mode(op)
    state.instructions.append(
        Instr(
            index=len(state.instructions),
            kind=op.name.removeprefix("npu."),
            agent=_agent(state, op, op.agent()),
            operands=tuple(operands),
            reads=tuple(p for p in sources if isinstance(operands[p], View)),
            writes=tuple(writes),
            place=place(op),
            mode=mode,
            dims=dims,
            relu=isinstance(op, FixpipeOp) and op.relu is not None,
            transpose=_transpose(op),
        )
    )
    state.add(state.instructions[-1])


def _operands(state: DecodeState, op: NpuOp) -> tuple[list[SSAValue], list[int]]:
    """The operands in the order of `Instr`, and the positions of those that are written."""
    if isinstance(op, MmadOp):
        bias = () if op.bias is None else (op.bias,)
        return [op.a, op.b, op.init, op.acc, *bias], [3]
    if isinstance(op, MoveOp):
        return [op.source, op.dest], [1]
    if isinstance(op, VectorOp):
        sources = list(op.sources())
        scratch = () if op.temp is None else (op.temp,)
        count = len(sources)
        return [*sources, op.dest, *scratch], [count + i for i in range(1 + len(scratch))]
    raise state.refuse(
        op, "the simulator has no meaning for it", "use the operators of the dialect"
    )


def _agent(state: DecodeState, op: Operation, agent: Agent) -> int:
    index = AGENT_INDEX.get(agent)
    if index is None or (state.core != "mixed" and agent.core.value != state.core):
        raise state.refuse(
            op,
            f'it runs on the {agent.core.value} core, but npu.core is "{state.core}"',
            'put it into a kernel of its own core or of npu.core "mixed"',
        )
    return index


def _mode(op: NpuOp) -> tuple[str, tuple[int, ...]]:
    match op:
        case VReduceOp():
            return op.kind.data, tuple(op.dims.get_values())
        case VTransposeOp():
            return "", tuple(op.permutation.get_values())
        case VCmpOp():
            return op.mode.data, ()
        case VCastOp():
            return ("" if op.round is None else op.round.data), ()
        case MmadOp():
            return "", (() if op.l0 is None else tuple(op.l0.get_values()))
        case _:
            return "", ()


def _transpose(op: NpuOp) -> tuple[bool, bool]:
    match op:
        case MmadOp():
            return op.a_transpose is not None, op.b_transpose is not None
        case CopyOp():
            return op.transpose is not None, False
        case _:
            return False, False


def decode_flag(state: DecodeState, op: FlagOp) -> None:
    """set_flag and wait_flag. In a mixed kernel the pipes that both cores have (s, mte2) belong to
    the core of the other pipe, else to the vector core."""
    core = op.core(Core.CUBE if state.core == "cube" else Core.VECTOR)
    slot: Reg | None = None
    if op.slot is not None:
        slot = state.memref(op.slot, op).buffer.slot
    state.add(
        Flag(
            raised=isinstance(op, SetFlagOp),
            source=_agent(state, op, Agent(core, op.source.data)),
            to=_agent(state, op, Agent(core, op.to.data)),
            first=op.id.value.data,
            slot=slot,
            count=1 if op.copies is None else op.copies.value.data,
            place=place(op),
        )
    )


def decode_barrier(state: DecodeState, op: BarrierOp) -> None:
    """Of a pipe that both cores of a mixed kernel have: on both."""
    pipe: Pipe = op.pipe.data
    agents = tuple(
        index
        for index, agent in enumerate(AGENTS)
        if agent.pipe == pipe and state.core in ("mixed", agent.core.value)
    )
    if not agents:
        raise state.refuse(
            op, f"a {state.core} core has no pipe {pipe.value}", "name a pipe of the kernel's core"
        )
    state.add(Barrier(agents, place(op)))


def decode_block_flag(state: DecodeState, op: SyncBlockOp) -> None:
    state.add(
        BlockFlag(
            raised=isinstance(op, SyncBlockSetOp),
            source=_agent(state, op, Agent(op.core.data, op.pipe.data)),
            to=_agent(state, op, Agent(op.to_core.data, op.to_pipe.data)),
            flag=op.flag.value.data,
            place=place(op),
        )
    )


FLAG_OPS = (SetFlagOp, WaitFlagOp)
BLOCK_FLAG_OPS = (SyncBlockSetOp, SyncBlockWaitOp)
