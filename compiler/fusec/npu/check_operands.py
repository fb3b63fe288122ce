"""Checks of npu-verify on operands: what the hardware and Huawei's library ask of a view.

In: one kernel. Out: nothing, or a VerifyException.
"""

from collections.abc import Iterable

from xdsl.dialects.memref import SubviewOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from fusec.hw import Target
from fusec.npu.buffers import alloc_of, base_of, may_overlap
from fusec.npu.views import layout_of
from fusec_dialects.npu.attrs import Space, memref_type, space_of
from fusec_dialects.npu.base import NpuOp
from fusec_dialects.npu.cube import MmadOp
from fusec_dialects.npu.storage import storage_bytes
from fusec_dialects.npu.vector import BinaryOp, UnaryOp, VCastOp, VCmpOp, VectorOp, VSelOp
from fusec_dialects.place import place

_IN_PLACE = (UnaryOp, BinaryOp, VCastOp, VCmpOp, VSelOp)
"""Operators that may store their result over an operand of the same view."""


def check_operands(ops: Iterable[Operation], target: Target) -> None:
    """Every operator on buffers."""
    for op in ops:
        if not op.name.startswith("npu.") or not isinstance(op, NpuOp):
            continue
        for value in op.operands:
            if space_of(value.type) == Space.UB:
                _check_unit_stride(op, value)
        if isinstance(op, MmadOp):
            _check_mmad(op)
            _check_bias(op, target)
        elif not isinstance(op, VectorOp) or op.temp is not None or _touches_itself(op):
            _check_overlap(op)


def _check_unit_stride(op: NpuOp, value: SSAValue) -> None:
    type_ = memref_type(value.type)
    if type_ is None or type_.get_num_dims() == 0:
        return
    layout = layout_of(type_)
    if layout.strides[-1] != 1 and layout.shape[-1] != 1:
        raise VerifyException(
            f"{place(op)}: an operand in ub has step {layout.strides[-1]} in its last axis; "
            "the elements of a row are contiguous in ub, so load them that way"
        )


def _check_mmad(op: MmadOp) -> None:
    if not op.on_l1:
        return
    for value in (op.a, op.b):
        if not _is_leading(value):
            raise VerifyException(
                f"{place(op)}: an l1 operand is a whole buffer or its leading part [0, 0]: "
                "Huawei's library takes the step between blocks of K from the buffer's size; "
                "load the part into a buffer of its own"
            )


def _check_bias(op: MmadOp, target: Target) -> None:
    bias = None if op.bias is None else memref_type(base_of(op.bias).type)
    if bias is None:
        return
    size, most = storage_bytes(bias), target.capacity("bt")
    if size > most:
        raise VerifyException(
            f"{place(op)}: a bias of {size} bytes does not fit the bias table of {most}; "
            "make the tile narrower in N"
        )


def _is_leading(value: SSAValue) -> bool:
    owner = value.owner
    if not isinstance(owner, SubviewOp):
        return alloc_of(value) is not None
    return (
        not any(owner.static_offsets.get_values())
        and set(owner.static_strides.get_values()) == {1}
        and memref_type(owner.source.type) is not None
        and len(owner.static_offsets) == len(owner.static_sizes)
        and _same_rank(owner)
        and _is_leading(owner.source)
    )


def _same_rank(view: SubviewOp) -> bool:
    result = memref_type(view.result.type)
    return result is not None and result.get_num_dims() == len(view.static_sizes)


def _touches_itself(op: NpuOp) -> bool:
    written = {base_of(value) for value in op.writes()}
    return any(base_of(value) in written for value in op.reads())


def _check_overlap(op: NpuOp) -> None:
    """No operand written shares elements with another, except in place on the identical view."""
    writes = list(op.writes())
    for index, target in enumerate(writes):
        for other in (*op.reads(), *writes[index + 1 :]):
            if base_of(other) is not base_of(target) or not may_overlap(other, target):
                continue
            in_place = index == 0 and other in op.reads() and isinstance(op, _IN_PLACE)
            if in_place and same_view(other, target):
                continue
            raise VerifyException(
                f"{place(op)}: an operand that is written overlaps another one; only elementwise "
                "operators work in place, on the identical view"
            )


def same_view(a: SSAValue, b: SSAValue) -> bool:
    """Whether two values certainly are the same elements in the same order."""
    if a is b:
        return True
    first, second = a.owner, b.owner
    return (
        isinstance(first, SubviewOp)
        and isinstance(second, SubviewOp)
        and first.properties == second.properties
        and a.type == b.type
        and list(first.operands[1:]) == list(second.operands[1:])
        and same_view(first.source, second.source)
    )
