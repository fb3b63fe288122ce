"""graph-fuse: operators of `main` become groups, each one future kernel.

Out: every operator that computes or moves is inside of a `graph.fused`; views, weights and what
follows from weights alone stay outside; operators that nothing needs are gone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from fusec.config.fusion_file import read_json
from fusec.config.fusion_options import DEFAULT_STRATEGY, FusionOptions, one_of
from fusec.fusion.build import Builder
from fusec.fusion.dag import Dag
from fusec.fusion.decompose import decompose
from fusec.fusion.explain import Explanation, explain
from fusec.fusion.horizontal import merge_parallel
from fusec.fusion.in_place import OBJECTIVE, UNFUSED
from fusec.fusion.legality import Legality
from fusec.fusion.own_kernels import put_own_kernels
from fusec.fusion.patterns import PARALLEL, all_patterns
from fusec.fusion.plan_cache import plan_with_cache
from fusec.fusion.planner import Planner
from fusec.fusion.remarks import Remark, report
from fusec.fusion.saved_plan import replay
from fusec.fusion.strategies import STRATEGIES
from fusec.graph.weights_function import NAME
from fusec.rewrite.driver import erase_dead_code
from fusec.schedule.target import module_target
from fusec.schedule.types import Refusal
from fusec_dialects.graph import OWN, FusedOp


def fuse_module(
    module: ModuleOp,
    options: FusionOptions,
    target: str | None = None,
    *,
    offload: bool = False,
    plan: object = None,
    explanations: list[Explanation] | None = None,
) -> list[Remark]:
    """Fuse every function of a module but `@weights`; gives what was done and refused.

    With `offload`, operators that no kernel computes are left to the host, as graph.opaque. `plan`
    is a saved one to replay in place of deciding; `explanations` gets one for each function. Raises
    PassFailedException on unknown names in the options.
    """
    options.check(all_patterns().keys(), STRATEGIES)
    chip = module_target(module, target)
    legality = Legality(chip)
    remarks: list[Remark] = []
    for function in list(module.body.block.ops):
        if not isinstance(function, FuncOp) or function.sym_name.data == NAME:
            continue
        block = function.body.block
        decompose(block)
        before = put_own_kernels(block, legality, chip, options)
        if options.automatic and options.allows(PARALLEL, automatic=True):
            merge_parallel(block)
        erase_dead_code(block)
        planner = Planner(Dag.of(block), legality, options)
        if plan is None:
            plan_with_cache(planner, chip)
        else:
            replay(planner, plan)
        if explanations is not None:
            explanations.append(explain(planner, before))
        hosted = planner.hosted(own_only=not offload)
        Builder(block, planner.cover, hosted).run()
        remarks += (*before, *planner.remarks, *_without_kernel(planner, hosted))
    return remarks


def _without_kernel(planner: Planner, hosted: Collection[int]) -> Iterator[Remark]:
    """Why the host computes operators of users'."""
    for i in sorted(hosted):
        refusal = planner.cost_of(planner.cover.owner[i])
        name, nodes = planner.dag.names[i], planner.dag.nodes(i)
        if name in OWN and isinstance(refusal, Refusal):
            yield Remark("refused", name, nodes, refusal.reason, refusal.message, refusal.numbers)


NONE = "none"
"""The strategy of the pass that fuses nothing."""


@dataclass(frozen=True)
class GraphFusePass(ModulePass):
    """Group operators into future kernels.

    `strategy`: `patterns` (named patterns only), `greedy` (then each edge once), `dp` (the best cut
    of a line of operators), `beam` (the best few plans up to each operator), `none`, or one that
    Python registered. Planning stops after `time_budget` seconds with the best plan so far.
    `objective`: `time`, `bytes` or `kernels`. `disable` and `only` name patterns; with `only`,
    automatic fusion has to be named too (`auto`). Groups of less than `min_ops` operators fall
    apart. `plan` is the file of a saved plan to replay, `plan_cache` a folder that keeps plans.
    With `offload` operators that no kernel computes become graph.opaque.
    """

    name = "graph-fuse"

    strategy: str = DEFAULT_STRATEGY
    objective: str = "time"
    max_depth: int = 0
    min_ops: int = 1
    max_ops: int = 32
    disable: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    plan: str | None = None
    time_budget: float = 0.0
    plan_cache: str | None = None
    target: str | None = None
    offload: bool = False

    @classmethod
    def of(cls, options: FusionOptions, *, offload: bool = False) -> GraphFusePass:
        """The pass that fuses as these options say."""
        return cls(
            strategy=options.strategy if options.enabled else "none",
            objective=options.objective,
            max_depth=options.max_depth,
            min_ops=options.min_ops,
            max_ops=options.max_ops,
            disable=tuple(sorted(options.disable)),
            only=None if options.only is None else tuple(sorted(options.only)),
            plan=options.plan,
            time_budget=options.time_budget,
            plan_cache=options.plan_cache,
            offload=offload,
        )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        one_of("strategy", self.strategy, (*STRATEGIES, NONE))
        enabled = self.strategy != NONE
        options = FusionOptions(
            strategy=self.strategy if enabled else DEFAULT_STRATEGY,
            objective=self.objective,
            max_depth=self.max_depth,
            min_ops=self.min_ops,
            max_ops=self.max_ops,
            disable=frozenset(self.disable),
            only=None if self.only is None else frozenset(self.only),
            enabled=enabled,
            time_budget=self.time_budget,
            plan_cache=self.plan_cache,
        )
        plan = read_json(Path(self.plan)) if self.plan is not None and enabled else None
        remarks = fuse_module(op, options, self.target, plan=plan, offload=self.offload)
        names = [f.pattern.data for f in op.walk() if isinstance(f, FusedOp)]
        report(remarks, names)
        op.attributes.pop(OBJECTIVE, None)
        judged = self.objective if enabled else UNFUSED
        if judged != "time":
            op.attributes[OBJECTIVE] = StringAttr(judged)
