"""A graph of dynamic shapes loses only the fusions that cannot be proved, each with its reason."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

from fusec.api import run_passes
from fusec.config.fusion_options import FusionOptions
from fusec.fusion.fuse import fuse_module
from fusec_dialects.graph import FusedOp
from graph_modules import function


def of(*dims: str) -> str:
    """A type of f32 with named sizes (upper case), nameless ones (?) and numbers."""
    shape = "x".join("?" if d == "?" or d.isalpha() else d for d in dims)
    encoding = f", #graph.dims<[{', '.join(dims)}]>" if any(map(str.isalpha, dims)) else ""
    return f"tensor<{shape}xf32{encoding}>"


N, M, ANY, W = of("N", "64"), of("M", "64"), of("?", "64"), of("64", "64")


def network(x: str, y: str, *body: str, result: str) -> ModuleOp:
    module = function(f"%x: {x}, %y: {y}", result, "\n".join((*body, f"func.return %r : {result}")))
    run_passes(module, "prepare")
    return module


def groups(module: ModuleOp) -> tuple[list[str], dict[str, str]]:
    """Names of the groups, and why the others are none, by reason."""
    remarks = fuse_module(module, FusionOptions(objective="kernels"))
    names = [op.pattern.data for op in module.walk() if isinstance(op, FusedOp)]
    return names, {r.reason: r.message for r in remarks if r.kind == "refused"}


def test_equal_names_are_equal_sizes() -> None:
    module = network(
        *(N, N),
        f"%0 = graph.add %x, %y : ({N}, {N}) -> {N}",
        f"%1 = graph.exp %0 : {N} -> {N}",
        f"%r = graph.softmax %1 : {N} -> {N}",
        result=N,
    )
    names, refused = groups(module)
    assert len(names) == 1 and refused == {}


def test_a_product_with_its_epilogue() -> None:
    module = network(
        *(N, W),
        f"%0 = graph.matmul %x, %y : ({N}, {W}) -> {N}",
        f"%r = graph.relu %0 : {N} -> {N}",
        result=N,
    )
    assert groups(module)[0] == ["matmul_relu"]


def test_sizes_without_names_follow_from_operands() -> None:
    module = network(
        *(ANY, W),
        f"%0 = graph.exp %x : {ANY} -> {ANY}",
        f"%r = graph.relu %0 : {ANY} -> {ANY}",
        result=ANY,
    )
    assert groups(module)[0] == ["exp_relu"]


@pytest.mark.parametrize(("x", "y"), [(N, M), (N, ANY), (ANY, ANY)])
def test_what_needs_two_sizes_to_agree_is_not_proved(x: str, y: str) -> None:
    """The rest of the graph, a static part and a dynamic one, still fuses."""
    module = network(
        *(x, y),
        f"%a = graph.exp %x : {x} -> {x}",
        f"%b = graph.abs %a : {x} -> {x}",
        f"%0 = graph.add %b, %y : ({x}, {y}) -> {ANY}",
        f"%w = graph.constant dense<2.0> : {W}",
        f"%r = graph.relu %0 : {ANY} -> {ANY}",
        result=ANY,
    )
    names, refused = groups(module)
    assert names == ["exp_abs", "add", "relu"]
    assert list(refused) == ["dynamic-shape"]
    assert "'graph.add': nothing says that its sizes agree: with" in refused["dynamic-shape"]
    assert "name them alike, or fix them with --shape" in refused["dynamic-shape"]


def test_a_size_that_follows_from_nothing() -> None:
    flat = of("?")
    module = network(
        *(of("N", "M"), W),
        f"%0 = graph.reshape %x : {of('N', 'M')} -> {flat}",
        f"%1 = graph.exp %0 : {flat} -> {flat}",
        f"%r = graph.relu %1 : {flat} -> {flat}",
        result=flat,
    )
    names, _ = groups(module)
    assert names == ["exp_relu"], "behind the view a nameless size is one size"


def test_the_text_stays_dynamic_and_lowering_says_how_to_go_on() -> None:
    module = network(
        *(N, W),
        f"%0 = graph.exp %x : {N} -> {N}",
        f"%r = graph.relu %0 : {N} -> {N}",
        result=N,
    )
    run_passes(module, "optimise")
    assert "graph.relu" in str(module) and "61" not in str(module)
    with pytest.raises(Exception, match=r"dynamic-shape: .* fix them with --shape NAME=AxB"):
        run_passes(module, "compile")
