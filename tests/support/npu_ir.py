"""Text to IR for tests on the npu level."""

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func, FuncOp
from xdsl.dialects.memref import MemRef
from xdsl.dialects.scf import Scf
from xdsl.ir import Operation
from xdsl.parser import Parser

from fusec_dialects.npu import Npu


def context() -> Context:
    """A context with everything that npu IR uses."""
    ctx = Context()
    for dialect in (Builtin, Func, Arith, Scf, MemRef, Npu):
        ctx.load_dialect(dialect)
    return ctx


def parse(text: str) -> ModuleOp:
    """A verified module."""
    module = Parser(context(), text).parse_module()
    module.verify()
    return module


def function(module: ModuleOp, name: str) -> FuncOp:
    """The function of a name."""
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)


def named(root: Operation, name: str) -> Iterator[Operation]:
    """The operators of one name below `root`, in program order."""
    return (op for op in root.walk() if op.name == name)
