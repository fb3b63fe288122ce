"""`fusec compare MODEL`: a level against a reference, exit status 1 where it is too far off."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from fusec.accuracy.compare import worst
from fusec.accuracy.inputs import seeded_inputs
from fusec.tools.cli.session import Progress, open_graph, print_json, run_level
from fusec.tools.status import ExitStatus, UsageError

_TEXTS = {"onnxruntime": "ONNX Runtime", "float64": "the operators in float64"}


def run(options: argparse.Namespace) -> int:
    """Compares the worst output with the tolerance."""
    is_onnx = options.model.endswith(".onnx")
    kind = options.reference or ("onnxruntime" if is_onnx else "float64")
    if kind == "onnxruntime" and not is_onnx:
        raise UsageError("ONNX Runtime runs .onnx models only; say --reference float64")
    progress = Progress(options)
    model = open_graph(options, progress)
    repeated = set(model.weights.repeated)
    progress("drawing inputs and weights")
    model = model.seeded(options.seed)
    inputs = seeded_inputs(model.module, options.seed)
    progress(f"running {_TEXTS[kind]}")
    if kind == "float64":
        reference = model.run(inputs, oracle=True)
    else:
        from fusec.accuracy.reference import run_reference

        reference = run_reference(options.model, model.weights, repeated, inputs)
    found = run_level(model, inputs, options, progress)
    result = worst(found, reference)
    passed = result.max_rel_error <= options.tolerance
    judge: dict[str, float] = {}
    if kind == "onnxruntime" and not passed:
        progress(f"it is too far off; asking {_TEXTS['float64']}")
        oracle = model.run(inputs, oracle=True)
        judge = {
            "float64_rel_error": worst(found, oracle).max_rel_error,
            "onnxruntime_rel_error": worst(reference, oracle).max_rel_error,
        }
    if options.json:
        print_json(
            {
                "model": options.model,
                "level": options.level,
                "reference": kind,
                "tolerance": options.tolerance,
                **asdict(result),
                "passed": passed,
                **judge,
            }
        )
    else:
        print(
            f"{options.model}, level {options.level}, against {_TEXTS[kind]}, "
            f"worst output '{result.output}': "
            f"largest error {result.max_abs_error:.3g}, relative {result.max_rel_error:.3g} "
            f"(allowed {options.tolerance:.3g}), cosine {result.cosine:.9f}: "
            f"{'passed' if passed else 'FAILED'}"
        )
        if judge:
            print(
                f"against {_TEXTS['float64']}: this level {judge['float64_rel_error']:.3g}, "
                f"ONNX Runtime itself {judge['onnxruntime_rel_error']:.3g}"
            )
    return ExitStatus.OK if passed else ExitStatus.CHECK_FAILED
