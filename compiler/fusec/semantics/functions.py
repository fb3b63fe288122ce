"""Special functions, rounding, remainders and bits: elementwise, numpy broadcasting.

16-bit floating types compute in float32 and round once.
"""

from collections.abc import Callable

import numpy as np

from fusec.semantics.base import Attr, Call, Kind, Semantic
from fusec.semantics.dtypes import FLOAT32, FLOAT64, Array, is_floating, narrow, widen


def _function(function: Callable[[Array], Array]) -> Semantic:
    def compute(call: Call) -> list[Array]:
        x = call.floating(call.array(0))
        return [narrow(function(widen(x)), x.dtype)]

    return Semantic(compute)


def _sign(call: Call) -> list[Array]:
    x = call.numeric(call.array(0))
    return [narrow(np.sign(widen(x)), x.dtype)]


def _pair(call: Call) -> tuple[Array, Array]:
    """Two operands of one type that broadcast together."""
    x, y = call.arrays()
    call.same_dtype((x, y))
    call.broadcast(x.shape, y.shape)
    return x, y


def _mod(call: Call) -> list[Array]:
    """Of floating types always the C remainder with `fmod`; by zero an integer gives 0."""
    x, y = _pair(call)
    call.numeric(x)
    function = np.fmod if call.bool_("fmod") else np.mod
    return [narrow(function(widen(x), widen(y)), x.dtype)]


def _integers(call: Call, *arrays: Array) -> None:
    for array in arrays:
        if is_floating(array.dtype) or array.dtype == np.bool_:
            raise call.error(f"has no meaning on {array.dtype.name}", "cast to an integer type")


def _bitwise(function: Callable[[Array, Array], Array]) -> Semantic:
    def compute(call: Call) -> list[Array]:
        x, y = _pair(call)
        _integers(call, x, y)
        return [function(x, y)]

    return Semantic(compute, 2, 2)


def _bitwise_not(call: Call) -> list[Array]:
    x = call.array(0)
    _integers(call, x)
    return [np.bitwise_not(x)]


def _bit_shift(call: Call) -> list[Array]:
    x, y = _pair(call)
    _integers(call, x, y)
    function = np.left_shift if call.text("direction") == "LEFT" else np.right_shift
    return [function(x, y)]


def _bit_cast(call: Call) -> list[Array]:
    """With the oracle float64 stands for float32, whose bits these are."""
    x, to = call.array(0), call.dtype("to")
    if x.dtype == FLOAT64 and to.itemsize == 4:
        x = x.astype(FLOAT32)
    bits = FLOAT32 if to == FLOAT64 and x.dtype.itemsize == 4 else to
    if x.dtype.itemsize != bits.itemsize:
        raise call.error(f"{x.dtype.name} and {to.name} differ in width", "use one of equal width")
    return [np.ascontiguousarray(x).view(bits).reshape(x.shape).astype(to, copy=False)]


_PLAIN: dict[str, Callable[[Array], Array]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
}

FUNCTIONS: dict[str, Semantic] = {
    **{name: _function(function) for name, function in _PLAIN.items()},
    "sign": Semantic(_sign),
    "mod": Semantic(_mod, 2, 2, {"fmod": Attr(Kind.BOOL, False)}),
    "bitwise_and": _bitwise(np.bitwise_and),
    "bitwise_or": _bitwise(np.bitwise_or),
    "bitwise_xor": _bitwise(np.bitwise_xor),
    "bitwise_not": Semantic(_bitwise_not),
    "bit_shift": Semantic(
        _bit_shift, 2, 2, {"direction": Attr(Kind.TEXT, choices=("LEFT", "RIGHT"))}
    ),
    "bit_cast": Semantic(_bit_cast, attrs={"to": Attr(Kind.DTYPE)}),
}
