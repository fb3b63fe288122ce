"""Rotary embedding by pairs is raised without changing a bit, and is a named pattern."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from fusec import api
from fusec_dialects.graph import KernelOp
from graph_modules import apply, function, operators, random_inputs, run
from onnx_model import model_of


@pytest.mark.parametrize("shape", [(2, 3, 5, 8), (5, 6), (4, 2)])
@pytest.mark.parametrize("wide", [True, False])
def test_pairs_change_no_bit(shape: tuple[int, ...], wide: bool) -> None:
    rank, half = len(shape), (*shape[:-1], shape[-1] // 2)
    names = {
        "W": shape if wide else (1,),
        "T": shape,
        "H": half,
        "C": (*half, 1),
        "P": (*half, 2),
    }
    types = {key: f"tensor<{'x'.join(map(str, sizes))}xf32>" for key, sizes in names.items()}
    t, w, h, c, p = (types[key] for key in "TWHCP")
    ends = f"ends = [{shape[-1]}], axes = [{rank - 1}], steps = [2]"
    body = f"""
    %1 = graph.slice %x {{starts = [0], {ends}}} : {t} -> {h}
    %2 = graph.slice %x {{starts = [1], {ends}}} : {t} -> {h}
    %3 = graph.neg %2 : {h} -> {h}
    %4 = graph.unsqueeze %3 {{axes = [{rank}]}} : {h} -> {c}
    %5 = graph.unsqueeze %1 {{axes = [{rank}]}} : {h} -> {c}
    %6 = graph.concat %4, %5 {{axis = {rank}}} : ({c}, {c}) -> {p}
    %7 = graph.reshape %6 : {p} -> {t}
    %8 = graph.mul %x, %c : ({t}, {w}) -> {t}
    %9 = graph.mul %7, %s : ({t}, {w}) -> {t}
    %y = graph.add %8, %9 : ({t}, {t}) -> {t}
    func.return %y : {t}"""
    module = function(f"%x: {t}, %c: {w}, %s: {w}", t, body)
    inputs = random_inputs(module, 2)
    before = run(module, inputs)
    apply(module, "graph-raise")
    assert "neg" not in operators(module)
    assert run(module, inputs)[0].tobytes() == before[0].tobytes()


@pytest.mark.parametrize("interleaved", [0, 1])
def test_the_operator_of_onnx_is_the_named_pattern(interleaved: int) -> None:
    rng = np.random.default_rng(0)
    shapes = {"x": (2, 4, 16, 32), "c": (2, 16, 16), "s": (2, 16, 16)}
    inputs = {n: rng.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    node = helper.make_node("RotaryEmbedding", ["x", "c", "s"], ["y"], interleaved=interleaved)
    model = model_of([node], inputs, opset=23)
    compiled = api.compile(api.load(model), objective="kernels")
    names = [op.pattern.data for op in compiled.fused.walk() if isinstance(op, KernelOp)]
    assert ("rotary_interleaved" if interleaved else "rotary") in names
    x1, x2 = (
        (inputs["x"][..., ::2], inputs["x"][..., 1::2])
        if interleaved
        else (inputs["x"][..., :16], inputs["x"][..., 16:])
    )
    c, s = (inputs[n][:, None] for n in ("c", "s"))
    parts = x1 * c - x2 * s, x2 * c + x1 * s
    wanted = (
        np.stack(parts, -1).reshape(inputs["x"].shape) if interleaved else np.concatenate(parts, -1)
    )
    np.testing.assert_allclose(compiled.run(inputs, "npu")["y"], wanted, atol=1e-6)
