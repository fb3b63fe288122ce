"""Modelled time of a tiled vector program, pipe by pipe.

In: a plan and tiles. Out: cycles of each pipe of the busiest core and bytes through gm, as `Work`.
What does not depend on the tiles is looked up once, so that many tiles can be tried: a score is
plain arithmetic on numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple, TypeAlias

from fusec.hw import DTYPE_BYTES, Target
from fusec.hw.target import BURST_BYTES, VectorCost
from fusec.schedule.footprint import BLOCK, REPEAT
from fusec.schedule.plan import Action, Buffer, Dims, Plan, Sweep
from fusec.schedule.planner import ENTRY, GRID
from fusec.schedule.ports import Lie, Port
from fusec.schedule.ways import Way, way_of
from fusec.schedule.work import Work

GM_LINE = 512
"""Bytes that an aligned run in gm starts on."""

ENGINES = {"load": "gm->ub", "store": "ub->gm"}

NOWHERE: Mapping[int, int] = {}
"""Strides of what does not lie in gm."""

Numbers: TypeAlias = Sequence[int] | Mapping[int, int]
"""Tile sizes by axis."""

Trips = tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
"""Sweeps: the home around each, and axis and home of its loops."""


class Spent(NamedTuple):
    """Cycles of the busiest core in all and by pipe, bytes through gm."""

    cycles: float
    moved: int
    v: float
    mte2: float
    mte3: float


class _Move(NamedTuple):
    """A load or store: the axes of its tile from the innermost on, bytes of an element, its port
    by number (-1 for none); `picks`: the axes of the indices of a gather."""

    is_load: bool
    axes: tuple[int, ...]
    size: int
    port: int
    picks: frozenset[int] | None


class _Reduction(NamedTuple):
    """A reduction of one dimension of a tile: `add` halves, `last` reduces what a repeat holds, as
    `Target.reduce_cost` has it. `outer` and `inner`: the axes of the dimensions before and behind
    it; `size` bytes are an element, `repeat` bytes a repeat."""

    outer: tuple[int, ...]
    axis: int | None
    inner: tuple[int, ...] | None
    size: int
    repeat: int
    add: VectorCost
    last: VectorCost

    def cycles(self, tiles: Numbers) -> float:
        """Over the columns of a tile, or over rows of its columns, for each of the outer ones."""
        outer, axis, inner, size, repeat, add, last = self
        times, length = 1, 1 if axis is None else tiles[axis]
        for one in outer:
            times *= tiles[one]
        if inner is None:
            wide = -(-length * size // repeat)
            fold = (wide - 1).bit_length() * add.head + times * (wide - 1) * add.repeat
            return fold + last.head + last.repeat * times
        columns = 1
        for one in inner:
            columns *= tiles[one]
        wide = -(-columns * size // repeat)
        each = (length - 1).bit_length() * add.head + (length - 1) * wide * add.repeat
        return each * times


class _Home(NamedTuple):
    """What one place in the loops does in one round: `weights` cycles for each repeat of a class of
    tiles, reductions, moves."""

    number: int
    head: float
    weights: tuple[tuple[int, float], ...]
    reductions: tuple[_Reduction, ...]
    moves: tuple[_Move, ...]


class PlanTable:
    """What of a plan's time depends on neither sizes nor strides; it holds no IR."""

    def __init__(self, plan: Plan, ports: Sequence[Port], target: Target) -> None:
        """`ports`: those of the program, in the order of its steps."""
        self.target = target
        self.sweeps: Trips = tuple(
            (outer, tuple(zip(item.axes, item.homes, strict=True)))
            for outer, items in ((ENTRY, plan.entry), (GRID, plan.grid))
            for item in items
            if isinstance(item, Sweep)
        )
        swept = {axis for _, loops in self.sweeps for axis, _ in loops}
        self.gridded = tuple(plan.looped - swept)
        maker = _Maker(ports, target)
        self.homes = maker.homes(plan)
        self.rows = [
            (tuple(a for a in dims[:-1] if a is not None), dims[-1]) for dims in maker.shapes
        ]
        sizes = ((shape, DTYPE_BYTES[dtype]) for shape, dtype in maker.classes)
        self.classes = [(shape, size, max(1, BLOCK // size)) for shape, size in sizes]
        self.touched = {m.port: m.size for home in self.homes for m in home.moves if m.port >= 0}
        self.latency = sum(target.transfer(engine).latency for engine in ENGINES.values())
        self.per_us = target.hbm_gbps * 1e3, target.l2_gbps * 1e3


class PlanTime:
    """The time of a plan as a function of its tiles."""

    def __init__(self, table: PlanTable, sizes: Sequence[int], lies: Sequence[Lie]) -> None:
        """`lies`: of the ports by number."""
        self.sizes = sizes
        self.target = table.target
        self._table = table
        self._strides = [lie.strides for lie in lies]
        self._known_ways: dict[int, tuple[Way, Way]] = {}
        self.touched = 0
        for port, size in table.touched.items():
            for axis in lies[port].axes:
                size *= sizes[axis]
            self.touched += size

    def spent(self, tiles: Numbers, blocks: int, copies: int) -> Spent:
        """What the busiest core does, overlapped where buffers have copies."""
        repeats = self._repeats(tiles)
        trips, most = self._trips(tiles, blocks)
        load, store = self._ways(blocks)
        v = mte2 = mte3 = first = 0.0
        moved = 0
        for number, head, weights, reductions, moves in self._table.homes:
            vector = 0.0
            for kind, weight in weights:
                vector += weight * repeats[kind]
            vector += head
            if reductions:
                vector += sum([one.cycles(tiles) for one in reductions])
            times = trips[number]
            v += vector * times
            for move in moves:
                cycles, size = self._move(move, tiles, load, store)
                if move.is_load:
                    mte2 += cycles * times
                else:
                    mte3 += cycles * times
                moved += size * times * blocks
                if number <= GRID:
                    first += cycles
        total, longest = v + mte2 + mte3, max(v, mte2, mte3)
        cycles = min(total, longest + first) if copies > 1 and most > 1 else total
        return Spent(cycles + self._table.latency, moved, v, mte2, mte3)

    def work(self, tiles: Numbers, blocks: int, copies: int) -> Work:
        """The same as a `Work`."""
        cycles, moved, v, mte2, mte3 = self.spent(tiles, blocks, copies)
        pipes = {"v": v, "mte2": mte2, "mte3": mte3}
        return Work("vector", cycles, moved, self.touched, pipes)

    def score(self, tiles: Numbers, blocks: int, copies: int) -> tuple[float, float]:
        """µs as `estimate_of` has them, and cycles."""
        cycles, moved, *_ = self.spent(tiles, blocks, copies)
        target, (hbm, l2) = self.target, self._table.per_us
        busy = max(cycles / target.clock_mhz, self.touched / hbm, moved / l2)
        return max(target.launch_us["vector"] + busy, target.floor_us["vector"]), cycles

    def _repeats(self, tiles: Numbers) -> list[int]:
        """Repeats of an instruction on each class of tiles: row by row where rows are padded."""
        shapes: list[tuple[int, int]] = []
        for outer, inner in self._table.rows:
            rows = 1
            for axis in outer:
                rows *= tiles[axis]
            shapes.append((rows, 1 if inner is None else tiles[inner]))
        found: list[int] = []
        for shape, size, each in self._table.classes:
            rows, length = shapes[shape]
            if length % each:
                found.append(rows * -(-length * size // REPEAT))
            else:
                found.append(-(-rows * length * size // REPEAT))
        return found

    def _trips(self, tiles: Numbers, blocks: int) -> tuple[dict[int, int], int]:
        """How often each home runs on the busiest core, and the most of these."""
        sizes, grid = self.sizes, 1
        for axis in self._table.gridded:
            grid *= -(-sizes[axis] // tiles[axis])
        rounds = most = -(-grid // blocks)
        found = {ENTRY: 1, GRID: rounds}
        if not self._table.sweeps:
            return found, most
        for outer, loops in self._table.sweeps:
            inner = found[outer]
            for axis, home in loops:
                inner *= -(-sizes[axis] // tiles[axis])
                found[home] = inner
            most = max(most, inner)
        return found, most

    def _move(self, move: _Move, tiles: Numbers, load: Way, store: Way) -> tuple[float, int]:
        """Cycles and bytes of one load or store of a tile."""
        is_load, axes, size, port, picks = move
        strides = self._strides[port] if port >= 0 else NOWHERE
        run, elements, joined = 1, 1, True
        for axis in axes:
            joined = joined and strides.get(axis, 1) == elements
            elements *= tiles[axis]
            if joined:
                run = elements
        whole = elements * size
        if picks is not None:
            return self._gathered(move, tiles, whole, load), whole
        head, burst, narrow, rate, unaligned = load if is_load else store
        bursts, moved = elements // run, whole
        if bursts * BURST_BYTES > whole:
            burst, moved = narrow, bursts * BURST_BYTES
        spent = moved / rate
        if run * size % GM_LINE:
            spent *= unaligned
        return head + bursts * burst + spent, whole

    def _gathered(self, move: _Move, tiles: Numbers, size: int, way: Way) -> float:
        """Cycles of slices that are moved one by one, each after its index."""
        picks = move.picks or frozenset()
        rows = prod(tiles[axis] for axis in move.axes if axis in picks)
        return rows * (self.target.scalar_memory_cycles + way.cycles(size // rows))

    def _ways(self, blocks: int) -> tuple[Way, Way]:
        """Loads and stores with so many cores at work."""
        found = self._known_ways.get(blocks)
        if found is None:
            load, store = (way_of(self.target, engine, blocks) for engine in ENGINES.values())
            found = self._known_ways[blocks] = load, store
        return found


class _Draft:
    """A home while actions are added to it: vector instructions summed up by shape."""

    def __init__(self) -> None:
        self.head = 0.0
        self.weights: dict[int, float] = {}
        self.reductions: list[_Reduction] = []
        self.moves: list[_Move] = []


class _Maker:
    """Finds the homes of a plan; `shapes` of tiles and `classes` (shape, type) go by number."""

    def __init__(self, ports: Sequence[Port], target: Target) -> None:
        self.shapes: dict[Dims, int] = {}
        self.classes: dict[tuple[int, str], int] = {}
        self._ports = {id(port): number for number, port in enumerate(ports)}
        self._target = target

    def homes(self, plan: Plan) -> tuple[_Home, ...]:
        """The homes of a plan with all that is done in them."""
        drafts: dict[int, _Draft] = {}
        for number, action in _actions(plan):
            self._add(drafts.setdefault(number, _Draft()), action)
        return tuple(
            _Home(number, d.head, tuple(d.weights.items()), tuple(d.reductions), tuple(d.moves))
            for number, d in drafts.items()
        )

    def _add(self, home: _Draft, action: Action) -> None:
        """Single elements go through the scalar unit, as the vendor's compiler has it."""
        kind, buffer = action.kind, action.dest
        if kind in ENGINES:
            home.moves.append(self._move(action))
            return
        if kind == "vreduce":
            source = action.sources[0]
            if isinstance(source, Buffer):
                home.reductions.append(self._reduction(source, action.dims[0]))
            return
        if buffer is None:
            return
        dtype, widest, scalar = buffer.dtype, DTYPE_BYTES[buffer.dtype], False
        for source in action.sources:
            if not isinstance(source, Buffer):
                scalar = True
            elif DTYPE_BYTES[source.dtype] > widest:
                dtype, widest = source.dtype, DTYPE_BYTES[source.dtype]
        if scalar and f"{kind}:scalar" in self._target.vector.costs:
            kind = f"{kind}:scalar"
        row = self._target.vector_row(kind, dtype)
        home.head += row.head
        if all(axis is None for axis in buffer.dims):
            home.head += self._target.scalar_memory_cycles * (1 + len(action.sources))
        shape = self.shapes.setdefault(buffer.dims, len(self.shapes))
        key = self.classes.setdefault((shape, dtype), len(self.classes))
        home.weights[key] = home.weights.get(key, 0.0) + row.repeat

    def _reduction(self, source: Buffer, at: int) -> _Reduction:
        before, behind = source.dims[:at], source.dims[at + 1 :]
        return _Reduction(
            outer=tuple(a for a in before if a is not None),
            axis=source.dims[at],
            inner=tuple(a for a in behind if a is not None) if behind else None,
            size=DTYPE_BYTES[source.dtype],
            repeat=self._target.vector.repeat_bytes,
            add=self._target.vector_row("vadd", source.dtype),
            last=self._target.vector_row("vreduce", source.dtype),
        )

    def _move(self, action: Action) -> _Move:
        buffer, port = _moved(action), action.step.port
        axes = tuple(axis for axis in reversed(buffer.dims) if axis is not None)
        picked = None if port is None else port.picked
        return _Move(
            is_load=action.kind == "load",
            axes=axes,
            size=DTYPE_BYTES[buffer.dtype],
            port=-1 if port is None else self._ports[id(port)],
            picks=None if picked is None else frozenset(picked.index.strides),
        )


def time_of(plan: Plan, sizes: Sequence[int], target: Target) -> PlanTime:
    """The time of one plan for axes of these sizes."""
    steps = (action.step for _, action in _actions(plan))
    ports = list({id(s.port): s.port for s in steps if s.port is not None}.values())
    return PlanTime(PlanTable(plan, ports, target), sizes, [port.lie for port in ports])


def _moved(action: Action) -> Buffer:
    """The tile that a load fills or a store drains."""
    found = action.dest if action.kind == "load" else action.sources[0]
    if not isinstance(found, Buffer):
        raise TypeError("a scalar is neither loaded nor stored")
    return found


def _actions(plan: Plan) -> Iterator[tuple[int, Action]]:
    """Every action with its home."""
    for outer, items in ((ENTRY, plan.entry), (GRID, plan.grid)):
        for item in items:
            if not isinstance(item, Sweep):
                yield outer, item
                continue
            for home, body in zip(item.homes, item.bodies, strict=True):
                for action in body:
                    yield home, action
