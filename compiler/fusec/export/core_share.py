"""How the two vector cores share a tile that is not cut into chunks: half of its lines each.

In: the operations behind the cube core's, without loops. Out: along which axis of every buffer and
of every view of gm the lines run, or None where they cannot be shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.memref import SubviewOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation, SSAValue

from fusec.export.live_ops import root_of
from fusec.export.tensor_shapes import kept_of
from fusec.export.workspace_slice import line_axis
from fusec.npu.views import Size, kept_axes, layout_of, selected_by, sizes_of
from fusec_dialects.npu.attrs import memref_type
from fusec_dialects.npu.move import CopyOp, LoadOp, StoreOp
from fusec_dialects.npu.vector import VectorOp, VTransposeOp

Shapes = Mapping[SSAValue, tuple[int, ...]]


@dataclass(frozen=True)
class Share:
    """`axes` by buffer; `views` by view of gm, of its source's axes. `size` lines, `half` of the
    capacity for the first core."""

    axes: Mapping[SSAValue, int]
    views: Mapping[Operation, int]
    size: Size
    half: int


def share_of(
    ops: Sequence[Operation], shapes: Shapes, accumulators: Mapping[SSAValue, SSAValue]
) -> Share | None:
    """`shapes` of buffers as tensors; `accumulators` by the workspace that they go through."""
    if any(isinstance(op, ForOp) for op in ops):
        return None
    search = _Search(shapes)
    sizes: list[Size | None] = []
    lines = 0
    for op in ops:
        if isinstance(op, LoadOp) and root_of(op.source) in accumulators:
            buffer, accumulator = root_of(op.dest), shapes[accumulators[root_of(op.source)]]
            place = line_axis(op, accumulator, shapes[buffer])
            if place is None or not search.set(op.dest, place):
                return None
            sizes.append(_size(op.dest, place))
            lines = -(-shapes[buffer][place] // 2)
    if lines == 0 or not search.spread(ops):
        return None
    views: dict[Operation, int] = {}
    for op in ops:
        if not isinstance(op, LoadOp | StoreOp) or root_of(op.source) in accumulators:
            continue
        here, there = (op.dest, op.source) if isinstance(op, LoadOp) else (op.source, op.dest)
        place = search.place(here)
        if place is None:
            if isinstance(op, StoreOp):
                return None
            continue
        view = there.owner
        axis = _source_axis(view, place) if isinstance(view, SubviewOp) and view in ops else None
        if not isinstance(view, SubviewOp) or axis is None:
            return None
        views[view] = axis
        sizes += [_size(here, place), _size(there, place)]
    size = sizes[0]
    inside = all(root.owner in ops for root in search.axes)
    if size is None or any(other != size for other in sizes) or not inside:
        return None
    return Share(search.axes, views, size, lines)


def _size(value: SSAValue, place: int) -> Size | None:
    sizes = sizes_of(value)
    return None if sizes is None else sizes[place]


def _source_axis(view: SubviewOp, place: int) -> int | None:
    source, result = memref_type(view.source.type), memref_type(view.result.type)
    if source is None or result is None:
        return None
    kept = kept_axes(selected_by(view, layout_of(source)), layout_of(result))
    return None if kept is None else kept[place]


@dataclass
class _Search:
    """The axis of the lines in each buffer, as found so far."""

    shapes: Shapes
    axes: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def place(self, value: SSAValue) -> int | None:
        """The axis of the lines in a buffer or view; None where it has no lines."""
        axis = self.axes.get(root_of(value))
        return None if axis is None else kept_of(value).index(axis)

    def set(self, value: SSAValue, place: int) -> bool:
        """Notes the axis; False where it is another one already."""
        axis = kept_of(value)[place]
        return self.axes.setdefault(root_of(value), axis) == axis

    def spread(self, ops: Sequence[Operation]) -> bool:
        """From operand to operand, until all are known; False where lines meet."""
        known = -1
        while known < len(self.axes):
            known = len(self.axes)
            for op in ops:
                if isinstance(op, VectorOp | CopyOp) and not self._through(op):
                    return False
        return True

    def _through(self, op: VectorOp | CopyOp) -> bool:
        sources = op.sources() if isinstance(op, VectorOp) else (op.source,)
        values = [value for value in (*sources, op.dest) if root_of(value) in self.shapes]
        places = {place for value in values if (place := self.place(value)) is not None}
        if not places:
            return True
        if len(places) > 1 or isinstance(op, VTransposeOp):
            return False
        place = places.pop()
        if self._extent(op.dest, place) == 1:
            return False
        return all(self.set(value, place) for value in values if self._extent(value, place) > 1)

    def _extent(self, value: SSAValue, place: int) -> int:
        return self.shapes[root_of(value)][kept_of(value)[place]]
