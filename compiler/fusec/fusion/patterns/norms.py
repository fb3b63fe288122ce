"""Norms, softmax, losses and embeddings: expressions with what may stand around them."""

from __future__ import annotations

from fusec.fusion.dag import Dag
from fusec.fusion.patterns.chain import ACTIVATION
from fusec.fusion.patterns.cores import Core, Words
from fusec.fusion.patterns.grammar import OUT
from fusec.fusion.patterns.terms import Apply, Found, Term, apply, replaced
from fusec.fusion.patterns.words import X
from fusec_dialects.graph.base import tensor_type

_BEHIND = (ACTIVATION, "residual", *OUT)


def _quotient(x: Term) -> Apply:
    """x / sqrt(mean(x^2) + epsilon)."""
    square = apply("add", apply("reduce_mean", apply("mul", x, x)), "$epsilon")
    return apply("div", x, apply("sqrt", square))


_MEAN = apply("reduce_mean", X)
_CENTRED = apply("sub", X, _MEAN)
_STANDARD = _quotient(_CENTRED)
_RMS = _quotient(X)


def _l2() -> tuple[Apply, ...]:
    """x / |x|, where that is not 0 or not less than a number."""
    found: list[Apply] = []
    for total in (
        apply("reduce_sum", apply("mul", X, X)),
        apply("reduce_sum_square", X),
    ):
        size = apply("sqrt", total)
        safe = apply("where", apply("equal", size, 0.0), 1.0, size)
        found += [
            apply("div", X, safe),
            apply("div", X, apply("max", size, "$epsilon")),
            apply("div", X, apply("clip", size, max=None)),
        ]
    return tuple(found)


def _channels_of_a_group(dag: Dag, found: Found) -> int:
    """The third size of [N, groups, channels of a group, positions]; 0 for other shapes."""
    centred = next(i for i in found.ops if dag.names[i] == "sub")
    shape = tensor_type(dag.ops[centred].results[0]).get_shape()
    return shape[2] if len(shape) == 4 else 0


def _is_group(dag: Dag, _root: int, found: Found) -> bool:
    return _channels_of_a_group(dag, found) != 1


def _is_instance(dag: Dag, _root: int, found: Found) -> bool:
    return _channels_of_a_group(dag, found) == 1


NORMS: dict[Words, Core] = {
    ("layer_norm",): Core(
        "norm",
        (apply("layer_normalization", X, 1.0),),
        ("residual",),
        _BEHIND,
        meaning="layer norm without parameters",
    ),
    ("layer_norm", "affine"): Core(
        "norm",
        (
            apply("layer_normalization", X, "%scale", "%bias"),
            apply("layer_normalization", X, "%scale"),
        ),
        ("residual",),
        _BEHIND,
        lambda dag, root, _: any(tensor_type(v).get_shape() for v in dag.ops[root].operands[1:]),
        meaning="layer norm with scale, and bias or none",
    ),
    ("rms_norm",): Core(
        "norm",
        (_RMS,),
        ("residual",),
        ("affine", *_BEHIND),
        narrow=True,
        meaning="x / sqrt(mean(x^2) + epsilon)",
    ),
    ("group_norm",): Core(
        "norm",
        (_STANDARD,),
        ("residual",),
        ("affine", *_BEHIND),
        _is_group,
        narrow=True,
        meaning="mean 0 and variance 1 over groups of channels",
    ),
    ("instance_norm",): Core(
        "norm",
        (_STANDARD,),
        ("residual",),
        ("affine", *_BEHIND),
        _is_instance,
        narrow=True,
        meaning="mean 0 and variance 1 over the positions of each channel",
    ),
    ("l2_norm",): Core(
        "norm",
        _l2(),
        ("residual",),
        ("affine", *_BEHIND),
        narrow=True,
        meaning="x over its length along an axis",
    ),
    ("bn",): Core(
        "norm",
        (apply("batch_normalization", X, "%scale", "%bias", "%mean", "%variance"),),
        ("residual",),
        _BEHIND,
        meaning="batch norm that stands behind no convolution",
    ),
}
"""Norms. Where no parameter varies the scale is the number 1, and there is no bias."""


SOFTMAX: dict[Words, Core] = {
    (word,): Core(
        "softmax",
        (apply(word, X),),
        ("scale", "mask", "choose"),
        OUT,
        meaning="of what is scaled, masked by a sum, or by a choice of a number",
    )
    for word in ("softmax", "log_softmax")
}
"""Softmax and its logarithm."""


def _loss(cost: Apply) -> tuple[Apply, ...]:
    """The cost of the target's class, which is found by comparing, or is known already."""
    return tuple(
        apply("reduce_sum", apply("where", hit, cost, 0.0))
        for hit in (apply("equal", apply("cast", "target"), "%classes"), "hit")
    )


_LOGS = apply("log_softmax", X)
_LOSS_BEHIND = ("mean", "sum")

LOSSES: dict[Words, Core] = {
    ("softmax_cross_entropy",): Core(
        "loss",
        _loss(apply("neg", _LOGS)),
        ("scale",),
        _LOSS_BEHIND,
        meaning="-log of the softmax at the target's class",
    ),
    ("softmax_cross_entropy", "weighted"): Core(
        "loss",
        _loss(apply("neg", apply("mul", _LOGS, "%weights"))),
        ("scale",),
        _LOSS_BEHIND,
        meaning="the same, times the weight of the class",
    ),
    ("nll_loss",): Core(
        "loss", _loss(apply("neg", X)), (), _LOSS_BEHIND, meaning="-x at the target's class"
    ),
    ("nll_loss", "weighted"): Core(
        "loss",
        _loss(apply("neg", apply("mul", X, "%weights"))),
        (),
        _LOSS_BEHIND,
        meaning="the same, times the weight of the class",
    ),
}
"""-log p of the target's class, of each row or over all of them."""


def _embedding() -> dict[Words, tuple[Apply, ...]]:
    """Rows of tables that are added: of one or several tables, of the positions, scaled."""
    first, second, third = (apply("gather", f"%table{i}", f"ids{i}") for i in range(3))
    pair = apply("add", first, second)
    triple = apply("add", pair, third)
    scaled = apply("mul", first, "$factor")
    return {
        ("embedding",): (first,),
        ("embedding", "scale"): (scaled,),
        ("embedding", "position"): (apply("add", first, "%positions"),),
        ("embedding", "scale", "position"): (apply("add", scaled, "%positions"),),
        ("embedding", "sum"): (pair,),
        ("embedding", "sum3"): (triple,),
        ("embedding", "sum", "position"): (apply("add", pair, "%positions"),),
    }


_BY_NORM: dict[str, tuple[Apply, ...]] = {
    "layer_norm": NORMS["layer_norm", "affine"].forms,
    "rms_norm": tuple(apply("mul", form, "%scale") for form in NORMS[("rms_norm",)].forms),
}


def _in_place_of_x(form: Apply, term: Apply) -> Apply:
    found = replaced(form, X, term)
    return found if isinstance(found, Apply) else form


EMBEDDINGS: dict[Words, Core] = {
    **{
        words: Core("embedding", forms, (), OUT, meaning="rows of tables, added")
        for words, forms in _embedding().items()
    },
    **{
        (*words, norm): Core(
            "embedding",
            tuple(_in_place_of_x(outer, term) for outer in norms for term in forms),
            (),
            OUT,
            meaning="rows of tables, added, and a norm of the sum",
        )
        for words, forms in _embedding().items()
        for norm, norms in _BY_NORM.items()
    },
}
"""Sums of rows of tables, with a norm of them or without."""
