"""Faults of which operators may be joined, moved or folded, each as several graphs of its kind."""

from __future__ import annotations

from collections.abc import Iterator

from fault_variant import Variant, ramp, sizes


def batch_norm() -> Iterator[Variant]:
    """A norm after a convolution that something else reads too."""
    for group, other in ((1, "Relu(t)"), (2, "Neg(t)"), (1, "Conv(t, k)"), (1, "Identity(t)")):
        shape = "1,2,2,2" if "Conv" in other else "1,2,4,4"
        yield Variant(
            f"""(float[1,4,6,6] x) => (float[1,2,4,4] y, float[{shape}] r)
            <int64[4] ws = {{2, {4 // group}, 3, 3}}, int64[4] ks = {{2, 2, 3, 3}},
             float[2] s = {{2, -3}}, float[2] b = {{0.5, 1}}, float[2] v = {{4, 0.25}}> {{
              w = ConstantOfShape<value = float[1] {{0.25}}>(ws)
              k = ConstantOfShape<value = float[1] {{0.5}}>(ks)
              t = Conv<group = {group}>(x, w)
              y = BatchNormalization(t, s, b, b, v)
              r = {other}
            }}"""
        )


def self_waiting() -> Iterator[Variant]:
    """Two ends of a chain that could be one kernel, and a middle that could not."""
    for middle in ("MatMul(b, w)", "Transpose(b)", "CumSum(b, one)"):
        for d in ("Add(a, c)", "Sub(c, a)"):
            yield Variant(
                f"""(float[8,8] x, float[8,8] w) => (float[8,8] d) <int64 one = {{1}}> {{
                  a = Relu(x)  b = Exp(a)  c = {middle}  d = {d}
                }}"""
            )


def copies() -> Iterator[Variant]:
    """A copy that is an operand twice."""
    for o in ("Add(y, y)", "Mul(y, y)", "Sub(y, y)", "MatMul(y, y)", "Max(y, y)", "Where(c, y, y)"):
        for copy in ("Identity(x)", "Transpose(x)", "Reshape(x, s)"):
            yield Variant(
                f"""(float[4,4] x) => (float[4,4] o) <int64[2] s = {{4, 4}}, int64[1] k = {{4}}> {{
                  c = ConstantOfShape<value = bool[1] {{1}}>(k)  y = {copy}  o = {o}
                }}"""
            )


def unused() -> Iterator[Variant]:
    """Pieces that nobody reads, wherever they stand."""
    for axis, used in ((1, "p"), (1, "q"), (0, "r"), (-1, "r")):
        shape = [6, 6]
        shape[axis] = 2
        yield Variant(
            f"""(float[6,6] x) => (float[{sizes(shape)}] o) {{
              p, q, r = Split<axis = {axis}, num_outputs = 3>(x)
              t = Relu({used})  o = Add(t, {used})
            }}""",
            bits=True,
        )
    yield Variant(
        """(float[2,9] x) => (int64[2,3] i) <int64[1] k = {3}> { v, i = TopK(x, k) }""", bits=True
    )


def residual_of_a_piece() -> Iterator[Variant]:
    """A residual that is a piece of what the result is joined to."""
    for axis, order in ((1, "p, q, r"), (1, "r, q"), (2, "q, r, p"), (3, "r, p")):
        shape, joined = [1, 8, 8, 8], [1, 8, 8, 8]
        shape[axis] = 4
        joined[axis] = 4 * len(order.split(","))
        c = shape[1]
        yield Variant(
            f"""(float[1,8,8,8] x) => (float[{sizes(joined)}] y)
            <int64[4] ws = {{{c}, {c}, 3, 3}}> {{
              w = ConstantOfShape<value = float[1] {{0.0625}}>(ws)
              p, q = Split<axis = {axis}, num_outputs = 2>(x)
              c = Conv<pads = [1, 1, 1, 1]>(q, w)
              s = Sigmoid(c)  a = Mul(c, s)  r = Add(q, a)
              y = Concat<axis = {axis}>({order})
            }}"""
        )


def _norm(x: str, more: str, result: str) -> str:
    return f"""({x}) => ({result}) <int64[1] last = {{-1}}, float two = {{2}}, float eps = {{1e-5}}>
    {{ mean = ReduceMean(x, last)  d = Sub(x, mean)  p = Pow(d, two)  v = ReduceMean(p, last)
       e = Add(v, eps)  r = Sqrt(e)  n = Div(d, r)  {more} }}"""


def enlarging() -> Iterator[Variant]:
    """A scale or a bias of a norm that makes the result larger."""
    for scale, result in (("4,3", "4,3"), ("2,1,3", "2,4,3"), ("5,4,3", "5,4,3"), ("1", "4,3")):
        inputs = f"float[{'1,3' if scale == '4,3' else '4,3'}] x, float[{scale}] s"
        for y in ("Mul(s, n)", "Mul(n, s)", "Add(n, s)"):
            yield Variant(_norm(inputs, f"y = {y}", f"float[{result}] y"))


def bias_ranks() -> Iterator[Variant]:
    for m, b, y in (
        ("2,3", "1,1,1,2,4", "1,1,1,2,4"),
        ("1,3", "3,4", "3,4"),
        ("2,3", "4", "2,4"),
        ("2,3", "2,1", "2,4"),
        ("2,3", "5,1,4", "5,2,4"),
        ("2,3", "", "2,4"),
    ):
        bias = f"float[{b}]" if b else "float"
        for order in ("m, b", "b, m"):
            yield Variant(
                f"""(float[{m}] x, float[3,4] w, {bias} b) => (float[{y}] y)
                {{ m = MatMul(x, w)  y = Add({order}) }}"""
            )
    for b in ("2,3,1,1", "1,3,1,1", "1,1,4,4", "3,1,1", "2,3,4,4"):
        yield Variant(
            f"""(float[2,2,4,4] x, float[3,2,1,1] w, float[{b}] b) => (float[2,3,4,4] y)
            {{ c = Conv(x, w)  y = Add(c, b) }}"""
        )


def padded_pools() -> Iterator[Variant]:
    """Zeros from a Pad are data for the pooling after it."""
    x = -1.0 - ramp(1, 2, 4, 4)
    for pool in ("MaxPool", "AveragePool"):
        for mode in ("constant", "edge", "reflect"):
            yield Variant(
                f"""(float[1,2,4,4] x) => (float[1,2,2,2] y)
                <int64[8] p = {{0, 0, 1, 1, 0, 0, 1, 1}}> {{
                  t = Pad<mode = "{mode}">(x, p)
                  y = {pool}<kernel_shape = [3, 3], strides = [3, 3]>(t)
                }}""",
                {"x": x},
            )
    yield Variant(
        """(float[1,2,4,4] x, float[3,2,3,3] w) => (float[1,3,4,4] y)
        <int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}, float one = {1}>
        { t = Pad(x, p, one)  y = Conv(t, w) }"""
    )


def scaled_inputs() -> Iterator[Variant]:
    """A factor before a convolution, which may or may not go into its filter."""
    for x, c in (("1,1,6,6", "1,3,1,1"), ("1,3,6,6", "1,3,1,1"), ("1,3,6,6", "1,1,6,6")):
        for order in ("x, c", "c, x"):
            yield Variant(
                f"""(float[{x}] x, float[{c}] c) => (float[1,4,4,4] y)
                <int64[4] ws = {{4, 3, 3, 3}}> {{
                  w = ConstantOfShape<value = float[1] {{0.125}}>(ws)
                  t = Mul({order})  y = Conv(t, w)
                }}"""
            )
