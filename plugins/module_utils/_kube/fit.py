# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Whether a node, or one that a Karpenter NodePool could make, could run a pod if nothing else were on it.

Only what does not change by itself counts: labels, taints, and the node's total resources. When something is unknown,
the pod fits: a step that may still succeed must not fail.

Sources: kubernetes component-helpers/scheduling/corev1 (node affinity, taints), api/core/v1/well_known_taints.go;
karpenter pkg/apis/v1/{nodepool,labels}.go, pkg/scheduling/requirements.go; autoscaler utils/taints/taints.go.
"""

from __future__ import annotations

import re
import typing as t
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._core.units import quantity
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document

# The schedulers that this module models; another one, such as Fargate's, may create a node.
_SCHEDULERS = ("default-scheduler", "")
# Taints that are removed again: conditions, cordons, starts and ends of nodes.
_TEMPORARY = re.compile(
    r"(node\.kubernetes\.io|node\.cloudprovider\.kubernetes\.io|karpenter\.sh|node\.cilium\.io"
    r"|(startup-taint|status-taint|ignore-taint)\.cluster-autoscaler\.kubernetes\.io)/.*"
    r"|(ToBeDeleted|DeletionCandidateOf).*|.*(not-ready|startup).*"
)
# Seconds in which a new node may still get its drivers and device plugins.
SETTLING = 900.0
# Labels of an instance, or set on a node after it joined, which a NodePool does not list.
_NODE_LABEL = re.compile(
    r"([\w.-]*\.)?(kubernetes\.io|k8s\.io|k8s\.aws|karpenter\.sh|karpenter\.k8s\.aws|amazonaws\.com|aws\.amazon\.com"
    r"|nvidia\.com|amd\.com|habana\.ai|intel\.com)/.*"
)
_NAME = "metadata.name"
# How many reasons a summary has, the most frequent first.
_SHOWN = 3
# Every node needs these: a NodePool with a limit of 0 for one of them is disabled.
_BASIC = ("cpu", "memory", "nodes")


class Expression(t.NamedTuple):
    """A requirement on a label, as in a node affinity."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, value: str | None) -> bool:
        """Return whether a node with this value of the label satisfies it; `None` means no label."""
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return value is not None and self._compares(value)
        return True

    def _compares(self, value: str) -> bool:
        try:
            found, wanted = int(value), int(self.values[0])
        except (ValueError, IndexError):
            return False
        return found > wanted if self.operator == "Gt" else found < wanted

    def __str__(self) -> str:
        return " ".join(filter(None, (self.key, self.operator, ", ".join(self.values))))


class Mismatch(t.NamedTuple):
    """Why a pod does not fit: a `text`, or the missing `resource` and how much of it there is."""

    text: str
    resource: str = ""
    amount: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What a node or NodePool offers. Unless it is `open`, it has no labels and resources but these.

    There may be more of the resources in `unsure`. `settling`: more devices may be registered.
    """

    name: str
    labels: Mapping[str, tuple[Expression, ...]] = field(default_factory=dict)
    taints: tuple[Document, ...] = ()
    resources: Mapping[str, float] = field(default_factory=dict)
    unsure: frozenset[str] = frozenset()
    open: bool = False
    settling: bool = False


def of_node(node: Document, at: float) -> Offer:
    """Return what a node offers."""
    metadata, status = node["metadata"], node.get("status") or {}
    labels = {**(metadata.get("labels") or {}), _NAME: metadata["name"]}
    allocatable = _amounts(status.get("allocatable"))
    capacity = _amounts(status.get("capacity"))
    created = metadata.get("creationTimestamp")
    return Offer(
        name=metadata["name"],
        labels={key: (Expression(key, "In", (str(value),)),) for key, value in labels.items()},
        taints=tuple(one for one in node["spec"].get("taints") or () if not _TEMPORARY.fullmatch(str(one.get("key")))),
        resources={key: _amount(key, allocatable, capacity) for key in (*capacity, *allocatable)},
        # The device plugin is down; it reports the devices when it is back.
        unsure=frozenset(key for key in capacity if "/" in key and not capacity[key]),
        settling=created is None or at - from_iso(created) < SETTLING,
    )  # fmt: skip


def _amount(key: str, allocatable: Mapping[str, float], capacity: Mapping[str, float]) -> float:
    """Return how much of a resource a node has for pods, with devices that are unhealthy now."""
    free = allocatable.get(key, 0.0)
    return max(free, capacity.get(key, 0.0)) if "/" in key else free


def of_pool(pool: Document) -> Offer:
    """Return what nodes of a NodePool (karpenter.sh/v1) offer."""
    spec = pool["spec"]
    template = spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    made = template.get("spec") or {}
    found: dict[str, tuple[Expression, ...]] = {}
    own = [Expression("karpenter.sh/nodepool", "In", (pool["metadata"]["name"],))]
    own += [Expression(key, "In", (str(value),)) for key, value in labels.items()]
    for one in (*own, *map(_expression, made.get("requirements") or ())):
        found[one.key] = (*found.get(one.key, ()), one)
    return Offer(
        name=pool["metadata"]["name"],
        labels=found,
        taints=tuple(made.get("taints") or ()),
        resources=_amounts(spec.get("limits")),
        open=True,
    )


def _amounts(resources: Mapping[str, t.Any] | None) -> dict[str, float]:
    return {key: quantity(value) for key, value in (resources or {}).items()}


def _expression(document: Document) -> Expression:
    values = tuple(map(str, document.get("values") or ()))
    return Expression(str(document.get("key")), str(document.get("operator")), values)


def uncertain(pod: Document) -> bool:
    """Return whether more than the default scheduler decides about a pod's node, or a node is nominated already."""
    spec = pod["spec"]
    return bool(
        spec.get("schedulerName", "") not in _SCHEDULERS
        or spec.get("resourceClaims")
        or spec.get("schedulingGates")
        or (pod.get("status") or {}).get("nominatedNodeName")
    )


