"""Does Huawei's compiler take a kernel, and is what it makes of it right? A verdict for a module,
or for many kernels.

Accepted means: it compiled, every call can be linked, and no rule of `inspect_output` sees wrong
code. Kernels are compiled together for speed and one by one where that fails.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fusec.export.bishengir import TIME_LIMIT, CompilerRun, Route, command_line, vendor_target
from fusec.export.compile_cache import compile_cached, verifier_accepts_cached
from fusec.export.exported_kernel import ExportedKernel, joint_module
from fusec.export.finding import Finding
from fusec.export.inspect_output import inspect_output
from fusec.export.library import library_functions

Status = Literal["accepted", "refused", "vendor-fault", "time-limit"]

JOINT_KERNELS = 16
"""Kernels compiled as one module: few enough that one bad kernel does not cost much, many enough
to hide the start.
"""
_NO_BINDING = "enable-auto-bind-sub-block=false"
_ERROR = re.compile(r'(?:in\.mlir"?:(\d+):\d+\)?: )?(?:LLVM ERROR|error): (.*)')
_LIMITS = re.compile(
    r"overflow, requires|failed to bind workspace|not support|only support|unsupported", re.I
)
"""Messages of passes that refuse an input for a reason; any other failure of a verified input is
the vendor's.
"""


@dataclass(frozen=True)
class Verdict:
    """`refused` by the compiler or by our check of its output; `vendor-fault` where the compiler
    itself broke down.
    """

    status: Status
    findings: tuple[Finding, ...]
    reason: str
    run: CompilerRun

    @property
    def accepted(self) -> bool:
        return self.status == "accepted"


@dataclass(frozen=True)
class KernelVerdict:
    kernel: ExportedKernel
    verdict: Verdict


def check_module(
    text: str,
    target: str,
    route: Route,
    options: tuple[str, ...] = (),
    *,
    time_limit: float = TIME_LIMIT,
    faults: Path | None = None,
) -> Verdict:
    """Compiles `text` and judges the result. Inputs that break the compiler are kept in the folder
    `faults`.

    Raises `CompilerMissing` without the wheel and `UnknownTarget`; everything else is a verdict.
    """
    run = compile_cached(text, target, route, options, time_limit)
    if run.ok and run.output is not None:
        binds = route != "passes" and _NO_BINDING not in (o.lstrip("-") for o in options)
        findings = inspect_output(run.output, library_functions(), text, binds_sub_blocks=binds)
        return _judge(findings, run)
    if run.timed_out:
        return Verdict("time-limit", (), f"not compiled within {time_limit:g} s", run)
    reason = compiler_message(run)
    if not run.crashed and (_LIMITS.search(run.stderr) or not verifier_accepts_cached(text)):
        return Verdict("refused", (), reason, run)
    if faults is not None:
        command = command_line(route, vendor_target(target), options, "IN.mlir", "OUT.mlir")
        _keep_fault(faults, text, command, reason)
    return Verdict("vendor-fault", (), reason, run)


def check_kernels(
    kernels: Sequence[ExportedKernel],
    target: str,
    jobs: int = 2,
    time_limit: float = TIME_LIMIT,
    *,
    faults: Path | None = None,
) -> list[KernelVerdict]:
    """A verdict for each kernel, in order. `jobs` compilers run at a time; `time_limit` is for
    one run.
    """

    def joint(chunk: Sequence[ExportedKernel]) -> dict[ExportedKernel, Verdict]:
        first = chunk[0]
        text = joint_module(chunk)
        verdict = check_module(text, target, first.route, first.options, time_limit=time_limit)
        return _split(chunk, verdict) if verdict.run.ok else {}

    def single(kernel: ExportedKernel) -> Verdict:
        return check_module(
            kernel.text, target, kernel.route, kernel.options, time_limit=time_limit, faults=faults
        )

    verdicts: dict[ExportedKernel, Verdict] = {}
    with ThreadPoolExecutor(max_workers=max(jobs, 1)) as pool:
        for found in pool.map(joint, _chunks(kernels)):
            verdicts |= found
        alone = [kernel for kernel in dict.fromkeys(kernels) if kernel not in verdicts]
        verdicts |= zip(alone, pool.map(single, alone), strict=True)
    return [KernelVerdict(kernel, verdicts[kernel]) for kernel in kernels]


def compiler_message(run: CompilerRun) -> str:
    """What went wrong in one line: the compiler's first error without its path, the signal first
    after a crash.
    """
    lines = [line.strip() for line in run.stderr.splitlines() if line.strip()]
    found = [match.groups(default="") for line in lines if (match := _ERROR.search(line))]
    errors = [f"{text.strip()} (line {line})" if line else text for line, text in found]
    telling = next((message for message in errors if not message.startswith("Failed to run")), "")
    if run.crashed:
        return f"the compiler crashed with signal {run.signal}" + (
            f": {telling}" if telling else ""
        )
    return telling or next(iter((*errors, *lines)), "no message")


def _judge(findings: Iterable[Finding], run: CompilerRun) -> Verdict:
    found = tuple(findings)
    wrong = next((f for f in found if f.severity == "error"), None)
    if wrong is None:
        return Verdict("accepted", found, "", run)
    return Verdict("refused", found, f"{wrong.message} [{wrong.rule} at {wrong.place}]", run)


def _chunks(kernels: Sequence[ExportedKernel]) -> list[list[ExportedKernel]]:
    """Kernels with the same route and options, names unique, by at most `JOINT_KERNELS`."""
    names = Counter(kernel.name for kernel in dict.fromkeys(kernels))
    groups: dict[tuple[str, tuple[str, ...]], list[ExportedKernel]] = {}
    for kernel in dict.fromkeys(kernels):
        if names[kernel.name] == 1:
            groups.setdefault((kernel.route, kernel.options), []).append(kernel)
    return [
        group[start : start + JOINT_KERNELS]
        for group in groups.values()
        for start in range(0, len(group), JOINT_KERNELS)
    ]


def _split(chunk: Sequence[ExportedKernel], verdict: Verdict) -> dict[ExportedKernel, Verdict]:
    """Findings to their kernels. In one module a kernel whose rows are not split takes the split
    from those after it: kernels with that warning are left out, to be compiled alone.
    """
    by_name: dict[str, list[Finding]] = {kernel.name: [] for kernel in chunk}
    for finding in verdict.findings:
        name = finding.function.removesuffix("_mix_aic").removesuffix("_mix_aiv")
        if name not in by_name:
            return {}
        by_name[name].append(finding)
    doubtful = {n for n, found in by_name.items() if any(f.rule == "half-binding" for f in found)}
    if len(chunk) == 1:
        doubtful.clear()
    return {k: _judge(by_name[k.name], verdict.run) for k in chunk if k.name not in doubtful}


def _keep_fault(folder: Path, text: str, command: list[str], reason: str) -> None:
    shown = " ".join(f'"{part}"' if " " in part else part for part in command)
    name = hashlib.sha256(f"{shown}\n{text}".encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.mlir").write_text(f"// {shown}\n// {reason}\n{text}")
