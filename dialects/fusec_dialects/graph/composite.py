"""Operators that stand for a small expression of others, as `graph-raise` finds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from .base import AttrValue, Float, GraphOp, Int, Tensor
from .elementwise import UnaryOp
from .sizes import Shape, agree, text


@irdl_op_definition
class SwishOp(UnaryOp):
    """x sigmoid(alpha x): SiLU with alpha 1, quick GELU with alpha 1.702."""

    name = "graph.swish"
    alpha = prop_def(Float)

    DEFAULTS: ClassVar = {"alpha": 1.0}


@irdl_op_definition
class HardSigmoidOp(UnaryOp):
    """min(max(alpha x + beta, 0), 1)."""

    name = "graph.hard_sigmoid"
    alpha = prop_def(Float)
    beta = prop_def(Float)

    DEFAULTS: ClassVar = {"alpha": 0.2, "beta": 0.5}


@irdl_op_definition
class HardSwishOp(UnaryOp):
    """x min(max(x / 6 + 1 / 2, 0), 1)."""

    name = "graph.hard_swish"


@irdl_op_definition
class SoftplusOp(UnaryOp):
    """log(1 + exp(x)), without overflow."""

    name = "graph.softplus"


@irdl_op_definition
class MishOp(UnaryOp):
    """x tanh(softplus(x))."""

    name = "graph.mish"


@irdl_op_definition
class RmsNormalizationOp(GraphOp):
    """x / sqrt(mean(x^2) + epsilon) scale over the axes from `axis` on, in f32 inside."""

    name = "graph.rms_normalization"
    x = operand_def(Tensor)
    scale = operand_def(Tensor)
    y = result_def(Tensor)
    axis = prop_def(Int)
    epsilon = prop_def(Float)

    DEFAULTS: ClassVar = {"axis": -1, "epsilon": 1e-5}


@irdl_op_definition
class GroupNormalizationOp(GraphOp):
    """(x - mean) / sqrt(variance + epsilon) scale + bias, in f32 inside; the statistics are over
    each of `num_groups` groups of channels (axis 1) with all that follows, scale and bias are one
    for each channel, or one for all.
    """

    name = "graph.group_normalization"
    x = operand_def(Tensor)
    scale = operand_def(Tensor)
    bias = operand_def(Tensor)
    y = result_def(Tensor)
    num_groups = prop_def(Int)
    epsilon = prop_def(Float)

    DEFAULTS: ClassVar = {"epsilon": 1e-5}


COMPOSITE = [
    SwishOp,
    HardSigmoidOp,
    HardSwishOp,
    SoftplusOp,
    MishOp,
    RmsNormalizationOp,
    GroupNormalizationOp,
]
"""Every operator of this file."""

ACTIVATIONS = ("swish", "hard_sigmoid", "hard_swish", "softplus", "mish")
"""Those of one operand, elementwise."""


def group_norm_shapes(x: Sequence[Shape], attrs: Mapping[str, AttrValue]) -> Sequence[Shape]:
    """Shape rule; VerifyException where channels do not divide or parameters do not fit."""
    groups = cast(int, attrs["num_groups"])
    if len(x[0]) < 2:
        raise VerifyException(f"{text(x[0])} has no channel axis; give rank 2 or more")
    channels = x[0][1]
    if groups < 1 or (isinstance(channels, int) and channels % groups):
        raise VerifyException(f"{channels} channels do not divide into {groups} groups")
    for parameter in x[1:]:
        if len(parameter) > 1 or (parameter and not agree(parameter[0], channels)):
            raise VerifyException(f"parameters of {text(parameter)} for {channels} channels")
    return (x[0],)
