"""The distribution: what is imported when, what is registered, what the files promise."""

import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import fusec
from fusec.universe import DIALECTS, FRONTENDS, PASSES, TARGETS

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]


def test_import_loads_neither_xdsl_nor_numpy() -> None:
    code = (
        "import fusec, sys; print([m for m in ('xdsl', 'numpy', 'fusec.api') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", fusec.__all__)
def test_public_names_exist(name: str) -> None:
    assert getattr(fusec, name)
    assert name in dir(fusec)


def test_a_name_that_is_not_public() -> None:
    with pytest.raises(AttributeError, match="'fusec' has no attribute 'compyle'"):
        _ = fusec.compyle  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("name", PASSES)
def test_passes_load_and_carry_their_name(name: str) -> None:
    module, attribute = PASSES[name].split(":")
    assert getattr(import_module(module), attribute).name == name


@pytest.mark.parametrize("place", [*DIALECTS.values(), *FRONTENDS.values(), *TARGETS.values()])
def test_dialects_frontends_and_targets_load(place: str) -> None:
    module, attribute = place.split(":")
    assert hasattr(import_module(module), attribute)


@pytest.mark.parametrize(
    "package",
    [
        *PROJECT["dependencies"],
        *(p for extra in PROJECT["optional-dependencies"].values() for p in extra),
        *PYPROJECT["dependency-groups"]["models"],
    ],
)
def test_every_dependency_has_its_reason(package: str) -> None:
    name = re.split("[>=]", package)[0]
    if not name.startswith("fusec["):
        assert f"| `{name}` |" in (ROOT / "docs/dependencies.md").read_text()
