"""What the command line, the files it names and the environment say of fusion, put together.

Apart from `arguments`, so that `--help` loads nothing of the compiler.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from fusec.config.errors import LimitError, nearest
from fusec.config.settings import Settings
from fusec.fusion.configure import Configured, configure
from fusec.fusion.patterns import all_patterns
from fusec.fusion.patterns.cann import UnknownRule, resolve
from fusec.fusion.strategies import STRATEGIES
from fusec.tools.status import UsageError
from fusec.universe import load_own_fusions


def configured(options: argparse.Namespace) -> Configured:
    """Fusion as the command line, files and the environment ask for it, own fusions registered.

    Raises UsageError for what the command line says wrong, ConfigError for the other sources.
    """
    load_own_fusions()
    if options.load or options.pdl:
        from fusec.opbase import load, load_pdl

        for path in options.load:
            load(path)
        for path in options.pdl:
            load_pdl(path)
    disable = _patterns("--disable-fusion", options.disable_fusion)
    only = _patterns("--only-fusion", options.only_fusion)
    if both := disable & only:
        raise UsageError(f"{min(both)!r} is both disabled and asked for; leave one of them out")
    if options.no_fusion and options.only_fusion:
        raise UsageError("--no-fusion and --only-fusion contradict each other; leave one out")
    if options.strategy is not None and options.strategy not in STRATEGIES:
        advice = nearest(options.strategy, STRATEGIES)
        raise UsageError(f"--strategy: unknown strategy {options.strategy!r}; {advice}")
    said = Settings(
        "the command line",
        enabled=False if options.no_fusion else None,
        strategy=options.strategy,
        objective=options.objective,
        max_depth=options.max_depth,
        min_ops=options.min_fusion_ops,
        max_ops=options.max_fusion_ops,
        only=only if options.only_fusion else None,
        plan=options.plan,
        time_budget=options.time_budget,
        plan_cache=options.plan_cache,
        disable=disable,
    )
    try:
        return configure(
            said,
            os.environ,
            config_file=options.fusion_config and Path(options.fusion_config),
            switch_file=options.fusion_switch_file and Path(options.fusion_switch_file),
        )
    except LimitError as error:
        if said.source in error.sources:
            raise UsageError(str(error)) from error
        raise


def _patterns(flag: str, names: Sequence[str]) -> frozenset[str]:
    """Patterns by our names or CANN's; raises UsageError with the nearest valid name."""
    try:
        return resolve(names, all_patterns()).patterns
    except UnknownRule as error:
        raise UsageError(f"{flag}: {error}") from error
