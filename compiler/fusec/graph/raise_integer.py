"""Products of 8-bit integers that were dequantised: on the integers, with the scales behind them.

(s a) (t b), a and b in i8 without zero points, is s t (a b), and a b is exact in i32. A scale is
one number, or one for each row of a or for each column of b; label `reorder`. What MatMulInteger
was imported as, a product in f32 short enough to be exact, becomes one of integers too.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import f32, i8, i32
from xdsl.ir import SSAValue

from fusec.graph.query import attr, dims, producer, rank, static
from fusec.rewrite.driver import Rewriter, Rule
from fusec.rewrite.match import is_known
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import tensor_type

LONGEST = 1 << 17
"""Products that are summed: so many of two i8 fit i32."""

EXACT = 1 << 10
"""So many are exact in f32."""


class _Side(NamedTuple):
    """An operand of a product: integers, and their scale if they have one."""

    value: SSAValue
    scale: SSAValue | None


def _integers(value: SSAValue) -> SSAValue | None:
    """What was widened from i8."""
    cast = producer(value, "cast")
    if cast is None or tensor_type(cast.operands[0]).element_type != i8:
        return None
    return cast.operands[0]


def _side(value: SSAValue, axis: int) -> _Side | None:
    """A dequantised operand whose scale does not vary along the axis that is summed."""
    if tensor_type(value).element_type != f32 or rank(value) < 2:
        return None
    if (plain := _integers(value)) is not None:
        return _Side(plain, None)
    factor = producer(value, "mul")
    for wide, scale in (factor.operands, factor.operands[::-1]) if factor is not None else ():
        found = _integers(wide)
        if found is not None and wide.type == value.type and _constant_along(scale, axis):
            return _Side(found, scale)
    return None


def _constant_along(scale: SSAValue, axis: int) -> bool:
    """Whether a value has one entry along an axis counted from the end."""
    sizes = dims(scale)
    return len(sizes) < axis or sizes[-axis] == 1


def _raise(op: GraphOp, rewriter: Rewriter) -> bool:
    a, b = op.operands[:2]
    turned = op.op_name == "gemm" and bool(attr(op, "trans_b"))
    if op.op_name == "gemm" and not _is_plain(op):
        return False
    left, right = _side(a, 1), _side(b, 1 if turned else 2)
    depth = (static(a) or (0,))[-1]
    if left is None or right is None or not 0 < depth < LONGEST:
        return False
    build, columns, scale = rewriter.build, right.value, right.scale
    if turned:
        columns = build("transpose", [columns], {"perm": (1, 0)})
        if scale is not None and rank(scale) == 2:
            scale = build("transpose", [scale], {"perm": (1, 0)})
    y = build("matmul_integer", [left.value, columns])
    y = build("cast", [y], {"to": f32})
    scales = [s for s in (left.scale, scale) if s is not None]
    if len(scales) == 2 and all(map(is_known, scales)):
        scales = [build("mul", scales)]
    for each in scales:
        y = build("mul", [y, each])
    if len(op.operands) > 2:
        y = build("add", [y, op.operands[2]])
    return y.type == op.results[0].type and rewriter.replace(y)


def _is_plain(op: GraphOp) -> bool:
    """Whether a gemm is a product, with something added or not."""
    return not attr(op, "trans_a") and attr(op, "alpha") == 1.0 and attr(op, "beta") == 1.0


def _whole(op: GraphOp, rewriter: Rewriter) -> bool:
    """i32 as f32 and back is i32 where no sum is too long for f32."""
    wide = producer(op.operands[0], "cast")
    product = None if wide is None else producer(wide.operands[0], "matmul_integer")
    if product is None or op.results[0].type != product.results[0].type:
        return False
    depth = (static(product.operands[0]) or (0,))[-1]
    exact = tensor_type(op.results[0]).element_type == i32 and 0 < depth < EXACT
    return exact and rewriter.replace(product.results[0])


INTEGER_RULES = (
    Rule("raise-integer-product", ("graph.matmul", "graph.gemm"), _raise),
    Rule("raise-integer-result", ("graph.cast",), _whole),
)
