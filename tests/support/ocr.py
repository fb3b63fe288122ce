"""Text as PP-OCR reads it: drawn images, their preparation, and what its outputs mean.

The three networks (detection, recognition, direction) come from a wheel that is installed for its
files and never imported. Images are [height, width, 3], 0 to 255; a network's input is [1, 3,
height, width].
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from PIL import Image, ImageDraw, ImageFont

from fusec.semantics.dtypes import Array

DET_MEAN, DET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
TEXT_MEAN, TEXT_STD = (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)
"""Of the images in 0 to 1, by PaddleOCR's configurations of PP-OCRv4."""

THRESHOLD = 0.3
BOX_THRESHOLD = 0.6
UNCLIP = 1.5
LEAST_SIDE = 3
"""Differentiable binarisation as PaddleOCR configures it: a pixel is text above the first, a box
above the second (the mean over it); boxes grow by area * UNCLIP / perimeter on every side.
"""

Rectangle = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels; right and bottom are outside."""


@dataclass(frozen=True)
class Box:
    rectangle: Rectangle
    score: float


def draw(size: tuple[int, int], lines: dict[tuple[int, int], str], points: int) -> Array:
    """A white image (width, height) with black lines of text by their upper left corners."""
    image = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(image)
    for place, text in lines.items():
        pen.text(place, text, fill="black", font=ImageFont.load_default(points))
    return np.asarray(image)


def ink(image: Array) -> Rectangle:
    """The smallest rectangle that holds everything dark."""
    rows, columns = np.nonzero(image.min(axis=2) < 128)
    return int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1


def fitted(image: Array, height: int, width: int) -> Array:
    """An image scaled to `height`, grey to the right up to `width`, as PaddleOCR pads."""
    line = Image.fromarray(np.ascontiguousarray(image))
    line = line.resize((min(width, round(line.width * height / line.height)), height))
    canvas = Image.new("RGB", (width, height), (127, 127, 127))
    canvas.paste(line, (0, 0))
    return np.asarray(canvas)


def text_line(text: str, height: int, width: int, points: int = 40) -> Array:
    """A line of text, cut out with a margin and fitted."""
    margin = points // 5
    image = draw((points * len(text), 2 * points), {(points // 2, points // 4): text}, points)
    left, top, right, bottom = ink(image)
    return fitted(
        image[top - margin : bottom + margin, left - margin : right + margin], height, width
    )


def prepared(image: Array, mean: tuple[float, ...], std: tuple[float, ...]) -> Array:
    """The network's input: scaled to 0 to 1, normalised, channels first."""
    scaled = (image.astype(np.float32) / 255 - np.array(mean)) / np.array(std)
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None], np.float32)


def boxes(probability: Array) -> list[Box]:
    """Where the text is, from detection's output [1, 1, height, width]; top to bottom."""
    pixels = probability[0, 0]
    found: list[Box] = []
    for left, top, right, bottom in _components(pixels > THRESHOLD):
        wide, high = right - left, bottom - top
        score = float(pixels[top:bottom, left:right].mean())
        if min(wide, high) < LEAST_SIDE or score < BOX_THRESHOLD:
            continue
        grow = round(wide * high * UNCLIP / (2 * (wide + high)))
        limits = pixels.shape[1], pixels.shape[0]
        grown = (
            max(left - grow, 0),
            max(top - grow, 0),
            min(right + grow, limits[0]),
            min(bottom + grow, limits[1]),
        )
        found.append(Box(grown, score))
    return sorted(found, key=lambda box: box.rectangle[1])


def _components(mask: Array) -> list[Rectangle]:
    """Rectangles around the connected parts of a mask (8 neighbours)."""
    left = {(int(y), int(x)) for y, x in np.argwhere(mask)}
    found: list[Rectangle] = []
    while left:
        todo = [left.pop()]
        part: list[tuple[int, int]] = []
        while todo:
            y, x = todo.pop()
            part.append((y, x))
            near = {(y + i, x + j) for i in (-1, 0, 1) for j in (-1, 0, 1)} & left
            left -= near
            todo.extend(near)
        rows, columns = [y for y, _ in part], [x for _, x in part]
        found.append((min(columns), min(rows), max(columns) + 1, max(rows) + 1))
    return found


def overlap(a: Rectangle, b: Rectangle) -> float:
    """Area of the intersection over that of the union."""
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    common = max(wide, 0) * max(high, 0)
    areas = sum((r[2] - r[0]) * (r[3] - r[1]) for r in (a, b))
    return common / (areas - common)


def alphabet(model: Path) -> list[str]:
    """Characters by class: a blank, those in the file's metadata, the space."""
    entries = onnx.ModelProto.FromString(model.read_bytes()).metadata_props
    metadata = {entry.key: entry.value for entry in entries}
    return ["", *metadata["character"].split("\n"), " "]


def decoded(probability: Array, characters: list[str]) -> str:
    """The text of recognition's output [1, time, classes]: best class of each step, repetitions
    and blanks dropped (CTC).
    """
    best: list[int] = probability[0].argmax(axis=1).tolist()
    kept = [c for i, c in enumerate(best) if i == 0 or c != best[i - 1]]
    return "".join(characters[c] for c in kept)
