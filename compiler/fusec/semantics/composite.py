"""Operators that stand for a small expression: activations, RMS and group normalisation.

16-bit floating types compute in float32 and round once.
"""

from collections.abc import Callable

import numpy as np

from fusec.semantics import special
from fusec.semantics.base import Attr, Call, Kind, Semantic
from fusec.semantics.dtypes import Array, narrow, widen

_EPSILON = Attr(Kind.FLOAT, 1e-5)


def _function(function: Callable[[Call, Array], Array], **attrs: Attr) -> Semantic:
    def compute(call: Call) -> list[Array]:
        x = call.floating(call.array(0))
        return [narrow(function(call, widen(x)), x.dtype)]

    return Semantic(compute, attrs=attrs)


def _swish(call: Call, x: Array) -> Array:
    return x * special.sigmoid(x * x.dtype.type(call.float_("alpha")))


def _hard_sigmoid(call: Call, x: Array) -> Array:
    alpha, beta = (x.dtype.type(call.float_(name)) for name in ("alpha", "beta"))
    return np.minimum(np.maximum(x * alpha + beta, x.dtype.type(0)), x.dtype.type(1))


def _hard_swish(call: Call, x: Array) -> Array:
    kind = x.dtype.type
    return x * np.minimum(np.maximum(x * kind(1.0 / 6.0) + kind(0.5), kind(0)), kind(1))


def _softplus(call: Call, x: Array) -> Array:
    """max(x, 0) + log(1 + exp(-|x|)), which does not overflow."""
    return np.maximum(x, x.dtype.type(0)) + np.log1p(np.exp(-np.abs(x)))


def _mish(call: Call, x: Array) -> Array:
    return x * np.tanh(_softplus(call, x))


def _group_normalization(call: Call) -> list[Array]:
    """(x - mean) / sqrt(variance + epsilon) scale + bias over groups of channels."""
    x, *parameters = call.arrays()
    call.rank(call.floating(x), 2, "x")
    call.same_dtype((x, *parameters))
    channels, groups = x.shape[1], call.int_("num_groups")
    if groups < 1 or channels % groups:
        raise call.error(f"{channels} channels in {groups} groups", "use a divisor")
    for what, parameter in zip(("scale", "bias"), parameters, strict=True):
        if parameter.shape not in ((), (channels,)):
            raise call.error(f"{what} has shape {parameter.shape}", f"x has {channels} channels")
    wide = widen(x).reshape(x.shape[0], groups, -1 if x.size else 0)
    centred = wide - wide.mean(axis=2, keepdims=True) if x.size else wide
    variance = (centred * centred).mean(axis=2, keepdims=True) if x.size else centred
    result = (centred / np.sqrt(variance + call.float_("epsilon"))).reshape(x.shape)
    shape = (1, channels, *(1,) * (x.ndim - 2))
    scale, bias = (widen(p).reshape(shape if p.ndim else ()) for p in parameters)
    return [narrow(result * scale + bias, x.dtype)]


COMPOSITE: dict[str, Semantic] = {
    "swish": _function(_swish, alpha=Attr(Kind.FLOAT, 1.0)),
    "hard_sigmoid": _function(
        _hard_sigmoid, alpha=Attr(Kind.FLOAT, 0.2), beta=Attr(Kind.FLOAT, 0.5)
    ),
    "hard_swish": _function(_hard_swish),
    "softplus": _function(_softplus),
    "mish": _function(_mish),
    "group_normalization": Semantic(
        _group_normalization, 3, 3, {"num_groups": Attr(Kind.INT), "epsilon": _EPSILON}
    ),
}
"""By name in snake case."""
