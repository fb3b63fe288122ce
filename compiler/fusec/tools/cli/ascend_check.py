"""`fusec ascend-check MODEL`: Huawei's kernel compiler judges every distinct kernel."""

from __future__ import annotations

import argparse
from pathlib import Path

from fusec.tools.cli.session import Progress, compile_model, open_model, print_json
from fusec.tools.status import ExitStatus


def run(options: argparse.Namespace) -> int:
    """Exports, compiles with the vendor's compiler and checks what comes back."""
    from fusec.export.ascend_check import check_kernels
    from fusec.export.kernels import export_kernels
    from fusec.schedule.target import module_target

    progress = Progress(options)
    model = open_model(options, progress)
    compiled = compile_model(model, options, progress)
    kernels, refused = export_kernels(compiled.unplaced)
    progress(f"{len(kernels)} kernels to Huawei's compiler")
    chip = module_target(compiled.npu).vendor
    verdicts = check_kernels(
        kernels,
        chip,
        jobs=options.jobs,
        time_limit=options.time_limit,
        faults=Path(options.fault_dir),
    )
    refusals = {
        **refused,
        **{v.kernel.name: v.verdict.reason for v in verdicts if not v.verdict.accepted},
    }
    faults = [v.kernel.name for v in verdicts if v.verdict.status == "vendor-fault"]
    warnings = {
        v.kernel.name: [f.message for f in v.verdict.findings if f.severity == "warning"]
        for v in verdicts
    }
    data = {
        "model": options.model,
        "target": options.target,
        "kernels": len(kernels) + len(refused),
        "accepted": sum(v.verdict.accepted for v in verdicts),
        "vendor_faults": len(faults),
        "refused": [{"kernel": name, "reason": reason} for name, reason in refusals.items()],
        "warnings": {name: found for name, found in warnings.items() if found},
    }
    if options.json:
        print_json(data)
    else:
        print(f"{data['accepted']} of {data['kernels']} kernels accepted for {chip}")
        for name, reason in refusals.items():
            print(f"refused {name}: {reason}")
    return ExitStatus.CHECK_FAILED if refusals else ExitStatus.OK
