"""The table of operators, and `evaluate`, which applies one of them to values."""

from collections.abc import Mapping, Sequence

import numpy as np

from fusec.semantics.base import AttrValue, Semantic, SemanticsError, nearest
from fusec.semantics.composite import COMPOSITE
from fusec.semantics.contraction import CONTRACTION
from fusec.semantics.convolution import CONVOLUTION
from fusec.semantics.dtypes import Array
from fusec.semantics.elementwise import ELEMENTWISE
from fusec.semantics.functions import FUNCTIONS
from fusec.semantics.indexed import INDEXED
from fusec.semantics.movement import MOVEMENT
from fusec.semantics.reduction import REDUCTION
from fusec.semantics.sampling import SAMPLING
from fusec.semantics.window import WINDOW

TABLE: dict[str, Semantic] = {
    **ELEMENTWISE,
    **FUNCTIONS,
    **REDUCTION,
    **COMPOSITE,
    **CONTRACTION,
    **CONVOLUTION,
    **WINDOW,
    **MOVEMENT,
    **INDEXED,
    **SAMPLING,
}
"""Every operator by its ONNX name in snake case. New operators are added here (`@RegOp`)."""


def semantic(name: str) -> Semantic:
    """The entry of operator `name`; SemanticsError with the nearest name if there is none."""
    entry = TABLE.get(name)
    if entry is None:
        close = nearest(name, TABLE)
        raise SemanticsError(
            name, "there is no such operator", close if "?" in close else "see TABLE"
        )
    return entry


def evaluate(
    name: str,
    inputs: Sequence[Array | None],
    attrs: Mapping[str, AttrValue],
    *,
    oracle: bool = False,
) -> list[Array]:
    """The results of operator `name` on `inputs` (None: an absent optional one).

    Floating results have the operator's own type: 16-bit types compute or accumulate in float32
    and round once. With `oracle` everything floating is computed and returned in float64, never
    rounded to a narrower type. Results may be views of the inputs, so do not write into them.
    Raises SemanticsError (a ValueError) with a cause and advice for anything without a meaning.
    """
    entry = semantic(name)
    call = entry.bind(name, inputs, attrs, oracle)
    with np.errstate(all="ignore"):
        return [np.asarray(result) for result in entry.compute(call)]
