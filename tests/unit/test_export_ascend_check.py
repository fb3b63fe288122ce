"""What the check accepts and refuses, on inputs that Huawei's compiler has seen."""

from pathlib import Path

import pytest

from ascend_inputs import FOLDER, TARGET, AscendInput, needs_compiler, read_input, read_inputs
from fusec.export import ascend_check
from fusec.export.ascend_check import check_kernels, check_module, compiler_message
from fusec.export.bishengir import CompilerRun
from fusec.export.exported_kernel import ExportedKernel

pytestmark = needs_compiler

WRONG = {
    "c4_conv3x3_pad_T": "not-computed",
    "c5_conv_l1shift": "l1-view-operand",
    "cube_without_core_type": "missing-core-type",
    "f1_flash_128": "unaligned-stride",
    "f2_flash_128_512": "unaligned-stride",
    "g2_flash_causal_add": "unaligned-stride",
    "i1_load": "unlinkable-call",
    "load_inside_block": "unaligned-operand",
    "m2_tb_bias": "transpose-dropped",
    "m4_i8_f16b": "fixpipe-scale",
    "m4_i8_f16c": "fixpipe-scale",
    "m4_i8_f16d": "fixpipe-scale",
    "m5_T_bias_tb": "transpose-dropped",
    "mixed_loaded_in_parts": "not-computed",
    "mixed_rows_by_hand_bound": "rows-split-twice",
    "no_erf": "leftover-op",
    "reduce_middle": "unlinkable-call",
    "rows_inside_block": "unaligned-operand",
    "vector_on_gm": "address-space",
    "view_inside_block": "unaligned-operand",
    "x3_ln_slices_man": "rows-split-twice",
    "x4_ln_gm_man": "rows-split-twice",
}
WARNED = {
    **dict.fromkeys(("k8_net", "m1_mm_real", "m2_ta_tb", "m3_f32"), "multi-buffer-dropped"),
    **dict.fromkeys(("m4_i8_i32", "m5_T_bias", "z2_mmT_bias_auto"), "multi-buffer-dropped"),
    "v3_longrow_softmax": "scalar-loop",
    "half_bound_tails": "half-binding",
}


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def check(source: AscendInput):
    return check_module(source.text, TARGET, source.route, source.options)


def kernel(source: AscendInput) -> ExportedKernel:
    return ExportedKernel(source.name, source.func_text, source.route, source.options)


@pytest.mark.parametrize(
    "source", read_inputs("accepted") + read_inputs("forms"), ids=lambda source: source.name
)
def test_accepted(source: AscendInput):
    verdict = check(source)
    assert verdict.accepted, verdict.reason
    assert verdict.reason == ""
    warned = {WARNED[source.name]} if source.name in WARNED else set[str]()
    assert {finding.rule for finding in verdict.findings} == warned


@pytest.mark.parametrize("source", read_inputs("wrong"), ids=lambda source: source.name)
def test_wrong_code_is_refused(source: AscendInput):
    verdict = check(source)
    assert verdict.run.ok, "the compiler itself takes it"
    assert verdict.status == "refused"
    errors = {finding.rule for finding in verdict.findings if finding.severity == "error"}
    assert WRONG[source.name] in errors
    assert verdict.reason


def test_broken_text_gives_the_compilers_message():
    verdict = check_module("module { hivm.hir.nothing }", TARGET, "compile")
    assert verdict.status == "refused"
    assert verdict.reason == "custom op 'hivm.hir.nothing' is unknown (line 1)"


def test_overflow_is_a_refusal_with_numbers():
    source = read_input(FOLDER / "accepted" / "a1_ew_block.mlir")
    text = source.text.replace("8192", "81920").replace("1048576", "10485760")
    verdict = check_module(text, TARGET, source.route)
    assert verdict.status == "refused"
    assert verdict.reason.startswith("ub overflow, requires")


def test_crash_is_kept_as_a_vendor_fault(tmp_path: Path):
    source = read_input(FOLDER / "accepted" / "a2_mm_bias_relu_f16.mlir")
    verdict = check_module(source.text, TARGET, "compile", faults=tmp_path / "faults")
    assert verdict.status == "vendor-fault"
    assert verdict.reason == "the compiler crashed with signal 11"
    (kept,) = (tmp_path / "faults").iterdir()
    command, reason, text = kept.read_text().split("\n", 2)
    assert command.startswith("// bishengir-compile IN.mlir --target=Ascend910B3 ")
    assert reason == f"// {verdict.reason}"
    assert text == source.text


def test_internal_failure_of_verified_text_is_a_vendor_fault():
    """A value of the pipelined attention loop is left undefined by the compiler's own pass."""
    source = read_input(FOLDER / "accepted" / "f1_flash_128.mlir")
    lines = source.text.splitlines(keepends=True)
    keep = next(line for line in lines if line.lstrip().startswith("%keep"))
    inplace = keep.replace("ins(%v25, %v25", "ins(%m0, %v23")
    text = source.text.replace(keep, inplace)
    verdict = check_module(text, TARGET, "compile", ("enable-auto-multi-buffer=true",))
    assert verdict.status == "vendor-fault"
    assert "does not dominate" in verdict.reason


