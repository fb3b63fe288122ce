"""What a refusal says a kernel computes."""

from __future__ import annotations

from pathlib import Path

import fusec
from fusec.export.kernel_contents import kernel_contents
from networks import perceptron


def test_operators_and_types_of_each_kernel(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(perceptron(dtype="float16"))
    model = fusec.load(path)
    fused = fusec.fuse(model, objective="kernels")
    assert list(kernel_contents(fused.module).values()) == ["matmul, add, relu (f16)"]


def test_constants_are_left_out_and_types_listed_once(tmp_path: Path) -> None:
    text = """
func.func @main(%x: tensor<4x8xi32>) -> tensor<4x8xf32> {
  %c = graph.constant dense<2.0> : tensor<f32>
  %a = graph.cast %x {to = f32} : tensor<4x8xi32> -> tensor<4x8xf32>
  %b = graph.mul %a, %c : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %d = graph.mul %b, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %d : tensor<4x8xf32>
}"""
    path = tmp_path / "net.mlir"
    path.write_text(text)
    fused = fusec.fuse(fusec.load(path), objective="kernels")
    assert list(kernel_contents(fused.module).values()) == ["cast, mul (i32, f32)"]
