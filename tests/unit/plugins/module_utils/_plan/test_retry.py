"""Which failures are tried again, when, and what is left of the attempts."""

from __future__ import annotations

import json
import typing as t
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.clock import FakeClock
from fakes.kube import FakeKube
from fakes.made import container, runs
from fakes.made import pod as made_pod

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError, UnreachableError
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._engine import execute as attempts
from ansible_collections.mlops.eks.plugins.module_utils._engine.record import Journal
from ansible_collections.mlops.eks.plugins.module_utils._engine.run import StepRun
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Ending, Outcome, Rules, State, start
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Completed, Helm, find_helm, run_program
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Entry, Ledger
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import make_draft
from ansible_collections.mlops.eks.plugins.module_utils._plan.retry import LONGEST, Retry, retry_delay
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task, Waits
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import find

EVICTED, LOST = "EvictionByEvictionAPI", "NodeLost"
TWICE = Retry(retries=2)
LEASE = "/apis/coordination.k8s.io/v1/namespaces/team/leases/mlops-eks-digits"


def ending(reason: str = EVICTED, outcome: Outcome = "failed") -> Ending:
    return Ending(outcome=outcome, cause=Cause.of(reason, "Pod/x", "it was so."))


# The policy


@pytest.mark.parametrize(
    ("policy", "reason", "outcome", "waits"),
    [
        (TWICE, EVICTED, "failed", True),
        (TWICE, LOST, "failed", True),
        (TWICE, "PreemptionByScheduler", "failed", True),
        (TWICE, "Error", "failed", False),
        (TWICE, "ImageNotFound", "failed", False),
        (Retry(retries=1, on=("image_pull",)), "ImageNotFound", "failed", True),
        (Retry(retries=1, on=("image_pull",)), EVICTED, "failed", False),
        (Retry(retries=1, on=("any",)), "Error", "failed", True),
        (Retry(retries=1, on=("any",)), "NoOutputTimeout", "timed_out", True),
        (Retry(retries=1, on=("any",)), "Timeout", "timed_out", False),
        (Retry(retries=1, on=("any",)), "Cancelled", "cancelled", False),
        (Retry(retries=1, on=("any",)), "LockLost", "lost", False),
        (Retry(), EVICTED, "failed", False),
    ],
)
def test_what_is_retried(policy: Retry, reason: str, outcome: Outcome, waits: bool) -> None:
    found = retry_delay(policy, ending(reason, outcome), attempt=1, left=1e9)
    assert found == (10.0 if waits else None)


def test_a_back_off_doubles_up_to_a_limit() -> None:
    policy = Retry(retries=9, backoff=100)
    found = [retry_delay(policy, ending(), attempt=number, left=1e9) for number in range(1, 11)]
    assert found == [100, 200, 400, *[LONGEST] * 6, None]


def test_there_is_no_retry_without_time_for_it() -> None:
    assert retry_delay(TWICE, ending(), attempt=1, left=10.0) is None
    assert retry_delay(TWICE, ending(), attempt=1, left=10.1) == 10.0


# The attempts


class FakeSession:
    """A session whose ending the test sets; it takes `took` seconds."""

    script: t.ClassVar[Iterator[Ending]]
    clock: t.ClassVar[FakeClock]
    rules: t.ClassVar[list[Rules]] = []
    took = 30.0
    # Pods that are there at the end of an attempt, and for how long they save.
    pods: t.ClassVar[dict[str, t.Any]] = {}
    saving: t.ClassVar[float] = 0.0

    def __init__(self, kube: object, target: object, rules: Rules, journal: Journal, **_: object) -> None:
        self.judged, self.journal = rules, journal
        FakeSession.rules.append(rules)

    def follow(self) -> State:
        logs = self.journal.task.evidence / "logs"
        logs.mkdir()
        (logs / "x.log").write_text(f"attempt {self.journal.fields['attempt']}\n", encoding="utf-8")
        self.clock.at += self.took
        return replace(start(self.judged, self.clock.at), ending=next(self.script), pods=self.pods)

    def lost_lock(self, holder: str) -> None:
        """Nobody follows here."""

    def drain(self, state: State, left: list[t.Any], uninstall: t.Callable[[], None]) -> State:
        """Uninstall; the pods that are left write a line more, which takes them `saving` seconds."""
        uninstall()
        self.clock.at += self.saving
        names = " ".join(one["metadata"]["name"] for one in left)
        with (self.journal.task.evidence / "logs" / "x.log").open("a", encoding="utf-8") as log:
            log.write(f"saved by {names}\n")
        return state

    def summary(self, state: State, finished: float) -> dict[str, t.Any]:
        found = t.cast(Ending, state.ending)
        return {"outcome": found.outcome, "cause": found.cause.to_record() if found.cause else None}


