"""Whether a node, or one of a NodePool, could ever run a pod."""

from __future__ import annotations

import typing as t

import pytest
from fakes.made import BEGIN, Document, stamp

from ansible_collections.mlops.eks.plugins.module_utils._kube import fit

GPU = "nvidia.com/gpu"
TAINT = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
FITS = ""


def asks(cpu: str = "1", *, gpus: int = 0, **spec: t.Any) -> Document:
    """Return a pod that asks for something."""
    devices = {GPU: str(gpus)} if gpus else {}
    resources = {"requests": {"cpu": cpu, **devices}, "limits": devices}
    return {"metadata": {"name": "x"}, "spec": {"containers": [{"name": "main", "resources": resources}], **spec}}


def node(*taints: Document, age: float = 86400, labels: Document | None = None, **has: str) -> Document:
    """Return a node with four cores, like those of the kubelet."""
    there = {"cpu": "4", "memory": "8Gi", "ephemeral-storage": "100Gi", "hugepages-2Mi": "0", "pods": "110", **has}
    labels = {"kubernetes.io/os": "linux", "kubernetes.io/hostname": "a", **(labels or {})}
    metadata = {"name": "a", "labels": labels, "creationTimestamp": stamp(-age)}
    status = {"allocatable": dict(there), "capacity": dict(there)}
    return {"metadata": metadata, "spec": {"taints": list(taints)}, "status": status}


def pool(
    *requirements: Document, taints: tuple[Document, ...] = (), labels: Document | None = None, **limits: str
) -> Document:
    """Return a NodePool, as in karpenter.sh's documentation."""
    spec: Document = {"requirements": list(requirements), "taints": list(taints), "startupTaints": [TAINT]}
    template = {"metadata": {"labels": labels or {}}, "spec": spec}
    return {"metadata": {"name": "gpu"}, "spec": {"template": template, "limits": limits}}


def needs(key: str, operator: str, *values: str) -> Document:
    return {"key": key, "operator": operator, "values": list(values)}


def prefers(*terms: list[Document]) -> Document:
    """Return an affinity that requires one of the terms."""
    found = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": found}}


def why(pod: Document, offer: fit.Offer) -> str:
    found = fit.mismatch(pod, offer)
    return fit.summary(pod, [found], "node") if found else FITS


# Nodes


@pytest.mark.parametrize(
    ("pod", "entry", "said"),
    [
        (asks(), node(), FITS),
        (asks("4"), node(), FITS),
        (asks("1000"), node(), "it asks for 1000 cpu, but there is at most 4 (1 node)"),
        (asks("4100m"), node(), "it asks for 4.1 cpu, but there is at most 4 (1 node)"),
        (asks(gpus=8), node(), f"it asks for 8 {GPU}, but there is none (1 node)"),
        (asks(gpus=8), node(**{GPU: "4"}), f"it asks for 8 {GPU}, but there is at most 4 (1 node)"),
        (asks(gpus=8), node(**{GPU: "8"}), FITS),
        # Its device plugin is away, or was not there yet.
        (asks(gpus=8), node(**{GPU: "0"}), FITS),
        (asks(gpus=8), node(age=600), FITS),
        (asks("1000"), node(age=600), "it asks for 1000 cpu, but there is at most 4 (1 node)"),
        (asks(overhead={"cpu": "4"}), node(), "it asks for 5 cpu, but there is at most 4 (1 node)"),
        (
            asks(initContainers=[{"name": "i", "resources": {"requests": {"cpu": "5"}}}]),
            node(),
            "it asks for 5 cpu, but there is at most 4 (1 node)",
        ),
        (asks(initContainers=[{"name": "i", "resources": {"requests": {"cpu": "4"}}}]), node(), FITS),
        (
            asks("2", initContainers=[{"restartPolicy": "Always", "resources": {"requests": {"cpu": "3"}}}]),
            node(),
            "it asks for 5 cpu, but there is at most 4 (1 node)",
        ),
        (
            asks(resources={"requests": {"memory": "9Gi"}}),
            node(),
            "it asks for 9Gi memory, but there is at most 8Gi (1 node)",
        ),
    ],
)  # fmt: skip
def test_what_a_node_has(pod: Document, entry: Document, said: str) -> None:
    assert why(pod, fit.of_node(entry, BEGIN)) == said


