"""Types of an operator's results from the types of its operands and its attributes, by table.

A size is an int, or the name of a dynamic one ("?" where it has none).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneAttr, TensorType, i1
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from .base import AttrValue, DimsAttr, GraphOp, tensor_type

Dim: TypeAlias = int | str
Shape: TypeAlias = tuple[Dim, ...]
Attrs: TypeAlias = dict[str, AttrValue]
Rule: TypeAlias = Callable[[Sequence[Shape], Attrs], Sequence[Shape]]


def dims_of(type_: TensorType) -> Shape:
    """Sizes of a tensor type, names for the dynamic ones."""
    if isinstance(type_.encoding, DimsAttr):
        return type_.encoding.values()
    return tuple("?" if d == DYNAMIC_INDEX else d for d in type_.get_shape())


def make_type(element: Attribute, dims: Shape) -> TensorType:
    """The tensor type with these sizes; named dynamic sizes go into `#graph.dims`."""
    shape = [DYNAMIC_INDEX if isinstance(d, str) else d for d in dims]
    named = any(isinstance(d, str) and d != "?" for d in dims)
    return TensorType(element, shape, DimsAttr.get(dims) if named else NoneAttr())


def _ints(attrs: Attrs, key: str) -> tuple[int, ...]:
    return cast(tuple[int, ...], attrs.get(key, ()))


def _int(attrs: Attrs, key: str) -> int:
    return cast(int, attrs[key])


def normal_axis(axis: int, rank: int) -> int:
    """An axis counted from the front; raises VerifyException where there is none."""
    if not -rank <= axis < rank:
        raise VerifyException(f"axis {axis} is not one of a tensor of rank {rank}")
    return axis % rank if rank else 0


def broadcast(*shapes: Shape) -> Shape:
    """The numpy broadcast of shapes; raises VerifyException where sizes differ."""
    rank = max(map(len, shapes))
    result: list[Dim] = []
    for i in range(rank):
        sizes = {s[i - rank + len(s)] for s in shapes if i - rank + len(s) >= 0}
        others = sizes - {1}
        numbers = {s for s in others if isinstance(s, int)}
        if len(numbers) > 1:
            text = " and ".join(str(list(s)) for s in shapes)
            raise VerifyException(f"shapes {text} do not broadcast")
        if numbers:
            result.append(numbers.pop())
        elif not others:
            result.append(1)
        else:
            result.append(others.pop() if len(others) == 1 else "?")
    return tuple(result)


def _same(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    return (x[0],)


def _broadcast(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    return (broadcast(*x),)


def _axis_checked(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    normal_axis(_int(attrs, "axis"), len(x[0]))
    return (x[0],)


def _reduce(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    axes = {normal_axis(a, len(x[0])) for a in _ints(attrs, "axes")} or set(range(len(x[0])))
    if attrs["keepdims"]:
        return (tuple(1 if i in axes else d for i, d in enumerate(x[0])),)
    return (tuple(d for i, d in enumerate(x[0]) if i not in axes),)


def _layer_norm(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    axis = normal_axis(_int(attrs, "axis"), len(x[0]))
    for parameter in x[1:]:
        if broadcast(parameter, x[0][axis:]) != x[0][axis:]:
            raise VerifyException(
                f"scale and bias {list(parameter)} do not fit the normalised axes "
                f"{list(x[0][axis:])}"
            )
    return (x[0],)


def _channels_last(layout: AttrValue) -> bool:
    if layout not in ("NCHW", "NHWC"):
        raise VerifyException(f"unknown layout '{layout}', expected NCHW or NHWC")
    return layout == "NHWC"


def _split_layout(shape: Shape, layout: AttrValue) -> tuple[Dim, Dim, Shape]:
    """Batch, channels and spatial sizes."""
    if len(shape) < 3:
        raise VerifyException(f"{list(shape)} has no spatial axes")
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
        if parameter != (channels,) and "?" not in (channels, *parameter):
            raise VerifyException(f"parameters of {list(parameter)} for {channels} channels")
    return (x[0],)


def _matmul(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    a, b = x
    if not a or not b:
        raise VerifyException("matmul takes no scalars")
    a2: Shape = (1, *a) if len(a) == 1 else a
    b2: Shape = (*b, 1) if len(b) == 1 else b
    inner, outer = a2[-1:], b2[-2:-1]
    if not all(map(_agree, inner, outer)):
        raise VerifyException(f"{list(a)} times {list(b)}: {inner[0]} and {outer[0]} differ")
    batch = broadcast(a2[:-2], b2[:-2]) if len(a2) > 2 or len(b2) > 2 else ()
    rows = () if len(a) == 1 else a2[-2:-1]
    columns = () if len(b) == 1 else b2[-1:]
    return ((*batch, *rows, *columns),)


def _gemm(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    if len(x[0]) != 2 or len(x[1]) != 2:
        raise VerifyException("gemm multiplies matrices")
    a = x[0][::-1] if attrs["trans_a"] else x[0]
    b = x[1][::-1] if attrs["trans_b"] else x[1]
    (y,) = _matmul((a, b), attrs)
    if len(x) > 2 and broadcast(x[2], y) != y:
        raise VerifyException(f"c of {list(x[2])} does not broadcast to {list(y)}")
    return (y,)


def _attention(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    q, k, v = x[:3]
    if min(len(q), len(k), len(v)) < 2:
        raise VerifyException("attention takes matrices")
    (scores,) = _matmul((q, (*k[:-2], k[-1], k[-2])), attrs)
    if len(x) > 3 and broadcast(x[3], scores) != scores:
        raise VerifyException(f"mask of {list(x[3])} does not broadcast to {list(scores)}")
    return _matmul((scores, v), attrs)


def window_size(
    size: Dim, kernel: int, stride: int, dilation: int, begin: int, end: int, ceil: bool = False
) -> Dim:
    """Number of windows along one axis (ONNX's formula; with `ceil`, none may start in the end
    pad).
    """
    if isinstance(size, str):
        return "?"
    room = size + begin + end - (dilation * (kernel - 1) + 1)
    if room < 0:
        raise VerifyException(f"a window of {kernel} does not fit {size} with pads {begin}, {end}")
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
            f"{what} over {n} axes needs {n} strides and dilations and {2 * n} pads"
        )
    if min(strides, default=1) < 1 or min(dilations, default=1) < 1:
        raise VerifyException(f"{what}: strides and dilations are positive")
    return tuple(
        "?"
        if isinstance(kernel[i], str)
        else window_size(
            spatial[i], cast(int, kernel[i]), strides[i], dilations[i], pads[i], pads[n + i], ceil
        )
        for i in range(n)
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
    if isinstance(channels, int) and isinstance(inputs, int) and inputs * group != channels:
        raise VerifyException(
            f"{channels} channels in {group} groups, the filter takes {inputs} each"
        )
    if isinstance(outputs, int) and outputs % group:
        raise VerifyException(f"{outputs} filters do not divide into {group} groups")
    if len(x) > 2 and x[2] != (outputs,) and "?" not in (outputs, *x[2]):
        raise VerifyException(f"a bias of {list(x[2])} for {outputs} filters")
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
        raise VerifyException(f"{list(perm)} does not permute the axes of {list(x[0])}")
    return (tuple(x[0][p] for p in perm),)


def _squeeze(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    axes = {normal_axis(a, len(x[0])) for a in _ints(attrs, "axes")}
    if any(x[0][a] != 1 and isinstance(x[0][a], int) for a in axes):
        raise VerifyException(f"axes {sorted(axes)} of {list(x[0])} do not have size 1")
    return (tuple(d for i, d in enumerate(x[0]) if i not in axes),)


def _unsqueeze(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    rank = len(x[0]) + len(_ints(attrs, "axes"))
    axes = {normal_axis(a, rank) for a in _ints(attrs, "axes")}
    if len(axes) != len(_ints(attrs, "axes")):
        raise VerifyException("an axis is named twice")
    rest = iter(x[0])
    return (tuple(1 if i in axes else next(rest) for i in range(rank)),)


def _product(dims: Shape) -> Dim:
    return "?" if any(isinstance(d, str) for d in dims) else prod(cast(tuple[int, ...], dims))


def _flatten(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    axis = _int(attrs, "axis")
    rank = len(x[0])
    if not -rank <= axis <= rank:
        raise VerifyException(f"axis {axis} is not one of a tensor of rank {rank}")
    axis = axis + rank if axis < 0 else axis
    return ((_product(x[0][:axis]), _product(x[0][axis:])),)


def slice_bounds(size: int, start: int, end: int, step: int) -> range:
    """The indices that a slice takes of an axis, clamped as numpy does; raises on step 0."""
    if step == 0:
        raise VerifyException("a slice has no step of 0")
    return range(*slice(start, end if end >= -size or step > 0 else None, step).indices(size))


def _slice(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    result = list(x[0])
    axes = _ints(attrs, "axes")
    parts = [_ints(attrs, k) for k in ("starts", "ends", "steps")]
    if any(len(p) != len(axes) for p in parts):
        raise VerifyException("a slice has one start, end and step for each axis")
    for axis, start, end, step in zip(axes, *parts, strict=True):
        axis = normal_axis(axis, len(result))
        size = result[axis]
        result[axis] = "?" if isinstance(size, str) else len(slice_bounds(size, start, end, step))
    return (tuple(result),)


def _pad(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    pads, n = _ints(attrs, "pads"), len(x[0])
    if len(pads) != 2 * n:
        raise VerifyException(f"a tensor of rank {n} has {2 * n} pads")
    sizes = tuple(
        "?" if isinstance(d, str) else d + pads[i] + pads[n + i] for i, d in enumerate(x[0])
    )
    if any(isinstance(d, int) and d < 0 for d in sizes):
        raise VerifyException(f"pads {list(pads)} remove more than {list(x[0])} has")
    return (sizes,)


def _gather(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    axis = normal_axis(_int(attrs, "axis"), len(x[0]))
    return ((*x[0][:axis], *x[1], *x[0][axis + 1 :]),)


def _gather_elements(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    normal_axis(_int(attrs, "axis"), len(x[0]))
    if len(x[0]) != len(x[1]):
        raise VerifyException("data and indices have equal ranks")
    return (x[1],)


def _concat(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    axis = normal_axis(_int(attrs, "axis"), len(x[0]))
    for other in x[1:]:
        if len(other) != len(x[0]) or any(
            a != b and isinstance(a, int) and isinstance(b, int)
            for i, (a, b) in enumerate(zip(x[0], other, strict=True))
            if i != axis
        ):
            raise VerifyException(f"{list(x[0])} and {list(other)} do not join along axis {axis}")
    sizes = [s[axis] for s in x]
    total = "?" if any(isinstance(s, str) for s in sizes) else sum(cast(list[int], sizes))
    return ((*x[0][:axis], total, *x[0][axis + 1 :]),)


def _split(x: Sequence[Shape], attrs: Attrs) -> Sequence[Shape]:
    axis = normal_axis(_int(attrs, "axis"), len(x[0]))
    sizes = _ints(attrs, "sizes")
    if isinstance(x[0][axis], int) and sum(sizes) != x[0][axis]:
        raise VerifyException(f"pieces of {list(sizes)} do not make up {x[0][axis]}")
    return tuple((*x[0][:axis], size, *x[0][axis + 1 :]) for size in sizes)


_UNARY = [
    "relu",
    "erf",
    "exp",
    "log",
    "sqrt",
    "neg",
    "abs",
    "reciprocal",
    "tanh",
    "sigmoid",
    "not",
    "identity",
    "gelu",
    "leaky_relu",
    "clip",
    "cast",
]
_BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "pow",
    "max",
    "min",
    "and",
    "or",
    "xor",
    "equal",
    "greater",
    "less",
    "greater_or_equal",
    "less_or_equal",
]
COMPARISONS = frozenset(["equal", "greater", "less", "greater_or_equal", "less_or_equal"])

RULES: dict[str, Rule] = {
    **dict.fromkeys(_UNARY, _same),
    **dict.fromkeys([*_BINARY, "where"], _broadcast),
    **dict.fromkeys(
        ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"], _reduce
    ),
    **dict.fromkeys(("softmax", "log_softmax"), _axis_checked),
    "layer_normalization": _layer_norm,
    "batch_normalization": _batch_norm,
    "matmul": _matmul,
    "gemm": _gemm,
    "conv": _conv,
    "attention": _attention,
    **dict.fromkeys(("max_pool", "average_pool"), _pool),
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


def infer_shapes(name: str, shapes: Sequence[Shape], attrs: Attrs) -> Sequence[Shape] | None:
    """Shapes of an operator's results; None where only its result type says. VerifyException on
    errors.
    """
    rule = RULES.get(name)
    return None if rule is None else rule(shapes, attrs)


def infer_types(op: GraphOp) -> list[TensorType] | None:
    """Types of an operator's results; None where only its result types say."""
    types = [tensor_type(o) for o in op.operands]
    shapes = infer_shapes(op.op_name, [dims_of(t) for t in types], op.attrs())
    if shapes is None:
        return None
    element: Attribute
    if op.op_name in COMPARISONS:
        element = i1
    elif op.op_name == "cast":
        element = op.properties["to"]
    elif op.op_name == "where":
        element = types[1].element_type
    else:
        element = types[0].element_type
    return [make_type(element, s) for s in shapes]


