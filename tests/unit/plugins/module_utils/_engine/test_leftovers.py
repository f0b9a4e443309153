"""Pods of an earlier attempt or step: how long they are waited for, what is said, and how the step ends."""

from __future__ import annotations

import json
import math
import typing as t
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.clock import FakeClock
from test_run import LEASE, Stage, install, stage

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError, ForbiddenError
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._engine.execute import Attempt
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Ending, State
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Completed
from ansible_collections.mlops.eks.plugins.module_utils._plan.retry import Retry
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Waits

PODS, NODE = "/api/v1/namespaces/team/pods", "/api/v1/nodes/node-7"
SINCE = "2026-11-21T09:00:00Z"
HELM = {"install": Completed(0, "", ""), "uninstall": Completed(0, "", "")}


def put(found: Stage, *, name: str = "old-1", node: str = "node-7", grace: int | None = None, **metadata: t.Any) -> str:
    """Put a pod of an earlier attempt in the way; with `grace` it is being deleted."""
    plan = found.run.plan
    (selector,) = plan.kind.selectors(plan.workload)
    key, _, value = selector["labelSelector"].partition("=")
    if grace is not None:
        metadata |= {"deletionTimestamp": SINCE, "deletionGracePeriodSeconds": grace}
    metadata = {"name": name, "uid": name, "labels": {key: value}, "ownerReferences": [{}], **metadata}
    found.kube.put(f"{PODS}/{name}", {"metadata": metadata, "spec": {"nodeName": node, "containers": []}})
    return f"{PODS}/{name}"


def silent(found: Stage) -> None:
    ready = {"type": "Ready", "status": "Unknown", "lastTransitionTime": SINCE}
    found.kube.put(NODE, {"metadata": {"name": "node-7"}, "status": {"conditions": [ready]}})


def goes(found: Stage, clock: FakeClock, path: str, after: float) -> None:
    """Let a pod go `after` so many seconds."""
    begun = clock.now()

    def pass_time() -> None:
        if clock.now() - begun >= after:
            found.kube.objects.pop(path, None)

    clock.meanwhile = pass_time


@pytest.fixture
def follows(monkeypatch: pytest.MonkeyPatch) -> list[Attempt]:
    """Attempts that are followed; each succeeds."""
    followed: list[Attempt] = []

    def follow(attempt: Attempt) -> State:
        followed.append(attempt)
        return attempt.ended_before_start(Ending(outcome="succeeded"))

    monkeypatch.setattr(Attempt, "follow", follow)
    return followed


def test_pods_that_end_at_once_delay_a_step_by_a_moment(
    tmp_path: Path, clock: FakeClock, follows: list[Attempt]
) -> None:
    found = stage(tmp_path, clock, HELM)
    goes(found, clock, put(found, grace=30), 1.0)
    begun = clock.now()
    assert found.run.run()["outcome"] == "succeeded"
    assert 1.0 <= clock.now() - begun <= 1.3
    waited = [line for line in found.said if "earlier attempt" in line]
    assert waited == [
        "waiting for 1 pod of an earlier attempt or step to go away: old-1; their grace period allows 35 s more"
    ]


def test_a_pod_has_all_of_its_grace_period_and_its_node_the_limit(
    tmp_path: Path, clock: FakeClock, follows: list[Attempt]
) -> None:
    found = stage(tmp_path, clock, HELM, waits=Waits(leftover=600))
    silent(found)
    # Twenty minutes for a checkpoint, and nine more until its node is back.
    goes(found, clock, put(found, grace=1200), 1740)
    assert found.run.run()["outcome"] == "succeeded"
    said = [line for line in found.said if "earlier attempt" in line]
    assert len(said) == 29
    assert "their grace period allows 20 min 5 s more" in said[0]
    assert "old-1 on node node-7, which has not answered since 2026-11-21T09:00:00Z" in said[-2]
    assert "(leftover_grace). Bring the nodes back" in said[-2]
    assert "'kubectl delete pod old-1 --namespace team --force'" in said[-2]


def test_a_node_that_never_answers_ends_the_step_as_failed(tmp_path: Path, clock: FakeClock) -> None:
    found = stage(tmp_path, clock, HELM, waits=Waits(leftover=60))
    silent(found)
    put(found, grace=1200)
    begun = clock.now()
    result = found.run.run()
    assert clock.now() - begun == pytest.approx(1205 + 60, abs=3)
    cause = result["cause"]
    assert (result["outcome"], cause["reason"], cause["category"]) == ("failed", "StuckTerminating", "scheduling")
    assert "1 pod of an earlier attempt or step did not go away within 1 min (leftover_grace)" in cause["message"]
    assert "old-1 on node node-7, which has not answered since" in cause["message"]
    assert "'kubectl delete pod old-1 --namespace team --force'" in cause["remedy"]
    entry = found.run.ledger.read()["data"]
    assert (entry.outcome, entry.finished is not None, "StuckTerminating" in entry.cause) == ("failed", True, True)
    assert "install digits" not in found.helm.calls
    assert LEASE not in found.kube.objects
    record = json.loads((tmp_path / "runs/r1/local/01-data/step.json").read_text(encoding="utf-8"))
    assert record["outcome"] == "failed"


