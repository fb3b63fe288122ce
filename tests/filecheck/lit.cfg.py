"""lit over FileCheck tests: `RUN: fuse-opt %s -p "..." | filecheck %s`, from any folder.

`%not STATUS COMMAND...` passes when the command ends with that exit status and leaves no traceback.
"""

# pyright: reportUndefinedVariable=false
# ruff: noqa: F821

import os
import sys
from pathlib import Path

import lit.formats

config.name = "fusec"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Output"]
config.test_source_root = os.path.dirname(__file__)

root = Path(__file__).resolve().parents[2]
bin_folder = Path(sys.executable).parent

config.environment["PATH"] = os.pathsep.join([str(bin_folder), config.environment.get("PATH", "")])
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
for name in [name for name in config.environment if name.startswith("FUSEC_")]:
    del config.environment[name]
config.environment.pop("PYTHONPATH", None)

# Longest names first: lit replaces text, and `filecheck` must not be found inside another name.
config.substitutions.append(("%not", f"{sys.executable} {root / 'tests/support/expect_status.py'}"))
config.substitutions.append(("%onnx", f"{sys.executable} {root / 'tests/support/onnx_text.py'}"))
config.substitutions.append(("%models", str(root / "examples/models")))
config.substitutions.append(("%python", sys.executable))
