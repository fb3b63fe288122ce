"""Own fusions and operators from files and from installed packages.

In: a Python file that uses `fusec.opbase`, an `.mlir` file of pdl patterns, or the entry points of
the group `fusec.fusions`. Out: what they register; nothing of a source that fails.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from traceback import extract_tb

from xdsl.utils.exceptions import ParseError, VerifyException

from fusec.fusion.patterns.own import OWN
from fusec.opbase.fusions import register, unregister
from fusec.opbase.symbols import FusionError
from fusec_dialects.graph import OWN as OPERATORS


def load(path: Path | str) -> list[str]:
    """Register what a file holds: Python that uses this package, or `.mlir` with pdl patterns.

    Gives the names. Raises FusionError, with the file, for one that cannot be taken, and leaves
    nothing of the file behind then.
    """
    path = Path(path)
    loader = _LOADERS.get(path.suffix)
    if loader is None:
        raise FusionError(f"'{path}': own fusions are in a .py or an .mlir file")
    with _all_or_nothing(str(path)) as names:
        loader(path)
    return names


def load_pdl(path: Path | str) -> list[str]:
    """Register the pdl patterns of a file, whatever it is called; as `load`."""
    path = Path(path)
    with _all_or_nothing(str(path)) as names:
        _load_pdl(path)
    return names


def load_entry_points(group: str) -> tuple[str, ...]:
    """Register what installed packages bring in a group of entry points; gives the names.

    Raises FusionError, with the package, for one that cannot be taken.
    """
    found: list[str] = []
    for entry in entry_points(group=group):
        package = entry.dist.name if entry.dist is not None else "?"
        with _all_or_nothing(f"entry point '{entry.name}' of {package}") as names:
            _run_entry(entry)
        found += names
    return tuple(found)


def _run_entry(entry: EntryPoint) -> None:
    try:
        made = entry.load()
        if callable(made) and not isinstance(made, type):
            made()
    except FusionError:
        raise
    except Exception as error:  # whatever the package's own code raises
        raise FusionError(f"{entry.value}: {type(error).__name__}: {error}") from error


@contextmanager
def _all_or_nothing(source: str) -> Generator[list[str]]:
    """Fills in the names that are new at the end; takes all of them out where something fails."""
    before = {*OWN.fusions, *OPERATORS}
    names: list[str] = []
    try:
        yield names
    except (FusionError, OSError, ParseError, VerifyException) as error:
        for name in {*OWN.fusions, *OPERATORS} - before:
            unregister(name)
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FusionError(text if source in text else f"{source}: {text}") from error
    names += [name for name in dict.fromkeys((*OPERATORS, *OWN.fusions)) if name not in before]


def _load_python(path: Path) -> None:
    try:
        code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    except (SyntaxError, ValueError) as error:
        raise FusionError(f"not Python: {error}") from error
    try:
        exec(code, {"__name__": path.stem, "__file__": str(path)})
    except FusionError:
        raise
    except Exception as error:  # whatever the user's own code raises
        frames = reversed(extract_tb(error.__traceback__))
        line = next((f.lineno for f in frames if f.filename == str(path)), 0)
        raise FusionError(f"{path}:{line}: {type(error).__name__}: {error}") from error


def _load_pdl(path: Path) -> None:
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.pdl import PDL

    from fusec.frontends.mlir import LocatedParser, decode
    from fusec.fusion.patterns.pdl import fusions_of

    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(PDL)
    text = decode(path.read_bytes(), str(path))
    module = LocatedParser(context, text, str(path)).parse_module()
    module.verify()
    for own in fusions_of(module):
        register(own)


_LOADERS: dict[str, Callable[[Path], None]] = {".py": _load_python, ".mlir": _load_pdl}
