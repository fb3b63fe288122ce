"""An operator of one's own, and a fusion that brings its kernel: `fusec explain MODEL --load` this.

`SignedRoot` is what an ONNX node of that type in a domain of yours means; it has no kernel, so the
host computes it. `ScaledSum` is a fusion of two operators whose kernel is written in instructions
of the vector core.
"""

import numpy as np

from fusec.opbase import OperatorBase, RegFusion, RegOp, Unsupported, ascendc

TILE = 16
"""Rows of a tile."""


@RegOp("SignedRoot")
class SignedRoot(OperatorBase):
    """alpha times the root of the size, with the sign of the value."""

    def __init__(self):
        super().__init__()
        self.add_input("x")
        self.add_output("y")
        self.add_attr("alpha", 1.0)

    def compute(self, inputs, outputs):
        x = inputs[0]
        outputs[0] = self.attributes["alpha"] * np.sign(x) * np.sqrt(np.abs(x))


@RegFusion("ScaledSum")
class ScaledSum(OperatorBase):
    """(x + y) times 0.5, in one kernel."""

    def __init__(self):
        super().__init__()
        self.add_input("x")
        self.add_input("y")
        self.add_output("half")

    def compute(self, inputs, outputs):
        x, y = inputs
        outputs[0] = ascendc.mul(ascendc.add(x, y), 0.5)

    def lower(self, npu, inputs, outputs):
        x, y = inputs
        if x.shape != y.shape or len(x.shape) != 2:
            raise Unsupported("it is written for two matrices of one shape")
        rows, columns = x.shape
        with npu.rows(rows, TILE) as (start, count):
            part = (start, 0), (count, columns)
            a = npu.ub((TILE, columns), x.dtype, (count, columns))
            b = npu.ub((TILE, columns), x.dtype, (count, columns))
            npu.load(npu.view(x, *part), a)
            npu.load(npu.view(y, *part), b)
            npu.vadd(a, b, a)
            npu.vmul(a, 0.5, a)
            npu.store(a, npu.view(outputs[0], *part))
