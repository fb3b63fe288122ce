"""Attributes of the npu dialect: memory spaces, pipes and schedules.

`#npu.space<ub>` implies the space's native layout; `#npu.space<l1, nd>` deviates from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DictionaryAttr, MemRefType, StringAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum


class Space(StrEnum):
    """The memories of an Ascend core, with global memory."""

    GM = "gm"
    L1 = "l1"
    L0A = "l0a"
    L0B = "l0b"
    L0C = "l0c"
    UB = "ub"


class Core(StrEnum):
    """The two kinds of core; a mixed kernel uses both."""

    CUBE = "cube"
    VECTOR = "vector"


class Pipe(StrEnum):
    """The in-order queues of a core. MTE2 exists on both kinds of core."""

    S = "s"
    MTE1 = "mte1"
    MTE2 = "mte2"
    MTE3 = "mte3"
    M = "m"
    V = "v"
    FIX = "fix"


PIPE_CORE: dict[Pipe, Core] = {
    Pipe.MTE1: Core.CUBE,
    Pipe.M: Core.CUBE,
    Pipe.FIX: Core.CUBE,
    Pipe.MTE3: Core.VECTOR,
    Pipe.V: Core.VECTOR,
}
"""The core a pipe belongs to, for the pipes that only one kind of core has."""

NATIVE_LAYOUT: dict[Space, str] = {
    Space.GM: "nd",
    Space.UB: "nd",
    Space.L1: "nz",
    Space.L0A: "zz",
    Space.L0B: "zn",
    Space.L0C: "nz",
}
LAYOUTS = ("nd", "nz", "zz", "zn")


@irdl_attr_definition
class SpaceAttr(ParametrizedAttribute):
    """`#npu.space<ub>`; a second parameter names a layout other than the native one."""

    name = "npu.space"
    space: StringAttr = param_def()
    layout: StringAttr = param_def()

    @classmethod
    def get(cls, space: Space, layout: str | None = None) -> SpaceAttr:
        return cls(StringAttr(space.value), StringAttr(layout or NATIVE_LAYOUT[space]))

    @property
    def kind(self) -> Space:
        return Space(self.space.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            space = parser.parse_str_enum(Space)
            layout = NATIVE_LAYOUT[space]
            if parser.parse_optional_punctuation(",") is not None:
                layout = parser.parse_identifier()
                if layout not in LAYOUTS:
                    parser.raise_error(
                        f"unknown layout '{layout}', expected one of {', '.join(LAYOUTS)}"
                    )
        return (StringAttr(space.value), StringAttr(layout))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.space.data)
            if self.layout.data != NATIVE_LAYOUT[self.kind]:
                printer.print_string(f", {self.layout.data}")


GM = SpaceAttr.get(Space.GM)
L1 = SpaceAttr.get(Space.L1)
L0A = SpaceAttr.get(Space.L0A)
L0B = SpaceAttr.get(Space.L0B)
L0C = SpaceAttr.get(Space.L0C)
UB = SpaceAttr.get(Space.UB)


@irdl_attr_definition
class PipeAttr(Data[Pipe]):
    """`#npu.pipe<mte2>`, printed as `<mte2>` inside operators."""

    name = "npu.pipe"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Pipe:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(Pipe)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)


@irdl_attr_definition
class CoreAttr(Data[Core]):
    """`#npu.core<cube>`, printed as `<cube>` inside operators."""

    name = "npu.core"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Core:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(Core)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)


FAMILIES = (
    *("vector", "cube", "mixed", "rows", "attention", "window", "depthwise", "movement", "own"),
)
"""Kernel families, each with one schedule type and one emitter."""


@irdl_attr_definition
class ScheduleAttr(ParametrizedAttribute):
    """`#npu.schedule<"cube", {m = 128 : i64}>`: how a kernel is lowered.

    The family names the emitter, the dictionary its parameters (see `fusec.schedule`).
    """

    name = "npu.schedule"
    family: StringAttr = param_def()
    values: DictionaryAttr = param_def()

    def verify(self) -> None:
        if self.family.data not in FAMILIES:
            raise VerifyException(
                f"unknown kernel family '{self.family.data}', expected one of {', '.join(FAMILIES)}"
            )


def memref_type(type_: Attribute) -> MemRefType[Attribute] | None:
    """The type itself if it is a memref, None otherwise."""
    return cast("MemRefType[Attribute]", type_) if isinstance(type_, MemRefType) else None


def space_of(type_: Attribute) -> Space | None:
    """The memory space of a memref type; None for scalars and for memrefs without a space."""
    buffer = memref_type(type_)
    space = None if buffer is None else buffer.memory_space
    return space.kind if isinstance(space, SpaceAttr) else None
