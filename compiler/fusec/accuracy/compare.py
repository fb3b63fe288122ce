"""How far two sets of outputs are apart, output by output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import numpy as np

from fusec.semantics.dtypes import Array


@dataclass(frozen=True)
class Difference:
    """Errors of one output. `max_rel_error` is max|a - b| / max|b|, b the reference.

    `max_ulp` is the largest of |a - b| in units in the last place of b, in the type of a; for b
    below the normal numbers in units of the smallest. Integers and booleans that differ anywhere
    have an infinite relative error, their units are ones.
    """

    output: str
    max_abs_error: float
    max_rel_error: float
    cosine: float
    max_ulp: float

    @staticmethod
    def infinite(name: str) -> Difference:
        """Of what cannot be compared."""
        return Difference(name, inf, inf, 0.0, inf)


_LAST_PLACE = {"float64": (52, -1022), "float32": (23, -126), "float16": (10, -14)}
_LAST_PLACE["bfloat16"] = (7, -126)
"""Bits of the fraction, and the exponent of the smallest normal number."""


def difference(name: str, found: Array, reference: Array) -> Difference:
    """Errors of one output; a value that is not finite on one side only is an infinite error."""
    if found.shape != reference.shape:
        return Difference.infinite(name)
    a, b = (x.astype(np.float64).reshape(-1) for x in (found, reference))
    if a.size == 0:
        return Difference(name, 0.0, 0.0, 1.0, 0.0)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.all(same | finite):
        return Difference.infinite(name)
    a, b = a[finite], b[finite]
    error = float(np.max(np.abs(a - b), initial=0.0))
    if reference.dtype.kind in "iub":
        return Difference(name, error, 0.0 if error == 0 else inf, 1.0, error)
    largest = float(np.max(np.abs(b), initial=0.0))
    relative = error / largest if largest else (0.0 if error == 0 else inf)
    lengths = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    cosine = float(np.dot(a, b)) / lengths if lengths else 1.0
    return Difference(name, error, relative, cosine, _ulps(a, b, found.dtype.name))


def _ulps(a: Array, b: Array, kind: str) -> float:
    """The largest |a - b| in units in the last place of b; for integers in ones."""
    if kind not in _LAST_PLACE:
        return float(np.max(np.abs(a - b), initial=0.0))
    bits, smallest = _LAST_PLACE[kind]
    exponents = np.where(b == 0, smallest, np.maximum(np.frexp(b)[1] - 1, smallest))
    return float(np.max(np.abs(a - b) / np.ldexp(1.0, exponents - bits), initial=0.0))


def worst(found: Mapping[str, Array], reference: Mapping[str, Array]) -> Difference:
    """The output with the largest relative error. Raises KeyError where an output is missing."""
    differences = [difference(name, found[name], array) for name, array in reference.items()]
    return max(differences, key=lambda d: d.max_rel_error)
