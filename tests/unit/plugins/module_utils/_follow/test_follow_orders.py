"""Whatever the order in which watches tell of a workload, and however often, the step ends in the same way.

Driven are the recorded changes of tests/fixtures/changes in the orders of fakes.orders. Equal must be outcome, and of a
failure its reason, container and object. Where that cannot be, ALLOWED says what may come instead, and why.
"""

from __future__ import annotations

import random
import typing as t
from collections.abc import Callable

import pytest
from fakes.orders import ORDERS, Order
from fakes.replay import NAMES, SHORT, News, Recording, drive, last, load, ticks

from ansible_collections.mlops.eks.plugins.module_utils._follow.outcome import settle
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import State

pytestmark = pytest.mark.slow

SEEDS = 8
# What may come instead, as recording, outcome and reason, and why that is right.
ALLOWED: dict[tuple[str, str, str], str] = {
    ("deployment-oom", "failed", "OOMKilled"): "ready is a moment: the accident after it may be told before it",
    ("deployment-flashes", "timed_out", "Timeout"): "ready is a moment, and nobody was told of it",
    ("deployment-never-ready", "failed", "ProgressDeadlineExceeded"): "the probe's event is told after the end",
    (
        "lws-worker-crashes",
        "timed_out",
        "Timeout",
    ): "pods that nobody saw crash are not counted; in life there is always a next one, a recording ends",
    ("mpi-worker-oom", "failed", "OOMKilled"): "both ranks ran out of memory in one second; the first to be told of it",
    (
        "rayservice-ready",
        "failed",
        "FailedMount",
    ): "a mount failed, and that it was overcome is told half a minute late",
}


class Told(t.NamedTuple):
    """How a step ended."""

    outcome: str
    reason: str = ""
    container: str = ""
    object: str = ""


def told(recording: Recording, found: list[News], *, more: Callable[[], bool] = lambda: False) -> tuple[Told, State]:
    rules = recording.rules(grace=SHORT, timeout=last(recording) - recording.started + 55)
    state, _ = drive(found, rules, more=more)
    state, _ = drive(ticks(last(recording), 60, every=5), rules, state)
    state = settle(state, recording.left(), rules)
    assert state.ending is not None
    cause = state.ending.cause
    outcome = state.ending.outcome
    return (Told(outcome, cause.reason, cause.container, cause.object) if cause else Told(outcome)), state


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_any_order_of_changes_gives_the_same_ending(name: str, order: Order) -> None:
    recording = load(name)
    expected, _ = told(recording, list(recording.changes))
    for seed in range(SEEDS):
        found, _ = told(recording, order(recording.changes, random.Random(f"{name} {seed}")))
        assert found == expected or (name, found.outcome, found.reason) in ALLOWED, f"seed {seed}"


@pytest.mark.parametrize(("name", "outcome", "reason"), ALLOWED)
def test_every_allowance_is_needed(name: str, outcome: str, reason: str) -> None:
    recording = load(name)
    expected, _ = told(recording, list(recording.changes))
    ends = (
        told(recording, order(recording.changes, random.Random(f"{name} {seed}")))[0]
        for order in ORDERS
        for seed in range(10 * SEEDS)
    )
    assert any(found != expected and (found.outcome, found.reason) == (outcome, reason) for found in ends)


@pytest.mark.parametrize("name", NAMES)
def test_changes_that_wait_for_each_other_give_the_same_end(name: str) -> None:
    recording = load(name)
    expected, alone = told(recording, list(recording.changes))
    for seed in range(SEEDS):
        waits = random.Random(seed)
        found, hurried = told(recording, list(recording.changes), more=lambda: waits.random() < 0.5)  # noqa: B023
        assert found == expected or (name, found.outcome, found.reason) in ALLOWED, f"seed {seed}"
        assert hurried.pods.keys() == alone.pods.keys()
        assert hurried.restarts == alone.restarts or found != expected


def test_a_success_is_found_in_any_order_at_all() -> None:
    """Also in orders that no API server may use."""
    successes = 0
    for recording in map(load, NAMES):
        expected, _ = told(recording, list(recording.changes))
        successes += expected.outcome == "succeeded"
        for seed in range(SEEDS if expected.outcome == "succeeded" else 0):
            mixed = list(recording.changes)
            random.Random(f"{recording.name} {seed}").shuffle(mixed)
            assert told(recording, mixed)[0] == expected, f"{recording.name}, seed {seed}"
    assert successes > 12
