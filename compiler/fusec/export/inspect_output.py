"""The check of a module that came back with exit status 0, which says nothing about its code.

Rules for every kernel are here; `inspect_cube`, `inspect_vector` and `inspect_mixed` know their
cores, `inspect_source` what only the text we wrote can show.
"""

import re
from collections.abc import Iterator
from math import prod

from fusec.export.finding import Finding, error, warning
from fusec.export.hivm_module import CALLS, Function, Module, Operation, parse_memref, parse_module
from fusec.export.inspect_cube import inspect_cube
from fusec.export.inspect_mixed import inspect_mixed
from fusec.export.inspect_source import inspect_source
from fusec.export.inspect_vector import inspect_vector
from fusec.export.library import Library

_LOW_LEVEL_HIVM = frozenset(
    (
        *("pointer_cast", "set_flag", "wait_flag", "pipe_barrier", "set_mask_norm", "set_ctrl"),
        *("get_block_idx", "get_block_num", "get_sub_block_idx", "get_sub_block_num"),
        *("set_ffts_base_addr", "sync_block", "sync_block_set", "sync_block_wait", "get_sys_cnt"),
    )
)
"""The operators of the hivm dialect that the closed back end translates itself."""
_OPERATIONS = frozenset(("func.return", "return", "memref_ext.alloc_workspace", "annotation.mark"))
_MEMREF = frozenset(
    (
        *("cast", "subview", "collapse_shape", "expand_shape", "reinterpret_cast", "load", "store"),
        *("dim", "memory_space_cast", "extract_strided_metadata"),
    )
)
_DIALECTS = frozenset(("scf", "arith", "affine", "math"))

_SPACES = (
    ("load_gm_to_ubuf_", ("gm", "ub")),
    ("load_gm_to_cbuf_", ("gm", "cbuf")),
    ("store_ubuf_to_gm_", ("ub", "gm")),
    ("nd2nz_", ("gm", "cbuf")),
    ("nz2nd_", ("cbuf", "gm")),
    ("set_l1_2d_", ("cbuf",)),
    ("mma_tile_with_", ("cbuf", "cbuf", "cbuf", "cc")),
    ("mma_tile_", ("cbuf", "cbuf", "cc")),
    ("fixpipe_", ("cc", "gm")),
)
_ANY_SPACE = (
    "print_",
    "assert_",
    "sync_block_",
    "free_lock_",
    "init_debug",
    "finish_debug",
    "matmul_",
)
"""Library functions by name: the address spaces of their memref arguments; all others are vector
code on UB.
"""
_BLOCKED = frozenset(("cbuf", "cc"))
"""Memories of matrices in blocks of 16 rows, where a view of whole blocks may begin inside one
and so reach past it.
"""
_ALIGNMENT = 32
"""Bytes; a buffer in any on-chip memory begins at a multiple of it."""
_CAPACITY = {"ub": "UB_SIZE", "cbuf": "L1_SIZE", "cc": "L0C_SIZE"}


def inspect_output(
    text: str, library: Library, source: str | None = None, *, binds_sub_blocks: bool = True
) -> list[Finding]:
    """Everything wrong or slow in the returned module `text` that can be seen without running it.

    `source` is the module we handed in: some failures cannot be seen without it. `binds_sub_blocks`
    says whether the compiler splits mixed kernels' rows over the two vector cores by itself (its
    default).
    """
    module = parse_module(text)
    findings = [
        finding for function in module.functions for finding in _function(module, function, library)
    ]
    findings += inspect_mixed(module)
    if source is not None:
        findings += inspect_source(source, module, binds_sub_blocks=binds_sub_blocks)
    elif not module.functions:
        findings.append(error("missing-kernel", "module", "the returned module has no function"))
    return findings


def _function(module: Module, function: Function, library: Library) -> Iterator[Finding]:
    yield from _leftovers(function)
    yield from _calls(module, function, library)
    yield from _address_spaces(function)
    yield from _ranges(module, function)
    yield from inspect_cube(function)
    yield from inspect_vector(function)
    yield from _slow(function)


def _leftovers(function: Function) -> Iterator[Finding]:
    """Operators that neither the library nor the back end implements."""
    for op in function.operations:
        if op.name in CALLS or op.name in _OPERATIONS or _is_low_level(op.name):
            continue
        message = (
            f"{op.name} has no implementation for this chip: it is left over in the compiled module"
        )
        yield error("leftover-op", _place(function, op), message)


def _is_low_level(name: str) -> bool:
    dialect, _, rest = name.partition(".")
    if dialect == "hivm":
        return rest.removeprefix("hir.") in _LOW_LEVEL_HIVM
    return dialect in _DIALECTS or (dialect == "memref" and rest in _MEMREF)


