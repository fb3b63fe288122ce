"""The numpy text of each instruction, over the names of its operands.

In: an Instr and the text of each operand. Out: lines of Python that write the destination's view.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusec.simulator import numerics
from fusec.simulator.errors import SimulationError
from fusec.simulator.form import Instr, View
from fusec.simulator.numerics import DTYPES
from fusec.simulator.scalars import NAMES

_BINARY = {
    "vadd": "np_add",
    "vsub": "np_subtract",
    "vmul": "np_multiply",
    "vdiv": "np_divide",
    "vmax": "np_maximum",
    "vmin": "np_minimum",
    "vand": "np_bitwise_and",
    "vor": "np_bitwise_or",
}
_COMPARE = {
    "eq": "np_equal",
    "ne": "np_not_equal",
    "lt": "np_less",
    "gt": "np_greater",
    "le": "np_less_equal",
    "ge": "np_greater_equal",
}
_REDUCE = {
    "sum": "np_add.reduce",
    "max": "np_maximum.reduce",
    "min": "np_minimum.reduce",
    "prod": "np_multiply.reduce",
}
_UNARY = {
    "vabs": ("np_abs({0}, {d})",),
    "vexp": ("np_exp({0}, {d})",),
    "vln": ("np_log({0}, {d})",),
    "vsqrt": ("np_sqrt({0}, {d})",),
    "vrsqrt": ("np_sqrt({0}, {d})", "np_divide(1.0, {d}, {d})"),
    "vrec": ("np_divide(1.0, {0}, {d})",),
    "vrelu": ("np_maximum({0}, 0, out={d})",),
    "vnot": ("np_invert({0}, {d})",),
}

_UFUNCS = (
    *(name.removeprefix("np_") for name in (*_BINARY.values(), *_COMPARE.values())),
    *("exp", "log", "sqrt", "invert"),
)

GLOBALS: dict[str, Any] = {
    **NAMES,
    **{f"np_{name}": getattr(np, name) for name in _UFUNCS},
    **{f"dt_{name}": dtype for name, dtype in DTYPES.items()},
    "np_abs": np.absolute,
    "np_where": np.where,
    "np_empty": np.empty,
    "matmul": np.matmul,
    "ndarray": np.ndarray,
    "widen": numerics.widen,
    "widen_bf16": numerics.widen_bf16,
    "lookup": numerics.lookup,
    "table": numerics.table,
    "integer_matmul": numerics.integer_matmul,
    "to_integer": numerics.to_integer,
    "saturate": numerics.saturate,
    "round_to": numerics.round_to,
    "apart": numerics.apart,
}
"""What the text refers to."""

IN_PLACE = frozenset({*_UNARY, *_BINARY, "vsel", "vbrc"})
"""Instructions that may write the very view they read."""


def instruction_text(instr: Instr, names: Sequence[str], product: str | None) -> list[str]:
    """The lines of one instruction. `product`: the name of an f32 array of the accumulator's shape.

    The operator's own scratch is spoiled, as the instruction does on the chip.
    """
    spoil = [f"{names[p]}.fill({_SPOILED[instr.view(p).dtype[0]]})" for p in instr.writes[1:]]
    return [*spoil, *_text(instr, names, product)]


_SPOILED = {"f": "nan", "b": "nan", "i": "-1"}


def _text(instr: Instr, names: Sequence[str], product: str | None) -> list[str]:
    if instr.kind in _UNARY:
        return _unary(instr, names)
    if instr.kind in _BINARY:
        return _elementwise(instr, names, _BINARY[instr.kind])
    if instr.kind == "vcmp":
        wide = [_wide(instr, p, names[p]) for p in (0, 1)]
        return [f"{_COMPARE[instr.mode]}({wide[0]}, {wide[1]}, {names[2]})"]
    if instr.kind == "mmad":
        return _mmad(instr, names, product)
    make = _OTHERS.get(instr.kind)
    if make is None:
        raise SimulationError(
            instr.place, "the simulator has no meaning for it", "use the operators of the dialect"
        )
    return [make(instr, names)]


def _wide(instr: Instr, position: int, name: str) -> str:
    """An operand as float32, if it is a 16-bit float."""
    operand = instr.operands[position]
    if not isinstance(operand, View):
        return name
    return {"f16": f"widen({name})", "bf16": f"widen_bf16({name})"}.get(operand.dtype, name)


def _unary(instr: Instr, names: Sequence[str]) -> list[str]:
    if instr.dest.dtype == "f16":
        return [f"lookup(table({instr.kind!r}), {names[0]}, {names[1]})"]
    return [line.format(names[0], d=names[1]) for line in _UNARY[instr.kind]]


def _elementwise(instr: Instr, names: Sequence[str], function: str) -> list[str]:
    if instr.dest.dtype != "f16":
        return [f"{function}({names[0]}, {names[1]}, out={names[2]})"]
    left, right = (_wide(instr, p, names[p]) for p in (0, 1))
    return [f"{names[2]}[...] = {function}({left}, {right})"]


def _assign(instr: Instr, names: Sequence[str]) -> str:
    return f"{names[1]}[...] = {names[0]}"


def _copy(instr: Instr, names: Sequence[str]) -> str:
    return f"{names[1]}[...] = {names[0]}{'.T' if instr.transpose[0] else ''}"


def _fixpipe(instr: Instr, names: Sequence[str]) -> str:
    if not instr.relu:
        return f"{names[1]}[...] = {names[0]}"
    if instr.dest.dtype in ("f32", "i32"):
        return f"np_maximum({names[0]}, 0, out={names[1]})"
    return f"{names[1]}[...] = np_maximum({names[0]}, 0)"


def _select(instr: Instr, names: Sequence[str]) -> str:
    return f"{names[3]}[...] = np_where({names[0]}, {names[1]}, {names[2]})"


def _transpose(instr: Instr, names: Sequence[str]) -> str:
    return f"{names[1]}[...] = {names[0]}.transpose({instr.dims})"


def _reduce(instr: Instr, names: Sequence[str]) -> str:
    source, dest = names[0], names[1]
    dims = str(instr.dims[0] if len(instr.dims) == 1 else instr.dims)
    function, dtype = _REDUCE[instr.mode], instr.dest.dtype
    if dtype == "f16":
        return f"{dest}[...] = {function}(widen({source}), {dims}, dt_f32, None, True)"
    return f"{function}({source}, {dims}, dt_{dtype}, {dest}, True)"


def _cast(instr: Instr, names: Sequence[str]) -> str:
    source, dest = instr.view(0).dtype, instr.dest.dtype
    wide = _wide(instr, 0, names[0])
    if dest == "i1":
        return f"np_not_equal({wide}, 0, {names[1]})"
    if source in ("f16", "bf16", "f32") and dest.startswith("i"):
        return f"{names[1]}[...] = to_integer({wide}, {instr.mode!r}, dt_{dest})"
    if source == "i64" and dest.startswith("i"):
        return f"{names[1]}[...] = saturate({names[0]}, dt_{dest})"
    if source == "f32" and instr.mode not in ("", "rint"):
        return f"{names[1]}[...] = round_to({names[0]}, {instr.mode!r}, dt_{dest})"
    return f"{names[1]}[...] = {wide}"


def _mmad(instr: Instr, names: Sequence[str], product: str | None) -> list[str]:
    a, b = (_wide(instr, p, names[p]) for p in (0, 1))
    a, b = (f"{n}.T" if t else n for n, t in zip((a, b), instr.transpose, strict=True))
    accumulator = names[3]
    if instr.dest.dtype == "i32":
        first = [f"{accumulator}[...] = integer_matmul({a}, {b})"]
        later = [f"np_add({accumulator}, integer_matmul({a}, {b}), {accumulator})"]
    elif product is not None:
        first = [f"matmul({a}, {b}, {accumulator})"]
        later = [f"matmul({a}, {b}, {product})", f"np_add({accumulator}, {product}, {accumulator})"]
    else:
        first = [f"matmul({a}, {b}, {accumulator})"]
        later = [f"np_add({accumulator}, matmul({a}, {b}), {accumulator})"]
    if len(names) > 4:
        first.append(f"np_add({accumulator}, {names[4]}, {accumulator})")
    init = instr.operands[2]
    if isinstance(init, bool | int):
        return first if init else later
    return [f"if {names[2]}:", *(f"    {x}" for x in first), "else:", *(f"    {x}" for x in later)]


_OTHERS: dict[str, Callable[[Instr, Sequence[str]], str]] = {
    "load": _assign,
    "store": _assign,
    "copy": _copy,
    "fixpipe": _fixpipe,
    "vbrc": _assign,
    "vsel": _select,
    "vcast": _cast,
    "vreduce": _reduce,
    "vtranspose": _transpose,
}
