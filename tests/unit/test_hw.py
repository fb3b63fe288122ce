"""Target files: the built-in ones hold published facts, costs follow them, bad ones are refused."""

import pickle
from pathlib import Path

import pytest

from fusec.hw import TARGETS, Target, TargetError, TargetFileError, UnknownTargetError, load_target

B1, B3, TINY = (load_target(name) for name in ("ascend910b1", "ascend910b3", "tiny"))


def test_builtin_targets() -> None:
    assert TARGETS == ("ascend910b1", "ascend910b3", "tiny")
    for name in TARGETS:
        assert load_target(name).name == name
    assert load_target("Ascend910B3") is B3
    assert (B3.vendor, TINY.vendor) == ("Ascend910B3", "")


def test_cores_and_capacities() -> None:
    assert [t.cores("cube") for t in (B1, B3, TINY)] == [24, 20, 2]
    assert [t.cores("vector") for t in (B1, B3, TINY)] == [48, 40, 4]
    assert B3.cores("mixed") == 20
    sizes = {s: B3.capacity(s) >> 10 for s in ("ub", "l1", "l0a", "l0b", "l0c", "bt")}
    assert sizes == {"ub": 192, "l1": 512, "l0a": 64, "l0b": 64, "l0c": 128, "bt": 1}
    small = {s: TINY.capacity(s) >> 10 for s in ("ub", "l1", "l0a", "l0b", "l0c", "l2")}
    assert small == {"ub": 16, "l1": 32, "l0a": 4, "l0b": 4, "l0c": 8, "l2": 256}
    assert (B3.alignment("ub"), B3.alignment("l0c"), TINY.alignment("gm")) == (32, 512, 512)


def test_paths() -> None:
    assert B3.has_path("gm", "ub") and B3.has_path("l0c", "gm") and B3.has_path("l1", "l0a")
    assert not B3.has_path("l0c", "ub")
    assert not B3.has_path("ub", "l1")


@pytest.mark.parametrize("target", [B1, B3, TINY], ids=lambda t: t.name)
def test_every_listed_type_has_a_cost(target: Target) -> None:
    for op, dtypes in target.vector.types.items():
        for dtype in dtypes:
            assert target.vector_cost(op, dtype, 1000) > 0, (op, dtype)


def test_vector_types() -> None:
    assert B3.vector_supports("vadd", "i32") and B3.vector_supports("vcast", "bf16")
    assert not B3.vector_supports("vadd", "bf16")
    assert not B3.vector_supports("vexp", "i32")
    assert not B3.vector_supports("vtanh", "f32")


def test_vector_cost_counts_repeats_of_256_bytes() -> None:
    row = B3.vector_row("vexp", "f32")
    assert B3.vector_cost("vexp", "f32", 64) == pytest.approx(row.head + row.repeat)
    assert B3.vector_cost("vexp", "f32", 128) == pytest.approx(row.head + 2 * row.repeat)
    partial = row.head + 2 * row.repeat + B3.vector.partial_repeat
    assert B3.vector_cost("vexp", "f32", 65) == pytest.approx(partial)
    assert [B3.repeats(d, 256) for d in ("i8", "f16", "f32", "i64")] == [1, 2, 4, 8]
    assert B3.vector_cost("vadd", "f32", 0) == 0


def test_vector_cost_scalar_form_and_its_fallback() -> None:
    assert B3.vector_cost("vadd:scalar", "f32", 4096) < B3.vector_cost("vadd", "f32", 4096)
    assert B3.vector_cost("vdiv:scalar", "f32", 4096) == B3.vector_cost("vdiv", "f32", 4096)
    assert B3.vector_cost("copy", "bf16", 4096) == B3.vector_cost("copy", "f16", 4096)


def test_vector_cost_lies_between_the_published_measurements() -> None:
    # asc-devkit: Add of 4096 f32, 88 cycles without a bank conflict, 139 with one.
    assert 88 < B3.vector_cost("vadd", "f32", 4096) < 139


def test_reduce_cost() -> None:
    add, last = B3.vector_row("vadd", "f32"), B3.vector_row("vreduce", "f32")
    one = last.head + 16 * last.repeat
    assert B3.reduce_cost("f32", 16, 64) == pytest.approx(one)
    four = one + 2 * add.head + 16 * 3 * add.repeat
    assert B3.reduce_cost("f32", 16, 256) == pytest.approx(four)
    rows = 4 * add.head + 15 * 4 * add.repeat
    assert B3.reduce_cost("f32", 16, 256, last_axis=False) == pytest.approx(rows)
    assert B3.reduce_cost("f32", 1, 256, last_axis=False) == 0


@pytest.mark.parametrize(
    ("dtype", "cycles"), [("f16", 64), ("bf16", 64), ("i8", 32), ("f32", 256), ("hf32", 128)]
)
def test_mmad_cost_of_whole_fractals(dtype: str, cycles: int) -> None:
    assert B3.mmad_cost(64, 64, 64, dtype) == B3.cube.head + cycles


