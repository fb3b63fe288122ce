"""`fusec compare MODEL`: a level against references, exit status 1 where it is too far off."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from fusec.accuracy.compare import Difference, worst
from fusec.accuracy.inputs import seeded_inputs
from fusec.accuracy.surviving import watch_graph, watch_npu
from fusec.accuracy.tensor_errors import Survey, TensorError
from fusec.api import Model
from fusec.semantics.dtypes import Array
from fusec.semantics.interpreter import Interpreter
from fusec.tools.cli.session import Progress, compile_model, fuse_model, open_graph, print_json
from fusec.tools.status import ExitStatus, UsageError

_TEXTS = {"onnxruntime": "ONNX Runtime", "float64": "the operators in float64"}

MOST_LINES = 20
"""Of the table of tensors; --json has all."""

WIDTHS = (32, 28)
"""Of names of tensors and patterns in the table."""


def run(options: argparse.Namespace) -> int:
    """Compares the outputs with the tolerance, and every tensor that survives with float64."""
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
    found, survey = _run_level(model, inputs, options, progress)
    reference = survey.outputs
    if kind == "onnxruntime":
        from fusec.accuracy.reference import run_reference

        progress(f"running {_TEXTS[kind]}")
        reference = run_reference(options.model, model.weights, repeated, inputs)
    result = worst(found, reference)
    over = survey.over(options.tolerance)
    passed = result.max_rel_error <= options.tolerance
    judge: dict[str, float] = {}
    if kind == "onnxruntime" and not passed:
        judge = {
            "float64_rel_error": worst(found, survey.outputs).max_rel_error,
            "onnxruntime_rel_error": worst(reference, survey.outputs).max_rel_error,
        }
    if options.json:
        print_json(
            {
                "model": options.model,
                "level": options.level,
                "reference": kind,
                "tolerance": options.tolerance,
                **asdict(result),
                "passed": passed and not over,
                **judge,
                "tensors": [_row(error, options.tolerance) for error in survey.errors],
                "first_over": _row(over[0], options.tolerance) if over else None,
            }
        )
    else:
        _print_outputs(options, _TEXTS[kind], result, judge)
        _print_tensors(survey.errors, over, options.tolerance)
    return ExitStatus.OK if passed and not over else ExitStatus.CHECK_FAILED


def _run_level(
    model: Model, inputs: dict[str, Array], options: argparse.Namespace, progress: Progress
) -> tuple[dict[str, Array], Survey]:
    """Outputs of the level, and the errors of the tensors that survive it."""

    def prepared(fused: Model) -> Survey:
        progress("running the operators without fusion, in their types and in float64")
        survey = Survey(model.module, fused.module, model.weights, inputs)
        survey.prepare()
        progress(f"running at level {options.level}")
        return survey

    if options.level == "npu":
        compiled = compile_model(model, options, progress)
        survey = prepared(Model(compiled.fused, model.weights))
        after = watch_npu(compiled.fused, survey.seen)
        return compiled.run(inputs, after=after), survey
    lowered = model if options.level == "graph" else fuse_model(model, options, progress)
    survey = prepared(lowered)
    watch = watch_graph(lowered.module, survey.seen)
    return Interpreter(lowered.module, model.weights, watch=watch).run(inputs), survey


def _print_outputs(
    options: argparse.Namespace, text: str, result: Difference, judge: dict[str, float]
) -> None:
    passed = result.max_rel_error <= options.tolerance
    print(
        f"{options.model}, level {options.level}, against {text}, "
        f"worst output '{result.output}': "
        f"largest error {result.max_abs_error:.3g}, relative {result.max_rel_error:.3g} "
        f"(allowed {options.tolerance:.3g}), {result.max_ulp:.3g} ulp, "
        f"cosine {result.cosine:.9f}: {'passed' if passed else 'FAILED'}"
    )
    if judge:
        print(
            f"against {_TEXTS['float64']}: this level {judge['float64_rel_error']:.3g}, "
            f"ONNX Runtime itself {judge['onnxruntime_rel_error']:.3g}"
        )


def _print_tensors(
    errors: Sequence[TensorError], over: Sequence[TensorError], tolerance: float
) -> None:
    """The tensors with the largest errors, in the order they are made, then the first one over."""
    own = sum(error.own for error in errors)
    made_up = f", {own} of them made by fusion alone (*)" if own else ""
    print(
        f"{len(errors)} tensors survive{made_up}; errors against float64, relative to the largest:"
    )
    largest = sorted(range(len(errors)), key=lambda i: -errors[i].float64.max_rel_error)
    shown = sorted(largest[:MOST_LINES])
    name, group = WIDTHS
    print(f"{'tensor':{name}} {'made by':{group}} {'error':>9} {'unfused':>9} {'ulp':>9}  cosine")
    for i in shown:
        error = errors[i]
        label = _short(error.tensor.name, name - 1) + ("*" if error.own else "")
        print(
            f"{label:{name}} {_short(error.tensor.group, group):{group}} "
            f"{error.float64.max_rel_error:9.2e} {error.unfused_rel_error:9.2e} "
            f"{error.float64.max_ulp:9.3g}  {error.float64.cosine:.9f}"
        )
    if len(errors) > len(shown):
        print(f"... and {len(errors) - len(shown)} with smaller errors (--json has all)")
    if not over:
        print(f"no tensor's error is more than {tolerance:.3g} larger than without fusion")
        return
    first = over[0]
    nodes = ", ".join(first.tensor.nodes)
    print(
        f"{len(over)} tensors are off by more than {tolerance:.3g} beyond what they are without "
        f"fusion; the first is '{first.tensor.name}', made by '{first.tensor.group}' of {nodes}: "
        f"{first.float64.max_rel_error:.3g} against {first.unfused_rel_error:.3g} without fusion"
    )


def _short(text: str, width: int) -> str:
    """The end of a long name says more than its beginning."""
    return text if len(text) <= width else f"...{text[3 - width :]}"


def _row(error: TensorError, tolerance: float) -> dict[str, object]:
    float64, unfused = asdict(error.float64), asdict(error.unfused)
    del float64["output"], unfused["output"]
    return {
        "name": error.tensor.name,
        "group": error.tensor.group,
        "nodes": list(error.tensor.nodes),
        "float64": float64,
        "unfused": unfused,
        "unfused_rel_error": error.unfused_rel_error,
        "made_by_fusion": error.own,
        "over": error.excess() > tolerance,
    }
