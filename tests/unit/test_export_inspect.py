"""The rules that hold for every returned module, and those that need the text we handed in."""

import pytest

from fusec.export.divisor import divisor
from fusec.export.hivm_module import Use, parse_memref, parse_module, split_types
from hivm_text import CONSTANTS, UB_BUFFER, call, function, gm, inspect, l1, module, rules, ub


def test_memref_types():
    plain = parse_memref(gm("8x16xf32"))
    assert plain is not None
    assert (plain.sizes, plain.strides, plain.offset) == ((8, 16), (16, 1), 0)
    view = parse_memref(ub("?x300xf16", "[304, 1], offset: ?"))
    assert view is not None
    assert (view.sizes, view.strides, view.offset) == ((None, 300), (304, 1), None)
    assert (view.element, view.space, view.bits) == ("f16", "ub", 16)
    scalar = parse_memref("memref<f32>")
    assert scalar is not None and scalar.sizes == ()
    assert parse_memref("index") is None
    assert split_types("memref<4xf32, strided<[1], offset: ?>> to memref<?xf32>, i1") == [
        "memref<4xf32, strided<[1], offset: ?>>",
        "memref<?xf32>",
        "i1",
    ]


def test_names_are_resolved_to_the_last_definition():
    body = (
        "    scf.for %i = %a to %b step %c {\n      %0 = arith.constant 3 : index\n    }\n"
        "    scf.for %i = %a to %b step %c {\n      %0 = arith.constant 5 : index\n"
        "      memref.store %x, %y[%0] : memref<8xf32>\n    }\n"
    )
    parsed = parse_module(module(function(body))).functions[0]
    store = next(op for op in parsed.operations if op.name == "memref.store")
    assert parsed.constant(store.operands[-1]) == 5
    assert parsed.constant(Use("%0", 5)) == 3
    assert parsed.constant(Use("%unknown", 9)) is None


def test_divisors():
    text = (
        "#map = affine_map<()[s0, s1] -> (s0 * 24 + s1 * 16 - 8)>\n"
        "#map1 = affine_map<(d0)[s0] -> (d0 * 8, s0 mod 4)>\n"
        "#map2 = affine_map<()[s0] -> (s0 floordiv 2)>\n"
    ) + module(
        function(
            CONSTANTS
            + "    scf.for %i = %c0 to %c512 step %c64 {\n"
            + "      %0 = affine.apply #map()[%i, %x]\n"
            + "      %1 = affine.min #map1(%x)[%i]\n"
            + "      %2 = affine.apply #map2()[%i]\n"
            + "      %3 = arith.muli %i, %c128 : index\n"
            + "      %4 = arith.minsi %3, %c200 : index\n"
            + "      %5 = arith.index_cast %4 : index to i64\n"
            + "      %6 = memref.load %arg0[%i] : memref<8xindex>\n    }\n"
        )
    )
    parsed = parse_module(text).functions[0]
    known = {
        name: divisor(parsed, Use(name, 1000)) for name in ("%i", *(f"%{n}" for n in range(7)))
    }
    assert known == {
        **{"%i": 64, "%0": 8, "%1": 4, "%2": 1},
        **{"%3": 64 * 128, "%4": 8, "%5": 8, "%6": 1},
    }


def test_linked_and_unlinked_calls():
    body = CONSTANTS + UB_BUFFER
    fine = call("vexp_1d_float", ("%0", ub("8192xf32")), ("%0", ub("8192xf32")))
    assert rules(module(function(body + fine))) == []
    assert rules(module(function(body + fine.replace("vexp", "verf")))) == ["unlinkable-call"]


def test_declaration_after_the_call_is_seen():
    """A declaration that is printed after its first call counts like any other."""
    body = CONSTANTS + UB_BUFFER + call("vtanh_1d_float", ("%0", ub("8192xf32")))
    late = (
        f"  func.func private @vtanh_1d_float({ub('?xf32')}) attributes "
        "{hivm.func_core_type = #hivm.func_core_type<AIV>}\n"
    )
    assert rules(module(function(body), late)) == ["unlinkable-call"]
    assert rules(module(late, function(body))) == ["unlinkable-call"]


def test_missing_bool_load_has_advice():
    text = module(
        function(call("load_gm_to_ubuf_1d_bool", ("%arg0", gm("8xi1")), ("%0", ub("8xi1"))))
    )
    (finding,) = inspect(text)
    assert finding.rule == "unlinkable-call" and "as i8" in finding.message
    assert finding.place == "k:3" and finding.function == "k"


def test_wrong_core():
    declared = (
        f"  func.func private @vexp_1d_float({ub('?xf32')}) attributes "
        "{hivm.func_core_type = #hivm.func_core_type<AIV>}\n"
    )
    body = CONSTANTS + UB_BUFFER + call("vexp_1d_float", ("%0", ub("8192xf32")))
    assert rules(module(declared, function(body, core="AIC"))) == ["wrong-core"]


