"""Names of an ONNX model as MLIR takes them: hints of values, names of dynamic sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from onnx import NodeProto, ValueInfoProto

from fusec.frontends.errors import ImportFailure
from fusec_dialects.graph.shapes import Shape
from fusec_dialects.graph.sizes import UNNAMED

_OTHER = re.compile(r"[^A-Za-z0-9_]")
_PLACEHOLDER = re.compile(r"[\W_]*|-\d+|none|unknown|null", re.IGNORECASE)
"""What exporters write for a size that has no name: nothing, `?`, `_`, `-1`, `None`."""


class NodeNames:
    """Gives each node of a graph a name of its own: exporters repeat them, or leave them out."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._outer: dict[str, str] = {}

    def of(self, index: int, node: NodeProto, outer: str = "") -> str:
        """The node's name, or one made of its type and place where it has none; a number behind
        one that an earlier node has. Before it stands the node whose body it is in, `outer/`."""
        name = base = (outer and f"{outer}/") + (node.name or f"{node.op_type}_{index}")
        n = 1
        while name in self._taken:
            n += 1
            name = f"{base}.{n}"
        self._taken.add(name)
        if outer:
            self._outer[name] = outer
        return name

    def is_part(self, name: str, whole: str) -> bool:
        """Whether a node is another one, or in its body, or in a body of that."""
        while name != whole and name in self._outer:
            name = self._outer[name]
        return name == whole


def hint(name: str) -> str | None:
    """A value's name with other signs than letters, digits and _ replaced; None for a number."""
    text = _OTHER.sub("_", name)
    return text if text and not text[0].isdigit() else None


class DimNames:
    """Gives each symbolic size of a model a name of its own, the same one wherever it stands."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()

    def dims(self, value: ValueInfoProto, given: tuple[int, ...] | None = None) -> Shape:
        """The sizes of an input; `given` says their number where the model does not.

        Raises ImportFailure where neither does.
        """
        shape = value.type.tensor_type
        if not shape.HasField("shape"):
            if given is not None:
                return (UNNAMED,) * len(given)
            raise ImportFailure(
                f"input '{value.name}' has no shape; give one by --shape {value.name}=1x2"
            )
        return tuple(
            self._name(d.dim_param)
            if not d.HasField("dim_value") or d.dim_value < 0
            else d.dim_value
            for d in shape.shape.dim
        )

    def sizes(self, known: Mapping[str, int | str]) -> dict[str, int]:
        """Sizes by the model's own names, from those by the names given here."""
        found = {text: known.get(name) for text, name in self._names.items()}
        return {text: size for text, size in found.items() if isinstance(size, int)}

    def _name(self, text: str) -> str:
        if _PLACEHOLDER.fullmatch(text):
            return UNNAMED
        if text not in self._names:
            name = _OTHER.sub("_", text)
            name = base = f"d{name}" if name[0].isdigit() else name
            n = 1
            while name in self._taken:
                n += 1
                name = f"{base}_{n}"
            self._names[text] = name
            self._taken.add(name)
        return self._names[text]
