"""Arrays by name in .npz files; nothing in one is ever unpickled.

bfloat16, which numpy's files do not know, is stored as the two bytes of each element.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from typing import BinaryIO, cast

import numpy as np

from fusec.semantics.dtypes import Array, np_dtype
from fusec.tools.status import InputError

_ADVICE = "store the inputs by name with numpy.savez"


def read_arrays(path: str) -> dict[str, Array]:
    """Arrays of an .npz file by name. Raises InputError for what is not a whole one."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {
                info.filename.removesuffix(".npy"): _read(archive, info)
                for info in archive.infolist()
            }
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"cannot read the inputs '{path}': {reason}; {_ADVICE}") from error
    except (zipfile.BadZipFile, EOFError) as error:
        raise InputError(f"'{path}' is not a whole .npz file ({error}); {_ADVICE}") from error
    except (ValueError, zlib.error, NotImplementedError, RuntimeError, MemoryError) as error:
        raise InputError(f"cannot read the inputs '{path}': {error}; {_ADVICE}") from error


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Array:
    if not info.filename.endswith(".npy"):
        raise ValueError(f"'{info.filename}' in it is no array")
    with archive.open(info) as member:
        try:
            stream = cast(BinaryIO, member)
            array: Array = np.lib.format.read_array(stream, allow_pickle=False)
        except (ValueError, MemoryError) as error:
            text = str(error).splitlines()[0] if str(error) else "it is too large"
            raise ValueError(f"'{info.filename}' in it cannot be read: {text}") from error
    return array.view(np_dtype("bfloat16")) if array.dtype == np.dtype("V2") else array


def write_arrays(stream: BinaryIO, arrays: Mapping[str, Array]) -> None:
    """Writes an .npz file."""
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            plain = array.view(np.dtype("V2")) if array.dtype.name == "bfloat16" else array
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(cast(BinaryIO, member), plain, allow_pickle=False)
