"""A failing network made small: operators are left out as long as it still fails.

What an operator that went away gave becomes an input; what only it used becomes an output. The
types of all values stay as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from fusec.semantics.interpreter import main_function
from fusec_dialects.graph import CallOp, ConstantOp, KernelOp, WeightOp
from fusec_dialects.locations import tensors

Item = TypeVar("Item")


def minimize(items: Sequence[Item], fails: Callable[[Sequence[Item]], bool]) -> list[Item]:
    """A subsequence that still fails and of which no single item can be left out (ddmin).

    `items` itself is known to fail. About 2 log2 n calls for one culprit among n. Source of the
    method: Zeller and Hildebrandt, Simplifying and isolating failure-inducing input, 2002.
    """
    kept: list[Item] = list(items)
    parts = 2
    while len(kept) > 1:
        size = -(-len(kept) // parts)
        chunks = [kept[i : i + size] for i in range(0, len(kept), size)]
        smaller = _one_chunk(chunks, fails) if parts == 2 else None
        if smaller is not None:
            kept, parts = smaller, 2
            continue
        without = _one_chunk_less(chunks, fails)
        if without is not None:
            kept, parts = without, max(parts - 1, 2)
        elif size == 1:
            break
        else:
            parts = min(2 * parts, len(kept))
    return kept


def _one_chunk(
    chunks: Sequence[list[Item]], fails: Callable[[Sequence[Item]], bool]
) -> list[Item] | None:
    return next((chunk for chunk in chunks if fails(chunk)), None)


def _one_chunk_less(
    chunks: Sequence[list[Item]], fails: Callable[[Sequence[Item]], bool]
) -> list[Item] | None:
    if len(chunks) < 3:
        return None
    for i in range(len(chunks)):
        rest = [item for j, chunk in enumerate(chunks) if j != i for item in chunk]
        if fails(rest):
            return rest
    return None


def operators(module: ModuleOp) -> list[Operation]:
    """What `subset` can leave out: the operators of main but weights and constants."""
    return [
        op
        for op in main_function(module).body.block.ops
        if not isinstance(op, WeightOp | ConstantOp | ReturnOp)
    ]


def subset(module: ModuleOp, kept: Sequence[Operation]) -> ModuleOp:
    """A module whose main has the operators `kept` of another one's, in their order.

    Other functions and the kernels that are still called come along. Inputs that are new have
    the names that the values have in the model, or numbers.
    """
    inside = set(kept)
    main = main_function(module)
    block = Block()
    values: dict[SSAValue, SSAValue] = {}
    inputs: list[tuple[str, SSAValue]] = []
    taken = _names(main)

    def value(old: SSAValue) -> None:
        if old in values:
            return
        owner = old.owner
        if isinstance(owner, WeightOp | ConstantOp):
            copy = owner.clone()
            block.add_op(copy)
            values[old] = copy.results[0]
            return
        new = block.insert_arg(old.type, len(block.args))
        new.name_hint = old.name_hint
        values[old] = new
        inputs.append((taken.get(old) or f"in{len(inputs)}", old))

    for op in main.body.block.ops:
        if op not in inside:
            continue
        for operand in op.operands:
            value(operand)
        copy = op.clone(values)
        block.add_op(copy)
        values.update(zip(op.results, copy.results, strict=True))
    outputs = [
        r
        for op in main.body.block.ops
        if op in inside
        for r in op.results
        if not r.first_use or any(use.operation not in inside for use in r.uses)
    ]
    end = ReturnOp(*[values[r] for r in outputs])
    block.add_op(end)
    names = [taken.get(r) or f"out{i}" for i, r in enumerate(outputs)]
    made = FuncOp(
        main.sym_name.data,
        ([old.type for _, old in inputs], [r.type for r in outputs]),
        Region(block),
        arg_attrs=_named([name for name, _ in inputs]),
        res_attrs=_named(names),
    )
    called = {str(op.callee) for op in kept if isinstance(op, CallOp)}
    others = [
        op.clone()
        for op in module.body.block.ops
        if op is not main
        and not (isinstance(op, KernelOp) and str(SymbolRefAttr(op.sym_name)) not in called)
    ]
    whole = ModuleOp([made, *others], dict(module.attributes))
    whole.location = module.location
    end.location = made.location = main.location
    return whole


def _names(main: FuncOp) -> dict[SSAValue, str]:
    """The names that values of main have in the model, as far as they are known."""
    found: dict[SSAValue, str] = {}
    for op in main.body.block.ops:
        names = tensors(op.location)
        if len(names) == len(op.results):
            pairs = zip(op.results, names, strict=True)
            found.update((result, name) for result, name in pairs if name)
    end = main.body.block.last_op
    results = end.operands if isinstance(end, ReturnOp) else ()
    for values, attrs in ((results, main.res_attrs), (main.body.block.args, main.arg_attrs)):
        for value, entry in zip(values, () if attrs is None else attrs.data, strict=False):
            name = entry.data.get("graph.name")
            if isinstance(name, StringAttr):
                found[value] = name.data
    return found


def _named(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    entries: list[dict[str, Attribute]] = [{"graph.name": StringAttr(name)} for name in names]
    return ArrayAttr([DictionaryAttr(entry) for entry in entries])
