"""What is asked of a whole ONNX model before anything is built of it."""

from __future__ import annotations

from collections import Counter

import onnx
from onnx import ModelProto

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.functions import has_body
from fusec.frontends.onnx.names import node_name
from fusec.frontends.onnx.operators import OPERATORS

CONSTANTS = ("Constant", "ConstantOfShape")
"""Operators that give constants; they become no operator of their own."""


def opsets_of(model: ModelProto) -> dict[str, int]:
    """The opset of each domain, ONNX's own under "". ImportFailure for one that is too new."""
    opsets = {
        "" if entry.domain == "ai.onnx" else entry.domain: entry.version
        for entry in model.opset_import
    }
    newest = onnx.defs.onnx_opset_version()
    if (found := opsets.get("", 1)) > newest:
        raise ImportFailure(
            f"opset {found} is newer than {newest}, the newest that the installed onnx package "
            "knows; update it, or export with an older opset"
        )
    return opsets


def check_supported(model: ModelProto, opsets: dict[str, int]) -> None:
    """Raises ImportFailure with every operator that is not supported, counts and a node's name."""
    unknown: Counter[str] = Counter()
    first: dict[str, str] = {}
    for index, node in enumerate(model.graph.node):
        domain = "" if node.domain == "ai.onnx" else node.domain
        kind = f"{domain}.{node.op_type}" if domain else node.op_type
        known = kind in OPERATORS or kind in CONSTANTS
        if not known and not has_body(node, opsets.get(domain, 1)):
            unknown[kind] += 1
            first.setdefault(kind, node_name(index, node))
    if unknown:
        listed = ", ".join(
            f"{k} ({n} time{'s' * (n > 1)}, first '{first[k]}')" for k, n in unknown.items()
        )
        raise ImportFailure(f"operators that are not supported yet: {listed}")
