"""The rewrite driver and the table form of a rule."""

import pytest
from xdsl.dialects.builtin import NameLoc
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import PassFailedException

from fusec.rewrite.driver import Rewriter, Rule, erase_dead_code, run_rules
from fusec.rewrite.match import Pattern, is_private, match, scalar_of
from fusec.rewrite.statistics import RuleCounts, counting
from fusec_dialects.graph import GraphOp
from graph_modules import check, function, main_of

T = "tensor<4xf32>"


def chain(*names: str) -> str:
    """x through unary operators; the result of the last is returned."""
    lines: list[str] = []
    for i, name in enumerate(names):
        source = f"%{i - 1}" if i else "%x"
        lines.append(f'%{i} = graph.{name} {source} : {T} -> {T} loc("n{i}")')
    return "\n".join([*lines, f"func.return %{len(names) - 1} : {T}"])


def becomes(old: str, new: str, benefit: int = 1, name: str = "") -> Rule:
    """Replaces a unary operator by another one."""

    def apply(op: GraphOp, rewriter: Rewriter) -> bool:
        return rewriter.replace(rewriter.build(new, [op.operands[0]]))

    return Rule(name or f"{old}-to-{new}", (f"graph.{old}",), apply, benefit)


def names_in(module_text: str) -> list[str]:
    lines = [line for line in module_text.splitlines() if "graph." in line]
    return [line.split("graph.")[1].split()[0] for line in lines]


def test_what_fires_is_counted_and_keeps_its_place() -> None:
    module = function(f"%x: {T}", T, chain("exp", "abs", "exp"))
    assert run_rules(module, [becomes("exp", "log")]) == {"exp-to-log": 2}
    check(module)
    ops = [op for op in main_of(module).body.block.ops if isinstance(op, GraphOp)]
    assert [op.op_name for op in ops] == ["log", "abs", "log"]
    places = [op.location.desc.data for op in ops if isinstance(op.location, NameLoc)]
    assert places == ["n0", "n1", "n2"]


def test_new_operators_are_tried_in_their_turn() -> None:
    module = function(f"%x: {T}", T, chain("exp"))
    fired = run_rules(module, [becomes("exp", "log"), becomes("log", "abs")])
    assert fired == {"exp-to-log": 1, "log-to-abs": 1}


def test_more_benefit_is_tried_first_whatever_the_order() -> None:
    low, high = becomes("exp", "log", 1), becomes("exp", "abs", 2)
    for rules in ([low, high], [high, low]):
        module = function(f"%x: {T}", T, chain("exp"))
        assert run_rules(module, rules) == {"exp-to-abs": 1}
    tied = [becomes("exp", "abs", name="first"), becomes("exp", "log", name="second")]
    assert run_rules(function(f"%x: {T}", T, chain("exp")), tied) == {"first": 1}


@pytest.mark.parametrize("names", [("abs", "exp"), ("exp", "exp", "abs", "exp"), ("log", "neg")])
def test_rules_that_undo_each_other_are_named(names: tuple[str, ...]) -> None:
    """Whatever other rules fire beside them, at one place or at several at once."""
    module = function(f"%x: {T}", T, chain(*names))
    rules = [becomes("exp", "log"), becomes("log", "exp"), becomes("abs", "neg")]
    with pytest.raises(PassFailedException) as caught:
        run_rules(module, rules)
    text = str(caught.value)
    assert text.startswith('node "n') and "rewriting does not end after" in text
    named = "'exp-to-log' (graph.exp to graph.log)", "'log-to-exp' (graph.log to graph.exp)"
    assert any(f"the rules {a} and {b} undo each other" in text for a, b in (named, named[::-1]))
    assert "abs-to-neg" not in text


def test_a_circle_of_three_and_a_rule_that_feeds_itself() -> None:
    rules = [becomes("exp", "log"), becomes("log", "sqrt"), becomes("sqrt", "exp")]
    with pytest.raises(PassFailedException) as caught:
        run_rules(function(f"%x: {T}", T, chain("exp")), rules)
    text = str(caught.value)
    assert all(rule.name in text for rule in rules) and "undo one another in a circle" in text
    with pytest.raises(PassFailedException, match=r"the rule 'exp-to-exp' .* applies to what it"):
        run_rules(function(f"%x: {T}", T, chain("exp", "abs")), [becomes("exp", "exp")])


def test_counts_for_who_listens() -> None:
    """A rule without an operator to look at is there too; nobody pays who does not listen."""

    def found(op: GraphOp, rewriter: Rewriter) -> bool:
        rewriter.found = True
        return False

    def never(op: GraphOp, rewriter: Rewriter) -> bool:
        return False

    rules = [
        becomes("exp", "log"),
        Rule("never", ("graph.exp", "graph.abs"), never, 2),
        Rule("found", ("graph.abs",), found),
        becomes("sqrt", "neg"),
    ]
    with counting() as counts:
        run_rules(function(f"%x: {T}", T, chain("exp", "abs", "exp")), rules)
    run_rules(function(f"%x: {T}", T, chain("exp")), rules)
    assert counts["exp-to-log"] == RuleCounts(2, 2, 2)
    assert counts["found"].matched == counts["found"].tried > 0 == counts["found"].applied
    assert counts["never"].tried >= 3 and counts["never"].matched == counts["never"].applied == 0
    assert counts["sqrt-to-neg"] == RuleCounts()


