"""Groups of operators, and the cover: which group each operator belongs to, without cycles.

A group owns operators; it may borrow views, which are then copied into it. Groups merge only where
no path leaves the pair and comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

from xdsl.dialects.builtin import LocationAttr

from fusec.fusion.dag import Dag
from fusec_dialects.locations import joined, of_result


@dataclass
class Group:
    """One future kernel: `owned` and `borrowed` operators by number, the name of its pattern.

    A `closed` one (an own fusion) takes in no further operator.
    """

    owned: set[int]
    name: str
    borrowed: set[int] = field(default_factory=set[int])
    closed: bool = False

    def ops(self) -> list[int]:
        """All operators in program order."""
        return sorted(self.owned | self.borrowed)


def imported_ops(dag: Dag, group: Group) -> int:
    """Imported ONNX operators that a group is made of, views not counted.

    An operator that the importer took apart is one, a raised one as many as it was raised from;
    one without a known place is one. In MLIR text each line is one.
    """
    found: set[str] = set()
    unknown = 0
    for i in group.owned:
        if not dag.is_view(i):
            names = dag.imported(i)
            found.update(names)
            unknown += not names
    return len(found) + unknown


@dataclass
class Cover:
    """Groups of a function; every compute operator is owned by exactly one.

    What is settled is a group by itself, so that a path through it is seen as one.
    """

    dag: Dag
    groups: dict[int, Group] = field(default_factory=dict[int, Group])
    owner: dict[int, int] = field(default_factory=dict[int, int])

    @classmethod
    def unfused(cls, dag: Dag) -> Cover:
        """One group for each operator that computes or moves."""
        cover = cls(dag)
        for i in range(len(dag.ops)):
            if dag.is_compute(i):
                cover.groups[i] = Group({i}, dag.names[i])
                cover.owner[i] = i
        return cover

    def is_settled(self, group: Group) -> bool:
        """Whether the group stands for an operator that stays as it is."""
        return any(self.dag.is_settled(i) for i in group.owned)

    def group_of(self, op: int) -> Group | None:
        """The group that owns an operator."""
        return self.groups.get(self.owner.get(op, -1))

    def sources(self, op: int) -> Iterator[int]:
        """Compute operators that an operator reads, through views outside of groups."""
        return self._through_views(op, self.dag.operands)

    def targets(self, op: int) -> Iterator[int]:
        """Compute operators that read an operator, through views outside of groups."""
        return self._through_views(op, self.dag.users)

    def _through_views(self, op: int, edges: list[list[int]]) -> Iterator[int]:
        seen: set[int] = set()
        stack = [iter(edges[op])]
        while stack:
            i = next(stack[-1], None)
            if i is None:
                stack.pop()
            elif i >= 0 and i not in seen:
                seen.add(i)
                if i in self.owner:
                    yield i
                else:
                    stack.append(iter(edges[i]))

    def order(self) -> list[int]:
        """Keys of the groups: each after those that it reads, else in program order."""
        waiting = dict.fromkeys(self.groups, 0)
        successors = {key: self.successors(key) for key in self.groups}
        for key in successors:
            for s in successors[key]:
                waiting[s] += 1
        last = {key: max(group.owned) for key, group in self.groups.items()}
        ready = [(last[key], key) for key, count in waiting.items() if not count]
        ready.sort()
        order: list[int] = []
        while ready:
            _, key = heappop(ready)
            order.append(key)
            for s in successors[key]:
                waiting[s] -= 1
                if not waiting[s]:
                    heappush(ready, (last[s], s))
        return order

    def successors(self, key: int) -> set[int]:
        """Groups that read a result of group `key`."""
        group = self.groups[key]
        found = {self.owner[t] for i in group.owned for t in self.targets(i)}
        found.discard(key)
        return found

    def makes_cycle(self, keys: Iterable[int]) -> bool:
        """Whether merging these groups would make one that waits for itself.

        A path that leaves the merged group and comes back passes only through groups with an
        operator before the last and one behind the first of the merged ones. It is looked for from
        both ends in turn, so that a value with many users costs no more than one with few.
        """
        merged = set(keys)
        first = min(map(self._begin, merged))
        last = max(max(self.groups[k].owned) for k in merged)
        if not self._leaves(merged, last):
            return False
        ahead = self._walk(merged, self._readers, lambda k: self._begin(k) <= last)
        back = self._walk(merged, self._read, lambda k: max(self.groups[k].owned) >= first)
        return any(a or b for a, b in zip(ahead, back, strict=False))

    def _leaves(self, merged: set[int], last: int) -> bool:
        """Whether a result may be read by another group that has an operator before the last of the
        merged ones: nothing else can come back. Views count as such."""
        users, owner = self.dag.users, self.owner
        for key in merged:
            for i in self.groups[key].owned:
                for user in users[i]:
                    other = owner.get(user) if user >= 0 else key
                    if other is None or (other not in merged and self._begin(other) <= last):
                        return True
        return False

    def _begin(self, key: int) -> int:
        return min(self.groups[key].owned)

    def _readers(self, key: int) -> Iterator[int]:
        """Groups that read a result of group `key`, itself and repetitions included."""
        return (self.owner[t] for i in self.groups[key].owned for t in self.targets(i))

    def _read(self, key: int) -> Iterator[int]:
        """Groups that group `key` reads, itself and repetitions included."""
        return (self.owner[s] for i in self.groups[key].owned for s in self.sources(i))

    def _walk(
        self,
        merged: set[int],
        neighbours: Callable[[int], Iterator[int]],
        between: Callable[[int], bool],
    ) -> Iterator[bool]:
        """One step at a time away from the merged groups; True where it comes back to them."""
        seen = set(merged)
        stack = [(neighbours(k), False) for k in merged]
        while stack:
            groups, outside = stack[-1]
            key = next(groups, None)
            if key is None:
                stack.pop()
            elif key in merged and outside:
                yield True
                return
            elif key not in seen and between(key):
                seen.add(key)
                stack.append((neighbours(key), True))
            yield False

    def merge(self, keys: Iterable[int], name: str, borrowed: Iterable[int] = ()) -> Group:
        """One group of several; the caller knows that no cycle arises."""
        ordered = sorted(keys)
        first = self.groups[ordered[0]]
        for key in ordered[1:]:
            other = self.groups.pop(key)
            first.owned |= other.owned
            first.borrowed |= other.borrowed
            for i in other.owned:
                self.owner[i] = ordered[0]
        first.borrowed |= set(borrowed)
        first.borrowed -= first.owned
        first.name = name
        return first

    def remove(self, key: int) -> None:
        """A group goes away, its operators being computed by those that read them."""
        for i in self.groups.pop(key).owned:
            del self.owner[i]

    def split(self, key: int) -> None:
        """A group's operators become groups by themselves; views that it borrowed stand outside."""
        for i in self.groups.pop(key).owned:
            self.groups[i] = Group({i}, self.dag.names[i])
            self.owner[i] = i

    def outputs(self, group: Group) -> list[tuple[int, int]]:
        """(operator, result) that is used outside of the group."""
        found: list[tuple[int, int]] = []
        for i in sorted(group.owned):
            op = self.dag.ops[i]
            if len(op.results) == 1:
                outside = (
                    u < 0
                    or (
                        u not in group.owned
                        and (u not in group.borrowed or self._escapes(u, group))
                    )
                    for u in self.dag.users[i]
                )
                if any(outside):
                    found.append((i, 0))
                continue
            inside = {self.dag.ops[u] for u in group.owned | group.borrowed}
            for r, result in enumerate(op.results):
                if any(use.operation not in inside for use in result.uses):
                    found.append((i, r))
        return found

    def location(self, group: Group) -> LocationAttr:
        """Of what a group is made: its operators' nodes, and the tensors of its outputs."""
        ops, dag = self.dag.ops, self.dag
        return joined(
            [ops[i].location for i in group.ops() if not dag.is_view(i)],
            [of_result(ops[i].location, r) for i, r in self.outputs(group)],
            [ops[i].location for i in group.ops() if dag.is_view(i)],
        )

    def boundary_bytes(self, group: Group) -> int:
        """Bytes of the tensors that a group reads and writes, each once, views looked through;
        inline constants are not counted."""
        dag, members = self.dag, group.owned | group.borrowed
        crossing = {v for i in members for owner, v in dag.reads[i] if owner not in members}
        crossing.update(dag.writes[i][r] for i, r in self.outputs(group))
        return sum(map(dag.sizes.__getitem__, crossing))

    def _escapes(self, view: int, group: Group) -> bool:
        """Whether a borrowed view is also used outside of the group."""
        for u in self.dag.users[view]:
            if u in group.owned:
                continue
            if u not in group.borrowed or self._escapes(u, group):
                return True
        return False
