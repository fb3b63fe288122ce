"""What has no meaning is a SemanticsError that names the operator, the cause and what to do."""

from collections.abc import Sequence

import numpy as np
import pytest

from fusec.semantics import Array, AttrValue, SemanticsError, evaluate, np_dtype


def a(*shape: int, dtype: str = "float32") -> Array:
    return np.zeros(shape, dtype)


Case = tuple[str, Sequence[Array | None], dict[str, AttrValue], str]

WRONG: list[Case] = [
    ("matmull", [], {}, "matmull: there is no such operator; did you mean 'matmul'?"),
    ("add", [a(2)], {}, "add: got 1 inputs; it takes 2"),
    ("add", [a(2), None], {}, "add: a required input is None; it takes 2"),
    ("add", [a(2), a(3)], {}, "add: shapes (2,), (3,) do not broadcast"),
    ("add", [a(2), a(2, dtype="int32")], {}, "element types differ: float32, int32; cast"),
    ("add", [a(2, dtype="bool")] * 2, {}, "add: has no meaning on bool"),
    ("exp", [a(2, dtype="int32")], {}, "exp: has no meaning on int32; cast to a floating type"),
    ("and", [a(2), a(2)], {}, "and: has no meaning on float32; cast to bool"),
    ("relu", [np.array(["x"])], {}, "relu: input 0 has element type <U1"),
    ("relu", [a(2)], {"alpha": 1.0}, "relu: unknown attribute 'alpha'; it takes none"),
    ("softmax", [a(2)], {"axes": 1}, "unknown attribute 'axes'; did you mean 'axis'?"),
    ("softmax", [a(2)], {"axis": 1}, "axis 1 is outside a tensor of rank 1; use -1..0"),
    ("softmax", [a(2)], {"axis": 0.5}, "attribute 'axis' is 0.5; give an int"),
    ("gelu", [a(2)], {"approximate": "erf"}, "'approximate' is 'erf'; use one of none, tanh"),
    ("cast", [a(2)], {}, "attribute 'to' is missing; give the name of an element type"),
    ("cast", [a(2)], {"to": "float8"}, "attribute 'to' is 'float8'"),
    ("cast", [a(2)], {"to": ""}, "attribute 'to' is ''"),
    ("where", [a(2), a(2), a(2)], {}, "where: the condition is float32; cast it to bool"),
    ("clip", [a(2), a(2)], {}, "clip: min has shape (2,); it must be a scalar"),
    ("reduce_sum", [a(2, 3)], {"axes": (1, -1)}, "axes (1, -1) name an axis twice"),
    ("layer_normalization", [a(1, 1), a(2)], {}, "would enlarge a result of shape (1, 1)"),
    ("layer_normalization", [a(), a()], {}, "rank 0"),
    ("batch_normalization", [a(2, 3)] + [a(2)] * 4, {}, "scale has shape (2,); x has 3 channels"),
    ("global_average_pool", [a(2, 3)], {}, "x has rank 2 (shape (2, 3)); give rank 3 or more"),
    ("matmul", [a(2, 3), a(4, 2)], {}, "shapes (2, 3) and (4, 2) contract 3 with 4"),
    ("matmul", [a(), a(2)], {}, "input 0 has rank 0"),
    ("gemm", [a(2, 3, 4), a(4, 2)], {}, "are not matrices; use matmul"),
    ("gemm", [a(1, 3), a(3, 4), a(5, 4)], {}, "c of shape (5, 4) would enlarge"),
    ("gemm", [a(1, 3, dtype="int32"), a(3, 4, dtype="int32")], {"alpha": 0.5}, "alpha is 0.5"),
    ("attention", [a(2, 3), a(4, 5), a(4, 2)], {"scale": 1.0}, "give q [..., S, D]"),
    ("conv", [a(1, 3, 4, 4), a(2, 2, 1, 1)], {}, "x has 3 channels, the filter takes 2"),
    ("conv", [a(1, 3, 4, 4), a(2, 3, 1)], {}, "x has rank 4, the filter 3"),
    ("conv", [a(1, 3, 4, 4), a(2, 3, 5, 5)], {}, "a window of 5 (dilation 1) is larger"),
    ("conv", [a(1, 3, 4, 4), a(2, 3, 1, 1), a(3)], {}, "bias has shape (3,); give (2,)"),
    ("conv", [a(1, 3, 4), a(2, 3, 1)], {"strides": (0,)}, "strides is (0,)"),
    ("conv", [a(1, 3, 4), a(2, 3, 1)], {"x_layout": "NWC"}, "use one of NCHW, NHWC"),
    ("max_pool", [a(1, 3, 4)], {"kernel_shape": (2,), "pads": (1,)}, "pads is (1,) over 1"),
    ("transpose", [a(2, 3)], {"perm": (0, 0)}, "perm (0, 0) is not a permutation"),
    ("reshape", [a(2, 3)], {"shape": (4,)}, "6 elements (shape (2, 3)) cannot have shape (4,)"),
    ("reshape", [a(2, 3)], {"shape": (-1, -1)}, "shape (-1, -1) has a negative size"),
    ("reshape", [a(2, 3)], {"shape": (-1, 4)}, "6 elements (shape (2, 3)) cannot have shape"),
    ("reshape", [a(2, 3)], {"shape": 6}, "attribute 'shape' is 6; give a tuple of ints"),
    ("expand", [a(2, 3)], {"shape": (4,)}, "do not broadcast"),
    ("squeeze", [a(2, 1)], {"axes": (0,)}, "axis 0 of shape (2, 1) is not 1"),
    ("concat", [a(2, 3), a(3, 2)], {"axis": 0}, "shapes (2, 3), (3, 2) do not join along axis 0"),
    ("concat", [], {"axis": 0}, "concat: got 0 inputs; it takes 1 or more"),
    ("split", [a(5)], {"sizes": (2, 2)}, "sizes (2, 2) do not add up to 5"),
    ("slice", [a(5)], {"starts": (0,), "ends": (1, 2)}, "differ in length"),
    ("slice", [a(5)], {"starts": (0,), "ends": (1,), "steps": (0,)}, "steps (0,) contain 0"),
    ("pad", [a(2)], {"pads": (1,)}, "pads (1,) over rank 1; give 2 values"),
    ("pad", [a(2)], {"pads": (-2, -1)}, "cut more than shape (2,) has"),
    ("pad", [a(2)], {"pads": (-1, 0), "mode": "edge"}, "use mode constant"),
    ("gather", [a(3), np.array([3])], {}, "indices 3..3 leave an axis of size 3; use -3..2"),
    ("gather", [a(3), a(1)], {}, "indices are float32; cast them to int64"),
    ("gather_elements", [a(3, 2), np.zeros((1, 3), int)], {}, "do not fit data of shape (3, 2)"),
    ("eye_like", [a(3)], {}, "the shape is (3,); give two sizes"),
    ("eye_like", [], {"shape": (2, 2)}, "attribute 'to' is empty"),
    ("clip", [a(2, dtype="int8")], {"min": 0.5}, "min is 0.5 on int8; use a whole number"),
]


@pytest.mark.parametrize(("name", "inputs", "attrs", "text"), WRONG)
def test_message(
    name: str, inputs: Sequence[Array | None], attrs: dict[str, AttrValue], text: str
) -> None:
    with pytest.raises(SemanticsError) as caught:
        evaluate(name, inputs, attrs)
    message = str(caught.value)
    assert text in message
    assert message.startswith(f"{name}: ")
    assert caught.value.advice


def test_unknown_element_type() -> None:
    with pytest.raises(ValueError, match=r"unknown element type 'float8'; use one of bool, int8"):
        np_dtype("float8")