def test_a_retry_blocked_by_leftovers_ends_as_failed_in_the_ledger(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = Ending(outcome="failed", cause=Cause.of("NodeLost", "Pod/old-1", "its node was lost."))

    def follow(attempt: Attempt) -> State:
        put(found, grace=30)
        return attempt.ended_before_start(lost)

    monkeypatch.setattr(Attempt, "follow", follow)
    found = stage(tmp_path, clock, HELM, waits=Waits(leftover=60), retry=Retry(retries=3))
    result = found.run.run()
    entry = found.run.ledger.read()["data"]
    assert (result["outcome"], result["cause"]["reason"]) == ("failed", "StuckTerminating")
    assert (entry.outcome, [one["category"] for one in entry.tried]) == ("failed", ["node_lost"])


def test_a_node_that_may_not_be_read_or_is_gone_is_named_all_the_same(tmp_path: Path, clock: FakeClock) -> None:
    found = stage(tmp_path, clock, HELM, waits=Waits(leftover=1))
    put(found, grace=0)
    assert "old-1 on node node-7, which does not exist any more." in found.run.run()["cause"]["message"]
    found.kube.fail[f"GET {NODE}"] = [(ForbiddenError("no"), False)]
    assert "old-1 on node node-7." in found.run.run()["cause"]["message"]


def test_finalizers_of_a_pod_on_a_ready_node_are_named(tmp_path: Path, clock: FakeClock) -> None:
    found = stage(tmp_path, clock, HELM, waits=Waits(leftover=1))
    conditions = [{"type": "Ready", "status": "True"}]
    found.kube.put(NODE, {"metadata": {"name": "node-7"}, "status": {"conditions": conditions}})
    put(found, grace=0, finalizers=["batch.kubernetes.io/job-tracking", "example.com/stays"])
    cause = found.run.run()["cause"]
    assert "old-1 on node node-7, which is ready." in cause["message"]
    assert cause["remedy"] == "The controller that set its finalizers must remove them: example.com/stays."


@pytest.mark.parametrize(("limits", "reason"), [({"timeout": 300}, "Timeout"), ({"pending": 200}, "PendingTimeout")])
def test_a_limit_of_the_user_holds_while_they_are_waited_for(
    tmp_path: Path, clock: FakeClock, limits: dict[str, float], reason: str
) -> None:
    found = stage(tmp_path, clock, HELM, waits=Waits(**limits))
    put(found, grace=1200)
    result = found.run.run()
    assert (result["outcome"], result["cause"]["reason"]) == ("timed_out", reason)
    assert found.run.ledger.read()["data"].outcome == "timed_out"


def test_without_limit_they_are_waited_for_as_long_as_it_takes(
    tmp_path: Path, clock: FakeClock, follows: list[Attempt]
) -> None:
    found = stage(tmp_path, clock, HELM, waits=Waits(leftover=math.inf))
    goes(found, clock, put(found, grace=0), 30000)
    assert found.run.run()["outcome"] == "succeeded"
    assert any("the step waits without limit" in line for line in found.said)


def test_a_run_that_is_stopped_meanwhile_ends_within_seconds(tmp_path: Path, clock: FakeClock) -> None:
    found = stage(tmp_path, clock, HELM)
    put(found, grace=1200)
    begun = clock.now()

    def stop() -> None:
        lease = found.kube.objects[LEASE]
        if clock.now() - begun > 100 and lease["spec"]["holderIdentity"] != "tower/aaaa1111/4711/99":
            found.kube.put(LEASE, {**lease, "spec": {**lease["spec"], "holderIdentity": "tower/aaaa1111/4711/99"}})
            entry = found.run.execution._entry(t.cast(t.Any, found.run.decide()))  # type: ignore[union-attr]
            found.run.ledger.finish(replace(entry, outcome="cancelled", cause="stopped from tower"))

    clock.meanwhile = stop
    result = found.run.run()
    assert (result["outcome"], clock.now() - begun < 105) == ("cancelled", True)
    assert found.run.ledger.read()["data"].outcome == "cancelled"
    assert found.helm.calls == []


def test_a_repeated_installation_waits_for_leftovers_and_fails_if_they_stay(tmp_path: Path, clock: FakeClock) -> None:
    away = Completed(1, "", 'Error: INSTALLATION FAILED: Patch "https://k/api": EOF\n')

    def helm() -> Completed:
        put(found, grace=0)
        return away

    found = stage(tmp_path, clock, {**HELM, "install": helm}, waits=Waits(leftover=30))
    with pytest.raises(ConflictError, match=r"StuckTerminating: .*old-1 on node node-7"):
        install(found)
    assert found.run.ledger.read()["data"].outcome == "failed"
