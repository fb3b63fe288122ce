"""The module that Huawei's compiler returns, read into functions, operations and declarations.

It prints one operation a line, so a line is enough to know an operation. Regions side by side use
the same names again: a name means its last definition before the line that uses it. Nothing is
verified here; `inspect_output` and its neighbours ask the questions.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

_OPERATION = re.compile(
    r'^\s*(?:((?:%[\w$.-]+(?::\d+)?(?:, )?)+) = )?"?([a-z_]\w*(?:\.\w+)*)"?(.*)$'
)
_FUNCTION = re.compile(r"^\s*func\.func (private )?@([\w$.-]+)\((.*)$")
_CORE = re.compile(r"func_core_type = #hivm\.func_core_type<(\w+)>")
_ARGUMENT = re.compile(r"(%\w+): (memref<[^%]*?>|[\w.]+)(?= \{|, %|\)|$)")
_VALUE = re.compile(r"%[\w$.-]+")
_CALL = re.compile(r"@([\w$.-]+)\(([^)]*)\) : \((.*)\) -> ")
_SPACE = re.compile(r"#hivm\.address_space<(\w+)>>$")
_STRIDED = re.compile(r"strided<\[([^\]]*)\](?:, offset: (\?|-?\d+))?")
_BITS = re.compile(r"\d+")
_LOOP = re.compile(r"^ (%[\w$.-]+) = (%[\w$.-]+) to %[\w$.-]+ step (%[\w$.-]+)")
_ALIAS = re.compile(r"^(#map\d*) = affine_map<\(([^)]*)\)(?:\[([^\]]*)\])? -> \((.*)\)>$")
_CONSTANT = re.compile(r"^ (-?\d+) : ")
_VIEWS = frozenset(
    (
        *("memref.cast", "memref.subview", "memref.collapse_shape", "memref.expand_shape"),
        *("memref.reinterpret_cast", "memref.memory_space_cast", "arith.select"),
    )
)
CALLS = ("func.call", "call")


@dataclass(frozen=True)
class MemRef:
    """A printed memref type: sizes, strides and offset (None where dynamic), element type,
    address space ("": none).
    """

    sizes: tuple[int | None, ...]
    strides: tuple[int | None, ...]
    offset: int | None
    element: str
    space: str

    @property
    def bits(self) -> int:
        """Size of an element."""
        found = _BITS.search(self.element)
        return int(found.group()) if found else 64


class Use(NamedTuple):
    """A value's name where it is used."""

    name: str
    line: int


@dataclass(frozen=True)
class Operation:
    line: int
    name: str
    results: tuple[str, ...]
    rest: str

    @cached_property
    def operands(self) -> list[Use]:
        return [Use(name, self.line) for name in _VALUE.findall(self.rest)]

    @cached_property
    def types(self) -> list[str]:
        """The types printed on the line, in order."""
        return split_types(self.rest[self.rest.find(" : ") + 3 :])

    @property
    def result(self) -> "MemRef | None":
        """The type of the result where it is a memref."""
        return parse_memref(self.types[-1])


@dataclass(frozen=True)
class Call:
    line: int
    callee: str
    operands: tuple[Use, ...]
    types: tuple[str, ...]


@dataclass(frozen=True)
class AffineMap:
    """Names of dimensions and symbols, and the printed results."""

    parameters: tuple[str, ...]
    results: str


@dataclass(frozen=True)
class Loop:
    """The bounds of a `scf.for` as used in its head."""

    lower: Use
    step: Use


