# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""A real native cluster of three nodes: joined, restarted, cut, one killed, gone. The tests run in order on one."""

from __future__ import annotations

import copy
import json
import subprocess
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
from natives import BASE_IMAGE, JOB, Bench, assert_as_before, machine
from plays import until
from samples import consecutive, gated, shown_ticks, ticks
from space import Space, fresh
from three import Three

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._local import addresses, sweep
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout, Node

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

# Answers every connection with the address it came from.
SERVER = (
    "$s = IO::Socket::INET->new(LocalPort => 8080, Listen => 9, ReuseAddr => 1); "
    'while ($c = $s->accept) { print $c $c->peerhost, "\\n"; close $c }'
)
ASK = "exec 3<>/dev/tcp/server/8080; read -r me <&3; echo seen as $me; ls /fsx/home | tr '\\n' ' '"


@pytest.fixture(scope="module")
def before() -> dict[str, set[str]]:
    return machine()


@pytest.fixture(scope="module")
def bench(before: dict[str, set[str]]) -> Iterator[Bench]:
    bench = Bench("n", nodes=3)
    yield bench
    bench.down(bench.names[0])


@pytest.fixture
def cluster(bench: Bench) -> Layout:
    return Layout(name=bench.names[0])


def job_on(node: Node, name: str, command: str) -> dict[str, t.Any]:
    job = copy.deepcopy(JOB)
    pod = job["spec"]["template"]["spec"]
    pod["nodeSelector"] = {"kubernetes.io/hostname": node.name}
    pod["containers"][0]["command"][-1] += f"; echo {node.name} >/fsx/home/{node.name}; {command}"
    return {**job, "metadata": {"name": name}}


def ready(bench: Bench, node: Node) -> str:
    found = json.loads(bench.kubectl(node.cluster.name, "get", "node", node.name, "-o", "json"))
    return next(str(entry["status"]) for entry in found["status"]["conditions"] if entry["type"] == "Ready")


def test_three_nodes_come_up_and_a_second_run_is_quiet(bench: Bench, cluster: Layout) -> None:
    result = bench.up(cluster.name)
    assert result["changed"]
    assert result["cluster"]["nodes"] == [f"{cluster.name}-{number}" for number in (1, 2, 3)]
    assert [ready(bench, cluster.node(number)) for number in (1, 2, 3)] == ["True"] * 3
    assert not bench.up(cluster.name)["changed"]
    # Who only brings images, as the operators' role does, need not know how many nodes there are.
    assert not bench.up(cluster.name, nodes=None)["changed"]
    with pytest.raises(ConflictError, match="cannot be changed to 2"):
        bench.up(cluster.name, nodes=2)


def test_pods_of_all_nodes_reach_each_other_the_services_and_the_same_files(bench: Bench, cluster: Layout) -> None:
    nodes = [cluster.node(number) for number in (1, 2, 3)]
    labels = {"app": "server"}
    pod = {"nodeName": nodes[2].name, "containers": [
        {"name": "main", "image": BASE_IMAGE, "command": ["perl", "-MIO::Socket::INET", "-e", SERVER]}]}  # fmt: skip
    bench.create(
        cluster.name,
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "server", "labels": labels}, "spec": pod},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "server"},
         "spec": {"selector": labels, "ports": [{"port": 8080}]}},
    )  # fmt: skip
    bench.kubectl(cluster.name, "wait", "--for=condition=Ready", "pod/server", "--timeout=300s")
    retried = f"until ({ASK}); do sleep 0.5; done"
    bench.create(cluster.name, *(job_on(node, f"on-{node.number}", retried) for node in nodes))
    jobs = [f"job/on-{node.number}" for node in nodes]
    bench.kubectl(cluster.name, "wait", "--for=condition=Complete", *jobs, "--timeout=300s")

    said = {node.number: bench.kubectl(cluster.name, "logs", f"job/on-{node.number}") for node in nodes}

    assert all("all is well" in text for text in said.values()), said
    # A pod's address is of its node's range, and nobody on the way hides it.
    ranges = addresses.recorded(cluster.root / "cluster.json")
    assert ranges is not None
    for number in (1, 2):
        prefix = ranges.node_pods(number).removesuffix("0/24")
        assert f"seen as {prefix}" in said[number], said
    written = {path.name for path in (cluster.root / "shared/fsx/home").iterdir()}
    assert {node.name for node in nodes} <= written


