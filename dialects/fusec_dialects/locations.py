"""Locations of imported operators: of which ONNX nodes one is made, which tensors it makes.

`"node"("tensor")` is the node whose output is the result, `"node"` one that has a part in it. Those
of an operator made from several stand in `fused[...]`, nodes that were free views in a `fused` of
their own, and those of the results last, in order. In text each is the place of a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute

_NONE = NoneAttr()


def named(node: str, *tensors: str) -> LocationAttr:
    """The location of an operator of an ONNX node; `tensors` are its results, "" for an unnamed
    one."""
    if not any(tensors):
        return NameLoc(StringAttr(node), _NONE)
    parts = [NameLoc(StringAttr(node), NameLoc(StringAttr(t), _NONE)) for t in tensors]
    return parts[0] if len(parts) == 1 else FusedLoc(tuple(parts), _NONE)


def source(location: Attribute) -> str:
    """The ONNX node, or `file:line:column`, of a leaf; "" for what is none."""
    match location:
        case NameLoc():
            return location.desc.data
        case FileLineColLoc():
            return f"{location.filename.data}:{location.line.data}:{location.column.data}"
        case _:
            return ""


def sources(location: Attribute, *, views: bool = True) -> tuple[str, ...]:
    """Every node, or line, that an operator is made of, once, that of the last result last.

    Without `views` free views are left out where others are there.
    """
    found = dict.fromkeys(
        source(leaf) for leaf, is_view in leaves(location) if views or not is_view
    )
    found.pop("", None)
    return tuple(found) if found or views else sources(location)


def nodes(location: Attribute) -> tuple[str, ...]:
    """The ONNX nodes among the sources; () for lines of text."""
    return tuple(
        dict.fromkeys(source(leaf) for leaf, _ in leaves(location) if isinstance(leaf, NameLoc))
    )


def tensors(location: Attribute) -> tuple[str, ...]:
    """The ONNX names of the results in order, "" for an unnamed one; () where not known."""
    return tuple(
        leaf.location.desc.data
        for leaf, _ in leaves(location)
        if isinstance(leaf, NameLoc) and isinstance(leaf.location, NameLoc)
    )


def of_result(location: LocationAttr, index: int) -> LocationAttr:
    """What a location says of one result: its node and tensor; all of it where it names none."""
    made = [leaf for leaf, _ in leaves(location) if tensors(leaf)]
    return made[index] if index < len(made) else location


def part(location: LocationAttr) -> LocationAttr:
    """The same nodes without the tensors: of an operator that makes none of them."""
    return joined([location]) if tensors(location) else location


def joined(
    parts: Iterable[LocationAttr],
    results: Iterable[LocationAttr] = (),
    views: Iterable[LocationAttr] = (),
) -> LocationAttr:
    """The location of an operator made from several.

    `results` made its results, in order, and say their names; `parts` have a part in it, `views`
    one that costs nothing. Of equal nodes one remains.
    """
    made = list(dict.fromkeys(leaf for one in results for leaf, view in leaves(one) if not view))
    free = list(views)
    inside: dict[str, LocationAttr] = {}
    for leaf, view in (pair for one in (*parts, *results) for pair in leaves(one)):
        if view:
            free.append(leaf)
        else:
            inside.setdefault(source(leaf), _bare(leaf))
    outside = {source(leaf): _bare(leaf) for one in free for leaf, _ in leaves(one)}
    for leaf in made:
        inside.pop(source(leaf), None)
    for name in ("", *inside, *map(source, made)):
        outside.pop(name, None)
    inside.pop("", None)
    seen = [FusedLoc(tuple(outside.values()), _NONE)] if outside else []
    found = [*seen, *inside.values(), *(leaf for leaf in made if source(leaf))]
    if len(found) == 1:
        return found[0]
    return FusedLoc(tuple(found), _NONE) if found else UNKNOWN_LOC


def _bare(leaf: LocationAttr) -> LocationAttr:
    """A leaf without a tensor's name."""
    if isinstance(leaf, NameLoc) and isinstance(leaf.location, NameLoc):
        return NameLoc(leaf.desc, _NONE)
    return leaf


def leaves(location: Attribute, view: bool = False) -> Iterator[tuple[LocationAttr, bool]]:
    """The locations of nodes and lines that one consists of, and whether each is of a free view."""
    match location:
        case FusedLoc(locations=ArrayAttr(data=parts)):
            for one in parts:
                yield from leaves(one, view or isinstance(one, FusedLoc))
        case CallSiteLoc():
            yield from leaves(location.callee, view)
        case NameLoc() | FileLineColLoc():
            yield location, view
        case _:
            pass
