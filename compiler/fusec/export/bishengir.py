"""Huawei's AscendNPU IR compiler as a function: one module of HIVM text in, a `CompilerRun` out.

Every run has its own temporary folder, so runs in parallel do not meet. Exit status 0 means that a
module came back, not that it is right: `inspect_output` judges the text.
"""

import importlib.util
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from xdsl.utils.exceptions import DiagnosticException

Route = Literal["compile", "opt", "passes"]
"""compile: bishengir-compile (tensor-form cube, mixed, vector). opt: the HIVM pipeline of
bishengir-opt (memref-form cube). passes: bishengir-opt with the passes named in the options (own
addresses and flags).
"""

PACKAGE = "ascendnpuir"
DISTRIBUTION = "ascendnpu-ir"
TIME_LIMIT = 60.0

_910_TARGETS = (
    *("Ascend910B1", "Ascend910B2", "Ascend910B2C", "Ascend910B3", "Ascend910B4", "Ascend910B4-1"),
    *("Ascend910_9362", "Ascend910_9363", "Ascend910_9372"),
    *("Ascend910_9381", "Ascend910_9382", "Ascend910_9391", "Ascend910_9392"),
)
_TARGETS = {name.lower(): name for name in _910_TARGETS}

_HIVMC_STUB = """#!/bin/sh
if [ "$1" = "--version" ]; then echo "hivmc 0.3.0"; exit 0; fi
in="$1"; shift
while [ $# -gt 0 ]; do case "$1" in -o) out="$2"; shift 2;; *) shift;; esac; done
cp "$in" "$out"
"""
"""Stands in for `hivmc`, the closed back end in CANN: its input is the module that we want back."""


class CompilerMissing(DiagnosticException):
    """The package with Huawei's compiler is not installed, or lacks a file."""


class UnknownTarget(DiagnosticException):
    """A chip that this release of the compiler does not compile vector code for."""


@dataclass(frozen=True)
class Installation:
    """The installed `ascendnpu-ir` wheel: its version and its folders `bin` and `lib`."""

    version: str
    bin: Path
    lib: Path


@dataclass(frozen=True)
class CompilerRun:
    """One run of the vendor's compiler. `output` is the module that the closed back end would read.

    `exit_code` is None when a signal or the time limit ended the run, `signal` its number after a
    crash.
    """

    route: Route
    ok: bool
    exit_code: int | None
    signal: int | None
    seconds: float
    output: str | None
    stderr: str

    @property
    def crashed(self) -> bool:
        return self.signal is not None

    @property
    def timed_out(self) -> bool:
        return self.exit_code is None and self.signal is None


@lru_cache(maxsize=1)
def find_installation() -> Installation:
    """The installed compiler. Raises `CompilerMissing` with advice where there is none."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise CompilerMissing(
            f"Huawei's compiler (Python package {DISTRIBUTION}) is not installed; "
            "install it with: pip install fusec[ascend]"
        )
    root = Path(spec.submodule_search_locations[0])
    try:
        installed = version(DISTRIBUTION)
    except PackageNotFoundError:
        installed = "unknown"
    found = Installation(installed, root / "bin", root / "lib")
    for tool in ("bishengir-compile", "bishengir-opt"):
        if not os.access(found.bin / tool, os.X_OK):
            raise CompilerMissing(
                f"{found.bin / tool} is missing or not executable; "
                "reinstall it with: pip install --force-reinstall fusec[ascend]"
            )
    return found


def vendor_target(name: str) -> str:
    """The chip's name as the compiler's `--target` spells it, from any capitalisation.

    Raises `UnknownTarget` for chips outside the 910B and 910_93 families: the library shipped for
    the others has no vector functions, so nothing compiled for them could be checked.
    """
    known = _TARGETS.get(name.lower())
    if known is None:
        raise UnknownTarget(
            f"no AscendNPU IR export for target {name!r}; known: {', '.join(_910_TARGETS)}"
        )
    return known


def command_line(
    route: Route, target: str, options: tuple[str, ...], source: str, output: str
) -> list[str]:
    """The command, binary's name first. Options are spelled without leading dashes for every
    route.
    """
    names = tuple(option.lstrip("-") for option in options)
    if route == "compile":
        flags = [f"--target={target}", "-enable-hivm-compile=true", *(f"--{n}" for n in names)]
        return ["bishengir-compile", source, *flags, "-o", output]
    spec = f"--hacc-append-device-spec=target={target}"
    if route == "passes":
        return ["bishengir-opt", source, spec, *(f"--{n}" for n in names), "-o", output]
    pipeline = " ".join(("disable-hivm-tensor-compile=true", *names))
    return ["bishengir-opt", source, spec, f"--optimize-hivm-pipeline={pipeline}", "-o", output]


def run_compiler(
    text: str,
    target: str,
    route: Route,
    options: tuple[str, ...] = (),
    time_limit: float = TIME_LIMIT,
) -> CompilerRun:
    """Compiles one module of HIVM text. Raises `CompilerMissing`, `UnknownTarget`; all else is
    in the result.
    """
    command = command_line(route, vendor_target(target), options, "in.mlir", "out.mlir")
    return _run(command, text, route, time_limit)


def verifier_accepts(text: str, time_limit: float = TIME_LIMIT) -> bool:
    """Whether the vendor's parser and verifiers take the module, before any pass."""
    return _run(["bishengir-opt", "in.mlir", "-o", "out.mlir"], text, "passes", time_limit).ok


def _run(command: list[str], text: str, route: Route, time_limit: float) -> CompilerRun:
    binaries = find_installation().bin
    with TemporaryDirectory(prefix="fusec-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "in.mlir").write_text(text)
        stub = folder / "stub" / "hivmc"
        stub.parent.mkdir()
        stub.write_text(_HIVMC_STUB)
        stub.chmod(0o755)
        path = os.pathsep.join(
            (str(stub.parent), str(binaries), os.environ.get("PATH", os.defpath))
        )
        start = time.perf_counter()
        code, stderr = _wait(
            [str(binaries / command[0]), *command[1:]],
            {**os.environ, "PATH": path},
            folder,
            time_limit,
        )
        seconds = time.perf_counter() - start
        result = folder / "out.mlir"
        output = result.read_text() if result.is_file() else None
        stderr = stderr.replace(f"{folder.resolve()}/", "").replace(f"{folder}/", "")
    crash = -code if code is not None and code < 0 else None
    exit_code = code if crash is None else None
    ok = exit_code == 0 and bool(output)
    return CompilerRun(route, ok, exit_code, crash, seconds, output if ok else None, stderr)


def _wait(
    command: list[str], environment: dict[str, str], folder: Path, time_limit: float
) -> tuple[int | None, str]:
    """Exit status (negative: signal; None: the time limit) and what was printed to stderr."""
    with (folder / "stderr").open("w+", errors="replace") as stderr:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout=time_limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        stderr.seek(0)
        return code, stderr.read()
