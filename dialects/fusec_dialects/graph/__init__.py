"""The graph dialect: a neural network on tensors, with ONNX's operators under their snake-case
names.

Value semantics on builtin `tensor`, numpy broadcasting on elementwise operators, constant inputs as
attributes. A model is `func.func @main`; what is computed from weights alone is `func.func
@weights`. Arguments and results of both carry `graph.name`, the name in the model.
"""

from xdsl.ir import Dialect

from .base import AttrValue, DimsAttr, GraphOp
from .movement import ConstantOp, WeightOp
from .opaque import OpaqueOp
from .operators import OPERATORS, build
from .region import CallOp, FusedOp, KernelOp, YieldOp

Graph = Dialect(
    "graph",
    [*OPERATORS.values(), WeightOp, ConstantOp, OpaqueOp, FusedOp, KernelOp, CallOp, YieldOp],
    [DimsAttr],
)

__all__ = [
    "OPERATORS",
    "AttrValue",
    "CallOp",
    "ConstantOp",
    "DimsAttr",
    "FusedOp",
    "Graph",
    "GraphOp",
    "KernelOp",
    "OpaqueOp",
    "WeightOp",
    "YieldOp",
    "build",
]
