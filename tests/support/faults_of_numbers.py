"""Faults of values, types, empty tensors and tiles, each as several graphs of its kind."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fault_variant import HALF, SINGLE, Variant, f32, ramp, sizes


def clips() -> Iterator[Variant]:
    x = {"x": f32(-2, 0.2, 3)}
    for dtype in (SINGLE, HALF):
        head = f"({dtype}[3] x) => ({dtype}[3] y, {dtype}[3] z)"
        half, one = ("14336", "15360") if dtype == HALF else ("0.5", "1")
        limits = f"<{dtype} half = {{{half}}}, {dtype} one = {{{one}}}>"
        body = '{ r = Relu(x)  y = Clip(r, half)  z = Clip(r, "", one) }'
        as_dtype = np.float16 if dtype == HALF else np.float32
        yield Variant(
            f"{head} {limits} {body}",
            {"x": x["x"].astype(as_dtype)},
            {
                "y": np.array([0.5, 0.5, 3], as_dtype),
                "z": np.array([0, np.float16(0.2) if dtype == HALF else 0.2, 1], as_dtype),
            },
            bits=True,
        )
    yield Variant(
        """(float[3] x) => (float[3] y, float[3] z)
        { y = Clip<min = 0.5>(x) z = Clip<max = 1.0>(x) }""",
        x,
        {"y": f32(0.5, 0.5, 3), "z": f32(-2, 0.2, 1)},
        opset=6,
        bits=True,
        runtime=False,
    )
    yield Variant(
        "(float[3] x, float lo) => (float[3] y) { r = Relu(x)  y = Clip(r, lo) }",
        x | {"lo": np.array(0.5, np.float32)},
        {"y": f32(0.5, 0.5, 3)},
        bits=True,
    )


def zeros() -> Iterator[Variant]:
    """The sign of zero: x + 0 is not x, x - 0 is."""
    x = {"x": f32(-0.0, 2)}
    yield Variant(
        """(float[2] x) => (float[2] p, float[2] s, float[2] i, float[2] m) <float zero = {0}> {
          minus = Neg(zero)  p = Mul(x, minus)  s = Add(x, zero)  i = Reciprocal(s)
          m = Sub(x, zero)
        }""",
        x,
        {"p": f32(0, -0.0), "s": f32(0, 2), "i": f32(np.inf, 0.5), "m": f32(-0.0, 2)},
        bits=True,
    )
    yield Variant(
        """(float[2] x) => (float[2] s, float[2] i) <float zero = {0}>
        { s = Add(zero, x)  t = Sub(x, zero)  i = Reciprocal(t) }""",
        x,
        {"s": f32(0, 2), "i": f32(-np.inf, 0.5)},
        bits=True,
    )


def divisions() -> Iterator[Variant]:
    """Whole numbers divide towards zero, and 64 bits are 64 bits."""
    big = 9007199254740993
    yield Variant(
        "(int64[2] x) => (int64[2] y) <int64 one = {1}> { y = Div(x, one) }",
        {"x": np.array([big, -big])},
        {"y": np.array([big, -big])},
        bits=True,
    )
    yield Variant(
        "(int32[4] a, int32[4] b) => (int32[4] y) { y = Div(a, b) }",
        {"a": np.array([-7, 7, -7, 2147483647], np.int32), "b": np.array([2, -2, -2, 3], np.int32)},
        {"y": np.array([-3, -3, 3, 715827882], np.int32)},
        bits=True,
    )
    yield Variant(
        "(uint8[1] x) => (uint8[1] y) <uint8 ten = {10}> { y = Add(x, ten) }",
        {"x": np.array([250], np.uint8)},
        {"y": np.array([4], np.uint8)},
        bits=True,
        refused="ui8",
    )


def operand_orders() -> Iterator[Variant]:
    """A binary operator that reads a value and what is computed from it."""
    x = {"x": f32(5, -3, 0.5)}
    for y, wanted in (
        ("Sub(x, t)", f32(-1, -1, -1)),
        ("Sub(t, x)", f32(1, 1, 1)),
        ("Greater(t, x)", np.ones(3, np.bool_)),
        ("Less(t, x)", np.zeros(3, np.bool_)),
        ("Max(x, t)", f32(6, -2, 1.5)),
        ("Div(t, x)", None),
        ("Div(x, t)", None),
        ("Pow(t, x)", None),
    ):
        dtype = "bool" if y[0] in "GL" else "float"
        yield Variant(
            f"(float[3] x) => ({dtype}[3] y) <float one = {{1}}> {{ t = Add(x, one)  y = {y} }}",
            x,
            {} if wanted is None else {"y": wanted},
            bits=wanted is not None,
        )


def half_norms() -> Iterator[Variant]:
    """Squares that float16 does not hold: computed in float32 inside."""
    row = np.array([400, 300, 200, 100, -100, -200, -300, -400], np.float16)
    for axis, x in ((-1, row.reshape(1, 8)), (0, row.reshape(8, 1))):
        shape = sizes(x.shape)
        yield Variant(
            f"""(float16[{shape}] x) => (float16[{shape}] y)
            <int64[1] a = {{{axis}}}, float16 two = {{16384}}, float16 eps = {{168}}> {{
              m = ReduceMean(x, a)  d = Sub(x, m)  p = Pow(d, two)  v = ReduceMean(p, a)
              e = Add(v, eps)  r = Sqrt(e)  y = Div(d, r)
            }}""",
            {"x": x},
            runtime=False,
        )
    yield Variant(
        """(float16[1,8] x, float16[8] s) => (float16[1,8] y) { y = LayerNormalization(x, s) }""",
        {"x": row.reshape(1, 8), "s": np.ones(8, np.float16)},
        runtime=False,
    )


def flat_softmax() -> Iterator[Variant]:
    """Before opset 13 all axes from one on are one."""
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for attribute in ("", "<axis = 0>", "<axis = 2>", "<axis = -2>"):
            yield Variant(
                f"(float[2,3,4] x) => (float[2,3,4] y) {{ y = {op}{attribute}(x) }}", opset=11
            )


def dropped_axes() -> Iterator[Variant]:
    for op in ("ReduceMax", "ReduceSum", "ReduceProd", "ReduceMin", "ReduceMean"):
        for axes in ((0, -1), (-2,), (-1, 0, 1)):
            rest = [n for i, n in enumerate((2, 3, 4)) if i not in {a % 3 for a in axes}]
            yield Variant(
                f"""(float[2,3,4] x) => (float[{sizes(rest)}] y)
                <int64[{len(axes)}] a = {{{sizes(axes)}}}> {{ y = {op}<keepdims = 0>(x, a) }}"""
                if rest
                else f"""(float[2,3,4] x) => (float y)
                <int64[{len(axes)}] a = {{{sizes(axes)}}}> {{ y = {op}<keepdims = 0>(x, a) }}""",
            )


def empty() -> Iterator[Variant]:
    """Slices of nothing, what follows them, and sums over nothing."""
    yield Variant(
        """(float[10] x) => (float s)
        <int64[1] b = {0}, int64[1] e = {5}, int64[1] a = {0}, int64[1] t = {-1}> {
          c = Slice(x, b, e, a, t)  r = Relu(c)  y = Add(r, r)  s = ReduceSum<keepdims = 0>(y)
        }""",
        expected={"s": np.array(0, np.float32)},
    )
    yield Variant(
        """(float[10] x) => (float[5] y)
        <int64[1] b = {-1}, int64[1] e = {-11}, int64[1] a = {0}, int64[1] t = {-2}>
        { y = Slice(x, b, e, a, t) }""",
        bits=True,
    )
    yield Variant(
        """(float[4,5] x) => (float[4,2] y)
        <int64[2] b = {-1, 1}, int64[2] e = {-100, 100}, int64[2] t = {-1, 3}, int64[2] a = {0, -1}>
        { y = Slice(x, b, e, a, t) }""",
        bits=True,
    )
    for a, b, y in (("4,0", "0,4", "4,4"), ("2,4,0", "0,3", "2,4,3")):
        yield Variant(
            f"""(float[{a}] a, float[{b}] b, float[{y}] c) => (float[{y}] y)
            {{ m = MatMul(a, b)  y = Add(m, c) }}""",
        )


def nearest() -> Iterator[Variant]:
    """Positions that lie in the middle of two."""
    for nearest, places in (
        ("round_prefer_ceil", [1, 5, 8, 11, 15, 18]),
        ("round_prefer_floor", [1, 4, 8, 11, 14, 18]),
    ):
        yield Variant(
            f"""(float[1,1,20] x) => (float[1,1,6] y) <int64[3] n = {{1, 1, 6}}> {{
              y = Resize<mode = "nearest", nearest_mode = "{nearest}">(x, "", "", n)
            }}""",
            {"x": ramp(1, 1, 20)},
            {"y": f32(*places).reshape(1, 1, 6)},
            bits=True,
            runtime=False,
        )
    for nearest, places in (
        ("floor", [1, 1, 1, 2, 2, 3, 3, 4]),
        ("ceil", [1, 2, 2, 3, 3, 4, 4, 4]),
    ):
        yield Variant(
            f"""(float[1,1,4] x) => (float[1,1,8] y) <float[3] s = {{1, 1, 2}}> {{
              y = Resize<mode = "nearest", nearest_mode = "{nearest}">(x, "", s)
            }}""",
            {"x": ramp(1, 1, 4) + 1},
            {"y": f32(*places).reshape(1, 1, 8)},
            bits=True,
            runtime=False,
        )


def quantised() -> Iterator[Variant]:
    """Convolutions between quantisations: the bias has a scale of its own."""
    for bias_scale in (0.5, 0.002):
        yield Variant(
            f"""(int8[1,2,5,5] x) => (float[1,3,5,5] y)
            <float xs = {{0.1}}, float ws = {{0.02}}, float bs = {{{bias_scale}}},
             float ys = {{0.2}}, int8 z = {{0}}, int32[3] b = {{7, -20, 300}},
             int64[4] n = {{3, 2, 3, 3}}> {{
              i = ConstantOfShape<value = int8[1] {{5}}>(n)
              dx = DequantizeLinear(x, xs)  dw = DequantizeLinear(i, ws)
              db = DequantizeLinear(b, bs)  c = Conv<pads = [1, 1, 1, 1]>(dx, dw, db)
              q = QuantizeLinear(c, ys, z)  y = DequantizeLinear(q, ys)
            }}""",
            {"x": np.arange(50, dtype=np.int8).reshape(1, 2, 5, 5) - 25},
            opset=19,
        )


def moved_quantisation() -> Iterator[Variant]:
    """A dequantisation without a zero point and what moves data after it."""
    moves = (("Transpose(d)", "3,2"), ("Reshape(d, n)", "6"), ("Unsqueeze(d, o)", "2,1,3"))
    for dtype, least in (("int8", -3), ("uint8", 0)):
        x = np.arange(least, least + 6).astype(dtype).reshape(2, 3)
        for move, shape in moves:
            yield Variant(
                f"""({dtype}[2,3] x) => ({dtype}[{shape}] q)
                <float s = {{0.1}}, {dtype} z = {{0}}, int64[1] n = {{6}}, int64[1] o = {{1}}> {{
                  d = DequantizeLinear(x, s)  t = {move}  r = Relu(t)  q = QuantizeLinear(r, s, z)
                }}""",
                {"x": x},
                opset=21,
                bits=True,
            )


def large() -> Iterator[Variant]:
    """More than one tile of a memory holds."""
    yield Variant("(float[48000] x) => (float[48000] y) { a = Exp(x)  b = Abs(a)  y = Sqrt(b) }")
    yield Variant(
        "(float[128,128] x, float[128,128] e) => (float[128,128] y) { a = Abs(x)  y = Pow(a, e) }"
    )
    yield Variant(
        "(float[3,70000] x) => (float[3,70000] y) { y = Softmax(x) }",
    )


def deep_sums() -> Iterator[Variant]:
    """Products over more than one tile of the sum, in 8, 16 and 32 bits."""
    whole = np.arange(16 * 512).reshape(16, 512) % 251 - 125
    inputs = {"a": whole.astype(np.int8), "b": whole.reshape(512, 16).astype(np.int8)}
    yield Variant(
        "(int8[16,512] a, int8[512,16] b) => (int32[16,16] y) { y = MatMulInteger(a, b) }",
        inputs,
        bits=True,
    )
    for dtype in (HALF, SINGLE):
        yield Variant(
            f"""({dtype}[16,520] a, {dtype}[520,24] b) => ({dtype}[16,24] y)
            {{ y = MatMul(a, b) }}""",
            runtime=dtype == SINGLE,
        )


def dependent_dots() -> Iterator[Variant]:
    """Products that look alike, one of which feeds another."""
    yield Variant(
        """(float[2,4] x, float[2,4] z, float[4,4] w, float[4] b) => (float[2,4] y, float[2,4] u)
        { p = MatMul(x, w)  q = Add(p, b)  y = MatMul(q, w)
          r = MatMul(z, w)  s = Add(r, b)  t = MatMul(s, w)  u = Add(t, y) }"""
    )
    yield Variant(
        """(float[2,4] x, float[4,4] w, float[4,4] v) => (float[2,4] y)
        { p = MatMul(x, w)  q = MatMul(x, v)  r = MatMul(q, w)  s = Add(p, r)  y = Add(s, q) }"""
    )


def asymmetric_pools() -> Iterator[Variant]:
    ones = np.ones((1, 1, 2, 2), np.float32)
    for include, wanted in ((1, [[1, 0.5], [0.5, 0.25]]), (0, [[1, 1], [1, 1]])):
        yield Variant(
            f"""(float[1,1,2,2] x) => (float[1,1,2,2] y) {{
              y = AveragePool<kernel_shape = [2, 2], pads = [0, 0, 1, 1],
                              count_include_pad = {include}>(x)
            }}""",
            {"x": ones},
            {"y": np.array(wanted, np.float32).reshape(1, 1, 2, 2)},
            runtime=False,
        )


def amplified() -> Iterator[Variant]:
    """A norm's error is made larger by what follows it."""
    spelled = "m = ReduceMean(x, l)  d = Sub(x, m)  q = Mul(d, d)  v = ReduceMean(q, l)"
    norms = (
        "n = LayerNormalization(x, s)",
        f"{spelled}  w = Add(v, c)  r = Sqrt(w)  u = Div(d, r)  n = Mul(u, s)",
        "t = Softmax(x)  m = ReduceMean(t, l)  n = Sub(t, m)",
    )
    for norm in norms:
        for end in ("Reciprocal", "Log"):
            yield Variant(
                f"""(float[64,128] x, float[128] s) => (float[64,128] y)
                <float c = {{0.000001}}, int64[1] l = {{-1}}>
                {{ {norm}  a = Abs(n)  e = Add(a, c)  y = {end}(e) }}"""
            )
