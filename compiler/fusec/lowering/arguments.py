"""The arguments of a kernel's function: inputs, constants, outputs, workspace, in this order."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from fusec.lowering.builder import Layout, standard
from fusec.lowering.emitted import KernelConstant
from fusec_dialects.graph import KernelOp
from fusec_dialects.graph.base import element_name, static_shape
from fusec_dialects.npu.attrs import Space

WORKSPACE = "workspace"


@dataclass(frozen=True)
class Arguments:
    """`all`: name hint and layout of each argument. `places`: index by input value, by name of a
    constant, by `output(i)`, and WORKSPACE."""

    all: tuple[tuple[str, Layout], ...]
    places: dict[Hashable, int]


def arguments_of(
    kernel: KernelOp,
    constants: Sequence[KernelConstant] = (),
    workspace: tuple[int, ...] | None = None,
) -> Arguments:
    """The arguments that a kernel's function has."""
    block = kernel.body.block
    found: list[tuple[str, Layout]] = []
    places: dict[Hashable, int] = {}

    def argument(key: Hashable, hint: str, layout: Layout) -> None:
        places[key] = len(found)
        found.append((hint, layout))

    for i, value in enumerate(block.args):
        argument(value, value.name_hint or f"in{i}", _layout(value))
    for i, constant in enumerate(constants):
        argument(constant.name, f"const{i}", standard(constant.shape, constant.dtype))
    outputs = () if block.last_op is None else block.last_op.operands
    for i, value in enumerate(outputs):
        argument(output(i), "out" if len(outputs) == 1 else f"out{i}", _layout(value))
    if workspace is not None:
        argument(WORKSPACE, "ws", Layout(workspace, None, 0, "f32", Space.GM))
    return Arguments(tuple(found), places)


def output(index: int) -> Hashable:
    """The key of an output among the places."""
    return ("output", index)


def _layout(value: SSAValue) -> Layout:
    return standard(static_shape(value), element_name(value.type))
