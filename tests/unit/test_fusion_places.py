"""Refusals are remembered by structure and name the place of the group that asks."""

from xdsl.ir import Operation

from fusec.fusion.build import group_block
from fusec.fusion.dag import Dag
from fusec.fusion.group import Cover, Group
from fusec.fusion.legality import Legality
from fusec.fusion.marks import placed
from fusec.hw import load_target
from fusec.schedule.types import Refusal
from fusec_dialects.place import place
from graph_modules import function, main_of

T = "tensor<8x6xf32>"
BODY = f"""
  %a = graph.relu %x : {T} -> {T} loc("first")
  %b = graph.cum_sum %a {{axis = 1}} : {T} -> {T} loc("second")
  %c = graph.relu %b : {T} -> {T} loc(fused["third", "fourth"])
  %d = graph.cum_sum %c {{axis = 1}} : {T} -> {T} loc(fused["fifth", "sixth"])
  %e = graph.relu %d : {T} -> {T}
  %f = graph.cum_sum %e {{axis = 1}} : {T} -> {T} loc(unknown)
  func.return %f : {T}"""


def refusals() -> list[str]:
    dag = Dag.of(main_of(function(f"%x: {T}", T, BODY)).body.block)
    cover, legality = Cover.unfused(dag), Legality(load_target("ascend910b3"))
    answers = [legality.cost(cover, Group({i, i + 1}, "relu_cum_sum")) for i in (0, 2, 4)]
    assert all(isinstance(a, Refusal) for a in answers)
    return [str(a) for a in answers]


def test_each_names_its_own_place() -> None:
    first, second, third = refusals()
    assert "node \"second\": 'graph.cum_sum'" in first
    assert 'node "sixth" with "fifth": \'graph.cum_sum\'' in second
    assert first.replace('node "second": ', "") == third
    assert "\x1a" not in first + second + third


def test_the_operators_keep_their_places() -> None:
    module = function(f"%x: {T}", T, BODY)
    before = str(module)
    ops: list[Operation] = list(main_of(module).body.block.ops)
    places = [op.location for op in ops]
    dag = Dag.of(main_of(module).body.block)
    Legality(load_target("ascend910b3")).cost(Cover.unfused(dag), Group({0, 1}, "x"))
    assert [op.location for op in ops] == places and str(module) == before


def test_where_a_pad_goes_into_a_convolution() -> None:
    """What is behind it is still called by its own name, and the convolution by both."""
    x, w, y = "tensor<1x16x8x8xf32>", "tensor<16x16x3x3xf32>", "tensor<1x16x10x10xf32>"
    attrs = "{strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]}"
    body = f"""
      %w = graph.weight "w" : {w} loc("w")
      %p = graph.pad %x {{pads = [0, 0, 1, 1, 0, 0, 1, 1]}} : {x} -> {y} loc("pad")
      %c = graph.conv %p, %w {attrs} : ({y}, {w}) -> {x} loc("conv")
      %s = graph.cum_sum %c {{axis = 1}} : {x} -> {x} loc("sum")
      func.return %s : {x}"""
    dag = Dag.of(main_of(function(f"%x: {x}", x, body)).body.block)
    group = Group({i for i in range(len(dag.ops)) if not dag.is_constant(i)}, "")
    conv, total, _ = group_block(Cover.unfused(dag), group, marked=True).block.ops
    messages = [placed(Refusal("no", place(op)), dag, group).message for op in (conv, total)]
    assert messages == [
        'node "conv" with "pad": \'graph.conv\'',
        "node \"sum\": 'graph.cum_sum'",
    ]
