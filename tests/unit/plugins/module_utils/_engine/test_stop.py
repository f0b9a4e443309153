"""A run that is stopped: its controller loses the lock, the ledger says why, and nothing stays installed."""

from __future__ import annotations

import base64
import json
import typing as t
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.clock import FakeClock
from fakes.disk import mounted
from fakes.kube import FakeKube, Glance

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ConflictError, StorageError
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._engine.stop import Stop
from ansible_collections.mlops.eks.plugins.module_utils._follow import drain
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Completed, Helm
from ansible_collections.mlops.eks.plugins.module_utils._ledger import cancellation
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Entry, Ledger
from ansible_collections.mlops.eks.plugins.module_utils._ledger.lock import Lock
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import LogStore

ENTRY = Entry(
    step="train",
    identity="x",
    outcome="running",
    run_id="r1",
    pipeline="digits",
    helm_release="digits",
    controller="tower",
    started="2026-11-21T09:00:00.000Z",
)
SECRETS = "/api/v1/namespaces/team/secrets"
SECRET = f"{SECRETS}/sh.helm.release.v1.digits.v1"
PODS = "/api/v1/namespaces/team/pods"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/team/leases/mlops-eks-digits"


class Stage:
    """A run `digits` and its stop."""

    def __init__(self, tmp_path: Path) -> None:
        self.kube, self.said, self.helms = FakeKube(), list[str](), list[tuple[str, str]]()
        self.clock = FakeClock()
        self.ledger, self.directory = Ledger(self.kube, "digits"), tmp_path
        self.archive = LogStore(directory=tmp_path)
        # What the controller does that has not missed the lock yet.
        self.late: t.Callable[[], None] = lambda: None
        # What else happens in the cluster while pods are waited for.
        self.meanwhile: t.Callable[[], None] = lambda: None
        self.watches: list[Glance] = []
        self.clock.meanwhile = self._pass

    def watch(self, *args: t.Any) -> Glance:
        self.watches.append(Glance(*args))
        return self.watches[-1]

    def _pass(self) -> None:
        self.meanwhile()
        for watch in self.watches:
            watch.start()

    def install(self, run: str = "digits") -> None:
        labels = {"owner": "helm", "name": "digits", "status": "deployed", "version": "1"}
        labels |= {"mlops.eks/release": run, "mlops.eks/step": "train", "mlops.eks/identity": "x"} if run else {}
        self.kube.put(SECRET, {"metadata": {"name": "sh.helm.release.v1.digits.v1", "labels": labels}})

    def stop(self, *, check: bool = False, **more: t.Any) -> dict[str, t.Any]:
        helm = Helm(binary="helm", kubeconfig="/k", context=None, namespace="team", run=self._run)
        how = {"archive": self.archive, "say": self.said.append, "clock": self.clock, **more}
        return Stop(kube=self.kube, helm=helm, release="digits", **how).run(check=check)

    def pod(self, name: str, **spec: t.Any) -> None:
        metadata = {"name": name, "uid": f"uid-{name}", "labels": {"app.kubernetes.io/instance": "digits"}}
        entry = {"metadata": metadata, "spec": {"containers": [], **spec}, "status": {"phase": "Running"}}
        self.kube.put(f"{PODS}/{name}", entry)

    def _run(self, argv: Sequence[str], *, stdin: str | None = None) -> Completed:
        # What the ledger says, and who has the lock, at the moment at which the workload goes.
        holder = self.kube.objects[LEASE]["spec"]["holderIdentity"]
        self.helms.append((self.ledger.read()["train"].outcome, holder))
        del self.kube.objects[SECRET]
        self.late()
        return Completed(0, "", "")


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage(tmp_path)
    monkeypatch.setattr(drain, "Watch", stage.watch)
    return stage


def test_a_living_controller_loses_the_lock_before_its_workload_is_deleted(stage: Stage) -> None:
    stage.ledger.write(ENTRY)
    stage.install()
    follower = Lock(stage.kube, "digits", clock=Clock())
    follower._me = "tower/aaaa1111/4711/99"
    follower.acquire(timeout=0, say=stage.said.append)

    result = stage.stop()

    assert (result["changed"], result["stopped"], result["uninstalled"]) == (True, ["train"], ["digits"])
    ((outcome, holder),) = stage.helms
    assert outcome == "cancelled"
    assert holder != follower._me
    with pytest.raises(ConflictError, match="took over"):
        follower.ensure_held()
    assert "stopped from" in stage.ledger.read()["train"].cause
    assert LEASE not in stage.kube.objects


@pytest.mark.parametrize("installed", [True, False])
def test_the_secrets_of_a_run_go_with_it(stage: Stage, installed: bool) -> None:
    """Also of a step whose controller died before it had installed anything."""
    stage.ledger.write(ENTRY)
    if installed:
        stage.install()
    ours = {"app.kubernetes.io/managed-by": "mlops.eks", "used-by.mlops.eks/digits": "digits"}
    for name, labels in (("digits-secrets", ours), ("theirs", {"used-by.mlops.eks/digits": "digits"})):
        stage.kube.put(f"{SECRETS}/{name}", {"metadata": {"name": name, "labels": labels}})
    stage.stop()
    assert [path for path in stage.kube.objects if path.startswith(SECRETS)] == [f"{SECRETS}/theirs"]


