"""Random regions for the vector family, as text: elementwise DAGs, reductions, norms, views."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

SHAPES = (
    (17, 5),
    (197,),
    (1001,),
    (1, 24, 96),
    (3, 7, 50),
    (2, 3, 4, 5),
    (1, 1),
    (40, 1, 33),
    (6, 130),
    (2, 9, 65),
    (5, 64, 3),
)
UNARY = ("relu", "abs", "neg", "tanh", "sigmoid", "gelu", "erf", "identity", "leaky_relu")
BINARY = ("add", "sub", "mul", "max", "min")
REDUCTIONS = ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min")
COMPARISONS = ("greater", "less", "greater_or_equal", "less_or_equal", "equal")

Shape = tuple[int, ...]


def tensor(shape: Shape, dtype: str) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}{dtype}>"


@dataclass
class RegionText:
    """A kernel's text under construction; every value is (name, shape, element type)."""

    rng: random.Random
    dtype: str
    arguments: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])
    types: dict[str, tuple[Shape, str]] = field(default_factory=dict[str, tuple[Shape, str]])
    masks: list[str] = field(default_factory=list[str])

    def type(self, value: str) -> str:
        return tensor(*self.types[value])

    def argument(self, shape: Shape, dtype: str | None = None) -> str:
        name = f"%a{len(self.arguments)}"
        self.types[name] = (shape, dtype or self.dtype)
        self.arguments.append(f"{name}: {self.type(name)}")
        return name

    def op(
        self, name: str, operands: list[str], shape: Shape, attrs: str = "", dtype: str = ""
    ) -> str:
        result = f"%{len(self.lines)}"
        self.types[result] = (shape, dtype or self.types[operands[-1]][1])
        types = ", ".join(self.type(o) for o in operands)
        types = f"({types})" if len(operands) > 1 else types
        left = f"  {result} = graph.{name} {', '.join(operands)} {attrs}"
        self.lines.append(f"{left} : {types} -> {self.type(result)}")
        return result

    def constant(self, value: float) -> str:
        """A scalar of the region's type: halves, so that every type holds them."""
        name = f"%c{len(self.lines)}"
        self.types[name] = ((), self.dtype)
        self.lines.append(f"  {name} = graph.constant dense<{value}> : tensor<{self.dtype}>")
        return name

    def finish(self, outputs: list[str]) -> str:
        types = ", ".join(map(self.type, outputs))
        return (
            f'graph.kernel @k "k"({", ".join(self.arguments)}) -> {types} {{\n'
            + "\n".join(self.lines)
            + f"\n  graph.yield {', '.join(outputs)} : {types}\n}}\n"
        )

    # Pieces

    def operand(self, shape: Shape) -> str:
        """Something that broadcasts to a shape: an input, perhaps smaller, transposed or sliced."""
        kind = self.rng.choice(["full", "full", "broadcast", "transposed", "sliced", "constant"])
        if kind == "constant":
            return self.constant(self.rng.choice([0.5, 2.0, -1.5, 3.0]))
        if kind == "broadcast":
            lead = self.rng.randrange(len(shape) + 1)
            return self.argument(tuple(n if self.rng.random() < 0.6 else 1 for n in shape[lead:]))
        if kind == "transposed" and len(shape) > 1:
            at = self.rng.randrange(len(shape) - 1)
            perm = list(range(len(shape)))
            perm[at], perm[at + 1] = perm[at + 1], perm[at]
            stored = self.argument(tuple(shape[p] for p in perm))
            return self.op("transpose", [stored], shape, f"{{perm = {perm}}}")
        if kind == "sliced":
            at = self.rng.randrange(len(shape))
            begin = self.rng.choice([0, 1, 3])
            whole = self.argument((*shape[:at], shape[at] + begin + 2, *shape[at + 1 :]))
            attrs = (
                f"{{starts = [{begin}], ends = [{begin + shape[at]}], axes = [{at}], steps = [1]}}"
            )
            return self.op("slice", [whole], shape, attrs)
        return self.argument(shape)

    def step(self, value: str) -> str:
        """One more operator on a value; its shape stays."""
        shape = self.types[value][0]
        kinds = ["unary", "unary", "binary", "binary", "reduce", "norm", "select", "view"]
        kind = self.rng.choice(kinds)
        if kind == "view":
            return self.view(value, shape)
        if kind == "unary":
            return self.unary(value, shape)
        if kind == "binary":
            other = self.operand(shape)
            pair = [value, other] if self.rng.random() < 0.6 else [other, value]
            if self.rng.random() < 0.2:
                positive = self.op(
                    "exp", [self.op("tanh", [other], self.types[other][0])], self.types[other][0]
                )
                return self.op("div", [value, positive], shape)
            return self.op(self.rng.choice(BINARY), pair, shape)
        if kind == "reduce":
            axes = sorted(self.rng.sample(range(len(shape)), self.rng.randint(1, len(shape))))
            kept = tuple(1 if i in axes else n for i, n in enumerate(shape))
            reduced = self.op(self.rng.choice(REDUCTIONS), [value], kept, f"{{axes = {axes}}}")
            return self.op("sub", [value, reduced], shape)
        if kind == "select":
            mode = self.rng.choice(COMPARISONS)
            mask = self.op(mode, [value, self.constant(0.5)], shape, dtype="i1")
            if self.rng.random() < 0.3:
                mask = self.op("not", [mask], shape)
            if self.rng.random() < 0.3:
                given = self.argument(shape[self.rng.randrange(len(shape)) :], "i1")
                mask = self.op(self.rng.choice(["and", "or", "xor"]), [mask, given], shape)
            self.masks.append(mask)
            return self.op("where", [mask, value, self.operand(shape)], shape)
        return self.norm(value, shape)

    def view(self, value: str, shape: Shape) -> str:
        """The value under another shape, or transposed."""
        if len(shape) > 1 and self.rng.random() < 0.5:
            at = self.rng.randrange(len(shape) - 1)
            perm = list(range(len(shape)))
            perm[at], perm[at + 1] = perm[at + 1], perm[at]
            return self.op(
                "transpose", [value], tuple(shape[p] for p in perm), f"{{perm = {perm}}}"
            )
        if self.rng.random() < 0.5:
            return self.op("reshape", [value], _reshaped(shape))
        return self.op("unsqueeze", [value], (*shape, 1), f"{{axes = [{len(shape)}]}}")

    def unary(self, value: str, shape: Shape) -> str:
        name = self.rng.choice([*UNARY, "sqrt", "exp", "clip", "pow"])
        if name == "sqrt":
            return self.op("sqrt", [self.op("abs", [value], shape)], shape)
        if name == "exp":
            return self.op("exp", [self.op("tanh", [value], shape)], shape)
        if name == "clip":
            return self.op("clip", [value], shape, "{min = -1.5, max = 0.75}")
        if name == "pow":
            return self.op("pow", [value, self.constant(2.0)], shape)
        if name == "gelu" and self.rng.random() < 0.5:
            return self.op("gelu", [value], shape, '{approximate = "tanh"}')
        return self.op(name, [value], shape)

    def norm(self, value: str, shape: Shape) -> str:
        name = self.rng.choice(["softmax", "log_softmax", "layer_normalization"])
        axis = self.rng.randrange(len(shape))
        if name != "layer_normalization":
            return self.op(name, [value], shape, f"{{axis = {axis}}}")
        scale, bias = (self.argument(shape[axis:]) for _ in range(2))
        return self.op(name, [value, scale, bias], shape, f"{{axis = {axis}}}")


