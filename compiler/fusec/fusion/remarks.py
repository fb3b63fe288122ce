"""What fusion did and refused, as data: for the log, `fusec explain` and reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fusec.schedule.types import Number


@dataclass(frozen=True)
class Remark:
    """One decision. `kind` is "fused" or "refused"; `ops` are the ONNX nodes' names.

    `reason` identifies why not (legality's or `not-profitable`, `disabled`, `cycle`, `max-ops`).
    """

    kind: str
    pattern: str
    ops: tuple[str, ...]
    reason: str = ""
    message: str = ""
    numbers: Mapping[str, Number] = field(default_factory=dict[str, Number])

    def __str__(self) -> str:
        text = f"Fusion {self.kind}: {self.pattern} [{', '.join(self.ops)}]"
        return f"{text}: {self.reason}: {self.message}" if self.reason else text
