"""The page `docs/levels.md`: one small kernel on each level, made by running the passes."""

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.parser import Parser

from fusec.api import context, run_passes
from fusec.export.kernels import export_kernels
from fusec.hw import load_target
from fusec.schedule.target import ATTRIBUTE
from fusec.tools.stages import module_text

SOURCE = """\
func.func @main(%x: tensor<200x300xf32>, %b: tensor<300xf32>) -> tensor<200x300xf32> {
  %0 = graph.add %x, %b : (tensor<200x300xf32>, tensor<300xf32>) -> tensor<200x300xf32>
  %1 = graph.relu %0 : tensor<200x300xf32> -> tensor<200x300xf32>
  func.return %1 : tensor<200x300xf32>
}
"""

INTRODUCTION = """\
# The levels

One kernel, a bias and a relu on 200 x 300 numbers, on each level, as `fuse-opt` prints it. The
target is `tiny`, whose memories are small: %(cores)d vector cores with %(ub)d bytes of unified
buffer.

```sh
fuse-opt relu.mlir -p default --target tiny --dump-dir stages      # one file for each pass
```
"""

LEVELS: tuple[tuple[str, str, str], ...] = (
    (
        "graph",
        "graph-infer-shapes",
        "Values, no buffers; operators with ONNX's names and meaning. An ONNX file becomes this.",
    ),
    (
        "graph.fused",
        "graph-simplify,graph-raise,graph-fuse",
        "A group is one future kernel: isolated from what is around it, named after its pattern.",
    ),
    (
        "graph.kernel and graph.call",
        "graph-fold-weights,graph-assign-layout,graph-outline,graph-schedule",
        "Groups become functions; equal ones become one. The schedule says how the kernel is built "
        "and may be written by hand: tiles of the iteration space, blocks on as many cores, copies "
        "of each buffer.",
    ),
    (
        "npu, unplaced",
        "graph-to-npu",
        "Buffers in named memories, one core's part of the work in a loop over its tiles; the host "
        "launches kernels. A row of 300 numbers takes 304 in the unified buffer, a whole number of "
        "32-byte blocks.",
    ),
    (
        "npu, placed",
        "npu-multi-buffer,npu-expand-l0,npu-place,npu-sync,npu-verify",
        "Every buffer has an address and a number of copies, so that a tile is loaded while the "
        "one before is computed. Flags order the pipes, a barrier orders dependent instructions of "
        "one pipe. This is what the simulator runs and times.",
    ),
)
"""Title, the passes that lead from the level before, what is to be seen."""

EXPORT = """\
## AscendNPU IR

What Huawei's kernel compiler reads (`-t ascend-npu-ir`), from the unplaced form: it places buffers
and flags itself. For `ascend910b3`, whose unified buffer is larger:
"""


def levels_page() -> Iterator[str]:
    """The lines of the page."""
    module = _module("tiny")
    chip = load_target("tiny")
    yield INTRODUCTION % {"cores": chip.vector_cores, "ub": chip.capacity("ub")}
    for title, passes, text in LEVELS:
        run_passes(module, passes)
        shown = ", ".join(f"`{name}`" for name in passes.split(","))
        yield from (f"## {title}", "", text, "", f"After {shown}:", "")
        yield from ("```mlir", module_text(module).rstrip(), "```", "")
    yield from (EXPORT, "```mlir", _exported(), "```")


def _module(target: str) -> ModuleOp:
    module = Parser(context(), SOURCE).parse_module()
    module.attributes[ATTRIBUTE] = StringAttr(target)
    return module


def _exported() -> str:
    module = run_passes(_module("ascend910b3"), "prepare,optimise,graph-schedule,graph-to-npu")
    kernels, _ = export_kernels(module)
    return "\n".join(kernel.text.rstrip() for kernel in kernels)
