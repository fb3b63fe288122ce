"""Groups that differ in sizes alone have one key, and one answer made from another is the same."""

from __future__ import annotations

from itertools import combinations

from fusec.fusion.build import group_block
from fusec.fusion.chained import Chained
from fusec.fusion.dag import Dag
from fusec.fusion.group import Cover, Group
from fusec.fusion.group_key import GroupKeys
from fusec.fusion.legality import Legality
from fusec.hw import Target, load_target
from fusec.schedule.region import Region
from fusec.schedule.schedule import schedule
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


def blocks(*sizes: tuple[int, int, int], kernel: int = 3, groups: int = 1) -> Dag:
    """For each (channels, other channels, side): batch norm, relu, convolution, concat with what
    was normalised."""
    lines: list[str] = []
    arguments: list[str] = []
    results: list[str] = []
    types: list[str] = []
    for at, (channels, others, side) in enumerate(sizes):
        x, y, z = (
            f"tensor<1x{c}x{side}x{side}xf32>" for c in (channels, others, channels + others)
        )
        v, w = f"tensor<{channels}xf32>", f"tensor<{others}x{channels}x{kernel}x{kernel}xf32>"
        arguments.append(f"%x{at}: {x}")
        results.append(f"%e{at}")
        types.append(z)
        pads = ", ".join(4 * [str(kernel // 2)])
        lines += [f'%{n}{at} = graph.weight "{n}{at}" : {v}' for n in "smbv"]
        lines += [
            f'%w{at} = graph.weight "w{at}" : {w}',
            f"%a{at} = graph.batch_normalization %x{at}, %s{at}, %b{at}, %m{at}, %v{at} "
            f": ({x}, {v}, {v}, {v}, {v}) -> {x}",
            f"%c{at} = graph.relu %a{at} : {x} -> {x}",
            f"%d{at} = graph.conv %c{at}, %w{at} {{pads = [{pads}], strides = [1, 1], "
            f"dilations = [1, 1], group = {groups}}} : ({x}, {w}) -> {y}",
            f"%e{at} = graph.concat %x{at}, %d{at} {{axis = 1}} : ({x}, {y}) -> {z}",
        ]
    body = "\n".join([*lines, f"func.return {', '.join(results)} : {', '.join(types)}"])
    text = f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)}) {{\n{body}\n}}"
    return Dag.of(main_function(parse(text)).body.block)


def runs(dag: Dag, layer: int) -> list[Group]:
    """All runs of a block's operators."""
    ops = [i for i in range(9 * layer, 9 * layer + 9) if not dag.is_constant(i)]
    return [Group(set(ops[a:b]), "") for a, b in combinations(range(len(ops) + 1), 2)]


def test_convolutions_of_other_sizes_are_answered_as_a_search_does() -> None:
    target = load_target("ascend910b3")
    for kernel in (1, 3):
        dag = blocks((64, 32, 28), (96, 40, 56), (224, 128, 20), kernel=kernel)
        cover, shared = Cover.unfused(dag), Legality(target)
        for layer in (0, 1):
            for group in runs(dag, layer):
                shared.cost(cover, group)
        for group in runs(dag, 2):
            names = [dag.names[i] for i in group.ops()]
            bounds, alone = shared.bounds(cover, group), Legality(target).cost(cover, group)
            assert shared.cost(cover, group) == alone, names
            if isinstance(alone, Refusal):
                assert bounds == alone or not isinstance(bounds, Refusal), names
                continue
            assert not isinstance(bounds, Refusal) and bounds.least <= alone.us, names
            if names != ["concat"]:
                assert bounds.most is not None and alone.us <= bounds.most, names


def test_what_no_kernel_does_is_refused_whatever_the_sizes_are() -> None:
    dag = blocks((64, 32, 28), (96, 40, 56))
    cover, legality = Cover.unfused(dag), Legality(load_target("ascend910b3"))
    first, other = ([g for g in runs(dag, layer) if len(g.owned) == 2][-1] for layer in (0, 1))
    before = legality.bounds(cover, other)
    refused = legality.cost(cover, first)
    assert isinstance(refused, Refusal) and refused.reason == "operator"
    after = legality.bounds(cover, other)
    assert not isinstance(before, Refusal) and isinstance(after, Refusal)
    assert after == Legality(load_target("ascend910b3")).cost(cover, other)


def test_contractions_that_wait_for_each_other_are_refused_as_a_search_does() -> None:
    target, x = load_target("ascend910b3"), "tensor<64x64xf32>"
    text = (
        f"func.func @main(%x: {x}, %w: {x}) -> {x} {{\n"
        f"  %0 = graph.matmul %x, %w : ({x}, {x}) -> {x}\n"
        f"  %1 = graph.matmul %x, %0 : ({x}, {x}) -> {x}\n"
        f"  %2 = graph.matmul %x, %w : ({x}, {x}) -> {x}\n"
        f"  %3 = graph.add %1, %2 : ({x}, {x}) -> {x}\n  func.return %3 : {x}\n}}"
    )
    dag = Dag.of(main_function(parse(text)).body.block)
    chained, cover = Chained(dag), Cover.unfused(dag)
    quick = chained.refusal(Group({0, 1}, ""))
    assert quick is not None and quick == searched(cover, Group({0, 1}, ""), target)
    assert chained.refusal(Group({1, 2, 3}, "")) is None and chained.refusal(Group({0}, "")) is None


def searched(cover: Cover, group: Group, target: Target) -> object:
    """What a search says of a group."""
    return schedule(Region.of_block(group_block(cover, group).block), target)
