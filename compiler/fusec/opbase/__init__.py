"""Own fusions and own operators, in the words of CANN's opbase or as plain functions.

`compute` of a fusion runs once on symbols; what it did is the pattern that graph-fuse looks for,
the meaning of the fused operator, and what is lowered unless there is a `lower`. A pattern sees the
network as `prepare` leaves it: GELU is one operator there, not the five that an exporter wrote.
`compute` of an operator is its meaning in numpy.
"""

from fusec.opbase.base import OperatorBase, Tensor
from fusec.opbase.fusions import RegFusion, fusion, register, unregister
from fusec.opbase.loading import load, load_entry_points, load_pdl
from fusec.opbase.operators import RegOp
from fusec.opbase.symbols import FusionError, Symbol, ascendc
from fusec.schedule.own import Unsupported

__all__ = [
    "FusionError",
    "OperatorBase",
    "RegFusion",
    "RegOp",
    "Symbol",
    "Tensor",
    "Unsupported",
    "ascendc",
    "fusion",
    "load",
    "load_entry_points",
    "load_pdl",
    "register",
    "unregister",
]
