"""ONNX's RNN, GRU and LSTM, unrolled: one product of the whole sequence with the input weights,
then the steps of the recurrence one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
import onnx
from onnx import AttributeProto
from xdsl.ir import SSAValue

from fusec.frontends.errors import ImportFailure
from fusec.frontends.onnx.entry import Entry
from fusec.frontends.onnx.folding import Result
from fusec.frontends.onnx.maker import Maker
from fusec.frontends.onnx.node import Node
from fusec.frontends.onnx.operators_math import softplus
from fusec.semantics.types import numpy_type

MOST_STEPS = 512
"""Steps of a sequence up to which it is unrolled; a step is about a dozen operators."""

Function: TypeAlias = Callable[[Maker, SSAValue], SSAValue]
Step: TypeAlias = Callable[["_Direction", SSAValue, "_State"], "_State"]


def _affine(m: Maker, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    return m("add", m("mul", x, alpha), beta)


def _thresholded(m: Maker, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    return m("where", m("greater_or_equal", x, alpha), x, 0.0)


def _scaled_tanh(m: Maker, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    return m("mul", m("tanh", m("mul", x, beta)), alpha)


def _hard_sigmoid(m: Maker, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    return m("clip", _affine(m, x, alpha, beta), min=0.0, max=1.0)


def _elu(m: Maker, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    below = m("mul", m("sub", m("exp", m("min", x, 0.0)), 1.0), alpha)
    return m("add", m("relu", x), below)


def _softsign(m: Maker, x: SSAValue) -> SSAValue:
    return m("div", x, m("add", m("abs", x), 1.0))


_PLAIN: dict[str, Function] = {
    "relu": lambda m, x: m("relu", x),
    "tanh": lambda m, x: m("tanh", x),
    "sigmoid": lambda m, x: m("sigmoid", x),
    "softsign": _softsign,
    "softplus": softplus,
}
"""Activations without numbers, by their names in lower case."""

_NUMBERED: dict[
    str, tuple[Callable[[Maker, SSAValue, float, float], SSAValue], float, float | None]
] = {
    "affine": (_affine, 1.0, 0.0),
    "leakyrelu": (lambda m, x, alpha, beta: m("leaky_relu", x, alpha=alpha), 0.01, None),
    "thresholdedrelu": (_thresholded, 1.0, None),
    "scaledtanh": (_scaled_tanh, 1.0, 1.0),
    "hardsigmoid": (_hard_sigmoid, 0.2, 0.5),
    "elu": (_elu, 1.0, None),
}
"""Activations with their default alpha and beta (None: it has no beta)."""


def _list(node: Node, name: str, kind: AttributeProto.AttributeType) -> list[object]:
    """An attribute that is a list; empty where it is absent."""
    for attribute in node.proto.attribute:
        if attribute.name == name:
            if attribute.type != kind:
                raise ImportFailure(f"attribute '{name}' is of the wrong kind")
            return list(cast("Sequence[object]", onnx.helper.get_attribute_value(attribute)))
    return []


def _activations(node: Node, defaults: Sequence[str], directions: int) -> list[Function]:
    """The functions of all directions; alphas and betas go to those that take them, in order."""
    names = [
        cast(bytes, n).decode().lower() for n in _list(node, "activations", AttributeProto.STRINGS)
    ] or [*defaults] * directions
    if len(names) != len(defaults) * directions:
        raise ImportFailure(f"{len(names)} activations, expected {len(defaults) * directions}")
    alphas, betas = (
        iter(cast("list[float]", _list(node, name, AttributeProto.FLOATS)))
        for name in ("activation_alpha", "activation_beta")
    )
    return [_activation(name, alphas, betas) for name in names]


def _activation(name: str, alphas: Iterator[float], betas: Iterator[float]) -> Function:
    if name in _PLAIN:
        return _PLAIN[name]
    if name not in _NUMBERED:
        raise ImportFailure(f"activation '{name}' is unknown; use {', '.join(_PLAIN)}, ...")
    function, first, second = _NUMBERED[name]
    alpha = next(alphas, first)
    beta = 0.0 if second is None else next(betas, second)
    return lambda m, x: function(m, x, alpha, beta)


@dataclass(frozen=True)
class _State:
    """What a step hands to the next, each [batch, hidden]; `c` of LSTM only."""

    h: SSAValue
    c: SSAValue | None = None


@dataclass(frozen=True)
class _Direction:
    """One direction: recurrent weights [hidden, gates hidden], the recurrent bias of GRU's last
    gate, peepholes [hidden] for input, output and forget gate."""

    m: Maker
    hidden: int
    recurrent: SSAValue
    last_bias: SSAValue | None
    peepholes: tuple[SSAValue, ...]
    functions: tuple[Function, ...]

    def gate(self, x: SSAValue, number: int) -> SSAValue:
        return self.m.cut(x, 1, number * self.hidden, (number + 1) * self.hidden)

    def act(self, number: int, x: SSAValue) -> SSAValue:
        """Activation `number`, on what `clip` leaves of x."""
        limit = self.m.node.float_("clip", 0.0)
        if limit > 0.0:
            x = self.m("clip", x, min=-limit, max=limit)
        return self.functions[number](self.m, x)


def _rnn_step(d: _Direction, x: SSAValue, state: _State) -> _State:
    return _State(d.act(0, d.m("add", x, d.m("matmul", state.h, d.recurrent))))


def _gru_step(d: _Direction, x: SSAValue, state: _State) -> _State:
    """Gates z, r, h: H = (1 - z) h + z H."""
    m, size = d.m, d.hidden
    first = d.m.cut(x, 1, 0, 2 * size)
    if m.node.int_("linear_before_reset", 0):
        product = m("matmul", state.h, d.recurrent)
        gates = d.act(0, m("add", first, m.cut(product, 1, 0, 2 * size)))
        part = d.gate(product, 2)
        part = part if d.last_bias is None else m("add", part, d.last_bias)
        part = m("mul", d.gate(gates, 1), part)
    else:
        weights = m.cut(d.recurrent, 1, 0, 2 * size)
        gates = d.act(0, m("add", first, m("matmul", state.h, weights)))
        reset = m("mul", d.gate(gates, 1), state.h)
        part = m("matmul", reset, m.cut(d.recurrent, 1, 2 * size, 3 * size))
    new = d.act(1, m("add", d.gate(x, 2), part))
    z = d.gate(gates, 0)
    return _State(m("add", m("mul", m("sub", 1.0, z), new), m("mul", z, state.h)))


def _lstm_step(d: _Direction, x: SSAValue, state: _State) -> _State:
    """Gates i, o, f, c: C = f C + i c, H = o h(C)."""
    m, old = d.m, cast(SSAValue, state.c)
    total = m("add", x, m("matmul", state.h, d.recurrent))

    def seen(number: int, by: int, c: SSAValue) -> SSAValue:
        gate = d.gate(total, number)
        return m("add", gate, m("mul", c, d.peepholes[by])) if d.peepholes else gate

    i = d.act(0, seen(0, 0, old))
    f = m("sub", 1.0, i) if m.node.int_("input_forget", 0) else d.act(0, seen(2, 2, old))
    c = m("add", m("mul", f, old), m("mul", i, d.act(1, d.gate(total, 3))))
    o = d.act(0, seen(1, 1, c))
    return _State(m("mul", o, d.functions[2](m, c)), c)


@dataclass(frozen=True)
class _Kind:
    """One of the three: how many gates, default activations, the step."""

    gates: int
    activations: tuple[str, ...]
    step: Step
    cell: bool = False


_RNN = _Kind(1, ("tanh",), _rnn_step)
_GRU = _Kind(3, ("sigmoid", "tanh"), _gru_step)
_LSTM = _Kind(4, ("sigmoid", "tanh", "tanh"), _lstm_step, cell=True)


class _Unrolled:
    """One node while it is unrolled. Shapes inside: x [steps, batch, inputs], states [batch,
    hidden]."""

    def __init__(self, node: Node, kind: _Kind) -> None:
        self.node, self.kind, self.m = node, kind, Maker(node)
        self.batch_first = bool(node.int_("layout", 0))
        x = node.value(0)
        if len(node.shape(x)) != 3:
            raise ImportFailure("the sequence is not of rank 3")
        self.x = self.m.transpose(x, 1, 0, 2) if self.batch_first else x
        self.steps, self.batch, self.inputs = self.m.sizes(self.x)
        if not 1 <= self.steps <= MOST_STEPS:
            raise ImportFailure(
                f"a sequence of {self.steps} steps; it is unrolled up to {MOST_STEPS}, cut it into "
                "shorter ones with initial states"
            )
        count, self.hidden, inputs = self.m.sizes(node.value(1))
        directions = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
        name = node.text("direction", "forward")
        if name not in directions:
            raise ImportFailure(f"direction '{name}' is unknown")
        self.directions = directions[name]
        self.hidden //= kind.gates
        declared = node.int_("hidden_size", self.hidden)
        if (count, inputs, declared) != (len(self.directions), self.inputs, self.hidden):
            raise ImportFailure(
                f"weights of {count} directions, {inputs} inputs and {self.hidden} hidden values "
                f"for {len(self.directions)}, {self.inputs} and {declared}"
            )

    def part(self, index: int, direction: int) -> SSAValue | None:
        """An optional input of one direction, without the axis of directions."""
        if not self.node.has(index):
            return None
        value = self.node.value(index)
        one = self.m.cut(value, 0, direction, direction + 1)
        return self.m("squeeze", one, axes=(0,))

    def direction(self, number: int, functions: Sequence[Function]) -> tuple[_Direction, SSAValue]:
        """The weights of one direction, and what the inputs add to all gates of all steps:
        [steps, batch, gates hidden]."""
        m, width = self.m, self.kind.gates * self.hidden
        w, r = (cast(SSAValue, self.part(index, number)) for index in (1, 2))
        flat = m.reshape(self.x, (self.steps * self.batch, self.inputs))
        gates = m("matmul", flat, m.transpose(w, 1, 0))
        last = None
        bias = self.part(3, number)
        if bias is not None:
            recurrent = m.cut(bias, 0, width, 2 * width)
            if self.kind is _GRU and self.node.int_("linear_before_reset", 0):
                last = m.cut(recurrent, 0, 2 * self.hidden, width)
                rest = m.cut(recurrent, 0, 0, 2 * self.hidden)
                recurrent = m("pad", rest, pads=(0, self.hidden))
            gates = m("add", gates, m("add", m.cut(bias, 0, 0, width), recurrent))
        peepholes = self.part(7, number) if self.kind.cell else None
        cuts = () if peepholes is None else (0, 1, 2)
        size = self.hidden
        found = _Direction(
            m,
            size,
            m.transpose(r, 1, 0),
            last,
            tuple(m.cut(cast(SSAValue, peepholes), 0, i * size, (i + 1) * size) for i in cuts),
            tuple(functions),
        )
        return found, m.reshape(gates, (self.steps, self.batch, width))

    def start(self, index: int, number: int) -> SSAValue:
        """The initial state of one direction; zeros where there is none."""
        if not self.node.has(index):
            dtype = numpy_type(self.node.element(self.x)).name
            return self.m.filled((self.batch, self.hidden), 0.0, dtype)
        value = self.node.value(index)
        if self.batch_first:
            value = self.m.transpose(value, 1, 0, 2)
        return self.m("squeeze", self.m.cut(value, 0, number, number + 1), axes=(0,))

    def within(self, step: int) -> SSAValue | None:
        """Which sequences are that long, [batch, 1]; None where all are."""
        known = self.node.known(4)
        if not self.node.has(4) or (known is not None and bool((known > step).all())):
            return None
        if known is not None:
            return self.node.constant(np.asarray(known > step).reshape(self.batch, 1))
        lengths = self.m.reshape(self.node.value(4), (self.batch, 1))
        return self.m("greater", lengths, np.array(step, np.int32))

    def run(self, number: int, backward: bool, functions: Sequence[Function]) -> list[SSAValue]:
        """The outputs of every step, [batch, hidden], in order of time; then the last h and c."""
        m = self.m
        direction, gates = self.direction(number, functions)
        state = _State(self.start(5, number), self.start(6, number) if self.kind.cell else None)
        outputs: list[SSAValue] = []
        order = range(self.steps)
        for step in reversed(order) if backward else order:
            x = m("squeeze", m.cut(gates, 0, step, step + 1), axes=(0,))
            new, inside = self.kind.step(direction, x, state), self.within(step)
            if inside is None:
                state = new
                outputs.append(new.h)
                continue
            c = None if new.c is None else m("where", inside, new.c, cast(SSAValue, state.c))
            state = _State(m("where", inside, new.h, state.h), c)
            outputs.append(m("where", inside, new.h, 0.0))
        if backward:
            outputs.reverse()
        return [*outputs, state.h, *([] if state.c is None else [state.c])]

    def results(self) -> Sequence[Result]:
        """Y of all steps, Y_h, and Y_c of LSTM."""
        m, count = self.m, len(self.kind.activations)
        functions = _activations(self.node, self.kind.activations, len(self.directions))
        runs = [
            self.run(number, backward, functions[number * count : (number + 1) * count])
            for number, backward in enumerate(self.directions)
        ]
        one = (1, self.batch, self.hidden)
        columns: list[SSAValue] = []
        for run in runs:
            rows = [m.reshape(h, one) for h in run[: self.steps]]
            whole = m("concat", *rows, axis=0) if len(rows) > 1 else rows[0]
            columns.append(m.reshape(whole, (self.steps, 1, self.batch, self.hidden)))
        y = m("concat", *columns, axis=1) if len(columns) > 1 else columns[0]
        states: list[SSAValue] = []
        for index in range(self.steps, len(runs[0])):
            parts = [m.reshape(run[index], one) for run in runs]
            states.append(m("concat", *parts, axis=0) if len(parts) > 1 else parts[0])
        if not self.batch_first:
            return y, *states
        return m.transpose(y, 2, 0, 1, 3), *(m.transpose(state, 1, 0, 2) for state in states)


def _recurrent(kind: _Kind) -> Entry:
    return lambda node: _Unrolled(node, kind).results()


RECURRENT: dict[str, list[tuple[int, Entry]]] = {
    "RNN": [(7, _recurrent(_RNN))],
    "GRU": [(7, _recurrent(_GRU))],
    "LSTM": [(7, _recurrent(_LSTM))],
}
"""Entries by operator type, the newest opset first."""
