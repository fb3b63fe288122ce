"""`fusec run MODEL`: outputs of a level, from inputs in a file or seeded ones."""

from __future__ import annotations

import argparse
import zipfile
from pathlib import Path

import numpy as np

from fusec.accuracy.inputs import seeded_inputs
from fusec.semantics.dtypes import Array
from fusec.tools.cli.session import Progress, compile_model, open_model, print_json
from fusec.tools.output import write_bytes
from fusec.tools.status import InputError


def read_arrays(path: str) -> dict[str, Array]:
    """Arrays of an .npz file by name; nothing in it is unpickled."""
    try:
        with np.load(path, allow_pickle=False) as file:
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise InputError(f"'{path}' is a single array; store the inputs by name in an .npz")
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise InputError(f"cannot read the inputs '{path}': {error}") from error


def write_arrays(path: str, arrays: dict[str, Array]) -> None:
    """Arrays by name as .npz, whole or not at all."""
    import io

    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # pyright: ignore[reportArgumentType]
    write_bytes(Path(path), buffer.getvalue())


def run(options: argparse.Namespace) -> int:
    """Runs and writes or summarises the outputs."""
    progress = Progress(options)
    model = open_model(options, progress)
    given = None if options.inputs is None else read_arrays(options.inputs)
    inputs = seeded_inputs(model.module, options.seed) if given is None else given
    if options.level == "graph":
        outputs = model.run(inputs)
    else:
        compiled = compile_model(model, options, progress)
        progress(f"running at level {options.level}")
        outputs = compiled.run(inputs, options.level)
    if options.outputs is not None:
        write_arrays(options.outputs, outputs)
    summary = {name: _summary(array) for name, array in outputs.items()}
    if options.json:
        print_json({"model": options.model, "level": options.level, "outputs": summary})
    else:
        for name, row in summary.items():
            print(f"{name}: {row['type']}{row['shape']} min {row['min']:.6g} max {row['max']:.6g}")
    return 0


def _summary(array: Array) -> dict[str, object]:
    wide = array.astype(np.float64)
    return {
        "shape": list(array.shape),
        "type": array.dtype.name,
        "min": float(wide.min()) if array.size else 0.0,
        "max": float(wide.max()) if array.size else 0.0,
    }
