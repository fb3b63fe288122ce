"""fuse-opt with passes that go wrong: who is named, which status, what is left behind."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from fusec.tools.fuse_opt import FuseOpt
from fusec.tools.status import guard
from fusec_dialects.errors import DoesNotFitError

TEXT = """func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.muli %0, %a : i32
  func.return %1 : i32
}
"""


def drop_the_return(op: ModuleOp) -> None:
    next(o for o in op.walk() if isinstance(o, ReturnOp)).operands = []


def swap(op: ModuleOp) -> None:
    add, mul = (o for o in op.walk() if o.name.startswith("arith."))
    mul.detach()
    add.parent_block().insert_op_before(mul, add)  # pyright: ignore[reportOptionalMemberAccess]


def refuse(op: ModuleOp) -> None:
    raise PassFailedException("m.mlir:2:3: no such thing here")


def overflow(op: ModuleOp) -> None:
    raise DoesNotFitError("m.mlir:1:1: test-pass: 9 bytes, 8 are there")


def crash(op: ModuleOp) -> None:
    raise KeyError("k")


def run(tmp_path: Path, action: Callable[[ModuleOp], None], *options: str) -> int:
    @dataclass(frozen=True)
    class TestPass(ModulePass):
        name = "test-pass"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            action(op)

    class Tool(FuseOpt):
        def register_all_passes(self) -> None:
            self.register_pass("test-pass", lambda: TestPass)

    source = tmp_path / "m.mlir"
    source.write_text(TEXT)
    arguments = [str(source), "-p", "test-pass", "-o", str(tmp_path / "out"), *options]
    return guard("fuse-opt", lambda: Tool(arguments).run())


@pytest.mark.parametrize(
    ("action", "status", "messages"),
    [
        (drop_the_return, 70, ["the pass 'test-pass' left IR", "m.mlir:4:3: 'func.return' in @f"]),
        (swap, 70, ["the pass 'test-pass' left IR", "m.mlir:3:3: 'arith.muli' in @f: operand 0"]),
        (refuse, 3, ["error: test-pass: m.mlir:2:3: no such thing here"]),
        (overflow, 4, ["error: m.mlir:1:1: test-pass: 9 bytes"]),
        (crash, 70, ["internal error: KeyError"]),
    ],
)
def test_a_pass_that_fails(
    tmp_path: Path,
    action: Callable[[ModuleOp], None],
    status: int,
    messages: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(tmp_path, action) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    for message in messages:
        assert message in err
    assert [file.name for file in tmp_path.iterdir()] == ["m.mlir"]


def test_verification_can_be_switched_off(tmp_path: Path) -> None:
    assert run(tmp_path, swap, "--disable-verify") == 0
    lines = (tmp_path / "out").read_text().splitlines()
    assert "arith.muli" in lines[2]


def test_a_failing_pass_is_not_reported_as_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, refuse, "--statistics", "--dump-dir", str(tmp_path / "d")) == 3
    assert "test-pass  " not in capsys.readouterr().err
    assert [file.name for file in (tmp_path / "d").iterdir()] == ["00-input.mlir"]