def random_region(seed: int) -> str:
    """A region of one to eight operators in one element type, with one or two outputs."""
    rng = random.Random(seed)
    text = RegionText(rng, rng.choice(["f32", "f32", "f32", "f16", "f16", "bf16"]))
    shape = rng.choice(SHAPES)
    value = text.argument(shape)
    values = [value]
    for _ in range(rng.randint(1, 6)):
        value = text.step(value)
        values.append(value)
    outputs = [value]
    if rng.random() < 0.3 and len(values) > 2:
        outputs.append(values[-2])
    if rng.random() < 0.3:
        outputs[0] = text.op("reshape", [value], _reshaped(text.types[value][0]))
    outputs += rng.sample(text.masks, min(1, len(text.masks)))
    return text.finish(outputs)


def random_integers(seed: int) -> str:
    """A region of i32 arithmetic, with casts from and to other types around it."""
    rng = random.Random(seed)
    text = RegionText(rng, "i32")
    shape = rng.choice(SHAPES)
    source = rng.choice(["i32", "i64", "i8", "i1", "f32"])
    value = text.argument(shape, source)
    if source != "i32":
        value = text.op("cast", [value], shape, "{to = i32}", "i32")
    for _ in range(rng.randint(1, 3)):
        name = rng.choice(["add", "sub", "mul", "max", "min", "neg", "abs", "relu", "reduce"])
        if name == "reduce":
            axis = rng.randrange(len(shape))
            kept = tuple(1 if i == axis else n for i, n in enumerate(shape))
            kind = rng.choice(["reduce_sum", "reduce_max", "reduce_min"])
            reduced = text.op(kind, [value], kept, f"{{axes = [{axis}]}}")
            value = text.op("sub", [value, reduced], shape)
        elif name in ("neg", "abs", "relu"):
            value = text.op(name, [value], shape)
        else:
            value = text.op(name, [value, text.argument(shape[rng.randrange(len(shape)) :])], shape)
    to = rng.choice(["i32", "f32", "f16", "i64", "bf16", "i1"])
    if to != "i32":
        value = text.op("cast", [value], shape, f"{{to = {to}}}", to)
    return text.finish([value])


def _reshaped(shape: Shape) -> Shape:
    """The same elements in another shape: the first two dimensions merged, or a 1 put in front."""
    return (shape[0] * shape[1], *shape[2:]) if len(shape) > 1 else (1, *shape)
