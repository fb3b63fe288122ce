"""The names of the device library that the vendor's compiler calls into, read from the LLVM bitcode
it ships.

A call that is missing here compiles without a word and cannot be linked.
"""

import hashlib
import importlib
import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Protocol, cast

from fusec.export import disk_cache
from fusec.export.bishengir import CompilerMissing, Installation, find_installation

PREFIX = "_mlir_ciface_"
_FILES = {
    "AIC": ("meta_op.aic.c220.bc", "meta_op.mix.aic.c220.bc"),
    "AIV": ("meta_op.aiv.c220.bc", "meta_op.mix.aiv.c220.bc"),
}
"""Cube and vector core of the 910B and 910_93 chips; the `mix` files hold debugging functions of
mixed kernels.
"""
_MIX_SUFFIXES = (".cube", ".vector")

Library = Mapping[str, frozenset[str]]


class _Function(Protocol):
    name: str
    is_declaration: bool


class _Module(Protocol):
    functions: Iterable[_Function]


class _Binding(Protocol):
    """What is used of llvmlite, which ships no types."""

    def parse_bitcode(self, bitcode: bytes) -> _Module: ...


@lru_cache(maxsize=1)
def library_functions() -> Library:
    """Core (AIC, AIV) to the names that a module may call there, without prefix.

    Read in 1.3 s once, then from the cache. Raises `CompilerMissing` without the wheel, its bitcode
    or llvmlite.
    """
    files = _bitcode_files(find_installation())
    digest = hashlib.sha256()
    contents: dict[str, bytes] = {}
    for path in (path for paths in files.values() for path in paths):
        contents[path.name] = path.read_bytes()
        digest.update(contents[path.name])
    key = digest.hexdigest()
    names = _cached(key)
    if names is None:
        names = {
            core: sorted({n for path in paths for n in _defined_functions(contents[path.name])})
            for core, paths in files.items()
        }
        disk_cache.write("library", key, json.dumps(names))
    return {core: frozenset(found) for core, found in names.items()}


def _bitcode_files(installation: Installation) -> dict[str, list[Path]]:
    files = {core: [installation.lib / name for name in names] for core, names in _FILES.items()}
    missing = [path for paths in files.values() for path in paths if not path.is_file()]
    if missing:
        raise CompilerMissing(
            f"the device library {missing[0]} is missing; "
            "reinstall it with: pip install --force-reinstall fusec[ascend]"
        )
    return files


def _cached(key: str) -> dict[str, list[str]] | None:
    text = disk_cache.read("library", key)
    if text is None:
        return None
    try:
        return cast(dict[str, list[str]], json.loads(text))
    except ValueError:
        return None


def _defined_functions(bitcode: bytes) -> list[str]:
    try:
        binding = cast(_Binding, importlib.import_module("llvmlite.binding"))
    except ImportError as error:
        raise CompilerMissing(
            "llvmlite, which reads the device library, is not installed; "
            "install it with: pip install fusec[ascend]"
        ) from error
    names: list[str] = []
    for function in binding.parse_bitcode(bitcode).functions:
        if not function.is_declaration and function.name.startswith(PREFIX):
            names.append(_plain(function.name))
    return names


def _plain(name: str) -> str:
    bare = name.removeprefix(PREFIX)
    for suffix in _MIX_SUFFIXES:
        bare = bare.removesuffix(suffix)
    return bare
