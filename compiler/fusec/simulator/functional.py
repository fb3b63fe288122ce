"""The functional simulator: what a kernel, or a whole module, computes.

Each kernel becomes one Python function over numpy views (`emit`); blocks run one after another, in
program order, so flags have no effect here (the witness judges them). Placed IR runs on one byte
array for each memory, so buffers placed over each other corrupt one another as on the chip;
unplaced IR gives every alloc an array of its own. Local memory starts as all ones: nan in floats,
-1 in integers.

`run_kernel` runs one kernel on arrays, `run_host` a module by the names of its inputs and weights;
`Program` is a module compiled once to be run many times. `tap(kernel, value, block, array)` is
called after each instruction with the value that it wrote: a view, to be copied by who keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from fusec.hw.target import load_target
from fusec.simulator.blas import one_thread
from fusec.simulator.decode import decode_kernel
from fusec.simulator.emit import Emitter
from fusec.simulator.emit_ops import GLOBALS
from fusec.simulator.errors import SimulationError
from fusec.simulator.form import Kernel
from fusec.simulator.host import (
    HOST_TYPES,
    HostBuffer,
    HostCall,
    HostView,
    Launch,
    decode_host,
    find_host,
    kernels_of,
)
from fusec.simulator.host_call import run_call
from fusec.simulator.numerics import Array

Tap: TypeAlias = Callable[[str, str, int, Array], None]
After: TypeAlias = Callable[[Launch | HostCall, Sequence[Array]], None]
"""Called after each step with its buffers in gm: arguments of a launch, reads and writes of a host
call. They are views, to be copied by who keeps them."""
Run: TypeAlias = Callable[[Sequence[Array], int], None]
Memories: TypeAlias = dict[str, Array]

POISON = 0xFF
"""Every byte of a memory before it is written."""

_ERRORS = (ValueError, TypeError, IndexError, ZeroDivisionError, OverflowError)

OUTSIDE = ("strides is incompatible", "buffer is too small", "offset must be")
"""Words of numpy's for a view that leaves its array."""


def run_kernel(
    kernel: func.FuncOp,
    arrays: Sequence[Array],
    *,
    target: str | None = None,
    blocks: int | None = None,
    tap: Tap | None = None,
) -> None:
    """Runs one kernel on its gm arguments, C-contiguous arrays in order, modified in place.

    `blocks` is by default the function's `npu.blocks`, or 1. Raises SimulationError.
    """
    compiled = CompiledKernel(decode_kernel(kernel, target), {})
    decoded = compiled.kernel
    if len(arrays) != len(decoded.arguments):
        raise SimulationError(
            decoded.place,
            f"{len(arrays)} arrays for {len(decoded.arguments)} arguments",
            "give one for each, the workspace included",
        )
    for array, argument in zip(arrays, decoded.arguments, strict=True):
        check_array(array, argument.dtype, argument.shape, argument.place)
        if not array.flags.c_contiguous:
            raise SimulationError(
                argument.place, "the array is not contiguous", "pass np.ascontiguousarray(array)"
            )
    count = decoded.blocks or 1 if blocks is None else blocks
    with one_thread(), np.errstate(all="ignore"):
        compiled.run([raw_bytes(a) for a in arrays], count, tap)


def run_host(
    module: ModuleOp, arrays: Mapping[str, Array], *, tap: Tap | None = None
) -> dict[str, Array]:
    """Runs a module once; see `Program`."""
    return Program(module).run(arrays, tap=tap)


class Program:
    """A module compiled for running: the host function and every kernel that it launches.

    Not for two threads at once: the runs share the memories.
    """

    def __init__(self, module: ModuleOp):
        """Raises SimulationError for IR that cannot be run."""
        self.host = decode_host(find_host(module))
        self._memories: Memories = {}
        self._gm = np.full(self.host.gm_bytes, POISON, np.uint8)
        functions = kernels_of(module)
        self.kernels: dict[str, CompiledKernel] = {}
        for launch in self.host.launches:
            function = functions.get(launch.kernel)
            if function is None:
                raise SimulationError(
                    launch.place, f"there is no kernel @{launch.kernel}", "define it in the module"
                )
            if launch.kernel not in self.kernels:
                kernel = decode_kernel(function)
                self.kernels[launch.kernel] = CompiledKernel(kernel, self._memories)
            _check_launch(launch, self.kernels[launch.kernel].kernel)

    def run(
        self, arrays: Mapping[str, Array], *, tap: Tap | None = None, after: After | None = None
    ) -> dict[str, Array]:
        """The outputs by name, from the inputs and weights by name.

        Raises SimulationError for an array that is missing or of another type or shape; names that
        the module does not know are not looked at. C-contiguous arrays are not copied.
        """
        held: dict[int, Array] = {}
        outputs: dict[str, Array] = {}
        self._gm.fill(POISON)
        for buffer in self.host.buffers:
            if buffer.role in ("input", "weight"):
                held[buffer.index] = raw_bytes(_given(arrays, buffer))
            elif buffer.address is not None:
                held[buffer.index] = self._gm[buffer.address : buffer.address + buffer.nbytes]
            else:
                array = np.full(buffer.nbytes, POISON, np.uint8)
                held[buffer.index] = array
            if buffer.role == "output":
                outputs[buffer.name] = _typed(held[buffer.index], buffer.dtype, buffer.shape)
        with one_thread(), np.errstate(all="ignore"):
            for step in self.host.steps:
                if isinstance(step, HostCall):
                    reads = [_part(held, view) for view in step.reads]
                    run_call(step, reads, [_part(held, view) for view in step.writes])
                else:
                    gm = [_part(held, view) for view in step.arguments]
                    self.kernels[step.kernel].run(gm, step.blocks, tap)
                if after is not None:
                    views = step.views if isinstance(step, HostCall) else step.arguments
                    after(step, [_typed(_part(held, v), v.dtype, v.shape) for v in views])
        return outputs


