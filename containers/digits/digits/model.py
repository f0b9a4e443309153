# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A small fully connected network over one flat vector of parameters.

One vector makes the rest short: the all-reduce is one sum, momentum one line, a checkpoint two arrays.
Hidden layers are rectified, the last is a softmax, the loss is cross-entropy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from digits.dataset import BRIGHTEST, SIDE, Bytes

Floats = npt.NDArray[np.float64]
Layers = tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Gradient:
    """Sums over a batch, not means: sums of several ranks add up to those of the whole batch."""

    parameters: Floats
    loss: float
    correct: int


def parameter_count(layers: Layers) -> int:
    """Return how many weights and biases a network with these layer widths has."""
    return sum(inputs * outputs + outputs for inputs, outputs in pairwise(layers))


def unpack(layers: Layers, parameters: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield each layer's weights (inputs, outputs) and biases (outputs,) as views into `parameters`."""
    start = 0
    for inputs, outputs in pairwise(layers):
        middle = start + inputs * outputs
        yield parameters[start:middle].reshape(inputs, outputs), parameters[middle : middle + outputs]
        start = middle + outputs


def initial(layers: Layers, *, seed: int) -> Floats:
    """Return starting parameters: He's normal distribution for the weights, zero biases."""
    generator = np.random.default_rng(seed)
    parameters = np.zeros(parameter_count(layers))
    for weights, _biases in unpack(layers, parameters):
        weights[:] = generator.normal(0.0, np.sqrt(2.0 / weights.shape[0]), weights.shape)
    return parameters


def inputs_of(images: Bytes) -> Floats:
    """Scale pixels from 0..16 to 0..1."""
    return images.astype(np.float64) / BRIGHTEST


def shifted(images: Bytes, shifts: npt.NDArray[np.int64]) -> Bytes:
    """Move each image by its own (down, right) of -1, 0 or 1 pixels; what enters is dark.

    A digit one pixel away is the same digit: this teaches it.
    """
    padded = np.pad(images.reshape(-1, SIDE, SIDE), ((0, 0), (1, 1), (1, 1)))
    rows = np.arange(SIDE)[None, :] + 1 - shifts[:, :1]
    columns = np.arange(SIDE)[None, :] + 1 - shifts[:, 1:]
    moved: Bytes = padded[np.arange(len(images))[:, None, None], rows[:, :, None], columns[:, None, :]]
    return moved.reshape(-1, SIDE * SIDE)


def probabilities(layers: Layers, parameters: Floats, inputs: Floats) -> Floats:
    """Return the probability of each class, shape (n, classes), for `inputs` of shape (n, layers[0])."""
    return _forward(layers, parameters, inputs)[-1]


def gradient(layers: Layers, parameters: Floats, inputs: Floats, labels: Bytes) -> Gradient:
    """Return loss, hits and the gradient of the loss, each summed over the batch (which may be empty)."""
    activations = _forward(layers, parameters, inputs)
    predicted, rows = activations[-1], np.arange(len(labels))
    total = np.zeros_like(parameters)
    error = predicted.copy()
    error[rows, labels] -= 1.0
    views = zip(unpack(layers, parameters), unpack(layers, total), activations[:-1], strict=True)
    for (weights, _biases), (weights_gradient, biases_gradient), below in reversed(list(views)):
        weights_gradient[:] = below.T @ error
        biases_gradient[:] = error.sum(axis=0)
        error = (error @ weights.T) * (below > 0)
    return Gradient(
        parameters=total,
        loss=float(-np.log(np.maximum(predicted[rows, labels], 1e-300)).sum()),
        correct=int((predicted.argmax(axis=1) == labels).sum()),
    )


def _forward(layers: Layers, parameters: Floats, inputs: Floats) -> list[Floats]:
    """Return the activations of every layer, the input first and the class probabilities last."""
    activations = [inputs]
    for weights, biases in unpack(layers, parameters):
        activations.append(np.maximum(activations[-1] @ weights + biases, 0.0))
    weights, biases = list(unpack(layers, parameters))[-1]
    scores = activations[-2] @ weights + biases
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    activations[-1] = exponentials / exponentials.sum(axis=1, keepdims=True)
    return activations
