"""Measures what the project promises, network by network, and prints a table; never fails a build.

`make bench` runs all of it. `bench.py NAME ...` measures those networks only (a part of a name is
enough), `--quick` leaves out Huawei's compiler and the long chains, `--list` prints the names.
Seconds are processor time of this machine, so compare ratios; times of kernels are modelled.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TypeVar

import numpy as np
from onnx import TensorProto, helper

import fusec
from fusec.accuracy.compare import worst
from fusec.export.ascend_check import check_kernels
from fusec.export.bishengir import CompilerMissing, find_installation
from fusec.export.kernel_contents import kernel_contents
from fusec.export.kernels import export_kernels

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/support"))

from patterns import print_costs, print_fired

from networks import perceptron
from real_networks import EXAMPLES, NETWORKS, TOLERANCE, Network, load

FUSION_SECONDS, PLACED_SECONDS, RUN_SECONDS = 2.0, 10.0, 20.0
"""Limits of import and fusion, of everything up to placed npu IR, of a run of it."""

MEMORY_GIB = 4.0
"""Most memory of the process that measures one network."""

ACCEPTED = 0.95
"""Least part of all distinct kernels that Huawei's compiler accepts."""

PEERS = {
    "resnet50": (54, 55, 54, 86),
    "light_resnet50": (89, 58, 57, 89),
    "mobilenet_v2": (52, 53, 52, 62),
    "efficientnet_b0": (97, 114, 113, 171),
    "convnext_tiny": (121, 120, 204, 248),
    "bert_base_s128": (191, 195, 222, 255),
    "gpt2_s128": (211, 207, 196, 218),
    "llama_4l_s128": (81, 100, 107, 196),
}
"""Kernels that TVM 0.27 Relax, IREE, OpenVINO and ONNX Runtime (extended) leave, views not counted;
measured once on the same files.
"""

SEVEN = [name for name, n in NETWORKS.items() if n.path is not None and n.path.parent == EXAMPLES]
"""The networks of examples/models."""

T = TypeVar("T")


@dataclass
class Row:
    """The figures of one network, as they are printed; those over a limit carry a star."""

    network: str
    load_fuse: str = ""
    placed: str = ""
    run: str = ""
    kernels: str = ""
    unfused: str = ""
    best_peer: str = ""
    mb: str = ""
    modelled_us: str = ""
    gain: str = ""
    err_fused: str = ""
    err_placed: str = ""
    accepted: str = ""
    gib: str = ""
    refused: dict[str, str] = field(default_factory=dict[str, str])
    counts: tuple[int, int] = (0, 0)
    failure: str = ""


COLUMNS = [f.name for f in fields(Row) if f.name not in ("refused", "counts", "failure")]
HEADS = {
    "load_fuse": "import+fuse s",
    "placed": "to placed s",
    "run": "run s",
    "best_peer": "best peer",
    "mb": "MB gm, unfused/fused",
    "modelled_us": "us, unfused/fused",
    "err_fused": "error fused",
    "err_placed": "error placed",
}
WIDTHS = {"network": 20, "mb": 20, "modelled_us": 17}


def timed(body: Callable[[], T]) -> tuple[T, float]:
    """A result and the processor seconds that it took."""
    start = time.process_time()
    result = body()
    return result, time.process_time() - start


def marked(value: float, limit: float, text: str) -> str:
    """The figure, with a star where it is over its limit."""
    return text + ("*" if value > limit else "")


def load_modules() -> None:
    """Compiles a small network, so that no figure has the loading of Python modules in it."""
    fusec.compile(fusec.load(perceptron()))


def measure(name: str, network: Network, ascend: bool) -> Row:
    """Every figure of one network: kernels, errors and seconds as fused for the fewest kernels,
    bytes and modelled time as fused for time.
    """
    row = Row(name)
    path = network.path
    if path is None:
        row.failure = f"{network.place[0]} is not installed"
        return row
    load_modules()
    start = time.thread_time()  # of one thread: those of the reference spin on for a while
    fusec.load(path, network.shapes)
    importing = time.thread_time() - start
    case = load(network)
    begun: dict[str, float] = {}

    def begins(stage: str) -> None:
        begun[stage] = time.thread_time()

    compiled = fusec.compile(case.model, objective="kernels", progress=begins)
    fusing = importing + begun["compile"] - begun["prepare"]
    placing = importing + time.thread_time() - begun["prepare"]
    row.load_fuse = marked(fusing, FUSION_SECONDS, f"{fusing:.1f}")
    row.placed = marked(placing, PLACED_SECONDS, f"{placing:.1f}")
    fewest = compiled.profile()
    fastest = fusec.compile(case.model).profile()
    unfused = fusec.compile(case.model, fusion=False).profile()
    count = fewest["kernels"]
    row.kernels = marked(count, network.kernels, f"{count}/{network.kernels}")
    row.unfused = str(unfused["kernels"])
    if name in PEERS:
        row.best_peer = str(min(PEERS[name]))
    row.mb = f"{unfused['gm_bytes'] / 1e6:.0f}/{fastest['gm_bytes'] / 1e6:.0f}"
    row.modelled_us = f"{unfused['modelled_us']:.0f}/{fastest['modelled_us']:.0f}"
    row.gain = f"x{unfused['modelled_us'] / fastest['modelled_us']:.2f}"

    found, _ = timed(lambda: compiled.run(case.inputs, "fused"))
    error = worst(found, case.reference).max_rel_error
    row.err_fused = marked(error, TOLERANCE, f"{error:.1e}")
    found, seconds = timed(lambda: compiled.run(case.inputs, "npu"))
    error = worst(found, case.reference).max_rel_error
    row.err_placed = marked(error, TOLERANCE, f"{error:.1e}")
    row.run = marked(seconds, RUN_SECONDS, f"{seconds:.1f}")
    if ascend:
        judge(row, compiled)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    row.gib = marked(peak, MEMORY_GIB, f"{peak:.1f}")
    return row


