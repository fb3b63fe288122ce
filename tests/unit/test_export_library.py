"""The names in the device library, and the cache they are kept in."""

import sys
from pathlib import Path

import pytest

from ascend_inputs import needs_compiler
from fusec.export import disk_cache, library
from fusec.export.bishengir import CompilerMissing
from fusec.export.library import library_functions


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    library_functions.cache_clear()
    yield
    library_functions.cache_clear()


@needs_compiler
def test_functions_of_both_cores(monkeypatch: pytest.MonkeyPatch):
    names = library_functions()
    assert {"vadd_1d_float", "store_ubuf_to_gm_2d_half", "print_1d_half_ubuf"} <= names["AIV"]
    assert {"nd2nz_half", "mma_tile_float_to_float_ta_tb"} <= names["AIC"]
    assert not any(n.startswith(("verf_", "vtanh_", "reduce_sum_ara_")) for n in names["AIV"])
    assert "vadd_1d_float" not in names["AIC"]
    library_functions.cache_clear()
    monkeypatch.setattr(library, "_defined_functions", None)
    assert library_functions() == names


@needs_compiler
@pytest.mark.parametrize("kept", [b"", b"not compressed"])
def test_damaged_cache_is_read_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kept: bytes):
    def one_name(bitcode: bytes) -> list[str]:
        return [f"f{len(bitcode)}"]

    monkeypatch.setattr(library, "_defined_functions", one_name)
    names = library_functions()
    (entry,) = (tmp_path / "fusec" / "library").iterdir()
    entry.write_bytes(kept)
    library_functions.cache_clear()
    assert library_functions() == names


@needs_compiler
def test_missing_llvmlite(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    with pytest.raises(CompilerMissing, match=r"llvmlite.*pip install fusec\[ascend\]"):
        library_functions()


def test_cache_keeps_text(tmp_path: Path):
    assert disk_cache.read("runs", "key") is None
    disk_cache.write("runs", "key", "täxt\n")
    assert disk_cache.read("runs", "key") == "täxt\n"
    assert [path.name for path in (tmp_path / "fusec" / "runs").iterdir()] == ["key"]


def test_unusable_cache_folder_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    disk_cache.write("runs", "key", "text")
    assert disk_cache.read("runs", "key") is None


def test_no_home_folder(monkeypatch: pytest.MonkeyPatch):
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert disk_cache.cache_folder() is None
    disk_cache.write("runs", "key", "text")
    assert disk_cache.read("runs", "key") is None
