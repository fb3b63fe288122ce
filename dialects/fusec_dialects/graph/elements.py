"""Element types: which the dialect knows, and which of them each operator takes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    IntegerType,
    Signedness,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

FLOATS: frozenset[Attribute] = frozenset({f16, bf16, f32, f64})
INTEGERS: frozenset[Attribute] = frozenset(
    {i8, i16, i32, i64, *(IntegerType(width, Signedness.UNSIGNED) for width in (8, 16, 32, 64))}
)
NUMBERS = FLOATS | INTEGERS
KNOWN = NUMBERS | {i1}
"""Every element type of the dialect; i1 is a truth value."""

_ALLOWED: dict[str, tuple[frozenset[Attribute], str]] = {
    **dict.fromkeys(
        (
            *("erf", "exp", "log", "sqrt", "reciprocal", "tanh", "sigmoid", "gelu", "leaky_relu"),
            *("softmax", "log_softmax", "layer_normalization", "batch_normalization", "conv"),
            *("attention", "average_pool", "global_average_pool", "det", "grid_sample"),
            *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh"),
            *("atanh", "floor", "ceil", "round", "swish", "hard_sigmoid", "hard_swish", "softplus"),
            *("mish", "rms_normalization", "group_normalization"),
        ),
        (FLOATS, "a floating type"),
    ),
    **dict.fromkeys(
        (
            *("relu", "neg", "abs", "clip", "add", "sub", "mul", "div", "pow", "max", "min"),
            *("greater", "less", "greater_or_equal", "less_or_equal", "matmul", "gemm"),
            *("reduce_sum", "reduce_mean", "reduce_prod", "max_pool"),
            *("sign", "mod", "cum_sum", "cum_prod", "top_k_indices"),
        ),
        (NUMBERS, "a number"),
    ),
    **dict.fromkeys(
        ("bitwise_not", "bitwise_and", "bitwise_or", "bitwise_xor", "bit_shift"),
        (INTEGERS, "an integer"),
    ),
    "matmul_integer": (frozenset[Attribute]({i8}), "i8"),
    **dict.fromkeys(("and", "or", "xor", "not"), (frozenset[Attribute]({i1}), "i1")),
}
"""Operator -> the element types of its operands, and how a message says it; others take all."""

_INDEXED = frozenset(
    {
        *("gather", "gather_elements", "gather_nd", "scatter_elements", "scatter_nd"),
        "reverse_sequence",
    }
)
"""Operators whose second operand holds indices."""

_INDICES: frozenset[Attribute] = frozenset({i32, i64})
_FREE = frozenset({"cast", "pow"})
"""Operators whose operands need not have one type."""

COMPARISONS = frozenset(["equal", "greater", "less", "greater_or_equal", "less_or_equal"])


def verify_known(element: Attribute) -> None:
    """Raises VerifyException for an element type that the dialect does not have."""
    if element not in KNOWN:
        raise VerifyException(
            f"elements of type {element} are not known; use f16, bf16, f32, f64, i1, or an "
            "integer of 8 to 64 bits, i8 signed and ui8 unsigned"
        )


def verify_elements(name: str, types: Sequence[TensorType[Attribute]]) -> None:
    """Raises VerifyException where operator `name` has no meaning on these operand types."""
    elements = [t.element_type for t in types]
    for element in elements:
        verify_known(element)
    if name in _INDEXED and len(elements) > 1:
        if elements[1] not in _INDICES:
            raise VerifyException(f"the indices are {elements[1]}; cast them to i64")
        del elements[1]
    if name == "where" and elements:
        if elements[0] != i1:
            raise VerifyException(f"the condition is {elements[0]}; cast it to i1")
        elements = elements[1:]
    if name not in _FREE and len(set(elements)) > 1:
        raise VerifyException(
            f"operands have different element types: {', '.join(map(str, elements))}; "
            "cast them to one"
        )
    allowed, text = _ALLOWED.get(name, (KNOWN, ""))
    for element in elements:
        if element not in allowed:
            raise VerifyException(f"has no meaning on {element}; cast to {text}")


def result_element(
    name: str, types: Sequence[TensorType[Attribute]], to: Attribute | None
) -> Attribute:
    """Element type of the results; `to` is what a cast converts to."""
    if name in COMPARISONS:
        return i1
    if name in ("cast", "bit_cast") and to is not None:
        return to
    if name == "top_k_indices":
        return i64
    if name == "matmul_integer":
        return i32
    return types[1 if name == "where" else 0].element_type
