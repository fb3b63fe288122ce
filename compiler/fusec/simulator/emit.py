"""The Python function that a kernel is turned into, for the functional simulator.

The generated text is `def make(...)`, which binds the kernel to local memories, prepares every view
whose address is fixed, and returns `run(gm arguments, blocks)`. A view is made at the outermost
level at which its address is known; inside a loop it is one call of `numpy.ndarray`, 0.2 us.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusec.simulator.emit_ops import IN_PLACE, instruction_text
from fusec.simulator.errors import SimulationError
from fusec.simulator.form import (
    BLOCK,
    LAUNCH,
    Buffer,
    Instr,
    Kernel,
    Loop,
    Offset,
    Reg,
    Scalar,
    ScalarLoad,
    Size,
    Statement,
    Value,
    View,
)
from fusec.simulator.scalars import text_of, value_text

MAKE = -1
"""The level of what is done once, when the kernel is bound to its memories."""


class Emitter:
    """Writes the text. `lines[level]` collects the open body of each level, `places` of each
    line."""

    def __init__(self, kernel: Kernel, tapped: bool):
        self.kernel = kernel
        self.tapped = tapped
        self.placed = kernel.placed
        self.lines: dict[int, list[tuple[str, str]]] = {MAKE: [], LAUNCH: [], BLOCK: []}
        self.level = BLOCK
        self.views: set[int] = set()
        self.checked: set[tuple[int, int]] = set()
        self.products: dict[tuple[int, ...], str] = {}

    def source(self) -> tuple[str, list[str]]:
        """The text, and for each line the place of the operator that it is from."""
        kernel = self.kernel
        for scalar in kernel.prelude:
            self.add(LAUNCH, self.scalar(scalar), kernel.place)
        for statement in kernel.body:
            self.statement(statement)
        arguments = ", ".join(f"g{a.argument}" for a in kernel.arguments)
        memories = "".join(f", m_{space}" for space in sorted({b.space for b in kernel.allocs}))
        text: list[tuple[str, str]] = [(f"def make(memory, tap{memories}):", kernel.place)]
        text += self.indented(MAKE, 1)
        text.append((f"    def run(gm, {kernel.block_count}):", kernel.place))
        if arguments:
            text.append((f"        {arguments}, = gm", kernel.place))
        text += self.indented(LAUNCH, 2)
        text.append((f"        for {kernel.block} in range({kernel.block_count}):", kernel.place))
        text += self.indented(BLOCK, 3)
        text.append(("    return run", kernel.place))
        return "\n".join(line for line, _ in text), [place for _, place in text]

    def indented(self, level: int, depth: int) -> list[tuple[str, str]]:
        indent = "    " * depth
        lines = self.lines[level] or ([("pass", "")] if level == BLOCK else [])
        return [(indent + line, place) for line, place in lines]

    def add(self, level: int, line: str, place: str) -> None:
        self.lines[level].append((line, place))

    # Statements

    def statement(self, statement: Statement) -> None:
        match statement:
            case Scalar():
                self.add(self.level, self.scalar(statement), self.kernel.place)
            case ScalarLoad():
                self.scalar_load(statement)
            case Loop():
                self.loop(statement)
            case Instr():
                self.instruction(statement)
            case _:
                pass

    def scalar(self, scalar: Scalar) -> str:
        text = text_of(scalar.op, scalar.args, scalar.dtype, scalar.operand_dtype)
        return f"{scalar.dest} = {text}"

    def scalar_load(self, load: ScalarLoad) -> None:
        name = self.view(load.view)
        self.add(self.level, f"{load.dest} = {name}.item()", load.place)

    def loop(self, loop: Loop) -> None:
        bounds = ", ".join(map(value_text, (loop.lower, loop.upper, loop.step)))
        self.level += 1
        self.lines[self.level] = []
        for statement in loop.body:
            self.statement(statement)
        body = self.lines.pop(self.level)
        self.level -= 1
        if body:
            self.add(self.level, f"for {loop.var} in range({bounds}):", loop.place)
            self.lines[self.level] += [(f"    {line}", place) for line, place in body]

    def instruction(self, instr: Instr) -> None:
        names = [self.view(o) if isinstance(o, View) else value_text(o) for o in instr.operands]
        for write in instr.writes:
            for read in range(len(instr.operands)):
                if isinstance(instr.operands[read], View) and read not in instr.writes:
                    self.overlap(instr, read, write)
        product = self.product(instr.dest) if instr.kind == "mmad" else None
        for line in instruction_text(instr, names, product):
            self.add(self.level, line, instr.place)
        if self.tapped:
            dest = instr.dest
            call = (
                f"tap({self.kernel.name!r}, {dest.name!r}, {self.kernel.block}, {self.view(dest)})"
            )
            self.add(self.level, call, instr.place)

    def product(self, accumulator: View) -> str | None:
        """An array for products before they are accumulated, where the shape is fixed."""
        if not accumulator.static_shape or accumulator.dtype != "f32":
            return None
        shape = tuple(size for size in accumulator.sizes if isinstance(size, int))
        name = self.products.get(shape)
        if name is None:
            name = self.products[shape] = f"t{len(self.products)}"
            self.add(MAKE, f"{name} = np_empty({shape}, dt_f32)", accumulator.place)
        return name

    def overlap(self, instr: Instr, read: int, write: int) -> None:
        """The check that a source does not overlap what is written: numpy would hide it."""
        source, dest = instr.view(read), instr.view(write)
        if source.space != dest.space:
            return
        same = instr.kind in IN_PLACE and write == instr.writes[0]
        if source is dest and same:
            return
        if source is dest:
            raise SimulationError(
                instr.place, "it writes what it reads", "only elementwise instructions may"
            )
        if source.buffer is not dest.buffer and not self.share_bytes(source.buffer, dest.buffer):
            return
        pair = (source.index, dest.index)
        if pair in self.checked:
            return
        self.checked.add(pair)
        level = max(self.view_level(source), self.view_level(dest))
        names = f"{self.view(source)}, {self.view(dest)}"
        self.add(level, f"apart({names}, {same})", instr.place)

    def share_bytes(self, a: Buffer, b: Buffer) -> bool:
        """Whether two placed buffers, copies included, overlap anywhere."""
        if a.address is None or b.address is None:
            return False
        a_end, b_end = a.address + a.copies * a.pitch, b.address + b.copies * b.pitch
        return a.address < b_end and b.address < a_end

    # Views

    def view_level(self, view: View) -> int:
        """Views of local buffers at fixed addresses are made once, when the kernel is bound."""
        if view.buffer.argument is None and not (view.level or self.moving(view)):
            return MAKE
        return view.level

    def moving(self, view: View) -> bool:
        return any(isinstance(s, Reg) for s in (*view.sizes, *view.strides)) or bool(
            view.offset.terms
        )

    def view(self, view: View) -> str:
        """The name of a view; its definition is written where it first can be."""
        name = f"w{view.index}"
        if view.index in self.views:
            return name
        self.views.add(view.index)
        level, buffer = self.view_level(view), view.buffer
        slot = buffer.slot
        offset = view.offset.times(buffer.itemsize).plus(buffer.address or 0)
        base = self.base(buffer)
        if slot is not None and not self.moving(view):
            each = [
                self.made(view, base, offset.plus(copy * buffer.pitch))
                for copy in range(buffer.copies)
            ]
            self.add(MAKE, f"{name}s = ({', '.join(each)},)", view.place)
            self.add(level, f"{name} = {name}s[{slot}]", view.place)
            return name
        if slot is not None:
            offset = offset.plus(slot, buffer.pitch)
        self.add(level, f"{name} = {self.made(view, base, offset)}", view.place)
        return name

    def made(self, view: View, base: str, offset: Offset) -> str:
        item = view.buffer.itemsize
        sizes = tuple_text(view.sizes, 1)
        strides = tuple_text(view.strides, item)
        return f"ndarray({sizes}, dt_{view.dtype}, {base}, {offset}, {strides})"

    def base(self, buffer: Buffer) -> str:
        """The byte array that holds a buffer."""
        if buffer.argument is not None:
            return f"g{buffer.argument}"
        if buffer.address is not None:
            return f"m_{buffer.space}"
        return f"memory[{buffer.index}]"


def tuple_text(values: Sequence[Size], factor: int) -> str:
    def one(value: Value) -> str:
        if isinstance(value, Reg):
            return str(value) if factor == 1 else f"{factor} * {value}"
        return str(value * factor)

    return f"({''.join(f'{one(v)}, ' for v in values)})"