@pytest.mark.parametrize(
    "line",
    [
        "hivm.hir.verf ins(%0 : memref<8xf32>) outs(%0 : memref<8xf32>)",
        "%r = hivm.hir.mmadL1 ins(%a : tensor<8xf16>) outs(%c : tensor<8xf32>) -> tensor<8xf32>",
        "hivm.hir.load ins(%0 : memref<8xf32>) outs(%1 : memref<8xf32>)",
        "%1 = memref.alloc() : memref<8xf32>",
        "%1 = tensor.empty() : tensor<8xf32>",
        "%1 = bufferization.to_tensor %0 : memref<8xf32>",
        "linalg.fill ins(%0 : f32) outs(%1 : memref<8xf32>)",
    ],
)
def test_leftover(line: str):
    assert rules(module(function(f"    {line}\n"))) == ["leftover-op"]


@pytest.mark.parametrize(
    "line",
    [
        "hivm.hir.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]",
        "%1 = hivm.hir.get_block_idx -> i64",
        "%1 = arith.addi %0, %0 : index",
        "%1 = affine.apply #map()[%0]",
        "scf.if %0 {\n    } else {\n    }",
        "%1:2 = scf.for %i = %a to %b step %c iter_args(%x = %y, %z = %w) -> (i64, i64) {\n    }",
        "%1 = memref_ext.alloc_workspace() from %0 : from memref<?xi8> to memref<8xi8>",
        "%b, %o, %s, %t = memref.extract_strided_metadata %0 : memref<8xf32> -> memref<f32>, index",
    ],
)
def test_what_may_stay(line: str):
    assert rules(module(function(f"    {line}\n"))) == []


def test_address_spaces():
    operands = (("%arg0", gm("8192xf32")), ("%0", ub("8192xf32")))
    body = CONSTANTS + UB_BUFFER
    assert rules(module(function(body + call("load_gm_to_ubuf_1d_float", *operands)))) == []
    text = module(function(body + call("vexp_1d_float", *operands)))
    (finding,) = inspect(text)
    assert finding.rule == "address-space"
    assert finding.message == "vexp_1d_float takes buffers in ub, ub, not in gm, ub"
    text = module(function(body + call("store_ubuf_to_gm_1d_float", *operands)))
    assert rules(text) == ["address-space"]


def test_buffers_lie_in_their_memory():
    def at(address: int, shape: str) -> list[str]:
        body = f"    %c = arith.constant {address} : i64\n"
        body += f"    %0 = hivm.hir.pointer_cast(%c) : {ub(shape)}\n"
        return rules(module(function(body)))

    assert at(196608 - 1024, "256xf32") == []
    assert at(196608 - 1024, "257xf32") == ["address-out-of-range"]
    assert at(196608 - 1024, "8192xi1") == []
    assert at(196608 - 1024, "8193xi1") == ["address-out-of-range"]
    assert at(16, "8xf32") == ["unaligned-address"]
    assert at(196608, "?xf32") == []


def test_second_address_of_a_rotating_buffer_is_checked():
    body = CONSTANTS + "    %c196608_i64 = arith.constant 196608 : i64\n"
    body += f"    %0 = hivm.hir.pointer_cast(%c0_i64, %c196608_i64) : {ub('8xf32')}\n"
    assert rules(module(function(body))) == ["address-out-of-range"]


def test_views_lie_in_their_buffer():
    def view(ranges: str) -> list[str]:
        line = f"    %v = memref.subview %arg0{ranges} : {gm('64x128xf32')} to {gm('?x?xf32')}\n"
        return rules(module(function(line)))

    assert view("[0, 0] [64, 128] [1, 1]") == []
    assert view("[0, 1] [64, 128] [1, 1]") == ["view-out-of-bounds"]
    assert view("[0, 0] [32, 128] [2, 1]") == []
    assert view("[1, 0] [33, 128] [2, 1]") == ["view-out-of-bounds"]
    assert view("[%i, 0] [65, %n] [1, 1]") == ["view-out-of-bounds"]


def test_vector_operands_begin_at_blocks():
    def rule(offsets: str, layout: str, shape: str = "64x300xf32") -> list[str]:
        body = CONSTANTS + f"    %0 = hivm.hir.pointer_cast(%c0_i64) : {ub(shape)}\n"
        body += "    scf.for %i = %c0 to %c64 step %c1 {\n"
        row, cast = ub("64xf32", layout), ub("?xf32", "[?], offset: ?")
        body += f"    %v = memref.subview %0{offsets} [1, 64] [1, 1] : {ub(shape)} to {row}\n"
        body += f"    %w = memref.cast %v : {row} to {cast}\n"
        body += call("vexp_1d_float", ("%w", cast)) + "    }\n"
        return rules(module(function(body)))

    assert rule("[2, 8]", "[1], offset: 608") == []
    assert rule("[3, 0]", "[1], offset: 900") == ["unaligned-operand"]
    assert rule("[%i, 0]", "[1], offset: ?") == ["unaligned-operand"]
    assert rule("[%i, 0]", "[1], offset: ?", "64x304xf32") == []
    assert rule("[0, %i]", "[1], offset: ?", "64x304xf32") == ["unaligned-operand"]


