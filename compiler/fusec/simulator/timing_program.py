"""A decoded kernel as Python functions that drive a clock through one block.

`run(clock, block, block_count)` computes every scalar and calls the clock for each instruction,
flag and barrier, in program order, with no address and no data. The clock's `loop` decides which
iterations of a loop are played: it gets a function that labels an iteration by all that its cost
depends on. `work(block, block_count)` labels a whole block: blocks with equal labels do the same
work.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from math import lcm
from typing import Any, Protocol, TypeAlias, cast

from fusec.simulator.form import (
    BLOCK,
    SCALAR_OF,
    Alloc,
    Barrier,
    BlockFlag,
    Flag,
    Instr,
    Kernel,
    Loop,
    Reg,
    Scalar,
    ScalarLoad,
    Statement,
    Value,
)
from fusec.simulator.scalars import NAMES, text_of, value_text
from fusec.simulator.timing_shapes import dynamic_values

Label: TypeAlias = Callable[[int], Hashable]
Element: TypeAlias = tuple[str, frozenset[Reg]]
"""A part of a label: Python text, and the registers in it."""

EVENT_SLOTS = 16
"""Room for the events of one pair of pipes, the slots behind the last id included."""


@dataclass(frozen=True, slots=True, eq=False)
class LoopInfo:
    """`scalars` operators a turn on the scalar pipe; `agents` have items in the body; buffers are
    back in their first copy after `period` turns."""

    loop: Loop
    scalars: int
    agents: tuple[int, ...]
    period: int


class Clock(Protocol):
    """What a program calls. `level` is that of the loop body that an instruction stands in."""

    def issue(self, index: int, level: int, values: tuple[int, ...] = ()) -> None: ...
    def scalar_load(self, load: ScalarLoad) -> int: ...
    def scalars(self, count: int) -> None: ...
    def set_event(self, source: int, event: int) -> None: ...
    def wait_event(self, source: int, to: int, event: int) -> None: ...
    def barrier(self, agents: tuple[int, ...]) -> None: ...
    def count_up(self, source: int, flag: int) -> None: ...
    def count_down(self, source: int, to: int, flag: int) -> None: ...
    def loop(self, info: LoopInfo, span: range, label: Label | None) -> Iterator[int]: ...


@dataclass(frozen=True, slots=True)
class Program:
    """`events`: event numbers are below this."""

    run: Callable[[Clock, int, int], None]
    work: Callable[[int, int], Hashable]
    events: int


def program_of(kernel: Kernel) -> Program:
    """The functions of a kernel. Keep them: making them costs milliseconds."""
    return _Writer(kernel).program()


class _Writer:
    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self.lines: list[str] = []
        self.names: dict[str, Any] = dict(NAMES)
        self.pairs: dict[tuple[int, int], int] = {}
        self.definitions: dict[Reg, Scalar] = {}
        self.labels: dict[Loop, list[Element]] = {}
        self._define(kernel.body)

    def program(self) -> Program:
        kernel = self.kernel
        counts = f"{kernel.block}, {kernel.block_count}"
        self.lines.append(f"def run(m, {counts}):")
        self.lines.append(
            "    issue, loop, set_, wait = m.issue, m.loop, m.set_event, m.wait_event"
        )
        self.scalars(kernel.prelude, "    ")
        self.lines.append(f"    m.scalars({len(kernel.prelude) + _scalar_count(kernel.body)})")
        self.body(kernel.body, BLOCK, "    ")
        self.lines.append(f"def work({counts}):")
        self.work("    ")
        text = "\n".join(self.lines)
        exec(compile(text, f"<timing of {kernel.name}>", "exec"), self.names)
        run, work = self.names["run"], self.names["work"]
        return Program(
            cast("Callable[[Clock, int, int], None]", run),
            cast("Callable[[int, int], Hashable]", work),
            len(self.pairs) * EVENT_SLOTS,
        )

    def _define(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            if isinstance(statement, Scalar):
                self.definitions[statement.dest] = statement
            elif isinstance(statement, Loop):
                self._define(statement.body)

    # Running

    def body(self, body: tuple[Statement, ...], level: int, indent: str) -> None:
        start = len(self.lines)
        for statement in body:
            self.statement(statement, level, indent)
        if len(self.lines) == start:
            self.lines.append(f"{indent}pass")

    def statement(self, statement: Statement, level: int, indent: str) -> None:
        add = self.lines.append
        match statement:
            case Scalar():
                self.scalars((statement,), indent)
            case ScalarLoad():
                add(f"{indent}{statement.dest} = m.scalar_load({self.constant(statement)})")
            case Instr():
                values = "".join(f"{reg}, " for reg in dynamic_values(statement))
                dynamic = f", ({values})" if values else ""
                add(f"{indent}issue({statement.index}, {level}{dynamic})")
            case Flag():
                self.flag(statement, indent)
            case Barrier():
                add(f"{indent}m.barrier({statement.agents})")
            case BlockFlag():
                ends = f"{statement.source}, {statement.flag}"
                if not statement.raised:
                    ends = f"{statement.source}, {statement.to}, {statement.flag}"
                add(f"{indent}m.count_{'up' if statement.raised else 'down'}({ends})")
            case Loop():
                self.loop(statement, indent)
            case Alloc():
                pass

    def scalars(self, scalars: tuple[Scalar, ...], indent: str) -> None:
        for s in scalars:
            text = text_of(s.op, s.args, s.dtype, s.operand_dtype)
            self.lines.append(f"{indent}{s.dest} = {text}")

    def flag(self, flag: Flag, indent: str) -> None:
        pair = self.pairs.setdefault((flag.source, flag.to), len(self.pairs))
        first = pair * EVENT_SLOTS + flag.first
        slot = "" if flag.slot is None else f" + {flag.slot}"
        call = f"set_({flag.source}" if flag.raised else f"wait({flag.source}, {flag.to}"
        for event in range(first, first + flag.count):
            self.lines.append(f"{indent}{call}, {event}{slot})")

    def loop(self, loop: Loop, indent: str) -> None:
        info = LoopInfo(loop, _scalar_count(loop.body), _agents(loop.body), _period(loop.body))
        label = self.label(loop, indent)
        header = f"loop({self.constant(info)}, {_span(loop)}, {label})"
        self.lines.append(f"{indent}for {loop.var} in {header}:")
        self.body(loop.body, loop.level, indent + "    ")

    def constant(self, value: object) -> str:
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    # Labels

    def work(self, indent: str) -> None:
        """The label of a block: what its own statements depend on, and all turns of its loops."""
        self.scalars(self.kernel.prelude, indent)
        parts: list[str] = []
        for statement in self.kernel.body:
            match statement:
                case Scalar():
                    self.scalars((statement,), indent)
                case ScalarLoad():
                    self.lines.append(f"{indent}{statement.dest} = 0")
                case Instr():
                    parts += map(str, dynamic_values(statement))
                case Loop():
                    label = self.label(statement, indent)
                    part = f"w{len(parts)}"
                    span = _span(statement)
                    turns = f"len({span})" if label == "None" else f"tuple(map({label}, {span}))"
                    self.lines.append(f"{indent}{part} = {turns}")
                    parts.append(part)
                case _:
                    pass
        self.lines.append(f"{indent}return ({''.join(f'{part}, ' for part in parts)})")

    def label(self, loop: Loop, indent: str) -> str:
        """Writes the function that labels a turn of the loop; its name, or None if all are
        equal."""
        elements = [e for e in self.elements(loop) if any(r.level >= loop.level for r in e[1])]
        if not elements:
            return "None"
        needed: set[Reg] = set()
        for _, regs in elements:
            self.slice(regs, loop.level, needed)
        name = f"k{loop.var.id}"
        self.lines.append(f"{indent}def {name}({loop.var}):")
        inner = indent + "    "
        for statement in loop.body:
            if isinstance(statement, Scalar) and statement.dest in needed:
                self.scalars((statement,), inner)
            elif isinstance(statement, ScalarLoad) and statement.dest in needed:
                self.lines.append(f"{inner}{statement.dest} = 0")
        self.lines.append(f"{inner}return ({''.join(f'{text}, ' for text, _ in elements)})")
        return name

    def elements(self, loop: Loop) -> list[Element]:
        """What the cost of one turn depends on, in registers of the loop's level and outside."""
        known = self.labels.get(loop)
        if known is None:
            found: dict[Element, None] = {}
            for statement in loop.body:
                if isinstance(statement, Instr):
                    found.update((_element(reg), None) for reg in dynamic_values(statement))
                elif isinstance(statement, Loop):
                    found.update(dict.fromkeys(self.outside(statement)))
            known = self.labels[loop] = list(found)
        return known

    def outside(self, loop: Loop) -> Iterator[Element]:
        """What the cost of the whole loop depends on, in registers outside of it."""
        ends = _regs(loop.lower, loop.upper, loop.step)
        if ends:
            yield f"len({_span(loop)})", frozenset(ends)
        changing: set[Reg] = set()
        for element in self.elements(loop):
            if any(reg.level >= loop.level for reg in element[1]):
                self.slice(element[1], loop.level, changing)
            else:
                yield element
        outer = sorted((r for r in changing if r.level < loop.level), key=lambda reg: reg.id)
        yield from map(_element, outer)
        if loop.var in changing:
            yield from map(_element, _regs(loop.lower, loop.step))

    def slice(self, regs: frozenset[Reg], level: int, found: set[Reg]) -> None:
        """Adds the registers that these are computed from, back to those outside of `level`."""
        for reg in regs - found:
            found.add(reg)
            definition = self.definitions.get(reg)
            if reg.level >= level and definition is not None:
                self.slice(frozenset(_regs(*definition.args)), level, found)


def _element(reg: Reg) -> Element:
    return str(reg), frozenset((reg,))


def _regs(*values: Value) -> list[Reg]:
    return [v for v in values if isinstance(v, Reg)]


def _span(loop: Loop) -> str:
    return f"range({', '.join(map(value_text, (loop.lower, loop.upper, loop.step)))})"


def _scalar_count(body: tuple[Statement, ...]) -> int:
    return sum(isinstance(statement, Scalar) for statement in body)


def _period(body: tuple[Statement, ...]) -> int:
    copies = [s.args[3] for s in body if isinstance(s, Scalar) and s.op == "iteration"]
    return lcm(*(c for c in copies if isinstance(c, int)))


def _agents(body: tuple[Statement, ...]) -> tuple[int, ...]:
    found: set[int] = set()
    for statement in body:
        match statement:
            case Instr():
                found.add(statement.agent)
            case Flag() | BlockFlag():
                found.update((statement.source, statement.to))
            case Barrier() | ScalarLoad():
                found.update(statement.agents)
            case Loop():
                found.update(_agents(statement.body))
            case _:
                pass
    return tuple(sorted(found | {SCALAR_OF[agent] for agent in found}))
