"""ONNX's losses: the target's class is found by comparing with all classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.entry import Entry
from fusec.frontends.onnx.maker import Maker
from fusec.frontends.onnx.node import Node


def _loss(m: Maker, logs: SSAValue, target: SSAValue, weight: SSAValue | None) -> SSAValue:
    """-log p of the target's class, weighted; logs [N, C, ...], target [N, ...] of integers.

    Classes are compared in f32, exact up to 2^24 of them; `ignore_index` weighs nothing.
    """
    node, sizes = m.node, m.sizes(logs)
    classes, tail = sizes[1], (1,) * (len(sizes) - 2)
    numbers = np.arange(classes, dtype=np.float32).reshape(-1, *tail)
    hit = m("equal", m("unsqueeze", m.cast(target, "float32"), axes=(1,)), numbers)
    ignored = node.int_("ignore_index", -1) if _has(node, "ignore_index") else None
    weights = _weights(m, weight, ignored, (classes, *tail))
    cost = m("neg", logs) if weights is None else m("neg", m("mul", logs, weights))
    loss = m.reduce("sum", m("where", hit, cost, 0.0), 1, keepdims=False)
    match node.text("reduction", "mean"):
        case "none":
            return loss
        case "sum":
            return m.reduce("sum", loss, *range(m.rank(loss)), keepdims=False)
        case "mean":
            if weights is None:
                return m.reduce("mean", loss, *range(m.rank(loss)), keepdims=False)
            every = tuple(range(len(sizes)))
            total = m.reduce("sum", loss, *range(m.rank(loss)), keepdims=False)
            weighed = m.reduce("sum", m("where", hit, weights, 0.0), *every, keepdims=False)
            return m("div", total, weighed)
        case other:
            raise ImportFailure(f"reduction '{other}' is unknown")


def _weights(
    m: Maker, weight: SSAValue | None, ignored: int | None, shape: tuple[int, ...]
) -> SSAValue | None:
    """The weight of each class, 0 for the ignored one; None where all weigh 1 and count."""
    if weight is None and ignored is None:
        return None
    kept = np.ones(shape, np.float32)
    if ignored is not None and 0 <= ignored < shape[0]:
        kept[ignored] = 0.0
    if weight is None:
        return m.node.constant(kept)
    shaped = m.reshape(weight, shape)
    return shaped if kept.all() else m("mul", shaped, kept)


def _has(node: Node, attribute: str) -> bool:
    return any(a.name == attribute for a in node.proto.attribute)


def _negative_log_likelihood(node: Node) -> Sequence[SSAValue]:
    logs, target, *weight = node.values(2, 3)
    return (_loss(Maker(node), logs, target, weight[0] if weight else None),)


def _softmax_cross_entropy(node: Node) -> Sequence[SSAValue]:
    m = Maker(node)
    scores, target, *weight = node.values(2, 3)
    logs = m("log_softmax", scores, axis=1)
    return _loss(m, logs, target, weight[0] if weight else None), logs


LOSSES: dict[str, list[tuple[int, Entry]]] = {
    "NegativeLogLikelihoodLoss": [(12, _negative_log_likelihood)],
    "SoftmaxCrossEntropyLoss": [(12, _softmax_cross_entropy)],
}
"""Entries by operator type, the newest opset first."""
