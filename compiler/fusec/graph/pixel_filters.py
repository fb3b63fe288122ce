"""Which filters of a block keep [O][I]: those of convolutions of single pixels, every second one.

In: a block with convolutions one behind the other, as in squeeze and excitation. Out: the ones that
the vector cores sum along rows of [O][I]; the next one then sums over rows of [I][O], so that no
filter has to be transposed.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from fusec.semantics.classes import FusionClass, fusion_class
from fusec_dialects.graph import GraphOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.graph.compute import ConvOp, GlobalAveragePoolOp, ReduceOp
from fusec_dialects.graph.shapes import dims_of


def kept_filters(block: Block) -> frozenset[Operation]:
    """The convolutions whose filters stay [O][I]; none where a block has one without a reduction
    before it, since that may be one for the cube."""
    convolutions = [op for op in block.ops if isinstance(op, ConvOp)]
    if not convolutions or not all(map(_of_a_pixel, convolutions)):
        return frozenset()
    along_row: dict[SSAValue, bool] = {}
    kept: set[Operation] = set()
    for op in block.ops:
        if not isinstance(op, GraphOp) or not op.results:
            continue
        known = [along_row[o] for o in op.operands if o in along_row]
        if isinstance(op, GlobalAveragePoolOp | ReduceOp):
            along_row[op.results[0]] = True
        elif isinstance(op, ConvOp):
            row = along_row.get(op.x, len(convolutions) > 1)
            if row:
                kept.add(op)
            along_row[op.y] = not row
        elif known and fusion_class(op.op_name) in (FusionClass.ELEMENTWISE, FusionClass.VIEW):
            along_row[op.results[0]] = known[0]
    return frozenset(kept)


def _of_a_pixel(op: ConvOp) -> bool:
    """Whether a convolution sees one pixel only, and does no more than a product of matrices."""
    x, w = (dims_of(tensor_type(value)) for value in (op.x, op.w))
    inner = x[2:] if op.x_layout.data == "NCHW" else x[1:-1]
    kernel = w[2:] if op.w_layout.data == "OIHW" else w[:-2]
    return {*inner, *kernel} <= {1} and op.group.value.data == 1 and not any(op.pads.get_values())
