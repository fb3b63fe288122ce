"""What decoding a kernel carries along: values seen so far, open statement lists, and how a scalar
finds the outermost level at which it can be computed."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Operation, SSAValue

from fusec.hw.target import Target
from fusec.simulator import scalars
from fusec.simulator.errors import SimulationError
from fusec.simulator.form import (
    BLOCK,
    LAUNCH,
    Buffer,
    Instr,
    Loop,
    Operand,
    Reg,
    Scalar,
    Size,
    Statement,
    Value,
    View,
    level_of,
)
from fusec_dialects.place import place, place_of_location


def function_place(function: func.FuncOp) -> str:
    """`model.mlir:3:1: @relu`; the first part is absent where the location is unknown."""
    where = place_of_location(function.location)
    return f"{where + ': ' if where else ''}@{function.sym_name.data}"


class DecodeState:
    """One kernel on its way to the decoded form. `bodies[level]` is the list open at that level."""

    def __init__(self, function: func.FuncOp, target: Target, core: str):
        self.function = function
        self.target = target
        self.core = core
        self.values: dict[SSAValue, Value] = {}
        self.memrefs: dict[SSAValue, View] = {}
        self.buffers: list[Buffer] = []
        self.views: list[View] = []
        self.instructions: list[Instr] = []
        self.prelude: list[Scalar] = []
        self.bodies: list[list[Statement]] = [[], []]
        self.loops: list[tuple[Reg, Value, Value]] = []
        self.slots: dict[tuple[Reg, int], Reg] = {}
        self.registers = 0
        self.block = self.reg(BLOCK)
        self.block_count = self.reg(LAUNCH)

    @property
    def level(self) -> int:
        return len(self.bodies) - 1

    def reg(self, level: int) -> Reg:
        self.registers += 1
        return Reg(self.registers - 1, level)

    @property
    def place(self) -> str:
        return function_place(self.function)

    def refuse(self, op: Operation, cause: str, advice: str) -> SimulationError:
        where = function_place(op) if isinstance(op, func.FuncOp) else place(op)
        return SimulationError(where, cause, advice)

    def add(self, statement: Statement) -> None:
        self.bodies[-1].append(statement)

    def open_loop(self, lower: Value, step: Value) -> Reg:
        """Starts the body of a loop; returns its variable."""
        self.bodies.append([])
        variable = self.reg(self.level)
        self.loops.append((variable, lower, step))
        return variable

    def close_loop(self, upper: Value, where: str) -> None:
        variable, lower, step = self.loops.pop()
        body = tuple(self.bodies.pop())
        level = variable.level
        self.add(Loop(variable, lower, upper, step, body, level, where))

    def slot(self, copies: int) -> Reg:
        """The copy in use, of `copies`, in the innermost open loop."""
        variable, lower, step = self.loops[-1]
        known = self.slots.get((variable, copies))
        if known is None:
            known = self.reg(self.level)
            self.slots[variable, copies] = known
            args = (variable, lower, step, copies)
            self.add(Scalar(known, "iteration", args, "index", "index"))
        return known

    # Values

    def value(self, value: SSAValue, user: Operation) -> Value:
        found = self.values.get(value)
        if found is None:
            raise self.refuse(
                user, "a scalar is used before it is defined", "define it earlier in the same block"
            )
        return found

    def size(self, value: SSAValue, user: Operation) -> Size:
        found = self.value(value, user)
        return found if isinstance(found, Reg) else int(found)

    def sizes(
        self, static: Sequence[int], dynamic: Sequence[SSAValue], user: Operation
    ) -> list[Size]:
        """The list of a view: numbers, with values where they are dynamic."""
        values = iter(dynamic)
        return [self.size(next(values), user) if s == DYNAMIC_INDEX else s for s in static]

    def memref(self, value: SSAValue, user: Operation) -> View:
        found = self.memrefs.get(value)
        if found is None:
            raise self.refuse(
                user,
                "a buffer is used before it is defined, or does not come from the npu level",
                "make it by npu.alloc, memref.subview or memref.reinterpret_cast, earlier",
            )
        return found

    def operand(self, value: SSAValue, user: Operation) -> Operand:
        if isinstance(value.type, MemRefType):
            return self.memref(value, user)
        return self.value(value, user)

    def scalar(
        self, op: str, args: Sequence[Value], dtype: str, operand_dtype: str = "index"
    ) -> Value:
        """`op` on `args`: folded, or a statement at the outermost level that knows its
        arguments."""
        unsafe = op in scalars.UNSAFE and (isinstance(args[1], Reg) or args[1] == 0)
        if not unsafe and not any(isinstance(a, Reg) for a in args):
            return scalars.fold(op, args, dtype, operand_dtype)
        level = self.level if unsafe else max(map(level_of, args))
        dest = self.reg(level)
        statement = Scalar(dest, op, tuple(args), dtype, operand_dtype)
        if level == LAUNCH:
            self.prelude.append(statement)
        else:
            self.bodies[level].append(statement)
        return dest

    def product(self, a: Size, b: Size) -> Size:
        if not isinstance(a, Reg) and not isinstance(b, Reg):
            return a * b
        if a == 1 or b == 1:
            return b if a == 1 else a
        result = self.scalar("muli", (a, b), "index")
        return result if isinstance(result, Reg) else int(result)
