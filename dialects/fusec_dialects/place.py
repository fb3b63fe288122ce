"""Where an operator stands, in words for a user: its source location and the function around it."""

from xdsl.dialects.builtin import NameLoc, StringAttr
from xdsl.ir import Attribute, Operation

from fusec_dialects.locations import leaves, source

MOST_NAMED = 3
"""Nodes named beside the first; of more, their number."""


def place(op: Operation) -> str:
    """`model.mlir:3:5: 'graph.relu' in @main`, or `node "conv1": 'graph.conv' in @main`.

    The first part is absent where the location is unknown, the last outside of a symbol.
    """
    where = place_of_location(op.location)
    symbol = _symbol_around(op)
    inside = f" in @{symbol}" if symbol else ""
    return f"{where + ': ' if where else ''}'{op.name}'{inside}"


def place_of_location(location: Attribute) -> str:
    """`file:line:column`, `node "name"`, or the empty string for an unknown location.

    Of an operator made from several: `node "relu1" with "conv1", "bn1" and 2 more`.
    """
    found = {source(leaf): leaf for leaf, _ in leaves(location)}
    if not found:
        return ""
    main = next(reversed(found))
    first = _text(found.pop(main), "node ")
    listed = ", ".join(_text(other) for other in list(found.values())[:MOST_NAMED])
    rest = len(found) - MOST_NAMED
    more = f" and {rest} more" if rest > 0 else ""
    return f"{first} with {listed}{more}" if listed else first


def _text(leaf: Attribute, kind: str = "") -> str:
    return f'{kind}"{source(leaf)}"' if isinstance(leaf, NameLoc) else source(leaf)


def _symbol_around(op: Operation) -> str:
    above = op.parent_op()
    while above is not None:
        name = above.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr):
            return name.data
        above = above.parent_op()
    return ""
