"""Shape arithmetic as exporters write it is gone after import; placeholders for sizes."""

import numpy as np
import pytest

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.frontend import import_onnx
from fusec.semantics import Array
from onnx_reference import check_import
from onnx_text import graph


def ramp(*shape: int) -> Array:
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


CHAINS: dict[str, tuple[str, list[str]]] = {
    "torch: x.view(x.size(0), -1)": (
        """(float[2,3,4] x) => (float[a,b] y) {
          s = Shape(x)  zero = Constant<value_int = 0>()  n = Gather<axis = 0>(s, zero)
          axes = Constant<value_ints = [0]>()  a = Unsqueeze(n, axes)
          minus = Constant<value_ints = [-1]>()  to = Concat<axis = 0>(a, minus)
          y = Reshape(x, to) }""",
        ["reshape"],
    ),
    "torch: half of the channels by division": (
        """(float[2,6,4] x) => (float[a,b,c] y) {
          s = Shape<start = 1, end = 2>(x)  two = Constant<value_ints = [2]>()
          half = Div(s, two)  zero = Constant<value_ints = [0]>()
          axes = Constant<value_ints = [1]>()  y = Slice(x, zero, half, axes) }""",
        ["slice"],
    ),
    "torch: expand(-1, 4)": (
        """(float[3,1] x) => (float[a,b] y) {
          one = Constant<value_ints = [-1, 4]>()  size = Constant<value_ints = [2]>()
          ones = ConstantOfShape<value = int64[1] {1}>(size)
          minus = Constant<value_int = -1>()  m = Mul(ones, minus)  c = Equal(one, m)
          to = Where(c, ones, one)  y = Expand(x, to) }""",
        ["expand"],
    ),
    "torch: positions": (
        """(float[2,5] x) => (float[a,b] y) {
          s = Shape(x)  i = Constant<value_int = 1>()  n = Gather(s, i)
          z = Constant<value_int = 0>()  r = Range(z, n, i)  f = Cast<to = 1>(r)
          y = Add(x, f) }""",
        ["add"],
    ),
    "torch: mask by nonzero of a constant": (
        """(float[4] x) => (float[a] y) {
          k = Constant<value_ints = [1, 0, 0, 1]>()  nz = NonZero(k)
          t = Transpose<perm = [1, 0]>(nz)  m = Constant<value_ints = [-1]>()
          i = Reshape(t, m)  y = Gather(x, i) }""",
        ["gather"],
    ),
    "tf: strided slice and pack": (
        """(float[2,3,4] x) => (float[a,b,c] y) {
          s = Shape(x)  c = Cast<to = 6>(s)
          z = Constant<value_ints = [0]>()  o = Constant<value_ints = [1]>()
          n = Slice(c, z, o)  q = Squeeze(n, z)  e = Constant<value = int32 {12}>()
          u = Unsqueeze(q, z)  v = Unsqueeze(e, z)  one = Constant<value = int32[1] {1}>()
          p = Concat<axis = 0>(u, v, one)  to = Cast<to = 7>(p)  y = Reshape(x, to) }""",
        ["reshape"],
    ),
    "tf: same padding by arithmetic": (
        """(float[1,1,5,5] x) => (float[a,b,c,d] y) {
          s = Shape(x)  z = Constant<value_ints = [2]>()  e = Constant<value_ints = [4]>()
          hw = Slice(s, z, e)  two = Constant<value_ints = [2, 2]>()  m = Mod(hw, two)
          none = Constant<value_ints = [0, 0]>()  pads = Concat<axis = 0>(none, none, none, m)
          y = Pad(x, pads) }""",
        ["pad"],
    ),
    "paddle: size of another tensor for a resize": (
        """(float[1,2,3,3] x, float[1,2,6,6] z) => (float[a,b,c,d] y) {
          s = Shape(x)  t = Shape(z)  b = Constant<value_ints = [0]>()
          m = Constant<value_ints = [2]>()  e = Constant<value_ints = [4]>()
          head = Slice(s, b, m)  tail = Slice(t, m, e)  to = Concat<axis = 0>(head, tail)
          r = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric",
                     nearest_mode = "floor">(x, , , to)
          y = Add(r, z) }""",
        [],
    ),
    "paddle: fill_constant of a shape": (
        """(float[2,3] x) => (float[a,b] y) {
          s = Shape(x)  f = ConstantOfShape<value = float[1] {2.0}>(s)  y = Mul(x, f) }""",
        ["mul"],
    ),
    "torch: a side by a root, rounded as a float": (
        """(float[2,16,3] x) => (float[a,b,c,d] y) {
          n = Constant<value_float = 16.0>()  h = Constant<value_float = 0.5>()
          r = Pow(n, h)  q = Ceil(r)  i = Cast<to = 7>(q)  z = Constant<value_ints = [0]>()
          u = Unsqueeze(i, z)  t = Constant<value_ints = [3]>()  m = Constant<value_ints = [2]>()
          to = Concat<axis = 0>(m, u, u, t)  y = Reshape(x, to) }""",
        ["reshape"],
    ),
    "size, reduce_prod and minimum of a shape": (
        """(float[2,3] x) => (float[a] y) {
          n = Size(x)  s = Shape(x)  p = ReduceProd<keepdims = 1>(s)
          axes = Constant<value_ints = [0]>()  u = Unsqueeze(n, axes)  t = Min(u, p)
          y = Reshape(x, t) }""",
        ["reshape"],
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_shape_arithmetic_is_folded_away(name: str) -> None:
    text, expected = CHAINS[name]
    proto = graph(f"g {text}")
    inputs = {
        v.name: ramp(*(d.dim_value for d in v.type.tensor_type.shape.dim))
        for v in proto.graph.input
    }
    found = check_import(proto, inputs)
    forbidden = {"cast", "div", "where", "equal", "mod", "min", "squeeze", "unsqueeze"}
    assert found == expected if expected else forbidden.isdisjoint(found)


def test_a_given_shape_folds_what_depends_on_it() -> None:
    text, expected = CHAINS["torch: x.view(x.size(0), -1)"]
    proto = graph("g " + text.replace("float[2,3,4] x", "float[N,3,W] x"))
    assert check_import(proto, {"x": ramp(2, 3, 4)}, shapes={"x": (2, 3, 4)}) == expected


PLACEHOLDERS = ["?", "", "_", "-1", "None", "??", "unknown"]


def with_names(*names: str) -> bytes:
    proto = graph(
        "g (float[A,B] x, float[C] z) => (float[a,b] y, float[c] w) {y = Relu(x) w = Relu(z)}"
    )
    inputs = proto.graph.input
    dims = [*inputs[0].type.tensor_type.shape.dim, *inputs[1].type.tensor_type.shape.dim]
    for dim, name in zip(dims, names, strict=True):
        dim.dim_param = name
    return proto.SerializeToString()


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_a_placeholder_is_no_name_of_a_size(name: str) -> None:
    source = with_names(name, name, name)
    assert "%x: tensor<?x?xf32>" in str(import_onnx(source)[0])
    text = str(import_onnx(source, {"x": (2, 3)})[0])
    assert "%x: tensor<2x3xf32>" in text and "%z: tensor<?xf32>" in text


def test_a_name_that_one_shape_makes_two_sizes_says_nothing() -> None:
    """What the user gives counts; other inputs with the name stay open, and may be given too."""
    source = with_names("N", "N", "N")
    text = str(import_onnx(source, {"x": (2, 3)})[0])
    assert "%x: tensor<2x3xf32>" in text and "%z: tensor<?xf32>" in text
    assert "%z: tensor<7xf32>" in str(import_onnx(source, {"x": (2, 3), "z": (7,)})[0])
    assert "%z: tensor<7xf32>" in str(import_onnx(source, {"z": (7,), "x": (2, 3)})[0])


def test_a_name_that_two_inputs_make_two_sizes_is_an_error() -> None:
    with pytest.raises(ImportFailure, match="makes N 7, another one makes it 2"):
        import_onnx(with_names("N", "M", "N"), {"x": (2, 3), "z": (7,)})
