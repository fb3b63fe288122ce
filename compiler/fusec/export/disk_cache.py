"""Small texts kept between runs in the user's cache folder, by key. A folder that cannot be used
is no cache, never an error.
"""

import contextlib
import os
import zlib
from pathlib import Path
from tempfile import NamedTemporaryFile


def cache_folder() -> Path | None:
    """`$XDG_CACHE_HOME/fusec`, or `~/.cache/fusec`; None where there is no home folder."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "fusec"
    except RuntimeError:
        return None


def read(kind: str, key: str) -> str | None:
    """The text kept under `key`, or None."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        return zlib.decompress((folder / kind / key).read_bytes()).decode()
    except (OSError, zlib.error, UnicodeDecodeError):
        return None


def write(kind: str, key: str, text: str) -> None:
    """Keeps `text`. Written beside and moved into place, so that runs in parallel read all of it
    or nothing.
    """
    folder = cache_folder()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder / kind, delete=False) as file:
            file.write(zlib.compress(text.encode(), 1))
        os.replace(file.name, folder / kind / key)
