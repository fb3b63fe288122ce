"""The reference pages say what the code says; `make docs` writes them anew."""

from pathlib import Path

import pytest

from fusec.tools.docs import FOLDER, pages

ROOT = Path(__file__).resolve().parents[2]
PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_page_is_current(name: str) -> None:
    file = ROOT / FOLDER / name
    assert file.is_file(), "run `make docs`"
    assert file.read_text() == PAGES[name], "run `make docs`"


def test_no_page_is_left_over() -> None:
    made = {name for name in PAGES if name.startswith("reference/")}
    assert {f"reference/{f.name}" for f in (ROOT / FOLDER / "reference").glob("*.md")} == made
