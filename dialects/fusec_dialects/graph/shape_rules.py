"""The shapes of an operator's results from those of its operands and its attributes, by table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from xdsl.utils.exceptions import VerifyException

from .base import AttrValue
from .sizes import (
    UNNAMED,
    Dim,
    Shape,
    agree,
    broadcast,
    broadcasts_to,
    normal_axes,
    normal_axis,
    precise,
    product,
    slice_bounds,
    text,
)

Attrs: TypeAlias = dict[str, AttrValue]
Rule: TypeAlias = Callable[[Sequence[Shape], Attrs], Sequence[Shape]]

SLICE_END = 2**31 - 1
"""An end from here on means the end of the axis, whatever its size."""


def _ints(attrs: Attrs, key: str) -> tuple[int, ...]:
    return cast(tuple[int, ...], attrs.get(key, ()))


def _int(attrs: Attrs, key: str) -> int:
    return cast(int, attrs[key])


def _same(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    return (x[0],)


def _broadcast(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    return (broadcast(*x),)


def _axis_checked(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    normal_axis(_int(attrs, "axis"), len(x[0]))
    return (x[0],)


def _reduce(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    rank = len(x[0])
    axes = set(normal_axes(_ints(attrs, "axes"), rank)) or set(range(rank))
    if attrs["keepdims"]:
        return (tuple(1 if i in axes else d for i, d in enumerate(x[0])),)
    return (tuple(d for i, d in enumerate(x[0]) if i not in axes),)


def _layer_norm(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    axis = normal_axis(_int(attrs, "axis"), len(x[0]))
    for parameter in x[1:]:
        if not broadcasts_to(parameter, x[0][axis:]):
            raise VerifyException(
                f"scale and bias {text(parameter)} do not fit the normalised axes "
                f"{text(x[0][axis:])}"
            )
    return (x[0],)


def _channels_last(layout: AttrValue) -> bool:
    if layout not in ("NCHW", "NHWC"):
        raise VerifyException(f"unknown layout '{layout}', expected NCHW or NHWC")
    return layout == "NHWC"


def _split_layout(shape: Shape, layout: AttrValue) -> tuple[Dim, Dim, Shape]:
    """Batch, channels and spatial sizes."""
    if len(shape) < 3:
        raise VerifyException(f"{text(shape)} has no spatial axes; give rank 3 or more")
    if _channels_last(layout):
        return shape[0], shape[-1], shape[1:-1]
    return shape[0], shape[1], shape[2:]


def _join_layout(batch: Dim, channels: Dim, spatial: Shape, layout: AttrValue) -> Shape:
    if _channels_last(layout):
        return (batch, *spatial, channels)
    return (batch, channels, *spatial)


def _batch_norm(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    if len(x[0]) < 2:
        raise VerifyException("batch normalisation needs a channel axis")
    channels = x[0][-1 if _channels_last(attrs["layout"]) else 1]
    for parameter in x[1:]:
        if len(parameter) != 1 or not agree(parameter[0], channels):
            raise VerifyException(f"parameters of {text(parameter)} for {channels} channels")
    return (x[0],)


def _matmul(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    a, b = x
    if not a or not b:
        raise VerifyException("a matmul takes no scalars; use mul")
    a2: Shape = (1, *a) if len(a) == 1 else a
    b2: Shape = (*b, 1) if len(b) == 1 else b
    if not agree(a2[-1], b2[-2]):
        raise VerifyException(f"{text(a)} times {text(b)}: {a2[-1]} and {b2[-2]} differ")
    batch = broadcast(a2[:-2], b2[:-2]) if len(a2) > 2 or len(b2) > 2 else ()
    rows = () if len(a) == 1 else a2[-2:-1]
    columns = () if len(b) == 1 else b2[-1:]
    return ((*batch, *rows, *columns),)


def _gemm(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    if len(x[0]) != 2 or len(x[1]) != 2:
        raise VerifyException("a gemm multiplies matrices; use matmul for other ranks")
    a = x[0][::-1] if attrs["trans_a"] else x[0]
    b = x[1][::-1] if attrs["trans_b"] else x[1]
    (y,) = _matmul((a, b), attrs)
    if len(x) > 2 and not broadcasts_to(x[2], y):
        raise VerifyException(f"c of {text(x[2])} does not broadcast to {text(y)}")
    return (y,)


def _attention(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    q, k, v = x[:3]
    if min(len(q), len(k), len(v)) < 2:
        raise VerifyException("attention takes matrices")
    (scores,) = _matmul((q, (*k[:-2], k[-1], k[-2])), attrs)
    if len(x) > 3 and not broadcasts_to(x[3], scores):
        raise VerifyException(f"a mask of {text(x[3])} does not broadcast to {text(scores)}")
    return _matmul((scores, v), attrs)


def window_size(
    size: Dim, kernel: int, stride: int, dilation: int, begin: int, end: int, ceil: bool = False
) -> Dim:
    """Number of windows along one axis (ONNX's formula; with `ceil`, none may start in the end
    pad).
    """
    span = dilation * (kernel - 1) + 1
    if isinstance(size, str):
        return size if stride == 1 and begin + end == span - 1 else UNNAMED
    room = size + begin + end - span
    if room < 0:
        raise VerifyException(
            f"a window of {kernel} (dilation {dilation}) does not fit {size} with pads "
            f"{begin} and {end}"
        )
    count = (room + (stride - 1 if ceil else 0)) // stride + 1
    if ceil and (count - 1) * stride >= size + begin:
        count -= 1
    return count


def _windows(
    spatial: Shape, kernel: Sequence[Dim], attrs: Attrs, what: str, ceil: bool = False
) -> Shape:
    n = len(spatial)
    strides, dilations, pads = (_ints(attrs, k) for k in ("strides", "dilations", "pads"))
    if not len(kernel) == len(strides) == len(dilations) == n or len(pads) != 2 * n:
        raise VerifyException(
            f"{what} over {n} axes needs {n} strides, dilations and kernel sizes and {2 * n} pads"
        )
    least = [*strides, *dilations, *(k for k in kernel if isinstance(k, int))]
    if min(least, default=1) < 1 or min(pads, default=0) < 0:
        raise VerifyException(
            f"{what}: strides, dilations and kernel sizes are positive, pads not negative"
        )
    return tuple(
        UNNAMED
        if isinstance(k, str)
        else window_size(spatial[i], k, strides[i], dilations[i], pads[i], pads[n + i], ceil)
        for i, k in enumerate(kernel)
    )


def _conv(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    batch, channels, spatial = _split_layout(x[0], attrs["x_layout"])
    if attrs["w_layout"] not in ("OIHW", "HWIO"):
        raise VerifyException(f"unknown layout '{attrs['w_layout']}', expected OIHW or HWIO")
    w = x[1]
    if len(w) != len(x[0]):
        raise VerifyException(f"a filter of rank {len(w)} for a tensor of rank {len(x[0])}")
    last = attrs["w_layout"] == "HWIO"
    kernel, inputs, outputs = (w[:-2], w[-2], w[-1]) if last else (w[2:], w[1], w[0])
    group = _int(attrs, "group")
    if group < 1:
        raise VerifyException(f"{group} groups; there is at least 1")
    if isinstance(channels, int) and isinstance(inputs, int) and inputs * group != channels:
        raise VerifyException(
            f"{channels} channels in {group} groups, the filter takes {inputs} each"
        )
    if isinstance(outputs, int) and outputs % group:
        raise VerifyException(f"{outputs} filters do not divide into {group} groups")
    if len(x) > 2 and (len(x[2]) != 1 or not agree(x[2][0], outputs)):
        raise VerifyException(f"a bias of {text(x[2])} for {outputs} filters")
    out = _windows(spatial, kernel, attrs, "a convolution")
    return (_join_layout(batch, outputs, out, attrs["y_layout"]),)


def _pool(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    batch, channels, spatial = _split_layout(x[0], attrs["layout"])
    kernel = _ints(attrs, "kernel_shape")
    out = _windows(spatial, kernel, attrs, "pooling", bool(attrs["ceil_mode"]))
    return (_join_layout(batch, channels, out, attrs["layout"]),)


def _global_pool(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    batch, channels, spatial = _split_layout(x[0], attrs["layout"])
    return (_join_layout(batch, channels, (1,) * len(spatial), attrs["layout"]),)


def _transpose(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    perm = _ints(attrs, "perm")
    if sorted(perm) != list(range(len(x[0]))):
        raise VerifyException(f"{list(perm)} does not permute the axes of {text(x[0])}")
    return (tuple(x[0][p] for p in perm),)


def _squeeze(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    axes = normal_axes(_ints(attrs, "axes"), len(x[0]))
    if not axes and any(isinstance(d, str) for d in x[0]):
        raise VerifyException(f"name the axes; which sizes of {text(x[0])} are 1 is not known")
    axes = axes or [i for i, d in enumerate(x[0]) if d == 1]
    if any(not agree(x[0][a], 1) for a in axes):
        raise VerifyException(f"axes {axes} of {text(x[0])} do not have size 1")
    return (tuple(d for i, d in enumerate(x[0]) if i not in axes),)


def _unsqueeze(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    rank = len(x[0]) + len(_ints(attrs, "axes"))
    axes = set(normal_axes(_ints(attrs, "axes"), rank))
    rest = iter(x[0])
    return (tuple(1 if i in axes else next(rest) for i in range(rank)),)


def _flatten(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    axis = _int(attrs, "axis")
    rank = len(x[0])
    if not -rank <= axis <= rank:
        raise VerifyException(f"axis {axis} does not cut a tensor of rank {rank} in two")
    axis = axis + rank if axis < 0 else axis
    return ((product(x[0][:axis]), product(x[0][axis:])),)


def _slice(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    result = list(x[0])
    axes = normal_axes(_ints(attrs, "axes"), len(result))
    starts, ends, steps = (_ints(attrs, k) for k in ("starts", "ends", "steps"))
    if not len(starts) == len(ends) == len(steps) == len(axes):
        raise VerifyException("a slice has one start, end and step for each axis")
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        size = result[axis]
        if isinstance(size, int):
            result[axis] = len(slice_bounds(size, start, end, step))
        elif step == 0:
            raise VerifyException("a slice has no step of 0")
        elif (start, step) != (0, 1) or end < SLICE_END:
            result[axis] = UNNAMED
    return (tuple(result),)


def _pad(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    pads, n = _ints(attrs, "pads"), len(x[0])
    if len(pads) != 2 * n:
        raise VerifyException(f"a tensor of rank {n} has {2 * n} pads, not {len(pads)}")
    sizes: list[Dim] = []
    for size, begin, end in zip(x[0], pads[:n], pads[n:], strict=True):
        if isinstance(size, str):
            sizes.append(UNNAMED if begin or end else size)
        elif size + begin + end < 0 or size + min(begin, 0) < 0 or size + min(end, 0) < 0:
            raise VerifyException(f"pads {list(pads)} remove more than {text(x[0])} has")
        else:
            sizes.append(size + begin + end)
    return (tuple(sizes),)


def _gather(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    axis = normal_axis(_int(attrs, "axis"), len(x[0]))
    return ((*x[0][:axis], *x[1], *x[0][axis + 1 :]),)


def _gather_elements(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    axis = normal_axis(_int(attrs, "axis"), len(x[0]))
    if len(x[0]) != len(x[1]):
        raise VerifyException(f"data {text(x[0])} and indices {text(x[1])} have equal ranks")
    for i, (size, taken) in enumerate(zip(x[0], x[1], strict=True)):
        if i != axis and isinstance(size, int) and isinstance(taken, int) and taken > size:
            raise VerifyException(f"indices {text(x[1])} are larger than data {text(x[0])}")
    return (x[1],)


def _concat(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    if not x:
        raise VerifyException("joins at least one tensor")
    axis = normal_axis(_int(attrs, "axis"), len(x[0]))
    rest = list(x[0])
    for other in x[1:]:
        if len(other) != len(rest) or any(
            not agree(a, b) for i, (a, b) in enumerate(zip(rest, other, strict=True)) if i != axis
        ):
            raise VerifyException(f"{text(x[0])} and {text(other)} do not join along axis {axis}")
        rest = [precise(a, b) for a, b in zip(rest, other, strict=True)]
    sizes = [s[axis] for s in x]
    if len(sizes) > 1:
        unknown = any(isinstance(s, str) for s in sizes)
        rest[axis] = UNNAMED if unknown else sum(cast(list[int], sizes))
    return (tuple(rest),)


def _split(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    axis = normal_axis(_int(attrs, "axis"), len(x[0]))
    sizes = _ints(attrs, "sizes")
    if not sizes or min(sizes) < 0:
        raise VerifyException(f"sizes {list(sizes)}; give the size of each result")
    if isinstance(x[0][axis], int) and sum(sizes) != x[0][axis]:
        raise VerifyException(
            f"pieces of {list(sizes)} do not make up {x[0][axis]}, the size of axis {axis}"
        )
    return tuple((*x[0][:axis], size, *x[0][axis + 1 :]) for size in sizes)


def _rules(rule: Rule, names: str) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


RULES: dict[str, Rule] = {
    **_rules(
        _same,
        "relu erf exp log sqrt neg abs reciprocal tanh sigmoid not identity gelu leaky_relu clip "
        "cast",
    ),
    **_rules(
        _broadcast,
        "add sub mul div pow max min and or xor equal greater less greater_or_equal "
        "less_or_equal where",
    ),
    **_rules(_reduce, "reduce_sum reduce_mean reduce_max reduce_min reduce_prod"),
    **_rules(_axis_checked, "softmax log_softmax"),
    "layer_normalization": _layer_norm,
    "rms_normalization": _layer_norm,
    "batch_normalization": _batch_norm,
    "matmul": _matmul,
    "matmul_integer": _matmul,
    "gemm": _gemm,
    "conv": _conv,
    "attention": _attention,
    **_rules(_pool, "max_pool average_pool"),
    "global_average_pool": _global_pool,
    "transpose": _transpose,
    "squeeze": _squeeze,
    "unsqueeze": _unsqueeze,
    "flatten": _flatten,
    "slice": _slice,
    "pad": _pad,
    "gather": _gather,
    "gather_elements": _gather_elements,
    "concat": _concat,
    "split": _split,
}
"""Shapes of the results; operators without a rule take the shape that their result type says."""
