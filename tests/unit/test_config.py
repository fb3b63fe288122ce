"""Configuration from every source: what it says, what overrides what, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fusec.config.environment import read_environment
from fusec.config.errors import ConfigError
from fusec.config.fusion_file import read_fusion_file, without_comments
from fusec.config.fusion_options import FusionOptions
from fusec.config.settings import Settings, layered
from fusec.config.switch_file import read_switch_file
from fusec.fusion.configure import configure
from fusec.fusion.patterns import all_patterns
from fusec.fusion.patterns.cann import OTHERS, RULES, UnknownRule, resolve

PATTERNS = all_patterns()
Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str) -> Path:
        path = tmp_path / "file.json"
        path.write_text(text)
        return path

    return written


ARTICLE = """// fusion_config.json
{
  // WHY: which patterns
  "fusion_patterns": ["conv_bn_relu", "matmul_bias_relu"], /* two
  of them */
  "min_fusion_ops": 2,
  "max_fusion_ops": 10
}
"""


def test_the_article_s_file(write: Write) -> None:
    settings = read_fusion_file(write(ARTICLE), PATTERNS)
    assert settings.only == {"conv_bn_relu", "matmul_bias_relu"}
    assert (settings.min_ops, settings.max_ops, settings.auto) == (2, 10, None)


def test_comments_leave_lines_columns_and_strings_alone() -> None:
    text = '{"a": "// no comment", // one\n "b": "/* nor */"}'
    assert json.loads(without_comments(text)) == {"a": "// no comment", "b": "/* nor */"}
    assert len(without_comments(text)) == len(text)


WRONG_FILES = {
    '{"fusion_patterns": ["conv_bn_rleu"]}': "'conv_bn_rleu'; did you mean 'conv_bn_relu'",
    '{"fusion_pattern": []}': "unknown key 'fusion_pattern'; did you mean 'fusion_patterns'",
    '{"fusion_patterns": "conv_bn"}': "a list of pattern names",
    '{"fusion_patterns": [1]}': "unknown pattern '1'",
    '{"min_fusion_ops": 0}': "'min_fusion_ops' is 0, expected a whole number from 1",
    '{"min_fusion_ops": true}': "'min_fusion_ops' is true",
    '{"min_fusion_ops": 2.0}': "a whole number",
    '{"auto_fusion": 1}': "true or false",
    "[]": "expected an object",
    '{"a": }': ":1:7: not JSON",
    "": "not JSON",
}


@pytest.mark.parametrize("text", WRONG_FILES)
def test_wrong_files(write: Write, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_fusion_file(write(text), PATTERNS)
    assert WRONG_FILES[text] in str(caught.value)
    assert "file.json" in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        read_fusion_file(tmp_path / "none.json", PATTERNS)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_fusion_file(tmp_path / "binary", PATTERNS)
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_switch_file(tmp_path / "binary")


def test_environment() -> None:
    nothing = read_environment({})
    assert nothing.settings == Settings("the environment") and nothing.log_level is None
    found = read_environment(
        {
            "GE_LOG_LEVEL": "2",
            "ASCEND_GLOBAL_LOG_LEVEL": "3",
            "GE_FUSION_SWITCH": "0",
            "GE_FUSION_MAX_DEPTH": "3",
            "GE_FUSION_CONFIG_PATH": "a.json",
        }
    )
    assert found.log_level == 2
    assert found.settings.enabled is False and found.settings.max_depth == 3
    assert found.config_path == Path("a.json")


@pytest.mark.parametrize(("given", "level"), [("0", 3), ("1", 2), ("2", 1), ("3", 0)])
def test_the_global_level_where_ge_s_is_not_set(given: str, level: int) -> None:
    assert read_environment({"ASCEND_GLOBAL_LOG_LEVEL": given}).log_level == level


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GE_LOG_LEVEL", "4"),
        ("GE_LOG_LEVEL", "info"),
        ("GE_FUSION_SWITCH", "on"),
        ("GE_FUSION_SWITCH", "²"),
        ("GE_FUSION_MAX_DEPTH", "-1"),
    ],
)
def test_wrong_variables(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}={value}: expected "):
        read_environment({name: value})


def test_the_stronger_source_wins_but_off_means_off() -> None:
    strong = Settings("options", objective="bytes", max_ops=5, disable=frozenset({"a"}))
    weak = Settings(
        "file", enabled=False, objective="kernels", max_depth=4, disable=frozenset({"b"})
    )
    assert layered(strong, weak) == FusionOptions(
        objective="bytes",
        max_ops=5,
        max_depth=4,
        disable=frozenset({"a", "b"}),
        enabled=False,
    )
    on = Settings("options", enabled=True)
    assert not layered(on, Settings("the environment", enabled=False)).enabled
    assert layered(on).enabled


def test_what_is_off_is_not_asked_for() -> None:
    options = layered(
        Settings("options", disable=frozenset({"a"})), Settings("file", only=frozenset({"a", "b"}))
    )
    assert options.only == {"b"}
    assert not options.allows("a") and options.allows("b") and not options.allows("c")


def test_automatic_fusion_goes_by_the_name_auto() -> None:
    named = Settings("file", only=frozenset({"a"}))
    assert not layered(named).automatic
    both = layered(Settings("file", only=frozenset({"a"}), auto=True))
    assert both.automatic and both.allows("x_y", automatic=True)
    assert both.allows("a") and not both.allows("b")
    assert not layered(Settings("file", auto=False)).automatic
    assert layered(Settings("file", auto=False)).allows("b")
    nothing = layered(Settings("file", only=frozenset()))
    assert not nothing.automatic and not nothing.allows("a")


def test_contradicting_limits_name_both_sources() -> None:
    with pytest.raises(ConfigError, match=r"options: .* 9 .* file allows 4"):
        layered(Settings("options", min_ops=9), Settings("file", max_ops=4))
    with pytest.raises(ConfigError, match="the default allows 32"):
        layered(Settings("file", min_ops=40))


def test_switch_file_as_json(write: Write) -> None:
    text = """{"Switch": {"GraphFusion": {"ALL": "off", "SoftmaxFusionPass": "on"},
               "UBFusion": {"ALL": "off", "TbePool2dQuantFusionPass": "on"}}}"""
    found = read_switch_file(write(text))
    assert found.everything is False and found.off == []
    assert found.rules == {"SoftmaxFusionPass": True, "TbePool2dQuantFusionPass": True}


def test_switch_file_as_lines(write: Write) -> None:
    found = read_switch_file(write("# two\nSoftmaxFusionPass:off\n\n conv_bn_relu : on \n"))
    assert found.rules == {"SoftmaxFusionPass": False, "conv_bn_relu": True}
    assert found.off == ["SoftmaxFusionPass"] and found.everything is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"Switch": 1}', "expected"),
        ("{}", "expected"),
        ('{"Switch": {"GraphFuson": {}}}', "did you mean 'GraphFusion'"),
        ('{"Switch": {"GraphFusion": []}}', "object of rule names"),
        ('{"Switch": {"GraphFusion": {"A": true}}}', "'GraphFusion', 'A' is True"),
        ("SoftmaxFusionPass", ":1: expected a line like"),
        ("A:on\nB:maybe", ":2: 'B' is 'maybe', expected on or off"),
    ],
)
def test_wrong_switch_files(write: Write, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_switch_file(write(text))


def test_names_of_cann() -> None:
    found = resolve(["SoftmaxFusionPass", "conv_bn_relu", "DreluFusionPass"], PATTERNS)
    assert "scale_softmax" in found.patterns and "conv_bn_relu" in found.patterns
    assert found.notes == ("'DreluFusionPass' is a rule of CANN without an equivalent here",)
    assert resolve(["softmaxfusion"], PATTERNS) == resolve(["SoftmaxFusionPass"], PATTERNS)
    for rule in RULES:
        assert resolve([rule], PATTERNS).patterns, rule
    for rule in OTHERS:
        assert resolve([rule], PATTERNS).notes, rule
    with pytest.raises(UnknownRule, match="did you mean 'SoftmaxFusionPass'"):
        resolve(["SoftmxFusionPass"], PATTERNS)


def test_the_article_s_file_takes_names_of_cann(write: Write) -> None:
    path = write('{"fusion_patterns": ["softmaxfusion", "RNNFusionPass", "conv_bn"]}')
    found = configure(Settings("options"), {}, config_file=path)
    assert found.fusion.only is not None and {"conv_bn", "softmax_cast"} <= found.fusion.only
    assert "matmul_relu" not in found.fusion.only
    assert found.notes == ("'RNNFusionPass' is a rule of CANN without an equivalent here",)
    with pytest.raises(ConfigError, match=r"file.json: 'fusion_patterns': unknown pattern 'Soft"):
        configure(Settings("options"), {}, config_file=write('{"fusion_patterns": ["Softx"]}'))
