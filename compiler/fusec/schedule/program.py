"""A vector kernel as straight-line steps on values over the region's axes, before any tiling.

A step is one npu operator: a load or store of a port, or a vector instruction. A value has the axes
that it varies along; the others broadcast. Equal steps are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from fusec.schedule.axes import Axes
from fusec.schedule.ports import Port
from fusec.schedule.types import RefusalError
from fusec_dialects.place import place

Operand: TypeAlias = int | float
"""A value by its number (int), or a scalar constant (float; an integer in i32 arithmetic)."""

ELEMENTWISE = frozenset(
    {
        *("vabs", "vexp", "vln", "vsqrt", "vrelu", "vnot", "vadd", "vsub", "vmul", "vdiv"),
        *("vmax", "vmin", "vand", "vor", "vsel"),
    }
)
"""Steps whose result may take the place of an operand of the same type and axes."""


@dataclass(frozen=True)
class Val:
    """A value of the program."""

    dtype: str
    axes: frozenset[int]


@dataclass(frozen=True, eq=False)
class Step:
    """dest = kind(sources). `mode`: of vreduce, vcmp and vcast; `axes`: that vreduce reduces;
    `port`: of load and store (a store has no dest); `op`: where it comes from."""

    kind: str
    dest: int
    sources: tuple[Operand, ...]
    op: Operation | None
    mode: str = ""
    axes: tuple[int, ...] = ()
    port: Port | None = None


@dataclass(eq=False)
class Program:
    """`vals` by number; `steps` in an order that computes every operand before it is used.

    `resident` is the value that lies in ub already, if there is one.
    """

    axes: Axes
    vals: list[Val] = field(default_factory=list[Val])
    steps: list[Step] = field(default_factory=list[Step])
    resident: int | None = None
    resident_value: SSAValue | None = None
    location: Operation | None = None
    kept: object = None
    """What `plan_tables` keeps of programs like this one, where it is known."""
    _known: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])

    def value(self, dtype: str, axes: frozenset[int]) -> int:
        self.vals.append(Val(dtype, axes))
        return len(self.vals) - 1

    def step(
        self,
        kind: str,
        dtype: str,
        axes: frozenset[int],
        sources: Sequence[Operand],
        *,
        mode: str = "",
        reduced: Sequence[int] = (),
        port: Port | None = None,
    ) -> int:
        """The result of a step; an equal one that exists already is taken."""
        keyed = tuple((type(s), repr(s)) for s in sources)
        key = (kind, dtype, axes, keyed, mode, tuple(reduced), id(port) if port else None)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.value(dtype, axes)
            operands = tuple(sources)
            self.steps.append(
                Step(kind, found, operands, self.location, mode, tuple(reduced), port)
            )
        return found

    def store(self, source: int, port: Port) -> None:
        """The value goes to gm."""
        self.steps.append(Step("store", -1, (source,), self.location, port=port))

    def axes_of(self, *operands: Operand) -> frozenset[int]:
        """The axes that a result of these operands varies along."""
        return frozenset(axis for o in operands if isinstance(o, int) for axis in self.vals[o].axes)

    def dtype(self, value: int) -> str:
        return self.vals[value].dtype

    # Instructions

    def unary(self, kind: str, x: int) -> int:
        return self.step(kind, self.dtype(x), self.vals[x].axes, (x,))

    def binary(self, kind: str, a: int, b: Operand) -> int:
        """`b` may be a scalar; the axes that one lacks are broadcast inline."""
        return self.step(kind, self.dtype(a), self.axes_of(a, b), (a, b))

    def cast(self, x: int, dtype: str, mode: str = "") -> int:
        """One conversion; the value itself where it has the type."""
        if self.dtype(x) == dtype:
            return x
        return self.step("vcast", dtype, self.vals[x].axes, (x,), mode=mode)

    def fill(self, value: float, dtype: str, axes: frozenset[int]) -> int:
        """A scalar over axes."""
        return self.step("vbrc", dtype, axes, (value,))

    def spread(self, x: int, axes: frozenset[int]) -> int:
        """The value over more axes, in memory; a mask goes through f16.

        Along the innermost axis it is ones times the value where the type can: the vendor's
        compiler cannot place a column that is compared and spread by vbrc.
        """
        if axes <= self.vals[x].axes:
            return x
        whole, dtype = axes | self.vals[x].axes, self.dtype(x)
        if dtype == "i1":
            return self.compare("ne", self.spread(self.cast(x, "f16"), whole), 0.0)
        if dtype in ("f16", "f32") and self.axes.inner & whole - self.vals[x].axes:
            return self.binary("vmul", self.fill(1.0, dtype, whole), x)
        return self.step("vbrc", dtype, whole, (x,))

    def compare(self, mode: str, a: int, b: Operand) -> int:
        """A mask; operands are spread, as vcmp does not broadcast."""
        axes = self.axes_of(a, b)
        a = self.spread(a, axes)
        b = self.spread(b, axes) if isinstance(b, int) else b
        return self.step("vcmp", "i1", axes, (a, b), mode=mode)

    def select(self, mask: int, a: Operand, b: Operand, dtype: str) -> int:
        """mask ? a : b; operands are spread, as vsel does not broadcast."""
        axes = self.axes_of(mask, a, b)
        operands = [self.spread(o, axes) if isinstance(o, int) else o for o in (mask, a, b)]
        return self.step("vsel", dtype, axes, operands)

    def reduce(self, mode: str, x: int, axes: frozenset[int]) -> int:
        """The value reduced over axes; over those that it lacks it is spread first.

        RefusalError for a column, a value without the innermost axis: its rows lie a block apart.
        """
        if not axes:
            return x
        x = self.spread(x, axes)
        if not self.axes.inner & self.vals[x].axes:
            raise RefusalError(
                "column-reduction",
                f"{'a value' if self.location is None else place(self.location)}: reduces one "
                "value for each row, which does not lie along a row; do it in a kernel of its own",
            )
        rest = self.vals[x].axes - axes
        return self.step("vreduce", self.dtype(x), rest, (x,), mode=mode, reduced=sorted(axes))
