"""The ONNX file as a container: its protobuf without the weights' bytes, and these as mapped views.

The wire format is walked once to find each initializer's `raw_data`, so that a large file is
neither read nor copied. Field numbers are those of onnx.proto.
"""

from __future__ import annotations

import mmap
import sys
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import cast

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import ModelProto, TensorProto

from fusec.frontends.errors import ImportFailure
from fusec.semantics.dtypes import DATA_TYPES, Array, DType

_GRAPH, _INITIALIZER, _NAME, _RAW_DATA = 7, 5, 8, 9
_KEEP = 1024
"""Raw data up to this many bytes stays in the protobuf: shapes, axes and other small constants."""


class _Truncated(Exception):
    pass


def _varint(data: memoryview, pos: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while pos < end:
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
        shift += 7
        if shift > 63:
            break
    raise _Truncated


def _fields(data: memoryview, pos: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """(field number, start of the field, start of its content, end) of one message."""
    while pos < end:
        start = pos
        tag, pos = _varint(data, pos, end)
        match tag & 7:
            case 0:
                body = pos
                _, pos = _varint(data, pos, end)
            case 1:
                body, pos = pos, pos + 8
            case 2:
                size, body = _varint(data, pos, end)
                pos = body + size
            case 5:
                body, pos = pos, pos + 4
            case _:
                raise _Truncated
        if pos > end:
            raise _Truncated
        yield tag >> 3, start, body, pos


def _length(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _message(field: int, content: bytes) -> bytes:
    return _length(field << 3 | 2) + _length(len(content)) + content


def _strip(data: memoryview) -> tuple[bytes, dict[str, memoryview]]:
    """The model's bytes without large raw data, and these by the initializer's name."""
    model: list[bytes] = []
    raw: dict[str, memoryview] = {}
    for number, start, body, end in _fields(data, 0, len(data)):
        if number != _GRAPH:
            model.append(bytes(data[start:end]))
            continue
        graph: list[bytes] = []
        for inner, istart, ibody, iend in _fields(data, body, end):
            if inner != _INITIALIZER or iend - ibody <= _KEEP:
                graph.append(bytes(data[istart:iend]))
                continue
            graph.append(_message(_INITIALIZER, _strip_tensor(data, ibody, iend, raw)))
        model.append(_message(_GRAPH, b"".join(graph)))
    return b"".join(model), raw


def _strip_tensor(data: memoryview, body: int, end: int, raw: dict[str, memoryview]) -> bytes:
    kept: list[bytes] = []
    name, content = "", None
    for number, start, fbody, fend in _fields(data, body, end):
        if number == _NAME:
            name = bytes(data[fbody:fend]).decode("utf-8", "replace")
        if number == _RAW_DATA:
            content = data[fbody:fend]
        else:
            kept.append(bytes(data[start:fend]))
    if content is not None:
        raw[name] = content
    return b"".join(kept)


def read_model(source: str | Path | bytes) -> tuple[ModelProto, dict[str, memoryview]]:
    """The model without its large weights' bytes, and these by name, mapped from the file.

    Raises ImportFailure where the file is missing, is not ONNX or is cut off.
    """
    place = "the input" if isinstance(source, bytes) else str(source)
    if isinstance(source, bytes):
        data = memoryview(source)
    else:
        try:
            with open(source, "rb") as file:
                size = file.seek(0, 2)
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        except OSError as e:
            raise ImportFailure(f"{place}: {e.strerror or e}") from e
        data = memoryview(mapped)
    advice = f"{place} is not a whole ONNX model; check that it was copied or downloaded to its end"
    try:
        stripped, raw = _strip(data)
        model = ModelProto.FromString(stripped)
    except (_Truncated, DecodeError) as e:
        raise ImportFailure(advice) from e
    if not model.HasField("graph") or not _is_text(model):
        raise ImportFailure(advice)
    if not model.opset_import:
        raise ImportFailure(f"{advice} (it imports no opset, so its operators have no meaning)")
    if sys.byteorder != "little":
        raise ImportFailure(f"{place}: ONNX stores numbers little endian; this machine does not")
    return model, raw


def _is_text(model: ModelProto) -> bool:
    """Whether every name is text; protobuf gives bytes for what is not UTF-8."""
    graph = model.graph
    names: list[object] = [graph.name, *(entry.domain for entry in model.opset_import)]
    for node in graph.node:
        names += (node.name, node.op_type, node.domain, *node.input, *node.output)
        names += (attribute.name for attribute in node.attribute)
    for value in (*graph.input, *graph.output):
        names += (value.name, *(d.dim_param for d in value.type.tensor_type.shape.dim))
    for tensor in graph.initializer:
        names += (tensor.name, *(e.key for e in tensor.external_data))
        names += (e.value for e in tensor.external_data)
    return all(isinstance(name, str) for name in names)


def numpy_dtype(code: int, what: str) -> DType:
    """The numpy type of an ONNX element type; ImportFailure, beginning with `what`, for others."""
    try:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(code)
    except (KeyError, ValueError, TypeError):
        dtype = None
    if dtype is None or dtype.name not in DATA_TYPES:
        known = code in TensorProto.DataType.values()
        name = TensorProto.DataType.Name(cast(TensorProto.DataType, code)) if known else str(code)
        raise ImportFailure(f"{what} has elements of type {name}, which is not supported")
    return dtype


def tensor_array(
    tensor: TensorProto, raw: Mapping[str, memoryview], folder: Path | None, what: str = ""
) -> Array:
    """The values of a tensor, not copied where they lie in the file as they are used.

    `what` names it in messages. Raises ImportFailure for external data outside the model's folder
    and for damaged tensors.
    """
    what = what or f"initializer '{tensor.name}'"
    dtype = numpy_dtype(tensor.data_type, what)
    shape = tuple(tensor.dims)
    if min(shape, default=0) < 0:
        raise ImportFailure(f"{what} is damaged: its shape is {list(shape)}")
    if tensor.data_location == TensorProto.EXTERNAL:
        return _external(tensor, dtype, shape, folder, what)
    content = raw.get(tensor.name)
    if content is None or tensor.HasField("raw_data"):
        try:
            return onnx.numpy_helper.to_array(tensor)
        except (ValueError, TypeError) as e:
            raise ImportFailure(f"{what} is damaged: {e}") from e
    if prod(shape) * dtype.itemsize != len(content):
        raise ImportFailure(
            f"{what} is damaged: {len(content)} bytes for {list(shape)} {dtype.name}"
        )
    return np.frombuffer(content, dtype).reshape(shape)


def _external(
    tensor: TensorProto, dtype: DType, shape: tuple[int, ...], folder: Path | None, what: str
) -> Array:
    entries = {e.key: e.value for e in tensor.external_data}
    location = entries.get("location", "")
    if not location:
        raise ImportFailure(f"{what} is damaged: its external data has no location")
    if folder is None:
        raise ImportFailure(f"{what} lies in '{location}'; give the model as a file")
    path = (folder / location).resolve()
    if Path(location).is_absolute() or not path.is_relative_to(folder.resolve()):
        raise ImportFailure(
            f"{what} lies outside the model's folder, in '{location}'; copy that file beside the "
            "model (no link), and name it by a relative path"
        )
    needed = prod(shape) * dtype.itemsize
    offset, length = (_number(entries, key, what) for key in ("offset", "length"))
    if length is not None and length != needed:
        raise ImportFailure(
            f"{what} is damaged: {length} bytes for {list(shape)} {dtype.name} in '{location}'"
        )
    try:
        if not path.is_file():
            raise ImportFailure(f"{what} lies in '{location}', which is no file beside the model")
        if path.stat().st_size < (offset or 0) + needed:
            raise ImportFailure(
                f"{what}: '{location}' is too short; check that it was copied to its end"
            )
        return np.memmap(path, dtype, "r", offset or 0, shape) if needed else np.empty(shape, dtype)
    except OSError as e:
        raise ImportFailure(f"{what}: '{location}': {e.strerror or e}") from e


def _number(entries: Mapping[str, str], key: str, what: str) -> int | None:
    text = entries.get(key)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()):
        raise ImportFailure(f"{what} is damaged: the {key} of its external data is '{text}'")
    return int(text)
