"""An own operator without a kernel, and an own fusion with one."""

from fusec.opbase import OperatorBase, RegFusion, RegOp, ascendc


@RegOp("Twice")
class Twice(OperatorBase):
    def __init__(self):
        super().__init__()
        self.add_input("x")
        self.add_output("y")

    def compute(self, inputs, outputs):
        outputs[0] = inputs[0] * 2


@RegFusion("AbsRelu")
class AbsRelu(OperatorBase):
    def __init__(self):
        super().__init__()
        self.add_input("x")
        self.add_output("y")

    def compute(self, inputs, outputs):
        outputs[0] = ascendc.relu(ascendc.abs(inputs[0]))

    def lower(self, npu, inputs, outputs):
        x, y = inputs[0], outputs[0]
        with npu.rows(x.shape[0], 16) as (start, count):
            part = (start, 0), (count, x.shape[1])
            tile = npu.ub((16, x.shape[1]), x.dtype, (count, x.shape[1]))
            npu.load(npu.view(x, *part), tile)
            npu.vabs(tile, tile)
            npu.store(tile, npu.view(y, *part))