def test_pods_are_drained_until_their_logs_end(stage: Stage) -> None:
    stage.ledger.write(ENTRY)
    stage.install()
    stage.pod("digits-0")
    stage.pod("digits-1", terminationGracePeriodSeconds=60)

    def end() -> None:
        stage.kube.objects.pop(f"{PODS}/digits-0", None)
        if len(stage.clock.slept) == 4:
            stage.kube.objects[f"{PODS}/digits-1"]["status"] = {"phase": "Failed"}

    stage.meanwhile = end
    stage.stop()
    assert "waiting for digits-0, digits-1 to end, 1 min 5 s at most" in stage.said
    assert len(stage.clock.slept) == 4
    pods = (stage.directory / "digits/pods.yaml").read_text(encoding="utf-8")
    assert (pods.count("phase: Running"), pods.count("phase: Failed")) == (1, 1)


def test_the_evidence_of_a_stop_contains_no_secret(stage: Stage) -> None:
    """The values of the Secrets that its pods take from, and what the user names."""
    stage.ledger.write(ENTRY)
    stage.install()
    data = {"url": base64.b64encode(b"postgres://trainer:p%40ssw0rd@db/runs").decode()}
    stage.kube.put("/api/v1/namespaces/team/secrets/db", {"metadata": {"name": "db"}, "data": data})
    said = {"message": "cannot log in as trainer with p@ssw0rd, token " + json.dumps('named/"token"')}
    container = {"name": "main", "envFrom": [{"secretRef": {"name": "db"}}]}
    stage.pod("digits-0", containers=[container])
    stage.kube.objects[f"{PODS}/digits-0"]["status"] = {"phase": "Failed", **said}
    stage.archive = replace(stage.archive, mask=Mask(['named/"token"']), private=True)
    stage.stop()
    file = stage.directory / "digits/pods.yaml"
    text = file.read_text(encoding="utf-8")
    assert 'cannot log in as trainer with ********, token "********"' in text
    assert file.stat().st_mode & 0o777 == 0o600


def test_pods_that_never_end_are_named(stage: Stage) -> None:
    stage.ledger.write(ENTRY)
    stage.install()
    for number in range(5):
        stage.pod(f"digits-{number}")
    begun = stage.clock.now()
    stage.stop()
    names = "digits-0, digits-1, digits-2 and 2 more pods"
    assert f"{names} still there: check whether their nodes are gone" in stage.said
    assert stage.clock.now() - begun == 35


def test_a_step_written_before_the_controller_notices_the_lost_lock_is_stopped_too(stage: Stage) -> None:
    stage.ledger.write(ENTRY)
    stage.install()
    stage.late = lambda: stage.ledger.write(replace(ENTRY, step="evaluate"))
    assert stage.stop()["stopped"] == ["evaluate", "train"]


def test_a_step_between_two_attempts_is_stopped_too(stage: Stage) -> None:
    stage.ledger.write(replace(ENTRY, outcome="retrying"))
    assert stage.stop()["stopped"] == ["train"]
    assert stage.ledger.read()["train"].outcome == "cancelled"
    assert stage.helms == []


def test_a_controller_between_two_steps_is_named(stage: Stage) -> None:
    stage.ledger.write(replace(ENTRY, outcome="succeeded"))
    follower = Lock(stage.kube, "digits", clock=Clock())
    follower._me = "tower/aaaa1111/4711/99"
    follower.acquire(timeout=0, say=stage.said.append)
    result = stage.stop()
    assert (result["changed"], result["stopped"]) == (True, [])
    assert (
        result["msg"]
        == "run digits: nothing is running; tower (process 4711) was between two steps and has lost the lock"
    )


def test_a_run_between_two_steps_is_marked_once(stage: Stage) -> None:
    stage.ledger.finish(replace(ENTRY, outcome="succeeded", total=2))

    would = stage.stop(check=True)
    first, second = stage.stop(), stage.stop()

    assert would["msg"] == "run digits: nothing is running; r1 would begin no further step"
    assert (first["changed"], first["msg"]) == (True, "run digits: nothing is running; r1 begins no further step")
    assert (second["changed"], second["msg"]) == (False, "run digits: nothing is running")
    found = cancellation.find(stage.ledger, "r1")
    assert found is not None
    assert "stopped from" in str(found)


def test_the_marker_is_written_before_steps_are_cancelled(stage: Stage) -> None:
    """A step that ends well while its run is stopped may still overwrite what the ledger says of it."""
    stage.ledger.write(ENTRY)
    stage.install()
    stage.late = lambda: stage.ledger.finish(replace(ENTRY, outcome="succeeded", total=2))
    stage.stop()
    assert cancellation.find(stage.ledger, "r1")


