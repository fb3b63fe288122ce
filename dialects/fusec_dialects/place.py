"""Where an operator stands, in words for a user: its source location and the function around it."""

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
    StringAttr,
)
from xdsl.ir import Attribute, Operation


def place(op: Operation) -> str:
    """`model.mlir:3:5: 'graph.relu' in @main`, or `node "conv1": 'graph.conv' in @main`.

    The first part is absent where the location is unknown, the last outside of a symbol.
    """
    where = place_of_location(op.location)
    symbol = _symbol_around(op)
    inside = f" in @{symbol}" if symbol else ""
    return f"{where + ': ' if where else ''}'{op.name}'{inside}"


def place_of_location(location: Attribute) -> str:
    """`file:line:column`, `node "name"`, or the empty string for an unknown location."""
    match location:
        case FileLineColLoc():
            return f"{location.filename.data}:{location.line.data}:{location.column.data}"
        case NameLoc():
            return f'node "{location.desc.data}"'
        case CallSiteLoc():
            return place_of_location(location.callee)
        case FusedLoc(locations=ArrayAttr(data=parts)):
            return next((text for text in map(place_of_location, parts) if text), "")
        case _:
            return ""


def _symbol_around(op: Operation) -> str:
    above = op.parent_op()
    while above is not None:
        name = above.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr):
            return name.data
        above = above.parent_op()
    return ""
