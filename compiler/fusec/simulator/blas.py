"""numpy's matrix products on one thread: tiles of a kernel are too small to share between
threads."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec


@cache
def _thread_functions() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Reading and setting OpenBLAS's number of threads; None where numpy has another BLAS."""
    spec = find_spec("numpy._core._multiarray_umath")
    if spec is None or spec.origin is None:
        return None
    try:
        library = ctypes.CDLL(spec.origin)
        get = library.scipy_openblas_get_num_threads64_
        set_ = library.scipy_openblas_set_num_threads64_
    except (OSError, AttributeError):
        return None
    get.restype, set_.restype, set_.argtypes = ctypes.c_int, None, [ctypes.c_int]
    return get, set_


@contextmanager
def one_thread() -> Generator[None]:
    """Within this, matrix products run on the calling thread (where numpy uses OpenBLAS)."""
    functions = _thread_functions()
    if functions is None:
        yield
        return
    get, set_ = functions
    before = get()
    set_(1)
    try:
        yield
    finally:
        set_(before)
