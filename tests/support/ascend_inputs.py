"""The HIVM inputs of the tests, read with the route and options that their first line names."""

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from fusec.export.bishengir import Route

TARGET = "Ascend910B3"
FOLDER = Path(__file__).parents[1] / "differential" / "ascend" / "inputs"
needs_compiler = pytest.mark.skipif(
    importlib.util.find_spec("ascendnpuir") is None,
    reason="Huawei's compiler (package ascendnpu-ir) is not installed",
)
_PIPELINE = re.compile(r'--optimize-hivm-pipeline="disable-hivm-tensor-compile=true ?([^"]*)"')


@dataclass(frozen=True)
class AscendInput:
    name: str
    text: str
    route: Route
    options: tuple[str, ...]

    @property
    def func_text(self) -> str:
        """The one function of the module, named after the file."""
        body = self.text[self.text.index("func.func") :].rstrip().removesuffix("}")
        return re.sub(r"func\.func @\w+", f"func.func @{self.name}", body)


def read_input(path: Path) -> AscendInput:
    text = path.read_text()
    command = text.splitlines()[0]
    options = tuple(word[2:] for word in command.split() if word.startswith("--"))
    pipeline = _PIPELINE.search(command)
    if pipeline is not None:
        return AscendInput(path.stem, text, "opt", tuple(pipeline.group(1).split()))
    if command.startswith("// bishengir-opt"):
        passes = tuple(o for o in options if not o.startswith("hacc-append-device-spec"))
        return AscendInput(path.stem, text, "passes", passes)
    return AscendInput(path.stem, text, "compile", tuple(o for o in options if "target=" not in o))


def read_inputs(folder: str) -> list[AscendInput]:
    return [read_input(path) for path in sorted((FOLDER / folder).glob("*.mlir"))]
