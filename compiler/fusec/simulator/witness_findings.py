"""What the witness of a kernel says: each finding with its operators, buffer and remedy."""

from __future__ import annotations

from dataclasses import dataclass

from fusec.simulator.clocks import Clocks
from fusec.simulator.form import AGENTS, Buffer, Instr, ScalarLoad, View
from fusec.simulator.stream import Region
from fusec.simulator.track import Box
from fusec.simulator.violations import CORRUPTION, RACE, UNINITIALISED, Verdict


@dataclass(frozen=True, slots=True)
class Access:
    """One operand of an instruction in one run: where, which instance of its buffer, and the byte
    at which that starts."""

    view: View
    region: Region
    box: Box
    instance: int
    start: int


class Findings:
    """Writes findings about block `block` into a verdict."""

    def __init__(self, verdict: Verdict, clocks: Clocks):
        self.verdict = verdict
        self.clocks = clocks
        self.block = 0

    def uninitialised(self, operator: Instr | ScalarLoad, access: Access) -> None:
        name = access.view.name
        message = f"reads bytes of {name} that nothing has written (block {self.block})"
        self.verdict.report(UNINITIALISED, message, operator.place, name)

    def foreign(self, operator: Instr | ScalarLoad, access: Access, owner: Buffer | None) -> None:
        """Bytes that another buffer owns; None: nobody in this block."""
        name = access.view.buffer.name
        if owner is None or owner is access.view.buffer:
            self.uninitialised(operator, access)
            return
        message = f"reads {name}, of which {owner.name} has bytes (block {self.block})"
        self.verdict.report(CORRUPTION, message, operator.place, name, owner.name)

    def race(
        self,
        operator: Instr | ScalarLoad,
        agent: int,
        access: Access,
        found: list[tuple[int, int]],
    ) -> None:
        """Accesses (pipe, item) that nothing orders before this one: the latest is named."""
        if not found:
            return
        other_agent, time = max(found, key=lambda f: self.clocks.order[f[0]][f[1]])
        other = self.clocks.history[other_agent][time]
        what = "an earlier operator" if other is None else _kind(other)
        place = "" if other is None else other.place
        name = access.view.buffer.name
        message = (
            f"{_kind(operator)} on {agent_text(agent)} and {what} on {agent_text(other_agent)} "
            f"({place}) access the same bytes of {name} in no order (block {self.block}); "
            f"{remedy(other_agent, agent)}"
        )
        self.verdict.report(RACE, message, operator.place, what, place, name)

    def across(
        self, operator: Instr | ScalarLoad, agent: int, access: Access, other: int | None
    ) -> None:
        """An access of another block, by pipe `other`."""
        if other is None:
            return
        name = access.view.buffer.name
        message = (
            f"{_kind(operator)} on {agent_text(agent)} accesses bytes of {name} that "
            f"{agent_text(other)} of another block accesses too, and one of them writes "
            f"(block {self.block}); let each block work on bytes of its own"
        )
        self.verdict.report(RACE, message, operator.place, "blocks", name)


def _kind(operator: Instr | ScalarLoad) -> str:
    return operator.kind if isinstance(operator, Instr) else "a scalar load"


def agent_text(agent: int) -> str:
    core, pipe = AGENTS[agent]
    return f"{core.value} {pipe.value}"


def remedy(first: int, second: int) -> str:
    """The synchronisation that would order two pipes."""
    a, b = AGENTS[first], AGENTS[second]
    if first == second:
        return f"put npu.barrier <{a.pipe.value}> between them"
    if a.core == b.core:
        return f"set and await a flag <{a.pipe.value}> to <{b.pipe.value}>"
    return (
        f"use npu.sync_block_set <{a.core.value}> <{a.pipe.value}> to "
        f"<{b.core.value}> <{b.pipe.value}> and the wait for it"
    )
