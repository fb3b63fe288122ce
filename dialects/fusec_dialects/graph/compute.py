"""Reductions, normalisations, contractions and pooling of the graph dialect."""

from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, StringAttr
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, prop_def, result_def

from .base import Float, GraphOp, Int, Ints, Tensor


class ReduceOp(GraphOp):
    """y = x reduced over `axes` (none: all), which keep size 1 with `keepdims`."""

    x = operand_def(Tensor)
    y = result_def(Tensor)
    axes = prop_def(Ints)
    keepdims = prop_def(BoolAttr)

    DEFAULTS: ClassVar = {"keepdims": True}


@irdl_op_definition
class ReduceSumOp(ReduceOp):
    """Sum."""

    name = "graph.reduce_sum"


@irdl_op_definition
class ReduceMeanOp(ReduceOp):
    """Mean."""

    name = "graph.reduce_mean"


@irdl_op_definition
class ReduceMaxOp(ReduceOp):
    """Largest."""

    name = "graph.reduce_max"


@irdl_op_definition
class ReduceMinOp(ReduceOp):
    """Smallest."""

    name = "graph.reduce_min"


@irdl_op_definition
class ReduceProdOp(ReduceOp):
    """Product."""

    name = "graph.reduce_prod"


@irdl_op_definition
class SoftmaxOp(GraphOp):
    """exp(x - max) / sum along `axis`, in f32 inside."""

    name = "graph.softmax"
    x = operand_def(Tensor)
    y = result_def(Tensor)
    axis = prop_def(Int)

    DEFAULTS: ClassVar = {"axis": -1}


@irdl_op_definition
class LogSoftmaxOp(GraphOp):
    """x - max - log(sum(exp(x - max))) along `axis`, in f32 inside."""

    name = "graph.log_softmax"
    x = operand_def(Tensor)
    y = result_def(Tensor)
    axis = prop_def(Int)

    DEFAULTS: ClassVar = {"axis": -1}


@irdl_op_definition
class LayerNormalizationOp(GraphOp):
    """(x - mean) / sqrt(variance + epsilon) scale + bias over the axes from `axis` on, in f32
    inside.
    """

    name = "graph.layer_normalization"
    x = operand_def(Tensor)
    scale = operand_def(Tensor)
    bias = opt_operand_def(Tensor)
    y = result_def(Tensor)
    axis = prop_def(Int)
    epsilon = prop_def(Float)

    DEFAULTS: ClassVar = {"axis": -1, "epsilon": 1e-5}


@irdl_op_definition
class BatchNormalizationOp(GraphOp):
    """(x - mean) / sqrt(variance + epsilon) scale + bias for each channel (inference)."""

    name = "graph.batch_normalization"
    x = operand_def(Tensor)
    scale = operand_def(Tensor)
    bias = operand_def(Tensor)
    mean = operand_def(Tensor)
    variance = operand_def(Tensor)
    y = result_def(Tensor)
    epsilon = prop_def(Float)
    layout = prop_def(StringAttr)

    DEFAULTS: ClassVar = {"epsilon": 1e-5, "layout": "NCHW"}


@irdl_op_definition
class MatmulOp(GraphOp):
    """numpy.matmul."""

    name = "graph.matmul"
    a = operand_def(Tensor)
    b = operand_def(Tensor)
    y = result_def(Tensor)


@irdl_op_definition
class MatmulIntegerOp(GraphOp):
    """numpy.matmul of 8-bit integers, exact in i32."""

    name = "graph.matmul_integer"
    a = operand_def(Tensor)
    b = operand_def(Tensor)
    y = result_def(Tensor)


@irdl_op_definition
class GemmOp(GraphOp):
    """alpha op(a) op(b) + beta c, op a transposition where asked for."""

    name = "graph.gemm"
    a = operand_def(Tensor)
    b = operand_def(Tensor)
    c = opt_operand_def(Tensor)
    y = result_def(Tensor)
    alpha = prop_def(Float)
    beta = prop_def(Float)
    trans_a = prop_def(BoolAttr)
    trans_b = prop_def(BoolAttr)

    DEFAULTS: ClassVar = {"alpha": 1.0, "beta": 1.0, "trans_a": False, "trans_b": False}


@irdl_op_definition
class ConvOp(GraphOp):
    """Convolution of any number of spatial axes; pads are all begins, then all ends.

    Layouts mean channels first (NCHW, OIHW) or last (NHWC, HWIO: [spatial..., C / group, O]) at any
    rank.
    """

    name = "graph.conv"
    x = operand_def(Tensor)
    w = operand_def(Tensor)
    b = opt_operand_def(Tensor)
    y = result_def(Tensor)
    strides = prop_def(Ints)
    pads = prop_def(Ints)
    dilations = prop_def(Ints)
    group = prop_def(Int)
    x_layout = prop_def(StringAttr)
    w_layout = prop_def(StringAttr)
    y_layout = prop_def(StringAttr)

    DEFAULTS: ClassVar = {
        "group": 1,
        "x_layout": "NCHW",
        "w_layout": "OIHW",
        "y_layout": "NCHW",
    }


@irdl_op_definition
class AttentionOp(GraphOp):
    """softmax(q k^T scale + mask) v over the last two axes; q [.., S, D], k [.., T, D], v [.., T,
    E].
    """

    name = "graph.attention"
    q = operand_def(Tensor)
    k = operand_def(Tensor)
    v = operand_def(Tensor)
    mask = opt_operand_def(Tensor)
    y = result_def(Tensor)
    scale = prop_def(Float)


@irdl_op_definition
class MaxPoolOp(GraphOp):
    """Largest of each window; padding never wins."""

    name = "graph.max_pool"
    x = operand_def(Tensor)
    y = result_def(Tensor)
    kernel_shape = prop_def(Ints)
    strides = prop_def(Ints)
    pads = prop_def(Ints)
    dilations = prop_def(Ints)
    ceil_mode = prop_def(BoolAttr)
    layout = prop_def(StringAttr)

    DEFAULTS: ClassVar = {"ceil_mode": False, "layout": "NCHW"}


@irdl_op_definition
class AveragePoolOp(GraphOp):
    """Mean of each window, padding counted where `count_include_pad`."""

    name = "graph.average_pool"
    x = operand_def(Tensor)
    y = result_def(Tensor)
    kernel_shape = prop_def(Ints)
    strides = prop_def(Ints)
    pads = prop_def(Ints)
    dilations = prop_def(Ints)
    ceil_mode = prop_def(BoolAttr)
    layout = prop_def(StringAttr)
    count_include_pad = prop_def(BoolAttr)

    DEFAULTS: ClassVar = {"ceil_mode": False, "count_include_pad": False, "layout": "NCHW"}


@irdl_op_definition
class GlobalAveragePoolOp(GraphOp):
    """Mean over all spatial axes, which keep size 1."""

    name = "graph.global_average_pool"
    x = operand_def(Tensor)
    y = result_def(Tensor)
    layout = prop_def(StringAttr)

    DEFAULTS: ClassVar = {"layout": "NCHW"}


COMPUTE = [
    ReduceSumOp,
    ReduceMeanOp,
    ReduceMaxOp,
    ReduceMinOp,
    ReduceProdOp,
    SoftmaxOp,
    LogSoftmaxOp,
    LayerNormalizationOp,
    BatchNormalizationOp,
    MatmulOp,
    MatmulIntegerOp,
    GemmOp,
    ConvOp,
    AttentionOp,
    MaxPoolOp,
    AveragePoolOp,
    GlobalAveragePoolOp,
]
"""Every operator of this file."""
