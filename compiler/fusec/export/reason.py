"""Why a kernel cannot be written as HIVM: the operator, its types and the sentence for the user."""

from __future__ import annotations

from xdsl.ir import Operation

from fusec_dialects.place import place


class NotInHivm(Exception):
    """Raised while a kernel is written, caught by `export_kernels`: a reason, not a fault."""

    def __init__(self, op: Operation, reason: str) -> None:
        types = ", ".join(dict.fromkeys(str(value.type) for value in op.operands))
        super().__init__(f"{place(op)} on ({types}): {reason}")
