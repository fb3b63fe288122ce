"""Rules for the two halves that a mixed kernel is split into, `NAME_mix_aic` and `NAME_mix_aiv`."""

import re
from collections.abc import Iterator

from fusec.export.finding import Finding, error, warning
from fusec.export.hivm_module import Function, Module, Operation

_FLAG = re.compile(r"flag = (\S+)")
_SET, _WAIT = "hivm.hir.sync_block_set", "hivm.hir.sync_block_wait"


def inspect_mixed(module: Module) -> list[Finding]:
    findings: list[Finding] = []
    by_name = {function.name: function for function in module.functions}
    for function in module.functions:
        if any("limit_sub_block_id0" in closing for closing in function.closings):
            message = "rows are not split over the two vector cores: one of them does all the work"
            findings.append(warning("half-binding", f"{function.name}:{function.line}", message))
        if not function.name.endswith("_mix_aic"):
            continue
        base = function.name.removesuffix("_mix_aic")
        vector = by_name.get(f"{base}_mix_aiv")
        if vector is None:
            message = f"the vector half {base}_mix_aiv is missing"
            findings.append(error("missing-kernel", f"{function.name}:{function.line}", message))
            continue
        findings += _handshake(function, vector)
        findings += _handshake(vector, function)
    return findings


def _handshake(writer: Function, reader: Function) -> Iterator[Finding]:
    """Data that one half writes to gm and the other reads is announced by a flag; every flag
    waited for is set.
    """
    place = f"{writer.name}:{writer.line}"
    shared = _written(writer) & _read(reader)
    flags_set, flags_awaited = _flags(writer, _SET), _flags(reader, _WAIT)
    if shared and not (flags_set and flags_awaited):
        message = f"{reader.name} reads what {writer.name} writes to gm, and no flag orders them"
        yield error("mix-without-sync", place, message)
    if not any(flag.startswith("%") for flag in flags_set):
        for flag in sorted(flags_awaited - flags_set):
            if not flag.startswith("%"):
                message = f"{reader.name} waits for flag {flag}, which {writer.name} never sets"
                yield error("unset-flag", place, message)


def _flags(function: Function, name: str) -> set[str]:
    found = (_FLAG.search(op.rest) for op in function.operations if op.name == name)
    return {match.group(1) for match in found if match is not None}


def _written(function: Function) -> set[str]:
    return _buffers(function, ("fixpipe_", "store_ubuf_to_gm_"), 1)


def _read(function: Function) -> set[str]:
    return _buffers(function, ("load_gm_to_", "nd2nz_"), 0)


def _buffers(function: Function, callees: tuple[str, ...], operand: int) -> set[str]:
    """Arguments by their number, workspaces by their place: names that mean the same in both
    halves.
    """
    names: set[str] = set()
    for call in function.calls:
        if call.callee.startswith(callees):
            names |= {
                _shared_name(function, root) for root in function.roots(call.operands[operand])
            }
    return names


def _shared_name(function: Function, root: Operation | str) -> str:
    if isinstance(root, str):
        return root
    if root.name != "memref_ext.alloc_workspace":
        return f"{function.name}:{root.line}"
    return f"workspace at {[function.constant(value) for value in root.operands[1:]]}"
