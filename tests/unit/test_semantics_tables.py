"""Fusion classes and operation counts cover the table of operators."""

import subprocess
import sys

import pytest

from fusec.semantics import CLASSES, AttrValue, FusionClass, SemanticsError, flops, fusion_class
from fusec.semantics.composite import COMPOSITE
from fusec.semantics.contraction import CONTRACTION
from fusec.semantics.convolution import CONVOLUTION
from fusec.semantics.elementwise import ELEMENTWISE
from fusec.semantics.functions import FUNCTIONS
from fusec.semantics.indexed import INDEXED
from fusec.semantics.movement import MOVEMENT
from fusec.semantics.reduction import REDUCTION
from fusec.semantics.sampling import SAMPLING
from fusec.semantics.window import WINDOW


def test_every_operator_has_a_class() -> None:
    plain = (CONTRACTION, CONVOLUTION, ELEMENTWISE, MOVEMENT, REDUCTION, WINDOW)
    families = (*plain, FUNCTIONS, INDEXED, SAMPLING, COMPOSITE)
    assert sorted(CLASSES) == sorted(name for family in families for name in family)
    elementwise = (*ELEMENTWISE, *FUNCTIONS)
    assert all(fusion_class(name) is FusionClass.ELEMENTWISE for name in elementwise)


def test_classes() -> None:
    assert fusion_class("softmax") is FusionClass.NORM
    assert fusion_class("reshape") is FusionClass.VIEW
    assert fusion_class("transpose") is FusionClass.MOVEMENT
    assert fusion_class("no_such_operator") is FusionClass.OPAQUE
    assert FusionClass.CONTRACTION == "contraction"


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("fusion_class('add')", {"numpy", "ml_dtypes"}),
        ("evaluate('neg', [__import__('numpy').ones(2)], {})", {"ml_dtypes"}),
    ],
)
def test_slow_imports_wait_until_needed(code: str, absent: set[str]) -> None:
    program = (
        f"import sys; from fusec import semantics; semantics.{code};"
        f"assert not {absent} & set(sys.modules)"
    )
    path = {"PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=path)


Shape = tuple[int, ...]


@pytest.mark.parametrize(
    ("name", "in_shapes", "out_shape", "attrs", "count"),
    [
        ("add", [(4, 1), (3,)], (4, 3), {}, 12),
        ("max", [(2,), (2,), (2,)], (2,), {}, 4),
        ("clip", [(5,), None, ()], (5,), {}, 5),
        ("reduce_sum", [(4, 5)], (4, 1), {"axes": (1,)}, 20),
        ("softmax", [(2, 3)], (2, 3), {}, 30),
        ("matmul", [(7, 25, 30), (30, 20)], (7, 25, 20), {}, 2 * 7 * 25 * 20 * 30),
        ("matmul", [(30,), (30,)], (), {}, 60),
        ("matmul", [(4, 0), (0, 4)], (4, 4), {}, 0),
        ("gemm", [(30, 25), (30, 20), (20,)], (25, 20), {"trans_a": True}, 500 * 61),
        ("conv", [(1, 4, 9, 9), (6, 2, 3, 3)], (1, 6, 7, 7), {"group": 2}, 2 * 294 * 18),
        ("conv", [(1, 9, 9, 4), (3, 3, 4, 6), (6,)], (1, 7, 7, 6), {"w_layout": "HWIO"}, 294 * 73),
        ("attention", [(2, 5, 8), (2, 7, 8), (2, 7, 4)], (2, 5, 4), {"scale": 1.0}, 70 * 30),
        ("max_pool", [(1, 2, 6, 6)], (1, 2, 3, 3), {"kernel_shape": (2, 2)}, 72),
        ("reshape", [(4, 5)], (20,), {"shape": (20,)}, 0),
        ("transpose", [(4, 5)], (5, 4), {}, 0),
    ],
)
def test_flops(
    name: str,
    in_shapes: list[Shape | None],
    out_shape: Shape,
    attrs: dict[str, AttrValue],
    count: int,
) -> None:
    assert flops(name, in_shapes, [out_shape], attrs) == count


def test_flops_of_a_missing_shape() -> None:
    with pytest.raises(SemanticsError, match="matmul: a shape is missing"):
        flops("matmul", [(2, 3)], [(2, 2)], {})
