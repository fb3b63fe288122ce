"""Modules in the shape that Huawei's compiler prints, and what the check says about them."""

from fusec.export.finding import Finding
from fusec.export.inspect_output import inspect_output

LIBRARY = {
    "AIC": frozenset(
        (
            *("nd2nz_half", "load_gm_to_cbuf_1d_float", "mma_tile_half_to_float"),
            *("mma_tile_with_float_bias_half_to_float", "mma_tile_half_to_float_tb"),
            *("fixpipe_nz2nd_float_to_half_4d_to_2d", "fixpipe_nz2nd_float_to_float_4d_to_2d"),
            "fixpipe_nz2nd_int32_t_to_half_4d_to_2d",
        )
    ),
    "AIV": frozenset(
        (
            *("load_gm_to_ubuf_1d_float", "store_ubuf_to_gm_1d_float", "vexp_1d_float"),
            *("load_gm_to_ubuf_2d_float", "vsub_2d_float", "copy_ubuf_to_ubuf_2d_float"),
            "enablevc_reduce_max_ar_float",
        )
    ),
}
SPEC = (
    'module attributes {dlti.target_system_spec = <"NPU" : <#dlti.dl_entry<"UB_SIZE", 1572864 : '
    'i32>, #dlti.dl_entry<"L1_SIZE", 4194304 : i32>, #dlti.dl_entry<"L0C_SIZE", 1048576 : i32>>>} {'
)


def gm(shape: str, layout: str = "") -> str:
    return _type(shape, layout, "gm")


def ub(shape: str, layout: str = "") -> str:
    return _type(shape, layout, "ub")


def _type(shape: str, layout: str, space: str) -> str:
    layout = f", strided<{layout}>" if layout else ""
    return f"memref<{shape}{layout}, #hivm.address_space<{space}>>"


def l1(shape: str) -> str:
    return _type(shape, "", "cbuf")


def cc(shape: str) -> str:
    return _type(shape, "", "cc")


def call(callee: str, *operands: tuple[str, str]) -> str:
    names = ", ".join(name for name, _ in operands)
    types = ", ".join(printed for _, printed in operands)
    return f"    func.call @{callee}({names}) : ({types}) -> ()\n"


def function(body: str, name: str = "k", core: str = "AIV", arguments: str = "") -> str:
    arguments = arguments or f"%arg0: {gm('64x128xf32')}, %arg1: {gm('64x128xf16')}"
    kind = f", hivm.func_core_type = #hivm.func_core_type<{core}>" if core else ""
    head = f"  func.func @{name}({arguments}) attributes {{hacc.entry{kind}}} {{\n"
    return f"{head}{body}    return\n  }}\n"


def module(*functions: str) -> str:
    return f"{SPEC}\n{''.join(functions)}}}\n"


def inspect(text: str, source: str | None = None, **options: bool) -> list[Finding]:
    return inspect_output(text, LIBRARY, source, **options)


def rules(text: str, source: str | None = None) -> list[str]:
    return [finding.rule for finding in inspect(text, source)]


CONSTANTS = "".join(
    f"    %c{n}_i64 = arith.constant {n} : i64\n    %c{n} = arith.constant {n} : index\n"
    for n in (0, 1, 64, 128, 200, 256, 512)
)
UB_BUFFER = f"    %0 = hivm.hir.pointer_cast(%c0_i64) : {ub('8192xf32')}\n"


def cube_body(
    *,
    a: str = "4x8x16x16xf16",
    b: str = "8x4x16x16xf16",
    c: str = "8x8x16x16xf32",
    callee: str = "mma_tile_half_to_float",
    real: str = "%c128, %c64, %c128",
    out: str = "float_to_half_4d_to_2d",
    mode: str = "%c1_i64",
    target: str = "128x128xf16",
    init: str = "%true",
) -> str:
    bias = "with_float_bias" in callee
    middle = f", {l1('128xf32')}" if bias else ""
    mma = (
        f"    func.call @{callee}(%0, %1, {init}, {real}{', %bias' if bias else ''}, %2, %c0_i8) : "
        f"({l1(a)}, {l1(b)}, i1, index, index, index{middle}, {cc(c)}, i8) -> ()\n"
    )
    stored = gm(f"?x?x{target[-3:]}", "[?, ?], offset: ?")
    return (
        CONSTANTS
        + "    %true = arith.constant true\n    %false = arith.constant false\n"
        + f"    %0 = hivm.hir.pointer_cast(%c0_i64) : {l1(a)}\n"
        + f"    %1 = hivm.hir.pointer_cast(%c0_i64) : {l1(b)}\n"
        + f"    %2 = hivm.hir.pointer_cast(%c0_i64) : {cc(c)}\n"
        + f"    %bias = hivm.hir.pointer_cast(%c0_i64) : {l1('128xf32')}\n"
        + call("nd2nz_half", ("%arg0", gm("?x?xf16")), ("%0", l1(a)))
        + call("nd2nz_half", ("%arg0", gm("?x?xf16")), ("%1", l1(b)))
        + mma
        + f"    %cast = memref.cast %arg1 : {gm(target)} to {stored}\n"
        + call(f"fixpipe_nz2nd_{out}", ("%2", cc(c)), ("%cast", stored), (mode, "i64"))
    )


def cube(**changes: str) -> str:
    target = changes.get("target", "128x128xf16")
    arguments = f"%arg0: {gm('128x64xf16')}, %arg1: {gm(target)}"
    return module(function(cube_body(**changes), core="AIC", arguments=arguments))
