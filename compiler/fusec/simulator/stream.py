"""The events of one block of a kernel, in program order, with every address evaluated.

`stream_of(kernel)` turns the decoded tree into a generated Python generator, a quarter of a
microsecond an event. Nothing is executed: a reader of the stream decides what an event does.

    (instr, regions)          an Instr; one region for each operand, in order
    (scalar_load, (region,))  a ScalarLoad; its register gets what the reader's `load` returns
    (alloc, slot)             an Alloc; the copy in use of a rotating buffer, else 0
    (flag, first)             a Flag; the events first ... first + flag.count - 1 are meant
    (barrier, 0)              a Barrier
    (block_flag, 0)           a BlockFlag
    (broken, (start, size, step, limit))
                              with `checks` only: a bound of a view that does not hold; the event
                              that uses the view follows

A region of a view is the tuple (start, sizes, strides): start in bytes from the start of the space
(placed on-chip buffers), of the gm argument, or of the buffer (unplaced: its first copy), sizes and
strides in elements. A region of a scalar operand is its value. A region that does not change is the
same object each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from fusec.simulator.form import (
    Alloc,
    Barrier,
    BlockFlag,
    Bound,
    Flag,
    Instr,
    Kernel,
    Loop,
    Reg,
    Scalar,
    ScalarLoad,
    Size,
    Statement,
    Value,
    View,
)
from fusec.simulator.scalars import NAMES, text_of, value_text

Region: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...]]
RegionOrValue: TypeAlias = Region | int | float | bool
Load: TypeAlias = Callable[[ScalarLoad, Region], int | float | bool]


@dataclass(frozen=True, slots=True, eq=False)
class Broken:
    """A bound of a view that does not hold in this run."""

    view: View
    bound: Bound


Event: TypeAlias = tuple[Broken | Instr | ScalarLoad | Alloc | Flag | Barrier | BlockFlag, Any]
Stream: TypeAlias = Callable[[int, int, Load], Iterator[Event]]
"""(block, block count, load) -> the events of the block."""


def stream_of(kernel: Kernel, *, checks: bool = False) -> Stream:
    """The generator function of a kernel. Keep it: making it costs milliseconds.

    With `checks`, bounds of sub-views are evaluated too, and those that do not hold are events.
    """
    return _Writer(kernel, checks).function()


class _Writer:
    def __init__(self, kernel: Kernel, checks: bool):
        self.kernel = kernel
        self.checks = checks
        self.lines: list[str] = []
        self.names: dict[str, Any] = dict(NAMES)
        self.regions: dict[int, str] = {}

    def function(self) -> Stream:
        kernel = self.kernel
        self.lines.append(f"def stream({kernel.block}, {kernel.block_count}, load):")
        self.body((*kernel.prelude, *kernel.body), "    ")
        self.lines.append("    if False: yield")
        exec(compile("\n".join(self.lines), f"<stream of {kernel.name}>", "exec"), self.names)
        return cast(Stream, self.names["stream"])

    def body(self, statements: tuple[Statement, ...], indent: str) -> None:
        if not statements:
            self.lines.append(f"{indent}pass")
        for statement in statements:
            self.statement(statement, indent)

    def statement(self, statement: Statement, indent: str) -> None:
        add = self.lines.append
        match statement:
            case Scalar():
                s = statement
                text = text_of(s.op, s.args, s.dtype, s.operand_dtype)
                add(f"{indent}{s.dest} = {text}")
            case Loop():
                lower, upper, step = map(
                    value_text, (statement.lower, statement.upper, statement.step)
                )
                add(f"{indent}for {statement.var} in range({lower}, {upper}, {step}):")
                self.body(statement.body, indent + "    ")
            case ScalarLoad():
                name = self.constant(statement)
                region = self.region(statement.view)
                self.check(statement.view, indent)
                add(f"{indent}{statement.dest} = load({name}, {region})")
                add(f"{indent}yield {name}, ({region},)")
            case Instr():
                for operand in statement.operands:
                    if isinstance(operand, View):
                        self.check(operand, indent)
                regions = "".join(f"{self.operand(o)}, " for o in statement.operands)
                self.event(statement, f"({regions})", indent)
            case Alloc():
                slot = statement.buffer.slot
                self.event(statement, "0" if slot is None else str(slot), indent)
            case Flag():
                slot = "" if statement.slot is None else f" + {statement.slot}"
                self.event(statement, f"{statement.first}{slot}", indent)
            case Barrier() | BlockFlag():
                self.event(statement, "0", indent)

    def check(self, view: View, indent: str) -> None:
        """Lines that yield each bound of a view that does not hold."""
        for bound in view.bounds if self.checks else ():
            parts = (bound.start, bound.size, bound.step, bound.limit)
            start, size, step, limit = map(value_text, parts)
            name = self.constant(Broken(view, bound))
            last = f"{start} + ({size} - 1) * {step}"
            self.lines.append(f"{indent}if {start} < 0 or {size} < 0 or {last} >= {limit}:")
            self.lines.append(f"{indent}    yield {name}, ({start}, {size}, {step}, {limit})")

    def event(self, statement: Statement, payload: str, indent: str) -> None:
        name = self.constant(statement)
        if not any(c == "v" for c in payload):
            payload = self.folded(payload)
        self.lines.append(f"{indent}yield {name}, {payload}")

    def constant(self, value: object) -> str:
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    def folded(self, text: str) -> str:
        """A constant payload, evaluated once."""
        return self.constant(eval(text, self.names)) if text.startswith("(") else text

    def operand(self, operand: View | Value) -> str:
        return self.region(operand) if isinstance(operand, View) else value_text(operand)

    def region(self, view: View) -> str:
        """The text of a view's region; one whose numbers are all known is made once."""
        known = self.regions.get(view.index)
        if known is not None:
            return known
        offset = view.byte_offset.plus(view.buffer.address or 0)
        sizes, strides = self.sizes(view.sizes), self.sizes(view.strides)
        text = f"({offset}, {sizes}, {strides})"
        if not offset.terms and view.static_shape:
            text = self.constant((offset.constant, view.sizes, view.strides))
        self.regions[view.index] = text
        return text

    def sizes(self, sizes: tuple[Size, ...]) -> str:
        if any(isinstance(s, Reg) for s in sizes):
            return f"({''.join(f'{s}, ' for s in sizes)})"
        return self.constant(sizes)
