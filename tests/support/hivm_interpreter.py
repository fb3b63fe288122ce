"""Runs a kernel in HIVM text as `fusec.export` writes it: numbers without Huawei's compiler.

Every block one after the other, both vector cores of a mixed kernel in step, on numpy arrays. What
is not written yet is nan, views must lie inside their buffers, and a broadcast must be asked for.
"""

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from numpy.lib.stride_tricks import as_strided

from fusec.export.hivm_module import MemRef, parse_memref

DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    **{"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64},
}
_LINE = re.compile(r"\s*(?:(%[\w, %]+) = )?([\w.]+)(.*)$")
_NAME = re.compile(r"%\w+")
_INS = re.compile(r" ins\(([^:]*) : ")
_OUTS = re.compile(r" outs\((%\w+) : ")
_LISTS = re.compile(r"(%\w+)\[([^\]]*)\] \[([^\]]*)\] \[([^\]]*)\]")
_CAST = re.compile(r"(%\w+) to offset: \[([^\]]*)\], sizes: \[([^\]]*)\], strides: \[([^\]]*)\]")
_LOOP = re.compile(r" (%\w+) = (%\w+) to (%\w+) step (%\w+)")
_ITER = re.compile(r"(%\w+) = (%\w+)")
_DIMS = re.compile(r"(?:broadcast|broadcast_dims|reduce_dims|permutation) = \[([^\]]*)\]")


@dataclass
class Line:
    """One operation; a loop with its body."""

    results: list[str]
    name: str
    rest: str
    body: list["Line"] = field(default_factory=list["Line"])


def run_hivm(func_text: str, arrays: Sequence[Any]) -> None:
    """Runs `func.func` on its gm arguments, contiguous arrays in order, changed in place."""
    lines = func_text.splitlines()
    names = re.findall(r"(%\w+): memref<(?!\?xi8> \{)", lines[0])
    found = re.search(r"hacc\.block_dim = (\d+)", lines[0])
    blocks = int(found.group(1)) if found else 1
    body = _read(iter(lines[1:]))
    cores = 2 if "get_sub_block_idx" in func_text else 1
    for block in range(blocks):
        both: list[_Kernel] = []
        for core in range(cores):
            kernel = _Kernel({"get_block_idx": block, "get_block_num": blocks})
            kernel.hardware["get_sub_block_idx"] = core
            kernel.env.update(zip(names, arrays, strict=True))
            both.append(kernel)
        with np.errstate(all="ignore"):
            _run_together(both, body)


def _run_together(both: Sequence["_Kernel"], body: Sequence[Line]) -> None:
    """Runs a block on both vector cores, line by line: what one writes to gm the other may read.
    A loop with other bounds on each core, or one that carries tensors, is run by each alone."""
    for line in body:
        loops = [kernel.counter(line) for kernel in both] if line.name == "scf.for" else []
        if not loops or line.results or any(other != loops[0] for other in loops):
            for kernel in both:
                kernel.run([line])
            continue
        name, counts = loops[0]
        for count in counts:
            for kernel in both:
                kernel.env[name] = count
            _run_together(both, line.body)


def _read(lines: Iterator[str]) -> list[Line]:
    """The operations up to the closing brace."""
    found: list[Line] = []
    for text in lines:
        if text.strip() == "}":
            break
        match = _LINE.match(text)
        assert match is not None, text
        results = _NAME.findall(match.group(1) or "")
        line = Line(results, match.group(2), match.group(3))
        if line.name == "scf.for":
            line.body = _read(lines)
        found.append(line)
    return found