def test_time_limit_is_a_verdict_and_is_not_kept():
    source = read_input(FOLDER / "accepted" / "a1_ew_block.mlir")
    verdict = check_module(source.text, TARGET, source.route, time_limit=0.005)
    assert verdict.status == "time-limit"
    assert verdict.reason == "not compiled within 0.005 s"
    assert check(source).accepted


def test_second_check_runs_nothing(monkeypatch: pytest.MonkeyPatch):
    source = read_input(FOLDER / "wrong" / "no_erf.mlir")
    first = check(source)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("fusec.export.compile_cache.run_compiler", None)
    assert check(source) == first


def test_options_and_target_are_part_of_the_key(monkeypatch: pytest.MonkeyPatch):
    source = read_input(FOLDER / "accepted" / "a1_ew_block.mlir")
    check(source)
    seen: list[tuple[str, tuple[str, ...]]] = []

    def record(text: str, target: str, route: str, options: tuple[str, ...], limit: float):
        seen.append((target, options))
        return CompilerRun("compile", False, None, None, limit, None, text + route)

    monkeypatch.setattr("fusec.export.compile_cache.run_compiler", record)
    check_module(source.text, "Ascend910B1", "compile")
    check_module(source.text, TARGET, "compile", ("enable-auto-multi-buffer=true",))
    assert seen == [("Ascend910B1", ()), (TARGET, ("enable-auto-multi-buffer=true",))]


NETWORK = [
    read_input(FOLDER / folder / f"{name}.mlir")
    for folder, name in (
        ("accepted", "a1_ew_block"),
        ("accepted", "a2_mmT_relu_f16"),
        ("accepted", "a2_mm_bias_relu_f16"),
        ("accepted", "y1_gelu_tanh_res"),
        ("wrong", "no_erf"),
        ("forms", "conv_stride_2"),
        ("forms", "softmax_odd_rows"),
    )
]


def test_network_is_compiled_together(monkeypatch: pytest.MonkeyPatch):
    texts: list[str] = []
    original = ascend_check.check_module

    def counted(text: str, *rest: object, **named: object):
        texts.append(text)
        return original(text, *rest, **named)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(ascend_check, "check_module", counted)
    verdicts = check_kernels([kernel(source) for source in NETWORK], TARGET, jobs=2)
    assert [v.kernel.name for v in verdicts] == [source.name for source in NETWORK]
    refused = [v.kernel.name for v in verdicts if not v.verdict.accepted]
    assert refused == ["no_erf"]
    assert len(texts) == 2


def test_culprit_is_found_when_the_joint_module_fails():
    broken = kernel(NETWORK[0]).func_text.replace("a1_ew_block", "bad").replace("vrelu", "vxyz")
    kernels = [*map(kernel, NETWORK[:4]), ExportedKernel("bad", broken, "compile")]
    verdicts = check_kernels(kernels, TARGET)
    assert [v.verdict.status for v in verdicts] == ["accepted"] * 4 + ["refused"]
    assert verdicts[-1].verdict.reason.startswith("custom op 'hivm.hir.vxyz' is unknown (line ")


def test_unsplit_rows_do_not_blame_the_next_kernel():
    """In one module the kernels after one whose rows are not split lose their split."""
    half = kernel(read_input(FOLDER / "forms" / "half_bound_tails.mlir"))
    split = kernel(read_input(FOLDER / "accepted" / "y1_gelu_tanh_res.mlir"))
    first, second = check_kernels([half, split], TARGET)
    assert [f.rule for f in first.verdict.findings] == ["half-binding"]
    assert second.verdict.findings == ()


def test_equal_names_are_checked_alone():
    one, two = kernel(NETWORK[0]), kernel(NETWORK[6])
    renamed = ExportedKernel(one.name, two.func_text.replace(two.name, one.name), two.route)
    verdicts = check_kernels([one, renamed], TARGET)
    assert all(v.verdict.accepted for v in verdicts)
    assert verdicts[0].verdict.run.output != verdicts[1].verdict.run.output


@pytest.mark.parametrize(
    ("stderr", "signal", "message"),
    [
        ("in.mlir:3:4: error: no such thing\n  line\n", None, "no such thing (line 3)"),
        ('loc("in.mlir":7:1): error: overflow \n', None, "overflow (line 7)"),
        ("error: Failed to run BiShengHIR pipeline\nx: error: ub overflow\n", None, "ub overflow"),
        ("LLVM ERROR: gone\nStack dump:\n", 6, "the compiler crashed with signal 6: gone"),
        ("[ERROR] odd", None, "[ERROR] odd"),
        ("", None, "no message"),
    ],
)
def test_message(stderr: str, signal: int | None, message: str):
    assert compiler_message(CompilerRun("opt", False, 1, signal, 0.0, None, stderr)) == message