UNTOLERATED = "it does not tolerate the taint gpu=true:NoSchedule (1 node)"


@pytest.mark.parametrize(
    ("tolerations", "said"),
    [
        ([], UNTOLERATED),
        ([{"key": "gpu", "operator": "Exists"}], FITS),
        ([{"operator": "Exists"}], FITS),
        ([{"key": "gpu", "value": "true", "effect": "NoSchedule"}], FITS),
        ([{"key": "gpu", "value": "true", "effect": "NoExecute"}], UNTOLERATED),
        ([{"key": "gpu", "value": "false"}], UNTOLERATED),
        ([{"key": "cpu", "operator": "Exists"}], UNTOLERATED),
        ([{"key": "gpu", "operator": "Gt", "value": "1"}], FITS),
    ],
)
def test_taints_and_tolerations(tolerations: list[Document], said: str) -> None:
    assert why(asks(tolerations=tolerations), fit.of_node(node(TAINT), BEGIN)) == said


@pytest.mark.parametrize(
    "key",
    [
        "node.kubernetes.io/unschedulable",
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "karpenter.sh/disrupted",
        "ebs.csi.aws.com/agent-not-ready",
        "startup-taint.cluster-autoscaler.kubernetes.io/gpu",
        "ToBeDeletedByClusterAutoscaler",
    ],
)
def test_taints_that_pass_by_themselves_keep_nothing_away(key: str) -> None:
    assert why(asks(), fit.of_node(node({"key": key, "effect": "NoExecute"}), BEGIN)) == FITS


def test_a_taint_that_only_prefers_keeps_nothing_away() -> None:
    assert why(asks(), fit.of_node(node({**TAINT, "effect": "PreferNoSchedule"}), BEGIN)) == FITS


