"""What is asked of a whole ONNX model: its opsets before it is read, its operators afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import onnx
from onnx import OperatorSetIdProto

from fusec.frontends.errors import ImportFailure

CONSTANTS = ("Constant", "ConstantOfShape")
"""Operators that give constants; they become no operator of their own."""


ADVICE = "; --allow-opaque keeps such operators as barriers that the host computes"
"""What a message about an operator that cannot be read ends with."""

OWN_ADVICE = "; @RegOp gives one of a domain of yours its meaning (--load FILE.py)"
"""Behind that, for operators of other domains than ONNX's own."""


class Unsupported(ImportFailure):
    """An operator that is not known, by its name in the table of entries."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"operators that are not supported yet: {kind}")
        self.kind = kind


def opsets_of(imports: Iterable[OperatorSetIdProto]) -> dict[str, int]:
    """The opset of each domain, ONNX's own under "". ImportFailure for one that is too new."""
    opsets = {"" if e.domain == "ai.onnx" else e.domain: e.version for e in imports}
    newest = onnx.defs.onnx_opset_version()
    if (found := opsets.get("", 1)) > newest:
        raise ImportFailure(
            f"opset {found} is newer than {newest}, the newest that the installed onnx package "
            "knows; update it, or export with an older opset"
        )
    return opsets


def unsupported(found: Mapping[str, Sequence[str]]) -> ImportFailure:
    """One message for every operator that is not supported: how often, and the first node."""
    listed = ", ".join(
        f"{kind} ({len(nodes)} time{'s' * (len(nodes) > 1)}, first '{nodes[0]}')"
        for kind, nodes in found.items()
    )
    own = OWN_ADVICE if any("." in kind for kind in found) else ""
    return ImportFailure(f"operators that are not supported yet: {listed}{ADVICE}{own}")
