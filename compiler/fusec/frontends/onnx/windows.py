"""ONNX's convolutions and poolings: `auto_pad` becomes explicit pads."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.entry import Entry, static
from fusec.frontends.onnx.node import Node
from fusec_dialects.graph import AttrValue
from fusec_dialects.graph.shapes import Shape


def _same_pads(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    upper: bool,
) -> tuple[int, ...]:
    """Pads that make the output ceil(size / stride); an odd one goes to the end if `upper`."""
    begins: list[int] = []
    ends: list[int] = []
    for size, k, s, d in zip(sizes, kernel, strides, dilations, strict=True):
        total = max((-(-size // s) - 1) * s + d * (k - 1) + 1 - size, 0)
        small = total // 2
        begins.append(small if upper else total - small)
        ends.append(total - begins[-1])
    return (*begins, *ends)


def window(node: Node, kernel: Sequence[int], spatial: Shape) -> dict[str, AttrValue]:
    """Strides, dilations and explicit pads of a convolution or pooling, `auto_pad` resolved."""
    n = len(spatial)
    strides = node.ints("strides") or (1,) * n
    dilations = node.ints("dilations") or (1,) * n
    pads = node.ints("pads") or (0,) * (2 * n)
    if not len(kernel) == len(strides) == len(dilations) == n or min(strides, default=1) < 1:
        raise ImportFailure(
            f"kernel {list(kernel)}, strides {list(strides)} and dilations {list(dilations)} "
            f"over {n} spatial axes"
        )
    match node.text("auto_pad", "NOTSET"):
        case "SAME_UPPER" | "SAME_LOWER" as auto:
            sizes = static(spatial, f"auto_pad {auto}")
            pads = _same_pads(sizes, kernel, strides, dilations, auto == "SAME_UPPER")
        case "VALID":
            pads = (0,) * (2 * n)
        case "NOTSET":
            pass
        case auto:
            raise ImportFailure(f"auto_pad {auto} is unknown")
    return {"strides": strides, "pads": pads, "dilations": dilations}


def _conv(node: Node) -> Sequence[SSAValue]:
    x, w, *rest = node.values(2, 3)
    kernel = static(node.shape(w)[2:], "the filter")
    declared = node.ints("kernel_shape")
    if declared is not None and declared != kernel:
        raise ImportFailure(f"kernel_shape is {list(declared)}, the filter has {list(kernel)}")
    attrs = window(node, kernel, node.shape(x)[2:])
    return node.build("conv", [x, w, *rest], {**attrs, "group": node.int_("group", 1)})


def _pool(name: str) -> Entry:
    def entry(node: Node) -> Sequence[SSAValue]:
        x = node.value(0)
        kernel = node.ints("kernel_shape")
        if kernel is None:
            raise ImportFailure("attribute 'kernel_shape' is missing")
        attrs: dict[str, AttrValue] = {
            "kernel_shape": kernel,
            **window(node, kernel, node.shape(x)[2:]),
            "ceil_mode": bool(node.int_("ceil_mode", 0)),
        }
        if name == "average_pool":
            attrs["count_include_pad"] = bool(node.int_("count_include_pad", 0))
        return node.build(name, [x], attrs)

    return entry


def _global_pool(node: Node) -> Sequence[SSAValue]:
    return node.build("global_average_pool", [node.value(0)])


WINDOWS: dict[str, list[tuple[int, Entry]]] = {
    "Conv": [(1, _conv)],
    "MaxPool": [(1, _pool("max_pool"))],
    "AveragePool": [(1, _pool("average_pool"))],
    "GlobalAveragePool": [(1, _global_pool)],
}
"""Entries by operator type, the newest opset first."""