def test_view_put_together_from_the_description_of_another():
    def rule(shape: str) -> list[str]:
        whole, part = ub(shape), ub("?x1xf32", "[8, 1], offset: ?")
        body = CONSTANTS + f"    %0 = hivm.hir.pointer_cast(%c0_i64) : {whole}\n"
        body += "    scf.for %i = %c0 to %c64 step %c1 {\n"
        body += f"    %v = memref.subview %0[%i, 0] [1, 1] [1, 1] : {whole} to {part}\n"
        body += (
            f"    %b, %o, %s, %t = memref.extract_strided_metadata %v : {part} -> "
            f"{ub('f32')}, index, index, index\n"
            "    %r = memref.reinterpret_cast %b to offset: [%o], sizes: [%s, 1], strides: [8, 1] "
            f": {ub('f32')} to {part}\n"
        )
        return rules(module(function(body + call("vexp_1d_float", ("%r", part)) + "    }\n")))

    assert rule("64x8xf32") == []
    assert rule("64x4xf32") == ["unaligned-operand"]


def test_rows_of_vector_operands_are_blocks_apart():
    row, column = ub("16x300xf32", "[304, 1]"), ub("16x1xf32")
    both = (("%0", row), ("%1", column))

    def rule(callee: str, *operands: tuple[str, str]) -> list[str]:
        body = CONSTANTS + "".join(
            f"    {name} = hivm.hir.pointer_cast(%c0_i64) : {printed}\n"
            for name, printed in dict(operands).items()
        )
        return rules(module(function(body + call(callee, *operands))))

    assert rule("enablevc_reduce_max_ar_float", *both) == []
    assert rule("vsub_2d_float", both[0], both[1], both[0]) == []
    tight = ("%0", ub("16x300xf32", "[301, 1]"))
    assert rule("vsub_2d_float", tight) == ["unaligned-stride"]
    copied = rule("copy_ubuf_to_ubuf_2d_float", both[1], ("%2", column))
    assert copied == ["unaligned-stride", "unaligned-stride"]
    assert rule("vexp_1d_float", ("%0", ub("16xf32", "[2]"))) == ["strided-operand"]


def test_scalar_access_is_a_warning():
    load = f"    %1 = memref.load %0[%c0] : {ub('8192xf32')}\n"
    store = f"    memref.store %1, %arg0[%c0, %c0] : {gm('64x128xf32')}\n"
    found = inspect(module(function(CONSTANTS + UB_BUFFER + load + store)))
    assert [(f.rule, f.severity) for f in found] == [
        ("scalar-loop", "warning"),
        ("scalar-store", "warning"),
    ]


SOURCE = """module {
func.func @k(%a: memref<8xf16>) attributes {hacc.entry} {
  BODY
  return
}
}
"""
MMAD = (
    "%r = hivm.hir.mmadL1 {b_transpose} ins(%a, %b, %c, %m, %k, %n{bias} : tensor<8x8xf16>, "
    "tensor<8x8xf16>, i1, index, index, index) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>"
)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (MMAD.replace("{bias}", ", %bias"), ["transpose-dropped"]),
        (MMAD.replace("{bias}", ""), []),
        (MMAD.replace("{bias}", ", %bias").replace(" {b_transpose}", ""), []),
        ("%s = hivm.hir.get_sub_block_idx -> i64", []),
        (
            "annotation.mark %x {hivm.multi_buffer = 2 : i32} : memref<8x8xf16>",
            ["multi-buffer-dropped"],
        ),
        (
            f"annotation.mark %x {{hivm.multi_buffer = 2 : i32}} : {l1('8x8xf16')}",
            ["multi-buffer-dropped"],
        ),
        (f"annotation.mark %x {{hivm.multi_buffer = 2 : i32}} : {l1('1x1x16x16xf16')}", []),
        (f"annotation.mark %x {{hivm.multi_buffer = 2 : i32}} : {ub('8x8xf16')}", []),
    ],
)
def test_rules_on_our_text(body: str, found: list[str]):
    assert rules(module(function("")), SOURCE.replace("BODY", body)) == found


def test_rows_split_twice():
    source = SOURCE.replace("BODY", "%s = hivm.hir.get_sub_block_idx -> i64")
    halves = module(function("", "k_mix_aic", "AIC"), function("", "k_mix_aiv"))
    (finding,) = inspect(halves, source)
    assert finding.rule == "rows-split-twice"
    assert finding.place == "k:3 (source)" and finding.function == "k"
    assert inspect(halves, source, binds_sub_blocks=False) == []


def test_kernel_that_is_gone():
    assert rules(module(function("", "other")), SOURCE) == ["missing-kernel"]
    assert rules("module {\n}\n") == ["missing-kernel"]
    assert rules("not a module", SOURCE) == ["missing-kernel"]
