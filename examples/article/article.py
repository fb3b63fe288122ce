"""The Python of Huawei's article on graph-autofusion, its import lines changed and nothing else.

Run it in a folder of its own: it writes a small network, then two pictures. Marked lines begin what
the article has; what it takes as given (a model, an input) is made here. Times are modelled.
"""

# ruff: noqa: E402, F401 (imports stand where the article has them, with what it imports)

from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

import fusec

Path("network.mlir").write_text("""
builtin.module attributes {graph.source = "network.safetensors"} {
  func.func @main(%x: tensor<128x128xf16>) -> tensor<128x128xf16> {
    %w = graph.weight "w" : tensor<128x128xf16>
    %b = graph.weight "b" : tensor<128xf16>
    %0 = graph.matmul %x, %w
      : (tensor<128x128xf16>, tensor<128x128xf16>) -> tensor<128x128xf16> loc("product")
    %1 = graph.add %0, %b
      : (tensor<128x128xf16>, tensor<128xf16>) -> tensor<128x128xf16> loc("bias")
    %2 = graph.relu %1 : tensor<128x128xf16> -> tensor<128x128xf16> loc("activation")
    %3 = graph.softmax %2 : tensor<128x128xf16> -> tensor<128x128xf16> loc("normalise")
    func.return %3 : tensor<128x128xf16>
  }
}
""")
values = np.random.default_rng(0)
weights = {"w": values.standard_normal((128, 128)) / 16, "b": values.standard_normal(128)}
save_file({name: w.astype(np.float16) for name, w in weights.items()}, "network.safetensors")


class Tensor(np.ndarray):
    """An array with the one method of a torch tensor that the article calls."""

    def to(self, dtype):
        """The same values in another type."""
        return self.astype(dtype)


tensor = values.standard_normal((128, 128), np.float32).view(Tensor)
model = fusec.load("network.mlir")
is_dynamic_shape_model = False

# -- the article: the Python interface -------------------------------------------------------------
import numpy as torch  # import torch

import fusec as torch_npu  # import torch_npu

torch_npu.npu.set_option({"enable_fusion": True})
if is_dynamic_shape_model:
    torch_npu.npu.set_option({"enable_fusion": False})

# -- the article: the type of a tensor -------------------------------------------------------------
if tensor.dtype != torch.float16:
    tensor = tensor.to(torch.float16)

input_tensor = tensor

# -- the article: an own fusion --------------------------------------------------------------------
from fusec.opbase import OperatorBase, RegFusion, RegOp, ascendc  # from opbase import ...


@RegFusion("MatMulAddReluFusion")
class MatMulAddReluFusion(OperatorBase):
    """自定义MatMul+Add+ReLU融合算子"""

    def __init__(self):
        super().__init__()
        self.add_input("matmul_input_a")
        self.add_input("matmul_input_b")
        self.add_input("add_bias")
        self.add_output("output")

    def compute(self, inputs, outputs):
        a, b, bias = inputs[0], inputs[1], inputs[2]
        matmul_result = ascendc.matmul(a, b)
        add_result = ascendc.add(matmul_result, bias)
        relu_result = ascendc.relu(add_result)
        outputs[0] = relu_result


# -- the article: pictures before and behind fusion ------------------------------------------------
from fusec import visualize_graph  # from GE import visualize_graph

visualize_graph(model, "before_fusion.png", fusion=False)
visualize_graph(model, "after_fusion.png", fusion=True)

# -- the article: the gain -------------------------------------------------------------------------
from fusec import modelled_time as time  # import time

torch_npu.npu.set_option({"enable_fusion": False})
start = time.time()
output_no_fusion = model(input_tensor)
time_no_fusion = time.time() - start

torch_npu.npu.set_option({"enable_fusion": True})
start = time.time()
output_with_fusion = model(input_tensor)
time_with_fusion = time.time() - start
print(f"Fusion speedup: {time_no_fusion / time_with_fusion:.2f}x")

# -- the article: precision ------------------------------------------------------------------------
original_model, fused_model = model, fusec.compile(model)
from fusec import precision_compare  # from ATB import precision_compare

precision_compare(original_model, fused_model, input_tensor, tolerance=1e-3)