def located(names: str, body: str, rule: Rule) -> list[tuple[str, str]]:
    """Operators with their locations after one rule; the body's operators are called by letters."""
    lines = [f'{line} loc("{n}")' for n, line in zip(names, body.strip().splitlines(), strict=True)]
    last = lines[-1].split(" = ")[0].strip()
    text = "\n".join([*lines, f"func.return {last} : {T}"])
    module = function(f"%x: {T}, %y: {T}", T, text)
    assert run_rules(module, [rule]) == {rule.name: 1}
    ops = [op for op in main_of(module).body.block.ops if isinstance(op, GraphOp)]
    return [(op.op_name, str(op.location)[4:-1]) for op in ops]


def test_what_is_made_of_several_names_them_all() -> None:
    """A producer that only feeds what went away with the other operand is no part of it."""
    body = f"""
      %0 = graph.exp %x : {T} -> {T}
      %1 = graph.log %0 : {T} -> {T}
      %2 = graph.sqrt %y : {T} -> {T}
      %3 = graph.add %1, %2 : ({T}, {T}) -> {T}"""

    def apply(op: GraphOp, rewriter: Rewriter) -> bool:
        inner = op.operands[0].owner
        if not isinstance(inner, GraphOp) or inner.op_name != "log":
            return False
        source = inner.operands[0].owner
        assert isinstance(source, GraphOp)
        return rewriter.replace(rewriter.build("abs", [source.operands[0]]))

    rule = Rule("all", ("graph.add",), apply)
    assert located("abcd", body, rule) == [("abs", 'fused["a", "b", "d"]')]


def test_operators_that_change_places_keep_their_names() -> None:
    """neg(a) + neg(b) to neg(a + b): the sum is the sum's, the negation both negations'."""
    body = f"""
      %0 = graph.neg %x : {T} -> {T}
      %1 = graph.neg %y : {T} -> {T}
      %2 = graph.add %0, %1 : ({T}, {T}) -> {T}"""

    def apply(op: GraphOp, rewriter: Rewriter) -> bool:
        owners = [o.owner for o in op.operands]
        if not all(isinstance(o, GraphOp) and o.op_name == "neg" for o in owners):
            return False
        inner = [o.operands[0] for o in owners if isinstance(o, GraphOp)]
        return rewriter.replace(rewriter.build("neg", [rewriter.build("add", inner)]))

    rule = Rule("sum", ("graph.add",), apply)
    assert located("abc", body, rule) == [("add", '"c"'), ("neg", 'fused["a", "b"]')]


def test_the_cap_is_for_all_rules_together() -> None:
    module = function(f"%x: {T}", T, chain("exp", "exp", "exp"))
    assert run_rules(module, [becomes("exp", "log")], cap=3).total() == 3
    module = function(f"%x: {T}", T, chain("exp", "exp", "exp"))
    with pytest.raises(PassFailedException, match="'exp-to-log' 3 times"):
        run_rules(module, [becomes("exp", "log")], cap=2)


def test_a_rule_that_says_no_leaves_nothing_behind() -> None:
    def tempted(op: GraphOp, rewriter: Rewriter) -> bool:
        rewriter.build("neg", [rewriter.build("abs", [op.operands[0]])])
        return False

    module = function(f"%x: {T}", T, chain("exp"))
    before = str(module)
    rules = [Rule("tempted", ("graph.exp",), tempted, 5), becomes("exp", "log")]
    assert run_rules(module, rules) == {"exp-to-log": 1}
    assert str(module) == before.replace("graph.exp", "graph.log")


def test_an_operator_is_tried_again_once_it_is_the_only_user() -> None:
    """Here `exp` is the second user of `abs` until the dead code behind `log` goes away."""

    def alone(op: GraphOp, rewriter: Rewriter) -> bool:
        return op.operands[0].has_one_use() and rewriter.replace(op.operands[0])

    def drop(op: GraphOp, rewriter: Rewriter) -> bool:
        return rewriter.replace(op.operands[1])

    body = f"""
      %0 = graph.abs %x : {T} -> {T}
      %1 = graph.exp %0 : {T} -> {T}
      %2 = graph.log %0 : {T} -> {T}
      %3 = graph.neg %2 : {T} -> {T}
      %4 = graph.sqrt %1 : {T} -> {T}
      %5 = graph.add %3, %4 : ({T}, {T}) -> {T}
      func.return %5 : {T}"""
    module = function(f"%x: {T}", T, body)
    rules = [Rule("alone", ("graph.exp",), alone), Rule("drop", ("graph.add",), drop)]
    assert run_rules(module, rules) == {"drop": 1, "alone": 1}
    assert names_in(str(module)) == ["abs", "sqrt"]


