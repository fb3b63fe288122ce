"""`fusec ascend-check MODEL`: Huawei's kernel compiler judges every distinct kernel."""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass
from pathlib import Path

from fusec.export.ascend_check import KernelVerdict, check_kernels
from fusec.export.bishengir import (
    CompilerMissing,
    UnknownTarget,
    find_installation,
    vendor_target,
)
from fusec.export.exported_kernel import ExportedKernel
from fusec.export.kernel_contents import kernel_contents
from fusec.export.kernels import export_kernels, host_calls
from fusec.hw import DEFAULT_TARGET, Target, load_target
from fusec.tools.cli.session import Progress, compile_model, open_model, print_json
from fusec.tools.status import CannotWriteError, ExitStatus, UsageError


def run(options: argparse.Namespace) -> int:
    """Exports, compiles with the vendor's compiler and checks what comes back."""
    _check_installed(options)
    progress = Progress(options)
    model = open_model(options, progress)
    if model.level == "npu":
        raise UsageError(
            f"'{options.model}' is npu IR; ascend-check starts from the graph level, because "
            "Huawei's compiler takes kernels without addresses"
        )
    compiled = compile_model(model, options, progress)
    kernels, unsaid = export_kernels(compiled.unplaced)
    chip = _vendor_chip(compiled.target)
    progress(f"giving {len(kernels)} kernels to Huawei's compiler, for {chip}")
    verdicts = _judge(kernels, chip, options)
    found = _report(verdicts, unsaid, host_calls(compiled.unplaced))
    contents = kernel_contents(compiled.fused)
    for row in found.refused:
        row["operators"] = contents.get(row["kernel"], "")
    if options.json:
        print_json(
            {"model": options.model, "target": compiled.target.name, "chip": chip, **asdict(found)}
        )
    else:
        print(f"{found.accepted} of {found.kernels} kernels accepted for {chip}")
        for row in found.refused:
            of = f" of {row['operators']}" if row["operators"] else ""
            print(f"{row['status']} {row['kernel']}{of}: {row['reason']}")
        for name, count in found.host_calls.items():
            print(f"left out: {name} is computed by the host ({count})")
    return ExitStatus.CHECK_FAILED if found.refused else ExitStatus.OK


def _check_installed(options: argparse.Namespace) -> None:
    """What can be known before the model is read."""
    try:
        find_installation()
    except CompilerMissing as error:
        raise UsageError(str(error)) from error
    if options.target is not None:
        _vendor_chip(load_target(options.target))


def _vendor_chip(target: Target) -> str:
    if not target.vendor:
        raise UsageError(
            f"--target {target.name}: it is no chip of Huawei's; say --target {DEFAULT_TARGET}"
        )
    try:
        return vendor_target(target.vendor)
    except UnknownTarget as error:
        raise UsageError(f"--target {target.name}: {error}") from error


def _judge(
    kernels: list[ExportedKernel], chip: str, options: argparse.Namespace
) -> list[KernelVerdict]:
    folder = Path(options.fault_dir)
    try:
        return check_kernels(
            kernels, chip, jobs=options.jobs, time_limit=options.time_limit, faults=folder
        )
    except OSError as error:
        if not str(error.filename or "").startswith(str(folder)):
            raise
        reason = (error.strerror or str(error)).lower()
        raise CannotWriteError(
            f"cannot keep an input that breaks Huawei's compiler in '{folder}': {reason}; "
            "name another folder by --fault-dir"
        ) from error


@dataclass(frozen=True)
class Report:
    """`kernels` are the distinct launches; `refused` names each that is not accepted, what it
    computes, and why.

    `vendor_faults` of those are faults of the vendor's compiler, their inputs kept in a folder.
    `host_calls` are the operators that the host computes, and how often.
    """

    kernels: int
    accepted: int
    vendor_faults: int
    refused: list[dict[str, str]]
    warnings: dict[str, list[str]]
    host_calls: dict[str, int]


def _report(
    verdicts: list[KernelVerdict], unsaid: dict[str, str], left_out: dict[str, int]
) -> Report:
    """`unsaid`: kernels that cannot be said in the vendor's dialect, with the reason; `left_out`:
    operators that are no kernels."""
    refused = [{"kernel": k, "status": "refused", "reason": r} for k, r in unsaid.items()]
    refused += [
        {"kernel": v.kernel.name, "status": v.verdict.status, "reason": v.verdict.reason}
        for v in verdicts
        if not v.verdict.accepted
    ]
    warnings = {
        v.kernel.name: [f.message for f in v.verdict.findings if f.severity == "warning"]
        for v in verdicts
    }
    return Report(
        kernels=len(verdicts) + len(unsaid),
        accepted=sum(v.verdict.accepted for v in verdicts),
        vendor_faults=sum(v.verdict.status == "vendor-fault" for v in verdicts),
        refused=refused,
        warnings={name: found for name, found in warnings.items() if found},
        host_calls=left_out,
    )
