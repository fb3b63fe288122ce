"""Schedules of regions that differ in sizes alone: what does not depend on sizes is found once.

In: the block of a region with its sizes. Out: a `Template`: the problem of its family with every
number as a product of sizes, found by giving each size a prime of its own; or a Refusal that holds
whatever the sizes are. Then other sizes have an `Estimate` without a block. Sizes up to SMALL are
part of what is equal; reshapes and pools, whose numbers are sums, have no template.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from fusec.hw import Target
from fusec.schedule import cube, mixed, rows
from fusec.schedule.cube import CubeSearch, schedule_cube
from fusec.schedule.cube_problem import CubeProblem, cube_problem
from fusec.schedule.cube_time import cube_work
from fusec.schedule.expand import expand
from fusec.schedule.mixed_problem import MixedProblem, problem_of
from fusec.schedule.region import Region
from fusec.schedule.rows_problem import RowsProblem, rows_problem
from fusec.schedule.schedule import families_of, schedule
from fusec.schedule.sized import PRIMES, SMALL, NoTemplate, Sized, SizedProgram
from fusec.schedule.types import Refusal, RefusalError
from fusec.schedule.vector import VectorSearch
from fusec.schedule.work import Estimate, Work, estimate_of
from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import ConstantOp, GraphOp, YieldOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.compute import ConvOp
from fusec_dialects.graph.shapes import dims_of, make_type

CLASSES = frozenset({FusionClass.ELEMENTWISE, FusionClass.REDUCTION, FusionClass.NORM})
CONTRACTIONS = frozenset({"matmul", "gemm"})
WITHOUT = frozenset({"global_average_pool", "group_normalization"})
"""Operators of these classes whose axes other passes change."""


def has_template(op: Operation) -> bool:
    """Whether an operator may be in a region with a template; a convolution may be that has one
    group: the number of groups is no size that goes with the channels."""
    if isinstance(op, ConvOp):
        return op.group.value.data == 1
    name = op.op_name if isinstance(op, GraphOp) else op.name
    return name in CONTRACTIONS or (fusion_class(name) in CLASSES and name not in WITHOUT)


@dataclass(frozen=True)
class _Vector:
    """A vector kernel for sizes."""

    kind: ClassVar[str] = "vector"
    program: SizedProgram
    target: Target

    def work(self, sizes: Sequence[int]) -> Work | Refusal:
        """What the best schedule takes."""
        try:
            return self._search(sizes).best().work
        except RefusalError as error:
            return error.refusal

    def bounds(self, sizes: Sequence[int]) -> Bounds | None:
        """Without a search."""
        search = self._search(sizes)
        fair = search.fair_us()
        return None if fair is None else Bounds(search.least_us(), fair + ROUNDED)

    def _search(self, sizes: Sequence[int]) -> VectorSearch:
        return VectorSearch(self.program.program, self.target, self.program.tilings(sizes))


@dataclass(frozen=True)
class _Cube:
    """A cube kernel for sizes."""

    kind: ClassVar[str] = "cube"
    problem: Sized[CubeProblem]
    target: Target

    def work(self, sizes: Sequence[int]) -> Work | Refusal:
        """What the best schedule takes."""
        problem = self.problem.at(sizes)
        found = schedule_cube(problem, self.target)
        return found if isinstance(found, Refusal) else cube_work(problem, found, self.target)

    def bounds(self, sizes: Sequence[int]) -> Bounds | None:
        """Without a search."""
        problem, target = self.problem.at(sizes), self.target
        if problem.alpha != 1.0:
            return None
        search = CubeSearch(problem, target)
        fair = cube.fair_us(search)
        most = None if fair is None else max(fair + ROUNDED, target.floor_us["cube"])
        return Bounds(search.time.least_us(), most)


@dataclass(frozen=True)
class _Mixed:
    """A mixed kernel for sizes."""

    kind: ClassVar[str] = "mixed"
    problem: Sized[MixedProblem]
    target: Target

    def work(self, sizes: Sequence[int]) -> Work | Refusal:
        """What the best schedule takes."""
        planner = self._planner(sizes)
        found = mixed.best(planner)
        return found if isinstance(found, Refusal) else planner.work(found)

    def _planner(self, sizes: Sequence[int]) -> mixed.Planner:
        return mixed.Planner(self.problem.at(sizes), self.target)

    def bounds(self, sizes: Sequence[int]) -> Bounds:
        """Without a search."""
        return _lazily(
            lambda: mixed.fair_us(self._planner(sizes)),
            lambda: mixed.least_us(self._planner(sizes)),
            self,
        )


@dataclass(frozen=True)
class _Rows:
    """A kernel on blocks of rows for sizes."""

    kind: ClassVar[str] = "mixed"
    problem: Sized[RowsProblem]
    target: Target

    def work(self, sizes: Sequence[int]) -> Work | Refusal:
        """What the best schedule takes."""
        search = self._search(sizes)
        found = rows.best(search)
        return found if isinstance(found, Refusal) else search.work(found)

    def bounds(self, sizes: Sequence[int]) -> Bounds:
        """Without a search."""
        return _lazily(
            lambda: rows.fair_us(self._search(sizes)),
            lambda: rows.least_us(self._search(sizes)),
            self,
        )

    def _search(self, sizes: Sequence[int]) -> rows.RowsSearch:
        return rows.RowsSearch(self.problem.at(sizes), self.target)


Made = _Vector | _Cube | _Mixed | _Rows


ROUNDED = 0.1
"""Searches compare rounded µs: what they find may take so much longer than another candidate."""


class Bounds:
    """A kernel takes from `least` to `most` µs by the model. `most` is None where there may be no
    kernel; it is found when it is asked for."""

    def __init__(
        self,
        least: float,
        most: float | Callable[[], float | None] | None,
        closer: Callable[[], float] | None = None,
    ) -> None:
        """`closer` finds a larger `least`, which takes about a tenth of a search."""
        self.least = least
        self._most = most
        self._closer = closer

    @property
    def most(self) -> float | None:
        """See above."""
        if callable(self._most):
            self._most = self._most()
        return self._most

    def refine(self) -> bool:
        """Raises `least` where that is possible; whether it has."""
        if self._closer is None or self.most is None:
            return False
        before, self.least = self.least, max(self.least, self._closer())
        self._closer = None
        return self.least > before


def _lazily(
    fair: Callable[[], float | None], closer: Callable[[], float], made: _Mixed | _Rows
) -> Bounds:
    target = made.target
    floor, launch = target.floor_us[made.kind], target.launch_us[made.kind]

    def most() -> float | None:
        found = fair()
        return None if found is None else max(found + ROUNDED, floor)

    return Bounds(max(floor, launch), most, closer)


@dataclass(frozen=True)
class Template:
    """The families that take a region, first ones first; `further`: those behind them, which have
    no template."""

    families: tuple[Made, ...]
    target: Target
    further: tuple[str, ...] = ()

    def answer(self, sizes: Sequence[int]) -> Estimate | None:
        """What the kernel costs for these sizes, numbered as they were made; None where no family
        of the template takes them."""
        for made in self.families:
            work = made.work(sizes)
            if not isinstance(work, Refusal):
                return estimate_of(work, self.target)
        return None

    def bounds(self, sizes: Sequence[int]) -> Bounds | None:
        """What the kernel costs at least and at most, without a search; None where it is not sure
        that there is one."""
        if not self.families:
            return None
        first = self.families[0]
        found = first.bounds(sizes)
        if isinstance(first, _Mixed | _Rows) and found is not None:
            found.least = self._least_us()
            return found
        return Bounds(self._least_us(), None) if found is None or found.most is None else found

    def _least_us(self) -> float:
        """No sizes make the kernel faster."""
        kinds = {made.kind for made in self.families}
        kinds |= {"vector" if name == "vector" else "mixed" for name in self.further}
        return min(max(self.target.floor_us[k], self.target.launch_us[k]) for k in kinds)


def template_of(block: Block, sizes: Sequence[int], target: Target) -> Template | Refusal | None:
    """The template of a block, its sizes above SMALL being `sizes`; None where it has none."""
    ops = [op for op in block.ops if not isinstance(op, ConstantOp | YieldOp)]
    if len(sizes) > len(PRIMES) or not all(
        isinstance(op, GraphOp) and has_template(op) for op in ops
    ):
        return None
    names = families_of(Region.of_block(block))
    if len(names) > 1 and names[-1] == "vector":
        return None
    generic = _with_primes(block, {size: PRIMES[i] for i, size in enumerate(sizes)})
    if generic is None:
        return None
    region = Region.of_block(generic)
    if names != families_of(region):
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
    return Template(tuple(made), target, further) if made else _refusal(block, region, target)


def _refusal(block: Block, generic: Region, target: Target) -> Refusal | None:
    """Why the block has no kernel, where sizes have no part in it."""
    found = schedule(Region.of_block(block), target)
    same = schedule(generic, target)
    return found if isinstance(found, Refusal) and found == same else None


MAKERS: dict[str, Callable[[Region, Target], Made]] = {
    "vector": lambda region, target: _Vector(SizedProgram(expand(region), target), target),
    "cube": lambda region, target: _Cube(Sized(cube_problem(region), target), target),
    "mixed": lambda region, target: _Mixed(Sized(problem_of(region), target), target),
    "rows": lambda region, target: _Rows(Sized(rows_problem(region), target), target),
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
