"""The pages say what the code says: generated ones are current, examples run, links lead on."""

import doctest
import re
from pathlib import Path

import pytest

from fusec.pipelines import STAGES
from fusec.tools.cli.arguments import parse
from fusec.tools.docs import FOLDER, pages
from own_cases import nothing_left

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


@pytest.mark.parametrize(
    ("page", "least"), [("python.md", 20), ("fusion.md", 4), ("../CONTRIBUTING.md", 9)]
)
def test_examples_of_a_page(
    page: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / FOLDER / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    example = doctest.DocTestParser().get_doctest("".join(blocks), {}, page, None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    with nothing_left():
        result = runner.run(example)
    assert result.attempted > least
    assert result.failed == 0


DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / FOLDER).rglob("*.md"), *(ROOT / "examples").rglob("*.md")]


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_links_lead_somewhere(file: Path) -> None:
    for link in re.findall(r"\]\(([^)#\s]+)", file.read_text()):
        assert "://" in link or (file.parent / link).exists(), link


COMMANDS = ("compile", "run", "profile", "explain", "compare", "bisect", "reduce", "ascend-check")


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_page_names_every_option(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / FOLDER / "commands.md").read_text()
    assert f"## fusec {command}\n" in text
    with pytest.raises(SystemExit):
        parse([command, "--help"])
    options = re.findall(r"(?<![\w-])--[a-z-]+", capsys.readouterr().out)
    assert len(options) > 8
    assert [option for option in options if option not in text] == []


def test_readme_has_the_stages_and_commands() -> None:
    text = (ROOT / "README.md").read_text()
    for stage, passes in STAGES.items():
        assert f"| `{stage}` | {', '.join(f'`{name}`' for name in passes)} |" in text
    for command in COMMANDS:
        assert f"| `fusec {command} MODEL" in text
