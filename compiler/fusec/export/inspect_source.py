"""Rules that need the module we handed in: what was asked for and silently dropped on the way."""

import re
from collections.abc import Iterator

from fusec.export.finding import Finding, error, warning
from fusec.export.hivm_module import Module

_FUNCTION = re.compile(r"func\.func @([\w$.-]+)\(")
_INS = re.compile(r"ins\(([^:]*):")
_MARK = re.compile(
    r"annotation\.mark (%[\w$.-]+) \{hivm\.multi_buffer = \d+ : i\d+\} : (memref<.*>)"
)
_MATRIX = re.compile(r"memref<(?:\d+|\?)x(?:\d+|\?)x[a-z]")
_BIAS_POSITION = 6
"""mmadL1 reads a, b, init, m, k, n and then the bias."""


def inspect_source(source: str, module: Module, *, binds_sub_blocks: bool) -> Iterator[Finding]:
    """`module` is what the compiler made of `source`."""
    returned = {function.name for function in module.functions}
    mixed = {name.removesuffix("_mix_aiv") for name in returned if name.endswith("_mix_aiv")}
    function = ""
    for number, line in enumerate(source.splitlines(), 1):
        head = _FUNCTION.search(line)
        if head is not None:
            function = head.group(1)
            if "hacc.entry" in line and function not in returned | mixed:
                message = f"kernel {function} is not in the returned module"
                yield error("missing-kernel", f"{function}:{number} (source)", message)
        elif "hivm.hir." in line or "annotation.mark" in line:
            split = function in mixed and binds_sub_blocks
            yield from _line(line, f"{function}:{number} (source)", split_by_compiler=split)


def _line(line: str, place: str, *, split_by_compiler: bool) -> Iterator[Finding]:
    if "hivm.hir.mmadL1" in line and re.search(r"\{[^}]*[ab]_transpose", line):
        operands = _INS.search(line)
        if operands is not None and operands.group(1).count(",") >= _BIAS_POSITION:
            message = (
                "mmadL1 with a bias drops the transpose; "
                "store weights as [K][N] or add the bias on the vector core"
            )
            yield error("transpose-dropped", place, message)
    elif "hivm.hir.get_sub_block_idx" in line and split_by_compiler:
        message = (
            "rows are split by hand and again by the compiler; "
            "leave get_sub_block_idx out, or pass enable-auto-bind-sub-block=false"
        )
        yield error("rows-split-twice", place, message)
    elif (mark := _MARK.search(line)) is not None and _is_dropped(mark.group(2)):
        message = (
            "multi_buffer on this buffer is dropped; pass enable-auto-multi-buffer=true instead"
        )
        yield warning("multi-buffer-dropped", place, message)


def _is_dropped(memref: str) -> bool:
    """Marks on plain matrices in L1, and in tensor form (no address space), do not survive."""
    if "address_space" not in memref:
        return True
    return memref.endswith("#hivm.address_space<cbuf>>") and _MATRIX.match(memref) is not None