def test_mmad_cost_rounds_up_to_fractals() -> None:
    assert B3.mmad_cost(1, 1, 1, "f16") == B3.mmad_cost(16, 16, 16, "f16")
    assert B3.mmad_cost(17, 16, 16, "f16") == B3.cube.head + 2
    assert B3.mmad_cost(16, 9, 16, "f32") == B3.cube.head + 4
    assert B3.mmad_cost(16, 0, 16, "f16") == 0


def test_peak_of_the_cube_is_the_published_one() -> None:
    seconds = B3.cycles_to_us(B3.mmad_cost(1024, 1024, 1024, "f16")) * 1e-6
    assert 2 * 1024**3 / seconds * B3.cube_cores == pytest.approx(294.9e12, rel=1e-3)
    assert B1.us_to_cycles(2.0) == 3700


# Cycles of one core, data in L2, as Ascend-mskpp has them (bytes, cycles); our line is a fit.
@pytest.mark.parametrize(
    ("target", "engine", "points"),
    [
        (B3, "gm->ub", [(8192, 239), (16384, 300), (98304, 970), (196608, 1765)]),
        (B1, "gm->ub", [(8192, 321), (32768, 712), (196608, 4200)]),
        (B3, "gm->l1", [(8192, 237), (65536, 623), (491520, 2933)]),
        (B3, "ub->gm", [(8192, 237), (16384, 316), (65536, 993)]),
        (B3, "l0c->gm", [(4096, 80), (65536, 559), (131072, 1116)]),
        (B3, "l1->l0a", [(8192, 33), (65536, 251)]),
        (B3, "l1->l0b", [(16384, 127), (65536, 500)]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_transfer_cost_fits_the_measured_points(
    target: Target, engine: str, points: list[tuple[int, int]]
) -> None:
    for size, cycles in points:
        modelled = target.transfer(engine).latency + target.transfer_cost(engine, size)
        assert modelled == pytest.approx(cycles, rel=0.15), size


def test_transfer_cost_of_bursts_and_alignment() -> None:
    plain = B3.transfer_cost("gm->ub", 8192)
    assert B3.transfer_cost("gm->ub", 8192, bursts=64) > plain
    assert B3.transfer_cost("gm->ub", 8192, aligned=False) > plain
    assert B3.transfer_cost("gm->ub", 0) == 0
    # 64 rows of 4 bytes: loads move 32 bytes each, stores pay for every row.
    assert B3.transfer_cost("gm->ub", 256, bursts=64) == B3.transfer_cost("gm->ub", 2048, bursts=64)
    assert B3.transfer_cost("ub->gm", 256, bursts=64) > 64 * 96


def test_transfer_cost_shares_the_memory() -> None:
    assert B3.transfer_cost("gm->ub", 65536, level="hbm") > B3.transfer_cost("gm->ub", 65536)
    costs = [B3.transfer_cost("gm->ub", 65536, level="hbm", cores=n) for n in (1, 20, 40)]
    assert costs[0] == costs[1] < costs[2]
    assert B3.shared_rate("hbm", 40) * 40 * B3.clock_mhz * 1e6 == pytest.approx(1450e9)
    alone = B3.transfer_cost("l1->l0a", 65536)
    assert B3.transfer_cost("l1->l0a", 65536, level="hbm", cores=20) == alone


def test_mixed_kernels_have_the_higher_floor() -> None:
    for target in (B1, B3, TINY):
        assert target.floor_us["mixed"] > 3 * target.floor_us["vector"]
        assert target.launch_us["mixed"] > target.launch_us["cube"] > 0
    assert (B3.sync.event_ids, B3.sync.cross_core_ids) == (8, 11)


def test_targets_pickle() -> None:
    assert pickle.loads(pickle.dumps(B3)).transfers == B3.transfers


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ascend910b2", "unknown target 'ascend910b2'; did you mean 'ascend910b"),
        ("Tiney", "did you mean 'tiny'?"),
        ("x", "known: ascend910b1, ascend910b3, tiny"),
        ("", "unknown target ''"),
        ("../hw/tiny", "unknown target '../hw/tiny'"),
        ("nowhere.toml", "no such target file: nowhere.toml"),
    ],
)
def test_unknown_target(name: str, message: str) -> None:
    with pytest.raises(UnknownTargetError) as error:
        load_target(name)
    assert message in str(error.value)


def test_unknown_names_of_a_target() -> None:
    asked = [
        (lambda: TINY.capacity("l0d"), "tiny: no memory 'l0d'; did you mean 'l0"),
        (lambda: TINY.alignment("ubb"), "did you mean 'ub'?"),
        (lambda: TINY.transfer_cost("l0c->ub", 64), "no transfer 'l0c->ub'"),
        (lambda: TINY.transfer_cost("gm->ub", 64, level="l3"), "no memory level 'l3'"),
        (lambda: TINY.vector_cost("vad", "f32", 64), "no vector operator 'vad'"),
        (lambda: TINY.vector_cost("vadd", "f8", 64), "no type 'f8'"),
        (lambda: TINY.mmad_cost(1, 1, 1, "i32"), "no cube operand type 'i32'"),
        (lambda: TINY.cores("scalar"), "no kernel kind 'scalar'"),
    ]
    for ask, message in asked:
        with pytest.raises(TargetError) as error:
            ask()
        assert message in str(error.value)


def own(folder: Path, text: str, name: str = "my.toml") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_own_file_over_a_builtin_one(tmp_path: Path) -> None:
    path = own(tmp_path, 'base = "tiny"\nname = "mine"\n[capacity]\nub = 32768\n')
    target = load_target(path)
    assert (target.name, target.capacity("ub"), target.capacity("l1")) == ("mine", 32768, 32768)
    assert load_target(path) is target
    assert load_target(own(tmp_path, 'base = "my.toml"\nname = "his"\n', "his.toml")).name == "his"


def test_changed_file_is_read_again(tmp_path: Path) -> None:
    path = own(tmp_path, 'base = "tiny"\n[cores]\ncube = 3\n')
    assert (load_target(path).cube_cores, load_target(path).name) == (3, "my")
    Path(path).write_text('base = "tiny"\n[cores]\ncube = 5\n')
    assert load_target(path).cube_cores == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = 'x'", "'cores' is missing; it must be a table"),
        ("base = 'tiny'\n[cores]\ncube = 0", "'cores.cube' must be at least 1, not 0"),
        ("base = 'tiny'\n[cores]\ncube = true", "'cores.cube' must be an integer, not True"),
        ("base = 'tiny'\n[cores]\nclock_mhz = 0", "'cores.clock_mhz' must be more than 0, not 0"),
        ("base = 'tiny'\n[capacity]\nub = 1.5", "'capacity.ub' must be an integer, not 1.5"),
        ("base = 'tiny'\n[capacity]\nubb = 1", "'capacity.ubb' is not a key of a target; did you"),
        ("base = 'tiny'\nnmae = 'x'", "'nmae' is not a key of a target; did you mean 'name'?"),
        ("base = 'tiny'\nname = 3", "'name' must be a string, not 3"),
        ("base = 'tiny'\ncores = 3", "'cores' must be a table, not 3"),
        ("base = 'tiny'\n[launch_us]\nmixed = -1", "'launch_us.mixed' must be a finite number"),
        ("base = 'tiny'\n[launch_us]\nmixed = inf", "'launch_us.mixed' must be a finite number"),
        ("base = 'tiny'\n[launch_us]\nmixed = nan", "'launch_us.mixed' must be a finite number"),
        ("base = 'tiny'\n[launch_us]\nmixed = '1'", "'launch_us.mixed' must be a number, not '1'"),
        (
            "base = 'tiny'\n[transfer.'gm->ub']\nrate = 0",
            "'transfer.\"gm->ub\".rate' must be more than 0, not 0",
        ),
        (
            "base = 'tiny'\n[transfer.'l0c->ub']\nrate = 1",
            "'transfer.\"l0c->ub\".hbm_rate' is missing; it must be a number",
        ),
        ("base = 'tiny'\n[transfer.'gm-ub']\nrate = 1", "must be SOURCE->DESTINATION[:MODE]"),
        ("base = 'tiny'\n[cube.shape]\nf16 = [16, 16]", "'cube.shape.f16' must be a list of 3"),
        ("base = 'tiny'\n[cube.shape]\nf8 = [1, 1, 1]", "'cube.shape.f8' is not a type"),
        ("base = 'tiny'\n[cube.shape]\ni16 = [1, 1, 1]", "'cube.fractal.i16' is missing"),
        ("base = 'tiny'\n[vector.cost.vadd]\nf32 = [1]", "'vector.cost.vadd.f32' must be a list"),
        ("base = 'tiny'\n[vector.cost.vadd]\nf32 = [-1, 1]", "'vector.cost.vadd.f32' must be a"),
        ("base = 'tiny'\n[vector.cost.vadd]\ntypes = 'x'", "names no list of [vector.types]"),
        ("base = 'tiny'\n[vector.cost.vnew]\ntypes = 'any'", "'vector.cost.vnew.f"),
        ("base = 'tiny'\n[vector.types]\nany = 'f32'", "'vector.types.any' must be a list of"),
        ("base = 'tiny'\n[vector.types]\nany = ['f8']", "is not a type"),
        ("base = 3", "'base' must be a string, not 3"),
        ("base = 'tini'", "'base' names no target: 'tini'; did you mean 'tiny'?"),
        ("base = 'my.toml'", "'base' leads back to this file"),
        ("name = ", "not valid TOML: Invalid value (at end of document)"),
    ],
)
def test_bad_file(tmp_path: Path, text: str, message: str) -> None:
    path = own(tmp_path, text)
    with pytest.raises(TargetFileError) as error:
        load_target(path)
    assert message in str(error.value)
    assert str(tmp_path / "my.toml") in str(error.value)


def test_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TargetFileError, match="not text in UTF-8"):
        load_target(str(path))
