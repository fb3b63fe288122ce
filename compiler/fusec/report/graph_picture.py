"""A picture of a network: a box for each kernel with the operators in it, an arrow for each tensor.

In: a module behind graph-fuse, or as imported. Out: a file, .svg, .dot or .png by its ending.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from fusec.semantics.interpreter import argument_names, main_function, result_names
from fusec.semantics.types import tensor_bytes
from fusec_dialects.graph import ConstantOp, FusedOp, WeightOp, YieldOp
from fusec_dialects.graph.base import tensor_type

WIDTH, LINE, GAP, BETWEEN, MARGIN, LETTER = 190, 15, 40, 24, 16, 6.6
"""Pixels: of a box, of a line of text, between ranks, between boxes, around, of a letter."""

COLOURS = {"port": "#e8e8e8", "fused": "#cfe8cf", "single": "#ffffff"}
MOST_LINES = 12


@dataclass
class Box:
    """A kernel, or a port of the network. `reads`: boxes by number, with the bytes that come."""

    title: str
    lines: list[str]
    kind: str
    reads: dict[int, int] = field(default_factory=dict[int, int])
    rank: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def height(self) -> int:
        return LINE * (1 + len(self.lines)) + 10


def draw(module: ModuleOp, path: Path | str) -> None:
    """Write the picture of `main`. Raises DiagnosticException for another ending than .svg, .dot
    and .png, for a .png without the package pillow, and for a file that cannot be written.
    """
    path = Path(path)
    boxes = boxes_of(module)
    try:
        if path.suffix == ".dot":
            path.write_text("\n".join(_dot(boxes)) + "\n", encoding="utf-8")
        elif path.suffix == ".svg":
            path.write_text("\n".join(_svg(boxes)) + "\n", encoding="utf-8")
        elif path.suffix == ".png":
            _png(boxes, path)
        else:
            raise DiagnosticException(f"'{path}': a picture is a .svg, a .png or a .dot file")
    except OSError as error:
        raise DiagnosticException(f"cannot write '{path}': {error.strerror or error}") from error


def boxes_of(module: ModuleOp) -> list[Box]:
    """The boxes in program order; weights and what follows from them alone are left out."""
    main = main_function(module)
    boxes: list[Box] = []
    made: dict[SSAValue, int] = {}

    def box(title: str, lines: list[str], kind: str, reads: list[SSAValue]) -> int:
        found = Box(title, lines[:MOST_LINES], kind)
        for value in reads:
            if value in made:
                before = found.reads.get(made[value], 0)
                found.reads[made[value]] = max(before, tensor_bytes(value.type))
        boxes.append(found)
        return len(boxes) - 1

    for argument, name in zip(main.body.block.args, argument_names(main), strict=True):
        made[argument] = box(name, [_shape(argument)], "port", [])
    for op in main.body.block.ops:
        if isinstance(op, ReturnOp):
            for value, name in zip(op.operands, result_names(main), strict=True):
                box(name, [_shape(value)], "port", [value])
            continue
        known = bool(op.operands) and not any(o in made for o in op.operands)
        if isinstance(op, WeightOp | ConstantOp) or known:
            continue
        number = box(*_label(op), list(op.operands))
        made.update(dict.fromkeys(op.results, number))
    for found in boxes:
        found.rank = 1 + max((boxes[i].rank for i in found.reads), default=-1)
    return boxes


def _label(op: Operation) -> tuple[str, list[str], str]:
    if not isinstance(op, FusedOp):
        return op.name.removeprefix("graph."), [_shape(op.results[0])], "single"
    inside = [o for o in op.body.block.ops if not isinstance(o, YieldOp | ConstantOp)]
    names = [o.name.removeprefix("graph.") for o in inside]
    if len(names) == 1:
        return op.pattern.data, [_shape(op.results[0])], "single"
    return op.pattern.data, [*names, _shape(op.results[0])], "fused"


def _shape(value: SSAValue) -> str:
    type_ = tensor_type(value)
    sizes = "x".join("?" if n < 0 else str(n) for n in type_.get_shape())
    return f"{sizes or 'scalar'} {type_.element_type}"


def _place(boxes: list[Box]) -> tuple[float, float]:
    """Gives boxes places by rank, near what they read; gives the size of the picture."""
    ranks: dict[int, list[Box]] = {}
    for one in boxes:
        ranks.setdefault(one.rank, []).append(one)
    y, width = float(MARGIN), 0.0
    for rank in sorted(ranks):
        row = ranks[rank]
        row.sort(key=lambda b: sum(boxes[i].x for i in b.reads) / max(len(b.reads), 1))
        x = float(MARGIN)
        for one in row:
            wanted = sum(boxes[i].x for i in one.reads) / max(len(one.reads), 1)
            one.x, one.y = max(x, wanted), y
            x = one.x + WIDTH + BETWEEN
        width = max(width, x)
        y += max(one.height for one in row) + GAP
    return width + MARGIN, y


def _arrows(boxes: list[Box]) -> Iterator[tuple[float, float, float, float, str]]:
    for to in boxes:
        for i, size in to.reads.items():
            start = boxes[i]
            text = "" if to.kind == start.kind == "port" else _size(size)
            yield start.x + WIDTH / 2, start.y + start.height, to.x + WIDTH / 2, to.y, text


def _size(count: int) -> str:
    for unit, name in ((1 << 20, "MB"), (1 << 10, "KB")):
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} B"


def _cut(text: str) -> str:
    most = int(WIDTH / LETTER) - 2
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _svg(boxes: list[Box]) -> Iterator[str]:
    width, height = _place(boxes)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        'font-family="monospace" font-size="11">'
    )
    yield '<rect width="100%" height="100%" fill="white"/>'
    for x1, y1, x2, y2, text in _arrows(boxes):
        yield f'<path d="M{x1:.0f} {y1:.0f}L{x2:.0f} {y2:.0f}" stroke="#888" fill="none"/>'
        yield (
            f'<text x="{(x1 + x2) / 2 + 4:.0f}" y="{(y1 + y2) / 2:.0f}" fill="#666" '
            f'font-size="9">{text}</text>'
        )
    for b in boxes:
        yield (
            f'<rect x="{b.x:.0f}" y="{b.y:.0f}" width="{WIDTH}" height="{b.height}" rx="4" '
            f'fill="{COLOURS[b.kind]}" stroke="#444"/>'
        )
        for i, line in enumerate((b.title, *b.lines)):
            weight = ' font-weight="bold"' if i == 0 else ""
            y = b.y + LINE * (i + 1)
            yield f'<text x="{b.x + 6:.0f}" y="{y:.0f}"{weight}>{escape(_cut(line))}</text>'
    yield "</svg>"


def _dot(boxes: list[Box]) -> Iterator[str]:
    yield "digraph network {"
    yield '  node [shape=box, style="filled,rounded", fontname=monospace];'
    for i, b in enumerate(boxes):
        text = "\\n".join(line.replace('"', "'") for line in (b.title, *b.lines))
        yield f'  n{i} [label="{text}", fillcolor="{COLOURS[b.kind]}"];'
    for to, b in enumerate(boxes):
        for i, size in b.reads.items():
            yield f'  n{i} -> n{to} [label="{_size(size)}"];'
    yield "}"


def _png(boxes: list[Box], path: Path) -> None:
    try:
        from PIL import Image, ImageDraw
    except ModuleNotFoundError as error:
        raise DiagnosticException(
            f"'{path}': a .png needs the package pillow; a .svg or a .dot needs nothing"
        ) from error
    width, height = _place(boxes)
    image = Image.new("RGB", (int(width), int(height)), "white")
    pen = ImageDraw.Draw(image)
    for x1, y1, x2, y2, text in _arrows(boxes):
        pen.line((x1, y1, x2, y2), fill="#888888")
        pen.text(((x1 + x2) / 2 + 4, (y1 + y2) / 2 - 6), text, fill="#666666")
    for b in boxes:
        edge = (b.x, b.y, b.x + WIDTH, b.y + b.height)
        pen.rounded_rectangle(edge, 4, fill=COLOURS[b.kind], outline="#444444")
        for i, line in enumerate((b.title, *b.lines)):
            text = _cut(line).replace("…", "...")
            pen.text((b.x + 6, b.y + 3 + LINE * i), text, fill="black")
    image.save(path)
