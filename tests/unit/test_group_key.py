"""Groups that differ in sizes alone have one key, and one answer made from another is the same."""

from __future__ import annotations

from itertools import combinations

from fusec.fusion.dag import Dag
from fusec.fusion.group import Cover, Group
from fusec.fusion.group_key import GroupKeys
from fusec.fusion.legality import Legality
from fusec.hw import load_target
from fusec.schedule.types import Refusal
from fusec.semantics.interpreter import main_function
from graph_modules import parse


def layers(*sizes: tuple[int, int]) -> Dag:
    """For each [rows, columns]: add, softmax, product, relu; the product's weight is square."""
    lines: list[str] = []
    arguments: list[str] = []
    for at, (rows, columns) in enumerate(sizes):
        x, w = f"tensor<{rows}x{columns}xf32>", f"tensor<{columns}x{columns}xf32>"
        arguments += [f"%x{at}: {x}", f"%m{at}: {x}"]
        lines += [
            f'%w{at} = graph.weight "w{at}" : {w}',
            f"%a{at} = graph.add %x{at}, %m{at} : ({x}, {x}) -> {x}",
            f"%b{at} = graph.softmax %a{at} : {x} -> {x}",
            f"%c{at} = graph.matmul %b{at}, %w{at} : ({x}, {w}) -> {x}",
            f"%d{at} = graph.relu %c{at} : {x} -> {x}",
        ]
    results = ", ".join(f"%d{at}" for at in range(len(sizes)))
    types = ", ".join(f"tensor<{rows}x{columns}xf32>" for rows, columns in sizes)
    body = "\n".join([*lines, f"func.return {results} : {types}"])
    text = f"func.func @main({', '.join(arguments)}) -> ({types}) {{\n{body}\n}}"
    return Dag.of(main_function(parse(text)).body.block)


def groups(dag: Dag, layer: int) -> list[Group]:
    """All runs of operators of one layer."""
    ops = [i for i in range(5 * layer, 5 * layer + 5) if not dag.is_constant(i)]
    return [Group(set(ops[a:b]), "") for a, b in combinations(range(len(ops) + 1), 2)]


def keys(dag: Dag, layer: int) -> list[tuple[object, tuple[int, ...]] | None]:
    made, cover = GroupKeys(dag, {}), Cover.unfused(dag)
    found = [made.key(g.ops(), cover.outputs(g)) for g in groups(dag, 0)]
    assert all(k is not None for k in found)
    return [made.key(g.ops(), cover.outputs(g)) for g in groups(dag, layer)]


def test_other_sizes_have_the_same_key_and_equal_ones_another() -> None:
    dag = layers((96, 70), (130, 40), (64, 64), (96, 3))
    first, other, square, small = (
        [k for k in keys(dag, layer) if k is not None] for layer in range(4)
    )
    assert [k for k, _ in first] == [k for k, _ in other]
    assert first[0][1] == (96, 70) and other[0][1] == (130, 40)
    assert all(a != b for (a, _), (b, _) in zip(first, square, strict=True))
    assert all(a != b for (a, _), (b, _) in zip(first, small, strict=True))


def test_an_answer_by_template_is_that_of_a_search_and_within_its_bounds() -> None:
    target = load_target("ascend910b3")
    sizes = [(96, 70), (130, 40), (200, 300)]
    shared = Legality(target)
    dag = layers(*sizes)
    cover = Cover.unfused(dag)
    for layer in (0, 1):
        for group in groups(dag, layer):
            shared.cost(cover, group)
    for group in groups(dag, 2):
        bounds = shared.bounds(cover, group)
        found, alone = shared.cost(cover, group), Legality(target).cost(cover, group)
        assert found == alone
        if isinstance(found, Refusal):
            assert isinstance(bounds, Refusal) or bounds.most is None
            continue
        assert not isinstance(bounds, Refusal) and bounds.least <= found.us
        assert bounds.most is not None and found.us <= bounds.most


def test_a_mask_is_not_added_by_the_cube_before_a_softmax_outside() -> None:
    x = "tensor<64x64xf32>"
    text = (
        f"func.func @main(%x: {x}, %m: {x}) -> {x} {{\n"
        f'  %w = graph.weight "w" : {x}\n'
        f"  %0 = graph.matmul %x, %w : ({x}, {x}) -> {x}\n"
        f"  %1 = graph.add %0, %m : ({x}, {x}) -> {x}\n"
        f"  %2 = graph.add %1, %m : ({x}, {x}) -> {x}\n"
        f"  %3 = graph.softmax %2 : {x} -> {x}\n  func.return %3 : {x}\n}}"
    )
    dag = Dag.of(main_function(parse(text)).body.block)
    cover, legality = Cover.unfused(dag), Legality(load_target("ascend910b3"))
    refused = legality.cost(cover, Group({1, 2}, ""))
    assert isinstance(refused, Refusal) and refused.reason == "may-be-infinite"
    whole = legality.cost(cover, Group({1, 2, 3, 4}, ""))
    assert not isinstance(whole, Refusal) or whole.reason != "may-be-infinite"