LABELS = {"disk": "ssd", "cores": "64"}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"nodeSelector": {"disk": "ssd"}}, FITS),
        ({"nodeSelector": {"disk": "nvme"}}, "it wants a node with disk In nvme (1 node)"),
        ({"nodeSelector": {"zone": "a"}}, "it wants a node with zone In a (1 node)"),
        ({"affinity": prefers([needs("disk", "In", "nvme", "ssd")])}, FITS),
        ({"affinity": prefers([needs("disk", "NotIn", "ssd")])}, "it wants a node with disk NotIn ssd (1 node)"),
        ({"affinity": prefers([needs("zone", "NotIn", "a")])}, FITS),
        ({"affinity": prefers([needs("zone", "Exists")])}, "it wants a node with zone Exists (1 node)"),
        ({"affinity": prefers([needs("zone", "DoesNotExist")])}, FITS),
        ({"affinity": prefers([needs("disk", "DoesNotExist")])}, "it wants a node with disk DoesNotExist (1 node)"),
        ({"affinity": prefers([needs("cores", "Gt", "63")])}, FITS),
        ({"affinity": prefers([needs("cores", "Lt", "64")])}, "it wants a node with cores Lt 64 (1 node)"),
        ({"affinity": prefers([needs("disk", "Gt", "1")])}, "it wants a node with disk Gt 1 (1 node)"),
        ({"affinity": prefers([needs("zone", "Exists")], [needs("disk", "Exists")])}, FITS),
        (
            {"nodeSelector": {"disk": "nvme"}, "affinity": prefers([needs("disk", "Exists")])},
            "it wants a node with disk In nvme (1 node)",
        ),
        # What others of its pods do is not a node's.
        ({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{}]}}}, FITS),
        ({"topologySpreadConstraints": [{"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]}, FITS),
    ],
)
def test_labels_of_a_node(spec: Document, said: str) -> None:
    assert why(asks(**spec), fit.of_node(node(labels=LABELS), BEGIN)) == said


def test_labels_that_tell_of_devices_come_after_the_node() -> None:
    chosen = asks(nodeSelector={"nvidia.com/gpu.product": "H100"})
    assert why(chosen, fit.of_node(node(age=600), BEGIN)) == FITS
    assert why(chosen, fit.of_node(node(), BEGIN)) == "it wants a node with nvidia.com/gpu.product In H100 (1 node)"
    assert why(asks(nodeSelector={"team": "a"}), fit.of_node(node(age=600), BEGIN)) != FITS


def test_a_node_by_its_name() -> None:
    term = {"matchFields": [needs("metadata.name", "In", "b")]}
    one = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    said = why(asks(affinity={"nodeAffinity": one}), fit.of_node(node(), BEGIN))
    assert said == "it wants a node with metadata.name In b (1 node)"


# NodePools

FAMILY = needs("karpenter.k8s.aws/instance-family", "In", "p5", "p4d")


@pytest.mark.parametrize(
    ("pod", "entry", "said"),
    [
        (asks("1000", gpus=8), pool(FAMILY), FITS),
        (asks(), pool(taints=(TAINT,)), UNTOLERATED),
        (asks(tolerations=[{"key": "gpu", "operator": "Exists"}]), pool(taints=(TAINT,)), FITS),
        (asks(gpus=8), pool(cpu="100"), FITS),
        (asks("64"), pool(cpu="32"), "it asks for 64 cpu, but there is at most 32 (1 node)"),
        (asks(gpus=8), pool(**{GPU: "0"}), f"it asks for 8 {GPU}, but there is none (1 node)"),
        (asks(), pool(cpu="0"), "it asks for 1 cpu, but there is none (1 node)"),
        # What the pool says of a label, and what only its instances know.
        (asks(nodeSelector={"team": "a"}), pool(labels={"team": "a"}), FITS),
        (asks(nodeSelector={"team": "b"}), pool(labels={"team": "a"}), "it wants a node with team In b (1 node)"),
        (asks(nodeSelector={"team": "b"}), pool(), "it wants a node with team In b (1 node)"),
        (asks(nodeSelector={"team": "b"}), pool(needs("team", "In", "a", "b")), FITS),
        (asks(nodeSelector={"karpenter.sh/nodepool": "gpu"}), pool(), FITS),
        (
            asks(nodeSelector={"karpenter.sh/nodepool": "cpu"}),
            pool(),
            "it wants a node with karpenter.sh/nodepool In cpu (1 node)",
        ),
        (asks(nodeSelector={"node.kubernetes.io/instance-type": "p5.48xlarge"}), pool(FAMILY), FITS),
        (asks(nodeSelector={"topology.kubernetes.io/zone": "us-west-2a"}), pool(), FITS),
        (asks(nodeSelector={"nvidia.com/gpu.product": "H100"}), pool(), FITS),
        (
            asks(nodeSelector={"karpenter.k8s.aws/instance-family": "g6"}),
            pool(FAMILY),
            "it wants a node with karpenter.k8s.aws/instance-family In g6 (1 node)",
        ),
        (
            asks(affinity=prefers([needs("karpenter.k8s.aws/instance-gpu-count", "Gt", "7")])),
            pool(needs("karpenter.k8s.aws/instance-gpu-count", "Lt", "9")),
            FITS,
        ),
        (asks(affinity=prefers([needs("team", "DoesNotExist")])), pool(), FITS),
    ],
)  # fmt: skip
def test_what_a_node_pool_could_make(pod: Document, entry: Document, said: str) -> None:
    assert why(pod, fit.of_pool(entry)) == said


@pytest.mark.parametrize(
    "pod",
    [
        asks(schedulerName="fargate-scheduler"),
        asks(resourceClaims=[{"name": "gpu"}]),
        asks(schedulingGates=[{"name": "kueue.x-k8s.io/admission"}]),
        {**asks(), "status": {"nominatedNodeName": "a"}},
    ],
)
def test_where_other_controllers_schedule_the_fit_is_uncertain(pod: Document) -> None:
    assert fit.uncertain(pod)
    assert not fit.uncertain(asks(schedulerName="default-scheduler"))


def test_what_keeps_a_pod_from_the_most_is_told_first() -> None:
    offers = [fit.of_node(one, BEGIN) for one in (node(TAINT), node(), node(cpu="2"))]
    found = [fit.mismatch(asks("1000"), one) for one in offers]
    assert fit.summary(asks("1000"), filter(None, found), "node") == (
        "it asks for 1000 cpu, but there is at most 4 (2 nodes); "
        "it does not tolerate the taint gpu=true:NoSchedule (1 node)"
    )
