"""The rules for matrix tiles and for the two halves of mixed kernels."""

import pytest

from hivm_text import (
    CONSTANTS,
    UB_BUFFER,
    call,
    cube,
    cube_body,
    function,
    gm,
    inspect,
    l1,
    module,
    rules,
    ub,
)


def test_right_cube_kernel():
    assert rules(cube()) == []


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"real": "%c200, %c64, %c128"}, "tile-size"),
        ({"real": "%c128, %c64, %c256"}, "tile-size"),
        ({"real": "%c64, %c64, %c128"}, "not-computed"),
        ({"real": "%m, %c64, %c128"}, "not-computed"),
        ({"real": "%c128, %c64, %n"}, "not-computed"),
        ({"mode": "%c0_i64"}, "fixpipe-mode"),
        ({"out": "int32_t_to_half_4d_to_2d"}, "fixpipe-scale"),
        ({"callee": "mma_tile_with_float_bias_half_to_float", "init": "%false"}, "bias-not-added"),
        ({"a": "128x64xf16"}, "cube-layout"),
    ],
)
def test_cube_rules(changes: dict[str, str], rule: str):
    assert rule in rules(cube(**changes))


def test_workspace_takes_whole_tiles():
    """Of a tile in a workspace a part may be unused, but no whole block of it is left out."""

    def found(real: str) -> list[str]:
        text = cube(real=real)
        space = (
            f"    %w = memref_ext.alloc_workspace() from %arg0 offset = [%c0] : from "
            f"{gm('?xi8')} to {gm('128x128xf16')}\n    %cast"
        )
        return rules(
            text.replace("    %cast", space, 1).replace("memref.cast %arg1", "memref.cast %w")
        )

    assert found("%c128, %c64, %c128") == []
    assert found("%m, %c64, %c128") == []
    assert found("%c64, %c64, %c128") == ["not-computed"]


def test_tail_that_is_stored_as_far_as_it_is_computed():
    assert rules(cube(real="%m, %c64, %n", target="?x?xf16")) == []


def test_transposed_operand_is_measured_the_other_way_round():
    transposed = {"callee": "mma_tile_half_to_float_tb", "b": "4x8x16x16xf16"}
    assert rules(cube(**transposed)) == []
    assert rules(cube(b="4x8x16x16xf16")) == ["tile-size"]


def test_l0_has_room_for_one_block():
    wide = {"real": "%c64, %c1, %c64", "target": "64x64xf16", "c": "1x1x16x16xf32"}
    fits = cube(**wide, a="1x128x16x16xf16", b="4x1x16x16xf16")
    assert "l0-overflow" not in rules(fits)
    assert "l0-overflow" in rules(fits.replace("1x128x16x16xf16", "1x129x16x16xf16"))


def test_bias_table():
    bias = "mma_tile_with_float_bias_half_to_float"
    wide = {"callee": bias, "real": "%c128, %c64, %c256", "target": "128x256xf16"}
    assert rules(cube(**wide, b="16x4x16x16xf16", c="16x8x16x16xf32")) == []
    wider = {**wide, "real": "%c128, %c64, %c512", "target": "128x512xf16"}
    found = rules(cube(**wider, b="32x4x16x16xf16", c="32x8x16x16xf32"))
    assert "bias-table-overflow" in found


def test_part_of_an_l1_buffer():
    def rule(part: str) -> list[str]:
        whole = l1("4x15x16x16xf16")
        view = f"    %v = memref.subview %0[0, %i, 0, 0] [] [] : {whole} to {part}\n"
        text = cube(a="4x15x16x16xf16")
        text = text.replace("    func.call @mma", view + "    func.call @mma")
        return rules(text.replace("half_to_float(%0, %1", "half_to_float(%v, %1"))

    strided = "strided<[3840, 256, 16, 1], offset: ?>, #hivm.address_space<cbuf>>"
    assert rule(f"memref<4x8x16x16xf16, {strided}") == ["l1-view-operand"]
    assert rule(f"memref<4x?x16x16xf16, {strided}") == ["l1-view-operand"]
    assert "l1-view-operand" not in rule(f"memref<1x8x16x16xf16, {strided}")
    assert rule(f"memref<4x15x16x16xf16, {strided}") == []


def test_operand_not_loaded_as_blocks():
    text = cube().replace(
        "    func.call @nd2nz_half(%arg0, %1)", "    func.call @nd2nz_half(%arg0, %0)"
    )
    assert rules(text) == ["cube-layout"]


def test_cube_code_needs_its_core_type():
    arguments = f"%arg0: {gm('128x64xf16')}, %arg1: {gm('128x128xf16')}"
    found = rules(module(function(cube_body(), core="", arguments=arguments)))
    assert "missing-core-type" in found


def mixed(aic: str, aiv: str) -> str:
    arguments = f"%arg0: {gm('128x64xf16')}, %arg1: {gm('128x128xf16')}, %arg2: {gm('?xi8')}"
    load = call("load_gm_to_ubuf_1d_float", ("%arg1", gm("?xf32")), ("%0", ub("8192xf32")))
    return module(
        function(cube_body() + aic, "k_mix_aic", "AIC", arguments),
        function(CONSTANTS + UB_BUFFER + aiv + load, "k_mix_aiv", "AIV", arguments),
    )


def test_halves_of_a_mixed_kernel_wait_for_each_other():
    announce = "    hivm.hir.sync_block_set[<CUBE>, <PIPE_FIX>, <PIPE_S>] flag = 1 base = %arg2\n"
    await_it = "    hivm.hir.sync_block_wait[<VECTOR>, <PIPE_FIX>, <PIPE_S>] flag = 1\n"
    assert rules(mixed(announce, await_it)) == []
    assert rules(mixed("", "")) == ["mix-without-sync"]
    assert rules(mixed(announce, "")) == ["mix-without-sync"]
    assert rules(mixed(announce, await_it.replace("= 1", "= 2"))) == ["unset-flag"]
    assert rules(mixed(announce.replace("= 1", "= %7"), await_it)) == []


def test_vector_half_is_there():
    text = module(function("", "k_mix_aic", "AIC"))
    assert rules(text) == ["missing-kernel"]


def test_unsplit_rows_are_a_warning():
    body = "    scf.if %1 {\n    } {limit_sub_block_id0}\n"
    (finding,) = inspect(module(function(body, "k")))
    assert (finding.rule, finding.severity) == ("half-binding", "warning")
