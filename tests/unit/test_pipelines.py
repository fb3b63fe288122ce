"""Named pipelines inside a pass text."""

import pytest
from xdsl.utils.arg_spec import parse_pipeline

from fusec.pipelines import PIPELINES, expand, unknown_name
from fusec.universe import PASSES

PREPARE = "graph-infer-shapes,graph-simplify,graph-raise"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ""),
        ("cse", "cse"),
        ("prepare", PREPARE),
        (" prepare , cse", f"{PREPARE},cse"),
        ('a{x=1,2 y="prepare,}"},prepare', f'a{{x=1,2 y="prepare,}}"}},{PREPARE}'),
        ("mlir-opt[cse,prepare],prepare", f"mlir-opt[cse,prepare],{PREPARE}"),
        ("a{prepare}", "a{prepare}"),
    ],
)
def test_expand(text: str, wanted: str) -> None:
    assert expand(text) == wanted


def test_default_is_the_three_stages() -> None:
    assert expand("default") == expand("prepare,optimise,compile")


def test_a_pipeline_takes_no_options() -> None:
    with pytest.raises(ValueError, match=r"'optimise' takes no options.*graph-fuse"):
        expand("cse,optimise{strategy=greedy}")


def test_pipelines_name_registered_passes_only() -> None:
    named = {spec.name for name in PIPELINES for spec in parse_pipeline(expand(name))}
    assert named == set(PASSES)


def test_unknown_name() -> None:
    assert "did you mean graph-fuse" in unknown_name("graph-fuze", PASSES)
    assert "did you mean optimise" in unknown_name("optimize", PASSES)
    assert "--help" in unknown_name("xyzzy", PASSES)
