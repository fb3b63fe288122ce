"""What a chip is to the compiler: capacities, alignments, paths, and the cost of each instruction.

In: a built-in name or the path of a TOML file. Out: a frozen `Target`, every value of which was
checked. Costs are in cycles of the core clock; where each constant is from stands in the TOML.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fusec.hw.read import (
    Raw,
    Table,
    TargetError,
    TargetFileError,
    UnknownTargetError,
    nearest,
    read_merged,
)

_FOLDER = Path(__file__).resolve().parent
_FILES = {file.stem: file for file in sorted(_FOLDER.glob("*.toml"))}
TARGETS: tuple[str, ...] = tuple(_FILES)
DEFAULT_TARGET = "ascend910b3"

SPACES = ("gm", "l2", "l1", "l0a", "l0b", "l0c", "bt", "ub")
KINDS = ("vector", "cube", "mixed")
DTYPE_BYTES: Mapping[str, int] = {
    **{"i1": 1, "i8": 1, "ui8": 1, "i16": 2, "i32": 4, "i64": 8, "index": 8},
    **{"f16": 2, "bf16": 2, "f32": 4, "hf32": 4},
}
BURST_BYTES = 32  # the smallest piece of gm that a move handles


@dataclass(frozen=True)
class Transfer:
    """A way from one memory to another. Rates in bytes per cycle of one core, the rest in cycles;
    `unaligned` is a factor. The meaning of each field is told at `[transfer]` in the TOML."""

    rate: float
    hbm_rate: float
    head: float
    latency: float
    burst: float
    narrow: float
    unaligned: float


@dataclass(frozen=True)
class VectorCost:
    """A vector instruction on one type: cycles for each repeat, and a head that independent
    instructions overlap and dependent ones wait for."""

    repeat: float
    head: float


@dataclass(frozen=True)
class Cube:
    """By operand type: [m, n, k] of one cycle and of a stored fractal, type of the accumulator."""

    shape: Mapping[str, tuple[int, ...]]
    fractal: Mapping[str, tuple[int, ...]]
    accumulator: Mapping[str, str]
    head: float


@dataclass(frozen=True)
class Vector:
    """The vector unit: `costs` by operator and type row, `types` that each operator takes."""

    repeat_bytes: int
    bank_conflict: float
    partial_repeat: float
    cost_as: Mapping[str, str]
    types: Mapping[str, tuple[str, ...]]
    costs: Mapping[str, Mapping[str, VectorCost]]


@dataclass(frozen=True)
class Sync:
    """Ids of a pipe pair and of a core pair; cycles of a flag, a barrier, a cross-core flag, and of
    one more block on a core."""

    event_ids: int
    cross_core_ids: int
    flag_cycles: float
    barrier_cycles: float
    cross_core_cycles: float
    block_dispatch_cycles: float


@dataclass(frozen=True, eq=False)
class Target:
    """A chip. Compared by identity: `load_target` gives the same object for the same `source`."""

    name: str
    vendor: str
    cube_cores: int
    vector_per_cube: int
    clock_mhz: float
    capacities: Mapping[str, int]
    alignments: Mapping[str, int]
    cube: Cube
    vector: Vector
    transfers: Mapping[str, Transfer]
    hbm_gbps: float
    l2_gbps: float
    launch_us: Mapping[str, float]
    floor_us: Mapping[str, float]
    sync: Sync
    scalar_op_cycles: float
    scalar_memory_cycles: float
    source: str = ""

    @property
    def vector_cores(self) -> int:
        return self.cube_cores * self.vector_per_cube

    def cores(self, kind: str) -> int:
        """How many blocks of a vector, cube or mixed kernel run at once."""
        self._known("kernel kind", kind, KINDS)
        return self.vector_cores if kind == "vector" else self.cube_cores

    def capacity(self, space: str) -> int:
        """Bytes of a memory (of one core; of the chip for gm and l2)."""
        return self.capacities[self._known("memory", space, self.capacities)]

    def alignment(self, space: str) -> int:
        """Bytes that every address in a memory is a multiple of."""
        return self.alignments[self._known("memory", space, self.alignments)]

    def has_path(self, source: str, destination: str) -> bool:
        """Whether data can move from one memory to the other at all (l0c to ub: not on a 910B)."""
        return f"{source}->{destination}" in self.transfers

    def transfer(self, engine: str) -> Transfer:
        """The constants of an engine, such as `gm->ub` or `gm->l1:nd2nz`."""
        return self.transfers[self._known("transfer", engine, self.transfers)]

    def shared_rate(self, level: str, cores: int) -> float:
        """Bytes per cycle that each of `cores` gets of `hbm` or `l2` when all use it at once."""
        gbps = {"hbm": self.hbm_gbps, "l2": self.l2_gbps}
        total = gbps[self._known("memory level", level, gbps)] * 1e3 / self.clock_mhz
        return total / max(cores, 1)

    def transfer_cost(
        self,
        engine: str,
        bytes: int,
        *,
        bursts: int = 1,
        aligned: bool = True,
        level: str = "l2",
        cores: int = 1,
    ) -> float:
        """Cycles that a move keeps its engine busy: head + bursts * burst + bytes / rate.

        `bursts` contiguous runs in gm; `aligned` to gm's alignment; data in `l2` or `hbm`, whose
        bandwidth `cores` share. The latency of the engine comes on top for who waits for the data.
        """
        way = self.transfer(engine)
        if bytes <= 0:
            return 0.0
        rate = way.hbm_rate if level == "hbm" else way.rate
        if "gm" in engine:
            rate = min(rate, self.shared_rate(level, cores))
        short = bursts * BURST_BYTES > bytes
        moved = bursts * BURST_BYTES if short else bytes
        each = way.burst + (way.narrow if short else 0.0)
        return way.head + bursts * each + moved / rate * (1.0 if aligned else way.unaligned)

    def vector_supports(self, op: str, dtype: str) -> bool:
        """Whether the vector unit has the operator on this type (arithmetic on bf16: never)."""
        return dtype in self.vector.types.get(op, ())

    def vector_row(self, op: str, dtype: str) -> VectorCost:
        """The constants of an operator (`vadd`, or `vadd:scalar` with a scalar right-hand side)."""
        base = op.removesuffix(":scalar")
        row = op if op in self.vector.costs else base
        costs = self.vector.costs[self._known("vector operator", row, self.vector.costs)]
        self._known("type", dtype, DTYPE_BYTES)
        return costs[self.vector.cost_as.get(dtype, dtype)]

    def repeats(self, dtype: str, elements: int) -> int:
        """Repeats of a vector instruction over contiguous elements; the last need not be full."""
        bytes = elements * DTYPE_BYTES[self._known("type", dtype, DTYPE_BYTES)]
        return -(-bytes // self.vector.repeat_bytes)

    def vector_cost(self, op: str, dtype: str, elements: int) -> float:
        """Cycles of one vector instruction on contiguous elements, its head included; `dtype` is
        the widest operand's. A last repeat that is not full costs `partial_repeat` more."""
        row = self.vector_row(op, dtype)
        if elements <= 0:
            return 0.0
        partial = elements * DTYPE_BYTES[dtype] % self.vector.repeat_bytes
        extra = self.vector.partial_repeat if partial else 0.0
        return row.head + row.repeat * self.repeats(dtype, elements) + extra

    def reduce_cost(self, dtype: str, rows: int, columns: int, *, last_axis: bool = True) -> float:
        """Cycles to reduce rows x columns: over the columns (`last_axis`), or over the rows.

        Over columns: halve by vadd down to one repeat a row, then one reduction a row. Over rows:
        halve by vadd.
        """
        add, reduce = self.vector_row("vadd", dtype), self.vector_row("vreduce", dtype)
        if rows <= 0 or columns <= 0:
            return 0.0
        wide = self.repeats(dtype, columns)
        if last_axis:
            fold = self._halving(add, rows * (wide - 1), wide)
            return fold + reduce.head + reduce.repeat * rows
        return self._halving(add, (rows - 1) * wide, rows)

    def mmad_cost(self, m: int, k: int, n: int, dtype: str) -> float:
        """Cycles of one mmad, each dimension rounded up to whole fractals."""
        self._known("cube operand type", dtype, self.cube.shape)
        if min(m, k, n) <= 0:
            return 0.0
        sizes, fractal, shape = (m, n, k), self.cube.fractal[dtype], self.cube.shape[dtype]
        cycles = 1
        for size, step, done in zip(sizes, fractal, shape, strict=True):
            cycles *= -(-(-(-size // step) * step) // done)
        return self.cube.head + cycles

    def cycles_to_us(self, cycles: float) -> float:
        return cycles / self.clock_mhz

    def us_to_cycles(self, us: float) -> float:
        return us * self.clock_mhz

    def _known(self, what: str, word: str, words: Mapping[str, object] | tuple[str, ...]) -> str:
        if word not in words:
            raise TargetError(f"{self.name}: no {what} '{word}'; {nearest(word, list(words))}")
        return word

    @staticmethod
    def _halving(add: VectorCost, repeats: int, parts: int) -> float:
        return math.ceil(math.log2(parts)) * add.head + repeats * add.repeat


def load_target(name: str) -> Target:
    """The target of a built-in name or vendor spelling (case ignored), or a path ending in .toml.

    Raises UnknownTargetError, with the nearest valid name, or TargetFileError, with file and key.
    """
    if not name.endswith(".toml"):
        file = _FILES.get(name.lower())
        if file is None:
            raise UnknownTargetError(
                f"unknown target '{name}'; {nearest(name.lower(), list(TARGETS))}"
                " A file of your own is given by a path ending in .toml."
            )
        return _load(file, 0)
    path = Path(name)
    try:
        if not path.is_file():
            raise UnknownTargetError(f"no such target file: {name}; built-in: {', '.join(TARGETS)}")
        return _load(path.resolve(), path.stat().st_mtime_ns)
    except OSError as error:
        raise TargetFileError(f"{name}: cannot be read: {error.strerror}") from error


@lru_cache(maxsize=64)
def _load(path: Path, version: int) -> Target:
    """`version` makes a changed file a different key of the cache."""
    return _target(read_merged(path, _FOLDER), path)


def _target(raw: Raw, path: Path) -> Target:
    top = Table(raw, path)
    cores, memory, scalar = top.table("cores"), top.table("memory"), top.table("scalar")
    target = Target(
        name=top.text("name"),
        vendor=top.text("vendor"),
        cube_cores=cores.integer("cube"),
        vector_per_cube=cores.integer("vector_per_cube"),
        clock_mhz=cores.number("clock_mhz", above=0),
        capacities=_integers(top.table("capacity"), SPACES),
        alignments=_integers(top.table("alignment"), tuple(s for s in SPACES if s != "l2")),
        cube=_cube(top.table("cube")),
        vector=_vector(top.table("vector")),
        transfers=_transfers(top.table("transfer")),
        hbm_gbps=memory.number("hbm_gbps", above=0),
        l2_gbps=memory.number("l2_gbps", above=0),
        launch_us=_numbers(top.table("launch_us"), KINDS),
        floor_us=_numbers(top.table("floor_us"), KINDS),
        sync=_sync(top.table("sync")),
        scalar_op_cycles=scalar.number("op_cycles"),
        scalar_memory_cycles=scalar.number("memory_cycles"),
        source=str(path),
    )
    for table in (cores, memory, scalar, top):
        table.done()
    return target


def _integers(table: Table, keys: tuple[str, ...]) -> dict[str, int]:
    values = {key: table.integer(key) for key in keys}
    table.done()
    return values


def _numbers(table: Table, keys: tuple[str, ...]) -> dict[str, float]:
    values = {key: table.number(key) for key in keys}
    table.done()
    return values


def _cube(table: Table) -> Cube:
    shape, fractal = table.table("shape"), table.table("fractal")
    accumulator = table.table("accumulator")
    for dtype in shape.raw:
        _dtype(shape, dtype)
    cube = Cube(
        shape={dtype: shape.integers(dtype, 3) for dtype in shape.raw},
        fractal={dtype: fractal.integers(dtype, 3) for dtype in shape.raw},
        accumulator={dtype: accumulator.text(dtype) for dtype in shape.raw},
        head=table.number("head"),
    )
    for inner in (fractal, accumulator, table):
        inner.done()
    return cube


def _vector(table: Table) -> Vector:
    lists, alias, ops = table.table("types"), table.table("cost_as"), table.table("cost")
    types = {key: lists.texts(key) for key in lists.raw}
    cost_as = {dtype: alias.text(dtype) for dtype in alias.raw}
    for dtype in (*alias.raw, *(dtype for dtypes in types.values() for dtype in dtypes)):
        _dtype(lists, dtype)
    rows: dict[str, Mapping[str, VectorCost]] = {}
    takes: dict[str, tuple[str, ...]] = {}
    for op in ops.raw:
        row = ops.table(op)
        group = row.text("types")
        if group not in types:
            raise row.fail("types", f"names no list of [vector.types]; {nearest(group, [*types])}")
        takes[op] = types[group]
        costed = [key for key in row.raw if key != "types"]
        rows[op] = {dtype: VectorCost(*row.numbers(dtype, 2)) for dtype in costed}
        for dtype in DTYPE_BYTES.keys() - {"index", "hf32"}:
            row.value(cost_as.get(dtype, dtype), "[cycles for each repeat, head]")
        for dtype in costed:
            _dtype(row, dtype)
    vector = Vector(
        repeat_bytes=table.integer("repeat_bytes"),
        bank_conflict=table.number("bank_conflict"),
        partial_repeat=table.number("partial_repeat"),
        cost_as=cost_as,
        types=takes,
        costs=rows,
    )
    table.done()
    return vector


def _transfers(table: Table) -> dict[str, Transfer]:
    for engine in table.raw:
        ends = engine.partition(":")[0].split("->")
        if len(ends) != 2 or not set(ends) <= set(SPACES):
            raise table.fail(
                engine, f"must be SOURCE->DESTINATION[:MODE] of memories {', '.join(SPACES)}"
            )
    return {engine: _transfer(table.table(engine)) for engine in table.raw}


def _transfer(table: Table) -> Transfer:
    transfer = Transfer(
        rate=table.number("rate", above=0),
        hbm_rate=table.number("hbm_rate", above=0),
        head=table.number("head"),
        latency=table.number("latency"),
        burst=table.number("burst"),
        narrow=table.number("narrow"),
        unaligned=table.number("unaligned", above=0),
    )
    table.done()
    return transfer


def _sync(table: Table) -> Sync:
    sync = Sync(
        event_ids=table.integer("event_ids"),
        cross_core_ids=table.integer("cross_core_ids"),
        flag_cycles=table.number("flag_cycles"),
        barrier_cycles=table.number("barrier_cycles"),
        cross_core_cycles=table.number("cross_core_cycles"),
        block_dispatch_cycles=table.number("block_dispatch_cycles"),
    )
    table.done()
    return sync


def _dtype(table: Table, dtype: str) -> None:
    if dtype not in DTYPE_BYTES:
        raise table.fail(dtype, f"is not a type; {nearest(dtype, list(DTYPE_BYTES))}")
