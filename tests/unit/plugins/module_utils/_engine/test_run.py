"""A step against an API in a dictionary: what is refused before a workload exists. Real runs: tests/cluster."""

from __future__ import annotations

import json
import typing as t
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.clock import FakeClock
from fakes.kube import FakeKube

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    AbsentError,
    CommandError,
    ConflictError,
    InvalidInputError,
    UnreachableError,
)
from ansible_collections.mlops.eks.plugins.module_utils._engine.decide import Decision
from ansible_collections.mlops.eks.plugins.module_utils._engine.execute import Attempt
from ansible_collections.mlops.eks.plugins.module_utils._engine.record import Journal
from ansible_collections.mlops.eks.plugins.module_utils._engine.run import StepRun
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Ending, State
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Completed, Helm, find_helm, run_program
from ansible_collections.mlops.eks.plugins.module_utils._helm.releases import label
from ansible_collections.mlops.eks.plugins.module_utils._ledger import cancellation
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Entry, Ledger, running_entry
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import make_draft
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import find

LEASE = "/apis/coordination.k8s.io/v1/namespaces/team/leases/mlops-eks-digits"
VALUES = {"image": "x:1", "process": {"command": ["true"]}}


class HalfHelm:
    """Renders with the real helm; what would change a cluster is answered by the test."""

    def __init__(self, answers: dict[str, Completed | t.Callable[[], Completed]]) -> None:
        self.answers, self.calls = answers, []  # type: ignore[var-annotated]

    def __call__(self, argv: Sequence[str], *, stdin: str | None = None) -> Completed:
        if argv[1] == "template":
            return run_program(argv, stdin=stdin)
        self.calls.append(" ".join(argv[1:3]))
        answer = self.answers[argv[1]]
        return answer() if callable(answer) else answer


AWAY = Completed(1, "", 'Error: INSTALLATION FAILED: Patch "https://k/api": EOF\n')


class Stage(t.NamedTuple):
    run: StepRun
    kube: FakeKube
    helm: HalfHelm
    said: list[str]


def stage(tmp_path: Path, clock: FakeClock, answers: dict[str, t.Any], **more: t.Any) -> Stage:
    task = Task(
        **{
            "cluster": "local",
            "namespace": "team",
            "release": "digits",
            "step": "data",
            "chart": "data-prep/data-process",
            "run_id": "r1",
            "runs_dir": tmp_path / "runs",
            "values": VALUES,
            **more,
        }
    )
    kube, half, said = FakeKube(), HalfHelm(answers), []  # type: ignore[var-annotated]
    helm = Helm(binary=find_helm(), kubeconfig="/k", context=None, namespace="team", run=half)
    run = StepRun(
        task=task, draft=make_draft(task, find(task.chart)), kube=kube, helm=helm, say=said.append, clock=clock
    )
    return Stage(run, kube, half, said)


def test_a_plan_holds_what_will_be_installed(tmp_path: Path, clock: FakeClock) -> None:
    plan = stage(tmp_path, clock, {}).run.plan
    assert (plan.kind.kind, plan.ref.namespace) == ("Job", "team")
    assert str(plan.ref) in plan.objects
    assert plan.values == VALUES
    assert len(plan.identity) == 64


