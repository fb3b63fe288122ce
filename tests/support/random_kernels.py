"""Random small kernels of the npu level, without flags, as text: loops of all kinds around loads,
vector operators, stores and products on buffers that rotate, share and are cut into views.

They compute nothing of use. `place=True` leaves the addresses to npu-place; otherwise the allocs
get random addresses, so that buffers overlap that a compiler would keep apart. In a `tidy` kernel
every loop has at least two iterations and every conflict that may happen does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

ROWS, COLUMNS = 4, 16
GM_ROWS = 64
TALL = 2 * ROWS


def gm_type(rows: int = GM_ROWS, dtype: str = "f32") -> str:
    return f"memref<{rows}x{COLUMNS}x{dtype}, #npu.space<gm>>"


def local_type(space: str, rows: int, columns: int = COLUMNS) -> str:
    return f"memref<{rows}x{columns}xf32, #npu.space<{space}>>"


@dataclass
class Buffer:
    name: str
    space: str
    rows: int


@dataclass
class Scope:
    """What is in sight: buffers, and offsets in tiles of ROWS rows, each with a number of tiles
    that it stays below."""

    buffers: list[Buffer]
    offsets: list[tuple[str, int]]
    depth: int = 0

    def inner(self) -> Scope:
        return Scope(list(self.buffers), list(self.offsets), self.depth + 1)


@dataclass
class RandomKernel:
    """Makes one kernel; `core` is "vector", "cube" or "mixed"."""

    random: Random
    core: str = "vector"
    place: bool = True
    blocks: int = 2
    size: int = 10
    known_blocks: bool = True
    tidy: bool = False
    lines: list[str] = field(default_factory=list[str])
    names: int = 0

    def text(self) -> str:
        types = [gm_type()] * 3 + [gm_type(dtype="i64")]
        arguments = ", ".join(f"%arg{i}: {t}" for i, t in enumerate(types))
        attributes = f'npu.core = "{self.core}"'
        if self.known_blocks:
            attributes += f", npu.blocks = {self.blocks} : i64"
        self.add(f"func.func @kernel({arguments}) attributes {{{attributes}}} {{")
        self.add("%block = npu.block_idx : index")
        self.add("%blocks = npu.block_num : index")
        for value in sorted({*range(9), ROWS, COLUMNS, TALL}):
            self.add(f"%c{value} = arith.constant {value} : index")
        self.add("%first = arith.constant true")
        self.add("%scalar = arith.constant 1.0 : f32")
        scope = Scope([], [("%c0", 1)])
        self.body(scope, self.size)
        self.add("func.return")
        self.add("}")
        return "\n".join(self.lines)

    def add(self, line: str) -> None:
        self.lines.append(line)

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"%{prefix}{self.names}"

    def body(self, scope: Scope, budget: int) -> None:
        """About `budget` operators, in loops where it falls so."""
        for space in self.spaces():
            for _ in range(self.random.choice((0, 1, 2) if scope.depth else (1, 2))):
                self.alloc(scope, space)
        while budget > 0:
            if scope.depth < 3 and budget > 2 and self.random.random() < 0.25:
                inside = self.random.randint(2, max(2, budget))
                self.loop(scope, inside)
                budget -= inside
            else:
                self.operator(scope)
                budget -= 1

    def spaces(self) -> list[str]:
        cube = ["l1", "l0a", "l0b", "l0c"]
        return {"vector": ["ub"], "cube": cube, "mixed": [*cube, "ub"]}[self.core]

    def alloc(self, scope: Scope, space: str) -> None:
        rows = self.random.choice((ROWS, TALL)) if space in ("ub", "l1") else COLUMNS
        rows = min(rows, ROWS) if self.tidy and space in ("ub", "l1") else rows
        copies = self.random.choice((1, 1, 2, 2, 3)) if scope.depth else 1
        buffer = Buffer(self.name(space + "_"), space, rows)
        at = "" if self.place else f" at {self.random.randrange(8) * 512}"
        rotating = f" copies {copies}" if copies > 1 else ""
        self.add(f"{buffer.name} = npu.alloc{at}{rotating} : {local_type(space, rows)}")
        scope.buffers.append(buffer)

    def loop(self, scope: Scope, budget: int) -> None:
        counter, inner = self.name("i"), scope.inner()
        kinds = ("static", "stride", "pair") if self.tidy else ("static", "stride", "block", "pair")
        kind = self.random.choice(kinds)
        if kind == "stride":
            bounds, reach = "%block to %c8 step %blocks", 8
        elif kind == "block":
            bounds, reach = "%c0 to %block step %c1", self.blocks
        else:
            trips = self.random.randint(2 if self.tidy else 1, 5)
            bounds, reach = f"%c0 to %c{trips} step %c1", trips
        self.add(f"scf.for {counter} = {bounds} {{")
        inner.offsets.append((counter, reach))
        if kind == "pair":
            high, low = self.name("d"), self.name("m")
            self.add(f"{high} = arith.divui {counter}, %c2 : index")
            self.add(f"{low} = arith.remui {counter}, %c2 : index")
            inner.offsets += [(high, reach // 2 + 1), (low, 2)]
        self.body(inner, budget)
        self.add("}")

    # Views

    def tiles(self, scope: Scope, most: int) -> str:
        """A number of tiles below `most`: a constant, or from a counter."""
        fitting = [name for name, reach in scope.offsets if reach <= most]
        if not fitting or self.random.random() < 0.3:
            return f"%c{self.random.randrange(min(most, 8)) if not self.tidy else 0}"
        return self.random.choice(fitting[-2:] if self.random.random() < 0.7 else fitting)

    def view(self, buffer: str, type_: str, rows: int, scope: Scope) -> tuple[str, str]:
        """ROWS rows of a buffer."""
        space = type_[type_.index("#") : -1]
        dtype = type_.split("x")[2].split(",")[0]
        if rows == ROWS:
            return buffer, type_
        view = self.name("v")
        if self.random.random() < 0.3:
            offset = "0" if self.tidy else str(ROWS * self.random.randrange(rows // ROWS))
            layout = f"strided<[{COLUMNS}, 1], offset: {int(offset) * COLUMNS}>"
            layout = f"strided<[{COLUMNS}, 1]>" if offset == "0" else layout
        else:
            offset = self.name("o")
            self.add(f"{offset} = arith.muli {self.tiles(scope, rows // ROWS)}, %c{ROWS} : index")
            layout = f"strided<[{COLUMNS}, 1], offset: ?>"
        result = f"memref<{ROWS}x{COLUMNS}x{dtype}, {layout}, {space}>"
        self.add(
            f"{view} = memref.subview {buffer}[{offset}, 0] [{ROWS}, {COLUMNS}] [1, 1] : "
            f"{type_} to {result}"
        )
        return view, result

    def local(self, scope: Scope, space: str) -> tuple[str, str] | None:
        """ROWS rows of a buffer in ub or l1, a whole tile of L0."""
        found = [buffer for buffer in scope.buffers if buffer.space == space]
        if not found:
            return None
        buffer = self.random.choice(found)
        type_ = local_type(space, buffer.rows)
        if space in ("ub", "l1"):
            return self.view(buffer.name, type_, buffer.rows, scope)
        return buffer.name, type_

    def gm(self, scope: Scope) -> tuple[str, str]:
        if self.tidy:
            scope = Scope([], [])
        return self.view(f"%arg{self.random.randrange(3)}", gm_type(), GM_ROWS, scope)

    # Operators

    def operator(self, scope: Scope) -> None:
        kinds = {
            "vector": [self.load, self.load, self.vector, self.vector, self.store, self.scalar],
            "cube": [
                self.load,
                self.load,
                self.copy,
                self.copy,
                self.mmad,
                self.mmad,
                self.fixpipe,
            ],
            "mixed": [
                *(self.load, self.load, self.copy, self.mmad, self.mmad),
                *(self.fixpipe, self.vector, self.store),
            ],
        }
        self.random.choice(kinds[self.core])(scope)

    def move(self, kind: str, source: tuple[str, str], dest: tuple[str, str]) -> None:
        self.add(f"npu.{kind} ins({source[0]} : {source[1]}) outs({dest[0]} : {dest[1]})")

    def load(self, scope: Scope) -> None:
        space = self.random.choice([s for s in self.spaces() if s in ("ub", "l1")])
        dest = self.local(scope, space)
        if dest is not None:
            self.move("load", self.gm(scope), dest)

    def store(self, scope: Scope) -> None:
        source = self.local(scope, "ub")
        if source is not None:
            self.move("store", source, self.gm(scope))

    def vector(self, scope: Scope) -> None:
        a, b, out = (self.local(scope, "ub") for _ in range(3))
        if a is None or b is None or out is None:
            return
        if self.random.random() < 0.3:
            self.add(f"npu.vbrc ins(%scalar : f32) outs({out[0]} : {out[1]})")
        else:
            self.add(f"npu.vadd ins({a[0]}, {b[0]} : {a[1]}, {b[1]}) outs({out[0]} : {out[1]})")

    def scalar(self, scope: Scope) -> None:
        row = self.tiles(scope, 8)
        self.add(f"{self.name('s')} = memref.load %arg3[{row}, %c0] : {gm_type(dtype='i64')}")
        value = self.name("f")
        self.add(f"{value} = memref.load %arg0[{row}, %c0] : {gm_type()}")

    def copy(self, scope: Scope) -> None:
        source, dest = (
            self.local(scope, "l1"),
            self.local(scope, self.random.choice(("l0a", "l0b"))),
        )
        if source is None or dest is None:
            return
        view = self.name("v")
        type_ = dest[1].replace(
            "memref<16x16xf32", f"memref<{ROWS}x{COLUMNS}xf32, strided<[16, 1]>"
        )
        self.add(
            f"{view} = memref.subview {dest[0]}[0, 0] [{ROWS}, {COLUMNS}] [1, 1] : "
            f"{dest[1]} to {type_}"
        )
        self.move("copy", source, (view, type_))

    def mmad(self, scope: Scope) -> None:
        a, b, out = (self.local(scope, space) for space in ("l0a", "l0b", "l0c"))
        if a is not None and b is not None and out is not None:
            self.add(
                f"npu.mmad ins({a[0]}, {b[0]} : {a[1]}, {b[1]}) init %first "
                f"outs({out[0]} : {out[1]})"
            )

    def fixpipe(self, scope: Scope) -> None:
        source = self.local(scope, "l0c")
        if source is None:
            return
        view = self.name("v")
        type_ = source[1].replace(
            "memref<16x16xf32", f"memref<{ROWS}x{COLUMNS}xf32, strided<[16, 1]>"
        )
        self.add(
            f"{view} = memref.subview {source[0]}[0, 0] [{ROWS}, {COLUMNS}] [1, 1] : "
            f"{source[1]} to {type_}"
        )
        self.move("fixpipe", (view, type_), self.gm(scope))
