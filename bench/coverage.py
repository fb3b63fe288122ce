"""What becomes of ONNX files: for each, one row of a Markdown table, as in docs/coverage.md.

    python bench/coverage.py a.onnx 'b.onnx@x=1x3x320x320,y=1x8' [--ascend] [--details FILE.json]
    python bench/coverage.py 'c.onnx@x=1x512' --value sr=16000

Each file is imported, compiled, run fused and placed on seeded inputs, compared with ONNX Runtime,
profiled and, with --ascend, given to Huawei's compiler, all in a process of its own. What is
refused is tried once more with what has no kernel left to the host (--allow-opaque).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, cast

import onnx

import fusec
from fusec.accuracy.compare import worst
from fusec.accuracy.inputs import seeded_inputs
from fusec.accuracy.reference import run_reference
from fusec.frontends.shapes import parse_shapes
from fusec.frontends.values import parse_values
from fusec.tools.status import ExitStatus, guard

TITLES = ("file", "exporter, opset", "operators", "kernels", "error, fused", "error, placed")


def describe(path: str) -> dict[str, Any]:
    """What the file says of itself: the exporter, the opset, how often each operator occurs."""
    model = cast(Any, onnx).load(path, load_external_data=False)
    opsets = {o.domain: o.version for o in model.opset_import}
    nodes = Counter(
        f"{n.domain}.{n.op_type}" if n.domain not in ("", "ai.onnx") else n.op_type
        for n in model.graph.node
    )
    name = f"{model.producer_name} {model.producer_version}".strip() or "unnamed"
    return {"exporter": name, "opset": opsets.get("", 0), "nodes": dict(nodes.most_common())}


def measure(path: str, shapes: list[str], options: argparse.Namespace, found: Any) -> None:
    """Runs every step on one file, writes each result into `found`. Raises what fusec raises."""
    found["step"] = "import"
    start = time.process_time()
    opaque = bool(options.allow_opaque)
    values = parse_values(options.value)
    model = fusec.load(path, parse_shapes(shapes), allow_opaque=opaque, values=values)
    found["import_seconds"] = time.process_time() - start
    repeated = set(model.weights.repeated)
    model = model.seeded(0)
    found["step"] = "compile"
    start = time.process_time()
    compiled = fusec.compile(model, allow_opaque=opaque)
    found["compile_seconds"] = time.process_time() - start
    found["stages"] = compiled.seconds
    found["step"] = "profile"
    profile = compiled.profile()
    found["kernels"] = profile["kernels"]
    found["host_calls"] = profile["host_calls"]
    found["step"] = "reference"
    inputs = seeded_inputs(model.module, 0)
    reference = run_reference(path, model.weights, repeated, inputs)
    for level in ("fused", "npu"):
        found["step"] = level
        start = time.process_time()
        found[f"error_{level}"] = worst(compiled.run(inputs, level), reference).max_rel_error
        found[f"run_{level}_seconds"] = time.process_time() - start
    if options.ascend:
        found["step"] = "ascend"
        judge(compiled, found)
    found["step"] = ""


def judge(compiled: fusec.Compiled, found: dict[str, Any]) -> None:
    """Distinct kernels, how many Huawei's compiler accepts, and why not the others."""
    from fusec.export.ascend_check import check_kernels
    from fusec.export.bishengir import vendor_target
    from fusec.export.kernels import export_kernels

    kernels, unsaid = export_kernels(compiled.unplaced)
    with tempfile.TemporaryDirectory() as faults:
        chip = vendor_target(compiled.target.vendor)
        verdicts = check_kernels(kernels, chip, jobs=1, time_limit=60.0, faults=Path(faults))
    found["distinct"] = len(verdicts) + len(unsaid)
    found["accepted"] = sum(v.verdict.accepted for v in verdicts)
    found["refused"] = dict(unsaid) | {
        v.kernel.name: v.verdict.reason for v in verdicts if not v.verdict.accepted
    }


def row(found: dict[str, Any], ascend: bool) -> str:
    """One row of the table; a file that got stuck has the step and the message instead."""
    nodes: dict[str, int] = found.get("nodes", {})
    often = ", ".join(list(nodes)[:5]) + (f" and {len(nodes) - 5} more" if len(nodes) > 5 else "")
    cells = [found["name"], f"{found.get('exporter', '?')}, {found.get('opset', '?')}", often]
    if found["status"]:
        cells.append(f"stopped at {found.get('step', 'start')}: {found['message']}")
    else:
        host = f" + {found['host_calls']} on the host" if found["host_calls"] else ""
        cells.append(f"{found['kernels']}{host}")
        cells += [f"{found[f'error_{level}']:.1e}" for level in ("fused", "npu")]
        if ascend:
            cells.append(f"{found['accepted']} of {found['distinct']}")
        if "refusal" in found:
            cells.append(found["refusal"])
    return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"


def child(spec: str, options: argparse.Namespace) -> int:
    """Measures one file and writes what was found; a user's error becomes a message on stderr."""
    path, _, shapes = spec.partition("@")
    found: dict[str, Any] = {}

    def body() -> None:
        found.update(describe(path))
        measure(path, [s for s in shapes.split(",") if s], options, found)

    status = guard("fusec", body)
    Path(options.child).write_text(json.dumps(found))
    return status


def attempt(spec: str, flags: list[str], limit: float) -> dict[str, Any]:
    """The findings of one file, from a process of its own, ended after the time limit."""
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        command = [sys.executable, __file__, spec, "--child", result.name, *flags]
        found: dict[str, Any] = {"name": Path(spec.partition("@")[0]).name}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            return found | {"status": 1, "message": f"not done after {limit:g} s"}
        text = Path(result.name).read_text()
        message = " ".join(done.stderr.split()).removeprefix("fusec: error: ")
        return found | json.loads(text or "{}") | {"status": done.returncode, "message": message}


def sweep(spec: str, options: argparse.Namespace) -> dict[str, Any]:
    """The findings of one file; where it is refused, those with --allow-opaque and the refusal."""
    flags = ["--ascend"] if options.ascend else []
    flags += [word for text in options.value for word in ("--value", text)]
    if options.allow_opaque:
        return attempt(spec, [*flags, "--allow-opaque"], options.time_limit)
    found = attempt(spec, flags, options.time_limit)
    if found["status"] != ExitStatus.BAD_INPUT:
        return found
    again = attempt(spec, [*flags, "--allow-opaque"], options.time_limit)
    return found if again["status"] else again | {"refusal": found["message"]}


def main() -> int:
    """Prints the table, row by row as files are done."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("files", nargs="+", metavar="FILE[@x=AxB,...]")
    parser.add_argument("--ascend", action="store_true", help="ask Huawei's compiler as well")
    parser.add_argument("--allow-opaque", action="store_true", help="from the start")
    parser.add_argument(
        "--value",
        action="append",
        default=[],
        metavar="NAME=V",
        help="an input that becomes a constant, in all files; several times for several",
    )
    parser.add_argument("--details", help="where all findings go, as JSON")
    parser.add_argument("--time-limit", type=float, default=600.0, help="seconds for one file")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.files[0], options)
    titles = (*TITLES, *(["accepted"] if options.ascend else []), "only with --allow-opaque")
    print("| " + " | ".join(titles) + " |\n" + "|---" * len(titles) + "|", flush=True)
    everything: list[dict[str, Any]] = []
    for spec in options.files:
        everything.append(sweep(spec, options))
        print(row(everything[-1], options.ascend), flush=True)
        if options.details:
            Path(options.details).write_text(json.dumps(everything, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