class _Kernel:
    def __init__(self, hardware: dict[str, int]) -> None:
        self.hardware = hardware
        self.env: dict[str, Any] = {}

    def run(self, body: Sequence[Line]) -> list[Any]:
        """Runs a block; gives what it yields."""
        for line in body:
            if line.name == "scf.yield":
                return [self.env[name] for name in _NAME.findall(line.rest)]
            if line.name in ("return", "annotation.mark"):
                continue
            if line.name == "scf.for":
                self._loop(line)
                continue
            value = self._value(line)
            if line.results:
                self.env[line.results[0]] = value
        return []

    def counter(self, line: Line) -> tuple[str, range]:
        """The counter of a loop and its values."""
        head = _LOOP.match(line.rest)
        assert head is not None, line.rest
        return head.group(1), range(*(self.env[head.group(i)] for i in (2, 3, 4)))

    def _loop(self, line: Line) -> None:
        counter, counts = self.counter(line)
        carried = _ITER.findall(line.rest.partition(" iter_args")[2])
        values = [self.env[start] for _, start in carried]
        for count in counts:
            self.env[counter] = count
            self.env.update(zip((name for name, _ in carried), values, strict=True))
            values = self.run(line.body)
        self.env.update(zip(line.results, values, strict=True))

    def _value(self, line: Line) -> Any:
        dialect, _, name = line.name.partition(".")
        if dialect == "arith":
            return self._arith(name, line.rest)
        if dialect == "hivm":
            return self._hivm(name.removeprefix("hir."), line)
        method: Callable[[str], Any] = getattr(self, f"_{dialect}_{name}")
        return method(line.rest)

    # Scalars

    def _arith(self, name: str, rest: str) -> Any:
        if name == "constant":
            return _constant(rest.strip())
        values = [self.env[n] for n in _NAME.findall(rest)]
        if name == "cmpi":
            return _COMPARE[rest.split(",")[0].strip()](*values)
        if name == "index_cast":
            return int(values[0])
        return values[1 if values[0] else 2] if name == "select" else _ARITH[name](*values)

    def _list(self, text: str) -> list[int]:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        return [self.env[p] if p.startswith("%") else int(p) for p in parts]

    # Views

    def _memref_alloc(self, rest: str) -> Any:
        return _fresh(rest.rpartition(" : ")[2])

    _tensor_empty = _memref_alloc

    def _memref_subview(self, rest: str) -> Any:
        match = _LISTS.search(rest)
        assert match is not None, rest
        source = self.env[match.group(1)]
        offsets, sizes, steps = (self._list(match.group(i)) for i in (2, 3, 4))
        for offset, size, step, extent in zip(offsets, sizes, steps, source.shape, strict=True):
            inside = size == 0 or (offset >= 0 and offset + (size - 1) * step < extent)
            assert inside and size >= 0, f"outside of {source.shape}:{rest}"
        slices = (slice(o, o + s * t, t) for o, s, t in zip(offsets, sizes, steps, strict=True))
        view = source[tuple(slices)]
        static = [part.strip() for part in match.group(3).split(",")]
        result = _type(rest.rpartition(" to ")[2])
        return (
            view.reshape(view.shape)
            if len(static) == len(result.sizes)
            else _drop(view, static, result)
        )

    def _tensor_collapse_shape(self, rest: str) -> Any:
        shape = tuple(size or 0 for size in _type(rest.rpartition(" into ")[2]).sizes)
        return self.env[_NAME.findall(rest)[0]].reshape(shape)

    def _memref_cast(self, rest: str) -> Any:
        return self.env[_NAME.findall(rest)[0]]

    def _tensor_extract_slice(self, rest: str) -> Any:
        return self._memref_subview(rest).copy()

    def _memref_reinterpret_cast(self, rest: str) -> Any:
        match = _CAST.search(rest)
        assert match is not None, rest
        flat = self.env[match.group(1)].reshape(-1)
        (offset,), sizes, strides = (self._list(match.group(i)) for i in (2, 3, 4))
        last = offset + sum(
            (size - 1) * stride for size, stride in zip(sizes, strides, strict=True)
        )
        assert offset >= 0 and last < flat.size, f"outside of {flat.size}:{rest}"
        return as_strided(flat[offset:], sizes, [stride * flat.itemsize for stride in strides])

    def _memref_load(self, rest: str) -> Any:
        match = re.match(r" (%\w+)\[([^\]]*)\]", rest)
        assert match is not None, rest
        indices = self._list(match.group(2))
        source = self.env[match.group(1)]
        assert all(0 <= i < n for i, n in zip(indices, source.shape, strict=True)), rest
        return source[tuple(indices)].item()

    def _bufferization_to_tensor(self, rest: str) -> Any:
        return self.env[_NAME.findall(rest)[0]].copy()

    def _tensor_expand_shape(self, rest: str) -> Any:
        shape = re.search(r"output_shape \[([^\]]*)\]", rest)
        assert shape is not None, rest
        return self.env[_NAME.findall(rest)[0]].reshape(self._list(shape.group(1)))

    # Instructions

    def _hivm(self, name: str, line: Line) -> Any:
        if name in self.hardware:
            return self.hardware[name]
        rest = line.rest
        ins, outs = _INS.search(rest), _OUTS.search(rest)
        assert ins is not None and outs is not None, rest
        sources = [self.env[n] for n in _NAME.findall(ins.group(1))]
        dest = self.env[outs.group(1)]
        if line.results:
            dest = dest.copy()
        dims = _DIMS.search(rest)
        axes = [] if dims is None else self._list(dims.group(1))
        if name == "mmadL1":
            _mmad(sources, dest, rest)
        elif name == "fixpipe":
            rows, columns = dest.shape
            value = sources[0][:rows, :columns]
            dest[...] = np.maximum(value, 0) if "NORMAL_RELU" in rest else value
        else:
            _vector(name, sources, dest, axes, rest)
        return dest


