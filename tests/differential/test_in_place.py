"""Concats, splits and slices without copies: numbers of the placed kernels, and how many there are.

Every network is small and compiled whole; `kernels` counts the launches under objective kernels.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper
from xdsl.dialects.builtin import ModuleOp

import fusec
from fusec.accuracy.inputs import seeded_inputs
from fusec.simulator.witness import witness
from fusec_dialects.npu import LaunchOp
from onnx_text import graph


@dataclass(frozen=True)
class Net:
    """A network as ONNX text, and the kernels that it has at most."""

    text: str
    kernels: int
    opset: int = 18
    tolerance: float = 2e-5


def network(net: Net) -> ModelProto:
    """The network; inputs w0, w1, ... become weights."""
    model = graph(net.text, opset=net.opset)
    rng = np.random.default_rng(0)
    for value in [v for v in model.graph.input if v.name.startswith("w")]:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        array = rng.standard_normal(shape, np.float32) / np.float32(np.prod(shape[1:]) ** 0.5)
        model.graph.initializer.append(numpy_helper.from_array(array, value.name))
        model.graph.input.remove(value)
    return model


def launches(module: ModuleOp) -> int:
    return sum(isinstance(op, LaunchOp) for op in module.walk())


NETS = {
    # C10: what is read beside the concat's own part is a view of the input, copied for the result.
    "residual_from_split": Net(
        """g (float[1,8,4,4] x, float[4,4,3,3] w3) => (float[1,12,4,4] y) {
          p, q = Split <axis=1, num_outputs=2> (x)
          a = Conv <pads=[1,1,1,1]> (q, w3)
          s = Sigmoid (a)
          c = Mul (a, s)
          r = Add (q, c)
          y = Concat <axis=1> (p, q, r)
        }""",
        3,
    ),
    "two_convs": Net(
        """g (float[1,8,6,6] x, float[20,8,1,1] w1, float[12,8,3,3] w2, float[16,32,1,1] w3)
           => (float[1,16,6,6] y) {
          a = Conv (x, w1)
          b = Conv <pads=[1,1,1,1]> (x, w2)
          c = Concat <axis=1> (a, b)
          y = Conv (c, w3)
        }""",
        7,
    ),
    "dense_block": Net(
        """g (float[1,16,8,8] x, float[16,16,1,1] w0, float[8,16,3,3] w1, float[8,24,3,3] w2,
            float[8,32,3,3] w3) => (float[1,40,8,8] y) {
          a0 = Conv (x, w0)
          r0 = Relu (a0)
          a1 = Conv <pads=[1,1,1,1]> (r0, w1)
          c1 = Concat <axis=1> (r0, a1)
          a2 = Conv <pads=[1,1,1,1]> (c1, w2)
          c2 = Concat <axis=1> (c1, a2)
          a3 = Conv <pads=[1,1,1,1]> (c2, w3)
          c3 = Concat <axis=1> (c2, a3)
          y = Relu (c3)
        }""",
        10,
    ),
    "one_value_in_two_concats": Net(
        """g (float[4,40] x) => (float[4,80] y, float[4,80] z) {
          a = Exp (x)
          b = Tanh (x)
          y = Concat <axis=1> (a, b)
          z = Concat <axis=1> (b, a)
        }""",
        3,
    ),
    "the_same_value_twice": Net(
        """g (float[4,24] x) => (float[4,48] y) {
          a = Exp (x)
          y = Concat <axis=1> (a, a)
        }""",
        2,
    ),
    "a_part_is_an_output": Net(
        """g (float[4,24] x) => (float[4,48] y, float[4,24] a) {
          a = Exp (x)
          b = Tanh (x)
          y = Concat <axis=1> (a, b)
        }""",
        3,
    ),
    "inputs_and_odd_sizes": Net(
        """g (float[3,5] x, float[3,7] t) => (float[3,19] y) {
          a = Exp (t)
          y = Concat <axis=1> (x, a, t)
        }""",
        2,
    ),
    "outer_axis": Net(
        """g (float[5,33] x) => (float[10,33] y) {
          a = Exp (x)
          b = Softmax <axis=-1> (x)
          y = Concat <axis=0> (a, b)
        }""",
        2,
    ),
    "reshaped_parts": Net(
        """g (float[2,6,4] x) => (float[2,6,16] z) {
          s = Constant <value_ints=[12,4]> ()
          t = Constant <value_ints=[2,6,4]> ()
          r = Reshape (x, s)
          e = Exp (r)
          a = Reshape (e, t)
          b = Tanh (x)
          y = Concat <axis=2> (a, b)
          z0 = Concat <axis=2> (y, y)
          z = Neg (z0)
        }""",
        4,
    ),
    "matmuls_and_softmax": Net(
        """g (float[24,32] x, float[32,20] w1, float[32,36] w2, float[56,16] w3)
           => (float[24,16] y) {
          a = MatMul (x, w1)
          b0 = MatMul (x, w2)
          b = Softmax <axis=-1> (b0)
          c = Concat <axis=1> (a, b)
          y = MatMul (c, w3)
        }""",
        4,
    ),
    "pools_and_depthwise": Net(
        """g (float[1,16,8,8] x, float[16,1,3,3] w4, float[24,48,1,1] w3) => (float[1,24,8,8] y) {
          a = MaxPool <kernel_shape=[3,3], pads=[1,1,1,1]> (x)
          b = AveragePool <kernel_shape=[3,3], pads=[1,1,1,1]> (x)
          e = Conv <group=16, pads=[1,1,1,1]> (x, w4)
          c = Concat <axis=1> (a, b, e)
          y = Conv (c, w3)
        }""",
        7,
    ),
    "slices_read_in_place": Net(
        """g (float[1,32,6,6] x, float[32,32,1,1] w0, float[16,16,3,3] w1) => (float[1,32,6,6] y) {
          t = Conv (x, w0)
          p, q = Split <axis=1, num_outputs=2> (t)
          a = Conv <pads=[1,1,1,1]> (q, w1)
          y = Concat <axis=1> (p, a)
        }""",
        6,
    ),
    "half_precision": Net(
        """g (float16[6,48] x) => (float16[6,96] y) {
          a = Exp (x)
          b = Tanh (x)
          y = Concat <axis=1> (a, b)
        }""",
        2,
        tolerance=2e-3,
    ),
    "integers": Net(
        """g (int32[6,5] x) => (int32[6,10] y) {
          a = Add (x, x)
          b = Mul (x, x)
          y = Concat <axis=1> (a, b)
        }""",
        2,
    ),
}


@pytest.mark.parametrize("objective", ["kernels", "time"])
@pytest.mark.parametrize("name", NETS)
def test_numbers_and_kernels(name: str, objective: str) -> None:
    net = NETS[name]
    model = fusec.load(network(net).SerializeToString())
    compiled = fusec.compile(model, objective=objective)
    inputs = seeded_inputs(model.module, 0)
    expected = model.run(inputs)
    for level in ("fused", "npu"):
        found = compiled.run(inputs, level)
        for key, array in expected.items():
            wide = array.astype(np.float64)
            error = np.abs(found[key].astype(np.float64) - wide).max() / np.abs(wide).max()
            assert error <= net.tolerance, (level, key)
    assert not witness(compiled.npu)
    if objective == "kernels":
        assert launches(compiled.npu) <= net.kernels
