"""Options of the process, as `torch_npu.npu.set_option` has them, and what a call from Python asks.

In order of strength: keywords of a call, `fusec.npu.set_option`, the JSON file, the environment.
What any of them switches off stays off.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from xdsl.utils.exceptions import PassFailedException

from fusec.accuracy.inputs import input_types
from fusec.api import Compiled, Model, compile
from fusec.config.compile_options import CompileKeywords, CompileOptions
from fusec.config.errors import ConfigError, nearest
from fusec.config.fusion_options import OBJECTIVES
from fusec.config.settings import Settings, layered
from fusec.fusion.configure import configure
from fusec.fusion.patterns import all_patterns
from fusec.fusion.patterns.cann import UnknownRule, resolve
from fusec.fusion.patterns.own import OWN
from fusec.fusion.strategies import STRATEGIES
from fusec.semantics.dtypes import Array
from fusec.semantics.interpreter import GraphError
from fusec_dialects.graph import OWN as OPERATORS

SOURCE = "set_option"


@dataclass(frozen=True)
class Option:
    """`kind` of its value and what messages call it; `field` of Settings that it sets."""

    kind: type
    words: str
    field: str
    least: int = 0


OPTIONS: dict[str, Option] = {
    "enable_fusion": Option(bool, "True or False", "enabled"),
    "auto_fusion": Option(bool, "True or False", "auto"),
    "fusion_patterns": Option(list, "a list of pattern names", "only"),
    "disable_fusion": Option(list, "a list of names of patterns or of CANN's rules", "disable"),
    "min_fusion_ops": Option(int, "a whole number from 1", "min_ops", 1),
    "max_fusion_ops": Option(int, "a whole number from 1", "max_ops", 1),
    "fusion_max_depth": Option(int, "a whole number from 0", "max_depth"),
    "fusion_objective": Option(str, "time, bytes or kernels", "objective"),
    "fusion_strategy": Option(str, "a strategy's name", "strategy"),
    "fusion_config_path": Option(str, "the path of a JSON file", ""),
    "fusion_switch_file": Option(str, "the path of a switch file", ""),
}
"""Every option by its name."""

_SET: dict[str, Any] = {}


def set_option(options: Mapping[str, object]) -> None:
    """Set options of this process, for every compilation from Python that follows.

    `set_option({"enable_fusion": False})`. None takes an option back. Raises ConfigError with the
    nearest valid name, and sets nothing then.
    """
    after = dict(_SET)
    for key, value in options.items():
        if key not in OPTIONS:
            raise ConfigError(f"{SOURCE}: unknown option '{key}'; {nearest(key, OPTIONS)}")
        if value is None:
            after.pop(key, None)
        else:
            after[key] = _checked(key, value)
    layered(_settings(after))
    _SET.clear()
    _SET.update(after)


def get_option() -> dict[str, Any]:
    """The options that are set."""
    return dict(_SET)


def compile_options(keywords: CompileKeywords) -> CompileOptions:
    """What a call with these keywords asks for, the other sources below them.

    Raises ConfigError where a file or a variable of the environment is wrong.
    """
    given = cast("dict[str, Any]", dict(keywords))
    target, allow_opaque = given.pop("target", None), given.pop("allow_opaque", False)
    if "fusion" in given:
        given["enabled"] = given.pop("fusion")
    for key in given.keys() & {"disable", "only"}:
        given[key] = _names(given[key])
    known = {f.name for f in fields(Settings)}
    rest = {key: given.pop(key) for key in given.keys() - known}
    said = Settings("the arguments", **given)
    if both := said.disable & (said.only or frozenset()):
        raise PassFailedException(f"'{min(both)}' is both disabled and asked for; leave one out")
    config, switches = _SET.get("fusion_config_path"), _SET.get("fusion_switch_file")
    settled = configure(
        said,
        os.environ,
        below=(_settings(_SET),),
        config_file=config and Path(config),
        switch_file=switches and Path(switches),
    )
    return CompileOptions(target, replace(settled.fusion, **rest), allow_opaque)


class ModelledClock:
    """`time()` as the module `time` has it, but in modelled seconds: it advances by the time that
    the kernels of each call of a model take on the target."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def time(self) -> float:
        """Modelled seconds of all runs so far."""
        return self._seconds

    def advance(self, seconds: float) -> None:
        """A run took so long."""
        self._seconds += seconds


modelled_time = ModelledClock()
"""`from fusec import modelled_time as time`."""


def call(model: Model | Compiled, inputs: Sequence[object]) -> Array | tuple[Array, ...]:
    """Outputs of a network on inputs in its order, from its placed kernels in the simulator.

    A Model is compiled as the options of the process say, once for each. Raises GraphError for
    inputs of another number, type or shape.
    """
    names = list(input_types(model.model.module if isinstance(model, Compiled) else model.module))
    if len(inputs) != len(names):
        raise GraphError(f"{len(inputs)} inputs, the network takes {', '.join(names)}")
    given = {name: np.asarray(value) for name, value in zip(names, inputs, strict=True)}
    outputs = tuple(_run(model, given).values())
    return outputs[0] if len(outputs) == 1 else outputs


def _run(model: Model | Compiled, inputs: Mapping[str, Array]) -> dict[str, Array]:
    if isinstance(model, Model):
        if model.level == "npu":
            return model.run(inputs)
        options = compile_options({})
        key = (options, tuple(OWN.fusions), tuple(OPERATORS))
        if key not in model.compiled:
            model.compiled[key] = compile(model, options)
        model = model.compiled[key]
    modelled_time.advance(model.modelled_seconds)
    return model.run(inputs)


def _names(names: object) -> frozenset[str]:
    return frozenset([names] if isinstance(names, str) else cast("Sequence[str]", names))


def _settings(values: Mapping[str, Any]) -> Settings:
    given = {o.field: values[k] for k, o in OPTIONS.items() if o.field and k in values}
    return Settings(SOURCE, **given)


def _checked(key: str, value: object) -> object:
    """The value as Settings have it; ConfigError where it is of another kind or names nothing."""
    option = OPTIONS[key]
    plain = list(cast("Sequence[object]", value)) if isinstance(value, tuple) else value
    wrong = type(plain) is not option.kind or (isinstance(plain, int) and plain < option.least)
    if wrong:
        raise ConfigError(f"{SOURCE}: '{key}' is {value!r}, expected {option.words}")
    if isinstance(plain, list):
        return _patterns(key, cast("list[object]", plain))
    if key == "fusion_objective":
        _one_of(key, str(plain), OBJECTIVES)
    if key == "fusion_strategy":
        _one_of(key, str(plain), tuple(STRATEGIES))
    return plain


def _one_of(key: str, value: str, valid: Sequence[str]) -> None:
    if value not in valid:
        raise ConfigError(f"{SOURCE}: '{key}' is '{value}'; {nearest(value, valid)}")


def _patterns(key: str, names: list[object]) -> frozenset[str]:
    for name in names:
        if not isinstance(name, str):
            raise ConfigError(f"{SOURCE}: '{key}' holds {name!r}, expected {OPTIONS[key].words}")
    try:
        return resolve(cast("list[str]", names), all_patterns()).patterns
    except UnknownRule as error:
        raise ConfigError(f"{SOURCE}: '{key}': {error}") from error