def _mmad(sources: list[Any], acc: Any, rest: str) -> None:
    """Rows and columns behind m and n hold anything afterwards."""
    a, b, init, m, k, n, *bias = sources
    left = a[:k, :m].T if "a_transpose" in rest else a[:m, :k]
    right = b[:n, :k].T if "b_transpose" in rest else b[:k, :n]
    assert left.shape == (m, k) and right.shape == (k, n), f"{left.shape} {right.shape}:{rest}"
    product = left.astype(np.float32) @ right.astype(np.float32)
    value = product + (bias[0][:n] if bias else 0) if init else acc[:m, :n] + product
    acc[...] = np.nan
    acc[:m, :n] = value


def _vector(name: str, sources: list[Any], dest: Any, axes: list[int], rest: str) -> None:
    if name in ("load", "store", "copy"):
        assert sources[0].shape == dest.shape and sources[0].dtype == dest.dtype, rest
        dest[...] = sources[0]
    elif name == "vreduce":
        kind = re.search(r"<(\w+)>", rest)
        assert kind is not None, rest
        wide = sources[0].astype(np.float32) if dest.dtype == np.float16 else sources[0]
        dest[...] = _REDUCE[kind.group(1)](wide, axis=tuple(axes), keepdims=True)
    elif name == "vtranspose":
        dest[...] = sources[0].transpose(axes)
    elif name == "vcast":
        mode = re.search(r"round_mode = <(\w+)>", rest)
        dest[...] = _cast(sources[0], dest.dtype, "rint" if mode is None else mode.group(1))
    else:
        for source in sources:
            _check_broadcast(source, dest, axes, rest)
        if name == "vcmp":
            found = re.search(r"compare_mode = <(\w+)>", rest)
            assert found is not None, rest
            dest[...] = _MODES[found.group(1)](*sources)
        else:
            dest[...] = _VECTOR[name](*sources)


def _check_broadcast(source: Any, dest: Any, axes: list[int], rest: str) -> None:
    shape: tuple[int, ...] | None = getattr(source, "shape", None)
    for axis, (size, wanted) in enumerate(zip(shape or (), dest.shape, strict=bool(shape))):
        assert size == wanted or (size == 1 and axis in axes), f"{shape}:{rest}"