def test_releases_of_a_dead_controller_are_uninstalled(stage: Stage) -> None:
    stage.ledger.write(replace(ENTRY, outcome="succeeded"))
    stage.install()
    result = stage.stop()
    assert (result["changed"], result["stopped"], result["uninstalled"]) == (True, [], ["digits"])
    assert "nothing is running; uninstalled what was left of it" in result["msg"]
    assert stage.ledger.read()["train"].outcome == "succeeded"


def test_a_run_that_has_ended_is_left_as_it_is(stage: Stage) -> None:
    stage.ledger.write(replace(ENTRY, outcome="succeeded"))
    assert stage.stop()["changed"] is False
    assert stage.said == ["run digits: nothing is running"]
    assert stage.ledger.read()["train"].outcome == "succeeded"


JOB = "/apis/batch/v1/namespaces/team/jobs/data-process-digits"
MADE = replace(ENTRY, objects=("v1/ConfigMap//digits", "batch/v1/Job//data-process-digits"))


def made(stage: Stage, release: str = "digits", **metadata: t.Any) -> None:
    """Put a Job that Helm made for `release`, and a pod of it."""
    marks = {"meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": "team"}
    metadata = {
        "name": "data-process-digits",
        "uid": "u",
        "labels": {"app.kubernetes.io/managed-by": "Helm"},
        "annotations": marks,
        **metadata,
    }
    stage.kube.put(JOB, {"metadata": metadata})
    stage.pod("digits-0")


def test_orphans_are_deleted_and_their_pods_drained(stage: Stage) -> None:
    stage.ledger.write(MADE)
    made(stage)
    stage.meanwhile = lambda: stage.kube.objects.pop(f"{PODS}/digits-0", None)
    would = stage.stop(check=True)
    assert JOB in stage.kube.objects
    result = stage.stop()
    assert (would["uninstalled"], result["stopped"], result["uninstalled"]) == (["digits"], ["train"], ["digits"])
    assert JOB not in stage.kube.objects
    assert stage.helms == []
    told = "deleting Job/data-process-digits: made for release digits, of which Helm has no record"
    assert told in stage.said
    assert (stage.directory / "digits/pods.yaml").exists()
    assert stage.ledger.read()["train"].outcome == "cancelled"
    assert stage.stop()["changed"] is False


@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {}},
        {"annotations": {}},
        {"annotations": {"meta.helm.sh/release-name": "other", "meta.helm.sh/release-namespace": "team"}},
        {"annotations": {"meta.helm.sh/release-name": "digits", "meta.helm.sh/release-namespace": "other"}},
    ],
)
def test_objects_without_the_labels_of_our_release_stay(stage: Stage, metadata: t.Any) -> None:
    stage.ledger.write(MADE)
    made(stage, **metadata)
    assert stage.stop()["uninstalled"] == []
    assert JOB in stage.kube.objects


def test_check_mode_leaves_lock_and_ledger_alone(stage: Stage) -> None:
    stage.ledger.write(ENTRY)
    stage.install()
    before = dict(stage.kube.objects)
    assert stage.stop(check=True)["stopped"] == ["train"]
    assert stage.said == ["run digits: would stop train"]
    assert stage.kube.objects == before


def test_an_unknown_run_is_an_error_and_leaves_no_lease(stage: Stage) -> None:
    with pytest.raises(AbsentError, match=r"run digits: nothing of that name in namespace team"):
        stage.stop()
    assert stage.kube.objects == {}


def test_where_no_evidence_can_be_kept_nothing_is_stopped(stage: Stage) -> None:
    stage.ledger.write(ENTRY)
    stage.install()
    before = dict(stage.kube.objects)
    with mounted(stage.directory / "disk", "size=64k") as disk:
        disk.fill()
        with pytest.raises(StorageError, match="or 'evidence' to false"):
            stage.stop(archive=LogStore(directory=disk.path / "stop"))
    assert (stage.helms, stage.kube.objects) == ([], before)


def test_what_is_to_leave_no_evidence_is_stopped_at_once(stage: Stage) -> None:
    stage.ledger.write(ENTRY)
    stage.install()
    stage.pod("digits-0")
    assert stage.stop(archive=None)["uninstalled"] == ["digits"]
    assert (list(stage.directory.iterdir()), stage.clock.slept) == ([], [])


def test_nothing_is_uninstalled_until_there_is_room_for_the_evidence(stage: Stage) -> None:
    stage.ledger.write(ENTRY)
    stage.install()
    stage.pod("digits-0", note="x" * 100_000)
    with mounted(stage.directory / "disk", "size=64k") as disk:

        def free() -> None:
            assert stage.helms == [] or len(stage.clock.slept) > 300
            if len(stage.clock.slept) == 300:
                disk.resize("size=4m")

        stage.meanwhile = free
        stage.stop(archive=LogStore(directory=disk.path / "stop"))
        assert (disk.path / "stop/digits/pods.yaml").stat().st_size > 100_000
    told = [line for line in stage.said if "no space left on device" in line]
    assert len(told) == 3
    assert "nothing is uninstalled until the evidence is whole" in told[0]
