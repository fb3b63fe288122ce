"""ONNX models from ONNX's own text form, as a command (`onnx_text.py IN OUT`) and for pytest.

Lines that begin with # are comments, so that a test file is its own input.
"""

import sys
from pathlib import Path

import onnx.parser
from onnx import ModelProto


def model(text: str) -> ModelProto:
    """The model that `text` says; its nodes get the names n0, n1, ... unless they have one."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    parsed = onnx.parser.parse_model("\n".join(lines))
    for index, node in enumerate(parsed.graph.node):
        node.name = node.name or f"n{index}"
    return parsed


def graph(text: str, opset: int = 21) -> ModelProto:
    """The model of a graph alone."""
    return model(f'<ir_version: 8, opset_import: ["": {opset}]>\n{text}')


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_bytes(model(source.read_text("utf-8")).SerializeToString())
