"""The command line of `fusec`: one parser a command, the options that they share in one place.

In: words. Out: a namespace whose values have been checked as far as no file is needed for it.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

from fusec import __version__
from fusec.hw import DEFAULT_TARGET, TARGETS, load_target
from fusec.tools.status import UsageError

DESCRIPTION = """\
fusec fuses the operators of a neural network for Ascend-like NPUs, lowers each fused kernel to
buffers in the chip's memories, and proves by execution that the numbers are still right. It needs
no NPU: kernels run in a simulator, and every time that is printed is modelled.
"""

EXAMPLES = """\
examples:
  fusec profile model.onnx                          what fusion gains, against no fusion
  fusec compare model.onnx --tolerance 1e-4         are the numbers of the placed kernels right?
  fusec run model.onnx --inputs in.npz --outputs out.npz
  fusec compile model.onnx -o placed.mlir           placed kernels as MLIR text
  fusec ascend-check model.onnx                     does Huawei's kernel compiler take them?

exit statuses: 0 done, 1 a check failed, 2 wrong use, 3 bad input, 4 a kernel does not fit the
target, 5 an output cannot be written, 70 a fault of fusec. `fusec COMMAND --help` says more.
"""

COMPILE = """\
Compile a model and write its placed kernels as MLIR text: every buffer with its address, every
hazard with its flag. `fusec run` takes the file; `fuse-opt --dump-dir` shows the steps between.
"""

RUN = """\
Run a model on the arrays of an .npz file, or on seeded inputs, and write the outputs to an .npz
file. Arrays are named as the model's inputs and outputs. A file of placed kernels, as `fusec
compile` writes it, runs as it is.
"""

PROFILE = """\
Compile a model with fusion and without, and print what each costs: kernels, bytes over global
memory, and time on the target, modelled by a simulator of its pipes, cores and memories.
"""

EXPLAIN = """\
Decide what to fuse and say why: for each kernel its pattern and what it saves, for each value that
goes from one kernel to another the reason why they are not one, and what would change it. Times are
modelled. Nothing is compiled.
"""

COMPARE = """\
Run a model at a level and compare the outputs with ONNX Runtime's (graph optimisations off), on
seeded inputs, and every tensor that survives the level with the same tensor of the model, run
without fusion and in float64. Weights that the file gives as one repeated number are seeded too.
The exit status is 1 where the worst output is further off than the tolerance, or a tensor further
than the tolerance beyond what it is without fusion. Outputs of MLIR text are compared with its own
operators in float64.
"""

BISECT = """\
Find the smallest set of fusions whose switching off brings the outputs within the tolerance of the
operators in float64, on seeded inputs. The exit status is 1 where no fusion is to blame.
"""

REDUCE = """\
Leave out operators of a failing model as long as a command still ends with the same exit status
(and prints the same text), and write what is left: an .onnx with the nodes that are needed, or an
.mlir. What an operator that went away gave becomes an input.
"""

ASCEND_CHECK = """\
Print each kernel for Huawei's kernel compiler (AscendNPU IR), compile it and check what comes back.
The exit status is 1 where a kernel is not accepted. Inputs that break the compiler are kept.
"""

T = TypeVar("T")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def _number(kind: Callable[[str], T], least: float, what: str) -> Callable[[str], T]:
    """A converter that takes finite numbers of at least `least`."""

    def convert(text: str) -> T:
        try:
            value = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}") from None
        if not math.isfinite(float(str(value))) or float(str(value)) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not {what} of at least {least:g}")
        return value

    return convert


def _model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="an .onnx model, or MLIR text in an .mlir")
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=AxB",
        help="static shape of an input, like x=1x3x224x224; once for each input",
    )
    parser.add_argument(
        "--value",
        action="append",
        default=[],
        metavar="NAME=V",
        help="an input that is this number at every call, like sr=16000, becomes a constant (a "
        "list with commas); once for each input",
    )
    parser.add_argument(
        "--allow-opaque",
        action="store_true",
        help="leave ONNX operators that are not supported to the host, as barriers of fusion",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object to stdout and nothing else"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


def _compilation(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how to compile")
    group.add_argument(
        "--target",
        metavar="CHIP",
        help=f"{', '.join(TARGETS)}, or the path of a .toml file (default {DEFAULT_TARGET}, "
        "or what the MLIR text says)",
    )
    group.add_argument(
        "--no-fusion", action="store_true", help="every operator is a kernel of its own"
    )
    group.add_argument(
        "--objective",
        choices=["time", "bytes", "kernels"],
        help="what fusion makes small: modelled time (default), bytes over global memory, or the "
        "number of kernels",
    )
    group.add_argument(
        "--strategy",
        metavar="NAME",
        help="how groups grow: patterns (named patterns only), greedy, dp, beam (default), or one "
        "that --load registers",
    )
    group.add_argument(
        "--time-budget",
        type=_number(float, 0, "a number of seconds"),
        metavar="S",
        help="seconds of planning, after which the best plan so far is taken (default 0: no bound)",
    )
    group.add_argument(
        "--plan-cache",
        metavar="DIR",
        help="keep plans in this folder, and take them from it for an equal graph, target and "
        "options",
    )
    group.add_argument(
        "--max-depth",
        type=_number(int, 0, "an integer"),
        metavar="N",
        help="longest path of operators in a group (default 0: no bound)",
    )
    for name, text in (("min", "fewer"), ("max", "more")):
        group.add_argument(
            f"--{name}-fusion-ops",
            type=_number(int, 1, "an integer"),
            metavar="N",
            help=f"no group of {text} operators",
        )
    group.add_argument(
        "--disable-fusion",
        action="append",
        default=[],
        metavar="NAME",
        help="switch a pattern off, like conv_bn_relu (docs/reference/patterns.md); may be given "
        "several times",
    )
    group.add_argument(
        "--only-fusion",
        action="append",
        default=[],
        metavar="NAME",
        help="fuse by these patterns only; may be given several times",
    )
    files = (
        ("fusion-config", "JSON as GE_FUSION_CONFIG_PATH names it"),
        ("fusion-switch-file", "rules on and off, as ATC reads them, by CANN's names or ours"),
        ("plan", "a saved plan to replay (fusec explain --save-plan)"),
        ("fusion-result", "where fusion_result.json goes, as ATC writes it"),
        ("log-file", "where the log of fusion goes (GE_LOG_LEVEL says how much; else 2)"),
    )
    own = (
        ("load", "FILE.py", "own fusions and operators: Python that uses fusec.opbase"),
        ("pdl", "FILE.mlir", "own fusions: pdl patterns"),
    )
    for name, kind, text in own:
        group.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar=kind,
            help=f"{text}; may be given several times",
        )
    for name, text in files:
        group.add_argument(f"--{name}", metavar="FILE", help=text)


def _level(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--level",
        default="npu",
        choices=["graph", "fused", "npu"],
        help="graph: operators as imported; fused: after fusion; npu (default): placed kernels in "
        "the simulator",
    )


def _tolerance(parser: argparse.ArgumentParser, reference: str) -> None:
    parser.add_argument(
        "--tolerance",
        type=_number(float, 0, "a number"),
        default=1e-4,
        metavar="T",
        help=f"allowed max|a-b| / max|b| of the worst output, b {reference} (default 1e-4)",
    )


def _seed(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--seed",
        type=_number(int, 0, "an integer"),
        default=0,
        metavar="N",
        help=f"of {what} (default 0)",
    )


def build() -> argparse.ArgumentParser:
    """The whole parser."""
    top = _Parser(
        "fusec",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"fusec {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    def command(name: str, help: str, description: str) -> argparse.ArgumentParser:
        parser = commands.add_parser(name, help=help, description=description, allow_abbrev=False)
        _model(parser)
        return parser

    parser = command("compile", "compile a model to placed kernels", COMPILE)
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="where to write")
    _compilation(parser)

    parser = command("run", "run a model on inputs of yours or on seeded ones", RUN)
    _level(parser)
    parser.add_argument(
        "--inputs", metavar="FILE.npz", help="arrays named as the model's inputs; else seeded ones"
    )
    parser.add_argument("--outputs", metavar="FILE.npz", help="where to write the outputs")
    _seed(parser, "inputs, where none are given")
    _compilation(parser)

    parser = command("profile", "kernels, bytes and modelled time, fused and unfused", PROFILE)
    _compilation(parser)

    parser = command("explain", "what fused, what did not, and why", EXPLAIN)
    parser.add_argument(
        "--edge",
        nargs=2,
        metavar=("A", "B"),
        help="only the edge between two operators, by the names of their ONNX nodes",
    )
    parser.add_argument(
        "--save-plan", metavar="FILE.json", help="where to write the plan, to edit and replay"
    )
    _compilation(parser)

    parser = command("compare", "compare the outputs with ONNX Runtime's", COMPARE)
    _level(parser)
    _tolerance(parser, "the reference")
    parser.add_argument(
        "--reference",
        choices=["onnxruntime", "float64"],
        help="what to compare with (default onnxruntime; float64, the operators themselves, for "
        "MLIR text)",
    )
    _seed(parser, "inputs and weights")
    _compilation(parser)

    parser = command("bisect", "which fusions spoil the numbers", BISECT)
    _level(parser)
    _tolerance(parser, "the operators in float64")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where to write a switch file with them off"
    )
    _seed(parser, "inputs and weights")
    _compilation(parser)

    parser = command("reduce", "a small part of a model that still fails", REDUCE)
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="where to write")
    parser.add_argument(
        "--command",
        dest="command_line",
        required=True,
        metavar="COMMAND",
        help="what fails; {} stands for the file, like 'fusec compare {} --tolerance 1e-5'",
    )
    parser.add_argument(
        "--text", metavar="TEXT", help="what the command has to print, like a part of its message"
    )
    _compilation(parser)

    parser = command(
        "ascend-check", "let Huawei's kernel compiler judge every kernel", ASCEND_CHECK
    )
    parser.add_argument(
        "--jobs",
        type=_number(int, 1, "an integer"),
        default=2,
        metavar="N",
        help="compilers at once (default 2)",
    )
    parser.add_argument(
        "--time-limit",
        type=_number(float, 1, "a number"),
        default=60.0,
        metavar="S",
        help="seconds for one compilation (default 60)",
    )
    parser.add_argument(
        "--fault-dir",
        default="vendor-faults",
        metavar="DIR",
        help="where inputs that break the compiler are kept (default vendor-faults)",
    )
    _compilation(parser)
    return top


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a command, names of targets and patterns checked.

    Raises UsageError, and TargetError for a target that does not exist or a damaged file of one;
    `--help` prints and exits.
    """
    parser = build()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_usage(sys.stderr)
        raise UsageError("a command is missing; see fusec --help")
    if options.target is not None:
        load_target(options.target)
    from fusec.tools.cli.configuration import configured

    options.configured = configured(options)
    return options
