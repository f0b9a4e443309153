"""The observer against a real server: what it makes of lists and watches."""

from __future__ import annotations

import typing as t
from pathlib import Path

from fakes.http import Answer, Exchange, Server

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._follow.changes import PodSeen, Tick, WorkloadGone, WorkloadSeen
from ansible_collections.mlops.eks.plugins.module_utils._follow.observe import Observer, Target
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Rules, start
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import Ref
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import LogStore

Serve = t.Callable[[Answer], tuple[Server, Kube]]
JOB = KINDS["batch/v1", "Job"]
RULES = Rules(kind=JOB, name="x", started=0.0)


def observe(serve: Serve, tmp_path: Path, jobs: list[dict[str, t.Any]]) -> list[t.Any]:
    """What arrives until pod and workload have been looked for and a tick has passed."""

    def answer(exchange: Exchange) -> None:
        if "watch" in exchange.params:
            exchange.begin()
            server.closing.wait(20)
            return
        pod = {"metadata": {"name": "x-1", "uid": "p", "resourceVersion": "1"}, "spec": {}}
        items = {"jobs": jobs, "pods": [pod], "events": []}[exchange.path.rpartition("/")[2]]
        exchange.reply({"metadata": {"resourceVersion": "5"}, "items": items})

    server, kube = serve(answer)
    ref, log_store = Ref("batch/v1", "Job", "jobs", "team", "x"), LogStore(directory=tmp_path / "logs")
    selectors = ({"labelSelector": "batch.kubernetes.io/job-name=x"},)
    target = Target(kind=JOB, ref=ref, selectors=selectors, log_store=log_store)
    observer = Observer(kube, target, Clock())
    observer.start()
    found: list[t.Any] = []
    try:
        for change in observer.changes():
            found.append(change)
            kinds = {type(one) for one in found}
            if {PodSeen, Tick} <= kinds and kinds & {WorkloadSeen, WorkloadGone}:
                return found
    finally:
        observer.close(start(RULES, 0.0))
    return found


def test_what_exists_is_seen(serve: Serve, tmp_path: Path) -> None:
    job = {"metadata": {"name": "x", "uid": "j", "resourceVersion": "1"}, "spec": {}}
    kinds = [type(change) for change in observe(serve, tmp_path, [job])]
    assert WorkloadSeen in kinds
    assert WorkloadGone not in kinds


def test_a_workload_that_was_deleted_before_the_first_look_is_gone(serve: Serve, tmp_path: Path) -> None:
    assert WorkloadGone in [type(change) for change in observe(serve, tmp_path, [])]


def test_pods_that_only_the_status_names_are_watched_as_soon_as_it_does(serve: Serve, tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(exchange: Exchange) -> None:
        if "watch" in exchange.params:
            exchange.begin()
            server.closing.wait(20)
            return
        entry = {"metadata": {"name": "x", "uid": "r", "resourceVersion": "1"}, "spec": {}}
        entry["status"] = {"rayClusterName": "x-9vq4z"}
        selector = str(exchange.params.get("labelSelector", ""))
        asked.append(selector)
        head = {"metadata": {"name": "x-9vq4z-head", "uid": "h", "resourceVersion": "1"}, "spec": {}}
        pods = [head] if selector == "ray.io/cluster=x-9vq4z" else []
        items = {"rayjobs": [entry], "pods": pods, "events": []}[exchange.path.rpartition("/")[2]]
        exchange.reply({"metadata": {"resourceVersion": "5"}, "items": items})

    server, kube = serve(answer)
    row, ref = KINDS["ray.io/v1", "RayJob"], Ref("ray.io/v1", "RayJob", "rayjobs", "team", "x")
    planned = row.selectors({"metadata": {"name": "x"}, "spec": {}})
    target = Target(kind=row, ref=ref, selectors=planned, log_store=LogStore(directory=tmp_path))
    observer = Observer(kube, target, Clock())
    wanted = ("batch.kubernetes.io/job-name=x", "ray.io/cluster=x-9vq4z")
    observer.start()
    try:
        found = next(change for change in observer.changes() if isinstance(change, PodSeen))
        # Each watch has a thread of its own: the first may be the last to ask.
        next(change for change in observer.changes() if set(wanted) <= set(asked))
    finally:
        observer.close(start(Rules(kind=row, name="x", started=0.0), 0.0))
    assert found.entry["metadata"]["name"] == "x-9vq4z-head"
    assert [selector["labelSelector"] for selector in observer.selectors] == list(wanted)
    assert [asked.count(selector) for selector in wanted] == [1, 1]
