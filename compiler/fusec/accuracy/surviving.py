"""The tensors that survive a level, by their names in the model, as a run of it makes them.

On the graph level every operator but a view leaves one; after fusion what kernels (and the host)
leave in global memory. What stays inside of a kernel does not survive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from fusec.schedule.places import Places
from fusec.semantics.classes import FusionClass, fusion_class
from fusec.semantics.dtypes import Array
from fusec.semantics.interpreter import Watch, main_function
from fusec.simulator.functional import After
from fusec.simulator.host import HostCall, Launch
from fusec_dialects.graph import CallOp, GraphOp, KernelOp, OpaqueOp
from fusec_dialects.graph.base import tensor_type
from fusec_dialects.locations import sources, tensors


@dataclass(frozen=True)
class Survivor:
    """A tensor, the pattern (or operator) that made it, the ONNX nodes inside, the last one last.

    `name` is the tensor's in the model where that is `known`, else its node's (or line's). `names`
    are those that the same tensor may have on another level.
    """

    name: str
    known: bool
    group: str
    nodes: tuple[str, ...]
    names: tuple[str, ...]


Seen: TypeAlias = Callable[[Survivor, Array], None]
"""Called with each surviving tensor when it has been made; the array is to be copied."""


def survivors(module: ModuleOp) -> dict[Operation, tuple[Survivor, ...]]:
    """For each operator of `main` whose results survive a Survivor for each result, in order.

    The module is on the graph level, or fused with kernels outlined.
    """
    patterns = {
        op.sym_name.data: op.pattern.data
        for op in module.body.block.ops
        if isinstance(op, KernelOp)
    }
    found: dict[Operation, tuple[Survivor, ...]] = {}
    for op in main_function(module).body.block.ops:
        if isinstance(op, CallOp):
            name = op.callee.string_value()
            group = patterns.get(name, name)
        elif isinstance(op, OpaqueOp):
            group = op.op_type.data
        elif not patterns and isinstance(op, GraphOp) and not is_view(op):
            group = op.op_name
        else:
            continue
        found[op] = tuple(_survivor(op, i, group) for i in range(len(op.results)))
    return found


def is_view(op: GraphOp) -> bool:
    """Whether the result is the operand under another shape."""
    return fusion_class(op.op_name) == FusionClass.VIEW


def _survivor(op: Operation, index: int, group: str) -> Survivor:
    nodes = sources(op.location, views=False) or (op.name,)
    names = names_of(op, index)
    known = _is_known(op, index)
    name = names[0] if known or len(op.results) == 1 else f"{nodes[-1]}#{index}"
    return Survivor(name, known, group, nodes, names)


def names_of(op: Operation, index: int) -> tuple[str, ...]:
    """What the result of an operator may be called: the tensor's name in the model where it is
    known, else those of its tensors and nodes, or lines.
    """
    made = tensors(op.location)
    if _is_known(op, index):
        return (made[index],)
    names = (*filter(None, made), *reversed(sources(op.location)))
    return names or (op.name,)


def _is_known(op: Operation, index: int) -> bool:
    made = tensors(op.location)
    return len(made) == len(op.results) and made[index] != ""


def watch_graph(module: ModuleOp, seen: Seen) -> Watch:
    """For an Interpreter of a graph or fused module."""
    known = survivors(module)

    def watch(op: Operation, results: Sequence[Array]) -> None:
        for survivor, array in zip(known.get(op, ()), results, strict=False):
            seen(survivor, array)

    return watch


def watch_npu(fused: ModuleOp, seen: Seen) -> After:
    """For a run of the placed kernels that were made from a fused module.

    Launches and host calls come in the order of the calls that they were made from; copies of
    outputs come behind.
    """
    known = survivors(fused)
    places = Places(main_function(fused).body.block)
    rest = iter([op for op in known if any(result.first_use for result in op.results)])

    def after(step: Launch | HostCall, arrays: Sequence[Array]) -> None:
        op = next(rest, None)
        if op is None:
            return
        buffers = _results(op, step, arrays)
        for survivor, result, buffer in zip(known[op], op.results, buffers, strict=False):
            seen(survivor, _tensor(result, buffer, places))

    return after


def _results(op: Operation, step: Launch | HostCall, arrays: Sequence[Array]) -> Iterator[Array]:
    """The buffers of a call's results: they follow its inputs and the kernel's constants."""
    first = len(op.operands)
    if isinstance(step, Launch):
        while first < len(arrays) and step.arguments[first].buffer.role == "weight":
            first += 1
    yield from arrays[first : first + len(op.results)]


def _tensor(result: SSAValue, buffer: Array, places: Places) -> Array:
    """A result as a tensor, be it a part with gaps of another's buffer."""
    shape = tensor_type(result).get_shape()
    strides = places.strides(result)
    if strides is None:
        return buffer.reshape(shape)
    steps = [stride * buffer.itemsize for stride in strides]
    return np.lib.stride_tricks.as_strided(buffer.reshape(-1), shape, steps)
