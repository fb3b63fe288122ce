"""The plan of each objective for each network: kernels, bytes, modelled time, errors of numbers.

`bench/objectives.py [--quick] [NAME ...]`: the seven networks of examples/models by default; with
--quick nothing is run. `groups` and `MB` (of the tensors between groups, float32) carry a star over
what TVM 0.27 leaves or the project promises, `us` over what no fusion takes or another plan takes,
errors (relative to the largest output, against ONNX Runtime) over 1e-4. Times are modelled.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import fusec
from fusec.accuracy.compare import worst

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/support"))

from real_networks import NETWORKS, TOLERANCE, load

OBJECTIVES = ("time", "bytes", "kernels")

BOUNDS = {
    "resnet50": (54, 207.0),
    "mobilenet_v2": (52, 63.5),
    "efficientnet_b0": (92, 96.0),
    "convnext_tiny": (90, 250.0),
    "bert_base_s128": (100, 580.0),
    "gpt2_s128": (112, 660.0),
    "llama_4l_s128": (48, 78.0),
}
"""Most groups and MB under objective bytes."""


@dataclass
class Plan:
    """The figures of one plan."""

    groups: int
    mb: float
    us: float
    errors: tuple[float, float] | None


def plans_of(name: str, quick: bool) -> tuple[float, dict[str, Plan]]:
    """Modelled µs without fusion, and the plan of each objective."""
    case = load(NETWORKS[name])
    unfused = fusec.compile(case.model, fusion=False).profile()["modelled_us"]
    plans: dict[str, Plan] = {}
    for objective in OBJECTIVES:
        compiled = fusec.compile(case.model, objective=objective)
        profile = compiled.profile()
        errors = None
        if not quick:
            fused, placed = (
                worst(compiled.run(case.inputs, level), case.reference).max_rel_error
                for level in ("fused", "npu")
            )
            errors = fused, placed
        plans[objective] = Plan(
            profile["groups"],
            profile["gm_boundary_bytes"] / 1e6,
            profile["modelled_us"],
            errors,
        )
    return unfused, plans


def line(name: str, objective: str, unfused: float, plans: dict[str, Plan]) -> str:
    """One plan as a line of the table."""
    plan = plans[objective]
    groups, mb = BOUNDS.get(name, (10**6, 1e9)) if objective == "bytes" else (10**6, 1e9)
    most = min(unfused, *(p.us for p in plans.values())) if objective == "time" else 1e9
    errors = plan.errors or ()
    shown = " ".join(f"{e:8.1e}{'*' if e > TOLERANCE else ' '}" for e in errors)
    return (
        f"{name:18} {objective:8} {plan.groups:5}{'*' if plan.groups > groups else ' '} "
        f"{plan.mb:8.2f}{'*' if plan.mb > mb else ' '} {unfused:8.0f} "
        f"{plan.us:8.0f}{'*' if plan.us > most else ' '} x{unfused / plan.us:4.2f}  {shown}"
    )


def main() -> None:
    """Prints a line for each network and objective."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(BOUNDS), metavar="NAME")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    head = ("network", "plan", "groups", "MB", "unfused", "us", "gain", "err fused", "placed")
    print("{:18} {:8} {:6} {:>8}  {:>8} {:>8}  {:5} {:>9} {:>9}".format(*head))
    for name in options.names:
        unfused, plans = plans_of(name, options.quick)
        for objective in OBJECTIVES:
            print(line(name, objective, unfused, plans), flush=True)


if __name__ == "__main__":
    main()
