"""Exit statuses of every command line, and the one place where an error becomes a message.

`guard` runs a tool's body: a user's mistake gives one message on stderr and a documented status;
anything else is an internal error. The table is docs/exit-statuses.md.
"""

import contextlib
import os
import sys
import traceback
from collections.abc import Callable
from enum import IntEnum

from xdsl.utils.exceptions import (
    ArgSpecParseError,
    DiagnosticException,
    MultipleSpansParseError,
    ParseError,
)

from fusec.hw import TargetError, TargetFileError
from fusec_dialects.errors import DoesNotFitError, InvalidResultError


class ExitStatus(IntEnum):
    OK = 0
    CHECK_FAILED = 1
    USAGE = 2
    BAD_INPUT = 3
    DOES_NOT_FIT = 4
    CANNOT_WRITE = 5
    INTERNAL = 70
    INTERRUPTED = 130


class UsageError(Exception):
    """The command line asks for something that does not exist; the text says what does."""


class InputError(Exception):
    """A file that cannot be read as what it should be; the text names it and says what to do."""


class CannotWriteError(Exception):
    """An output that cannot be written; the text names the path and the reason."""


_EXTRAS = {"onnx": "onnx", "onnxruntime": "test", "llvmlite": "ascend", "ascendnpu_ir": "ascend"}
"""Optional package -> the extra that brings it."""


def guard(program: str, body: Callable[[], int | None]) -> int:
    """Runs `body` and returns the exit status; prints at most one message, to stderr.

    FUSEC_DEBUG=1 adds the traceback.
    """
    try:
        status = body() or ExitStatus.OK
        sys.stdout.flush()
        return int(status)
    except BrokenPipeError:
        # The reader has gone (`| head`): nobody is left to tell, and Python must not try at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitStatus.CANNOT_WRITE
    except KeyboardInterrupt:
        return _tell(program, "interrupted", ExitStatus.INTERRUPTED)
    except (Exception, ArgSpecParseError) as error:
        return _tell(program, *_explain(error))


def _tell(program: str, message: str, status: ExitStatus) -> int:
    with contextlib.suppress(OSError):  # stderr itself may be full or closed
        print(f"{program}: error: {message.strip()}", file=sys.stderr)
        if os.environ.get("FUSEC_DEBUG") == "1":
            traceback.print_exc()
    return int(status)


def _explain(error: BaseException) -> tuple[str, ExitStatus]:
    match error:
        case UsageError():
            return str(error), ExitStatus.USAGE
        case ArgSpecParseError():
            text = str(error).removeprefix("Error parsing pass pipeline specification:\n")
            return f"the pass list cannot be read: {text}", ExitStatus.USAGE
        case CannotWriteError():
            return str(error), ExitStatus.CANNOT_WRITE
        case InvalidResultError():
            return str(error), ExitStatus.INTERNAL
        case DoesNotFitError():
            return str(error), ExitStatus.DOES_NOT_FIT
        case DiagnosticException():
            return str(error), ExitStatus.BAD_INPUT
        case ParseError():
            return _parse_message(error), ExitStatus.BAD_INPUT
        case InputError() | TargetFileError():
            return str(error), ExitStatus.BAD_INPUT
        case TargetError():
            return str(error), ExitStatus.USAGE
        case RecursionError():
            return "the input is nested too deeply", ExitStatus.BAD_INPUT
        case ModuleNotFoundError() if error.name and error.name.split(".")[0] in _EXTRAS:
            package = error.name.split(".")[0]
            advice = f"install it with pip install 'fusec[{_EXTRAS[package]}]'"
            return f"this needs the package {package}: {advice}", ExitStatus.USAGE
        case OSError():
            return _explain_os_error(error)
        case ValueError() if type(error).__module__.startswith(("fusec.", "fusec_dialects.")):
            return str(error), ExitStatus.BAD_INPUT
        case MemoryError():
            return "out of memory", ExitStatus.INTERNAL
        case _:
            what = " ".join(f"{type(error).__name__}: {error}".split())
            return (
                f"internal error: {what[:300]}; please report it with the input "
                "(FUSEC_DEBUG=1 adds the traceback)",
                ExitStatus.INTERNAL,
            )


def _explain_os_error(error: OSError) -> tuple[str, ExitStatus]:
    """An OSError that nobody named an output for: with a file name it was a read."""
    reason = (error.strerror or str(error)).lower()
    if error.filename is None:
        return f"cannot write the output: {reason}", ExitStatus.CANNOT_WRITE
    return f"cannot read {error.filename!r}: {reason}", ExitStatus.BAD_INPUT


def _parse_message(error: ParseError) -> str:
    """`file:line:column: message`, then the source line with a mark, unless it is very long."""
    context = error.span.print_with_context().split("\n", 1)[1]
    if max(map(len, context.splitlines()), default=0) > 200:
        context = ""
    text = f"{error.span.get_location()}: {error.msg}\n{context}"
    if isinstance(error, MultipleSpansParseError):
        text += "".join(f"{span.get_location()}: {note or ''}\n" for span, note in error.refs)
    return text