def test_producers_without_users_go_away() -> None:
    module = function(f"%x: {T}", T, chain("exp", "log", "abs"))
    skip = Rule("skip", ("graph.abs",), lambda op, r: r.replace(main_of(module).body.block.args[0]))
    run_rules(module, [skip])
    assert names_in(str(module)) == []


def test_dead_code_is_pure_code() -> None:
    body = f"""
      %0 = "test.op"() : () -> {T}
      %1 = graph.exp %x : {T} -> {T}
      %2 = graph.log %1 : {T} -> {T}
      func.return %x : {T}"""
    module = function(f"%x: {T}", T, body)
    assert erase_dead_code(main_of(module).body.block) == 2
    assert '"test.op"' in str(module)


# Patterns.

PATTERN_BODY = f"""
  %half = graph.constant dense<0.5> : tensor<f32>
  %third = graph.constant dense<0.333333343> : tensor<1xf32>
  %halves = graph.constant dense<0.5> : {T}
  %0 = graph.exp %x : {T} -> {T}
  %1 = graph.mul %half, %0 : (tensor<f32>, {T}) -> {T}
  %2 = graph.add %1, %y : ({T}, {T}) -> {T}
  %3 = graph.mul %third, %2 : (tensor<1xf32>, {T}) -> {T}
  %4 = graph.mul %3, %halves : ({T}, {T}) -> {T}
  %5 = graph.mul %x, %y : ({T}, {T}) -> {T}
  %6 = graph.add %5, %y : ({T}, {T}) -> {T}
  %7 = graph.sub %6, %x : ({T}, {T}) -> {T}
  func.return %4, %7, %2 : {T}, {T}, {T}"""


def value(number: int) -> SSAValue:
    module = function(f"%x: {T}, %y: {T}", f"({T}, {T}, {T})", PATTERN_BODY)
    ops = [op for op in main_of(module).body.block.ops if isinstance(op, GraphOp)]
    return ops[number].results[0]


@pytest.mark.parametrize(
    ("number", "pattern", "found"),
    [
        (0, ("exp", "a"), True),
        (0, ("log", "a"), False),
        (1, ("mul", ("exp", "a"), 0.5), True),
        (1, ("mul", ("exp", "a"), 0.50001), False),
        (2, ("add", "b", ("mul", 0.5, ("exp", "a"))), True),
        (3, ("mul", "a", 1.0 / 3.0), True),
        (3, ("mul", "a", 0.3333), False),
        (4, ("mul", "a", 0.5), False),
        (5, ("mul", "a", "b"), True),
        (5, ("mul", "a", "a"), False),
        (6, ("add", ("mul", "a", "b"), "b"), True),
        (6, ("add", ("mul", "a", "b"), "a"), True),
        (6, ("add", ("mul", "a", "a"), "b"), False),
        (7, ("sub", ("add", "c", "b"), "a"), True),
        (7, ("sub", "a", ("add", "c", "b")), False),
        (7, ("sub", ("add", ("mul", "a", "b"), "b"), "a"), True),
        (7, ("sub", ("add", ("mul", "a", "b"), "a"), "b"), True),
    ],
)
def test_patterns(number: int, pattern: Pattern, found: bool) -> None:
    """Any order of commutative operands is tried, in every combination; a capture is one value."""
    assert (match(value(number), pattern) is not None) == found


def test_captures_and_privacy() -> None:
    result = value(6)
    found = match(result, ("add", ("mul", "a", "b"), "b"))
    assert found is not None
    assert [op.name for op in found.ops] == ["graph.add", "graph.mul"]
    assert found.values["b"].name_hint == "y" and found.values["a"].name_hint == "x"
    root = found.ops[0]
    assert is_private(root, found)
    whole = match(value(3), ("mul", ("add", ("mul", "a", "h"), "b"), "c"))
    assert whole is not None and not is_private(whole.ops[0], whole)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("dense<2.5> : tensor<f32>", 2.5),
        ("dense<2.5> : tensor<1x1xf32>", 2.5),
        ("dense<7> : tensor<i64>", 7.0),
        ("dense<true> : tensor<i1>", 1.0),
        ('dense<"0x803F"> : tensor<bf16>', 1.0),
        ("dense<2.5> : tensor<2xf32>", None),
    ],
)
def test_numbers_are_constants_of_one_element(text: str, number: float | None) -> None:
    type_ = text.split(": ")[1]
    module = function("", type_, f"%c = graph.constant {text}\nfunc.return %c : {type_}")
    constant = next(iter(main_of(module).body.block.ops)).results[0]
    assert scalar_of(constant) == number
