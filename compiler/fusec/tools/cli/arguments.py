"""The command line of `fusec`: one parser a command, the options that they share in one place."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from fusec import __version__
from fusec.hw import DEFAULT_TARGET, TARGETS
from fusec.tools.status import UsageError

DESCRIPTION = """\
fusec fuses the operators of a neural network for Ascend-like NPUs, lowers each fused kernel to
buffers in the chip's memories, and proves by execution that the numbers are still right. It needs
no NPU: kernels run in a simulator, and every time that is printed is modelled.
"""

EXAMPLES = """\
examples:
  fusec profile model.onnx                          what fusion gains, against no fusion
  fusec compare model.onnx --tolerance 1e-4         placed kernels against ONNX Runtime
  fusec run model.onnx --inputs in.npz --outputs out.npz
  fusec compile model.onnx -o model.mlir            placed kernels as MLIR text
  fusec ascend-check model.onnx                     does Huawei's kernel compiler take them?

exit statuses: 0 done, 1 a check failed, 2 wrong use, 3 bad input, 4 a kernel does not fit the
target, 5 an output cannot be written, 70 a fault of fusec. `fusec COMMAND --help` says more of each
command.
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def _model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="an ONNX model, or .mlir of the graph level")
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=AxB",
        help="static shape of an input; may be given several times",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object and nothing else"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


def _compilation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--target",
        default=DEFAULT_TARGET,
        metavar="CHIP",
        help=f"{', '.join(TARGETS)}, or a .toml file (default {DEFAULT_TARGET})",
    )
    parser.add_argument("--no-fusion", action="store_true", help="one kernel for each operator")
    parser.add_argument("--objective", default="time", metavar="O", help="time, bytes or kernels")
    parser.add_argument("--strategy", default="greedy", metavar="S", help="greedy or patterns")
    parser.add_argument(
        "--max-depth", type=int, default=0, metavar="N", help="bound a group's depth"
    )
    parser.add_argument(
        "--disable-fusion", action="append", default=[], metavar="NAME", help="switch a pattern off"
    )
    parser.add_argument(
        "--only-fusion", action="append", default=[], metavar="NAME", help="only these patterns"
    )


def _level(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--level",
        default="npu",
        choices=["graph", "fused", "npu"],
        help="graph: as imported; fused: after fusion; npu (default): placed kernels, simulated",
    )


def _seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, help="of inputs and weights (default 0)")


def build() -> argparse.ArgumentParser:
    """The whole parser."""
    top = _Parser(
        "fusec",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"fusec {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    def command(name: str, help: str) -> argparse.ArgumentParser:
        parser = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
        _model(parser)
        _compilation(parser)
        return parser

    parser = command("compile", "compile a model to placed kernels, as MLIR text")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="where to write")

    parser = command("run", "run a model on inputs of yours or on seeded ones")
    _level(parser)
    _seed(parser)
    parser.add_argument("--inputs", metavar="FILE.npz", help="arrays named as the model's inputs")
    parser.add_argument("--outputs", metavar="FILE.npz", help="where to write the outputs")

    parser = command("profile", "kernels, bytes and modelled time, fused and unfused")

    parser = command("compare", "compare a level with ONNX Runtime on seeded inputs and weights")
    _level(parser)
    _seed(parser)
    parser.add_argument(
        "--tolerance",
        type=float,
        default=1e-4,
        metavar="T",
        help="allowed max|a-b| / max|b| of the worst output (default 1e-4)",
    )

    parser = command("ascend-check", "let Huawei's kernel compiler judge every kernel")
    parser.add_argument(
        "--jobs", type=int, default=2, metavar="N", help="compilers at once (default 2)"
    )
    parser.add_argument(
        "--time-limit", type=float, default=60.0, metavar="S", help="seconds for one compilation"
    )
    parser.add_argument(
        "--fault-dir",
        default="vendor-faults",
        metavar="DIR",
        help="where inputs that break the vendor's compiler are kept (default vendor-faults)",
    )
    return top


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a command. Raises UsageError; `--help` prints and exits."""
    parser = build()
    if not arguments:
        parser.print_help(sys.stderr)
        raise UsageError("a command is missing")
    return parser.parse_args(arguments)
