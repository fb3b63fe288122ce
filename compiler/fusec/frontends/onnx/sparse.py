"""Sparse tensors of ONNX as dense arrays."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from onnx import SparseTensorProto, TensorProto

from fusec.frontends.errors import ImportFailure
from fusec.semantics.dtypes import Array


def dense_array(sparse: SparseTensorProto, read: Callable[[TensorProto], Array]) -> Array:
    """The dense tensor: zero but at the indices, which are linear [n] or coordinates [n, rank].

    `read` reads values and indices. Raises ImportFailure where they do not fit the shape.
    """
    shape = tuple(sparse.dims)
    what = f"sparse tensor '{sparse.values.name}'"
    values, indices = read(sparse.values).reshape(-1), read(sparse.indices)
    if min(shape, default=0) < 0 or indices.dtype.kind not in "iu":
        raise ImportFailure(f"{what} is damaged: its shape is {list(shape)}")
    if indices.ndim == 2 and indices.shape == (values.size, len(shape)):
        coordinates = tuple(indices.T)
    elif indices.shape == (values.size,):
        inside = values.size == 0 or (indices.min() >= 0 and indices.max() < prod(shape))
        coordinates = np.unravel_index(indices, shape) if inside else ()
    else:
        coordinates = ()
    fits = len(coordinates) == len(shape) and all(
        part.size == 0 or (part.min() >= 0 and part.max() < size)
        for part, size in zip(coordinates, shape, strict=True)
    )
    if not fits:
        raise ImportFailure(
            f"{what} is damaged: indices {list(indices.shape)} do not fit {values.size} values of "
            f"{list(shape)}"
        )
    dense = np.zeros(shape, values.dtype)
    dense[coordinates] = values
    return dense
