"""Schedules of regions that differ in sizes alone: what does not depend on sizes is found once.

In: the block of a region with its sizes. Out: a `Template`: the problem of its family with every
number as a product of sizes, found by giving each size a prime of its own; or a Refusal that holds
whatever the sizes are. Then other sizes have an `Estimate` without a block. Sizes up to SMALL are
part of what is equal; reshapes and windows, whose numbers are sums, have no template.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, SSAValue

from fusec.hw import Target
from fusec.schedule.axes import Axes
from fusec.schedule.contraction import Axis, Contraction
from fusec.schedule.cube import fair_us, schedule_cube
from fusec.schedule.cube_problem import CubeProblem, cube_problem
from fusec.schedule.cube_time import cube_work
from fusec.schedule.expand import expand
from fusec.schedule.mixed import Planner, best
from fusec.schedule.mixed_problem import MixedProblem, problem_of
from fusec.schedule.plan_tables import Kept, Tilings, kept_of, ports_of
from fusec.schedule.ports import Lie
from fusec.schedule.program import Program
from fusec.schedule.region import Region
from fusec.schedule.schedule import families_of, schedule
from fusec.schedule.types import Refusal, RefusalError, Schedule
from fusec.schedule.vector import VectorSearch
from fusec.schedule.work import Estimate, Work, estimate_of
from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import ConstantOp, GraphOp, YieldOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.shapes import dims_of, make_type

SMALL = 16
"""Sizes up to this are the same in all regions of a template: they decide what is small."""

CLASSES = frozenset({FusionClass.ELEMENTWISE, FusionClass.REDUCTION, FusionClass.NORM})
CONTRACTIONS = frozenset({"matmul", "gemm"})
WITHOUT = frozenset({"global_average_pool", "group_normalization", "batch_normalization"})
"""Operators of these classes that other passes change by their layout."""

PRIMES = (10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079, 10091, 10093, 10099, 10103)
"""Stand for sizes; more different sizes have no template. No product of a few small sizes is one of
them, or the sum of two."""


def has_template(name: str) -> bool:
    """Whether an operator may be in a region with a template."""
    return name in CONTRACTIONS or (fusion_class(name) in CLASSES and name not in WITHOUT)


class Monomial(NamedTuple):
    """`factor` times the sizes of these numbers."""

    factor: int
    sizes: tuple[int, ...]

    def of(self, sizes: Sequence[int]) -> int:
        """Its value."""
        found = self.factor
        for number in self.sizes:
            found *= sizes[number]
        return found


class NoTemplate(Exception):
    """A region whose numbers are no products of its sizes."""


def _monomial(value: int) -> Monomial:
    sizes: list[int] = []
    rest = value
    for number, prime in enumerate(PRIMES):
        while rest and rest % prime == 0:
            rest //= prime
            sizes.append(number)
    if rest > SMALL**3:
        raise NoTemplate
    return Monomial(rest, tuple(sizes))


def _monomials(values: Iterable[int]) -> tuple[Monomial, ...]:
    return tuple(map(_monomial, values))


@dataclass(frozen=True)
class _Program:
    """A vector program with its numbers as monomials: sizes of axes, strides of ports by axis."""

    program: Program
    sizes: tuple[Monomial, ...]
    strides: tuple[Mapping[int, Monomial], ...]
    kept: Kept

    @classmethod
    def of(cls, program: Program, target: Target) -> _Program:
        """Raises NoTemplate where a number is no product of sizes."""
        ports = ports_of(program)
        if any(port.picked is not None or port.offset for port in ports):
            raise NoTemplate
        strides = tuple({a: _monomial(s) for a, s in port.strides.items()} for port in ports)
        return cls(program, _monomials(program.axes.sizes), strides, kept_of(program, target))

    def tilings(self, sizes: Sequence[int], target: Target) -> Tilings:
        """Those of the program with these sizes."""
        made = tuple([s.of(sizes) for s in self.sizes])
        lies = [Lie({a: s.of(sizes) for a, s in one.items()}, one.keys()) for one in self.strides]
        return Tilings(self.program, target, (made, lies, self.kept))

    def at(self, sizes: Sequence[int]) -> Program:
        """The program for these sizes."""
        old = self.program
        made = {
            id(port): replace(port, strides={a: s.of(sizes) for a, s in one.items()})
            for port, one in zip(ports_of(old), self.strides, strict=True)
        }
        steps = [s if s.port is None else replace(s, port=made[id(s.port)]) for s in old.steps]
        axes = Axes(tuple(s.of(sizes) for s in self.sizes), {}, {}, (), old.axes.spaces)
        return Program(axes, old.vals, steps, old.resident, old.resident_value)


AXES = ("row", "col", "n", "k")


@dataclass(frozen=True)
class _Cube:
    """A contraction with its numbers as monomials."""

    problem: CubeProblem
    axes: Mapping[str, tuple[Monomial, tuple[Monomial, ...]]]
    grid: tuple[tuple[Monomial, tuple[Monomial, ...]], ...]

    @classmethod
    def of(cls, problem: CubeProblem) -> _Cube:
        axes = problem.axes
        if axes.outer_k or axes.windows or any(problem.offsets):
            raise NoTemplate

        def one(axis: Axis) -> tuple[Monomial, tuple[Monomial, ...]]:
            return _monomial(axis.size), _monomials(axis.strides)

        named = {name: one(getattr(axes, name)) for name in AXES}
        return cls(problem, named, tuple(map(one, axes.grid)))

    def at(self, sizes: Sequence[int]) -> CubeProblem:
        """The problem for these sizes."""

        def one(found: tuple[Monomial, tuple[Monomial, ...]]) -> Axis:
            size, strides = found
            return Axis(size.of(sizes), tuple(s.of(sizes) for s in strides))

        old = self.problem.axes
        made = {name: one(found) for name, found in self.axes.items()}
        axes = Contraction(
            grid=tuple(map(one, self.grid)),
            outer_k=(),
            a_transposed=old.a_transposed,
            b_transposed=old.b_transposed,
            swapped=old.swapped,
            **made,
        )
        return replace(self.problem, axes=axes)


@dataclass(frozen=True)
class _Mixed:
    """The problem of a mixed kernel with its numbers as monomials."""

    cube: _Cube
    program: _Program
    problem: MixedProblem

    @classmethod
    def of(cls, problem: MixedProblem, target: Target) -> _Mixed:
        places = (*problem.grid, problem.row, problem.col, problem.n)
        if any(place is not None and place.step != 1 for place in places):
            raise NoTemplate
        return cls(_Cube.of(problem.cube), _Program.of(problem.program, target), problem)

    def at(self, sizes: Sequence[int]) -> MixedProblem:
        """The problem for these sizes."""
        return replace(self.problem, cube=self.cube.at(sizes), program=self.program.at(sizes))


def _vector_answer(
    made: _Program, sizes: Sequence[int], target: Target
) -> tuple[Schedule, Work] | Refusal:
    try:
        return VectorSearch(made.program, target, made.tilings(sizes, target)).best()
    except RefusalError as error:
        return error.refusal


def _cube_answer(
    made: _Cube, sizes: Sequence[int], target: Target
) -> tuple[Schedule, Work] | Refusal:
    problem = made.at(sizes)
    found = schedule_cube(problem, target)
    return found if isinstance(found, Refusal) else (found, cube_work(problem, found, target))


def _mixed_answer(
    made: _Mixed, sizes: Sequence[int], target: Target
) -> tuple[Schedule, Work] | Refusal:
    planner = Planner(made.at(sizes), target, made.program.tilings(sizes, target))
    found = best(planner)
    return found if isinstance(found, Refusal) else (found, planner.work(found))


Made = _Program | _Cube | _Mixed


ROUNDED = 0.1
"""Searches compare rounded µs: what they find may take so much longer than another candidate."""


@dataclass(frozen=True)
class Bounds:
    """A kernel takes from `least` to `most` µs by the model; None: it may be that there is none."""

    least: float
    most: float | None


@dataclass(frozen=True)
class Template:
    """The families that take a region, first ones first; `further`: those behind them, which have
    no template."""

    families: tuple[Made, ...]
    further: tuple[str, ...] = ()

    def answer(self, sizes: Sequence[int], target: Target) -> Estimate | None:
        """What the kernel costs for these sizes, numbered as they were made; None where no family
        of the template takes them."""
        for made in self.families:
            if isinstance(made, _Program):
                found = _vector_answer(made, sizes, target)
            elif isinstance(made, _Cube):
                found = _cube_answer(made, sizes, target)
            else:
                found = _mixed_answer(made, sizes, target)
            if not isinstance(found, Refusal):
                return estimate_of(found[1], target)
        return None

    def bounds(self, sizes: Sequence[int], target: Target) -> Bounds | None:
        """What the kernel costs at least and at most, without a search; None where it is not sure
        that there is one."""
        first = self.families[0] if self.families else None
        if isinstance(first, _Program):
            search = VectorSearch(first.program, target, first.tilings(sizes, target))
            fair = search.fair_us()
            return None if fair is None else Bounds(search.least_us(), fair + ROUNDED)
        if isinstance(first, _Cube):
            return _cube_bounds(first, sizes, target)
        return Bounds(self.least_us(target), None)

    def least_us(self, target: Target) -> float:
        """No sizes make the kernel faster."""
        kinds = {KINDS.get(type(made), "mixed") for made in self.families}
        kinds |= {"mixed" if name in ("mixed", "rows") else "vector" for name in self.further}
        return min(max(target.floor_us[kind], target.launch_us[kind]) for kind in kinds)


KINDS: dict[type, str] = {_Program: "vector", _Cube: "cube", _Mixed: "mixed"}
"""Of the kernels of a family."""


def _cube_bounds(made: _Cube, sizes: Sequence[int], target: Target) -> Bounds | None:
    problem = made.at(sizes)
    if problem.alpha != 1.0:
        return None
    fair = fair_us(problem, target)
    least = target.launch_us["cube"] + problem.operand_bytes / (target.hbm_gbps * 1e3)
    floor = target.floor_us["cube"]
    return None if fair is None else Bounds(max(least, floor), max(fair + ROUNDED, floor))


def template_of(block: Block, sizes: Sequence[int], target: Target) -> Template | Refusal | None:
    """The template of a block, its sizes above SMALL being `sizes`; None where it has none."""
    ops = [op for op in block.ops if not isinstance(op, ConstantOp | YieldOp)]
    if len(sizes) > len(PRIMES) or not all(
        isinstance(op, GraphOp) and has_template(op.op_name) for op in ops
    ):
        return None
    generic = _with_primes(block, {size: PRIMES[i] for i, size in enumerate(sizes)})
    if generic is None:
        return None
    region = Region.of_block(generic)
    names = families_of(region)
    if names != families_of(Region.of_block(block)) or (len(names) > 1 and names[-1] == "vector"):
        return None
    made: list[Made] = []
    further: tuple[str, ...] = ()
    try:
        for at, name in enumerate(names):
            if name not in MAKERS:
                further = names[at:]
                break
            try:
                made.append(MAKERS[name](region, target))
            except RefusalError:
                continue
    except NoTemplate:
        return None
    if made:
        return Template(tuple(made), further)
    found = _refusal(block, region, target)
    return Template((), further) if found is None and further == ("rows",) else found


def _refusal(block: Block, generic: Region, target: Target) -> Refusal | None:
    """Why the block has no kernel, where sizes have no part in it."""
    found = schedule(Region.of_block(block), target)
    same = schedule(generic, target)
    return found if isinstance(found, Refusal) and found == same else None


MAKERS: dict[str, Callable[[Region, Target], Made]] = {
    "vector": lambda region, target: _Program.of(expand(region), target),
    "cube": lambda region, target: _Cube.of(cube_problem(region)),
    "mixed": lambda region, target: _Mixed.of(problem_of(region), target),
}


def _with_primes(block: Block, primes: Mapping[int, int]) -> Block | None:
    """The block with primes for its sizes; None where it has other sizes."""

    def turned(value: SSAValue) -> Attribute | None:
        if not isinstance(value.type, TensorType):
            return None
        dims: list[int] = []
        type_ = tensor_type(value)
        for size in dims_of(type_):
            if not isinstance(size, int) or (size > SMALL and size not in primes):
                return None
            dims.append(size if size <= SMALL else primes[size])
        return make_type(type_.element_type, tuple(dims))

    types = [turned(a) for a in block.args]
    if any(t is None for t in types):
        return None
    made = Block(arg_types=[t for t in types if t is not None])
    known: dict[SSAValue, SSAValue] = dict(zip(block.args, made.args, strict=True))
    for op in block.ops:
        results = [turned(r) for r in op.results]
        if any(t is None for t in results):
            return None
        copy = type(op).create(
            operands=[known[o] for o in op.operands],
            result_types=[t for t in results if t is not None],
            properties=dict(op.properties),
        )
        copy.location = op.location
        made.add_op(copy)
        known.update(zip(op.results, copy.results, strict=True))
    return made
