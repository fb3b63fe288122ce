"""Compiles and runs two real networks and prints what fusion gained; `make demo` calls it.

ResNet-50 comes with the `onnx` package, BERT-base lies beside this file. Their weights are one
repeated number, so seeded random ones are drawn. Times of kernels are modelled, seconds measured.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import onnx

import fusec
from fusec.accuracy.compare import worst
from fusec.accuracy.inputs import seeded_inputs
from fusec.accuracy.reference import run_reference
from fusec.export.ascend_check import check_kernels
from fusec.export.kernels import export_kernels

HERE = Path(__file__).resolve().parent
NETWORKS = {
    "light_resnet50": Path(onnx.__file__).parent / "backend/test/data/light/light_resnet50.onnx",
    "bert_base_s128": HERE / "models/bert_base_s128.onnx",
}

ROWS = (
    "operators",
    "kernels, unfused",
    "kernels, fused",
    "MB over global memory, unfused",
    "MB over global memory, fused",
    "modelled us, unfused",
    "modelled us, fused",
    "largest relative error against ONNX Runtime",
    "kernels accepted by Huawei's compiler",
    "seconds to compile",
)


def progress(text: str) -> None:
    """One line on stderr for each step of the long work."""
    print(f"  {text}", file=sys.stderr, flush=True)


def column(path: Path, objective: str) -> list[str]:
    """The figures of one network, in the order of ROWS."""
    progress(f"reading {path.name}")
    model = fusec.load(path)
    replaced = set(model.weights.repeated)
    model = model.seeded(0)
    inputs = seeded_inputs(model.module, 0)

    progress("compiling, fused and unfused")
    start = time.perf_counter()
    compiled = fusec.compile(model, objective=objective)
    seconds = time.perf_counter() - start
    baseline = fusec.compile(model, fusion=False)

    progress("timing the kernels (modelled)")
    fused, unfused = compiled.profile(), baseline.profile()

    progress("running the placed kernels, and ONNX Runtime")
    reference = run_reference(str(path), model.weights, replaced, inputs)
    error = worst(compiled.run(inputs), reference)

    progress("asking Huawei's compiler")
    kernels, refused = export_kernels(compiled.unplaced)
    verdicts = check_kernels(kernels, compiled.target.vendor)
    accepted = sum(v.verdict.accepted for v in verdicts)
    return [
        str(fused["operators"]),
        str(unfused["kernels"]),
        str(fused["kernels"]),
        f"{unfused['gm_bytes'] / 1e6:.1f}",
        f"{fused['gm_bytes'] / 1e6:.1f}",
        f"{unfused['modelled_us']:.0f}",
        f"{fused['modelled_us']:.0f}",
        f"{error.max_rel_error:.2g}",
        f"{accepted} of {len(kernels) + len(refused)}",
        f"{seconds:.1f}",
    ]


def main() -> None:
    """Prints the table."""
    objective = sys.argv[1] if len(sys.argv) > 1 else "time"
    columns = [column(path, objective) for path in NETWORKS.values()]
    width = max(map(len, ROWS))
    print(f"{f'objective: {objective}':{width}}  " + "  ".join(f"{n:>16}" for n in NETWORKS))
    for row, cells in zip(ROWS, zip(*columns, strict=True), strict=True):
        print(f"{row:{width}}  " + "  ".join(f"{c:>16}" for c in cells))
    print("Times of kernels are modelled by a simulator; seconds are of this machine.")


if __name__ == "__main__":
    main()