def test_a_node_whose_link_is_down_shows_in_seconds_and_is_joined_again(bench: Bench, cluster: Layout) -> None:
    node = cluster.node(2)
    subprocess.run(["ip", "-netns", cluster.netns, "link", "set", "node-2", "down"], check=True)
    until(lambda: ready(bench, node) == "Unknown", "the node is not ready")

    result = bench.up(cluster.name)

    assert result["diff"]["before"]["network"] == "cut"
    assert ready(bench, node) == "True"
    assert not bench.up(cluster.name)["changed"]


@pytest.fixture
def space(cluster: Layout, tmp_path: Path) -> Iterator[Space]:
    with fresh(str(cluster.kubeconfig), tmp_path) as found:
        yield found


def node_of(space: Space, cluster: Layout) -> Node:
    """Return the node of the step's only pod."""
    (pod,) = space.get("pods")
    return next(cluster.node(number) for number in (1, 2, 3) if cluster.node(number).name == pod["spec"]["nodeName"])


def test_a_step_goes_on_while_components_restart(bench: Bench, cluster: Layout, space: Space) -> None:
    three = Three(cluster.name)
    # On a busy machine a node may be silent for so long that its pods would be evicted.
    patient = {"tolerations": [{"operator": "Exists", "effect": "NoExecute"}]}
    play = space.start("train", pipeline=space.pipeline(train=gated("echo done") | patient))
    play.shows("tick 3")
    node = node_of(space, cluster)
    for component in ("etcd", "kube-apiserver", node.named("containerd"), node.named("kubelet")):
        three.restart(component)
        three.await_server()
    said = len(shown_ticks(play.text))
    until(lambda: len(shown_ticks(play.text)) > said + 3, "the log goes on")
    space.open_gate()

    play.end()

    assert space.record("train")["outcome"] == "succeeded"
    assert consecutive(ticks(space.log("train")))
    assert consecutive(shown_ticks(play.text))
    assert not bench.up(cluster.name)["changed"]


def test_a_job_goes_on_elsewhere_when_its_node_is_lost_and_the_node_comes_back(
    bench: Bench, cluster: Layout, space: Space
) -> None:
    """Its policy does not count a pod that was deleted with its node, though its backoff limit is 0."""
    three = Three(cluster.name)
    three.reserve_first()
    play = space.start("train", pipeline=space.pipeline(train=gated()))
    play.shows("tick 3")
    node = node_of(space, cluster)
    three.kill(node)
    three.forget(node)

    def elsewhere() -> bool:
        return any(pod["spec"].get("nodeName") not in (None, node.name) for pod in space.get("pods"))

    until(elsewhere, "the job has a pod on another node")
    space.open_gate()
    play.end()

    record = space.record("train")
    assert (record["outcome"], record["restarts"]) == ("succeeded", 1)
    assert {pod["node"] for pod in record["pods"]} > {node.name}
    logs = [file.read_text(encoding="utf-8").splitlines() for file in (space.evidence("train") / "logs").iterdir()]
    assert [ticks(lines)[:3] for lines in logs] == [[1, 2, 3]] * 2
    assert space.releases() == []
    three.open_all(but=node)
    states = bench.up(cluster.name)["diff"]["before"]["components"]
    assert {name for name, state in states.items() if state == "stopped"} == {
        node.named(program) for program in ("containerd", "kubelet", "kube-proxy")
    }
    bench.create(cluster.name, job_on(node, "again", "echo here"))
    bench.kubectl(cluster.name, "wait", "--for=condition=Complete", "job/again", "--timeout=300s")


def test_absent_leaves_nothing_of_any_node(bench: Bench, cluster: Layout, before: dict[str, set[str]]) -> None:
    assert bench.down(cluster.name)["changed"]
    assert not any(sweep.leftovers(cluster).values())
    assert_as_before(before)
    assert not bench.down(cluster.name)["changed"]
