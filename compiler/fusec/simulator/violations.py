"""What the witness finds."""

from __future__ import annotations

from dataclasses import dataclass

OUT_OF_BOUNDS = "out-of-bounds"
UNINITIALISED = "uninitialised"
CORRUPTION = "corruption"
RACE = "race"
FLAG = "flag"
EVENT = "event"
SHAPE = "shape"
DOMINANCE = "dominance"

KINDS: dict[str, str] = {
    OUT_OF_BOUNDS: "an address beyond its memory, buffer, argument or source view, or misaligned",
    UNINITIALISED: "bytes are read that nothing has written since the buffer was allocated",
    CORRUPTION: "bytes of a buffer in use were overwritten through another buffer",
    RACE: "two accesses, one of them a write, that nothing orders, in a block or between blocks",
    FLAG: "a flag raised twice, never raised or never awaited",
    EVENT: "a number of an event or a cross-core flag that the chip does not have",
    SHAPE: "sizes of the operands of an instruction do not fit together",
    DOMINANCE: "a value used before it is defined",
}


@dataclass(frozen=True, slots=True)
class Violation:
    """`kind` is a key of KINDS, `place` that of the operator, `message` says what, where and
    why."""

    kind: str
    message: str
    place: str

    def __str__(self) -> str:
        return f"{self.place}: {self.kind}: {self.message}"


class Verdict(list[Violation]):
    """The violations found, each pair of operators once.

    `sampled` says for each kernel which part of its blocks was looked at: 1.0 is all.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sampled: dict[str, float] = {}
        self._seen: set[tuple[str, ...]] = set()

    def report(self, kind: str, message: str, place: str, *key: str) -> None:
        """Adds one violation, unless one of the same kind, place and `key` is there."""
        identity = (kind, place, *(key or (message,)))
        if identity not in self._seen:
            self._seen.add(identity)
            self.append(Violation(kind, message, place))
