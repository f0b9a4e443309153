# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The changes of a plan that remove nodes of managed node groups, and so end what runs there.

Source: EKS API reference. UpdateNodegroupVersion replaces every node for a new launch template version, image or
Kubernetes version. UpdateNodegroupConfig terminates nodes when `desiredSize` becomes lower, and sets taints on
existing nodes.
"""

from __future__ import annotations

import typing as t
from collections.abc import Collection, Iterator, Mapping, Sequence

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError

Document = Mapping[str, t.Any]
KIND = "aws_eks_node_group"
_ROLLING_UPDATE = ("launch_template", "release_version", "version")
_CAPACITY_BLOCK = "CAPACITY_BLOCK"
_SCALE_TO_ZERO = (
    "aws eks update-nodegroup-config --cluster-name {row.cluster} --nodegroup-name {row.group}"
    " --scaling-config minSize=0,desiredSize=0"
)


class Disruption(t.NamedTuple):
    """One node group that would lose nodes: its address, its name in EKS, its number of nodes, and the change.

    `rolling_update`: the nodes are replaced one after the other. `capacity_block`: they belong to a Capacity Block.
    """

    address: str
    group: str
    nodes: int
    change: str
    cluster: str = ""
    rolling_update: bool = False
    capacity_block: bool = False

    def row(self) -> dict[str, t.Any]:
        """Return the disruption as part of a task's result."""
        return {"address": self.address, "group": self.group, "nodes": self.nodes, "text": self.text()}

    def text(self) -> str:
        """Return the change as the end of a sentence that begins with `this would`."""
        return f"{self.change} of node group {self.group} ({self.address})"


def find(plan: Document) -> list[Disruption]:
    """Return the node groups of a plan that would lose nodes."""
    entries = [entry for entry in plan.get("resource_changes") or [] if entry.get("mode") == "managed"]
    found = (_disruption(entry["address"], entry["change"]) for entry in entries if entry["type"] == KIND)
    return sorted(row for row in found if row is not None)


def _disruption(address: str, change: Document) -> Disruption | None:
    before, actions = change.get("before") or {}, change["actions"]
    nodes = _desired(before) or 0
    replaced_for = actions == ["update"] and [name for name in _ROLLING_UPDATE if _differs(change, name)]
    if "delete" in actions:
        text = f"destroy all {nodes} nodes"
    elif replaced_for:
        text = f"replace all {nodes} nodes, for {', '.join(replaced_for)},"
    elif actions == ["update"]:
        text = " and ".join(_updates(change))
    else:
        text = ""
    if not nodes or not text:
        return None
    return Disruption(
        address=address,
        group=before.get("node_group_name") or address,
        nodes=nodes,
        change=text,
        cluster=before.get("cluster_name") or "",
        rolling_update=bool(replaced_for),
        capacity_block=before.get("capacity_type") == _CAPACITY_BLOCK,
    )


def _updates(change: Document) -> Iterator[str]:
    before, after = change["before"], change.get("after") or {}
    wanted, nodes = _desired(after), _desired(before) or 0
    if wanted is None:
        yield "change the number"
    elif wanted < nodes:
        yield f"remove {nodes - wanted} of {nodes} nodes"
    evicting = _evicting(after) - _evicting(before)
    if evicting:
        yield f"evict the pods, by taint {', '.join(sorted(evicting))},"


def _desired(group: Document) -> int | None:
    """Return the desired number of nodes of a group, or `None` if unknown."""
    sizes: Sequence[Document] = group.get("scaling_config") or [{}]
    found: int | None = sizes[0].get("desired_size")
    return found


def _evicting(group: Document) -> set[str]:
    return {taint["key"] for taint in group.get("taint") or () if taint.get("effect") == "NO_EXECUTE"}


def _differs(change: Document, name: str) -> bool:
    """Return whether an attribute changes, or may change because its new value is unknown."""
    unknown = (change.get("after_unknown") or {}).get(name)
    return (change.get("after") or {}).get(name) != change["before"].get(name) or _any(unknown)


def _any(marks: t.Any) -> bool:
    if isinstance(marks, (dict, list)):
        return any(map(_any, marks.values() if isinstance(marks, dict) else marks))
    return bool(marks)


def refuse(subject: str, rows: Sequence[Disruption], allowed: Collection[str], outputs: Document) -> None:
    """Refuse changes that remove nodes, unless `allowed` names the address or the kind.

    Raises:
        ConflictError: its details have the groups and the current outputs of the stack, so that the caller can look
            up what runs on these nodes.
    """
    blocks = [row for row in rows if row.rolling_update and row.capacity_block]
    if blocks:
        losses = "; ".join(row.text() for row in blocks)
        commands = "; ".join(f"`{_SCALE_TO_ZERO.format(row=row)}`" for row in blocks)
        raise ConflictError(
            f"{subject}: refused, nothing was changed: this would {losses}, and a group of a Capacity Block is updated"
            f" only while it has no node. When nothing runs there, scale it to zero: {commands}. Wait until its nodes"
            " are gone, then run the same command again: it makes the change and restores the size."
        )
    refused = [row for row in rows if not {row.address, KIND} & set(allowed)]
    if refused:
        losses = "; ".join(row.text() for row in refused)
        names = ", ".join(quoted(row.address) for row in refused)
        raise ConflictError(
            f"{subject}: refused, nothing was changed: this would {losses}, and end what runs there."
            f" If nothing runs there, or it may end, set allow_disruption: [{names}].",
            disruptions=[row.row() for row in refused],
            outputs=dict(outputs),
        )


def quoted(address: str) -> str:
    """Return an address quoted for a YAML list: the brackets of a key would end the list."""
    return f"'{address}'" if "[" in address else address
