"""Grid sampling: a tensor read between its positions, wherever a grid says."""

from itertools import product

import numpy as np

from fusec.semantics.base import Attr, Call, Kind, Semantic
from fusec.semantics.dtypes import Array, narrow, widen

CUBIC = -0.75
"""The coefficient of the cubic kernel (Keys 1981), as in ONNX GridSample."""


def _reflected(at: Array, low: float, high: float) -> Array:
    """Positions folded back into [low, high]."""
    span = high - low
    if span <= 0:
        return np.full_like(at, low)
    inside = np.abs(at - low) % (2 * span)
    return low + np.minimum(inside, 2 * span - inside)


def _read(call: Call, x: Array, places: list[Array]) -> Array:
    """x [N, C, spatial...] at whole positions [N, out...] of each axis; outside by padding_mode."""
    mode, corners = call.text("padding_mode"), call.bool_("align_corners")
    inside = np.ones(places[0].shape, bool)
    index: list[Array] = []
    for at, size in zip(places, x.shape[2:], strict=True):
        if mode == "reflection":
            low, high = (0.0, size - 1.0) if corners else (-0.5, size - 0.5)
            at = np.rint(_reflected(at, low, high))
        clipped = np.clip(np.nan_to_num(at), 0, size - 1)
        inside &= clipped == at
        index.append(clipped.astype(np.int64))
    rows: Array = np.arange(x.shape[0], dtype=np.int64)
    batch = rows.reshape(-1, *(1 for _ in places[0].shape[1:]))
    found = np.moveaxis(x, 1, -1)[(batch, *index)]
    if mode == "zeros":
        found = np.where(inside[..., None], found, 0)
    return np.moveaxis(found, -1, 1)


def _cubic(fraction: Array) -> list[Array]:
    """Weights of the positions -1, 0, 1, 2 after the floor."""
    weights: list[Array] = []
    for distance in (fraction + 1, fraction, 1 - fraction, 2 - fraction):
        near = ((CUBIC + 2) * distance - (CUBIC + 3)) * distance * distance + 1
        far = ((distance - 5) * distance + 8) * distance - 4
        weights.append(np.where(distance <= 1, near, CUBIC * far))
    return weights


def _taps(mode: str, at: Array) -> list[tuple[Array, Array]]:
    """Positions along one axis and their weights."""
    if mode == "nearest":
        return [(np.rint(at), np.ones_like(at))]
    floor = np.floor(at)
    fraction = at - floor
    if mode == "linear":
        return [(floor, 1 - fraction), (floor + 1, fraction)]
    return [(floor + k - 1, weight) for k, weight in enumerate(_cubic(fraction))]


def _grid_sample(call: Call) -> list[Array]:
    x, grid = call.arrays()
    call.floating(x)
    call.same_dtype((x, grid))
    spatial = call.rank(x, 3, "x") - 2
    if grid.ndim != spatial + 2 or grid.shape[-1] != spatial or grid.shape[0] != x.shape[0]:
        raise call.error(f"grid {grid.shape} for {x.shape}", "give [N, out..., spatial axes]")
    corners, mode, padding = (
        call.bool_("align_corners"),
        call.text("mode"),
        call.text("padding_mode"),
    )
    taps: list[list[tuple[Array, Array]]] = []
    wide = widen(grid)
    for axis, size in enumerate(x.shape[2:]):
        at = wide[..., spatial - 1 - axis]
        at = (at + 1) / 2 * (size - 1) if corners else ((at + 1) * size - 1) / 2
        if padding == "border" and mode != "cubic":
            at = np.clip(at, 0, size - 1)
        elif padding == "reflection" and mode != "cubic":
            low, high = (0.0, size - 1.0) if corners else (-0.5, size - 0.5)
            at = np.clip(_reflected(at, low, high), 0, size - 1)
        taps.append(_taps(mode, at))
    total = np.zeros((), widen(x).dtype)
    for chosen in product(*taps):
        weight = np.ones((), wide.dtype)
        for _, factor in chosen:
            weight = weight * factor
        total = total + _read(call, widen(x), [place for place, _ in chosen]) * weight[:, None]
    return [narrow(total, x.dtype)]


SAMPLING: dict[str, Semantic] = {
    "grid_sample": Semantic(
        _grid_sample,
        2,
        2,
        {
            "mode": Attr(Kind.TEXT, "linear", choices=("linear", "nearest", "cubic")),
            "padding_mode": Attr(Kind.TEXT, "zeros", choices=("zeros", "border", "reflection")),
            "align_corners": Attr(Kind.BOOL, False),
        },
    ),
}
