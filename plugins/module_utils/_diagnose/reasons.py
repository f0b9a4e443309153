# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Every reason of a cause, with its category and remedy.

Reasons are those of Kubernetes where it has one. Categories are few and stable: `retry_on` and dashboards depend on
them. An operator's own reasons are not listed; their category is `workload`.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

Category = t.Literal[
    "node_lost",
    "evicted",
    "preempted",
    "memory",
    "image_pull",
    "configuration",
    "volume",
    "scheduling",
    "quota",
    "admission",
    "validation",
    "init",
    "probe",
    "sidecar",
    "program",
    "deadline",
    "timeout",
    "interrupted",
    "workload",
]


class Reason(t.NamedTuple):
    """The category of a reason, and its remedy."""

    category: Category
    remedy: str


_AGAIN = "Run the step again, or let 'retries' do it"
_IMAGE = "Check the image name and tag in the recipe, and that the registry has them."
_PULL = "Check that the nodes may reach and pull from its registry."
_CONFIG = "Create the Secret, ConfigMap, key or claim it names, or correct the recipe."
_RUNTIME = "Check command, args and mounts of this container in the recipe."
_VALUES = "Correct the values of the recipe that this field comes from."
_REFUSED = "Correct what is refused: quota, admission webhook, or the pod's own fields."
_EVIDENCE = "Its events and pods are in the evidence."

OTHER = Reason("workload", _EVIDENCE)

