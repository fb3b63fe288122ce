"""Modelled time of a tiled vector program, pipe by pipe.

In: a plan and tiles. Out: cycles of each pipe of the busiest core and bytes through gm, as `Work`.
What does not depend on the tiles is summed up once, so that many tiles can be tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from fusec.hw import DTYPE_BYTES, Target
from fusec.schedule.footprint import REPEAT, Tiles, padded, shape_of
from fusec.schedule.plan import Action, Buffer, Plan, Sweep
from fusec.schedule.planner import ENTRY, GRID
from fusec.schedule.ports import Port
from fusec.schedule.work import Work

ENGINES = {"load": "gm->ub", "store": "ub->gm"}


@dataclass(eq=False)
class _Home:
    """What one place in the loops does in one round: vector instructions summed up by shape."""

    head: float = 0.0
    repeats: dict[tuple[object, ...], tuple[Buffer, float]] = field(
        default_factory=dict[tuple[object, ...], "tuple[Buffer, float]"]
    )
    reductions: list[Action] = field(default_factory=list[Action])
    moves: list[Action] = field(default_factory=list[Action])


class PlanTime:
    """The time of a plan as a function of its tiles."""

    def __init__(self, plan: Plan, sizes: Sequence[int], target: Target) -> None:
        self.plan = plan
        self.sizes = sizes
        self.target = target
        self._sweeps = {
            home: [item for item in items if isinstance(item, Sweep)]
            for home, items in ((ENTRY, plan.entry), (GRID, plan.grid))
        }
        self._homes: dict[int, _Home] = {}
        for home, action in _actions(plan):
            self._add(self._homes.setdefault(home, _Home()), action)

    def _add(self, home: _Home, action: Action) -> None:
        """Single elements go through the scalar unit, as the vendor's compiler has it."""
        if action.kind in ENGINES:
            home.moves.append(action)
            return
        if action.kind == "vreduce":
            home.reductions.append(action)
            return
        buffer = action.dest
        if buffer is None:
            return
        wide = max(
            (b for b in (buffer, *action.sources) if isinstance(b, Buffer)),
            key=lambda b: DTYPE_BYTES[b.dtype],
        )
        scalar = any(not isinstance(s, Buffer) for s in action.sources)
        kind = action.kind
        if scalar and f"{kind}:scalar" in self.target.vector.costs:
            kind = f"{kind}:scalar"
        row = self.target.vector_row(kind, wide.dtype)
        home.head += row.head
        if all(axis is None for axis in buffer.dims):
            home.head += self.target.scalar_memory_cycles * (1 + len(action.sources))
        key = (buffer.dims, wide.dtype)
        sample, before = home.repeats.get(key, (Buffer(-1, wide.dtype, buffer.dims, 0, 0), 0.0))
        home.repeats[key] = (sample, before + row.repeat)

    def trips(self, tiles: Tiles, blocks: int) -> dict[int, int]:
        """How often each home runs on the busiest core."""
        swept = {axis for sweeps in self._sweeps.values() for s in sweeps for axis in s.axes}
        grid = prod(-(-self.sizes[axis] // tiles.sizes[axis]) for axis in self.plan.looped - swept)
        rounds = -(-grid // blocks)
        found = {ENTRY: 1, GRID: rounds}
        for outer, sweeps in self._sweeps.items():
            for sweep in sweeps:
                inner = found[outer]
                for axis, home in zip(sweep.axes, sweep.homes, strict=True):
                    inner *= -(-self.sizes[axis] // tiles.sizes[axis])
                    found[home] = inner
        return found

    def work(self, tiles: Tiles, blocks: int, copies: int) -> Work:
        """The busiest core: what its pipes do, overlapped where buffers have copies."""
        pipes = {"v": 0.0, "mte2": 0.0, "mte3": 0.0}
        first = 0.0
        trips = self.trips(tiles, blocks)
        moved = 0.0
        for number, home in self._homes.items():
            vector = home.head + sum(
                weight * _repeats(sample, tiles) for sample, weight in home.repeats.values()
            )
            vector += sum(self._reduction(action, tiles) for action in home.reductions)
            times = trips[number]
            pipes["v"] += vector * times
            for action in home.moves:
                cycles, size = self._move(action, tiles, blocks)
                pipes["mte2" if action.kind == "load" else "mte3"] += cycles * times
                moved += size * times * blocks
                first += cycles if number in (ENTRY, GRID) else 0.0
        total, longest = sum(pipes.values()), max(pipes.values())
        overlapped = copies > 1 and max(trips.values()) > 1
        cycles = min(total, longest + first) if overlapped else total
        latency = sum(self.target.transfer(engine).latency for engine in ENGINES.values())
        return Work("vector", cycles + latency, int(moved), self._touched(), pipes)

    def _touched(self) -> int:
        """Bytes of all ports once."""
        ports = {
            id(a.step.port): a for home in self._homes.values() for a in home.moves if a.step.port
        }
        return sum(
            prod(self.sizes[axis] for axis in action.step.port.axes)
            * DTYPE_BYTES[_moved(action).dtype]
            for action in ports.values()
            if action.step.port is not None
        )

    def _reduction(self, action: Action, tiles: Tiles) -> float:
        source = action.sources[0]
        if not isinstance(source, Buffer):
            return 0.0
        shape = shape_of(source, tiles)
        at = action.dims[0]
        if at == len(shape) - 1:
            return self.target.reduce_cost(source.dtype, prod(shape[:-1]), shape[-1])
        columns = prod(shape[at + 1 :])
        one = self.target.reduce_cost(source.dtype, shape[at], columns, last_axis=False)
        return one * prod(shape[:at])

    def _gather(self, buffer: Buffer, port: Port, tiles: Tiles, blocks: int) -> float:
        """Cycles of slices that are moved one by one, each after its index."""
        picks = () if port.picked is None else port.picked.index.strides
        rows = prod(tiles.sizes[a] for a in buffer.dims if a is not None and a in picks)
        size = prod(tiles.sizes[a] for a in buffer.dims if a is not None) // rows
        move = self.target.transfer_cost(
            ENGINES["load"], size * DTYPE_BYTES[buffer.dtype], cores=blocks
        )
        return rows * (self.target.scalar_memory_cycles + move)

    def _move(self, action: Action, tiles: Tiles, blocks: int) -> tuple[float, int]:
        """Cycles and bytes of one load or store of a tile."""
        buffer, port = _moved(action), action.step.port
        strides: Mapping[int, int] = {} if port is None else port.strides
        run, elements, joined = 1, 1, True
        for axis in reversed(buffer.dims):
            if axis is None:
                continue
            size = tiles.sizes[axis]
            joined = joined and strides.get(axis, 1) == elements
            elements *= size
            run = elements if joined else run
        size = elements * DTYPE_BYTES[buffer.dtype]
        if port is not None and port.picked is not None:
            return self._gather(buffer, port, tiles, blocks), size
        cycles = self.target.transfer_cost(
            ENGINES[action.kind],
            size,
            bursts=elements // run,
            aligned=run * DTYPE_BYTES[buffer.dtype] % 512 == 0,
            cores=blocks,
        )
        return cycles, size


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


def _repeats(buffer: Buffer, tiles: Tiles) -> int:
    """Repeats of an instruction on a tile: row by row where rows are padded."""
    shape, size = shape_of(buffer, tiles), DTYPE_BYTES[buffer.dtype]
    if shape[-1] == padded(shape[-1], buffer.dtype):
        return -(-prod(shape) * size // REPEAT)
    return prod(shape[:-1]) * -(-shape[-1] * size // REPEAT)