MIXED_TYPES = frozenset({"where", "gather", "gather_elements", "cast", "pow"})
"""Operators whose operands need not all have one element type."""


def _agree(a: Dim, b: Dim) -> bool:
    return a == b or isinstance(a, str) or isinstance(b, str)


def verify_types(op: GraphOp) -> None:
    """Raises VerifyException where the declared result types contradict the operands."""
    types = [tensor_type(o) for o in op.operands]
    for result in op.results:
        tensor_type(result)
    checked = types[1:] if op.op_name == "where" else types
    if op.op_name not in MIXED_TYPES - {"where"} and len({t.element_type for t in checked}) > 1:
        names = ", ".join(str(t.element_type) for t in checked)
        raise VerifyException(f"{op.name}: operands have different element types: {names}")
    try:
        inferred = infer_types(op)
    except VerifyException as e:
        raise VerifyException(f"{op.name}: {e}") from e
    if inferred is None:
        _verify_view(op)
        return
    if len(inferred) != len(op.results):
        raise VerifyException(f"{op.name}: {len(op.results)} results, expected {len(inferred)}")
    for expected, result in zip(inferred, op.results, strict=True):
        found = tensor_type(result)
        ed, fd = dims_of(expected), dims_of(found)
        same = len(ed) == len(fd) and all(map(_agree, ed, fd))
        if not same or expected.element_type != found.element_type:
            raise VerifyException(f"{op.name}: the result is {expected}, not {found}")


def _verify_view(op: GraphOp) -> None:
    if not op.operands:
        return
    source, dest = tensor_type(op.operands[0]), tensor_type(op.results[0])
    if source.element_type != dest.element_type:
        raise VerifyException(f"{op.name}: the result has elements of {source.element_type}")
    a, b = dims_of(source), dims_of(dest)
    if op.op_name == "expand":
        if not all(map(_agree, broadcast(a, b), b)) or len(a) > len(b):
            raise VerifyException(f"{op.name}: {list(a)} does not broadcast to {list(b)}")
    elif _product(a) != _product(b) and "?" not in (_product(a), _product(b)):
        raise VerifyException(f"{op.name}: {list(a)} and {list(b)} differ in number of elements")
