"""Output files that are whole or absent: written beside their place, then renamed into it."""

import contextlib
import os
import stat
import tempfile
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, TextIO

from fusec.tools.status import CannotWriteError


class OutputFile:
    """A file that appears under its name on `commit()`; until then its streams write beside it.

    `stream` takes text, `raw` bytes: use one of them.
    A name that is no regular file (a device, a pipe) is written directly.
    Raises CannotWriteError, from the constructor wherever the fault can be known that early.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._temporary: Path | None = None
        try:
            self.raw: BinaryIO = self._open()
        except OSError as error:
            raise self.fault(error) from error
        self.stream: TextIO = TextIOWrapper(self.raw, encoding="utf-8", write_through=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Commits, or discards after an error."""
        if kind is None:
            self.commit()
            return
        self.discard()

    def commit(self) -> None:
        """Closes the stream and puts the file in its place."""
        try:
            self.stream.close()
            if self._temporary is not None:
                os.replace(self._temporary, self._path.resolve())
        except OSError as error:
            self.discard()
            raise self.fault(error) from error

    def write(self, data: bytes | str) -> None:
        """Writes bytes or text. Raises CannotWriteError."""
        try:
            if isinstance(data, str):
                self.stream.write(data)
            else:
                self.raw.write(data)
        except OSError as error:
            raise self.fault(error) from error

    def discard(self) -> None:
        """Leaves nothing behind; what stood under the name before is still there."""
        with contextlib.suppress(OSError):
            self.stream.close()
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)

    def _open(self) -> BinaryIO:
        target = self._path.resolve()
        if target.is_dir():
            raise IsADirectoryError(21, "it is a directory")
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            return open(target, "wb")
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(13, "permission denied")
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        self._temporary = Path(name)
        os.fchmod(handle, target.stat().st_mode if target.exists() else 0o666 & ~_umask())
        return open(handle, "wb")

    def fault(self, error: OSError) -> CannotWriteError:
        """`error` as a message that names the path and says what to do."""
        reason = (error.strerror or str(error)).lower()
        return CannotWriteError(
            f"cannot write {str(self._path)!r}: {reason}; name a file in a folder that exists "
            "and may be written"
        )


def write_text(path: Path, text: str) -> None:
    """Writes a whole text file or none. Raises CannotWriteError."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a whole file or none. Raises CannotWriteError."""
    with OutputFile(str(path)) as output:
        output.write(data)


def _umask() -> int:
    """The process's umask; the only way to read it is to set it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
