"""The fusion class of every operator: how its result's positions depend on its inputs'."""

from enum import StrEnum


class FusionClass(StrEnum):
    """What fusion may assume of an operator."""

    ELEMENTWISE = "elementwise"
    """A result position reads the same (broadcast) position of each input."""
    BROADCAST = "broadcast"
    """A result position reads one input position, and several read the same."""
    REDUCTION = "reduction"
    """A result position reads whole axes of the input; the axes go or become 1."""
    NORM = "norm"
    """Softmax and normalisations: statistics over axes (given for batch norm), same shape out."""
    CONTRACTION = "contraction"
    """Sums of products: work for the cube."""
    WINDOW = "window"
    """A result position reads a neighbourhood."""
    MOVEMENT = "movement"
    """Elements are moved, none is computed."""
    VIEW = "view"
    """The same elements in the same order under another shape: no work."""
    OPAQUE = "opaque"
    """Nothing may be assumed."""


_MEMBERS: dict[FusionClass, str] = {
    FusionClass.ELEMENTWISE: (
        "add sub mul div pow max min and or xor not equal greater less greater_or_equal "
        "less_or_equal where relu leaky_relu clip neg abs exp log sqrt reciprocal tanh sigmoid "
        "erf gelu cast sin cos tan asin acos atan sinh cosh asinh acosh atanh floor ceil round "
        "sign mod bitwise_and bitwise_or bitwise_xor bitwise_not bit_shift bit_cast "
        "swish hard_sigmoid hard_swish softplus mish"
    ),
    FusionClass.BROADCAST: "expand constant_of_shape",
    FusionClass.REDUCTION: (
        "reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_sum_square "
        "global_average_pool"
    ),
    FusionClass.NORM: (
        "softmax log_softmax layer_normalization rms_normalization batch_normalization "
        "group_normalization"
    ),
    FusionClass.CONTRACTION: "matmul matmul_integer gemm conv attention",
    FusionClass.WINDOW: "max_pool average_pool",
    FusionClass.MOVEMENT: "transpose concat split slice pad gather gather_elements",
    FusionClass.VIEW: "identity reshape squeeze unsqueeze flatten",
    FusionClass.OPAQUE: (
        "eye_like cum_sum cum_prod top_k_indices gather_nd scatter_elements scatter_nd "
        "reverse_sequence det grid_sample"
    ),
}

CLASSES: dict[str, FusionClass] = {
    name: fusion_class for fusion_class, names in _MEMBERS.items() for name in names.split()
}


def fusion_class(name: str) -> FusionClass:
    """The class of operator `name`; OPAQUE for one that is not in the table."""
    return CLASSES.get(name, FusionClass.OPAQUE)
