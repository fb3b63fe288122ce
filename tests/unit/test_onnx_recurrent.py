"""RNN, GRU and LSTM against ONNX Runtime in every form, by meaning and as placed kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from fusec.frontends.errors import ImportFailure
from fusec.semantics.dtypes import Array
from onnx_model import by_kernels, by_meaning, model_of
from ort import by_runtime

RANDOM = np.random.default_rng(9)
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
STEPS, BATCH, INPUTS, HIDDEN = 5, 3, 4, 6


def random(*shape: int) -> Array:
    return (RANDOM.standard_normal(shape) * 0.7).astype(np.float32)


def parts(op: str, directions: int) -> dict[str, Array]:
    """Weights, biases and initial states by the names of ONNX."""
    gates = GATES[op]
    found = {
        "W": random(directions, gates * HIDDEN, INPUTS),
        "R": random(directions, gates * HIDDEN, HIDDEN),
        "B": random(directions, 2 * gates * HIDDEN),
        "initial_h": random(directions, BATCH, HIDDEN),
    }
    if op == "LSTM":
        found |= {"initial_c": random(directions, BATCH, HIDDEN)}
        found |= {"P": random(directions, 3 * HIDDEN)}
    return found


ORDER = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")


def model(
    op: str,
    given: dict[str, Array],
    inputs: dict[str, Array],
    outputs: tuple[str, ...] = (),
    opset: int = 14,
    **attrs: Any,
) -> bytes:
    names = [name if name in given or name in inputs else "" for name in ORDER]
    while not names[-1]:
        names.pop()
    results = outputs or (("Y", "H", "C") if op == "LSTM" else ("Y", "H"))
    node = helper.make_node(op, names, list(results), hidden_size=HIDDEN, **attrs)
    return model_of([node], inputs, given, opset, tuple(filter(None, results)))


def agree(found: dict[str, Array], wanted: dict[str, Array]) -> None:
    for name, array in wanted.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-4, atol=2e-6, err_msg=name)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("lengths", [None, (5, 2, 1), "computed"])
@pytest.mark.parametrize("op", GATES)
def test_forms(op: str, direction: str, lengths: Any) -> None:
    """Lengths that are constant or computed: what is past a sequence's end is 0."""
    given = parts(op, 2 if direction == "bidirectional" else 1)
    inputs = {"X": random(STEPS, BATCH, INPUTS)}
    if lengths == "computed":
        inputs["sequence_lens"] = np.array([1, 5, 3], np.int32)
    elif lengths is not None:
        given["sequence_lens"] = np.array(lengths, np.int32)
    proto = model(op, given, inputs, direction=direction)
    agree(by_meaning(proto, inputs), by_runtime(proto, inputs))


@pytest.mark.parametrize("absent", [("B",), ("initial_h", "initial_c"), ("P",)])
@pytest.mark.parametrize("op", GATES)
def test_absent_inputs(op: str, absent: tuple[str, ...]) -> None:
    given = {k: v for k, v in parts(op, 1).items() if k not in absent}
    inputs = {"X": random(STEPS, BATCH, INPUTS)}
    proto = model(op, given, inputs)
    agree(by_meaning(proto, inputs), by_runtime(proto, inputs))


@pytest.mark.parametrize(
    "attrs",
    [
        {"linear_before_reset": 1},
        {"clip": 0.5},
        {
            "activations": ["HardSigmoid", "Relu"],
            "activation_alpha": [0.3],
            "activation_beta": [0.4],
        },
        {"activations": ["Sigmoid", "LeakyRelu"], "activation_alpha": [0.2]},
        {
            "activations": ["Softsign", "ScaledTanh"],
            "activation_alpha": [2.0],
            "activation_beta": [0.5],
        },
    ],
)
def test_gru_attributes(attrs: dict[str, Any]) -> None:
    given, inputs = parts("GRU", 1), {"X": random(STEPS, BATCH, INPUTS)}
    proto = model("GRU", given, inputs, **attrs)
    agree(by_meaning(proto, inputs), by_runtime(proto, inputs))


@pytest.mark.parametrize(
    "attrs",
    [
        {"input_forget": 1},
        {"clip": 0.4},
        {"activations": ["Sigmoid", "Elu", "Relu"], "activation_alpha": [0.5]},
    ],
)
def test_lstm_attributes(attrs: dict[str, Any]) -> None:
    given, inputs = parts("LSTM", 1), {"X": random(STEPS, BATCH, INPUTS)}
    proto = model("LSTM", given, inputs, **attrs)
    agree(by_meaning(proto, inputs), by_runtime(proto, inputs))


@pytest.mark.parametrize("op", GATES)
def test_batch_first(op: str) -> None:
    """layout = 1 is the same with the axes swapped (ONNX Runtime has not got it)."""
    given, inputs = parts(op, 2), {"X": random(STEPS, BATCH, INPUTS)}
    plain = by_meaning(model(op, given, inputs, direction="bidirectional"), inputs)
    swapped = {k: v.swapaxes(0, 1) if "initial" in k else v for k, v in given.items()}
    other = {"X": inputs["X"].swapaxes(0, 1)}
    found = by_meaning(model(op, swapped, other, direction="bidirectional", layout=1), other)
    np.testing.assert_array_equal(found["Y"], plain["Y"].transpose(2, 0, 1, 3))
    for name in plain.keys() - {"Y"}:
        np.testing.assert_array_equal(found[name], plain[name].swapaxes(0, 1))


@pytest.mark.parametrize("op", GATES)
def test_kernels(op: str) -> None:
    """The last state alone, as speech detectors take it, with lengths that are computed."""
    given = parts(op, 1)
    inputs = {"X": random(STEPS, BATCH, INPUTS), "sequence_lens": np.array([5, 1, 4], np.int32)}
    proto = model(op, given, inputs, ("", "H"))
    agree(by_kernels(proto, inputs), by_runtime(proto, inputs))


def test_weights_that_are_computed() -> None:
    """All inputs but the sequence may come from anywhere."""
    given = parts("LSTM", 1)
    inputs = {"X": random(STEPS, BATCH, INPUTS), **given}
    proto = model("LSTM", {}, inputs)
    agree(by_meaning(proto, inputs), by_runtime(proto, inputs))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"direction": "sideways"}, "direction 'sideways' is unknown"),
        ({"activations": ["Sigmoid", "Sine", "Tanh"]}, "activation 'sine' is unknown"),
        ({"activations": ["Tanh"]}, "1 activations, expected 3"),
    ],
)
def test_refused(change: dict[str, Any], says: str) -> None:
    inputs = {"X": random(STEPS, BATCH, INPUTS)}
    with pytest.raises(ImportFailure, match=f"LSTM.*{says}"):
        by_meaning(model("LSTM", parts("LSTM", 1), inputs, **change), inputs)


def test_long_sequence_is_refused() -> None:
    inputs = {"X": random(513, 1, INPUTS)}
    given = {k: v for k, v in parts("GRU", 1).items() if k != "initial_h"}
    with pytest.raises(ImportFailure, match="513 steps; it is unrolled up to 512"):
        by_meaning(model("GRU", given, inputs), inputs)