def _cast(source: Any, dtype: Any, mode: str) -> Any:
    integer = np.issubdtype(dtype, np.integer)
    if source.dtype.kind in "iub" or not integer:
        return source.astype(np.float32).astype(dtype) if source.dtype.kind == "V" else source
    rounded = {"rint": np.rint, "trunc": np.trunc, "floor": np.floor, "ceil": np.ceil}[mode]
    return rounded(source.astype(np.float64)).astype(dtype)


def _drop(view: Any, static: list[str], result: MemRef) -> Any:
    """The view without the dimensions of size 1 that its printed type does not have."""
    index: list[Any] = []
    kept = 0
    for text in static:
        wanted = result.sizes[kept] if kept < len(result.sizes) else 0
        if text == str(wanted) or (text.startswith("%") and wanted is None):
            index.append(slice(None))
            kept += 1
        else:
            assert text == "1", f"{static} to {result}"
            index.append(0)
    assert kept == len(result.sizes), f"{static} to {result}"
    return view[tuple(index)]


def _fresh(text: str) -> Any:
    type_ = _type(text)
    dtype = DTYPES[type_.element]
    array = np.empty(tuple(size or 0 for size in type_.sizes), dtype)
    array[...] = np.nan if np.dtype(dtype).kind in "fV" else True
    return array


def _type(text: str) -> MemRef:
    found = parse_memref(re.sub(r"^tensor<", "memref<", text.strip()))
    assert found is not None, text
    return found


def _constant(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    number, _, type_ = text.partition(" : ")
    if type_ not in ("f16", "bf16", "f32"):
        return int(number)
    if not number.startswith("0x"):
        return float(number)
    bits = int(number, 16) << (16 if type_ == "bf16" else 0)
    wide = np.array(bits, np.uint16 if type_ == "f16" else np.uint32)
    return float(wide.view(np.float16 if type_ == "f16" else np.float32))


def _truncated(a: int, b: int) -> int:
    return int(a / b)


def _ceiling(a: int, b: int) -> int:
    return -(-a // b)


def _below(a: int, b: int) -> bool:
    return a % 2**64 < b % 2**64


def _and(a: Any, b: Any) -> Any:
    return a & b


def _or(a: Any, b: Any) -> Any:
    return a | b


def _quotient(a: int, b: int) -> int:
    return a // b


def _same(x: Any) -> Any:
    return x


def _relu(x: Any) -> Any:
    return np.maximum(x, 0)


def _inverse(x: Any) -> Any:
    return 1 / x


def _inverse_root(x: Any) -> Any:
    return 1 / np.sqrt(x)


_COMPARE: dict[str, Callable[..., Any]] = {
    **{"eq": operator.eq, "ne": operator.ne, "slt": operator.lt, "sle": operator.le},
    **{"sgt": operator.gt, "sge": operator.ge, "ult": _below},
}
_ARITH: dict[str, Callable[..., Any]] = {
    **{"addi": operator.add, "subi": operator.sub, "muli": operator.mul, "andi": _and, "ori": _or},
    **{"divui": _quotient, "remui": operator.mod, "divsi": _truncated, "ceildivsi": _ceiling},
    **{"minsi": min, "maxsi": max},
}
_MODES: dict[str, Callable[..., Any]] = {
    **{"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal},
    **{"gt": np.greater, "ge": np.greater_equal},
}
_REDUCE: dict[str, Callable[..., Any]] = {
    **{"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod},
}
_VECTOR: dict[str, Callable[..., Any]] = {
    **{"vadd": np.add, "vsub": np.subtract, "vmul": np.multiply, "vdiv": np.divide},
    **{"vmax": np.maximum, "vmin": np.minimum, "vabs": np.abs, "vexp": np.exp, "vln": np.log},
    **{"vsqrt": np.sqrt, "vsel": np.where, "vnot": np.invert, "vand": _and, "vor": _or},
    **{"vbrc": _same, "vrelu": _relu, "vrec": _inverse, "vrsqrt": _inverse_root},
}