@dataclass
class Function:
    """One function of the module. `core` is AIC, AIV or "" where the attribute is missing."""

    name: str
    header: str
    line: int
    aliases: dict[str, "AffineMap"]
    operations: list[Operation] = field(default_factory=list[Operation])
    closings: list[str] = field(default_factory=list[str])

    @cached_property
    def core(self) -> str:
        found = _CORE.search(self.header)
        return found.group(1) if found else ""

    @cached_property
    def _definitions(self) -> dict[str, list[Operation]]:
        found: dict[str, list[Operation]] = {}
        for op in self.operations:
            for name in op.results:
                found.setdefault(name, []).append(op)
        return found

    def definition(self, use: Use) -> Operation | None:
        """The operation that makes the value; None for arguments of the function or of a loop."""
        known = self._definitions.get(use.name, [])
        return next((op for op in reversed(known) if op.line < use.line), None)

    @cached_property
    def arguments(self) -> dict[str, str]:
        """Argument name to printed type."""
        return dict(_ARGUMENT.findall(self.header))

    @cached_property
    def calls(self) -> list[Call]:
        return list(self._calls())

    def _calls(self) -> Iterator[Call]:
        for op in self.operations:
            found = _CALL.search(op.rest) if op.name in CALLS else None
            if found is None:
                continue
            names = (x.strip() for x in found.group(2).split(","))
            operands = tuple(Use(name, op.line) for name in names if name)
            yield Call(op.line, found.group(1), operands, tuple(split_types(found.group(3))))

    @cached_property
    def _loops(self) -> dict[str, list[Loop]]:
        found: dict[str, list[Loop]] = {}
        for op in self.operations:
            head = _LOOP.match(op.rest) if op.name == "scf.for" else None
            if head is not None:
                loop = Loop(Use(head.group(2), op.line), Use(head.group(3), op.line))
                found.setdefault(head.group(1), []).append(loop)
        return found

    def loop(self, use: Use) -> Loop | None:
        """The loop whose counter the value is."""
        known = self._loops.get(use.name, [])
        return next((loop for loop in reversed(known) if loop.step.line < use.line), None)

    def constant(self, use: Use) -> int | None:
        """The integer that the value is, or None where it is not a constant."""
        op = self.definition(use)
        if op is None or op.name != "arith.constant":
            return None
        found = _CONSTANT.match(op.rest)
        return int(found.group(1)) if found is not None else {" true": 1, " false": 0}.get(op.rest)

    def uncast(self, use: Use) -> Operation | None:
        """The operation behind the `memref.cast`s that precede every library call; None for an
        argument.
        """
        op = self.definition(use)
        while op is not None and op.name == "memref.cast":
            op = self.definition(op.operands[0])
        return op

    def memref(self, use: Use) -> MemRef | None:
        """The type of a buffer before the casts of a library call."""
        op = self.definition(use)
        if op is None or op.name != "memref.cast":
            return op.result if op is not None else parse_memref(self.arguments.get(use.name, ""))
        inner = self.memref(op.operands[0])
        return inner if inner is not None else parse_memref(op.types[0])

    def roots(self, use: Use) -> set[Operation | str]:
        """The buffers that a value views: pointer casts, workspaces, names of arguments."""
        found: set[Operation | str] = set()
        todo = [use]
        while todo:
            value = todo.pop()
            op = self.definition(value)
            if op is None:
                found.add(value.name)
            elif op.name not in _VIEWS:
                found.add(op)
            elif op.name == "arith.select":
                todo += op.operands[1:3]
            else:
                todo.append(op.operands[0])
        return found


@dataclass
class Module:
    """Functions with a body in order, and the declared ones with their core ("" where it is not
    said).
    """

    header: str
    functions: list[Function]
    declarations: dict[str, str]

    def function(self, name: str) -> Function | None:
        return next((f for f in self.functions if f.name == name), None)


def parse_module(text: str) -> Module:
    """Reads the compiler's output. Text of another shape gives a module without functions, never
    an error.
    """
    module = Module("", [], {})
    aliases: dict[str, AffineMap] = {}
    current: Function | None = None
    for number, line in enumerate(text.splitlines(), 1):
        head = _FUNCTION.match(line)
        if head is not None and (head.group(1) or not line.rstrip().endswith("{")):
            found = _CORE.search(line)
            module.declarations[head.group(2)] = found.group(1) if found else ""
        elif head is not None:
            current = Function(head.group(2), line, number, aliases)
            module.functions.append(current)
        elif (alias := _ALIAS.match(line)) is not None:
            names = re.findall(r"\w+", f"{alias.group(2)} {alias.group(3) or ''}")
            aliases[alias.group(1)] = AffineMap(tuple(names), alias.group(4))
        elif line.lstrip().startswith("module"):
            module.header += line
        elif current is not None:
            _read_line(current, line, number)
    return module


def _read_line(function: Function, line: str, number: int) -> None:
    stripped = line.strip()
    if stripped.startswith("}"):
        function.closings.append(stripped)
        return
    found = _OPERATION.match(line)
    if found is None:
        return
    results = tuple(name.split(":")[0] for name in (found.group(1) or "").split(", ") if name)
    function.operations.append(Operation(number, found.group(2), results, found.group(3)))


def split_types(text: str) -> list[str]:
    """The comma-separated types of a printed list, `to`, `into` and attributes between them
    dropped.
    """
    types: list[str] = []
    depth, start = 0, 0
    for index, char in enumerate(text):
        if char in "<([{":
            depth += 1
        elif char in ">)]}" and text[index - 1 : index + 1] != "->":
            depth -= 1
        elif char == "," and depth == 0:
            types.append(text[start:index])
            start = index + 1
    types.append(text[start:])
    return [part for piece in types for part in re.split(r" (?:to|into) ", piece.strip()) if part]


def parse_memref(text: str) -> MemRef | None:
    """A printed memref type; None for any other type."""
    if not text.startswith("memref<"):
        return None
    inner = text[len("memref<") :]
    dims = re.match(r"((?:(?:\d+|\?)x)*)(\w+)", inner)
    if dims is None:
        return None
    sizes = tuple(_size(d) for d in dims.group(1).split("x") if d)
    strided = _STRIDED.search(inner)
    space = _SPACE.search(text)
    strides = (
        tuple(_size(s) for s in strided.group(1).split(", ") if s)
        if strided
        else dense_strides(sizes)
    )
    offset = _size(strided.group(2)) if strided and strided.group(2) else 0
    return MemRef(sizes, strides, offset, dims.group(2), space.group(1) if space else "")


def _size(text: str) -> int | None:
    return None if text == "?" else int(text)


def dense_strides(sizes: tuple[int | None, ...]) -> tuple[int | None, ...]:
    strides: list[int | None] = []
    step: int | None = 1
    for size in reversed(sizes):
        strides.append(step)
        step = None if step is None or size is None else step * size
    return tuple(reversed(strides))
