"""Static shapes for a module of text: names are replaced wherever they stand, the rest follows."""

import pytest

from fusec.frontends.errors import ImportFailure
from fusec.frontends.static_shapes import give_shapes
from graph_modules import check, function, main_of

X = "tensor<?x?x8xf32, #graph.dims<[N, S, 8]>>"
SPLIT = "tensor<?x?x2x4xf32, #graph.dims<[N, S, 2, 4]>>"
TURNED = "tensor<?x2x?x4xf32, #graph.dims<[N, 2, S, 4]>>"
FLAT = "tensor<?x8xf32>"
BODY = f"""
  %0 = graph.reshape %x : {X} -> {SPLIT}
  %1 = graph.fused "transpose"(%a = %0 : {SPLIT}) -> {TURNED} {{
    %2 = graph.transpose %a {{perm = [0, 2, 1, 3]}} : {SPLIT} -> {TURNED}
    graph.yield %2 : {TURNED}
  }}
  %3 = graph.reshape %x : {X} -> {FLAT}
  func.return %1, %3 : {TURNED}, {FLAT}"""
ARGUMENTS = (
    f'%x: {X} {{graph.name = "x"}}, '
    '%y: tensor<?xf32, #graph.dims<[N]>> {graph.name = "y"}, %z: tensor<?x8xf32> {graph.name = "z"}'
)


def test_names_are_replaced_everywhere() -> None:
    module = function(ARGUMENTS, f"({TURNED}, {FLAT})", BODY)
    give_shapes(main_of(module), {"x": (2, 6, 8)})
    check(module)
    text = str(module)
    assert "%y: tensor<2xf32>" in text and "%z: tensor<?x8xf32>" in text
    assert "(tensor<2x2x6x4xf32>, tensor<12x8xf32>)" in text
    assert "graph.transpose %a {perm = [0, 2, 1, 3]} : tensor<2x6x2x4xf32> ->" in text
    assert "graph.dims" not in text


def test_some_sizes_may_stay_open() -> None:
    module = function(ARGUMENTS, f"({TURNED}, {FLAT})", BODY)
    give_shapes(main_of(module), {"y": (2,)})
    check(module)
    text = str(module)
    assert "%x: tensor<2x?x8xf32, #graph.dims<[2, S, 8]>>" in text
    assert "tensor<2x2x?x4xf32, #graph.dims<[2, 2, S, 4]>>" in text


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"w": (1,)}, "--shape names 'w', but the inputs are x, y, z"),
        ({"z": (1, 9)}, "--shape z=1x9 does not fit the model's ?x8"),
        ({"x": (2, 6, 8), "y": (3,)}, "--shape y=3 makes N 3, another one makes it 2"),
    ],
)
def test_shapes_that_do_not_fit(shapes: dict[str, tuple[int, ...]], message: str) -> None:
    module = function(ARGUMENTS, f"({TURNED}, {FLAT})", BODY)
    with pytest.raises(ImportFailure) as caught:
        give_shapes(main_of(module), shapes)
    assert str(caught.value) == message
