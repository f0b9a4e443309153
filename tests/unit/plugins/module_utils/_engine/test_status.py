"""What would lose pods with the nodes of managed node groups."""

from __future__ import annotations

import typing as t

from fakes.built import entry
from fakes.kube import FakeKube

from ansible_collections.mlops.eks.plugins.module_utils._engine.status import on_node_groups, runs
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Ledger

GROUPS = {"node-1": "p5", "node-2": "p5", "node-3": "g6", "node-4": "p5", "node-5": "p5"}


class Nodes(FakeKube):
    """A cluster of nodes of managed node groups."""

    def request(self, method: str, path: str, **how: t.Any) -> dict[str, t.Any]:
        if path != "/api/v1/nodes":
            return super().request(method, path, **how)
        key, _, wanted = how["params"]["labelSelector"].partition(" in ")
        assert key == "eks.amazonaws.com/nodegroup"
        groups = wanted.strip("()").split(",")
        return {"items": [{"metadata": {"name": name}} for name, group in GROUPS.items() if group in groups]}

    def add(self, release: str, outcome: str, *pods: tuple[str | None, str]) -> None:
        """Let a step of a release be in the ledger, with pods on nodes and in phases."""
        Ledger(self, release).write(entry("train", outcome, helm_release=release))
        for number, (node, phase) in enumerate(pods):
            metadata = {"name": f"{release}-{number}", "labels": {"app.kubernetes.io/instance": release}}
            spec = {"nodeName": node} if node else {}
            self.put(
                f"/api/v1/namespaces/team/pods/{release}-{number}",
                {"metadata": metadata, "spec": spec, "status": {"phase": phase}},
            )


def asked(kube: FakeKube, *groups: str) -> dict[str, dict[str, t.Any]]:
    rows = runs(kube, release=None, all_namespaces=True, now=0.0)
    return {row["release"]: row for row in on_node_groups(kube, rows, groups)}


def test_steps_on_the_nodes_of_a_group_are_named() -> None:
    kube = Nodes()
    kube.add("bert", "running", ("node-1", "Running"), ("node-2", "Pending"), ("node-3", "Running"))
    kube.add("server", "ready", ("node-3", "Running"))
    kube.add("old", "succeeded", ("node-1", "Running"))
    kube.add("finished", "running", ("node-1", "Succeeded"), ("node-3", "Running"))
    kube.add("waiting", "running", (None, "Pending"))
    kube.add("elsewhere", "running", ("node-9", "Running"))
    found = asked(kube, "p5")
    assert {name: row["nodes"] for name, row in found.items()} == {"bert": ["node-1", "node-2"]}
    assert found["bert"]["text"] == (
        "step train of bert in namespace team runs on node-1, node-2, since 2026-11-21T09:00:00.000Z"
    )
    assert set(asked(kube, "g6")) == {"bert", "server", "finished"}
    assert set(asked(kube, "p5", "g6")) == {"bert", "server", "finished"}
    assert "server in namespace team serves on node-3" in asked(kube, "g6")["server"]["text"]


def test_steps_without_pods_are_named_too() -> None:
    kube = Nodes()
    kube.add("again", "retrying")
    assert asked(kube, "p5")["again"]["nodes"] == []
    assert "waits for its next attempt with no pod yet" in asked(kube, "p5")["again"]["text"]


def test_a_sentence_does_not_name_a_thousand_nodes() -> None:
    kube = Nodes()
    kube.add("bert", "running", *((f"node-{number}", "Running") for number in (1, 2, 4, 5)))
    assert "runs on node-1, node-2, node-4 and 1 more, since" in asked(kube, "p5")["bert"]["text"]
