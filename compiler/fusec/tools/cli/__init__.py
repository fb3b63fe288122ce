"""The command `fusec`: parsing and printing for compile, run, profile, explain,
compare, bisect, reduce, ascend-check."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from fusec.tools.status import guard

PROGRAM = "fusec"


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits with a documented status."""
    sys.exit(guard(PROGRAM, lambda: _run(sys.argv[1:] if arguments is None else arguments)))


def _run(arguments: Sequence[str]) -> int:
    """Parses and runs; gives the exit status, raises what `guard` explains."""
    from importlib import import_module

    from fusec.tools.cli.arguments import parse

    options = parse(arguments)
    from fusec.pipelines import watching
    from fusec.tools.cli.dump import GraphDump

    dump = options.dump = GraphDump(options.configured.environment.dump)
    for note in options.configured.notes:
        print(f"{PROGRAM}: note: {note}", file=sys.stderr)
    command = import_module(f"fusec.tools.cli.{options.command.replace('-', '_')}")
    with watching(dump.passed), dump:
        return int(command.run(options))
