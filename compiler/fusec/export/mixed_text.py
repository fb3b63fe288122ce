"""Writes a mixed kernel in tensor form: the compiler splits it into its two halves by itself.

Buffers become tensors, loops carry the accumulator, the way through the workspace is a slice of it.
The two vector cores share the lines by hand: each takes every other chunk of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import ReinterpretCastOp, SubviewOp
from xdsl.ir import Block, Operation, SSAValue

from fusec.export.core_share import Share, share_of
from fusec.export.cube_text import DOUBLE, doubles_l1, mmad_sizes, transposes, whole_buffer
from fusec.export.hivm_types import tensor_text
from fusec.export.instructions import instruction
from fusec.export.kept_workspaces import workspaces_of
from fusec.export.l1_parts import parts_of
from fusec.export.live_ops import root_of, writes_in
from fusec.export.reason import NotInHivm
from fusec.export.tensor_text import TensorText
from fusec.export.vector_text import VECTOR_OPS
from fusec.export.workspace_slice import workspace_slice
from fusec.npu.views import Size
from fusec_dialects.npu.attrs import Core, Space, space_of
from fusec_dialects.npu.base import NpuOp, element_type
from fusec_dialects.npu.cube import MmadOp
from fusec_dialects.npu.move import AllocOp, CopyOp, FixpipeOp, LoadOp, StoreOp
from fusec_dialects.npu.vector import VBrcOp, VectorOp, VReduceOp

_VECTOR = frozenset((Core.VECTOR,))
_EXTRA = (
    ("workspace", "memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>}"),
    ("ffts", "i64 {hacc.arg_type = #hacc.arg_type<ffts_base_address>}"),
)
"""Arguments that the compiler fills: where the halves meet, and what orders them."""
_BY_HAND = "enable-auto-bind-sub-block=false"
_DOUBLE = (DOUBLE, "limit-auto-multi-buffer-buffer=only-cube", "tile-mix-vector-loop=1")
"""Double buffers on the cube core, tiles of the two cores overlapping; vector loops stay as they
are: cut once more by the compiler, they would have buffers of dynamic size.
"""


class MixedText(TensorText):
    """A kernel of both cores."""

    def __init__(self, func: FuncOp) -> None:
        super().__init__(func)
        self.cores = {op: _cores(op) for op in self.live}
        self.accumulators: dict[SSAValue, SSAValue] = {}
        self._shared = False
        self._share: Share | None = None
        self._first: str | None = None
        self._count: Size = 0
        self._parts = parts_of(func, self.live)
        self.handlers |= {
            AllocOp: self._alloc,
            LoadOp: self._load,
            StoreOp: self._store,
            MmadOp: self._mmad,
            FixpipeOp: self._fixpipe,
            CopyOp: self._compute,
            **dict.fromkeys(VECTOR_OPS, self._compute),
            VBrcOp: self._broadcast,
        }

    def options(self) -> tuple[str, ...]:
        """The compiler's options."""
        return (_BY_HAND, *(_DOUBLE if doubles_l1(self.live) else ()))

    def written_arguments(self) -> Sequence[SSAValue]:
        taken = set(workspaces_of(self.func)) - self.kept
        return [value for value in self.func.args if value not in taken]

    def extra_arguments(self) -> list[str]:
        return [f"{self.fresh(name)}: {type_}" for name, type_ in _EXTRA]

    # Control

    def block(self, block: Block) -> None:
        """What stores outside of any loop over lines is shared, or done by the first core alone."""
        ops = [op for op in block.ops if op in self.live]
        end = len(ops)
        if not self._shared and any(isinstance(op, StoreOp) for op in ops):
            end = max((i + 1 for i, op in enumerate(ops) if Core.CUBE in self.cores[op]), default=0)
        for op in ops[:end]:
            self.operation(op)
        if end == len(ops):
            return
        self._share = share_of(ops[end:], self.shapes, self.accumulators)
        self._open_share()
        self._shared = True
        for op in ops[end:]:
            self.operation(op)
        self._shared, self._share, self._first = False, None, None
        self.close()

    def _open_share(self) -> None:
        """The head of a loop that runs once at most: on the lines of this core, if they are shared,
        else on all of them on the first core."""
        core, share = self._sub_block(), self._share
        if share is None:
            once, one, two = self.fresh("once"), self.index(1), self.index(2)
            self.open(f"scf.for {once} = {core} to {one} step {two} {{")
            return
        half, lower, self._first = self.index(share.half), self.fresh("lower"), self.fresh("line")
        self.line(f"{lower} = arith.muli {core}, {half} : index")
        upper, step = self.index_value(share.size), self.index(2 * share.half)
        self.open(f"scf.for {self._first} = {lower} to {upper} step {step} {{")
        for buffer, axis in share.axes.items():
            shape = self.shapes[buffer]
            self.shapes[buffer] = (*shape[:axis], share.half, *shape[axis + 1 :])
        self._count = share.half
        if share.size != 2 * share.half:
            rest, count = self.fresh("rest"), self.fresh("count")
            self.line(f"{rest} = arith.subi {upper}, {self._first} : index")
            self.line(f"{count} = arith.minsi {rest}, {half} : index")
            self._count = self._placeholder(count)

    def view_parts(self, op: SubviewOp | ReinterpretCastOp) -> list[list[Size]]:
        parts = super().view_parts(op)
        if self._share is None or self._first is None or op not in self._share.views:
            return parts
        axis = self._share.views[op]
        moved = self._first
        if parts[0][axis] != 0:
            moved = self.fresh("moved")
            offset = self.index_value(parts[0][axis])
            self.line(f"{moved} = arith.addi {offset}, {self._first} : index")
        parts[0][axis] = self._placeholder(moved)
        parts[1][axis] = self._count
        return parts

    def view_sizes(self, value: SSAValue) -> tuple[list[Size], list[int]]:
        sizes, kept = super().view_sizes(value)
        axis = None if self._share is None else self._share.axes.get(root_of(value))
        if axis is not None:
            sizes[axis] = self._count
        return sizes, kept

    def _placeholder(self, name: str) -> SSAValue:
        """A value for what only the text has."""
        value = Block(arg_types=[IndexType()]).args[0]
        self.names[value] = name
        return value

    def loop(self, op: scf.ForOp) -> None:
        if op.results:
            raise NotInHivm(op, "a loop of a kernel carries no values")
        shares = not self._shared and self.cores[op] == _VECTOR and _stores(op)
        carried = self._carried(op)
        if shares and carried:
            raise NotInHivm(op, "the two vector cores do not share a loop that carries a buffer")
        self._shared |= shares
        if not carried:
            self.open(f"{self._loop_head(op, shares)} {{")
            self.block(op.body.block)
            self.close()
        else:
            self._carrying_loop(op, carried)
        if shares:
            self._shared = False

    def _loop_head(self, op: scf.ForOp, shares: bool) -> str:
        if not shares:
            return self.loop_head(op)
        core, step = self._sub_block(), self.name(op.step)
        offset, lower, twice = (self.fresh(name) for name in ("offset", "lower", "twice"))
        self.line(f"{offset} = arith.muli {core}, {step} : index")
        self.line(f"{lower} = arith.addi {self.name(op.lb)}, {offset} : index")
        self.line(f"{twice} = arith.muli {step}, {self.index(2)} : index")
        counter = self.name(op.body.block.args[0], "i")
        return f"scf.for {counter} = {lower} to {self.name(op.ub)} step {twice}"

    def _carrying_loop(self, op: scf.ForOp, carried: Sequence[SSAValue]) -> None:
        types = [self.tensor_type(buffer) for buffer in carried]
        starts = [self.tensors.get(buffer) or self.empty(buffer) for buffer in carried]
        inside = [self.fresh("carried") for _ in carried]
        names = [self.fresh(buffer.name_hint or "result") for buffer in carried]
        pairs = ", ".join(f"{a} = {b}" for a, b in zip(inside, starts, strict=True))
        head = f"{', '.join(names)} = {self.loop_head(op)}"
        self.open(f"{head} iter_args({pairs}) -> ({', '.join(types)}) {{")
        self.tensors.update(zip(carried, inside, strict=True))
        self.block(op.body.block)
        ends = ", ".join(self.tensors[buffer] for buffer in carried)
        self.line(f"scf.yield {ends} : {', '.join(types)}")
        self.close()
        self.tensors.update(zip(carried, names, strict=True))

    def _carried(self, loop: scf.ForOp) -> list[SSAValue]:
        """The buffers from outside of a loop that are written in it."""
        found: dict[SSAValue, None] = {}
        for root, _ in writes_in(loop, self.live):
            outside = isinstance(root.owner, AllocOp) and not loop.is_ancestor(root.owner)
            if outside and space_of(root.type) in (Space.UB, Space.L0C):
                found[root] = None
        return list(found)

    def _sub_block(self) -> str:
        """Which of the two vector cores this is."""
        name = self.fresh("sub_block")
        self.hardware_index("get_sub_block_idx", name)
        return name

    # Operators

    def _alloc(self, op: AllocOp) -> None:
        if space_of(op.result.type) != Space.L1:
            return
        zeroed = self._parts.get(op.result)
        if zeroed is None:
            self.buffer(op.result)
            return
        self.buffer_in_parts(op.result)
        if zeroed:
            dtype, (name, type_) = self.dtype(op.result), self.bases[op.result]
            zero = self.constant(f"{'0' if dtype.startswith('i') else '0.0'} : {dtype}", "zero")
            self.line(f"hivm.hir.vbrc ins({zero} : {dtype}) outs({name} : {type_})")

    def _load(self, op: LoadOp) -> None:
        root = root_of(op.dest)
        if root_of(op.source) in self.accumulators:
            accumulator = self.accumulators[root_of(op.source)]
            shapes = self.shapes[accumulator], self.shapes[root]
            cut = workspace_slice(op, *shapes, self.name, self._first)
            self.tensors[root] = self.slice_of(accumulator, cut, root)
        elif space_of(root.type) == Space.UB:
            self.buffer(root)
            self.load_part(op)
        elif root in self.bases:
            self._fill(op)
        else:
            self.load_part(op)

    def _fill(self, op: LoadOp | VBrcOp) -> None:
        """Loads a part of a buffer in L1, or fills it."""
        name, source = op.name.removeprefix("npu."), self.operands([op.source])
        dest = self.bases.get(op.dest) or (self.name(op.dest), self.type_text(op.dest))
        self.line(f"hivm.hir.{name} ins({source}) outs({dest[0]} : {dest[1]})")

    def _store(self, op: StoreOp) -> None:
        tensor, type_ = self.part(op.source)
        self.line(f"hivm.hir.store ins({tensor} : {type_}) outs({self.operands([op.dest])})")

    def _fixpipe(self, op: FixpipeOp) -> None:
        accumulator, root = whole_buffer(op, op.source), root_of(op.dest)
        if root in self.layouts:
            self._store_product(op, accumulator)
        elif op.relu is not None:
            raise NotInHivm(op, "relu on the way to the workspace; do it on the vector core")
        else:
            self.accumulators[root] = accumulator

    def _store_product(self, op: FixpipeOp, accumulator: SSAValue) -> None:
        """An accumulator goes to gm; the compiler makes fixpipe's steps of relu, cast and store."""
        name, dtype = self.tensor(op, accumulator), str(element_type(op.dest))
        shape = self.shapes[accumulator]
        kinds = [tensor_text(shape, "f32"), tensor_text(shape, dtype)]
        steps = [("vrelu", kinds[0], kinds[0])] if op.relu is not None else []
        steps += [("vcast", kinds[0], kinds[1])] if dtype != "f32" else []
        for step, before, after in steps:
            empty, made = self.fresh("empty"), self.fresh("acc")
            self.line(f"{empty} = tensor.empty() : {after}")
            operands = f"ins({name} : {before}) outs({empty} : {after})"
            self.line(f"{made} = hivm.hir.{step} {operands} -> {after}")
            name = made
        part, type_ = self.leading_part(op.source, name, kinds[1], dtype)
        self.line(f"hivm.hir.store ins({part} : {type_}) outs({self.operands([op.dest])})")

    def _mmad(self, op: MmadOp) -> None:
        values = [whole_buffer(op, value) for value in (op.a, op.b)]
        sizes = [self.index_value(size) for size in mmad_sizes(op)]
        names = [self.tensor(op, value) for value in values] + [self.name(op.init), *sizes]
        types = [*(self.tensor_type(value) for value in values), "i1", "index", "index", "index"]
        if op.bias is not None:
            bias = whole_buffer(op, op.bias)
            names.append(self.tensor(op, bias))
            types.append(self.tensor_type(bias))
        acc = whole_buffer(op, op.acc)
        start = self.tensors.get(acc) or self.empty(acc)
        operands = f"ins({', '.join(names)} : {', '.join(types)})"
        self.result(acc, f"hivm.hir.mmadL1{transposes(op)} {operands}", start)

    def _broadcast(self, op: VBrcOp) -> None:
        if space_of(op.dest.type) == Space.L1:
            self._fill(op)
        else:
            self._compute(op)

    def _compute(self, op: VectorOp | CopyOp) -> None:
        if isinstance(op, VReduceOp) and not self.is_whole(op.source, op.dims.get_values()):
            raise NotInHivm(op, "a reduction over a part of a tile; make the tile whole")
        what = instruction(op, self.shape, self.dtype)
        names = ", ".join(self.operand(op, value) for value in what.sources)
        types = ", ".join(self.operand_type(value) for value in what.sources)
        mode = f"{what.mode} " if what.mode else ""
        operation = f"hivm.hir.{what.name} {mode}ins({names} : {types})"
        self.result(what.dest, operation, self.empty(what.dest), what.attributes)


def _cores(op: Operation) -> frozenset[Core]:
    """The cores of the operators at and below an operation."""
    return frozenset(o.agent().core for o in op.walk() if isinstance(o, NpuOp))


def _stores(loop: scf.ForOp) -> bool:
    return any(isinstance(op, StoreOp) for op in loop.walk())