REASONS: Mapping[str, Reason] = {
    # The node went away.
    "NodeLost": Reason("node_lost", f"{_AGAIN}; if it happens often, look at the node's events and its kubelet."),
    "NodeShutdown": Reason("node_lost", f"{_AGAIN}."),
    "SpotInterrupted": Reason("node_lost", f"{_AGAIN}; on-demand capacity is not interrupted."),
    # The pod was evicted or preempted.
    "Evicted": Reason("evicted", "Request what it uses (resources.requests, ephemeral-storage), or use larger nodes."),
    "EvictionByEvictionAPI": Reason(
        "evicted",
        f"{_AGAIN}; a drain or an autoscaler asked for it, from which the annotation karpenter.sh/do-not-disrupt or a "
        "PodDisruptionBudget protects.",
    ),
    "MPIJobEvicted": Reason("evicted", f"{_AGAIN}; if its nodes run out of memory or disk, ask for more."),
    "TaintEviction": Reason("evicted", f"{_AGAIN}; tolerate the taint in the recipe if the pod may stay."),
    "ContainerStatusUnknown": Reason("node_lost", f"{_AGAIN}; the node forgot the container, as after a restart."),
    "PreemptionByScheduler": Reason("preempted", f"{_AGAIN}, or give it a higher priorityClassName."),
    "PreemptionByKubelet": Reason("preempted", f"{_AGAIN}; a critical pod of the node needed its place."),
    # Memory.
    "OOMKilled": Reason("memory", "Raise resources.limits.memory or make the program use less."),
    "SystemOOM": Reason("memory", "Set resources.requests.memory to what it uses, or use nodes with more memory."),
    # Images.
    "ImageNotFound": Reason("image_pull", _IMAGE),
    "InvalidImageName": Reason("image_pull", _IMAGE),
    "ErrImageNeverPull": Reason("image_pull", "Bring the image to the nodes, or change imagePullPolicy."),
    "ImageUnauthorized": Reason(
        "image_pull", "Check the name, and give the nodes' role or an imagePullSecret the right to pull it."
    ),
    "RegistryNotFound": Reason("image_pull", "Check the registry's name in the recipe and the nodes' DNS."),
    "RegistryTimeout": Reason("image_pull", "Check the way from the nodes to the registry: NAT, endpoints, proxy."),
    "RegistryRateLimited": Reason("image_pull", "Pull with credentials, or through a mirror such as an ECR cache."),
    "ImagePlatform": Reason("image_pull", "Build the image for the architecture of the nodes, or choose other nodes."),
    "DiskFull": Reason("image_pull", "Use nodes with a larger root volume; large images need twice their size."),
    "RegistryUnavailable": Reason("image_pull", _PULL),
    "ErrImagePull": Reason("image_pull", _PULL),
    "ImagePullBackOff": Reason("image_pull", _PULL),
    "ImageInspectError": Reason("image_pull", _PULL),
    "SignatureValidationFailed": Reason("image_pull", "Sign the image, or correct the policy of the nodes."),
    # Containers that cannot be created.
    "CreateContainerConfigError": Reason("configuration", _CONFIG),
    "CreateContainerError": Reason("configuration", _RUNTIME),
    "RunContainerError": Reason("configuration", _RUNTIME),
    "StartError": Reason("configuration", _RUNTIME),
    "ContainerCannotRun": Reason("configuration", _RUNTIME),
    # Volumes.
    "VolumeSourceMissing": Reason("volume", _CONFIG),
    "FailedMount": Reason(
        "volume", "Check that the file system can be reached from the node, and the CSI driver's pods."
    ),
    "FailedAttachVolume": Reason("volume", "Check the volume, its zone and the CSI driver's pods."),
    "MultiAttach": Reason("volume", "Stop the other pod, or use a ReadWriteMany volume such as FSx or EFS."),
    "VolumeClaim": Reason("volume", "Create the PersistentVolumeClaim or correct 'pvc' in the recipe."),
    "ClaimUnbound": Reason("volume", "Check the claim's storage class and that its provisioner runs."),
    # Admission.
    "UnexpectedAdmissionError": Reason("scheduling", f"{_AGAIN}; look at the node's devices and device plugin."),
    "Unschedulable": Reason(
        "scheduling", "Lower the resources in the recipe, or add nodes that fit (node_type, tolerations)."
    ),
    "NoMatchingNode": Reason(
        "scheduling",
        "Ask for less, tolerate the taint or correct node_type in the recipe, or add nodes or a NodePool that match; "
        "'infeasible_grace: 0' waits for them.",
    ),
    "Deactivated": Reason(
        "scheduling", "Look at the events of its Workload; set its spec.active to true, or run the step again."
    ),
    "StuckTerminating": Reason(
        "scheduling",
        "Bring its node back, or delete the Node object of an instance that is gone, then run the same command again.",
    ),
    "ExceededQuota": Reason("quota", "Raise the quota, free some of it, or lower the resources in the recipe."),
    "AdmissionDenied": Reason("admission", "Correct in the recipe what the webhook or policy refuses."),
    "WebhookUnreachable": Reason("admission", "Bring the webhook's own pods up: nothing can be created without it."),
    "FailedCreate": Reason("admission", _REFUSED),
    "TrainJobResourcesCreationFailed": Reason("admission", _REFUSED),
    "JobCreationFailed": Reason("admission", _REFUSED),
    "FailedToCreateRayCluster": Reason("admission", _REFUSED),
    "FailedToCreateRayJobSubmitter": Reason("admission", _REFUSED),
    "FailedToCreateHeadPod": Reason("admission", _REFUSED),
    "ValidationError": Reason("validation", _VALUES),
    "ValidationFailed": Reason("validation", _VALUES),
    "FailedValidation": Reason("validation", _VALUES),
    "InvalidPyTorchJob": Reason("validation", _VALUES),
    "InvalidRayClusterSpec": Reason("validation", _VALUES),
    "InvalidRayClusterMetadata": Reason("validation", _VALUES),
    # Programs.
    "InitContainerFailed": Reason("init", "Its last lines say why; nothing else of the pod started."),
    "SidecarFailed": Reason("sidecar", "Its last lines say why; the main containers were not to blame."),
    "LivenessProbeFailed": Reason("probe", "Give the probe more time, or find out why the program does not answer."),
    "StartupProbeFailed": Reason("probe", "Raise the startup probe's failureThreshold, or make the start quicker."),
    "ReadinessProbeFailed": Reason("probe", "Check the probe's path and port, and what the program says."),
    "Error": Reason("program", "Its last lines say why."),
    "CrashLoop": Reason("program", "Its last lines say why."),
    "Killed": Reason("program", "Find out who ended it: its log's last lines, its events, the node's log."),
    # Time.
    "DeadlineExceeded": Reason("deadline", "Raise the deadline in the recipe, or make the work shorter."),
    "ProgressDeadlineExceeded": Reason("deadline", "Find out in its events and logs what does not become ready."),
    "Timeout": Reason("timeout", "Raise 'timeout' or find out what hangs."),
    "ReadyTimeout": Reason("timeout", "Find out what does not become ready, or raise 'ready_timeout'."),
    "PendingTimeout": Reason("timeout", "Make room for it, or ask for less, or raise 'pending_timeout'."),
    "NoOutputTimeout": Reason(
        "timeout",
        "Find the rank that waits for another one, or for storage; if it works in silence, let it write a line now and "
        "then, or raise 'no_output_timeout'.",
    ),
    # From outside.
    "LockLost": Reason(
        "interrupted", "Follow it there; if that controller stops, run the same command again to go on."
    ),
    "Deleted": Reason("interrupted", "Run the same command again to start from the beginning."),
    "PodDeleted": Reason("interrupted", f"{_AGAIN}; find out who deleted it (audit log)."),
    "Cancelled": Reason("interrupted", "Run it again to start from the beginning."),
    "StoppedBefore": Reason("interrupted", "Run it again to go on."),
}


def lookup(reason: str) -> Reason:
    """Return the row of a reason; an operator's own reasons have the category `workload`."""
    return REASONS.get(reason, OTHER)
