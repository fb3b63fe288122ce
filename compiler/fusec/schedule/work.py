"""How long a kernel takes, from what its pipes have to do: the analytic model of one launch.

In: cycles of each pipe on the busiest core, bytes through gm. Out: an `Estimate`. Nothing here is
shared with the simulator. The constants are those of the target (`fusec/hw/*.toml`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fusec.hw import Target


@dataclass(frozen=True)
class Estimate:
    """Modelled time of one launch. `kind` is "vector", "cube" or "mixed"; `pipes` in cycles."""

    us: float
    cycles: float
    gm_bytes: int
    hbm_bytes: int
    kind: str
    pipes: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class Work:
    """What the busiest core does in `cycles`; `gm_bytes` cross the gm port of all cores together,
    `hbm_bytes` of them for the first time."""

    kind: str
    cycles: float
    gm_bytes: int
    hbm_bytes: int
    pipes: Mapping[str, float] = field(default_factory=dict[str, float])


def work_us(work: Work, target: Target) -> float:
    """launch + max(core, HBM, L2): what tiles are compared by."""
    core = target.cycles_to_us(work.cycles)
    hbm = work.hbm_bytes / (target.hbm_gbps * 1e3)
    l2 = work.gm_bytes / (target.l2_gbps * 1e3)
    return target.launch_us[work.kind] + max(core, hbm, l2)


def estimate_of(work: Work, target: Target) -> Estimate:
    """`work_us`, but not less than the floor of the kind of kernel."""
    us = max(work_us(work, target), target.floor_us[work.kind])
    return Estimate(us, work.cycles, work.gm_bytes, work.hbm_bytes, work.kind, dict(work.pipes))
