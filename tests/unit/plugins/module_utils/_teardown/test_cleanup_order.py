"""In which order `cluster_cleanup` lets go of what a cluster made outside of itself, and what it keeps."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable

import pytest
from fakes.clock import FakeClock

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ClusterError
from ansible_collections.mlops.eks.plugins.module_utils._teardown.cleanup import cleanup

Document = dict[str, t.Any]
# Where the kinds are, and whether they are in namespaces.
KINDS = {
    "Pod": ("/api/v1", "pods", True),
    "Service": ("/api/v1", "services", True),
    "PersistentVolumeClaim": ("/api/v1", "persistentvolumeclaims", True),
    "PersistentVolume": ("/api/v1", "persistentvolumes", False),
    "Ingress": ("/apis/networking.k8s.io/v1", "ingresses", True),
    "ReplicaSet": ("/apis/apps/v1", "replicasets", True),
    "Deployment": ("/apis/apps/v1", "deployments", True),
    "NodePool": ("/apis/karpenter.sh/v1", "nodepools", False),
    "NodeClaim": ("/apis/karpenter.sh/v1", "nodeclaims", False),
    "EC2NodeClass": ("/apis/karpenter.k8s.aws/v1", "ec2nodeclasses", False),
    "PodDisruptionBudget": ("/apis/policy/v1", "poddisruptionbudgets", True),
}


class Api:
    """Objects by path; one with a finalizer stays until a minute has gone by, as if its controller took that long."""

    def __init__(self) -> None:
        self.objects: dict[str, Document] = {}
        self.deleted: list[str] = []
        self.said: list[str] = []
        self.clock = FakeClock()
        self.begun = self.clock.now()

    def add(self, kind: str, name: str, spec: Document | None = None, /, **metadata: t.Any) -> str:
        root, plural, namespaced = KINDS[kind]
        where = f"{root}/namespaces/team/{plural}" if namespaced else f"{root}/{plural}"
        placed = {"namespace": "team"} if namespaced else {}
        self.objects[f"{where}/{name}"] = {
            "kind": kind,
            "metadata": {"name": name, **placed, **metadata},
            "spec": spec or {},
        }
        return f"{where}/{name}"

    def get(self, path: str, params: Document | None = None) -> Document | None:
        if path in self.objects:
            return self.objects[path]
        root, _, plural = path.rpartition("/")
        kinds = [
            kind
            for kind, (where, name, _) in KINDS.items()
            if root.removesuffix("/namespaces/team") == where and plural == name
        ]
        if kinds:
            return {"items": [entry for entry in self.living() if entry["kind"] == kinds[0]]}
        served = [(kind, plural, scoped) for kind, (where, plural, scoped) in KINDS.items() if where == path]
        resources = [{"kind": kind, "name": plural, "namespaced": scoped} for kind, plural, scoped in served]
        return {"resources": resources} if resources else None

    def living(self) -> Iterable[Document]:
        slow = self.clock.now() - self.begun < 60
        for path, entry in list(self.objects.items()):
            if path in self.deleted and not (slow and entry["metadata"].get("finalizers")):
                del self.objects[path]
        return list(self.objects.values())

    def request(self, method: str, path: str, *, params: Document) -> Document:
        assert (method, params) == ("DELETE", {"propagationPolicy": "Background"})
        if path not in self.objects:
            raise AbsentError(f"{path}: not found")
        self.deleted.append(path)
        return {}

    def clean(self, *, check: bool = False, timeout: float = 600.0) -> Document:
        return cleanup(t.cast(t.Any, self), timeout=timeout, check=check, say=self.said.append, clock=self.clock)


def volume(api: Api, name: str, *, policy: str = "Delete", dynamic: bool = True) -> None:
    made = {"pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com"} if dynamic else {}
    bound = {"namespace": "team", "name": name}
    api.add(
        "PersistentVolume", f"pv-{name}", {"persistentVolumeReclaimPolicy": policy, "claimRef": bound}, annotations=made
    )
    api.add("PersistentVolumeClaim", name)


def owner(version: str, kind: str, name: str) -> list[Document]:
    return [{"apiVersion": version, "kind": kind, "name": name, "controller": True}]


def names(result: Document) -> list[str]:
    return t.cast("list[str]", result["deleted"])


def test_nodes_go_after_what_may_run_on_them() -> None:
    api = Api()
    api.add("NodePool", "gpu")
    api.add("NodeClaim", "gpu-1", labels={"karpenter.sh/nodepool": "gpu"})
    api.add("Service", "web", {"type": "LoadBalancer"}, finalizers=["service.kubernetes.io/load-balancer-cleanup"])
    api.add("Ingress", "site")
    assert names(api.clean()) == ["Ingress team/site", "Service team/web", "NodePool gpu", "NodeClaim gpu-1"]
    assert api.clock.now() - api.begun >= 60
    assert any("Service team/web waits for the load balancer controller" in line for line in api.said)


def test_budgets_go_where_nodes_are_drained_and_classes_with_their_nodes() -> None:
    api = Api()
    budget = api.add("PodDisruptionBudget", "db")
    api.add("EC2NodeClass", "default")
    assert names(api.clean()) == ["EC2NodeClass default"]
    assert budget not in api.deleted
    api = Api()
    for kind, name in (("PodDisruptionBudget", "db"), ("EC2NodeClass", "default"), ("NodeClaim", "gpu-1")):
        api.add(kind, name)
    assert names(api.clean()) == ["PodDisruptionBudget team/db", "NodeClaim gpu-1", "EC2NodeClass default"]


def test_what_is_leaving_already_is_only_waited_for() -> None:
    api = Api()
    api.add("Service", "web", {"type": "LoadBalancer"}, deletionTimestamp="2026-11-21T00:00:00Z", finalizers=["x"])
    api.clock.meanwhile = lambda: api.objects.clear()
    assert api.clean() == {"changed": False, "deleted": []}
    assert any("Service team/web waits for" in line for line in api.said)


def test_whoever_uses_a_volume_goes_with_its_topmost_owner() -> None:
    api = Api()
    volume(api, "data")
    api.add("Deployment", "db")
    api.add("ReplicaSet", "db-1", ownerReferences=owner("apps/v1", "Deployment", "db"))
    claim = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
    api.add("Pod", "db-1-a", claim, ownerReferences=owner("apps/v1", "ReplicaSet", "db-1"))
    api.add("Pod", "db-1-b", claim, ownerReferences=owner("apps/v1", "ReplicaSet", "db-1"))
    api.add("Pod", "other", {"volumes": [{"name": "tmp", "emptyDir": {}}]})
    # Its volume stays until a driver removes it.
    api.clock.meanwhile = lambda: api.objects.pop("/api/v1/persistentvolumes/pv-data", None)
    assert names(api.clean()) == ["Deployment team/db", "PersistentVolumeClaim team/data"]


def test_an_ephemeral_volume_belongs_to_its_pod() -> None:
    api = Api()
    volume(api, "job-scratch")
    api.add(
        "Pod",
        "job",
        {"volumes": [{"name": "scratch", "ephemeral": {}}]},
        ownerReferences=owner("example.com/v1", "Thing", "x"),
    )
    api.clock.meanwhile = lambda: api.objects.pop("/api/v1/persistentvolumes/pv-job-scratch", None)
    assert names(api.clean()) == ["Pod team/job", "PersistentVolumeClaim team/job-scratch"]


def test_what_is_to_be_kept_or_was_made_by_hand_stays() -> None:
    api = Api()
    volume(api, "kept", policy="Retain")
    volume(api, "by-hand", dynamic=False)
    api.add("Service", "inside", {"type": "ClusterIP"})
    api.add("NodePool", "system", labels={"app.kubernetes.io/managed-by": "eks"})
    api.add("NodeClaim", "system-1", labels={"karpenter.sh/nodepool": "system"})
    assert api.clean() == {"changed": False, "deleted": []}


def test_check_mode_only_tells() -> None:
    api = Api()
    api.add("Service", "web", {"type": "LoadBalancer"})
    assert api.clean(check=True) == {"changed": True, "deleted": ["Service team/web"]}
    assert api.deleted == []
    assert api.said == ["would delete Service team/web"]


def test_what_does_not_go_is_told_with_what_keeps_it() -> None:
    api = Api()
    api.add("Service", "web", {"type": "LoadBalancer"}, finalizers=["service.kubernetes.io/load-balancer-cleanup"])
    with pytest.raises(
        ClusterError, match="after 20 s Service team/web waits for the load balancer controller"
    ) as refused:
        api.clean(timeout=20.0)
    (left,) = refused.value.details["left"]
    assert left.endswith("the load balancer controller (finalizers: service.kubernetes.io/load-balancer-cleanup)")


def test_what_was_deleted_and_does_not_go_is_told_with_the_command_that_gives_it_up() -> None:
    api = Api()
    api.add("NodeClaim", "gpu-1", deletionTimestamp="2026-11-21T00:00:00Z", finalizers=["karpenter.sh/termination"])
    with pytest.raises(ClusterError) as refused:
        api.clean(timeout=20.0)
    patch = """--type=merge --patch='{"metadata": {"finalizers": null}}'"""
    assert f"give NodeClaim gpu-1 up (kubectl patch nodeclaims.karpenter.sh gpu-1 {patch})" in str(refused.value)


def test_nodes_of_a_karpenter_before_1_go_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("NodePool", "NodeClaim", "EC2NodeClass"):
        root, plural, namespaced = KINDS[kind]
        monkeypatch.setitem(KINDS, kind, (f"{root}beta1", plural, namespaced))
    api = Api()
    paths = [api.add(kind, "gpu") for kind in ("NodePool", "NodeClaim", "EC2NodeClass")]
    assert names(api.clean()) == ["NodePool gpu", "NodeClaim gpu", "EC2NodeClass gpu"]
    assert api.deleted == paths
    assert paths[0] == "/apis/karpenter.sh/v1beta1/nodepools/gpu"
