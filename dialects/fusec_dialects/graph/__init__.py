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
from .own import OWN, OwnOperator, operator_class
from .region import CallOp, FusedOp, KernelOp, YieldOp

Graph = Dialect(
    "graph",
    [*OPERATORS.values(), WeightOp, ConstantOp, OpaqueOp, FusedOp, KernelOp, CallOp, YieldOp],
    [DimsAttr],
)


def add_operator(own: OwnOperator) -> None:
    """Make an operator one of the dialect; the caller knows that the name is free."""
    OWN[own.name] = own
    OPERATORS[own.name] = operator_class(own)
    Graph._operations.append(OPERATORS[own.name])  # pyright: ignore[reportPrivateUsage]


def remove_operator(name: str) -> None:
    """Take a registered operator out again; a name that is none is no error."""
    if OWN.pop(name, None) is not None:
        Graph._operations.remove(OPERATORS.pop(name))  # pyright: ignore[reportPrivateUsage]


__all__ = [
    "OPERATORS",
    "OWN",
    "AttrValue",
    "CallOp",
    "ConstantOp",
    "DimsAttr",
    "FusedOp",
    "Graph",
    "GraphOp",
    "KernelOp",
    "OpaqueOp",
    "OwnOperator",
    "WeightOp",
    "YieldOp",
    "add_operator",
    "build",
    "remove_operator",
]
