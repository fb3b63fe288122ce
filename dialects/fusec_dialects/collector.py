"""Python's garbage collector left alone while much IR is made."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Generator[None]:
    """Reading a model and running passes make many small objects and little garbage in cycles:
    looking for it takes from a tenth to a third of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
