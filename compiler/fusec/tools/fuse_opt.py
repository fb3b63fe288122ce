"""`fuse-opt`: reads a module, runs passes on it, prints it. xDSL's `xdsl-opt` with fusec's parts.

In: MLIR text or a model file. Out: MLIR text or what `-t` names, whole or not at all.
Everything that is not the result (timing, statistics, errors) goes to stderr.
"""

import argparse
import sys
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline, parse_spec
from xdsl.utils.exceptions import DiagnosticException, VerifyException
from xdsl.xdsl_opt_main import xDSLOptMain

import fusec
from fusec import pipelines
from fusec.hw import TARGETS, load_target
from fusec.tools.listings import ListPatterns, ListPipelines, PatternExample
from fusec.tools.output import OutputFile
from fusec.tools.rule_log import RuleLog
from fusec.tools.stages import StageLog, module_text
from fusec.tools.status import InputError, UsageError, guard
from fusec.universe import FUSEC_UNIVERSE, load_own_fusions
from fusec_dialects.errors import InvalidResultError
from fusec_dialects.verify import verify

PROGRAM = "fuse-opt"

_EPILOG = """\
-p takes passes with options, pipeline names, or both:
  fuse-opt model.onnx -p prepare,optimise -o fused.mlir
  fuse-opt in.mlir -p 'graph-fuse{strategy=greedy},graph-outline'
  fuse-opt model.onnx -p default --target ascend910b3 --timing --dump-dir stages
--list-pipelines prints what each pipeline name stands for.
"""


