"""Vector operators as HIVM instructions, whatever form their operands have.

In: an npu operator and the shapes of its operands. Out: name, operands and attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from fusec.export.reason import NotInHivm
from fusec.lowering.layout import Size
from fusec_dialects.npu.move import CopyOp
from fusec_dialects.npu.vector import (
    BinaryOp,
    UnaryOp,
    VBrcOp,
    VCastOp,
    VCmpOp,
    VectorOp,
    VReduceOp,
    VSelOp,
    VTransposeOp,
)

Shape = Sequence[Size]
ShapeOf = Callable[[SSAValue], Shape | None]

_TRUNCATING = {("i64", "i32"): "truncwithoverflow"}
"""Casts of integers, where the library has no other way to round."""


@dataclass(frozen=True)
class Instruction:
    """`hivm.hir.NAME MODE ins(SOURCES) outs(DEST) ATTRIBUTES`."""

    name: str
    sources: tuple[SSAValue, ...]
    dest: SSAValue
    mode: str = ""
    attributes: str = ""


def instruction(
    op: VectorOp | CopyOp, shape_of: ShapeOf, dtype_of: Callable[[SSAValue], str]
) -> Instruction:
    """The instruction of an operator; `shape_of` gives None for a scalar. Raises NotInHivm."""
    name = op.name.removeprefix("npu.")
    if isinstance(op, CopyOp):
        return Instruction(name, (op.source,), op.dest)
    plain = Instruction(name, op.sources(), op.dest)
    if isinstance(op, UnaryOp):
        return plain
    axes = _broadcast(op, shape_of)
    if isinstance(op, BinaryOp):
        return replace(plain, attributes=f"broadcast = {axes}" if axes else "")
    if isinstance(op, VBrcOp):
        scalar = shape_of(op.source) is None
        return replace(plain, attributes="" if scalar else f"broadcast_dims = {axes}")
    if axes and isinstance(op, VCmpOp | VSelOp):
        raise NotInHivm(op, "the instruction does not broadcast; spread the operand by vbrc before")
    if isinstance(op, VCmpOp):
        return replace(plain, attributes=f"compare_mode = <{op.mode.data}>")
    if isinstance(op, VCastOp):
        mode = _TRUNCATING.get((dtype_of(op.source), dtype_of(op.dest)))
        mode = mode or (None if op.round is None else op.round.data)
        return replace(plain, attributes=f"round_mode = <{mode}>" if mode else "")
    if isinstance(op, VReduceOp):
        dims = [int(d) for d in op.dims.get_values()]
        return replace(plain, mode=f"<{op.kind.data}>", attributes=f"reduce_dims = {dims}")
    if isinstance(op, VTransposeOp):
        permutation = [int(p) for p in op.permutation.get_values()]
        return replace(plain, attributes=f"permutation = {permutation}")
    return plain


def _broadcast(op: VectorOp, shape_of: ShapeOf) -> list[int]:
    """The axes along which a source of size 1 is broadcast to the destination."""
    if isinstance(op, VReduceOp | VTransposeOp):
        return []
    dest = shape_of(op.dest) or ()
    shapes = [shape for source in op.sources() if (shape := shape_of(source)) is not None]
    return [i for i, size in enumerate(dest) if size != 1 and any(s[i] == 1 for s in shapes)]
