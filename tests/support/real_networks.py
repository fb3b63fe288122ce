"""The real networks that tests and the bench compile: where each is, and what it has to reach.

Seven lie in examples/models, the light ones come with the `onnx` package (weights of one repeated
number, seeded here), PP-OCR with a wheel of its own (real weights).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import fusec
from fusec.accuracy.inputs import seeded_inputs
from fusec.accuracy.reference import run_reference
from fusec.semantics.dtypes import Array

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/models"

TOLERANCE = 1e-4
"""Largest error of float32 networks against ONNX Runtime, relative to the largest output."""

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Network:
    """`kernels` is the bound under `objective=kernels`; `quick` ones run in the default suite.

    `place` is a file of examples/models, or a package and a file inside of it.
    """

    place: str | tuple[str, str]
    kernels: int
    quick: bool = False
    shapes: Shapes = field(default_factory=dict[str, tuple[int, ...]])

    @property
    def path(self) -> Path | None:
        """The model file; None where its package is not installed. Imports nothing."""
        if isinstance(self.place, str):
            return EXAMPLES / f"{self.place}.onnx"
        package, file = self.place
        spec = find_spec(package)
        folders = (spec.submodule_search_locations or ()) if spec is not None else ()
        return next((Path(folder) / file for folder in folders), None)

    @property
    def file(self) -> Path:
        """The model file; skips the test where its package is not installed."""
        path = self.path
        if path is None:
            pytest.skip(f"the package {self.place[0]} is not installed; `make venv` does it")
        return path


def _light(name: str) -> tuple[str, str]:
    return "onnx", f"backend/test/data/light/light_{name}.onnx"


def _ppocr(name: str, kernels: int, height: int, width: int) -> Network:
    place = "rapidocr_onnxruntime", f"models/{name}_infer.onnx"
    return Network(place, kernels, shapes={"x": (1, 3, height, width)})


PPOCR = {
    "ppocr_det": _ppocr("ch_PP-OCRv4_det", 105, 320, 320),
    "ppocr_rec": _ppocr("ch_PP-OCRv4_rec", 55, 48, 320),
    "ppocr_cls": _ppocr("ch_ppocr_mobile_v2.0_cls", 47, 48, 192),
}
"""PP-OCRv4: text detection, recognition and direction. Dynamic shapes, given here."""

NETWORKS = {
    "resnet50": Network("resnet50", 54),
    "mobilenet_v2": Network("mobilenet_v2", 52, quick=True),
    "efficientnet_b0": Network("efficientnet_b0", 113),
    "convnext_tiny": Network("convnext_tiny", 124),
    "bert_base_s128": Network("bert_base_s128", 150, quick=True),
    "gpt2_s128": Network("gpt2_s128", 180),
    "llama_4l_s128": Network("llama_4l_s128", 90, quick=True),
    "light_resnet50": Network(_light("resnet50"), 57, quick=True),
    "light_shufflenet": Network(_light("shufflenet"), 80),
    "light_inception_v1": Network(_light("inception_v1"), 80),
    "light_inception_v2": Network(_light("inception_v2"), 85),
    "light_densenet121": Network(_light("densenet121"), 190),
    "light_squeezenet": Network(_light("squeezenet"), 32, quick=True),
    "light_vgg19": Network(_light("vgg19"), 26),
    **PPOCR,
}


@dataclass
class Case:
    """A network with its weights (seeded where the file has one number), inputs, and ONNX
    Runtime's answer.
    """

    model: fusec.Model
    inputs: dict[str, Array]
    reference: dict[str, Array]


def load(network: Network, seed: int = 0) -> Case:
    """Reads a network, draws weights and inputs, runs ONNX Runtime without its optimisations."""
    model = fusec.load(network.file, network.shapes)
    repeated = set(model.weights.repeated)
    model = model.seeded(seed)
    inputs = seeded_inputs(model.module, seed)
    reference = run_reference(model.path, model.weights, repeated, inputs)
    return Case(model, inputs, reference)


@cache
def compiled(name: str) -> tuple[Case, fusec.Compiled]:
    """A network compiled for the fewest kernels, once in a process."""
    case = load(NETWORKS[name])
    return case, fusec.compile(case.model, objective="kernels")


def is_alive(output: Array) -> bool:
    """Whether an output can show an error: all of it finite, and the largest element not alone
    within a thousandth of its size, as in a softmax that knows one class only.
    """
    sizes = np.abs(output)
    largest = float(sizes.max(initial=0.0))
    near = int(np.count_nonzero(sizes > largest / 1000))
    return bool(np.isfinite(output).all()) and largest > 0 and near > 1
