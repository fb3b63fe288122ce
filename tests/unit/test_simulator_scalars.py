"""Scalar operators: the text of each, folded, against arithmetic done by hand."""

import math

import pytest

from fusec.simulator.form import Value
from fusec.simulator.scalars import OPERATIONS, fold

TOP = (1 << 64) - 1

CASES: list[tuple[str, tuple[Value, ...], str, Value]] = [
    ("addi", (7, -3), "index", 4),
    ("subi", (7, -3), "index", 10),
    ("muli", (7, -3), "index", -21),
    ("divui", (7, 2), "index", 3),
    ("divui", (-1, 2), "index", TOP // 2),
    ("remui", (7, 4), "index", 3),
    ("divsi", (-7, 2), "index", -3),
    ("divsi", (7, -2), "index", -3),
    ("remsi", (-7, 2), "index", -1),
    ("ceildivsi", (7, 2), "index", 4),
    ("ceildivsi", (-7, 2), "index", -3),
    ("ceildivui", (7, 2), "index", 4),
    ("floordivsi", (-7, 2), "index", -4),
    ("minsi", (-7, 2), "index", -7),
    ("maxsi", (-7, 2), "index", 2),
    ("minui", (-7, 2), "index", 2),
    ("maxui", (-7, 2), "index", TOP - 6),
    ("andi", (True, False), "i1", False),
    ("andi", (12, 10), "index", 8),
    ("ori", (12, 10), "index", 14),
    ("xori", (12, 10), "index", 6),
    ("shli", (3, 4), "index", 48),
    ("shrsi", (-16, 2), "index", -4),
    ("shrui", (-1, 60), "i64", 15),
    ("cmpi.eq", (3, 3), "i1", True),
    ("cmpi.ne", (3, 3), "i1", False),
    ("cmpi.slt", (-1, 0), "i1", True),
    ("cmpi.sle", (0, 0), "i1", True),
    ("cmpi.sgt", (-1, 0), "i1", False),
    ("cmpi.sge", (0, 0), "i1", True),
    ("cmpi.ult", (-1, 0), "i1", False),
    ("cmpi.ule", (0, 0), "i1", True),
    ("cmpi.ugt", (-1, 0), "i1", True),
    ("cmpi.uge", (-1, 0), "i1", True),
    ("select", (True, 3, 4), "index", 3),
    ("select", (False, 3, 4), "index", 4),
    ("addf", (0.1, 0.2), "f32", 0.30000001192092896),
    ("subf", (1.0, 0.25), "f32", 0.75),
    ("mulf", (65504.0, 2.0), "f16", math.inf),
    ("divf", (1.0, 3.0), "f16", 0.333251953125),
    ("divf", (1.0, 0.0), "f32", math.inf),
    ("divf", (-1.0, 0.0), "f32", -math.inf),
    ("negf", (2.5,), "f32", -2.5),
    ("maximumf", (-1.0, 2.0), "f32", 2.0),
    ("minimumf", (-1.0, 2.0), "f32", -1.0),
    ("to_float", (16777217,), "f32", 16777216.0),
    ("to_int", (-2.7,), "i32", -2),
    ("iteration", (13, 1, 4, 2), "index", 1),
]


@pytest.mark.parametrize(("op", "args", "dtype", "want"), CASES)
def test_operator(op: str, args: tuple[Value, ...], dtype: str, want: Value) -> None:
    got = fold(op, args, dtype, "f32" if dtype in ("f16", "f32") else "index")
    assert got == want
    assert type(got) is type(want)


def test_every_operator_is_tested() -> None:
    assert {op for op, *_ in CASES} == set(OPERATIONS)


@pytest.mark.parametrize("args", [(math.nan, 1.0), (1.0, math.nan)])
def test_maximum_and_minimum_keep_nan(args: tuple[float, float]) -> None:
    for op in ("maximumf", "minimumf"):
        got = fold(op, args, "f32", "f32")
        assert isinstance(got, float)
        assert math.isnan(got)


def test_nothing_by_nothing_is_nan() -> None:
    got = fold("divf", (0.0, 0.0), "f32", "f32")
    assert isinstance(got, float)
    assert math.isnan(got)
