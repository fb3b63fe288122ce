"""graph-fuse: operators of `main` become groups, each one future kernel.

Out: every operator that computes or moves is inside of a `graph.fused`; views, weights and what
follows from weights alone stay outside; operators that nothing needs are gone.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from fusec.config.fusion_options import FusionOptions
from fusec.fusion.build import Builder
from fusec.fusion.dag import Dag
from fusec.fusion.decompose import decompose
from fusec.fusion.in_place import OBJECTIVE, UNFUSED
from fusec.fusion.legality import Legality
from fusec.fusion.patterns import all_patterns
from fusec.fusion.planner import Planner
from fusec.fusion.remarks import Remark
from fusec.graph.weights_function import NAME
from fusec.rewrite.driver import erase_dead_code
from fusec.schedule.target import module_target


def fuse_module(
    module: ModuleOp, options: FusionOptions, target: str | None = None, *, offload: bool = False
) -> list[Remark]:
    """Fuse every function of a module but `@weights`; gives what was done and refused.

    With `offload`, operators that no kernel computes are left to the host, as graph.opaque.

    Raises PassFailedException on unknown names in the options.
    """
    options.check(all_patterns().keys())
    legality = Legality(module_target(module, target))
    remarks: list[Remark] = []
    for function in list(module.body.block.ops):
        if not isinstance(function, FuncOp) or function.sym_name.data == NAME:
            continue
        block = function.body.block
        decompose(block)
        erase_dead_code(block)
        planner = Planner(Dag.of(block), legality, options)
        cover = planner.run()
        Builder(block, cover, planner.hosted() if offload else ()).run()
        remarks += planner.remarks
    return remarks


@dataclass(frozen=True)
class GraphFusePass(ModulePass):
    """Group operators into future kernels.

    `strategy`: `patterns` (named patterns only), `greedy` (then automatic fusion), `none`.
    `objective`: `time`, `bytes` or `kernels`. `disable` and `only` name patterns. With `offload`
    operators that no kernel computes become graph.opaque.
    """

    name = "graph-fuse"

    strategy: str = "greedy"
    objective: str = "time"
    max_depth: int = 0
    max_ops: int = 32
    disable: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    target: str | None = None
    offload: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        enabled = self.strategy != "none"
        options = FusionOptions(
            self.strategy if enabled else "greedy",
            self.objective,
            self.max_depth,
            self.max_ops,
            frozenset(self.disable),
            frozenset(self.only),
            enabled,
        )
        fuse_module(op, options, self.target, offload=self.offload)
        op.attributes.pop(OBJECTIVE, None)
        judged = self.objective if enabled else UNFUSED
        if judged != "time":
            op.attributes[OBJECTIVE] = StringAttr(judged)