def _calls(module: Module, function: Function, library: Library) -> Iterator[Finding]:
    """Every call has a function in the library of the core it runs on."""
    local = {f.name for f in module.functions}
    for call in function.calls:
        place = f"{function.name}:{call.line}"
        if call.callee in local:
            continue
        core = module.declarations.get(call.callee, "") or function.core
        if function.core and core != function.core:
            message = f"{call.callee} is a function of core {core}, called on core {function.core}"
            yield error("wrong-core", place, message)
        elif call.callee not in library.get(core, frozenset()):
            yield error("unlinkable-call", place, _unlinkable(call.callee, core))


def _unlinkable(callee: str, core: str) -> str:
    hint = ""
    if callee.endswith("_bool") and callee.startswith(("load_", "store_")):
        hint = "; keep booleans in gm as i8 and compare with 0 in UB"
    return f"the device library has no {callee} for core {core or 'AIC or AIV'}{hint}"


def _address_spaces(function: Function) -> Iterator[Finding]:
    for call in function.calls:
        if call.callee.startswith(_ANY_SPACE):
            continue
        spaces = tuple(m.space for m in map(parse_memref, call.types) if m is not None)
        wanted = next((s for prefix, s in _SPACES if call.callee.startswith(prefix)), None)
        if wanted is None:
            wanted = ("ub",) * len(spaces)
        if spaces != wanted:
            message = (
                f"{call.callee} takes buffers in {', '.join(wanted)}, not in {', '.join(spaces)}"
            )
            yield error("address-space", f"{function.name}:{call.line}", message)


def _ranges(module: Module, function: Function) -> Iterator[Finding]:
    """Buffers inside their memory; views inside their buffer, as far as numbers are known."""
    for op in function.operations:
        if op.name == "hivm.hir.pointer_cast":
            yield from _placed(module, function, op)
        elif op.name == "memref.subview":
            yield from _viewed(function, op)


def _placed(module: Module, function: Function, op: Operation) -> Iterator[Finding]:
    memref = op.result
    if memref is None or memref.space not in _CAPACITY or None in memref.sizes:
        return
    capacity = _capacity(module, memref.space)
    size = -(-prod(extent or 0 for extent in memref.sizes) * memref.bits // 8)
    for operand in op.operands:
        address = function.constant(operand)
        if capacity is None or address is None:
            continue
        if address % _ALIGNMENT:
            message = f"address {address} is not a multiple of {_ALIGNMENT}"
            yield error("unaligned-address", _place(function, op), message)
        if address + size <= capacity:
            continue
        message = (
            f"a buffer of {size} bytes at {address} ends outside {memref.space} ({capacity} bytes)"
        )
        yield error("address-out-of-range", _place(function, op), message)


def _capacity(module: Module, space: str) -> int | None:
    """Bytes, from the device description that the compiler prints (in bits) on the module."""
    found = re.search(rf'"{_CAPACITY[space]}", (\d+)', module.header)
    return int(found.group(1)) // 8 if found else None


_SUBVIEW = re.compile(r"\[([^\]]*)\] \[([^\]]*)\] \[([^\]]*)\]")


def _viewed(function: Function, op: Operation) -> Iterator[Finding]:
    found = _SUBVIEW.search(op.rest)
    source = next((m for m in map(parse_memref, op.types) if m is not None), None)
    if found is None or source is None or source.space in _BLOCKED:
        return
    columns = [[_number(x) for x in group.split(", ")] for group in found.groups()]
    if any(len(column) != len(source.sizes) for column in columns):
        return
    for offset, size, stride, extent in zip(*columns, source.sizes, strict=True):
        if size is None or stride is None or extent is None:
            continue
        last = (offset or 0) + (size - 1) * stride
        if last >= extent:
            message = (
                f"a view of {size} elements with stride {stride} reaches element {last} of {extent}"
            )
            yield error("view-out-of-bounds", _place(function, op), message)


def _number(text: str) -> int | None:
    return int(text) if text.lstrip("-").isdigit() else None


def _slow(function: Function) -> Iterator[Finding]:
    """Single elements on the scalar unit: slow in UB, and written to gm through a data cache
    that nothing flushes.
    """
    for space, names, rule, message in (
        (
            "ub",
            ("memref.load", "memref.store"),
            "scalar-loop",
            "runs element by element on the scalar unit",
        ),
        (
            "gm",
            ("memref.store",),
            "scalar-store",
            "a single element is stored to gm past the memory pipes",
        ),
    ):
        found = (op for op in function.operations if op.name in names)
        first = next(
            (op for op in found if (m := op.result) is not None and m.space == space), None
        )
        if first is not None:
            yield warning(rule, _place(function, first), message)


def _place(function: Function, op: Operation) -> str:
    return f"{function.name}:{op.line}"
