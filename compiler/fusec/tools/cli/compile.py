"""`fusec compile MODEL -o FILE`: placed kernels as MLIR text."""

from __future__ import annotations

import argparse
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, StringAttr

from fusec.tools.cli.session import Progress, compile_model, open_model, print_json
from fusec.tools.output import OutputFile
from fusec.tools.stages import module_text


def run(options: argparse.Namespace) -> int:
    """Compiles and writes; the file is whole or absent."""
    progress = Progress(options)
    with OutputFile(options.output) as output:
        model = open_model(options, progress)
        compiled = compile_model(model, options, progress)
        progress(f"writing {options.output}")
        _absolute_source(compiled.npu)
        output.write(module_text(compiled.npu))
    if options.json:
        print_json(
            {
                "model": options.model,
                "target": compiled.target.name,
                "output": options.output,
                "compile_seconds": compiled.seconds,
            }
        )
    return 0


def _absolute_source(module: ModuleOp) -> None:
    """The text says where the weights are, wherever it is read from."""
    source = module.attributes.get("graph.source")
    if isinstance(source, StringAttr):
        module.attributes["graph.source"] = StringAttr(str(Path(source.data).resolve()))
