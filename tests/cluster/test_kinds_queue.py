# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Workloads in a queue of Kueue: let go, held back in Kueue's own words, and let go once there is quota."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from any_chart import write
from plays import until
from recorded_workloads import SLEEP, job, mpi, pod
from samples import Json
from space import Space

pytestmark = [pytest.mark.cluster, pytest.mark.operators]

KUEUE = "kueue.x-k8s.io/v1beta2"
# Seconds a workload may take here; three operators and a scheduler have a say in it.
LONG = 240
API_VERSIONS = {"Job": "batch/v1", "MPIJob": "kubeflow.org/v2beta1"}


@pytest.fixture
def queue(space: Space) -> Iterator[str]:
    """Make a queue of a tenth of a processor for the namespace, and return its name."""
    name = f"queue-{space.namespace}"
    quota = [{"name": "cpu", "nominalQuota": "100m"}, {"name": "memory", "nominalQuota": "1Gi"}]
    group = {"coveredResources": ["cpu", "memory"], "flavors": [{"name": name, "resources": quota}]}
    specs: dict[str, Json] = {
        "ResourceFlavor": {},
        "ClusterQueue": {"namespaceSelector": {}, "resourceGroups": [group]},
        "LocalQueue": {"clusterQueue": name},
    }
    for kind, spec in specs.items():
        space.apply({"apiVersion": KUEUE, "kind": kind, "metadata": {"name": name}, "spec": spec})
    yield name
    for kind in ("clusterqueue", "resourceflavor"):
        space.kubectl("delete", kind, name, "--wait=false")


def _queued(kind: str, queue: str, name: str = "queued", cpu: str = "10m", script: str = "echo admitted") -> Json:
    """Return a workload of which every pod asks for `cpu`."""
    leader, worker = (
        pod(text, resources={"requests": {"cpu": cpu, "memory": "16Mi"}}) for text in (script, "sleep 600")
    )
    workload = mpi(name, leader, worker) if kind == "MPIJob" else job(name, leader)
    workload["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": queue}
    return workload


@pytest.mark.parametrize("kind", API_VERSIONS)
def test_what_fits_is_admitted_and_succeeds(kind: str, space: Space, queue: str) -> None:
    chart, values = write(space.directory / "chart", [_queued(kind, queue)])
    play = space.start_task("helm_step", release="run", chart=str(chart), values=values, timeout=LONG)
    assert "| admitted" in play.end(seconds=LONG)
    assert space.record("run")["outcome"] == "succeeded"
    assert space.releases() == []
    (gate,) = space.get("events", "--field-selector", "reason=Admitted")
    assert gate["involvedObject"]["kind"] == "Workload"


@pytest.mark.parametrize("kind", API_VERSIONS)
def test_what_is_held_back_by_quota_says_so_and_goes_on_when_there_is_some(kind: str, space: Space, queue: str) -> None:
    space.apply(_queued("Job", queue, "occupant", "90m", SLEEP))
    until(lambda: any(one["status"].get("ready") for one in space.get("jobs")), "the occupant runs", LONG)

    space.apply(_queued(kind, queue, cpu="20m"))
    asked = {"api_version": API_VERSIONS[kind], "kind": kind, "name": "queued"}
    play = space.start_task("workload_wait", **asked, timeout=LONG)
    play.shows(f"Kueue holds it back in LocalQueue {queue}: couldn't assign flavors to pod set ", LONG)
    assert f"insufficient unused quota for cpu in flavor {queue}, " in play.text

    space.kubectl("delete", "job", "occupant")
    assert "| admitted" in play.end(seconds=LONG)
    assert space.record("queued")["outcome"] == "succeeded"


def test_what_somebody_deactivates_waits_until_it_is_activated(space: Space, queue: str) -> None:
    space.apply(_queued("Job", queue, "occupant", "90m", SLEEP))
    until(lambda: any(one["status"].get("ready") for one in space.get("jobs")), "the occupant runs", LONG)
    space.apply(_queued("Job", queue, cpu="20m"))
    held = until(lambda: [one for one in space.names("workloads") if "queued" in one], "it has a Workload", LONG)
    activate = ("patch", "workload", *held, "--type=merge", "-p")
    space.kubectl(*activate, '{"spec": {"active": false}}')
    play = space.start_task("workload_wait", kind="Job", name="queued", timeout=LONG)
    play.shows("Kueue has deactivated it and will not try again: ", LONG)

    space.kubectl(*activate, '{"spec": {"active": true}}')
    space.kubectl("delete", "job", "occupant")
    assert "| admitted" in play.end(seconds=LONG)


def test_what_never_fits_times_out_with_the_numbers(space: Space, queue: str) -> None:
    space.apply(_queued("Job", queue, cpu="200m"))
    space.task("workload_wait", 2, kind="Job", name="queued", pending_timeout=15)
    record = space.record("queued")
    assert (record["outcome"], record["cause"]["reason"]) == ("timed_out", "PendingTimeout")
    assert record["pods"] == []
    # More than there is at all: Kueue's words are others than for what is only taken.
    assert f"insufficient quota for cpu in flavor {queue}, " in record["cause"]["message"]
    assert "> maximum capacity (100m)" in record["cause"]["message"]
