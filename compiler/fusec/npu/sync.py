"""npu-sync: flags and barriers for every hazard of placed kernels.

In: placed npu IR without synchronisation. Out: the same with set_flag and wait_flag between the
pipes of a core, sync_block_set and sync_block_wait between cores, and barriers within a pipe.

A hazard is a pair of accesses to the same bytes, one of them a write, by different operators, or by
one in two iterations. `hazards` finds the parts of buffers that conflict.

*Where flags go.* Both ends of a hazard are lifted to the body that holds both: the set stands right
after the operator, or after the loop around it, the wait right before. So both run equally often
whatever the loops inside do. From one iteration to the next (for a buffer with N copies, to the
N-th next) the wait stands first and the set last. Such a flag is raised before the outermost loop
and lowered after it, not at each entry of an inner loop: the pipe that raises it there could not
know that it has been lowered. An iteration leaves every flag as it finds it, so loops that run not
at all are balanced too; each wait follows its set in program order, so nothing waits for ever.

*Why all hazards are ordered.* Loops are planned from the inside out (`sync_plan`). For each body a
walk with vector clocks (`order`) plays as many rounds as a hazard can span, and adds a flag or a
barrier where an operator is not ordered after the last conflicting access of a pipe; a set is for
all that its pipe was given, so earlier accesses are ordered with it. Hazards between two runs of a
loop are those between two iterations, since its flags stay raised in between, or are found in the
walk over the loop around it, in which an inner loop is played once: the worst case.

*Why no flag is too much.* In a body flags are decided in program order: first those within an
iteration, then those to the next, then to the N-th next; for one operator the one that brings the
others first. What orders two operators lies between them in program order, so no later decision
makes an earlier one superfluous, and flags of an outer body begin and end outside the inner loop.
Two cases that this does not see are looked at again (`sync_prune`).

*Why events are free again.* A flag has as many events as it takes for the wait to be over when the
event is set again, by the same clocks: one, or one for each copy of a rotating buffer. If that does
not suffice a flag in the other direction says so. `events` numbers them.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from fusec.hw import Target
from fusec.npu.events import Limits, number_flags
from fusec.npu.hazards import read_kernel
from fusec.npu.module import kernels, target_of
from fusec.npu.sync_form import Barrier, Command, Flag, Hold, Item, Kernel, Region, Set, Wait
from fusec.npu.sync_plan import plan_flags
from fusec.npu.sync_prune import drop_suspects
from fusec_dialects.npu.control import (
    BarrierOp,
    FlagOp,
    SetFlagOp,
    SyncBlockOp,
    SyncBlockSetOp,
    SyncBlockWaitOp,
    WaitFlagOp,
)
from fusec_dialects.place import place


@dataclass(frozen=True)
class NpuSyncPass(ModulePass):
    """Raises PassFailedException for a kernel that is not placed, or has flags already."""

    name = "npu-sync"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = target_of(op)
        for function in kernels(op):
            _check(function)
            kernel, conflicts = read_kernel(function, target)
            plan_flags(kernel, conflicts)
            drop_suspects(kernel, conflicts)
            number_flags(kernel, conflicts, target)
            _Printer(kernel, target).write(kernel.root)


def _check(function: FuncOp) -> None:
    for op in function.walk():
        if isinstance(op, FlagOp | BarrierOp | SyncBlockOp):
            raise PassFailedException(
                f"{place(op)}: the kernel has synchronisation already; "
                "run npu-sync once, on placed IR without flags"
            )
        if op.regions and op is not function and not isinstance(op, ForOp):
            raise PassFailedException(
                f"{place(op)}: npu-sync knows no control flow in a kernel but scf.for"
            )


class _Printer:
    """Turns the commands of a tree into operators."""

    def __init__(self, kernel: Kernel, target: Target) -> None:
        self._kernel = kernel
        self._limits = Limits(kernel, target)

    def write(self, region: Region) -> None:
        for item in region.body:
            before, after = self._commands(item.before), self._commands(item.after)
            if isinstance(item, Region):
                self.write(item)
                before = [*self._all_events(item, SetFlagOp), *before]
                after = [*after, *self._all_events(item, WaitFlagOp)]
            _insert(item, before, after)

    def _all_events(self, loop: Region, kind: type[SetFlagOp | WaitFlagOp]) -> list[Operation]:
        """Primes the flags of a loop that stands in the kernel's body, or drains them."""
        ops: list[Operation] = []
        for flag in sorted(loop.primed, key=lambda f: (f.source, f.to, f.number)):
            if flag in self._kernel.leaders:
                continue
            if self._kernel.cross(flag):
                cross = SyncBlockSetOp if kind is SetFlagOp else SyncBlockWaitOp
                ops.extend(self._block_flag(cross, flag, flag.number) for _ in range(flag.distance))
                continue
            copies = flag.events if flag.events > 1 else None
            source, to = self._kernel.pipe(flag.source), self._kernel.pipe(flag.to)
            ops.append(kind(source, to, flag.number, copies=copies))
        return ops

    def _commands(self, commands: list[Command]) -> list[Operation]:
        return [op for command in commands for op in self._command(command)]

    def _command(self, command: Command) -> list[Operation]:
        match command:
            case Set(flag) if self._kernel.cross(flag):
                return [self._block_flag(SyncBlockSetOp, flag, flag.number)]
            case Wait(flag) if self._kernel.cross(flag):
                return [self._block_flag(SyncBlockWaitOp, flag, flag.number)]
            case Set(flag):
                return [self._flag(SetFlagOp, flag)]
            case Wait(flag):
                return [self._flag(WaitFlagOp, flag)]
            case Barrier(agent):
                return [BarrierOp(self._kernel.pipe(agent))]
            case Hold():
                return self._hold(command)

    def _flag(self, kind: type[SetFlagOp | WaitFlagOp], flag: Flag) -> Operation:
        slot = None if flag.slot is None else flag.slot.result
        source, to = self._kernel.pipe(flag.source), self._kernel.pipe(flag.to)
        return kind(source, to, flag.number, slot=slot)

    def _block_flag(
        self, kind: type[SyncBlockSetOp | SyncBlockWaitOp], flag: Flag | Hold, number: int
    ) -> Operation:
        source, to = self._kernel.agents[flag.source], self._kernel.agents[flag.to]
        return kind(*source, *to, number)

    def _hold(self, hold: Hold) -> list[Operation]:
        if self._kernel.cross(hold):
            number = self._limits.hold_flag(hold)
            to_scalar = Hold(hold.source, self._kernel.scalars[hold.to])
            kinds = (SyncBlockSetOp, SyncBlockWaitOp)
            return [self._block_flag(kind, to_scalar, number) for kind in kinds]
        event = self._limits.hold_event()
        return [
            kind(self._kernel.pipe(source), self._kernel.pipe(to), event)
            for source, to in self._limits.way(hold)
            for kind in (SetFlagOp, WaitFlagOp)
        ]


def _insert(item: Item, before: list[Operation], after: list[Operation]) -> None:
    op = item.op
    block = None if op is None else op.parent
    if op is None or block is None:
        return
    for new in (*before, *after):
        new.location = op.location
    block.insert_ops_before(before, op)
    block.insert_ops_after(after, op)
