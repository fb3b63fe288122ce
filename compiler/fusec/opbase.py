"""Own fusions, in the words of CANN's opbase or as plain functions.

`compute` runs once on symbols; what it did is the pattern that graph-fuse looks for, the meaning of
the fused operator, and what is lowered. A pattern sees the network as `prepare` leaves it: GELU is
one operator there, not the five that an exporter wrote.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from traceback import extract_tb
from typing import Any, TypeVar, cast, overload

from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException

from fusec.fusion.patterns import all_patterns
from fusec.fusion.patterns.own import OWN, OwnFusion
from fusec.fusion.patterns.terms import Apply, Term
from fusec_dialects.graph import OPERATORS, AttrValue

__all__ = [
    "FusionError",
    "OperatorBase",
    "RegFusion",
    "Symbol",
    "ascendc",
    "fusion",
    "load",
    "register",
    "unregister",
]

BENEFIT = 1000
"""Of an own fusion that says nothing: above every named pattern."""

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class FusionError(DiagnosticException):
    """An own fusion that cannot be taken; the message says which and why."""


@dataclass(frozen=True)
class Symbol:
    """A tensor of which only its history is known; arithmetic on it is recorded."""

    term: Term

    def __add__(self, other: Symbol | float) -> Symbol:
        return ascendc.call("add", (self, other), {})

    def __radd__(self, other: float) -> Symbol:
        return ascendc.call("add", (other, self), {})

    def __sub__(self, other: Symbol | float) -> Symbol:
        return ascendc.call("sub", (self, other), {})

    def __rsub__(self, other: float) -> Symbol:
        return ascendc.call("sub", (other, self), {})

    def __mul__(self, other: Symbol | float) -> Symbol:
        return ascendc.call("mul", (self, other), {})

    def __rmul__(self, other: float) -> Symbol:
        return ascendc.call("mul", (other, self), {})

    def __truediv__(self, other: Symbol | float) -> Symbol:
        return ascendc.call("div", (self, other), {})

    def __rtruediv__(self, other: float) -> Symbol:
        return ascendc.call("div", (other, self), {})

    def __matmul__(self, other: Symbol) -> Symbol:
        return ascendc.call("matmul", (self, other), {})

    def __neg__(self) -> Symbol:
        return ascendc.call("neg", (self,), {})


class _AscendC:
    """`ascendc.matmul(a, b)` and every other operator of the graph dialect, on symbols."""

    def __getattr__(self, name: str) -> Callable[..., Symbol]:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in OPERATORS:
            raise FusionError(f"ascendc.{name}: unknown operator; {_nearest(name, OPERATORS)}")

        def operator(*operands: Symbol | float, **attrs: Any) -> Symbol:
            return self.call(name, operands, attrs)

        return operator

    def call(self, name: str, operands: Sequence[Symbol | float], attrs: dict[str, Any]) -> Symbol:
        """Record an operator; raises FusionError for operands or attributes that it has not."""
        operator = OPERATORS[name]
        known = operator.get_irdl_definition().properties
        for key in attrs:
            if key not in known:
                raise FusionError(f"ascendc.{name}: no attribute '{key}'; {_nearest(key, known)}")
        given: dict[str, AttrValue] = {**operator.DEFAULTS}
        given |= {k: _attribute(v) for k, v in attrs.items()}
        return Symbol(Apply(name, tuple(_term(name, o) for o in operands), tuple(given.items())))


ascendc = _AscendC()
"""The operators that `compute` is written with."""


def _attribute(value: object) -> AttrValue:
    return cast(AttrValue, tuple(cast(list[int], value)) if isinstance(value, list) else value)


def _term(name: str, operand: object) -> Term:
    if isinstance(operand, Symbol):
        return operand.term
    if isinstance(operand, int | float) and not isinstance(operand, bool):
        return float(operand)
    raise FusionError(
        f"ascendc.{name}: an operand is {type(operand).__name__}, expected a tensor or a number"
    )


def _nearest(name: str, valid: Iterable[str]) -> str:
    names = list(valid)
    near = get_close_matches(name, names, n=1)
    return f"did you mean '{near[0]}'?" if near else f"known: {', '.join(sorted(names)[:12])}, ..."


class OperatorBase:
    """What a fusion class derives from: `add_input`, `add_output` in `__init__`, then `compute`."""

    def __init__(self) -> None:
        self.inputs: list[str] = []
        self.outputs: list[str] = []

    def add_input(self, name: str) -> None:
        """Declare the next input."""
        self.inputs.append(name)

    def add_output(self, name: str) -> None:
        """Declare the next output; outputs before the last may be used by others as well."""
        self.outputs.append(name)

    def compute(self, inputs: list[Symbol], outputs: list[Any]) -> None:
        """Set `outputs[i]` from `inputs` by operators of `ascendc`."""
        raise FusionError(f"{type(self).__name__}: it has no compute")


Operator = TypeVar("Operator", bound=OperatorBase)
Function = TypeVar("Function", bound=Callable[..., Any])


def RegFusion(name: str, *, benefit: int = BENEFIT) -> Callable[[type[Operator]], type[Operator]]:
    """Register a class derived from OperatorBase as a fusion.

    Raises FusionError for a name that is taken or no identifier, and for a `compute` that uses what
    does not exist or leaves an output unset.
    """

    def decorate(made: type[Operator]) -> type[Operator]:
        operator = made()
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
        register(_traced(name, operator.inputs, named, benefit, inspect.getdoc(made) or ""))
        return made

    return decorate


@overload
def fusion(function: Function, *, name: str | None = None, benefit: int = BENEFIT) -> Function: ...


@overload
def fusion(
    *, name: str | None = None, benefit: int = BENEFIT
) -> Callable[[Function], Function]: ...


def fusion(
    function: Callable[..., Any] | None = None, *, name: str | None = None, benefit: int = BENEFIT
) -> Callable[..., Any]:
    """Register a function of tensors as a fusion, under its own name if no other is given.

    Its parameters are the inputs, what it returns the output, or outputs as a tuple of which the
    last is the result and the others may be used by others as well. Raises FusionError as RegFusion
    does.
    """

    def decorate(made: Function) -> Function:
        inputs = list(inspect.signature(made).parameters)
        result = made(*[Symbol(f"i{k}") for k in range(len(inputs))])
        results = cast(tuple[Any, ...], result) if isinstance(result, tuple) else (result,)
        named = {f"output {k}": value for k, value in enumerate(results)}
        own = getattr(made, "__name__", "") if name is None else name
        register(_traced(own, inputs, named, benefit, inspect.getdoc(made) or ""))
        return made

    return decorate if function is None else decorate(function)


def unregister(name: str) -> None:
    """Take an own fusion out again; a name that is none is no error."""
    OWN.fusions.pop(name, None)


def load(path: Path | str) -> list[str]:
    """Register the fusions of a file: Python that uses this module, or `.mlir` with pdl patterns.

    Gives their names. Raises FusionError, with the file, for one that cannot be taken, and leaves
    none of the file's fusions behind then.
    """
    path = Path(path)
    before = dict(OWN.fusions)
    loader = _LOADERS.get(path.suffix)
    if loader is None:
        raise FusionError(f"'{path}': own fusions are in a .py or an .mlir file")
    try:
        loader(path)
    except (FusionError, OSError, ParseError, VerifyException) as error:
        OWN.fusions.clear()
        OWN.fusions.update(before)
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FusionError(text if str(path) in text else f"{path}: {text}") from error
    return [name for name in OWN.fusions if name not in before]


def _load_python(path: Path) -> None:
    try:
        code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    except (SyntaxError, ValueError) as error:
        raise FusionError(f"not Python: {error}") from error
    try:
        exec(code, {"__name__": path.stem, "__file__": str(path)})
    except FusionError:
        raise
    except Exception as error:  # whatever the user's own code raises
        line = next(
            (
                f.lineno
                for f in reversed(extract_tb(error.__traceback__))
                if f.filename == str(path)
            ),
            0,
        )
        raise FusionError(f"{path}:{line}: {type(error).__name__}: {error}") from error


def _load_pdl(path: Path) -> None:
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.pdl import PDL

    from fusec.frontends.mlir import LocatedParser, decode
    from fusec.fusion.patterns.pdl import fusions_of

    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(PDL)
    text = decode(path.read_bytes(), str(path))
    module = LocatedParser(context, text, str(path)).parse_module()
    module.verify()
    for own in fusions_of(module):
        register(own)


_LOADERS = {".py": _load_python, ".mlir": _load_pdl}


def register(own: OwnFusion) -> None:
    """Take a fusion; raises FusionError for a name that is taken or no identifier."""
    if not _NAME.fullmatch(own.name):
        raise FusionError(f"'{own.name}' is no name for a fusion; letters, digits and _ make one")
    if own.name in all_patterns():
        raise FusionError(f"{own.name}: a fusion of this name exists; choose another one")
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
    return OwnFusion(name, root, benefit, doc, frozenset(escapes))


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
