"""Plans on disk, by graph, target and options: an equal question is not searched again.

A plan from the cache is replayed, so that legality judges each of its groups; one that does not
replay, or that cannot be read, is made anew. Where own fusions or operators are registered nothing
is cached, since a plan does not say what they mean; nor is a plan that time ran out for.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile

from xdsl.utils.exceptions import PassFailedException

from fusec.fusion.dag import Dag
from fusec.fusion.patterns.own import OWN
from fusec.fusion.planner import Planner
from fusec.fusion.saved_plan import fingerprint, replay, save
from fusec.hw import Target
from fusec_dialects.graph import OWN as OPERATORS


def plan_with_cache(planner: Planner, target: Target) -> None:
    """Runs the planner, or replays what it found before. Without a folder nothing is looked up.

    Raises PassFailedException where the folder cannot be written.
    """
    folder = planner.options.plan_cache
    if folder is None or not planner.enabled or OWN.fusions or OPERATORS:
        planner.run()
        return
    path = Path(folder) / f"{_key(planner.dag, planner, target)}.json"
    fresh = planner.snapshot()
    try:
        replay(planner, json.loads(path.read_text()))
        return
    except (OSError, ValueError, PassFailedException):
        planner.restore(fresh)
    planner.run()
    if not planner.out_of_time:
        _write(path, json.dumps(save(planner)))


def _key(dag: Dag, planner: Planner, target: Target) -> str:
    """Hexadecimal digits that differ where a plan might."""
    options = replace(planner.options, plan=None, plan_cache=None, time_budget=0.0)
    names = (sorted(options.disable), None if options.only is None else sorted(options.only))
    said = repr((replace(options, disable=frozenset(), only=None), names))
    parts = (fingerprint(dag), repr(target), said, version("fusec"))
    return sha256("\n".join(parts).encode()).hexdigest()[:32]


def _write(path: Path, text: str) -> None:
    """All of the file or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False) as file:
            file.write(text)
        os.replace(file.name, path)
    except OSError as error:
        raise PassFailedException(
            f"plan-cache: cannot write to {path.parent}: {error.strerror}; name another folder"
        ) from error
