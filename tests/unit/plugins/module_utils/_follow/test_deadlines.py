"""What silence, waiting and progress make of a step."""

from __future__ import annotations

import re
import typing as t

import pytest
from fakes.built import RUNS, outcome, pod, reason, rules, workload
from fakes.made import BEGIN, Document
from fakes.replay import drive, load, ticks

from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._follow import changes
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import State
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS
from ansible_collections.mlops.eks.plugins.module_utils._logs.activity import Output

WAITS: Document = {"waiting": {"reason": "ContainerCreating"}}
PATTERN = re.compile(r"step (?P<done>\d+)/(?P<total>\d+)")


def wrote(after: float, line: str = "loss 0.3", *, name: str = "digits-x", leads: bool = True) -> changes.Change:
    lines = ((BEGIN + after, line),) if leads else ()
    return changes.LogActivity(at=BEGIN + after, output=Output(name, line, lines))


def running(after: float = 1) -> changes.Change:
    return pod(after, RUNS, phase="Running")


def message(state: State) -> str:
    return str(t.cast(t.Any, state.ending).cause.message)


def test_a_rank_that_falls_silent_ends_the_step_with_its_last_line() -> None:
    what = rules(no_output_timeout=30)
    state, _ = drive([workload(0), running(), wrote(20, "all-reduce 7"), *ticks(BEGIN + 20, 29)], what)
    assert outcome(state) is None
    state, _ = drive(ticks(BEGIN + 49, 2), what, state)
    assert (outcome(state), reason(state)) == ("timed_out", "NoOutputTimeout")
    assert message(state) == (
        "it runs, but no container has written a line for 30 s: pods 1 running. "
        "The last line, of Pod/digits-x: 'all-reduce 7'."
    )


def test_output_of_any_rank_counts() -> None:
    what = rules(no_output_timeout=30)
    talk = [wrote(at, name="digits-worker-9", leads=False) for at in range(10, 200, 20)]
    state, _ = drive([workload(0), running(), *talk, *ticks(BEGIN + 190, 29)], what)
    assert outcome(state) is None


def test_a_program_that_never_wrote_is_silent_from_its_start() -> None:
    what = rules(no_output_timeout=30)
    state, _ = drive([workload(0), pod(1, WAITS), *ticks(BEGIN + 1, 500), running(502), *ticks(BEGIN + 502, 29)], what)
    assert outcome(state) is None
    state, _ = drive(ticks(BEGIN + 531, 2), what, state)
    assert reason(state) == "NoOutputTimeout"
    assert "The last line" not in message(state)


def test_a_restart_resets_the_time_without_output() -> None:
    what = rules(no_output_timeout=30)
    again = [running(), wrote(5), pod(20, {"waiting": {"reason": "CrashLoopBackOff"}}), *ticks(BEGIN + 20, 60)]
    state, _ = drive([workload(0), *again, running(81), *ticks(BEGIN + 81, 29)], what)
    assert outcome(state) is None
    assert reason(drive(ticks(BEGIN + 110, 2), what, state)[0]) == "NoOutputTimeout"


def test_what_does_not_run_in_time_says_what_is_in_the_way() -> None:
    nowhere = {"conditions": [{"type": "PodScheduled", "reason": "Unschedulable", "message": "0/3 nodes fit"}]}
    what = rules(pending_timeout=60)
    state, _ = drive([workload(0), pod(1, {"waiting": {}}, **nowhere), *ticks(BEGIN + 1, 58)], what)
    assert outcome(state) is None
    state, _ = drive(ticks(BEGIN + 59, 2), what, state)
    assert (outcome(state), reason(state)) == ("timed_out", "PendingTimeout")
    assert message(state) == (
        "it is pending and has not run for 1 min: pods 1 pending (Unschedulable). Its pod has no node: 0/3 nodes fit."
    )


def test_waiting_between_two_tries_is_waiting_too() -> None:
    what = rules(pending_timeout=60)
    state, _ = drive([workload(0), running(), *ticks(BEGIN + 1, 500)], what)
    assert outcome(state) is None
    state, _ = drive([pod(502, WAITS), *ticks(BEGIN + 502, 59)], what, state)
    assert outcome(state) is None
    assert reason(drive(ticks(BEGIN + 561, 2), what, state)[0]) == "PendingTimeout"


