"""How far two sets of outputs are apart, output by output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fusec.semantics.dtypes import Array


@dataclass(frozen=True)
class Difference:
    """Errors of one output. `max_rel_error` is max|a - b| / max|b|, b the reference.

    Integers and booleans that differ anywhere have an infinite relative error.
    """

    output: str
    max_abs_error: float
    max_rel_error: float
    cosine: float


def difference(name: str, found: Array, reference: Array) -> Difference:
    """Errors of one output; a value that is not finite on one side only is an infinite error."""
    if found.shape != reference.shape:
        return Difference(name, float("inf"), float("inf"), 0.0)
    a, b = (x.astype(np.float64).reshape(-1) for x in (found, reference))
    if a.size == 0:
        return Difference(name, 0.0, 0.0, 1.0)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.all(same | finite):
        return Difference(name, float("inf"), float("inf"), 0.0)
    a, b = a[finite], b[finite]
    error = float(np.max(np.abs(a - b), initial=0.0))
    if reference.dtype.kind in "iub":
        return Difference(name, error, 0.0 if error == 0 else float("inf"), 1.0)
    largest = float(np.max(np.abs(b), initial=0.0))
    relative = error / largest if largest else (0.0 if error == 0 else float("inf"))
    lengths = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    cosine = float(np.dot(a, b)) / lengths if lengths else 1.0
    return Difference(name, error, relative, cosine)


def worst(found: Mapping[str, Array], reference: Mapping[str, Array]) -> Difference:
    """The output with the largest relative error. Raises KeyError where an output is missing."""
    differences = [difference(name, found[name], array) for name, array in reference.items()]
    return max(differences, key=lambda d: d.max_rel_error)
