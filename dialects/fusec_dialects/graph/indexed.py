"""Scans, sorting, and movement by indices that are computed, of the graph dialect."""

from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, StringAttr
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def

from .base import GraphOp, Int, Tensor
from .movement import MoveOp


class ScanOp(MoveOp):
    """Each position along `axis` combined with all before it, itself left out with `exclusive`;
    from the end with `reverse`.
    """

    axis = prop_def(Int)
    exclusive = prop_def(BoolAttr)
    reverse = prop_def(BoolAttr)

    DEFAULTS: ClassVar = {"exclusive": False, "reverse": False}


@irdl_op_definition
class CumSumOp(ScanOp):
    """Running sum."""

    name = "graph.cum_sum"


@irdl_op_definition
class CumProdOp(ScanOp):
    """Running product."""

    name = "graph.cum_prod"


@irdl_op_definition
class TopKIndicesOp(MoveOp):
    """Where the `k` largest (or smallest) stand along `axis`, in order; of equal ones the first
    comes first. i64.
    """

    name = "graph.top_k_indices"
    axis = prop_def(Int)
    k = prop_def(Int)
    largest = prop_def(BoolAttr)

    DEFAULTS: ClassVar = {"axis": -1, "largest": True}


@irdl_op_definition
class GatherNDOp(GraphOp):
    """Entries of x at the index vectors along the last axis of indices, `batch_dims` leading axes
    of both taken together.
    """

    name = "graph.gather_nd"
    x = operand_def(Tensor)
    indices = operand_def(Tensor)
    y = result_def(Tensor)
    batch_dims = prop_def(Int)

    DEFAULTS: ClassVar = {"batch_dims": 0}


class ScatterOp(GraphOp):
    """x with updates written at indices, combined with what is there by `reduction` (none, add,
    mul, max, min).
    """

    x = operand_def(Tensor)
    indices = operand_def(Tensor)
    updates = operand_def(Tensor)
    y = result_def(Tensor)
    reduction = prop_def(StringAttr)

    DEFAULTS: ClassVar = {"reduction": "none"}


@irdl_op_definition
class ScatterElementsOp(ScatterOp):
    """y[indices[i, j], j] = updates[i, j] for axis 0."""

    name = "graph.scatter_elements"
    axis = prop_def(Int)

    DEFAULTS: ClassVar = {"axis": 0, "reduction": "none"}


@irdl_op_definition
class ScatterNDOp(ScatterOp):
    """Updates at the index vectors along the last axis of indices."""

    name = "graph.scatter_nd"


@irdl_op_definition
class ReverseSequenceOp(GraphOp):
    """The first `lengths[i]` entries along `time_axis` of batch i in reverse order."""

    name = "graph.reverse_sequence"
    x = operand_def(Tensor)
    lengths = operand_def(Tensor)
    y = result_def(Tensor)
    batch_axis = prop_def(Int)
    time_axis = prop_def(Int)

    DEFAULTS: ClassVar = {"batch_axis": 1, "time_axis": 0}


@irdl_op_definition
class DetOp(MoveOp):
    """Determinant of the matrices over the last two axes."""

    name = "graph.det"


@irdl_op_definition
class GridSampleOp(GraphOp):
    """x [N, C, spatial...] read at the positions grid [N, out..., axes] (-1 to 1, last axis
    first), by `mode` linear, nearest or cubic; outside by `padding_mode` zeros, border, reflection.
    """

    name = "graph.grid_sample"
    x = operand_def(Tensor)
    grid = operand_def(Tensor)
    y = result_def(Tensor)
    mode = prop_def(StringAttr)
    padding_mode = prop_def(StringAttr)
    align_corners = prop_def(BoolAttr)

    DEFAULTS: ClassVar = {"mode": "linear", "padding_mode": "zeros", "align_corners": False}


INDEXED = [
    CumSumOp,
    CumProdOp,
    TopKIndicesOp,
    GatherNDOp,
    ScatterElementsOp,
    ScatterNDOp,
    ReverseSequenceOp,
    DetOp,
    GridSampleOp,
]
"""Every operator of this file."""
