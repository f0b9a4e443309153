"""What is said at once of a container that failed while the workload goes on."""

from __future__ import annotations

from fakes.built import rules, workload
from fakes.made import BEGIN, Document, container, ended, pod, runs
from fakes.replay import drive

from ansible_collections.mlops.eks.plugins.module_utils._follow import changes

OOM = ended(137, 9, reason="OOMKilled")


def said(*pods: Document, **more: object) -> list[str]:
    """Return what was said of these views of pods, one after the other."""
    seen = [changes.PodSeen(at=BEGIN + 10 + index, entry=one) for index, one in enumerate(pods)]
    _, lines = drive([workload(0), *seen], rules(**more))
    return [line for line in lines if line.startswith("Pod/")]


def test_a_restart_for_memory_is_a_warning_with_its_limit() -> None:
    again = container("main", runs(11), last=OOM, restarts=1)
    alive, died, restarted = (
        pod("digits-x", state, restart="OnFailure", limit="32Mi") for state in (runs(), OOM, again)
    )
    assert said(alive, died, restarted) == [
        "Pod/digits-x (main): OOMKilled: it used more memory than its limit of 32Mi and was killed (exit code 137)."
    ]


def test_a_second_failure_is_said_as_well() -> None:
    first = pod("digits-x", container("main", runs(11), last=ended(1, 9), restarts=1), restart="OnFailure")
    second = pod("digits-x", container("main", runs(31), last=ended(1, 29), restarts=2), restart="OnFailure")
    assert len(said(pod("digits-x", runs(), restart="OnFailure"), first, second)) == 2


def test_what_the_ending_tells_is_not_said_before() -> None:
    assert said(pod("digits-x", runs()), pod("digits-x", ended(3, 9), phase="Failed")) == []


def test_a_rank_that_fails_among_others_is_said() -> None:
    other = pod("digits-y", runs())
    lines = said(other, pod("digits-x", runs()), pod("digits-x", ended(3, 9), phase="Failed"))
    assert lines == ["Pod/digits-x (main): Error: it ended with exit code 3."]


def test_accidents_before_the_first_look_and_of_deleted_pods_are_not_said() -> None:
    other, failed = pod("digits-y", runs()), pod("digits-x", ended(3, 9), phase="Failed")
    assert said(other, failed) == []
    assert said(other, pod("digits-x", runs()), pod("digits-x", ended(143, 9), phase="Failed", deleted=8)) == []


def test_a_thousand_ranks_that_fail_together_do_not_flood_the_screen() -> None:
    names = [f"digits-{index}" for index in range(50)]
    alive, dead = [pod(name, runs()) for name in names], [pod(name, ended(1, 9), phase="Failed") for name in names]
    assert len(said(*alive, *dead)) == 20
