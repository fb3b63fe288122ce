"""Plans saved, edited and replayed; plans that do not fit are refused with the reason."""

import json
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from fusec.config.fusion_options import FusionOptions
from fusec.fusion.explain import Explanation
from fusec.fusion.fuse import fuse_module
from fusec_dialects.graph import FusedOp
from graph_modules import function

M = "tensor<64x64xf32>"
KERNELS = FusionOptions(objective="kernels")


def network(kind: str = "relu") -> ModuleOp:
    return function(
        f"%x: {M}, %y: {M}",
        M,
        f"""%w = graph.weight "w" : {M}
        %0 = graph.matmul %x, %w : ({M}, {M}) -> {M} loc("product")
        %1 = graph.{kind} %0 : {M} -> {M} loc("activation")
        %2 = graph.add %1, %y : ({M}, {M}) -> {M} loc("sum")
        %3 = graph.transpose %2 {{perm = [1, 0]}} : {M} -> {M} loc("turn")
        %4 = graph.softmax %3 : {M} -> {M} loc("soft")
        %5 = graph.matmul %4, %w : ({M}, {M}) -> {M} loc("second")
        func.return %5 : {M}""",
    )


def groups(module: ModuleOp) -> list[tuple[str, int]]:
    found = [op for op in module.walk() if isinstance(op, FusedOp)]
    return [(op.pattern.data, len(op.body.block.ops) - 1) for op in found]


def saved() -> tuple[dict[str, Any], list[tuple[str, int]]]:
    module = network()
    found: list[Explanation] = []
    fuse_module(module, KERNELS, explanations=found)
    return json.loads(json.dumps(found[0].plan)), groups(module)


def replayed(plan: object, module: ModuleOp | None = None) -> list[tuple[str, int]]:
    module = network() if module is None else module
    fuse_module(module, KERNELS, plan=plan)
    module.verify()
    return groups(module)


def test_a_replayed_plan_gives_the_same_groups() -> None:
    plan, expected = saved()
    assert replayed(plan) == expected


def test_an_edited_plan_gives_what_it_says() -> None:
    plan, _ = saved()
    names = [name for group in plan["groups"] for name in group["ops"]]
    plan["groups"] = [{"name": "mine", "ops": names[:2]}]
    assert replayed(plan)[0] == ("mine", 2)
    assert len(replayed(plan)) == 5


WRONG: dict[str, tuple[dict[str, Any] | None, str]] = {
    "no object": (None, "version 1"),
    "another version": ({"version": 2}, "version 1"),
    "another graph": ({"graph": "0"}, "make it anew"),
    "no list": ({"groups": 1}, "has to be a list"),
    "no group": ({"groups": [1]}, "has to be an object"),
    "no operators": ({"groups": [{"name": "a", "ops": []}]}, "no operator that computes"),
    "operators as text": ({"groups": [{"name": "a", "ops": "b"}]}, "a list of operators"),
    "an unknown operator": (
        {"groups": [{"name": "a", "ops": ["sotf"]}]},
        "unknown operator 'sotf'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_plans(name: str) -> None:
    plan, _ = saved()
    change, message = WRONG[name]
    with pytest.raises(PassFailedException, match=message):
        replayed([] if change is None else plan | change)


def test_an_operator_in_two_groups() -> None:
    plan, _ = saved()
    first = plan["groups"][0]["ops"][0]
    plan["groups"] = [{"name": "a", "ops": [first]}, {"name": "b", "ops": [first]}]
    with pytest.raises(PassFailedException, match="is in 'a' and in 'b'"):
        replayed(plan)


def test_a_group_that_is_not_legal_or_waits_for_itself() -> None:
    plan, _ = saved()
    names = [name for group in plan["groups"] for name in group["ops"]]
    views = [name for group in plan["groups"] for name in group.get("views", [])]
    plan["groups"] = [{"name": "everything", "ops": names + views}]
    with pytest.raises(PassFailedException, match="not legal"):
        replayed(plan)
    plan["groups"] = [{"name": "ends", "ops": [names[0], names[-1]]}]
    with pytest.raises(PassFailedException, match="wait for itself"):
        replayed(plan)


def test_a_plan_is_for_one_graph() -> None:
    plan, _ = saved()
    with pytest.raises(PassFailedException, match="it is for the graph"):
        replayed(plan, network("tanh"))