@pytest.mark.parametrize(
    ("values", "words"),
    [({"imge": "x"}, "Did you mean 'image'?"), ({**VALUES, "image": 3}, "values: image: expected a string")],
)
def test_a_plan_of_wrong_values_is_refused(
    tmp_path: Path, clock: FakeClock, values: dict[str, t.Any], words: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        stage(tmp_path, clock, {}, values=values)
    assert words in str(caught.value)


def test_a_refused_install_leaves_nothing_behind(tmp_path: Path, clock: FakeClock) -> None:
    answers = {"install": Completed(1, "", "Error: INSTALLATION FAILED: boom\n"), "uninstall": Completed(0, "", "")}
    found = stage(tmp_path, clock, answers)
    with pytest.raises(CommandError, match="boom") as caught:
        found.run.run()
    assert found.helm.calls == ["install digits", "uninstall digits"]
    entry = Ledger(found.kube, "digits").read()["data"]
    assert (entry.outcome, "boom" in entry.cause) == ("failed", True)
    record = json.loads((tmp_path / "runs/r1/local/01-data/step.json").read_text(encoding="utf-8"))
    assert record["outcome"] == "failed"
    assert caught.value.details["outcome"] == "failed"
    assert not [path for path in found.kube.objects if "leases" in path]


def test_a_failed_uninstall_does_not_hide_why_the_install_was_refused(tmp_path: Path, clock: FakeClock) -> None:
    refused, away = "Error: INSTALLATION FAILED: boom\n", "Error: dial tcp: connection refused\n"
    found = stage(tmp_path, clock, {"install": Completed(1, "", refused), "uninstall": Completed(1, "", away)})
    with pytest.raises(CommandError, match="boom") as caught:
        found.run.run()
    assert "release digits: not uninstalled: helm uninstall digits: dial tcp: connection refused" in found.said
    assert caught.value.details["outcome"] == "failed"


def helms_secret(status: str, identity: str) -> dict[str, t.Any]:
    labels = {"owner": "helm", "name": "digits", "status": status, "version": "1", "mlops.eks/step": "data"}
    labels["mlops.eks/release"] = "digits"
    return {"metadata": {"name": "s", "labels": {**labels, "mlops.eks/identity": identity}}}


SECRET = "/api/v1/namespaces/team/secrets/sh.helm.release.v1.digits.v1"


def install(found: Stage) -> None:
    run = found.run
    plan = run.plan
    run.lock.acquire(timeout=0, say=found.said.append)
    journal = Journal(task=run.task, started=0.0)
    run.installer.install(
        plan, Decision(action="install", why=""), running_entry(run.task, plan.identity, 0.0), journal
    )


@pytest.mark.parametrize(
    ("left", "calls"),
    [
        (None, ["install digits", "install digits"]),
        ("pending-install", ["install digits", "uninstall digits", "install digits"]),
        ("failed", ["install digits", "uninstall digits", "install digits"]),
        ("deployed", ["install digits"]),
    ],
)
def test_helm_is_repeated_when_the_cluster_did_not_answer(
    tmp_path: Path, clock: FakeClock, left: str | None, calls: list[str]
) -> None:
    def helm() -> Completed:
        if found.helm.calls.count("install digits") > 1:
            return Completed(0, "", "")
        if left:
            found.kube.put(SECRET, helms_secret(left, label(found.run.plan.identity)))
        return AWAY

    found = stage(tmp_path, clock, {"install": helm, "uninstall": Completed(0, "", "")})
    install(found)
    assert found.helm.calls == calls
    assert any("EOF; trying again" in line for line in found.said)


def test_an_uninstall_is_repeated_and_its_error_is_printed_at_last(tmp_path: Path, clock: FakeClock) -> None:
    answers = [Completed(1, "", "Error: connection refused\n"), Completed(0, "", "")]
    found = stage(tmp_path, clock, {"uninstall": lambda: answers.pop(0)})
    found.run.installer.uninstall()
    assert found.helm.calls == ["uninstall digits", "uninstall digits"]

    found = stage(tmp_path, clock, {"uninstall": AWAY})
    begun_at = clock.now()
    with pytest.raises(UnreachableError, match="EOF"):
        found.run.installer.uninstall()
    assert clock.now() - begun_at == pytest.approx(60.0, abs=1.0)


def test_a_helm_that_outlived_its_controller_is_waited_for(tmp_path: Path, clock: FakeClock) -> None:
    found = stage(tmp_path, clock, {})
    found.kube.put(SECRET, helms_secret("pending-install", "x"))

    def finish() -> None:
        if len(clock.slept) == 3:
            found.kube.put(SECRET, helms_secret("deployed", "x"))

    clock.meanwhile = finish
    (release,) = found.run.installer.revisions_at_rest()
    assert release.status == "deployed"
    assert found.said == ["release digits: helm left it pending-install; waiting to see whether it is still at work"]


def test_a_helm_that_is_dead_is_not_waited_for_long(tmp_path: Path, clock: FakeClock) -> None:
    found = stage(tmp_path, clock, {})
    found.kube.put(SECRET, helms_secret("pending-install", "x"))
    begun = clock.now()
    (release,) = found.run.installer.revisions_at_rest()
    assert release.status == "pending-install"
    assert 4.9 < clock.now() - begun < 5.3


@pytest.mark.parametrize(
    ("interrupted", "workload", "later", "complete"),
    [(True, True, False, True), (True, False, False, False), (True, True, True, False), (False, True, True, True)],
)
def test_the_release_of_a_dead_helm_is_taken_over_only_when_it_is_complete(
    tmp_path: Path, clock: FakeClock, interrupted: bool, workload: bool, later: bool, complete: bool
) -> None:
    found = stage(tmp_path, clock, {})
    plan = found.run.plan
    if workload:
        found.kube.put(plan.ref.path, {"metadata": {"name": plan.ref.name}})
    if later:
        plan = replace(plan, manifest=(*plan.manifest, {"kind": "Ingress"}))
    decision = Decision(action="attach", why="", interrupted=interrupted)
    assert found.run.installer.is_complete(plan, decision) is complete


@pytest.mark.parametrize(
    ("written", "outcome", "calls"),
    [("cancelled", "cancelled", ["install digits", "uninstall digits"]), ("running", "lost", ["install digits"])],
)
def test_a_release_installed_during_a_stop_is_uninstalled(
    tmp_path: Path, clock: FakeClock, written: str, outcome: str, calls: list[str]
) -> None:
    def helm() -> Completed:
        lease = found.kube.objects[LEASE]
        found.kube.put(LEASE, {**lease, "spec": {**lease["spec"], "holderIdentity": "tower/aaaa1111/4711/99"}})
        found.run.ledger.write(replace(found.run.ledger.read()["data"], outcome=written, cause="stopped from tower"))
        return Completed(0, "", "")

    found = stage(tmp_path, clock, {"install": helm, "uninstall": Completed(0, "", "")})
    result = found.run.run()
    assert (result["outcome"], found.helm.calls) == (outcome, calls)
    assert found.run.ledger.read()["data"].outcome == written


def test_a_stop_may_take_seconds_from_lease_to_ledger(tmp_path: Path, clock: FakeClock) -> None:
    def helm() -> Completed:
        lease, begun = found.kube.objects[LEASE], clock.now()
        found.kube.put(LEASE, {**lease, "spec": {**lease["spec"], "holderIdentity": "tower/aaaa1111/4711/99"}})

        def write() -> None:
            if clock.now() - begun > 5:
                entry = found.run.ledger.read()["data"]
                found.run.ledger.write(replace(entry, outcome="cancelled", cause="stopped from tower"))

        clock.meanwhile = write
        return Completed(0, "", "")

    found = stage(tmp_path, clock, {"install": helm, "uninstall": Completed(0, "", "")})
    assert found.run.run()["outcome"] == "cancelled"


def test_a_cluster_that_does_not_answer_after_helm_ends_nothing(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def helm() -> Completed:
        found.kube.fail[f"PUT {LEASE}"] = [(UnreachableError("away"), False)]
        return Completed(0, "", "")

    followed: list[Attempt] = []

    def follow(attempt: Attempt) -> State:
        followed.append(attempt)
        return attempt.ended_before_start(Ending(outcome="succeeded"))

    monkeypatch.setattr(Attempt, "follow", follow)
    found = stage(tmp_path, clock, {"install": helm, "uninstall": Completed(0, "", "")})
    assert found.run.run()["outcome"] == "succeeded"
    assert len(followed) == 1


def test_a_release_of_somebody_else_is_not_uninstalled(tmp_path: Path, clock: FakeClock) -> None:
    stderr = "Error: INSTALLATION FAILED: release name check failed: cannot reuse a name that is still in use\n"
    found = stage(tmp_path, clock, {"install": Completed(1, "", stderr)})
    with pytest.raises(ConflictError, match="cannot reuse a name"):
        found.run.run()
    assert found.helm.calls == ["install digits"]


def test_a_missing_namespace_names_cluster_and_remedy(tmp_path: Path, clock: FakeClock) -> None:
    found = stage(tmp_path, clock, {})
    found.kube.namespaces.clear()
    with pytest.raises(AbsentError, match=r"namespace team on cluster local: not found\. Create it"):
        found.run.run()
    assert found.helm.calls == []


def skipped(tmp_path: Path, clock: FakeClock, **more: t.Any) -> Stage:
    """Return a step that an earlier run, `r0`, has done."""
    found = stage(tmp_path, clock, {}, **more)
    Ledger(found.kube, "digits").write(
        Entry(
            step="data",
            identity=found.run.draft.identity,
            outcome="succeeded",
            run_id="r0",
            pipeline="digits",
            helm_release="digits",
            controller="h",
            started="2026-11-21T09:00:00.000Z",
            finished="2026-11-21T09:00:09.000Z",
        )
    )
    return found


def test_a_run_that_has_only_skipped_steps_can_be_stopped_before_the_next(tmp_path: Path, clock: FakeClock) -> None:
    found = skipped(tmp_path, clock, total=2)
    assert found.run.run()["outcome"] == "skipped"
    assert cancellation.request(found.run.ledger, by="tower", at="2026-11-21T09:15:02.123Z") == ["r1"]


def test_a_skipped_step_touches_nothing(tmp_path: Path, clock: FakeClock) -> None:
    found = skipped(tmp_path, clock)
    before = dict(found.kube.objects)
    result = found.run.run()
    assert (result["outcome"], result["changed"], result["first_run"]) == ("skipped", False, "r0")
    assert found.kube.objects == before
    assert found.helm.calls == []


def test_a_step_of_a_run_that_was_stopped_does_not_begin(tmp_path: Path, clock: FakeClock) -> None:
    found = stage(tmp_path, clock, {}, index=2, total=3)
    earlier = running_entry(replace(found.run.task, step="prepare", index=1), "x", clock.now())
    found.run.ledger.finish(replace(earlier, outcome="succeeded"))
    cancellation.request(found.run.ledger, by="tower", at="2026-11-21T09:15:02.123Z")

    result = found.run.run()

    told = "it was stopped from tower at 2026-11-21T09:15:02.123Z before this step began. Run it again to go on."
    assert (result["outcome"], result["failed"], result["changed"]) == ("cancelled", True, False)
    assert result["msg"] == f"step 2/3 data: not begun: Run/r1: StoppedBefore: {told}"
    assert found.said == [result["msg"]]
    assert (found.helm.calls, set(found.run.ledger.read())) == ([], {"prepare"})
    record = json.loads((tmp_path / "runs/r1/local/02-data/step.json").read_text(encoding="utf-8"))
    assert (record["outcome"], record["cause"]["reason"]) == ("cancelled", "StoppedBefore")
    # The same id may be used again.
    assert cancellation.find(found.run.ledger, "r1") is None


def test_a_run_that_is_stopped_before_its_step_has_the_lock_does_not_begin_it(tmp_path: Path, clock: FakeClock) -> None:
    found = stage(tmp_path, clock, {}, index=2, total=3)
    lock = found.run.lock

    def acquire(**_: t.Any) -> None:
        earlier = running_entry(replace(found.run.task, step="prepare", index=1), "x", clock.now())
        found.run.ledger.finish(replace(earlier, outcome="succeeded"))
        cancellation.request(found.run.ledger, by="tower", at="2026-11-21T09:15:02.123Z")

    lock.acquire = acquire  # type: ignore[method-assign]
    assert found.run.run()["outcome"] == "cancelled"
    assert found.helm.calls == []
