"""What a merge may cost under each objective."""

from __future__ import annotations

import pytest

from fusec.config.fusion_options import FusionOptions
from fusec.fusion.dag import Dag
from fusec.fusion.legality import Legality
from fusec.fusion.objective import DEAREST
from fusec.fusion.planner import Planner
from fusec.hw import load_target


@pytest.mark.parametrize(
    ("objective", "after", "affordable"),
    [
        ("time", 1.0, True),
        ("time", 1.1, False),
        ("kernels", DEAREST, True),
        ("kernels", DEAREST + 0.1, False),
        ("bytes", DEAREST, True),
        ("bytes", DEAREST + 0.1, False),
    ],
)
def test_fewer_kernels_have_a_price(objective: str, after: float, affordable: bool) -> None:
    legality = Legality(load_target("ascend910b3"))
    planner = Planner(Dag(), legality, FusionOptions(objective=objective))
    assert planner.affordable(after, 1.0) == affordable
