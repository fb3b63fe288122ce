"""Attention kernels of the graph level as text: heads, layouts, masks, what is done to scores."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Attention:
    """`own`: heads of keys, 0 for as many as of queries. `layout`: where heads stand in the inputs
    and the result, "bshd" or "bhsd", or "bmm": heads and batch are one axis, apart for the mask.

    `mask`: "keys" [B,1,1,N], "tile" [M,N], "heads" [1,H,M,N] are added; "where" [B,1,M,N] chooses.
    `joined`: queries, keys and values are slices of one tensor. `wide`: softmax in f32.
    """

    batch: int = 1
    heads: int = 2
    queries: int = 32
    keys: int = 32
    features: int = 16
    dtype: str = "f32"
    own: int = 0
    layout: str = "bshd"
    mask: str = ""
    scale: float = 0.25
    cap: float = 0.0
    joined: bool = False
    wide: bool = False

    @property
    def text(self) -> str:
        """A module with one graph.kernel."""
        write = _Writer(self)
        result = write.attention()
        body = "\n".join(f"  {line}" for line in write.lines)
        inputs = ", ".join(f"{name} : {type_}" for name, type_ in write.inputs)
        end = f"  graph.yield {result[0]} : {result[1]}"
        return f'graph.kernel @k "attention" ({inputs}) -> {result[1]} {{\n{body}\n{end}\n}}'


Value = tuple[str, str]


class _Writer:
    def __init__(self, case: Attention) -> None:
        self.case = case
        self.lines: list[str] = []
        self.inputs: list[Value] = []

    def type(self, shape: tuple[int, ...], dtype: str | None = None) -> str:
        return f"tensor<{'x'.join(map(str, (*shape, dtype or self.case.dtype)))}>"

    def input(self, shape: tuple[int, ...], dtype: str | None = None) -> Value:
        self.inputs.append((f"%x{len(self.inputs)}", self.type(shape, dtype)))
        return self.inputs[-1]

    def op(self, name: str, operands: list[Value], result: str, attributes: str = "") -> Value:
        names, types = ", ".join(n for n, _ in operands), ", ".join(t for _, t in operands)
        signature = f"({types})" if len(operands) > 1 else types
        found = f"%{len(self.lines)}"
        self.lines.append(f"{found} = graph.{name} {names} {attributes} : {signature} -> {result}")
        return found, result

    def number(self, value: float, dtype: str) -> Value:
        found = f"%{len(self.lines)}", f"tensor<{dtype}>"
        self.lines.append(f"{found[0]} = graph.constant dense<{value}> : {found[1]}")
        return found

    def attention(self) -> Value:
        case = self.case
        b, h, m, n, d = case.batch, case.heads, case.queries, case.keys, case.features
        own, dtype = case.own or h, "f32" if case.wide else case.dtype
        q, k, v = self.operands(own)
        flat = case.layout == "bmm"
        lead = (b * h,) if flat else (b, h)
        perm = "0, 2, 1" if flat else "0, 1, 3, 2"
        k = self.op("transpose", [k], self.type((*lead, d, n)), f"{{perm = [{perm}]}}")
        scores = self.op("matmul", [q, k], self.type((*lead, m, n)))
        if case.wide:
            scores = self.op("cast", [scores], self.type((*lead, m, n), "f32"), "{to = f32}")
        four = self.type((b, h, m, n), dtype)
        if flat:
            scores = self.op("reshape", [scores], four)
        scores = self.op("mul", [scores, self.number(case.scale, dtype)], four)
        if case.cap:
            cap = self.number(case.cap, dtype)
            scores = self.op("tanh", [self.op("div", [scores, cap], four)], four)
            scores = self.op("mul", [scores, cap], four)
        scores = self.masked(scores, four, dtype)
        if flat:
            scores = self.op("reshape", [scores], self.type((*lead, m, n), dtype))
        weights = self.op("softmax", [scores], scores[1])
        if case.wide:
            weights = self.op("cast", [weights], self.type((*lead, m, n)), f"{{to = {case.dtype}}}")
        result = self.op("matmul", [weights, v], self.type((*lead, m, d)))
        if case.layout != "bshd":
            return result
        return self.op("transpose", [result], self.type((b, m, h, d)), "{perm = [0, 2, 1, 3]}")

    def operands(self, own: int) -> list[Value]:
        case = self.case
        b, h, m, n, d = case.batch, case.heads, case.queries, case.keys, case.features
        if case.joined:
            whole = self.input((b, m, (h + 2 * own) * d))
            starts = (0, h, h + own)
            return [
                self.heads(self.slice(whole, start * d, heads * d), heads, m)
                for start, heads in zip(starts, (h, own, own), strict=True)
            ]
        if case.layout == "bmm":
            return [self.input((b * h, size, d)) for size in (m, n, n)]
        shapes = [(b, size, heads, d) for size, heads in ((m, h), (n, own), (n, own))]
        if case.layout == "bshd":
            return [self.shared(self.turned(self.input(s))) for s in shapes]
        return [self.shared(self.input((s[0], s[2], s[1], d))) for s in shapes]

    def slice(self, whole: Value, start: int, size: int) -> Value:
        case = self.case
        axes = f"{{axes = [2], starts = [{start}], ends = [{start + size}], steps = [1]}}"
        return self.op("slice", [whole], self.type((case.batch, case.queries, size)), axes)

    def heads(self, x: Value, heads: int, length: int) -> Value:
        case = self.case
        seen = self.op("reshape", [x], self.type((case.batch, length, heads, case.features)))
        return self.shared(self.turned(seen))

    def turned(self, x: Value) -> Value:
        """[B,S,H,D] as [B,H,S,D]."""
        b, s, h, d = _shape(x)
        return self.op("transpose", [x], self.type((b, h, s, d)), "{perm = [0, 2, 1, 3]}")

    def shared(self, x: Value) -> Value:
        """Each head for several heads of queries."""
        b, h, s, d = _shape(x)
        times = self.case.heads // h
        if times == 1:
            return x
        x = self.op("reshape", [x], self.type((b, h, 1, s, d)))
        x = self.op("expand", [x], self.type((b, h, times, s, d)))
        return self.op("reshape", [x], self.type((b, h * times, s, d)))

    def masked(self, scores: Value, four: str, dtype: str) -> Value:
        case = self.case
        b, h, m, n = case.batch, case.heads, case.queries, case.keys
        if case.mask == "where":
            low = self.number(-30000.0, dtype)
            return self.op("where", [self.input((b, 1, m, n), "i1"), scores, low], four)
        shapes = {"keys": (b, 1, 1, n), "tile": (m, n), "heads": (1, h, m, n)}
        if case.mask not in shapes:
            return scores
        return self.op("add", [scores, self.input(shapes[case.mask], dtype)], four)


def _shape(value: Value) -> tuple[int, ...]:
    return tuple(int(size) for size in value[1][len("tensor<") : -1].split("x")[:-1])
