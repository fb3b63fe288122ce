"""The log and fusion_result.json, from the remarks of a real plan."""

import json

from fusec.config.fusion_options import FusionOptions
from fusec.fusion.fuse import fuse_module
from fusec.fusion.remarks import Remark
from fusec.report.fusion_log import log_lines
from fusec.report.fusion_result import SESSION, fusion_result
from fusec_dialects.graph import FusedOp
from graph_modules import function

M = "tensor<64x64xf32>"


def plan(options: FusionOptions) -> tuple[list[Remark], list[str]]:
    module = function(
        f"%x: {M}",
        f"({M}, {M})",
        f"""%w = graph.weight "w" : {M}
        %0 = graph.matmul %x, %w : ({M}, {M}) -> {M} loc("product")
        %1 = graph.relu %0 : {M} -> {M} loc("activation")
        %2 = graph.matmul %1, %w : ({M}, {M}) -> {M} loc("second")
        func.return %1, %2 : {M}, {M}""",
    )
    remarks = fuse_module(module, options)
    return remarks, [op.pattern.data for op in module.walk() if isinstance(op, FusedOp)]


def test_log_by_level() -> None:
    remarks, groups = plan(FusionOptions(objective="kernels"))
    assert list(log_lines(remarks, groups, 0)) == []
    summary = list(log_lines(remarks, groups, 1))
    assert summary[0] == "Fusion summary: 2 kernels: matmul_relu 1, matmul 1"
    assert summary[1].startswith("Fusion summary: 1 merges refused: ")
    decisions = list(log_lines(remarks, groups, 2))
    assert any(line.startswith("Fusion fused: matmul_relu [") for line in decisions)
    assert any(line.startswith("Fusion refused: ") for line in decisions)
    assert len(list(log_lines(remarks, groups, 3))) >= len(decisions)
    assert all("Fusion" in line for line in log_lines(remarks, groups, 3))


def test_result_counts_matches_and_effects() -> None:
    remarks, groups = plan(FusionOptions(objective="kernels"))
    result = json.loads(json.dumps(fusion_result(remarks, groups, frozenset({"matmul_relu"}))))
    graph = result[SESSION]
    assert graph["graph_fusion"] == {
        "matmul_relu": {"match_times": "1", "effect_times": "1", "repository_hit_times": "0"}
    }
    (refused,) = [site for site in graph["sites"] if not site["applied"]]
    assert refused["legal"] is False and refused["profitable"] is None and refused["reason"]


def test_a_switched_off_fusion_matched_without_effect() -> None:
    off = FusionOptions(objective="kernels", disable=frozenset({"matmul_relu"}))
    remarks, groups = plan(off)
    graph = fusion_result(remarks, groups, frozenset({"matmul_relu"}))[SESSION]
    assert graph["graph_fusion"]["matmul_relu"]["effect_times"] == "0"
    site = next(s for s in graph["sites"] if s["fusion"] == "matmul_relu")
    assert site["reason"] == "disabled" and site["legal"] is None
