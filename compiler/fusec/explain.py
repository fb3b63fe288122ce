"""What users ask about a model: what fusion decides and why, a picture, how exact the kernels are.

None of it changes the model.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from fusec.accuracy.compare import Difference, difference
from fusec.accuracy.inputs import input_types
from fusec.accuracy.surviving import watch_npu
from fusec.accuracy.tensor_errors import Survey, TensorError
from fusec.api import Compiled, Model, run_passes
from fusec.config.compile_options import CompileOptions
from fusec.config.fusion_file import read_json
from fusec.fusion.explain import Explanation
from fusec.fusion.fuse import fuse_module
from fusec.fusion.remarks import report
from fusec.npu_options import compile_options
from fusec.semantics.interpreter import GraphError

__all__ = ["Explanation", "Precision", "explain", "precision_compare", "visualize_graph"]


def explain(model: Model, options: CompileOptions | None = None) -> Explanation:
    """Groups with what they save, and for each edge between two of them why they are not one.

    Without `options` those of the process count. Raises PassFailedException for names that do not
    exist and for a saved plan that does not fit, ConfigError for one that cannot be read.
    """
    options = options or compile_options({})
    module = _prepared(model, options)
    found: list[Explanation] = []
    path = options.fusion.plan
    remarks = fuse_module(
        module,
        options.fusion,
        options.target,
        plan=None if path is None else read_json(Path(path)),
        offload=options.allow_opaque,
        explanations=found,
    )
    report(remarks, [group.name for group in found[0].groups])
    return found[0]


def _prepared(model: Model, options: CompileOptions) -> ModuleOp:
    """A copy of the module as fusion begins with it."""
    module = model.module.clone()
    run_passes(module, "prepare" if options.fusion.enabled else "graph-infer-shapes")
    return module


def visualize_graph(
    model: Model,
    path: str | Path,
    *,
    fusion: bool = True,
    options: CompileOptions | None = None,
) -> None:
    """Draw a network with its operators fused, or without: a .svg, .png (needs pillow) or .dot.

    Raises DiagnosticException for another ending and for a model that is lowered already.
    """
    from fusec.report.graph_picture import draw

    options = options or compile_options({})
    options = replace(options, fusion=replace(options.fusion, enabled=fusion))
    if model.level != "graph":
        raise DiagnosticException(f"{model.path}: only the graph level is drawn")
    module = _prepared(model, options)
    fuse_module(module, options.fusion, options.target)
    draw(module, path)


@dataclass(frozen=True)
class Precision:
    """How far a network is from another: `outputs` in order; of a compiled one also every tensor
    that survives fusion against float64, and the first of them that fusion spoils.

    With tensors it passes where no error against float64 is larger by more than the tolerance than
    without fusion; else where no output differs by more.
    """

    tolerance: float
    outputs: tuple[Difference, ...]
    tensors: tuple[TensorError, ...] = ()
    first: TensorError | None = None

    @property
    def passed(self) -> bool:
        """Whether everything is within the tolerance."""
        if self.tensors:
            return self.first is None
        return all(d.max_rel_error <= self.tolerance for d in self.outputs)

    def __str__(self) -> str:
        lines = [
            f"{d.output}: largest difference {d.max_abs_error:.3g}, relative {d.max_rel_error:.3g},"
            f" cosine {d.cosine:.9f}"
            for d in self.outputs
        ]
        if self.tensors:
            own, apart = (max(e) for e in zip(*map(_errors, self.tensors), strict=True))
            count = len(self.tensors)
            lines.append(f"{count} tensors against float64: {own:.3g}, without fusion {apart:.3g}")
        if self.first is not None:
            tensor, (error, apart) = self.first.tensor, _errors(self.first)
            lines.append(
                f"the first that fusion spoils is '{tensor.name}', made by {tensor.group} "
                f"({', '.join(tensor.nodes)}): {error:.3g} against {apart:.3g} without fusion"
            )
        state = "passed" if self.passed else "FAILED"
        return "\n".join((*lines, f"{state} (tolerance {self.tolerance:.3g})"))


def _errors(error: TensorError) -> tuple[float, float]:
    """Against float64, with fusion and without, relative to the largest value."""
    return error.float64.max_rel_error, error.unfused_rel_error


class PrecisionWarning(UserWarning):
    """Fusion changed the numbers by more than the tolerance."""


def precision_compare(
    original: Model | Compiled,
    fused: Model | Compiled,
    *inputs: object,
    tolerance: float = 1e-3,
) -> Precision:
    """Compare two forms of a network on inputs in its order.

    A Model means its operators one by one, a Compiled its placed kernels in the simulator. Where
    the first is the Model that the second was compiled from, every tensor that survives fusion is
    compared too. Warns with a PrecisionWarning where it does not pass. Raises GraphError for inputs
    or outputs that do not fit.
    """
    names = list(
        input_types(original.model.module if isinstance(original, Compiled) else original.module)
    )
    if len(inputs) != len(names):
        raise GraphError(f"{len(inputs)} inputs, the network takes {', '.join(names)}")
    given = {name: np.asarray(value) for name, value in zip(names, inputs, strict=True)}
    reference, survey = original.run(given), None
    if isinstance(original, Model) and isinstance(fused, Compiled):
        survey = Survey(original.module, fused.fused, original.weights, given)
        survey.prepare()
        found = fused.run(given, after=watch_npu(fused.fused, survey.seen))
    else:
        found = fused.run(given)
    if missing := sorted(reference.keys() - found.keys()):
        raise GraphError(f"the second network has no output '{missing[0]}'")
    outputs = tuple(difference(name, found[name], array) for name, array in reference.items())
    over = [] if survey is None else survey.over(tolerance)
    tensors = () if survey is None else tuple(survey.errors)
    result = Precision(tolerance, outputs, tensors, over[0] if over else None)
    if not result.passed:
        warnings.warn(str(result), PrecisionWarning, stacklevel=2)
    return result