def judge(row: Row, compiled: fusec.Compiled) -> None:
    """How many of the distinct kernels Huawei's compiler accepts, and why not the others."""
    kernels, unsaid = export_kernels(compiled.unplaced)
    row.refused |= unsaid
    for verdict in check_kernels(kernels, compiled.target.vendor):
        if not verdict.verdict.accepted:
            row.refused[verdict.kernel.name] = verdict.verdict.reason
    contents = kernel_contents(compiled.fused)
    row.refused = {f"{k} of {contents.get(k, '')}": why for k, why in row.refused.items()}
    total = len(kernels) + len(unsaid)
    row.counts = total - len(row.refused), total
    row.accepted = f"{row.counts[0]}/{row.counts[1]}"


def line(cells: dict[str, str]) -> str:
    """One line of the table."""
    parts: list[str] = []
    for column in COLUMNS:
        width = max(WIDTHS.get(column, 0), len(HEADS.get(column, column)), 8)
        parts.append(f"{cells[column]:{'<' if column == 'network' else '>'}{width}}")
    return "  ".join(parts)


def apart(name: str, ascend: bool) -> Row:
    """The figures of a network, measured by a process of its own; a failure is one of them."""
    command = [sys.executable, __file__, "--json", name]
    done = subprocess.run(
        command + ([] if ascend else ["--quick"]), capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return Row(**json.loads(done.stdout))
    said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
    return Row(name, failure=said[-1])


def table(names: Sequence[str], ascend: bool) -> list[Row]:
    """Measures the networks and prints a row for each as it is ready."""
    print(line({c: HEADS.get(c, c) for c in COLUMNS}), flush=True)
    rows: list[Row] = []
    for name in names:
        row = apart(name, ascend)
        text = f"{name}  {row.failure}" if row.failure else line(asdict(row))
        print(text, flush=True)
        rows.append(row)
    return rows


def notes(rows: Sequence[Row]) -> None:
    """What the table means, and the kernels that are refused."""
    print(f"  * over its limit: {FUSION_SECONDS:g}, {PLACED_SECONDS:g} and {RUN_SECONDS:g} s;")
    print(f"    kernels as given after the stroke; errors {TOLERANCE:g}; {MEMORY_GIB:g} GiB")
    print(
        "  kernels, errors and seconds: --objective kernels; MB and us: --objective time, modelled"
    )
    print("  best peer: kernels left by the best of TVM, IREE, OpenVINO and ONNX Runtime")
    accepted, total = (sum(row.counts[i] for row in rows) for i in (0, 1))
    if total:
        part = accepted / total
        print(f"  Huawei's compiler accepts {accepted} of {total} kernels: {part:.1%}", end=" ")
        print(f"(at least {ACCEPTED:.0%})")
    for row in rows:
        for kernel, reason in row.refused.items():
            print(f"    {row.network} @{kernel}: {' '.join(reason.split())[:200]}")


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
            _, seconds = timed(lambda path=path: fusec.compile(fusec.load(path)))
        ratio = "" if before is None else f"x{seconds / before:.2f} for twice as many"
        print(f"  {length:6} operators {seconds:8.1f}  {ratio or 'at most x2.3'}", flush=True)
        before, length = seconds, 2 * length


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description="measures networks and prints a table")
    parser.add_argument("names", nargs="*", help="networks, or parts of their names; default all")
    parser.add_argument("--quick", action="store_true", help="without Huawei's compiler and chains")
    parser.add_argument("--list", action="store_true", help="print the names of the networks")
    parser.add_argument("--json", action="store_true", help="figures of one network as JSON")
    parser.add_argument("--chain", type=int, default=16000, help="length of the longest chain")
    options = parser.parse_args()
    if options.list:
        print(*NETWORKS, sep="\n")
        return
    names: list[str] = []
    for part in options.names or [""]:
        found = [part] if part in NETWORKS else [name for name in NETWORKS if part in name]
        if not found:
            parser.error(f"no network is named {part}; there are {', '.join(NETWORKS)}")
        names += found
    ascend = not options.quick
    if options.json:
        if len(names) != 1:
            parser.error(f"--json measures one network, not {len(names)}")
        np.seterr(all="ignore")
        print(json.dumps(asdict(measure(names[0], NETWORKS[names[0]], ascend))))
        return
    if ascend:
        try:
            find_installation()
        except CompilerMissing as error:
            print(f"  without Huawei's compiler: {error}")
            ascend = False
    notes(table(names, ascend))
    print_fired([name for name in names if NETWORKS[name].path is not None])
    if not options.names and not options.quick:
        print_costs(SEVEN)
        scaling(options.chain)


if __name__ == "__main__":
    main()
