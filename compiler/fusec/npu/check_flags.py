"""Check of npu-verify on flags: they exist, and every path through a kernel leaves them balanced.

In: one kernel. Out: nothing, or a VerifyException. The flags are run in program order: a set of a
raised flag, a wait for a lowered one, an iteration that changes what the next one finds, and a flag
raised at the end are faults. Whether there are enough flags is for the simulator to witness.
"""

from collections.abc import Iterable
from math import lcm

from xdsl.dialects.func import FuncOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, Operation
from xdsl.utils.exceptions import VerifyException

from fusec.hw import Target
from fusec.npu.buffers import alloc_of, cores_of
from fusec_dialects.npu.attrs import PIPE_CORE, Core, Pipe
from fusec_dialects.npu.control import (
    BarrierOp,
    FlagOp,
    SetFlagOp,
    SyncBlockOp,
    SyncBlockSetOp,
)
from fusec_dialects.npu.move import AllocOp
from fusec_dialects.place import place

MOST_COUNTED = 15
"""The largest count of a cross-core flag; the hardware's counter has four bits."""

Key = tuple[Core, Pipe, Core, Pipe, int]
"""From a pipe of a core to a pipe of a core, and the event's number."""


def check_flags(kernel: FuncOp, ops: Iterable[Operation], target: Target) -> None:
    """All flags, barriers and cross-core flags of a kernel."""
    cores = cores_of(kernel)
    loops: dict[ForOp, int] = {}
    for op in ops:
        if not op.name.startswith("npu."):
            continue
        if isinstance(op, FlagOp):
            _check_pipes(op, (op.source.data, op.to.data), cores)
            _check_events(op, target.sync.event_ids)
        elif isinstance(op, SyncBlockOp):
            if len(cores) < 2:
                raise VerifyException(f"{place(op)}: only a mixed kernel has flags between cores")
        elif isinstance(op, BarrierOp):
            _check_pipes(op, (op.pipe.data,), cores)
            continue
        else:
            continue
        _register(op, loops)
    if loops or any(isinstance(op, FlagOp | SyncBlockOp) for op in kernel.body.block.ops):
        _Run(loops, cores[0]).kernel(kernel)


def _check_pipes(op: Operation, pipes: tuple[Pipe, ...], cores: tuple[Core, ...]) -> None:
    for pipe in pipes:
        if PIPE_CORE.get(pipe, cores[0]) not in cores:
            raise VerifyException(
                f"{place(op)}: the kernel runs on the {cores[0]} core, which has no pipe {pipe}"
            )


def _check_events(op: FlagOp, most: int) -> None:
    alloc = None if op.slot is None else alloc_of(op.slot)
    if op.slot is not None and alloc is None:
        raise VerifyException(f"{place(op)}: slot() names a buffer from npu.alloc")
    last = op.id.value.data + _copies(op, alloc) - 1
    if last >= most:
        raise VerifyException(
            f"{place(op)}: uses event {last}; a pair of pipes has events 0 to {most - 1}"
        )


def _copies(op: FlagOp, alloc: AllocOp | None) -> int:
    if alloc is not None:
        return alloc.copy_count
    return 1 if op.copies is None else op.copies.value.data


def _register(op: Operation, loops: dict[ForOp, int]) -> None:
    """Notes the loops around a flag, each with the iterations after which its slots repeat."""
    parent = op.parent_op()
    while isinstance(parent, ForOp):
        loops.setdefault(parent, 1)
        parent = parent.parent_op()
    alloc = alloc_of(op.slot) if isinstance(op, FlagOp) and op.slot is not None else None
    home = None if alloc is None else alloc.parent_op()
    if alloc is not None and isinstance(home, ForOp):
        loops[home] = lcm(loops.get(home, 1), alloc.copy_count)


class _Run:
    """The flags of a kernel, executed in program order. `loops` are the loops that hold flags."""

    def __init__(self, loops: dict[ForOp, int], default: Core) -> None:
        self._loops = loops
        self._default = default
        self._iteration: dict[Operation, int] = {}
        self._raised: dict[Key, int] = {}
        self._last_set: dict[Key, Operation] = {}

    def kernel(self, kernel: FuncOp) -> None:
        self._block(kernel.body.block)
        for key in self._raised:
            op = self._last_set[key]
            raise VerifyException(
                f"{place(op)}: {_name(key)} is still raised at the end of the kernel; "
                "wait for it after the last use"
            )

    def _block(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, FlagOp):
                for key in self._events(op):
                    self._step(op, key, isinstance(op, SetFlagOp), 1)
            elif isinstance(op, SyncBlockOp):
                key = (
                    *(op.core.data, op.pipe.data),
                    *(op.to_core.data, op.to_pipe.data),
                    op.flag.value.data,
                )
                self._step(op, key, isinstance(op, SyncBlockSetOp), MOST_COUNTED)
            elif isinstance(op, ForOp) and op in self._loops:
                self._loop(op)

    def _loop(self, loop: ForOp) -> None:
        before = dict(self._raised)
        for iteration in range(self._loops[loop]):
            self._iteration[loop] = iteration
            self._block(loop.body.block)
            if self._raised == before:
                continue
            changed = self._raised.keys() ^ before.keys() or {
                key for key in before if before[key] != self._raised[key]
            }
            key = min(changed)
            more = self._raised.get(key, 0) > before.get(key, 0)
            raise VerifyException(
                f"{place(loop)}: an iteration leaves {_name(key)} "
                f"{'raised' if more else 'lowered'}, unlike it found it"
            )

    def _events(self, op: FlagOp) -> list[Key]:
        core = op.core(self._default)
        first, alloc = op.id.value.data, None if op.slot is None else alloc_of(op.slot)
        if alloc is None:
            numbers = range(first, first + _copies(op, None))
        else:
            home = alloc.parent_op()
            slot = self._iteration.get(home, 0) % alloc.copy_count if home is not None else 0
            numbers = range(first + slot, first + slot + 1)
        return [(core, op.source.data, core, op.to.data, number) for number in numbers]

    def _step(self, op: Operation, key: Key, sets: bool, most: int) -> None:
        count = self._raised.get(key, 0)
        if sets and count == most:
            raise VerifyException(
                f"{place(op)}: {_name(key)} is raised already, nothing has waited for it"
            )
        if not sets and count == 0:
            raise VerifyException(f"{place(op)}: waits for {_name(key)}, which nothing has raised")
        if sets:
            self._raised[key] = count + 1
            self._last_set[key] = op
        elif count == 1:
            del self._raised[key]
        else:
            self._raised[key] = count - 1


def _name(key: Key) -> str:
    core, pipe, to_core, to_pipe, number = key
    if core == to_core:
        return f"event {number} from {pipe} to {to_pipe}"
    return f"flag {number} from {core} {pipe} to {to_core} {to_pipe}"