class FuseOpt(xDSLOptMain):
    """xDSL's driver with fusec's passes, named pipelines, chip targets and reports."""

    version_format = f"fuse-opt {fusec.__version__} on xDSL {{xdsl_version}}"

    def __init__(self, args: Sequence[str] | None = None) -> None:
        self._running: ModulePass | None = None
        self._output: OutputFile | None = None
        self._chunks = 0
        load_own_fusions()
        super().__init__("Runs passes of fusec and xDSL on a module and prints the result.", args)
        self._log = StageLog(
            dump_dir=None if self.args.dump_dir is None else Path(self.args.dump_dir),
            statistics=self.args.statistics,
        )
        self._rules = RuleLog()

    # What is registered: all that the environment offers, and fusec even where it is not installed.

    def register_all_dialects(self) -> None:
        super().register_all_dialects()
        for name in FUSEC_UNIVERSE.all_dialects.keys() - self.ctx.registered_dialect_names:
            self.ctx.register_dialect(name, FUSEC_UNIVERSE.all_dialects[name])

    def register_all_frontends(self) -> None:
        super().register_all_frontends()
        for name, factory in FUSEC_UNIVERSE.all_frontends.items():
            self.available_frontends.setdefault(name, factory)
        self.available_frontends["mlir"] = _located_mlir

    def register_all_passes(self) -> None:
        super().register_all_passes()
        for name, factory in FUSEC_UNIVERSE.all_passes.items():
            self.available_passes.setdefault(name, factory)

    def register_all_targets(self) -> None:
        super().register_all_targets()
        for name, factory in FUSEC_UNIVERSE.all_targets.items():
            self.available_targets.setdefault(name, factory)

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.prog = PROGRAM
        arg_parser.usage = f"{PROGRAM} [options] [input_file]"
        arg_parser.epilog = _EPILOG
        arg_parser.formatter_class = argparse.RawDescriptionHelpFormatter
        ours = arg_parser.add_argument_group("options of fusec", conflict_handler="resolve")
        ours.add_argument(
            "-t",
            "--target",
            action=_Target,
            formats=self.available_targets.keys(),
            default="mlir",
            metavar="NAME",
            help="a chip to compile for, which becomes the module attribute npu.target "
            f"({', '.join(TARGETS)}, or a .toml file of your own), or a format to print "
            f"({', '.join(self.available_targets)}); may be given once for each",
        )
        arg_parser.set_defaults(npu_target=None)
        ours.add_argument(
            "--allow-opaque",
            action="store_true",
            help="of an ONNX model, keep operators that are not supported as graph.opaque",
        )
        for name, kind, text in (
            (
                "load",
                "FILE.py",
                "register own fusions and operators: Python that uses fusec.opbase",
            ),
            ("pdl", "FILE.mlir", "register own fusions: pdl patterns"),
        ):
            ours.add_argument(
                f"--{name}",
                action=_Load,
                metavar=kind,
                help=f"{text}; before options that use them, may be given several times",
            )
        ours.add_argument(
            "--list-pipelines",
            action=ListPipelines,
            help="print the named pipelines as pass text and exit",
        )
        ours.add_argument(
            "--list-patterns",
            action=ListPatterns,
            nargs="?",
            metavar="FILTER",
            help="print the names of fusion patterns and exit: of a family, or those that a "
            "wildcard or a part of a name fits",
        )
        ours.add_argument(
            "--pattern-example",
            action=PatternExample,
            metavar="NAME",
            help="print a small network on which a fusion pattern fires, and exit",
        )
        ours.add_argument(
            "--dump-dir",
            metavar="DIR",
            help="write the IR after each pass to DIR/NN-<pass>.mlir",
        )
        ours.add_argument(
            "--timing", action="store_true", help="print the seconds of each pass to stderr"
        )
        ours.add_argument(
            "--statistics",
            action="store_true",
            help="print the operators before and after each pass to stderr",
        )
        ours.add_argument(
            "--pattern-stats",
            action="store_true",
            help="print how often each rule of each pass was tried, matched and applied to stderr",
        )

    # The pipeline.

    def setup_pipeline(self) -> None:
        try:
            specs = tuple(parse_pipeline(pipelines.expand(self.args.passes)))
        except ValueError as error:
            raise UsageError(str(error)) from error
        self.pipeline = PassPipeline(tuple(self._pass(spec) for spec in specs), self._between)

    def _pass(self, spec: ArgSpec) -> ModulePass:
        if spec.name not in self.available_passes:
            raise UsageError(pipelines.unknown_name(spec.name, self.available_passes))
        pass_class = self.available_passes[spec.name]()
        if (
            self.args.allow_opaque
            and spec.name == "graph-fuse"
            and "offload" not in spec.parameters
        ):
            spec = ArgSpec(spec.name, {**spec.parameters, "offload": (True,)})
        try:
            return pass_class.from_pass_spec(spec)
        except ValueError as error:
            raise UsageError(f"the options of the pass {spec.name!r}: {error}") from error

    def _between(
        self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
    ) -> None:
        """xDSL's hook before the first pass, between two passes and after the last."""
        self._running = None
        if previous is not None:
            self._rules.finish(previous.name)
            seconds = self._log.finish(previous.name, module)
            if self.args.time_passes:
                print(f"Pass {previous.name} took {seconds} seconds")
        if not self.args.disable_verify:
            self._verify(previous, module)
        if previous is None:
            self._log.begin(module, self._chunks if self.args.split_input_file else None)
            self._chunks += 1
        else:
            self._log.dump(previous.name, module)
        if previous is not None and following is not None and self.args.print_between_passes:
            print(f"IR after {previous.name}:\n{module_text(module)}\n\n\n")
        self._running = following
        self._log.start()

    def _verify(self, previous: ModulePass | None, module: ModuleOp) -> None:
        try:
            verify(module)
        except VerifyException as error:
            if previous is None:
                raise
            fault = InvalidResultError(
                f"the pass {previous.name!r} left IR that does not verify: {error}; "
                "please report it with the input (--disable-verify shows that IR)"
            )
            for note in getattr(error, "__notes__", ()):
                fault.add_note(note)
            raise fault from error

    def apply_passes(self, prog: ModuleOp) -> None:
        if self.args.npu_target is not None:
            prog.attributes["npu.target"] = StringAttr(self.args.npu_target)
        try:
            super().apply_passes(prog)
        except DiagnosticException as error:
            running = self._running
            if running is not None and running.name not in str(error):
                error.args = (f"{running.name}: {error}",)
            raise

    # Input and output.

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        if self.args.input_file == "-":
            self.args.input_file = None
        stream, ending = super().get_input_stream()
        kind = parse_spec(self.args.frontend).name if self.args.frontend else ending
        if kind not in self.available_frontends:
            stream.close()
            known = ", ".join(f".{name}" for name in sorted(self.available_frontends))
            raise InputError(
                f"cannot tell what {self.args.input_file!r} is: the endings known are {known}; "
                "or name the kind with -f"
            )
        return stream, kind

    def parse_chunk(
        self, chunk: IO[bytes], file_extension: str, start_offset: int = 0
    ) -> ModuleOp | None:
        spec = parse_spec(self.args.frontend or file_extension)
        if spec.name == "onnx" and self.args.allow_opaque:
            self.args.frontend = str(
                ArgSpec(spec.name, {**spec.parameters, "allow-opaque": (True,)})
            )
        if spec.name != "mlir":
            return super().parse_chunk(chunk, file_extension, start_offset)
        from fusec.frontends.mlir import LocatedMlirFrontend

        frontend = LocatedMlirFrontend(
            no_implicit_module=self.args.no_implicit_module, line_offset=start_offset
        )
        return frontend.parse(self.ctx, chunk, self.get_input_name())

    def prepare_output(self) -> IO[str]:
        if self.args.output_file is None:
            return sys.stdout
        self._output = OutputFile(self.args.output_file)
        return self._output.stream

    def run(self) -> None:
        try:
            with self._rules.listening() if self.args.pattern_stats else nullcontext():
                super().run()
        except BaseException:
            if self._output is not None:
                self._output.discard()
            raise
        finally:
            self._report()
        if self._output is not None:
            self._output.commit()

    def _report(self) -> None:
        if self.args.timing or self.args.statistics:
            self._log.report(timing=self.args.timing, statistics=self.args.statistics)
        if self.args.pattern_stats:
            self._rules.finish("" if self._running is None else self._running.name)
            self._rules.report()


def _located_mlir() -> type[Any]:
    from fusec.frontends.mlir import LocatedMlirFrontend

    return LocatedMlirFrontend


class _Target(argparse.Action):
    """`-t`: xDSL's name of an output format, or a chip."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
        self._formats: Collection[str] = options.pop("formats")
        super().__init__(option_strings, dest, **options)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if values.endswith(".toml"):
            namespace.npu_target = values
        elif values.lower() in TARGETS:
            namespace.npu_target = values.lower()
        elif parse_spec(values).name in self._formats:
            namespace.target = values
            return
        else:
            chips, formats = ", ".join(TARGETS), ", ".join(self._formats)
            raise UsageError(
                f"unknown target {values!r}; chips: {chips}, or the path of a .toml file; "
                f"formats: {formats}"
            )
        load_target(namespace.npu_target)


class _Load(argparse.Action):
    """`--load`, `--pdl`: own fusions and operators, known from here on."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        from fusec.opbase import load, load_pdl

        (load_pdl if self.dest == "pdl" else load)(values)


def main() -> None:
    """The console script `fuse-opt`."""
    sys.exit(guard(PROGRAM, lambda: FuseOpt().run()))


if __name__ == "__main__":
    main()
