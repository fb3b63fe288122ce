"""`fusec run MODEL`: outputs of a level, from inputs in a file or seeded ones."""

from __future__ import annotations

import argparse
from contextlib import ExitStack

import numpy as np

from fusec.accuracy.inputs import seeded_inputs
from fusec.api import Model
from fusec.semantics.dtypes import Array
from fusec.tools.cli.arrays import read_arrays, write_arrays
from fusec.tools.cli.session import Progress, open_model, print_json, run_level
from fusec.tools.output import OutputFile
from fusec.tools.status import UsageError


def run(options: argparse.Namespace) -> int:
    """Runs and writes or summarises the outputs."""
    progress = Progress(options)
    with ExitStack() as stack:
        output = None
        if options.outputs is not None:
            output = stack.enter_context(OutputFile(options.outputs))
        given = None if options.inputs is None else read_arrays(options.inputs)
        model = open_model(options, progress)
        _check_level(model, options)
        inputs = seeded_inputs(model.module, options.seed) if given is None else given
        model.check_inputs(inputs)
        outputs = run_level(model, inputs, options, progress)
        if output is not None:
            try:
                write_arrays(output.raw, outputs)
            except OSError as error:
                raise output.fault(error) from error
    summary = {name: _summary(array) for name, array in outputs.items()}
    if options.json:
        print_json({"model": options.model, "level": options.level, "outputs": summary})
    else:
        for name, row in summary.items():
            print(f"{name}: {row['type']}{row['shape']} min {row['min']:.6g} max {row['max']:.6g}")
    return 0


def _check_level(model: Model, options: argparse.Namespace) -> None:
    """Later levels cannot be run as earlier ones."""
    if model.level == "npu" and options.level != "npu":
        raise UsageError(
            f"'{options.model}' is npu IR, which has no level {options.level}; leave --level out"
        )
    if model.level == "fused" and options.level == "graph":
        raise UsageError(
            f"'{options.model}' is fused already and has no level graph; say --level fused"
        )


def _summary(array: Array) -> dict[str, object]:
    wide = array.astype(np.float64)
    return {
        "shape": list(array.shape),
        "type": array.dtype.name,
        "min": float(wide.min()) if array.size else 0.0,
        "max": float(wide.max()) if array.size else 0.0,
    }
