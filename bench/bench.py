"""Measures what the project promises and prints it; never fails a build. `make bench` calls it.

Seconds are medians of several runs on this machine, so compare ratios; times of kernels are
modelled.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

import fusec
from fusec.accuracy.compare import worst
from fusec.accuracy.inputs import seeded_inputs
from fusec.accuracy.reference import run_reference
from fusec.api import Compiled

ROOT = Path(__file__).resolve().parents[1]
NETWORKS = {
    "light_resnet50": Path(onnx.__file__).parent / "backend/test/data/light/light_resnet50.onnx",
    "bert_base_s128": ROOT / "examples/models/bert_base_s128.onnx",
}
RUNS = 3


def median_seconds(body: Callable[[], object], runs: int = RUNS) -> float:
    """Median wall time of several runs."""
    times: list[float] = []
    for _ in range(runs):
        start = time.perf_counter()
        body()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def row(what: str, value: str, promise: str = "") -> None:
    """One figure, with what was promised."""
    print(f"  {what:52} {value:>14}  {promise}", flush=True)


def network(name: str, path: Path) -> None:
    """Every promised figure of one network."""
    print(f"{name}")
    row("seconds to import", f"{median_seconds(lambda: fusec.load(path)):.2f}")
    model = fusec.load(path)
    replaced = set(model.weights.repeated)
    model = model.seeded(0)
    results: list[Compiled] = []
    seconds = median_seconds(lambda: results.append(fusec.compile(model, objective="kernels")))
    compiled = results[-1]
    stages = compiled.seconds
    fusion = stages["prepare"] + stages["optimise"]
    row("seconds to fuse (prepare, optimise)", f"{fusion:.2f}", "import and fusion: 2")
    row("seconds to placed npu IR", f"{seconds:.2f}", "10")
    profile = compiled.profile()
    baseline = fusec.compile(model, fusion=False)
    unfused = baseline.profile()
    limit = "60" if name == "light_resnet50" else "170"
    row("kernels, objective kernels", str(profile["kernels"]), limit)
    row("kernels unfused", str(unfused["kernels"]))
    for key, text in (("gm_bytes", "MB over global memory"), ("modelled_us", "modelled us")):
        scale = 1e6 if key == "gm_bytes" else 1
        row(f"{text}, unfused / fused", f"{unfused[key] / scale:.0f} / {profile[key] / scale:.0f}")
    inputs = seeded_inputs(model.module, 0)
    reference = run_reference(str(path), model.weights, replaced, inputs)
    for level in ("fused", "npu"):
        start = time.perf_counter()
        found = compiled.run(inputs, level)
        seconds = time.perf_counter() - start
        error = worst(found, reference).max_rel_error
        row(f"relative error at level {level}", f"{error:.2g}", "1e-4")
        row(f"seconds to run at level {level}", f"{seconds:.1f}", "20" if level == "npu" else "")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    row("peak memory of this process so far, GiB", f"{peak:.2f}", "4")


def chain(length: int) -> bytes:
    """A model of `length` elementwise operators one behind the other."""
    kinds = ("Relu", "Exp", "Neg", "Sigmoid")
    nodes = [
        helper.make_node(kinds[i % 4], [f"v{i}"], [f"v{i + 1}"], name=f"n{i}")
        for i in range(length)
    ]
    value = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, [64, 64]) for n in ("v0", f"v{length}")
    ]
    graph = helper.make_graph(nodes, "chain", value[:1], value[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]).SerializeToString()


def scaling(longest: int) -> None:
    """Seconds to placed npu IR for chains of doubling length."""
    print("chain of elementwise operators, seconds to placed npu IR")
    before = None
    length = 1000
    while length <= longest:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "chain.onnx"
            path.write_bytes(chain(length))
            seconds = median_seconds(lambda path=path: fusec.compile(fusec.load(path)), 1)
        ratio = "" if before is None else f"x{seconds / before:.2f} for twice as many"
        row(f"{length} operators", f"{seconds:.1f}", ratio or "at most x2.3")
        before, length = seconds, 2 * length


def main() -> None:
    """Prints all figures."""
    np.seterr(all="ignore")
    for name, path in NETWORKS.items():
        network(name, path)
    scaling(int(sys.argv[1]) if len(sys.argv) > 1 else 16000)


if __name__ == "__main__":
    main()
