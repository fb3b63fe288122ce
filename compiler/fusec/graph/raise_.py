"""graph-raise: composite operators put back together from the operators that exporters write.

GELU and other activations, norms, softmax and attention; rotary embeddings by halves and by pairs;
products of dequantised integers; affine maps behind a convolution. Each rule is an equality of real
numbers; labels as in `spelling.Spelling`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from fusec.graph.raise_activation import ACTIVATION_RULES
from fusec.graph.raise_affine import AFFINE_RULES
from fusec.graph.raise_attention import ATTENTION_RULES
from fusec.graph.raise_gelu import GELU_RULES
from fusec.graph.raise_integer import INTEGER_RULES
from fusec.graph.raise_norm import GROUP_NORM_RULES, INSTANCE_NORM_RULES, NORM_RULES
from fusec.graph.raise_rotary import ROTARY_RULES
from fusec.rewrite.driver import Rule, run_rules

RULES: dict[str, tuple[Rule, ...]] = {
    "integer": INTEGER_RULES,
    "gelu": GELU_RULES,
    "activation": ACTIVATION_RULES,
    "group_norm": GROUP_NORM_RULES,
    "instance_norm": INSTANCE_NORM_RULES,
    "norm": NORM_RULES,
    "attention": ATTENTION_RULES,
    "rotary": ROTARY_RULES,
    "affine": AFFINE_RULES,
}
"""Rules by what they raise to, in the order in which they run."""

NEEDS: dict[str, frozenset[str]] = {
    "integer": frozenset({"cast"}),
    "gelu": frozenset({"erf", "tanh"}),
    "group_norm": frozenset({"reduce_mean"}),
    "instance_norm": frozenset({"reduce_mean"}),
    "norm": frozenset({"reduce_mean", "reduce_max", "reduce_sum", "softmax"}),
    "attention": frozenset({"softmax"}),
    "rotary": frozenset({"concat"}),
    "affine": frozenset({"conv", "batch_normalization"}),
}
"""Operators one of which every rule of a group is about: without them it has nothing to find."""


@dataclass(frozen=True)
class GraphRaisePass(ModulePass):
    """Raise to composite operators; `only` names some of the groups of rules (default all)."""

    name = "graph-raise"

    only: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for name in self.only:
            if name not in RULES:
                raise PassFailedException(
                    f"graph-raise: unknown rules '{name}', expected some of {', '.join(RULES)}"
                )
        for name, rules in RULES.items():
            if (not self.only or name in self.only) and _may_fire(op, name):
                run_rules(op, rules)


def _may_fire(module: ModuleOp, name: str) -> bool:
    wanted = {f"graph.{operator}" for operator in NEEDS.get(name, ())}
    return not wanted or any(op.name in wanted for op in module.walk())