def test_workers_that_run_do_not_make_the_job_run() -> None:
    mpi = KINDS["kubeflow.org/v2beta1", "MPIJob"]
    seen = workload(0, kind="MPIJob", spec={})
    worker = pod(1, RUNS, name="digits-worker-0", phase="Running", role="worker")
    t.cast(t.Any, worker).entry["metadata"]["labels"] = {"training.kubeflow.org/job-role": "worker"}
    state, _ = drive([seen, worker, *ticks(BEGIN + 1, 60)], rules(kind=mpi, pending_timeout=50))
    assert reason(state) == "PendingTimeout"


def test_limits_are_off_unless_they_are_set() -> None:
    state, _ = drive([workload(0), running(), *ticks(BEGIN, 80_000, every=1000)], rules())
    assert outcome(state) is None


def test_a_timeout_tells_the_pods_true_state() -> None:
    # The Job's own status lags behind its pods.
    state, _ = drive([workload(0), running(), *ticks(BEGIN + 1, 100)], rules(timeout=100))
    assert message(state) == "it was still running after 1 min 40 s: pods 1 running."


def test_earlier_attempts_count_towards_the_timeout() -> None:
    what = rules(timeout=100, earlier_seconds=70)
    assert outcome(drive([workload(0), *ticks(BEGIN, 29)], what)[0]) is None
    assert reason(drive([workload(0), *ticks(BEGIN, 30)], what)[0]) == "Timeout"


@pytest.mark.parametrize("name", ["job-succeeds", "mpi-succeeds", "pytorch-restarts", "deployment-ready"])
def test_no_recorded_success_hits_a_generous_limit(name: str) -> None:
    recording = load(name)
    state, _ = drive(recording.changes, recording.rules(no_output_timeout=90, pending_timeout=90))
    assert outcome(state) in ("succeeded", "ready")


# Progress


def test_heartbeats_show_progress_among_the_lines_of_a_log() -> None:
    what = rules(heartbeat=60, progress=PATTERN)
    talk: list[changes.Change] = []
    for at in range(1, 121):
        talk += [wrote(at, f"step {at * 2}/1000 loss 0.1"), changes.ConsoleOutput(at=BEGIN + at)]
    _, said = drive([workload(0), running(), *talk], what)
    assert said[1:] == [
        "Job digits: running for 1 min; 12 % (120/1000), 2/s, 7 min 20 s left",
        "Job digits: running for 2 min; 24 % (240/1000), 2/s, 6 min 20 s left",
    ]


def test_log_lines_without_progress_suppress_the_heartbeat() -> None:
    talk = [change for at in range(1, 200) for change in (changes.ConsoleOutput(at=BEGIN + at), wrote(at, "chatter"))]
    _, said = drive([workload(0), running(), *talk], rules(heartbeat=60, progress=PATTERN))
    assert said == ["Job digits: pods 1 running"]


def test_a_timeout_says_how_far_it_was() -> None:
    what = rules(no_output_timeout=30, progress=PATTERN)
    state, _ = drive([workload(0), running(), wrote(5, "step 420/1000"), *ticks(BEGIN + 5, 31)], what)
    assert "It had reached 42 % (420/1000)." in message(state)


def test_what_is_in_the_way_has_a_better_remedy_than_the_limit() -> None:
    fits = {"conditions": [{"type": "PodScheduled", "reason": "Unschedulable", "message": "0/1 nodes fit"}]}
    state, _ = drive([workload(0), pod(1, WAITS, **fits), *ticks(BEGIN + 1, 40)], rules(pending_timeout=30))
    cause = t.cast(t.Any, state.ending).cause
    assert (cause.reason, cause.remedy) == ("PendingTimeout", Cause.of("Unschedulable", "", "").remedy)


def test_no_heartbeat_comes_with_the_end() -> None:
    _, said = drive([workload(0), running(), *ticks(BEGIN + 1, 10)], rules(timeout=10, heartbeat=10))
    assert said == ["Job digits: pods 1 running"]
