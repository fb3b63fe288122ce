"""`fusec reduce MODEL`: a small part of a model on which a command still fails as on the whole."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from xdsl.ir import Operation

from fusec.accuracy.reduce import minimize, operators, subset
from fusec.tools.cli.session import Progress, open_model, print_json
from fusec.tools.output import write_text
from fusec.tools.stages import module_text
from fusec.tools.status import ExitStatus, InputError, UsageError

PLACE = "{}"
"""What stands for the file in a command."""


def run(options: argparse.Namespace) -> int:
    """Leaves out operators as long as the command gives the same status; writes what is left."""
    command = shlex.split(options.command_line)
    if PLACE not in command:
        raise UsageError(f"--command: {PLACE} has to stand where the file goes")
    progress = Progress(options)
    module = open_model(options, progress).module
    ops = operators(module)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "part.mlir"

        def status(kept: Sequence[Operation]) -> int:
            file.write_text(module_text(subset(module, kept)) + "\n")
            words = [str(file) if word == PLACE else word for word in command]
            try:
                found = subprocess.run(words, capture_output=True, check=False).returncode
            except OSError as error:
                raise InputError(f"cannot run '{words[0]}': {error.strerror or error}") from error
            progress(f"{len(kept)} operators: exit status {found}")
            return found

        wanted = status(ops)
        if wanted == 0:
            print("the command does not fail on the whole model")
            return ExitStatus.CHECK_FAILED
        kept = minimize(ops, lambda part: status(part) == wanted)
    write_text(Path(options.output), module_text(subset(module, kept)) + "\n")
    if options.json:
        print_json({"model": options.model, "operators": len(ops), "kept": len(kept)})
    else:
        print(f"{len(kept)} of {len(ops)} operators in {options.output}, exit status {wanted}")
    return ExitStatus.OK
