"""`fusec bisect MODEL`: the smallest set of fusions whose switching off makes the numbers right."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

from fusec.accuracy.bisect import NothingToBlame, bisect
from fusec.accuracy.compare import worst
from fusec.accuracy.inputs import seeded_inputs
from fusec.api import CompileOptions, Model, compile, fuse
from fusec.fusion.patterns import AUTO, PARALLEL, all_patterns
from fusec.fusion.remarks import listening
from fusec.semantics.dtypes import Array
from fusec.tools.cli.session import Progress, compile_options, open_graph, print_json
from fusec.tools.output import write_text
from fusec.tools.status import ExitStatus


def run(options: argparse.Namespace) -> int:
    """Names the fusions to blame, writes the switch file; status 1 where there are none."""
    progress = Progress(options)
    model = open_graph(options, progress)
    model = model.seeded(options.seed)
    inputs = seeded_inputs(model.module, options.seed)
    progress("running the operators in float64")
    search = _Search(model, inputs, compile_options(options), options, progress)
    names = search.names()
    try:
        found = bisect(names, search.passes)
    except NothingToBlame as error:
        message = f"{error}; {len(names)} fusions took part"
        if options.json:
            print_json({"model": options.model, "culprits": [], "message": message})
        else:
            print(message)
        return ExitStatus.CHECK_FAILED
    if options.output is not None:
        rules = dict.fromkeys(found.names, "off")
        content = {"Switch": {"GraphFusion": rules}}
        write_text(Path(options.output), json.dumps(content, indent=2) + "\n")
    if options.json:
        print_json(
            {
                "model": options.model,
                "culprits": list(found.names),
                "evaluations": found.evaluations,
                "fusions": len(names),
            }
        )
    else:
        print(
            f"{len(found.names)} of {len(names)} fusions, after {found.evaluations} evaluations: "
            f"{', '.join(found.names)}"
        )
    return ExitStatus.OK


class _Search:
    """Compiles with fusions off and compares with the exact outputs."""

    def __init__(
        self,
        model: Model,
        inputs: dict[str, Array],
        wanted: CompileOptions,
        options: argparse.Namespace,
        progress: Progress,
    ) -> None:
        self._model = model
        self._inputs = inputs
        self._wanted = wanted
        self._level: str = options.level
        self._tolerance: float = options.tolerance
        self._progress = progress
        self._exact = model.run(inputs, oracle=True)

    def names(self) -> list[str]:
        """Fusions that take part, those that take the place of switched-off ones included."""
        found: dict[str, None] = {}
        while True:
            before = len(found)
            with listening() as heard:
                fuse(self._model, self._without(frozenset(found)))
            known = all_patterns()
            used = [name for name in heard.groups if name in known]
            found |= dict.fromkeys(used)
            if len(found) == before:
                return [*found, AUTO, PARALLEL] if self._wanted.fusion.automatic else [*found]

    def passes(self, off: frozenset[str]) -> bool:
        """Whether the outputs are within the tolerance with these fusions off."""
        options = self._without(off)
        if self._level == "npu":
            outputs = compile(self._model, options).run(self._inputs)
        else:
            outputs = fuse(self._model, options).run(self._inputs)
        error = worst(outputs, self._exact).max_rel_error
        self._progress(f"{len(off)} fusions off: largest relative error {error:.3g}")
        return error <= self._tolerance

    def _without(self, off: frozenset[str]) -> CompileOptions:
        fusion = self._wanted.fusion
        only = None if fusion.only is None else fusion.only - off
        return replace(
            self._wanted, fusion=replace(fusion, disable=fusion.disable | off, only=only)
        )
