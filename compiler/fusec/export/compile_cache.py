"""Runs of the vendor's compiler, kept on disk by everything they depend on: text, target, route,
options, release.
"""

import hashlib
import json
from dataclasses import asdict

from fusec.export import disk_cache
from fusec.export.bishengir import (
    TIME_LIMIT,
    CompilerRun,
    Route,
    find_installation,
    run_compiler,
    verifier_accepts,
)

_RUNS, _VERIFIED = "runs", "verified"


def compile_cached(
    text: str,
    target: str,
    route: Route,
    options: tuple[str, ...] = (),
    time_limit: float = TIME_LIMIT,
) -> CompilerRun:
    """`run_compiler`, from the cache where it was run before. What failed is run twice, so a
    failure can be repeated; what was stopped by the time limit is not kept.
    """
    key = _key(text, target, route, *options)
    known = _read_run(disk_cache.read(_RUNS, key))
    if known is not None:
        return known
    run = run_compiler(text, target, route, options, time_limit)
    if not run.ok and not run.timed_out:
        run = run_compiler(text, target, route, options, time_limit)
    if not run.timed_out:
        disk_cache.write(_RUNS, key, json.dumps(asdict(run)))
    return run


def verifier_accepts_cached(text: str, time_limit: float = TIME_LIMIT) -> bool:
    key = _key(text)
    known = disk_cache.read(_VERIFIED, key)
    if known is None:
        known = str(verifier_accepts(text, time_limit))
        disk_cache.write(_VERIFIED, key, known)
    return known == "True"


def _key(*parts: str) -> str:
    content = json.dumps((find_installation().version, *parts))
    return hashlib.sha256(content.encode()).hexdigest()


def _read_run(text: str | None) -> CompilerRun | None:
    if text is None:
        return None
    try:
        return CompilerRun(**json.loads(text))
    except (ValueError, TypeError):
        return None