class Stage(t.NamedTuple):
    task: Task
    kube: FakeKube
    helm: list[str]
    said: list[str]
    clock: FakeClock
    run: t.Callable[[], dict[str, t.Any]]

    @property
    def entry(self) -> Entry:
        return Ledger(self.kube, "digits").read()["data"]

    def record(self, where: str = "") -> dict[str, t.Any]:
        found = json.loads((self.task.evidence / where / "step.json").read_text(encoding="utf-8"))
        return t.cast(dict[str, t.Any], found)


@pytest.fixture
def stage(tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> t.Callable[..., Stage]:
    monkeypatch.setattr(attempts, "Session", FakeSession)
    monkeypatch.setattr(FakeSession, "clock", clock, raising=False)
    monkeypatch.setattr(FakeSession, "rules", [])

    def make(*endings: Ending, kube: FakeKube | None = None, **more: t.Any) -> Stage:
        monkeypatch.setattr(FakeSession, "script", iter(endings), raising=False)
        values = {"image": "x:1", "process": {"command": ["true"]}}
        base = {"cluster": "local", "namespace": "team", "release": "digits", "step": "data", "retry": TWICE}
        where = {"chart": "data-prep/data-process", "run_id": "r1", "runs_dir": tmp_path / "runs", "values": values}
        task = Task(**{**base, **where, **more})
        api, calls, said = kube or FakeKube(), [], []  # type: ignore[var-annotated]

        def program(argv: t.Sequence[str], *, stdin: str | None = None) -> Completed:
            if argv[1] == "template":
                return run_program(argv, stdin=stdin)
            calls.append(argv[1])
            return Completed(0, "", "")

        helm = Helm(binary=find_helm(), kubeconfig="/k", context=None, namespace="team", run=program)

        def run() -> dict[str, t.Any]:
            return StepRun(
                task=task, draft=make_draft(task, find(task.chart)), kube=api, helm=helm, say=said.append, clock=clock
            ).run()

        return Stage(task, api, calls, said, clock, run)

    return make


def test_an_evicted_attempt_is_run_again(stage: t.Callable[..., Stage]) -> None:
    found = stage(ending(), Ending(outcome="succeeded"))
    begun = found.clock.at

    result = found.run()

    assert (result["outcome"], result["attempt"], result.get("failed")) == ("succeeded", 2, None)
    assert found.helm == ["install", "uninstall", "install", "uninstall"]
    (first,) = found.record()["attempts"]
    assert first == {
        "attempt": 1,
        "run_id": "r1",
        "started": iso(begun),
        "finished": iso(begun + 30),
        "outcome": "failed",
        "reason": EVICTED,
        "category": "evicted",
        "object": "Pod/x",
        "message": "it was so.",
        "evidence": "attempt-1",
    }
    assert (found.entry.outcome, found.entry.attempt, found.entry.cause) == ("succeeded", 2, "")
    assert (found.record("attempt-1")["outcome"], found.record("attempt-1")["attempt"]) == ("failed", 1)
    logs = [(found.task.evidence / where / "logs/x.log").read_text(encoding="utf-8") for where in ("attempt-1", "")]
    assert logs == ["attempt 1\n", "attempt 2\n"]
    assert (found.task.evidence / "attempt-1/manifest.yaml").exists()


def test_the_line_says_which_attempt_why_and_when(stage: t.Callable[..., Stage]) -> None:
    found = stage(ending(), Ending(outcome="succeeded"))
    begun = found.clock.at
    found.run()
    told = [line for line in found.said if "attempt" in line]
    assert told[0].startswith(f"step 1/1 data: attempt 1 of 3 failed after 30 s: Pod/x: {EVICTED}: it was so.")
    assert told[1].startswith(
        f"step 1/1 data: attempt 2 begins in 10 s, at {iso(begun + 40)}, because evicted is retried; the evidence of"
    )


def test_when_no_retry_is_left_it_has_failed(stage: t.Callable[..., Stage]) -> None:
    found = stage(ending(), ending(LOST), ending())
    result = found.run()
    assert (result["failed"], result["outcome"], result["attempt"]) == (True, "failed", 3)
    assert [one["reason"] for one in result["attempts"]] == [EVICTED, LOST]
    assert found.entry.outcome == "failed"
    assert sum(found.clock.slept) == pytest.approx(30.0)


def test_a_program_that_fails_is_not_retried_unless_it_is_asked_for(stage: t.Callable[..., Stage]) -> None:
    found = stage(ending("Error"))
    assert (found.run()["attempt"], found.record()["attempts"]) == (1, [])


def test_the_timeout_covers_all_attempts(stage: t.Callable[..., Stage]) -> None:
    found = stage(ending(), ending(), waits=Waits(timeout=75))
    result = found.run()
    assert [rules.earlier_seconds for rules in FakeSession.rules] == [0.0, 30.0]
    # 15 of 75 seconds are left, and the back-off is 20: a third attempt could not even begin.
    assert (result["outcome"], result["attempt"]) == ("failed", 2)


def test_during_the_back_off_ledger_and_record_have_the_next_attempt(stage: t.Callable[..., Stage]) -> None:
    found = stage(ending(), Ending(outcome="succeeded"))
    seen: list[tuple[t.Any, ...]] = []
    found.clock.meanwhile = lambda: seen.append(
        (found.entry.outcome, found.entry.attempt, found.record()["outcome"], found.record()["attempt"])
    )
    found.run()
    assert set(seen) == {("retrying", 2, "running", 2)}


class DiedError(Exception):
    """The controller was killed."""


def _die() -> None:
    raise DiedError


def test_a_controller_that_dies_between_attempts_keeps_their_count(stage: t.Callable[..., Stage]) -> None:
    first = stage(ending())
    first.clock.meanwhile = _die
    with pytest.raises(DiedError):
        first.run()
    first.clock.meanwhile = lambda: None
    due = first.entry.started

    second = stage(ending(), Ending(outcome="succeeded"), kube=first.kube, run_id="r2")
    result = second.run()

    assert (result["outcome"], result["attempt"]) == ("succeeded", 3)
    runs = [(one["run_id"], one["evidence"]) for one in result["attempts"]]
    assert runs == [("r1", None), ("r2", "attempt-2")]
    # What was left of the back-off is waited for.
    assert result["attempts"][1]["started"] == due
    assert second.entry.attempt == 3


def test_force_starts_with_the_first_attempt(stage: t.Callable[..., Stage]) -> None:
    first = stage(ending())
    first.clock.meanwhile = _die
    with pytest.raises(DiedError):
        first.run()
    first.clock.meanwhile = lambda: None
    second = stage(Ending(outcome="succeeded"), kube=first.kube, run_id="r2", force=True)
    assert second.run()["attempt"] == 1


def test_a_run_that_is_stopped_while_it_waits_does_not_go_on(stage: t.Callable[..., Stage]) -> None:
    found = stage(ending(), Ending(outcome="succeeded"))

    def stop() -> None:
        Ledger(found.kube, "digits").finish(replace(found.entry, outcome="cancelled", cause="stopped from here"))

    found.clock.meanwhile = stop
    result = found.run()
    assert (result["outcome"], result["failed"]) == ("cancelled", True)
    assert found.helm == ["install", "uninstall", "uninstall"]


@pytest.mark.parametrize("gone", [False, True], ids=["seized", "seized and given back"])
def test_a_back_off_ends_within_two_seconds_of_a_stop(stage: t.Callable[..., Stage], gone: bool) -> None:
    found = stage(ending(), retry=Retry(retries=1, backoff=500))
    due = found.clock.at + 100

    def stop() -> None:
        if found.clock.at < due or found.entry.outcome == "cancelled":
            return
        Ledger(found.kube, "digits").write(replace(found.entry, outcome="cancelled", cause="stopped from here"))
        lease = found.kube.objects.pop(LEASE)
        if not gone:
            found.kube.put(LEASE, {**lease, "spec": {**lease["spec"], "holderIdentity": "tower/aaaa1111/4711/99"}})

    found.clock.meanwhile = stop
    assert found.run()["outcome"] == "cancelled"
    assert due <= found.clock.at <= due + 2


def test_a_stop_in_progress_is_waited_for(stage: t.Callable[..., Stage]) -> None:
    found = stage(ending(), retry=Retry(retries=1, backoff=500))

    def stop() -> None:
        lease = found.kube.objects[LEASE]
        if lease["spec"]["holderIdentity"] == "tower/aaaa1111/4711/99":
            Ledger(found.kube, "digits").write(replace(found.entry, outcome="cancelled", cause="stopped from here"))
        found.kube.put(LEASE, {**lease, "spec": {**lease["spec"], "holderIdentity": "tower/aaaa1111/4711/99"}})

    found.clock.meanwhile = stop
    result = found.run()
    assert (result["outcome"], result["cause"]["reason"]) == ("cancelled", "Cancelled")


def test_a_cluster_that_does_not_answer_does_not_end_a_back_off(stage: t.Callable[..., Stage]) -> None:
    found = stage(ending(), Ending(outcome="succeeded"))
    found.kube.fail[f"GET {LEASE}"] = [(UnreachableError("away"), False)] * 2
    assert (found.run()["outcome"], found.kube.fail[f"GET {LEASE}"]) == ("succeeded", [])


def test_a_server_is_not_retried(stage: t.Callable[..., Stage]) -> None:
    found = stage(ending(), keep=True)
    assert (found.run()["attempt"], found.helm) == (1, ["install", "uninstall"])


# What is ended


@pytest.fixture
def runs_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pod whose program still runs at the end of an attempt, and which then saves for a minute."""
    monkeypatch.setattr(FakeSession, "pods", {"x-1": made_pod("x-1", container("main", runs()), phase="Running")})
    monkeypatch.setattr(FakeSession, "saving", 60.0)


@pytest.mark.parametrize("end", [ending("NoOutputTimeout", "timed_out"), ending()], ids=["timed_out", "failed"])
@pytest.mark.usefixtures("runs_on")
def test_a_retried_attempt_keeps_the_logs_of_its_drained_pods(stage: t.Callable[..., Stage], end: Ending) -> None:
    found = stage(end, Ending(outcome="succeeded"), retry=Retry(retries=1, on=("any",)))
    begun = found.clock.at
    result = found.run()
    assert (result["outcome"], result["attempt"]) == ("succeeded", 2)
    logs = [(found.task.evidence / where / "logs/x.log").read_text(encoding="utf-8") for where in ("attempt-1", "")]
    assert logs == ["attempt 1\nsaved by x-1\n", "attempt 2\n"]
    # The saving took longer than the pause, and is no part of the attempt; the next one begins at once.
    assert result["attempts"][0]["finished"] == iso(begun + 30)
    assert found.record()["started"] == iso(begun + 90)
    assert any(f"attempt 2 begins in 0 s, at {iso(begun + 90)}" in line for line in found.said)


@pytest.mark.usefixtures("runs_on")
def test_a_failure_keeps_the_logs_of_pods_that_still_ran(stage: t.Callable[..., Stage]) -> None:
    found = stage(ending("Error"))
    assert found.run()["outcome"] == "failed"
    assert (found.task.evidence / "logs/x.log").read_text(encoding="utf-8") == "attempt 1\nsaved by x-1\n"


@pytest.mark.usefixtures("runs_on")
def test_a_success_drains_no_pods(stage: t.Callable[..., Stage]) -> None:
    found = stage(Ending(outcome="succeeded"))
    begun = found.clock.at
    assert found.run()["outcome"] == "succeeded"
    assert found.clock.at == begun + 30


# What Helm has forgotten

MADE = "/apis/batch/v1/namespaces/team/jobs/data-process-digits"


def put_job(found: Stage, release: str = "digits") -> None:
    marks = {"meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": "team"}
    labels = {"app.kubernetes.io/managed-by": "Helm"}
    found.kube.put(MADE, {"metadata": {"name": "x", "uid": "u", "labels": labels, "annotations": marks}})


@pytest.mark.parametrize(("release", "left"), [("digits", False), ("other", True)])
def test_orphans_are_deleted(stage: t.Callable[..., Stage], release: str, left: bool) -> None:
    """The Secrets of the release were deleted while the step ran: the uninstall finds nothing."""
    found = stage(Ending(outcome="succeeded"))
    put_job(found, release)
    assert found.run()["outcome"] == "succeeded"
    assert (MADE in found.kube.objects) is left
    assert any("Helm has no record of it any more; deleting what it made: Job/x" in line for line in found.said) != left


def test_a_workload_without_a_helm_record_is_re_attached(stage: t.Callable[..., Stage]) -> None:
    first = stage(ending())
    first.clock.meanwhile = _die
    with pytest.raises(DiedError):
        first.run()
    first.clock.meanwhile = lambda: None
    running = replace(first.entry, outcome="running")
    Ledger(first.kube, "digits").write(running)
    put_job(first)
    assert "batch/v1/Job//data-process-digits" in running.objects

    second = stage(Ending(outcome="succeeded"), kube=first.kube, run_id="r2")
    assert second.run()["outcome"] == "succeeded"
    assert any("re-attached to Job/data-process-digits" in line for line in second.said)
    assert second.helm == ["uninstall"]
    assert MADE not in second.kube.objects


def test_a_workload_without_a_helm_record_is_not_replaced(stage: t.Callable[..., Stage]) -> None:
    first = stage(ending())
    first.clock.meanwhile = _die
    with pytest.raises(DiedError):
        first.run()
    first.clock.meanwhile = lambda: None
    Ledger(first.kube, "digits").write(replace(first.entry, outcome="running"))
    put_job(first)
    values = {"image": "x:2", "process": {"command": ["true"]}}

    second = stage(kube=first.kube, run_id="r2", values=values)
    with pytest.raises(ConflictError, match=r"it runs step 'data' since .*, not what this step asks for"):
        second.run()
    assert MADE in second.kube.objects

    third = stage(Ending(outcome="succeeded"), kube=first.kube, run_id="r3", values=values, replace=True)
    assert third.run()["outcome"] == "succeeded"
    assert MADE not in third.kube.objects
