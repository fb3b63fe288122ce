"""The driver of Huawei's compiler: commands, results, and what goes wrong around it."""

import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ascend_inputs import FOLDER, TARGET, AscendInput, needs_compiler, read_input
from fusec.export import bishengir
from fusec.export.bishengir import (
    CompilerMissing,
    CompilerRun,
    UnknownTarget,
    command_line,
    find_installation,
    run_compiler,
    vendor_target,
    verifier_accepts,
)

VECTOR = read_input(FOLDER / "accepted" / "a1_ew_block.mlir")
CUBE = read_input(FOLDER / "accepted" / "m3_f32.mlir")


def compile_input(source: AscendInput) -> CompilerRun:
    return run_compiler(source.text, TARGET, source.route, source.options)


@pytest.fixture
def forget_installation():
    find_installation.cache_clear()
    yield
    find_installation.cache_clear()


def test_commands():
    assert command_line("compile", TARGET, ("--enable-x=true",), "i", "o") == [
        "bishengir-compile",
        "i",
        "--target=Ascend910B3",
        "-enable-hivm-compile=true",
        "--enable-x=true",
        "-o",
        "o",
    ]
    spec = "--hacc-append-device-spec=target=Ascend910B3"
    pipeline = "--optimize-hivm-pipeline=disable-hivm-tensor-compile=true a=1 b"
    assert command_line("opt", TARGET, ("a=1", "--b"), "i", "o") == [
        "bishengir-opt",
        "i",
        spec,
        pipeline,
        "-o",
        "o",
    ]
    assert command_line("passes", TARGET, ("p", "--q"), "i", "o") == [
        "bishengir-opt",
        "i",
        spec,
        "--p",
        "--q",
        "-o",
        "o",
    ]


def test_targets():
    assert vendor_target("ascend910b3") == "Ascend910B3"
    assert vendor_target("Ascend910_9391") == "Ascend910_9391"
    with pytest.raises(UnknownTarget, match=r"ascend950.*Ascend910B1"):
        vendor_target("ascend950")


def test_missing_package(monkeypatch: pytest.MonkeyPatch, forget_installation: None):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    with pytest.raises(CompilerMissing, match=r"pip install fusec\[ascend\]"):
        run_compiler("module {}", TARGET, "compile")


def test_missing_binary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, forget_installation: None):
    (tmp_path / "emptynpuir").mkdir()
    (tmp_path / "emptynpuir" / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(bishengir, "PACKAGE", "emptynpuir")
    with pytest.raises(CompilerMissing, match=r"bishengir-compile is missing.*pip install"):
        find_installation()


def test_outcomes_are_told_apart():
    assert CompilerRun("opt", False, None, 11, 0.1, None, "").crashed
    assert CompilerRun("opt", False, None, None, 0.1, None, "").timed_out
    refused = CompilerRun("opt", False, 1, None, 0.1, None, "")
    assert not refused.crashed and not refused.timed_out


@needs_compiler
@pytest.mark.parametrize("source", [VECTOR, CUBE], ids=lambda source: source.name)
def test_compiles(source: AscendInput):
    run = compile_input(source)
    assert run.ok and run.exit_code == 0 and run.signal is None
    assert run.output is not None and "hacc.entry" in run.output
    assert 0 < run.seconds < 30


@needs_compiler
def test_broken_text():
    run = run_compiler("module { func.func @k( }", TARGET, "compile")
    assert not run.ok and run.exit_code == 1 and run.output is None
    assert run.stderr.startswith('loc("in.mlir":1:23): error:')
    assert not verifier_accepts("module { func.func @k( }")
    assert verifier_accepts(VECTOR.text)


@needs_compiler
def test_time_limit_leaves_no_process():
    run = run_compiler(VECTOR.text, TARGET, "compile", time_limit=0.005)
    assert run.timed_out and not run.ok and run.output is None
    assert run.seconds < 5
    running = subprocess.run(
        ["ps", "-eo", "ppid,comm"], capture_output=True, text=True, check=False
    )
    mine = [line for line in running.stdout.splitlines() if line.split()[0] == str(os.getpid())]
    assert not any("bishengir" in line for line in mine)


@needs_compiler
def test_crash_is_recognised():
    """A known fault: bishengir-compile does not survive a cube operator on buffers."""
    run = run_compiler(
        (FOLDER / "accepted" / "a2_mm_bias_relu_f16.mlir").read_text(), TARGET, "compile"
    )
    assert run.crashed and run.signal == 11 and run.exit_code is None and not run.ok


@needs_compiler
def test_parallel_runs_do_not_meet():
    sources = [VECTOR, CUBE] * 4
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(compile_input, sources))
    assert all(run.ok for run in runs)
    assert len({run.output for run in runs}) == 2
