"""`@RegFusion` and `@fusion`: fusions of one's own.

In: a class or a function that says what is computed. Out: a pattern that graph-fuse looks for; with
a `lower`, an operator in its place whose kernel that is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast, overload

from fusec.fusion.patterns import all_patterns
from fusec.fusion.patterns.own import OWN, OwnFusion
from fusec.fusion.patterns.terms import Apply, Term
from fusec.opbase.base import OperatorBase
from fusec.opbase.meaning import Trace
from fusec.opbase.names import check_name
from fusec.opbase.operators import register_operator, unregister_operator
from fusec.opbase.symbols import FusionError, Symbol
from fusec_dialects.graph import OPERATORS, OwnOperator

BENEFIT = 1000
"""Of an own fusion that says nothing: above every named pattern."""

Lower: TypeAlias = Callable[[Any, list[Any], list[Any]], None]
"""Builds a kernel: the builder, the buffers of the inputs, those of the outputs."""

Operator = TypeVar("Operator", bound=OperatorBase)
Function = TypeVar("Function", bound=Callable[..., Any])


def RegFusion(name: str, *, benefit: int = BENEFIT) -> Callable[[type[Operator]], type[Operator]]:
    """Register a class derived from OperatorBase as a fusion.

    Raises FusionError for a name that is taken or no identifier, and for a `compute` that uses what
    does not exist or leaves an output unset.
    """

    def decorate(made: type[Operator]) -> type[Operator]:
        operator = made()
        if operator.attributes or operator.optional_inputs:
            raise FusionError(
                f"{name}: a fusion has no attributes and no optional inputs of its own; write "
                "their values into compute, or register one fusion for each form"
            )
        symbols = [Symbol(f"i{k}") for k in range(len(operator.inputs))]
        outputs: list[Any] = [None] * len(operator.outputs)
        try:
            operator.compute(symbols, outputs)
        except IndexError as error:
            raise FusionError(
                f"{name}: compute asks for an input or output that is not declared; there are "
                f"{len(symbols)} inputs and {len(outputs)} outputs"
            ) from error
        named = dict(zip(operator.outputs, outputs, strict=True))
        own = _traced(name, operator.inputs, named, benefit, inspect.getdoc(made) or "")
        register(own, operator.lower if made.has_lower() else None)
        return made

    return decorate


@overload
def fusion(
    function: Function,
    *,
    name: str | None = None,
    benefit: int = BENEFIT,
    lower: Lower | None = None,
) -> Function: ...


@overload
def fusion(
    *, name: str | None = None, benefit: int = BENEFIT, lower: Lower | None = None
) -> Callable[[Function], Function]: ...


def fusion(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    benefit: int = BENEFIT,
    lower: Lower | None = None,
) -> Callable[..., Any]:
    """Register a function of tensors as a fusion, under its own name if no other is given.

    Its parameters are the inputs, what it returns the output, or outputs as a tuple of which the
    last is the result and the others may be used by others as well. `lower(npu, inputs, outputs)`
    builds its kernel, as the method of OperatorBase does. Raises FusionError as RegFusion does.
    """

    def decorate(made: Function) -> Function:
        inputs = list(inspect.signature(made).parameters)
        result = made(*[Symbol(f"i{k}") for k in range(len(inputs))])
        results = cast(tuple[Any, ...], result) if isinstance(result, tuple) else (result,)
        named = {f"output {k}": value for k, value in enumerate(results)}
        own = getattr(made, "__name__", "") if name is None else name
        register(_traced(own, inputs, named, benefit, inspect.getdoc(made) or ""), lower)
        return made

    return decorate if function is None else decorate(function)


def unregister(name: str) -> None:
    """Take an own fusion or operator out again; a name that is none is no error."""
    OWN.fusions.pop(name, None)
    unregister_operator(name)


def register(own: OwnFusion, lower: Lower | None = None) -> None:
    """Take a fusion, with the kernel that `lower` builds if there is one.

    Raises FusionError for a name that is taken or no identifier.
    """
    check_name(own.name)
    if own.name in all_patterns():
        raise FusionError(f"{own.name}: a fusion of this name exists; choose another one")
    if own.name in OPERATORS:
        raise FusionError(f"{own.name}: an operator of this name exists; choose another one")
    if lower is not None:
        trace = Trace(own.outputs)
        trace.check(own.name)

        def build(_: Any, npu: Any, inputs: list[Any], outputs: list[Any]) -> None:
            lower(npu, inputs, outputs)

        inputs = tuple(f"in{i}" for i in range(own.inputs))
        outputs = tuple(f"out{i}" for i in range(len(own.outputs)))
        declared = OwnOperator(own.name, inputs, outputs, trace.types, doc=own.doc)
        register_operator(declared, trace.compute, build)
    OWN.fusions[own.name] = own


def _traced(
    name: str, inputs: list[str], outputs: dict[str, object], benefit: int, doc: str
) -> OwnFusion:
    """A fusion of what `compute` did; raises FusionError where that is no single expression."""
    terms: list[Apply] = []
    for output, value in outputs.items():
        if not isinstance(value, Symbol) or not isinstance(value.term, Apply):
            raise FusionError(f"{name}: compute leaves '{output}' unset, or as an input")
        terms.append(value.term)
    if not terms:
        raise FusionError(f"{name}: it has no output")
    *escapes, root = terms
    inside = _parts(root)
    for output, term in zip(outputs, escapes, strict=False):
        if term not in inside:
            raise FusionError(
                f"{name}: '{output}' is not on the way to the last output; a fusion is one "
                "expression with inner values that may be used by others"
            )
    unused = [x for k, x in enumerate(inputs) if f"i{k}" not in inside]
    if unused:
        raise FusionError(f"{name}: compute does not use the input '{unused[0]}'")
    return OwnFusion(name, root, benefit, doc, tuple(escapes), len(inputs))


def _parts(root: Apply) -> set[Term]:
    """Every operator and name of an expression."""
    seen: set[Term] = {root}
    stack: list[Apply] = [root]
    while stack:
        for operand in stack.pop().operands:
            if operand not in seen:
                seen.add(operand)
                if isinstance(operand, Apply):
                    stack.append(operand)
    return seen
