"""The order of a region's axes, and which neighbours among them are one axis.

In: axes by number and the ports along them. Out: all axes, outermost first, in groups that nothing
tells apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from fusec.schedule.axis_set import AxisIds
from fusec.schedule.ports import Port
from fusec_dialects.graph.base import tensor_type


def ordered(ports: Sequence[Port], present: Sequence[int]) -> list[int]:
    """All axes, outermost first: as the port with most axes lies in memory, or most bytes agree on;
    an axis that it lacks goes before the one it precedes elsewhere."""
    orders: dict[AxisIds, int] = {}
    for port in ports:
        key = port.order()
        orders[key] = orders.get(key, 0) + prod(tensor_type(port.value).get_shape())
    longest = max(map(len, orders), default=0)

    def agreeing(order: AxisIds) -> int:
        at = {a: i for i, a in enumerate(order)}
        return sum(
            weight
            for other, weight in orders.items()
            if (known := [at[a] for a in other if a in at]) == sorted(known)
        )

    leaders = [order for order in orders if len(order) == longest]
    result = list(max(leaders, key=agreeing)) if leaders else []
    for order in sorted(orders, key=len, reverse=True):
        for at, axis in enumerate(order):
            if axis not in result:
                later = next((a for a in order[at + 1 :] if a in result), None)
                result.insert(len(result) if later is None else result.index(later), axis)
    return [a for a in present if a not in result] + result


def collapsed(
    order: Sequence[int],
    ports: Sequence[Port],
    sets: Sequence[set[int]],
    size: Callable[[int], int],
) -> list[list[int]]:
    """Groups of neighbours in `order` that no set tells apart, contiguous in every port."""
    strides = [port.strides for port in ports]
    strides += [port.picked.index.strides for port in ports if port.picked is not None]

    def joined(a: int, b: int) -> bool:
        return all((a in s) == (b in s) for s in sets) and all(
            (a in s) == (b in s) and (a not in s or s[a] == s[b] * size(b)) for s in strides
        )

    groups: list[list[int]] = []
    for axis in order:
        if groups and joined(groups[-1][-1], axis):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    return groups