def requests(pod: Document) -> dict[str, float]:
    """Return the resources that a pod needs: init containers run one by one, beside the sidecars."""
    spec = pod["spec"]
    inits = spec.get("initContainers") or ()
    staying = [*(spec.get("containers") or ()), *(one for one in inits if one.get("restartPolicy") == "Always")]
    total: dict[str, float] = {"pods": 1.0}
    for key, value in (pair for one in staying for pair in _requests(one).items()):
        total[key] = total.get(key, 0.0) + value
    for key, value in (pair for one in inits for pair in _requests(one).items()):
        total[key] = max(total.get(key, 0.0), value)
    # Resources of the pod as a whole take precedence.
    total |= _requests(spec)
    for key, value in _amounts(spec.get("overhead")).items():
        total[key] = total.get(key, 0.0) + value
    return {key: value for key, value in total.items() if value > 0}


def _requests(container: Document) -> dict[str, float]:
    resources = container.get("resources") or {}
    return _amounts({**(resources.get("limits") or {}), **(resources.get("requests") or {})})


def mismatch(pod: Document, offer: Offer) -> Mismatch | None:
    """Return the first reason why a pod can never fit, `None` when it may fit."""
    return next(iter((*_by_labels(pod, offer), *_by_taints(pod, offer), *_by_resources(pod, offer))), None)


def _by_labels(pod: Document, offer: Offer) -> Iterator[Mismatch]:
    spec = pod["spec"]
    selector = [Expression(key, "In", (str(value),)) for key, value in (spec.get("nodeSelector") or {}).items()]
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    terms = [_term(one) for one in (required or {}).get("nodeSelectorTerms") or ()] or [[]]
    failed = [_unmet([*selector, *term], offer) for term in terms]
    if all(failed):
        yield Mismatch(f"it wants a node with {failed[0]}")


def _term(term: Document) -> list[Expression]:
    expressions = (*(term.get("matchExpressions") or ()), *(term.get("matchFields") or ()))
    return [_expression(one) for one in expressions]


def _unmet(expressions: Sequence[Expression], offer: Offer) -> str:
    """Return the first requirement that cannot be met, empty when all may be."""
    for one in expressions:
        ours = [other for other in expressions if other.key == one.key]
        if not _satisfiable(ours, offer.labels.get(one.key), unknown=_set_later(one.key, offer)):
            return str(one)
    return ""


def _set_later(key: str, offer: Offer) -> bool:
    """Return whether a label may still be set, from the instance or by a feature discovery."""
    return (offer.open or offer.settling) and (key == _NAME or _NODE_LABEL.fullmatch(key) is not None)


def _satisfiable(wanted: Sequence[Expression], offered: Sequence[Expression] | None, *, unknown: bool) -> bool:
    """Return whether a label may have a value that satisfies both sides."""
    if offered is None:
        return unknown or all(one.holds(None) for one in wanted)
    named = [one.values for one in (*offered, *wanted) if one.operator == "In"]
    if not named:
        # Only ranges and exclusions: whether such an instance exists is unknown.
        return True
    return any(all(one.holds(value) for one in (*offered, *wanted)) for value in named[0])


def _by_taints(pod: Document, offer: Offer) -> Iterator[Mismatch]:
    tolerations = pod["spec"].get("tolerations") or ()
    for taint in offer.taints:
        if taint.get("effect") not in ("NoSchedule", "NoExecute"):
            continue
        if not any(_tolerates(one, taint) for one in tolerations):
            value = f"={taint['value']}" if taint.get("value") else ""
            yield Mismatch(f"it does not tolerate the taint {taint.get('key')}{value}:{taint['effect']}")


def _tolerates(toleration: Document, taint: Document) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    operator = toleration.get("operator") or "Equal"
    if not toleration.get("key"):
        return bool(operator == "Exists")
    if toleration["key"] != taint.get("key"):
        return False
    # Newer operators compare numbers.
    return operator != "Equal" or (toleration.get("value") or "") == (taint.get("value") or "")


def _by_resources(pod: Document, offer: Offer) -> Iterator[Mismatch]:
    for key, wanted in requests(pod).items():
        device = "/" in key
        if offer.open and key not in offer.resources:
            continue
        if key in offer.unsure or (device and offer.settling and not offer.resources.get(key)):
            continue
        if wanted > offer.resources.get(key, 0.0):
            yield Mismatch("", key, offer.resources.get(key, 0.0))
    if offer.open:
        yield from (Mismatch("", key) for key in _BASIC if offer.resources.get(key, 1.0) <= 0)


def summary(pod: Document, found: Iterable[Mismatch], what: str) -> str:
    """Return why a pod fits none of the nodes or NodePools (`what`), and how many of them each reason excludes."""
    asked = requests(pod)
    counts, most = dict[str, int](), dict[str, float]()
    for one in found:
        key = one.resource or one.text
        counts[key] = counts.get(key, 0) + 1
        most[key] = max(most.get(key, 0.0), one.amount)
    sentences = []
    for key, count in sorted(counts.items(), key=lambda pair: -pair[1]):
        text = key
        if key in asked:
            there = f"at most {_shown(key, most[key])}" if most[key] else "none"
            text = f"it asks for {_shown(key, asked[key])} {key}, but there is {there}"
        sentences.append(f"{text} ({count} {what}{'s' if count > 1 else ''})")
    return "; ".join(sentences[:_SHOWN])


def _shown(key: str, amount: float) -> str:
    return f"{amount / 2**30:.4g}Gi" if "memory" in key or "storage" in key else f"{amount:.6g}"
