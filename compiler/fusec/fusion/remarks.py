"""What fusion did and refused, as data: for the log, `fusec explain` and reports."""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from fusec.schedule.types import Number


@dataclass(frozen=True)
class Remark:
    """One decision. `kind` is "fused", "recomputed" or "refused"; `ops` are the ONNX nodes' names.

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


@dataclass
class Decisions:
    """What a run of graph-fuse said, and the names of the groups that it ended with."""

    remarks: list[Remark] = field(default_factory=list[Remark])
    groups: list[str] = field(default_factory=list[str])


_LOG = logging.getLogger("fusec.fusion")

_LISTENER: ContextVar[Decisions | None] = ContextVar("fusec.decisions", default=None)


@contextmanager
def listening() -> Generator[Decisions]:
    """What graph-fuse decides while this is entered, filled in as it runs."""
    heard = Decisions()
    token = _LISTENER.set(heard)
    try:
        yield heard
    finally:
        _LISTENER.reset(token)


def report(remarks: list[Remark], groups: list[str]) -> None:
    """Tell who listens, if anybody does, and the logger `fusec.fusion`."""
    if _LOG.isEnabledFor(logging.INFO):
        for remark in remarks:
            _LOG.info("%s", remark)
    if (heard := _LISTENER.get()) is not None:
        heard.remarks += remarks
        heard.groups += groups
