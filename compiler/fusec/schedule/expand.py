"""From graph operators to the steps of a vector program: loads, arithmetic, casts, stores.

bf16 is computed in f32, and so are f16 functions, norms and sums; plain f16 arithmetic stays f16
where its operands are. RefusalError for what the vector unit has no instruction for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from fusec.schedule.axes import Axes, Rows, dtype_of, find_axes
from fusec.schedule.ports import Port
from fusec.schedule.program import Operand, Program
from fusec.schedule.region import Region, once
from fusec.schedule.types import RefusalError
from fusec.schedule.views import VIEWS
from fusec.semantics.interpreter import constant_array
from fusec_dialects.graph import ConstantOp, GraphOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.place import place

FLOATS = frozenset({"f16", "bf16", "f32"})
INTEGERS = frozenset({"i32"})
"""Integer types with vector arithmetic."""

MOVED = frozenset({"f16", "bf16", "f32", "i64", "i32", "i8", "ui8", "i1"})
"""Types that load and store take."""


@dataclass(eq=False)
class Form:
    """One graph value in a program: in its own type, in f32, as a mask, as a scalar."""

    native: int | None = None
    wide: int | None = None
    mask: int | None = None
    scalar: float | None = None


Handler = Callable[["Expander", GraphOp], Form]


class Expander:
    """Builds the program of one region."""

    def __init__(self, region: Region, axes: Axes, lines: Rows | None = None) -> None:
        self.region = region
        self.by_lines = lines is not None
        self.wide_roots = {value for value, _ in lines or () if dtype_of(value) in FLOATS}
        self.axes = axes
        self.program = Program(axes)
        self.forms: dict[SSAValue, Form] = {}

    # Operands

    def form(self, value: SSAValue) -> Form:
        found = self.forms.get(value)
        if found is None:
            found = self.forms[value] = self._outside(value)
        return found

    def _outside(self, value: SSAValue) -> Form:
        """A scalar constant, or a load."""
        owner = value.owner
        if isinstance(owner, ConstantOp) and prod(tensor_type(value).get_shape()) == 1:
            return Form(scalar=_scalar(owner))
        dtype = dtype_of(value)
        if dtype not in MOVED:
            raise RefusalError("type", f"{value.type}: {dtype} cannot be loaded; cast it to f32")
        port = self.axes.loads[value]
        if port.root in self.wide_roots:
            return Form(wide=self.program.step("load", "f32", port.axes, (), port=port))
        user = self.program.location
        if port.picked is not None and isinstance(owner, GraphOp):
            self.program.location = owner
        native = self.program.step("load", dtype, port.axes, (), port=port)
        self.program.location = user
        return Form(native=native)

    def scalar(self, value: SSAValue) -> float | None:
        """The constant that an operand is."""
        return self.form(value).scalar

    def native(self, value: SSAValue) -> int:
        """An operand in its own type, in memory; an i1 one byte each (see `mask`)."""
        form = self.form(value)
        if form.native is None:
            dtype = dtype_of(value)
            if form.scalar is not None:
                form.native = self.program.fill(form.scalar, dtype, frozenset())
            elif form.mask is not None:
                form.native = self.program.cast(self.program.cast(form.mask, "f16"), "i1")
            elif form.wide is not None:
                form.native = self.program.cast(form.wide, dtype)
            else:
                raise ValueError("a form without a value")
        return form.native

    def wide(self, value: SSAValue) -> int:
        """A floating operand as f32."""
        form = self.form(value)
        if form.wide is None:
            if form.scalar is not None:
                form.wide = self.program.fill(form.scalar, "f32", frozenset())
            else:
                form.wide = self.program.cast(self.native(value), "f32")
        return form.wide

    def mask(self, value: SSAValue) -> int:
        """An i1 operand as what vsel and the bitwise instructions take."""
        form = self.form(value)
        if form.mask is None:
            if form.scalar is not None:
                ones = self.program.fill(form.scalar, "f16", frozenset())
            else:
                ones = self.program.cast(self.native(value), "f16")
            form.mask = self.program.compare("ne", ones, 0.0)
        return form.mask

    def computes_wide(self, op: GraphOp, *values: SSAValue) -> bool:
        """Whether plain arithmetic on these operands runs in f32: always on bf16, on f16 where an
        operand exists in f32 only. RefusalError for types without arithmetic."""
        dtype = dtype_of(values[0])
        if dtype in INTEGERS:
            return False
        self.floating(op, values[0])
        forms = [self.form(value) for value in values]
        return dtype != "f16" or any(f.native is None and f.scalar is None for f in forms)

    def floating(self, op: GraphOp, value: SSAValue) -> None:
        """RefusalError unless the operand is floating."""
        if dtype_of(value) not in FLOATS:
            wide = "compute it in i32, as int32 in an ONNX file, or "
            advice, cast = (wide, "i32") if dtype_of(value) == "i64" else ("", "f32")
            raise RefusalError(
                "type",
                f"{place(op)} on {dtype_of(value)}: the vector unit has no instruction for it; "
                f"{advice}cast to f32 around it",
                {"operator": op.op_name, "type": dtype_of(value), "cast": cast},
            )

    def operand(self, value: SSAValue, wide: bool) -> Operand:
        """A scalar where the operand is one, else the value in f32 or in its own type."""
        scalar = self.scalar(value)
        if scalar is not None:
            return scalar
        return self.wide(value) if wide else self.native(value)

    @staticmethod
    def result(value: int, wide: bool) -> Form:
        return Form(wide=value) if wide else Form(native=value)

    # The whole

    def expand(self, resident: SSAValue | None) -> Program:
        """The program; `resident` is the f32 value that is in ub already."""
        from fusec.schedule.expand_ops import HANDLERS

        program = self.program
        if resident is not None:
            whole = dtype_of(resident) == "i32"
            program.resident = program.value("i32" if whole else "f32", self.axes.of(resident))
            program.resident_value = resident
            self.forms[resident] = self.result(program.resident, not whole)
        for op in self.region.compute_ops:
            result = op.results[0]
            if result in self.axes.loads:
                continue
            program.location = op
            if op.op_name in VIEWS:
                if op.operands[0] in self.axes.dims:
                    self.forms[result] = self.form(op.operands[0])
                continue
            handler = HANDLERS.get(op.op_name)
            if handler is None:
                raise RefusalError("operator", f"{place(op)} has no vector instructions")
            self.forms[result] = handler(self, op)
        for port in self.axes.stores:
            self._store(port)
        if not self.by_lines:
            self._check_stores()
        return program

    def _check_stores(self) -> None:
        """Several results are refused where one lacks an axis that blocks share: each of them would
        store it again."""
        if len(self.axes.stores) < 2:
            return
        steps = self.program.steps
        shared = {axis for value in self.program.vals for axis in value.axes}
        shared -= {axis for step in steps if step.kind == "vreduce" for axis in step.axes}
        for port in self.axes.stores:
            if not shared <= port.strides.keys():
                owner = port.value.owner
                what = place(owner) if isinstance(owner, GraphOp) else "an input"
                raise RefusalError(
                    "results-apart",
                    f"{what}: a result that varies along fewer axes than another one of the kernel "
                    "would be stored by several cores",
                )

    def _store(self, port: Port) -> None:
        """Spreads the value over the axes of the output, booleans as a mask, and stores it."""
        value, axes, program = port.value, frozenset(port.strides), self.program
        owner = value.owner
        program.location = owner if isinstance(owner, GraphOp) else None
        form = self.form(value)
        known = form.native is not None and program.vals[form.native].axes == axes
        if dtype_of(value) == "i1" and not known:
            form.mask, form.native = program.spread(self.mask(value), axes), None
        elif form.wide is not None and form.native is None:
            form.wide = program.spread(form.wide, axes)
        program.store(program.spread(self.native(value), axes), port)


@once
def expand(
    region: Region, resident: SSAValue | None = None, *, lines: Rows | None = None
) -> Program:
    """The vector program of a region; RefusalError where there is none.

    `resident` is an input that lies in ub already, in f32 or i32: the tile of a contraction.
    `lines`: of a program on lines, whose caller checks what its results vary along; as for
    `find_axes`; those inputs are f32 in gm, whatever their floating type.
    """
    try:
        axes = find_axes(region, resident, lines=lines or ())
        return Expander(region, axes, lines).expand(resident)
    except RefusalError as error:
        if error.refusal.reason != "column-reduction" or resident is not None or lines is not None:
            raise
    return Expander(region, find_axes(region, turned=True)).expand(None)


def _scalar(op: ConstantOp) -> float:
    """The one element of a constant; integers too come back as float, exact up to 2^53."""
    return float(constant_array(op).reshape(-1)[0])
