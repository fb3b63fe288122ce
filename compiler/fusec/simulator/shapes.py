"""Whether the sizes of an instruction's operands fit together in one run, tails included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from fusec.simulator.form import Instr

Shape: TypeAlias = tuple[int, ...]
_MOVES = ("load", "store", "copy", "fixpipe", "vcast")


def shape_fault(instr: Instr, shapes: Sequence[Shape | None]) -> str | None:
    """What does not fit, None if all does. `shapes`: of each operand, None for a scalar."""
    dest = shapes[instr.writes[0]]
    sources = [s for p, s in enumerate(shapes) if p < instr.writes[0] and s is not None]
    if dest is None:
        return None
    if instr.kind == "mmad":
        return _mmad(instr, shapes)
    if instr.kind == "vreduce":
        kept = tuple(1 if axis in instr.dims else n for axis, n in enumerate(sources[0]))
        return _equal(kept, dest)
    if instr.kind == "vtranspose":
        return _equal(tuple(sources[0][axis] for axis in instr.dims), dest)
    if instr.kind in _MOVES:
        source = sources[0][::-1] if instr.transpose[0] else sources[0]
        return _equal(source, dest)
    for source in sources:
        if len(source) != len(dest) or any(
            n not in (1, d) for n, d in zip(source, dest, strict=True)
        ):
            return f"{text(source)} does not broadcast to {text(dest)}"
    return None


def _mmad(instr: Instr, shapes: Sequence[Shape | None]) -> str | None:
    a, b, accumulator = shapes[0], shapes[1], shapes[3]
    if a is None or b is None or accumulator is None or not len(a) == len(b) == 2:
        return "its operands are no matrices"
    if instr.transpose[0]:
        a = a[::-1]
    if instr.transpose[1]:
        b = b[::-1]
    bias = shapes[4] if len(shapes) > 4 else None
    if a[1:] != b[:1] or (a[0], b[1]) != accumulator or bias not in (None, b[1:]):
        return f"{text(a)} by {text(b)} does not make {text(accumulator)}"
    return None


def _equal(source: Shape, dest: Shape) -> str | None:
    return None if source == dest else f"{text(source)} is not {text(dest)}"


def text(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "scalar"
