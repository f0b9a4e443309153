# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The network: its gradient against finite differences, and the arithmetic of shared batches."""

from __future__ import annotations

import numpy as np
import pytest
from digits import model
from digits.dataset import Digits
from digits.model import Floats, Layers

LAYERS: Layers = (64, 7, 5, 10)


@pytest.fixture
def parameters() -> Floats:
    """Parameters with biases away from zero, so that they count in the gradient."""
    generator = np.random.default_rng(1)
    return model.initial(LAYERS, seed=1) + generator.normal(0, 0.1, model.parameter_count(LAYERS))


def test_gradient_matches_finite_differences(digits: Digits, parameters: Floats) -> None:
    inputs, labels, step = model.inputs_of(digits.images[:9]), digits.labels[:9], 1e-6

    def loss(shift: Floats) -> float:
        return model.gradient(LAYERS, parameters + shift, inputs, labels).loss

    numeric = np.array([(loss(unit) - loss(-unit)) / (2 * step) for unit in step * np.eye(len(parameters))])
    exact = model.gradient(LAYERS, parameters, inputs, labels).parameters
    np.testing.assert_allclose(exact, numeric, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("ranks", [1, 2, 3, 50])
def test_parts_of_a_batch_sum_to_the_whole(digits: Digits, parameters: Floats, ranks: int) -> None:
    """Also with uneven and with empty parts (50 ranks share 40 images)."""
    inputs, labels = model.inputs_of(digits.images[:40]), digits.labels[:40]
    whole = model.gradient(LAYERS, parameters, inputs, labels)
    parts = [model.gradient(LAYERS, parameters, inputs[rank::ranks], labels[rank::ranks]) for rank in range(ranks)]
    np.testing.assert_allclose(sum(part.parameters for part in parts), whole.parameters, rtol=1e-9, atol=1e-12)
    assert sum(part.loss for part in parts) == pytest.approx(whole.loss)
    assert sum(part.correct for part in parts) == whole.correct


def test_probabilities_are_a_distribution_even_far_out(parameters: Floats) -> None:
    answers = model.probabilities(LAYERS, parameters * 1000, np.full((3, 64), 16.0))
    assert np.isfinite(answers).all()
    np.testing.assert_allclose(answers.sum(axis=1), 1.0)


def test_initial_depends_on_the_seed_alone() -> None:
    assert np.array_equal(model.initial(LAYERS, seed=4), model.initial(LAYERS, seed=4))
    assert not np.array_equal(model.initial(LAYERS, seed=4), model.initial(LAYERS, seed=5))


@pytest.mark.parametrize(("down", "right"), [(0, 0), (1, 0), (-1, 0), (0, 1), (1, -1)])
def test_shift_moves_the_image_and_darkens_the_edge(down: int, right: int) -> None:
    image = np.zeros((8, 8), dtype=np.uint8)
    image[3, 4] = 9
    moved = model.shifted(image.reshape(1, 64), np.array([[down, right]])).reshape(8, 8)
    expected = np.zeros_like(image)
    expected[3 + down, 4 + right] = 9
    assert np.array_equal(moved, expected)


def test_shift_loses_what_leaves() -> None:
    image = np.zeros((8, 8), dtype=np.uint8)
    image[7, :] = 5
    assert not model.shifted(image.reshape(1, 64), np.array([[1, 0]])).any()
