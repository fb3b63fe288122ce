"""The whole check of a module: all verifiers, then the order of definitions and uses."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from fusec_dialects.dominance import verify_dominance
from fusec_dialects.place import place


def verify(module: ModuleOp) -> None:
    """Raises the first VerifyException, its message led by the place of the operator."""
    try:
        module.verify()
    except VerifyException as error:
        culprit = next((op for op in module.walk() if _is_culprit(op)), None)
        if culprit is not None:
            error.args = (f"{place(culprit)}: {error}",)
        raise
    verify_dominance(module)


def _is_culprit(op: Operation) -> bool:
    try:
        op.verify(verify_nested_ops=False)
    except VerifyException:
        return True
    return False
