"""How many floating-point operations an operator does: a function of shapes and attributes only."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import cast

from fusec.semantics.base import AttrValue, SemanticsError, Shape
from fusec.semantics.classes import FusionClass, fusion_class
from fusec.semantics.table import semantic

_PER_ELEMENT: dict[str, int] = {
    "softmax": 5,  # max, subtract, exp, add, divide
    "log_softmax": 5,  # max, subtract, exp, add, subtract
    "layer_normalization": 7,  # add, subtract, square, add, multiply, scale, bias
    "rms_normalization": 4,  # square, add, multiply, scale
    "group_normalization": 7,  # as layer normalisation
    "batch_normalization": 2,  # scale, shift: both known before the run
    "reduce_sum_square": 2,  # square, add
}
"""Of the input's elements; what is computed once a row is left out."""


def flops(
    name: str,
    in_shapes: Sequence[Shape | None],
    out_shapes: Sequence[Shape],
    attrs: Mapping[str, AttrValue],
) -> int:
    """Operations of one call: a multiply-add counts 2, an elementwise operator 1 an element.

    Views and movement count 0. `in_shapes` has None for an absent input. SemanticsError for an
    unknown operator, or a required shape that is missing.
    """
    entry = semantic(name)
    bound = entry.bind_attrs(name, attrs)
    shapes = [shape for shape in in_shapes[: entry.least] if shape is not None]
    if len(shapes) < entry.least or not out_shapes:
        raise SemanticsError(name, "a shape is missing", "give all required inputs and results")
    out = prod(out_shapes[0])
    present = sum(shape is not None for shape in in_shapes)
    if name in _PER_ELEMENT:
        return _PER_ELEMENT[name] * prod(shapes[0])
    match fusion_class(name):
        case FusionClass.ELEMENTWISE:
            return out * (present - 1 if name in ("max", "min") else 1)
        case FusionClass.REDUCTION:
            return prod(shapes[0])
        case FusionClass.WINDOW:
            return out * prod(_ints(bound, "kernel_shape"))
        case FusionClass.CONTRACTION:
            return _multiply_adds(name, shapes, out, bound) + out * (present - entry.least)
        case _:
            return 0


def _ints(attrs: Mapping[str, AttrValue], name: str) -> tuple[int, ...]:
    return cast("tuple[int, ...]", attrs[name])


def _multiply_adds(
    name: str, shapes: Sequence[Shape], out: int, attrs: Mapping[str, AttrValue]
) -> int:
    """Without bias or mask; attention with its softmax."""
    first, second = shapes[0], shapes[1]
    match name:
        case "conv":
            outputs = second[-1] if attrs["w_layout"] == "HWIO" else second[0]
            return 2 * out * (prod(second) // max(1, outputs))
        case "gemm":
            return 2 * out * first[0 if attrs["trans_a"] else 1]
        case "attention":
            width = shapes[2][-1]
            scores = out // max(1, width) * second[-2]
            return scores * (2 * first[-1] + 2 * width + _PER_ELEMENT["softmax"] + 1)
        case _:
            return 2 * out * first[-1]
