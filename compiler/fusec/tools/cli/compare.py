"""`fusec compare MODEL`: a level against ONNX Runtime, exit status 1 where it is too far off."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from fusec.accuracy.compare import worst
from fusec.accuracy.inputs import seeded_inputs
from fusec.accuracy.reference import run_reference
from fusec.tools.cli.session import Progress, compile_model, open_model, print_json
from fusec.tools.status import ExitStatus, UsageError


def run(options: argparse.Namespace) -> int:
    """Compares the worst output with the tolerance."""
    if not options.tolerance >= 0:
        raise UsageError(f"--tolerance {options.tolerance}: a number of at least 0 is needed")
    progress = Progress(options)
    model = open_model(options, progress)
    if not options.model.endswith(".onnx"):
        raise UsageError("compare needs an ONNX model, since ONNX Runtime is the reference")
    replaced = set(model.weights.repeated)
    progress("drawing inputs and weights")
    model = model.seeded(options.seed)
    inputs = seeded_inputs(model.module, options.seed)
    progress("running ONNX Runtime")
    reference = run_reference(options.model, model.weights, replaced, inputs)
    if options.level == "graph":
        found = model.run(inputs)
    else:
        compiled = compile_model(model, options, progress)
        progress(f"running at level {options.level}")
        found = compiled.run(inputs, options.level)
    result = worst(found, reference)
    passed = result.max_rel_error <= options.tolerance
    data = {
        "model": options.model,
        "level": options.level,
        "tolerance": options.tolerance,
        **asdict(result),
        "passed": passed,
    }
    if options.json:
        print_json(data)
    else:
        print(
            f"{options.model}, level {options.level}, worst output '{result.output}': "
            f"largest error {result.max_abs_error:.3g}, relative {result.max_rel_error:.3g} "
            f"(allowed {options.tolerance:.3g}), cosine {result.cosine:.9f}: "
            f"{'passed' if passed else 'FAILED'}"
        )
    return ExitStatus.OK if passed else ExitStatus.CHECK_FAILED
