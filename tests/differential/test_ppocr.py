"""PP-OCRv4 with its own weights reads drawn text: the same boxes, directions and characters as
ONNX Runtime, and the right ones.
"""

from __future__ import annotations

import pytest

from fusec.accuracy.compare import worst
from fusec.accuracy.reference import run_reference
from fusec.api import LEVELS
from fusec.semantics.dtypes import Array
from ocr import (
    DET_MEAN,
    DET_STD,
    TEXT_MEAN,
    TEXT_STD,
    alphabet,
    boxes,
    decoded,
    draw,
    fitted,
    ink,
    overlap,
    prepared,
    text_line,
)
from real_networks import PPOCR, TOLERANCE, compiled

PAGE = {(30, 60): "Fusion saves", (60, 190): "memory traffic"}
SIZE, POINTS = (320, 320), 36


def outputs(name: str, image: Array) -> dict[str, Array]:
    """What a network makes of a prepared image, by ONNX Runtime and at each level; the errors are
    checked.
    """
    case, result = compiled(name)
    assert result.profile()["host_calls"] == 0
    inputs = {"x": image}
    reference = run_reference(case.model.path, case.model.weights, set(), inputs)
    (output,) = reference
    found = {"ONNX Runtime": reference[output]}
    for level in LEVELS[1:]:
        results = result.run(inputs, level)
        assert worst(results, reference).max_rel_error <= TOLERANCE, f"level {level}"
        found[level] = results[output]
    return found


def test_detection_finds_both_lines() -> None:
    _, result = compiled("ppocr_det")
    assert result.profile()["kernels"] <= PPOCR["ppocr_det"].kernels
    page = draw(SIZE, PAGE, POINTS)
    lines = [ink(draw(SIZE, {place: text}, POINTS)) for place, text in PAGE.items()]
    found = {
        k: boxes(v) for k, v in outputs("ppocr_det", prepared(page, DET_MEAN, DET_STD)).items()
    }
    expected = found["ONNX Runtime"]
    assert len(expected) == len(lines)
    assert all(overlap(b.rectangle, line) > 0.6 for b, line in zip(expected, lines, strict=True))
    for level, some in found.items():
        assert [b.rectangle for b in some] == [b.rectangle for b in expected], level
        assert [b.score for b in some] == pytest.approx([b.score for b in expected], rel=1e-4)


def test_detection_finds_nothing_on_a_blank_page() -> None:
    blank = prepared(draw(SIZE, {}, POINTS), DET_MEAN, DET_STD)
    found = compiled("ppocr_det")[1].run({"x": blank})
    assert [boxes(output) for output in found.values()] == [[]]


def test_recognition_reads_the_words() -> None:
    assert compiled("ppocr_rec")[1].profile()["kernels"] <= PPOCR["ppocr_rec"].kernels
    characters = alphabet(PPOCR["ppocr_rec"].file)
    for text in (*PAGE.values(), "Ascend 910B3"):
        image = prepared(text_line(text, 48, 320), TEXT_MEAN, TEXT_STD)
        for level, output in outputs("ppocr_rec", image).items():
            assert decoded(output, characters) == text, level


def test_direction_knows_what_is_upside_down() -> None:
    assert compiled("ppocr_cls")[1].profile()["kernels"] <= PPOCR["ppocr_cls"].kernels
    line = text_line("Ascend 910B", 48, 192)
    for image, turned in ((line, 0), (line[::-1, ::-1], 1)):
        for level, output in outputs("ppocr_cls", prepared(image, TEXT_MEAN, TEXT_STD)).items():
            assert output.argmax() == turned, level
            assert output.max() > 0.99, level


def test_the_page_is_read() -> None:
    """Placed kernels only: the lines that detection finds are cut out and recognised."""
    page = draw(SIZE, PAGE, POINTS)
    (found,) = compiled("ppocr_det")[1].run({"x": prepared(page, DET_MEAN, DET_STD)}).values()
    characters = alphabet(PPOCR["ppocr_rec"].file)
    read: list[str] = []
    for left, top, right, bottom in (box.rectangle for box in boxes(found)):
        line = fitted(page[top:bottom, left:right], 48, 320)
        answers = compiled("ppocr_rec")[1].run({"x": prepared(line, TEXT_MEAN, TEXT_STD)})
        read += [decoded(answer, characters) for answer in answers.values()]
    assert read == list(PAGE.values())
