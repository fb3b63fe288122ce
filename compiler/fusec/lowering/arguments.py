"""The arguments of a kernel's function: inputs, constants, outputs, workspaces, in this order.

A tensor that is a part of a larger buffer is a run of gm from its first element to its last; the
attribute `npu.part` of the argument says which elements of it are its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from fusec.lowering.builder import Layout, standard
from fusec.lowering.emitted import KernelConstant, Workspace
from fusec.lowering.layout import memref_of
from fusec.schedule.memory import Strides, strides_of
from fusec_dialects.graph import KernelOp
from fusec_dialects.graph.base import element_name, static_shape
from fusec_dialects.npu.attrs import Space

PART = "npu.part"
"""The attribute of an argument that is a part of a larger buffer: its type as a strided memref."""


@dataclass(frozen=True)
class Arguments:
    """`all`: name hint and layout of each argument. `places`: index by input value, by name of a
    constant, by `output(i)` and `workspace(i)`. `parts`: layout of those that are parts, by index.
    """

    all: tuple[tuple[str, Layout], ...]
    places: dict[Hashable, int]
    parts: dict[int, Layout] = field(default_factory=dict[int, Layout])


def arguments_of(
    kernel: KernelOp,
    constants: Sequence[KernelConstant] = (),
    workspaces: Sequence[Workspace] = (),
) -> Arguments:
    """The arguments that a kernel's function has."""
    block = kernel.body.block
    found: list[tuple[str, Layout]] = []
    places: dict[Hashable, int] = {}
    parts: dict[int, Layout] = {}
    strides = strides_of(kernel)

    def argument(key: Hashable, hint: str, layout: Layout) -> None:
        places[key] = len(found)
        found.append((hint, layout))

    def tensor(key: Hashable, hint: str, value: SSAValue) -> None:
        layout = _layout(value)
        if (given := strides.get(value)) is not None:
            parts[len(found)] = layout._replace(strides=given)
            layout = standard((span(static_shape(value), given),), layout.dtype)
        argument(key, hint, layout)

    for i, value in enumerate(block.args):
        tensor(value, value.name_hint or f"in{i}", value)
    for i, constant in enumerate(constants):
        argument(constant.name, f"const{i}", standard(constant.shape, constant.dtype))
    outputs = () if block.last_op is None else block.last_op.operands
    for i, value in enumerate(outputs):
        tensor(output(i), "out" if len(outputs) == 1 else f"out{i}", value)
    for i, (shape, dtype) in enumerate(workspaces):
        hint = "ws" if len(workspaces) == 1 else f"ws{i}"
        argument(workspace(i), hint, Layout(shape, None, 0, dtype, Space.GM))
    return Arguments(tuple(found), places, parts)


def span(shape: Sequence[int], strides: Strides) -> int:
    """Elements from the first of a strided tensor to its last, both included."""
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


def mark_parts(func: FuncOp, arguments: Arguments) -> None:
    """Gives the arguments that are parts of larger buffers the attribute `npu.part`."""
    if not arguments.parts:
        return
    given = func.arg_attrs.data if func.arg_attrs else [DictionaryAttr({}) for _ in func.args]
    func.properties["arg_attrs"] = ArrayAttr(
        mark
        if (part := arguments.parts.get(i)) is None
        else DictionaryAttr({**mark.data, PART: memref_of(part)})
        for i, mark in enumerate(given)
    )


def output(index: int) -> Hashable:
    """The key of an output among the places."""
    return ("output", index)


def workspace(index: int) -> Hashable:
    """The key of a workspace among the places."""
    return ("workspace", index)


def _layout(value: SSAValue) -> Layout:
    return standard(static_shape(value), element_name(value.type))
