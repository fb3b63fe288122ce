"""From an error to one message and a documented exit status."""

import subprocess
import sys
from pathlib import Path

import pytest
from xdsl.utils.exceptions import PassFailedException

from fusec.tools.output import OutputFile
from fusec.tools.status import CannotWriteError, ExitStatus, UsageError, guard
from fusec_dialects.errors import DoesNotFitError, InvalidResultError

FUSE_OPT = Path(sys.executable).with_name("fuse-opt")


def raising(error: BaseException) -> int:
    def body() -> None:
        raise error

    return guard("tool", body)


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (UsageError("no such thing"), 2, "no such thing"),
        (PassFailedException("a:1:1: wrong"), 3, "a:1:1: wrong"),
        (DoesNotFitError("too large"), 4, "too large"),
        (CannotWriteError("cannot write 'x'"), 5, "cannot write 'x'"),
        (InvalidResultError("the pass 'p' left"), 70, "the pass 'p' left"),
        (FileNotFoundError(2, "No such file", "m.onnx"), 3, "cannot read 'm.onnx': no such file"),
        (OSError(28, "No space left on device"), 5, "cannot write the output: no space left"),
        (RecursionError(), 3, "nested too deeply"),
        (ModuleNotFoundError("m", name="onnx.helper"), 2, "pip install 'fusec[onnx]'"),
        (ModuleNotFoundError("No module named 'x'", name="x"), 70, "internal error"),
        (KeyError("x"), 70, "internal error: KeyError: 'x'; please report"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_one_message(
    error: BaseException, status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert raising(error) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tool: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_debug_adds_the_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUSEC_DEBUG", "1")
    assert raising(KeyError("x")) == ExitStatus.INTERNAL
    assert "Traceback" in capsys.readouterr().err


def test_status_of_the_body() -> None:
    assert guard("tool", lambda: None) == 0
    assert guard("tool", lambda: 1) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_device() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [FUSE_OPT, "--list-pipelines"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == ExitStatus.CANNOT_WRITE
    assert done.stderr == b"fuse-opt: error: cannot write the output: no space left on device\n"


def test_reader_that_has_gone() -> None:
    text = "func.func @f() {\n" + '"test.op"() : () -> ()\n' * 20000 + "func.return\n}"
    tool = subprocess.Popen(
        [FUSE_OPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert tool.stdin is not None
    assert tool.stdout is not None
    assert tool.stderr is not None
    tool.stdout.close()
    tool.stdin.write(text.encode())
    tool.stdin.close()
    assert tool.stderr.read() == b""
    assert tool.wait() == ExitStatus.CANNOT_WRITE


def test_discarded_output_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    output = OutputFile(str(target))
    output.stream.write("half")
    output.discard()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_committed_output_keeps_the_mode(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    target.chmod(0o640)
    output = OutputFile(str(target))
    output.stream.write("new")
    assert target.read_text() == "old"
    output.commit()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
