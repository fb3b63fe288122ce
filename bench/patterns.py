"""Which named patterns fire how often in the networks, and what more names cost.

`patterns.py NAME ...` takes those networks only. Seconds are processor time of this machine.
"""

from __future__ import annotations

import gc
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

import fusec
from fusec.api import run_passes
from fusec.config.fusion_options import FusionOptions
from fusec.frontends.onnx.frontend import import_onnx
from fusec.fusion.fuse import fuse_module
from fusec.fusion.patterns import AUTOMATIC, library
from fusec_dialects.graph import FusedOp

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/support"))

from networks import mixed_chain
from real_networks import NETWORKS

NAMED = sorted(library().keys() - AUTOMATIC.keys())
FEW, MANY = 40, 400
LONG = 10_000
"""Operators of the graph that is measured next to the networks."""

MOST_MORE = 1.3
"""MANY names may take this many times as long as FEW."""


def prepared(name: str) -> ModuleOp:
    """A network, or the long chain, as graph-fuse sees it."""
    path = NETWORKS[name].path if name in NETWORKS else None
    if path is None:
        module, _ = import_onnx(mixed_chain(LONG))
    else:
        module = fusec.load(path, NETWORKS[name].shapes).module
    run_passes(module, "prepare")
    return module


def fired(name: str, objective: str) -> Counter[str]:
    """How many groups of a network each named pattern is."""
    module = prepared(name)
    fuse_module(module, FusionOptions(objective=objective))
    found = (op.pattern.data for op in module.walk() if isinstance(op, FusedOp))
    return Counter(pattern for pattern in found if pattern in library())


def seconds(name: str, names: Iterable[str]) -> float:
    """Processor time of fusion by these patterns alone, the better of two."""
    options = FusionOptions("patterns", only=frozenset(names))
    best = float("inf")
    for _ in range(2):
        module = prepared(name)
        gc.collect()
        start = time.process_time()
        fuse_module(module, options)
        best = min(best, time.process_time() - start)
    return best


def costs(name: str) -> tuple[float, float]:
    """Seconds with FEW and with MANY names, the few among the many."""
    names = random.Random(0).sample(NAMED, MANY)
    return seconds(name, names[:FEW]), seconds(name, names)


def print_fired(names: Sequence[str]) -> None:
    """A line for each pattern that fires anywhere: how often in each network."""
    for objective in ("time", "kernels"):
        found: dict[str, list[str]] = defaultdict(list)
        for name in names:
            for pattern, count in fired(name, objective).items():
                found[pattern].append(f"{count} {name}")
        print(f"named patterns that fire, --objective {objective}")
        for pattern in sorted(found):
            print(f"  {pattern:34} {', '.join(found[pattern])}", flush=True)


def print_costs(names: Sequence[str]) -> None:
    """A line for each network, and the long chain."""
    print(f"fusion by {FEW} and by {MANY} of {len(NAMED)} names, seconds (at most x{MOST_MORE})")
    for name in (*names, f"chain of {LONG}"):
        few, many = costs(name)
        print(f"  {name:20} {few:8.2f} {many:8.2f}  x{many / few:.2f}", flush=True)


def main() -> None:
    """Prints both tables."""
    names = sys.argv[1:] or [name for name, network in NETWORKS.items() if network.path is not None]
    print_fired(names)
    print_costs(names)


if __name__ == "__main__":
    main()