class CompiledKernel:
    """A decoded kernel as a function, bound to memories that it may share with other kernels."""

    def __init__(self, kernel: Kernel, memories: Memories):
        self.kernel = kernel
        self._memories = memories
        self._own: dict[int, Array] = {
            b.index: np.full(b.nbytes, POISON, np.uint8) for b in kernel.allocs if b.address is None
        }
        self._functions: dict[bool, Run] = {}
        self._places: dict[str, list[str]] = {}
        self._tap: Tap | None = None

    def run(self, gm: Sequence[Array], blocks: int, tap: Tap | None = None) -> None:
        """Runs all blocks. `gm` holds the bytes of each argument. Raises SimulationError."""
        tapped = tap is not None
        run = self._functions.get(tapped)
        if run is None:
            run = self._functions[tapped] = self._make(tapped)
        self._tap = tap
        for memory in self._used():
            memory.fill(POISON)
        try:
            run(gm, blocks)
        except _ERRORS as error:
            raise self._explained(error) from error

    def _used(self) -> list[Array]:
        spaces = sorted({b.space for b in self.kernel.allocs if b.address is not None})
        return [*(self._memories[space] for space in spaces), *self._own.values()]

    def _tell(self, kernel: str, value: str, block: int, array: Array) -> None:
        if self._tap is not None:
            self._tap(kernel, value, block, array)

    def _make(self, tapped: bool) -> Run:
        source, places = Emitter(self.kernel, tapped).source()
        name = f"<simulation of {self.kernel.name}{', tapped' if tapped else ''}>"
        self._places[name] = places
        names: dict[str, Any] = dict(GLOBALS)
        exec(compile(source, name, "exec"), names)
        spaces = {b.space for b in self.kernel.allocs}
        memories = {f"m_{space}": self._memory(space) for space in spaces}
        try:
            return names["make"](self._own, self._tell, **memories)
        except _ERRORS as error:
            raise self._explained(error) from error

    def _memory(self, space: str) -> Array:
        """The byte array of a memory; of a space with unplaced buffers only, an empty one."""
        if all(b.address is None for b in self.kernel.allocs if b.space == space):
            return np.empty(0, np.uint8)
        if space not in self._memories:
            size = load_target(self.kernel.target).capacity(space)
            self._memories[space] = np.full(size, POISON, np.uint8)
        return self._memories[space]

    def _explained(self, error: Exception) -> SimulationError:
        """The error with the operator whose line of the generated text it is from."""
        if isinstance(error, SimulationError):
            return error
        where, block = self.kernel.place, None
        trace = error.__traceback__
        while trace is not None:
            places = self._places.get(trace.tb_frame.f_code.co_filename)
            if places is not None:
                where = places[trace.tb_lineno - 1]
                block = trace.tb_frame.f_locals.get(str(self.kernel.block))
            trace = trace.tb_next
        at = "" if block is None else f" in block {block}"
        if any(words in str(error) for words in OUTSIDE):
            cause = f"it reaches outside of its buffer{at}"
            advice = "an index that the kernel reads may be out of range; the witness says which"
            return SimulationError(where, cause, advice)
        return SimulationError(
            where, f"it cannot be executed{at}: {error}", "the witness says which bound is broken"
        )


def check_array(array: Array, dtype: str, shape: tuple[int, ...], place: str) -> None:
    """Raises SimulationError unless the array has this type and shape."""
    wanted = HOST_TYPES[dtype]
    if array.dtype == wanted and array.shape == shape:
        return
    raise SimulationError(
        place,
        f"the array is {array.dtype}{list(array.shape)}",
        f"give {wanted}{list(shape)}",
    )


def raw_bytes(array: Array) -> Array:
    """The bytes of an array, without a copy if it is C-contiguous."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _given(arrays: Mapping[str, Array], buffer: HostBuffer) -> Array:
    where = f'{buffer.role} "{buffer.name}"'
    array = arrays.get(buffer.name)
    if array is None:
        names = ", ".join(sorted(arrays)) or "nothing"
        raise SimulationError(where, "no array of this name is given", f"add it; given: {names}")
    check_array(array, buffer.dtype, buffer.shape, where)
    return array


def _check_launch(launch: Launch, kernel: Kernel) -> None:
    given = [(v.dtype, v.shape) for v in launch.arguments]
    wanted = [(a.dtype, a.shape) for a in kernel.arguments]
    if given != wanted:
        raise SimulationError(
            launch.place,
            f"its arguments do not have the types of @{kernel.name}",
            f"the kernel takes {', '.join(f'{d}{list(s)}' for d, s in wanted)}",
        )


def _typed(raw: Array, dtype: str, shape: tuple[int, ...]) -> Array:
    return np.ndarray(shape, HOST_TYPES[dtype], raw)


def _part(held: Mapping[int, Array], view: HostView) -> Array:
    raw = held[view.buffer.index]
    if view.start == 0 and view.nbytes == raw.size:
        return raw
    return raw[view.start : view.start + view.nbytes]
