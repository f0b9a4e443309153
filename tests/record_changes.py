"""Record what a real cluster says: `python tests/record_changes.py KUBECONFIG NAMESPACE [SCENARIO ...]`.

Each scenario of `recorded_workloads.SCENARIOS` is applied, watched to its end and stored, pruned to what the engine
reads, as tests/fixtures/changes/<scenario>.json: one change a line, `after` in seconds since the start. The unit tests
of the reducer replay these files; record them again when a pinned Kubernetes or operator changes.
The cluster is the one of `make test-operators`, with every operator.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import typing as t
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import conftest  # noqa: F401  (makes the collection importable)
from operator_workloads import OPERATOR_SCENARIOS
from ray_workloads import RAY_SCENARIOS
from recorded_workloads import IMAGE, SCENARIOS, Scenario

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS, Selector
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection
from ansible_collections.mlops.eks.plugins.module_utils._kube.watch import Handler, Watch

OUT = Path(__file__).parent / "fixtures" / "changes"
Document = dict[str, t.Any]
_METADATA = (
    *("name", "namespace", "uid", "labels", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
    *("ownerReferences", "resourceVersion", "generation"),
)
_NOISE = {
    "status": ("hostIP", "hostIPs", "podIP", "podIPs", "qosClass", "resourceClaimStatuses"),
    "container": ("imageID", "containerID", "volumeMounts", "user", "allocatedResources", "resources"),
    "state": ("containerID",),
    "condition": ("observedGeneration", "lastProbeTime"),
}
_TEMPLATES = ("template", "leaderTemplate", "workerTemplate", "submitterPodTemplate", "volumeClaimTemplates")
_CONTAINER = ("name", "image", "resources", "restartPolicy")
_LIMIT = 150.0


def pick(entry: Document, keys: t.Iterable[str]) -> Document:
    return {key: entry[key] for key in keys if entry.get(key) not in (None, {}, [])}


def drop(entry: Document, what: str) -> Document:
    return {key: value for key, value in entry.items() if key not in _NOISE[what]}


def _pod(spec: Document, status: Document) -> Document:
    short, status = pick(spec, ("nodeName", "restartPolicy")), drop(status, "status")
    for key in ("initContainers", "containers"):
        if spec.get(key):
            short[key] = [pick(one, _CONTAINER) for one in spec[key]]
    for key in ("initContainerStatuses", "containerStatuses"):
        if key in status:
            status[key] = [drop(one, "container") for one in status[key]]
            for one in status[key]:
                for view in ("state", "lastState"):
                    one[view] = {name: drop(detail, "state") for name, detail in one.get(view, {}).items()}
    status["conditions"] = [drop(one, "condition") for one in status.get("conditions", [])]
    return {"spec": short, "status": status}


def without_templates(spec: t.Any) -> t.Any:
    """Return a workload's spec without the pods in it."""
    match spec:
        case dict():
            return {key: without_templates(one) for key, one in spec.items() if key not in _TEMPLATES}
        case list():
            return [without_templates(one) for one in spec]
    return spec


def prune(entry: Document, what: str) -> Document:
    """Return what the engine may look at: no managed fields, tokens, probes or addresses of nodes."""
    found: Document = {"metadata": pick(entry.get("metadata", {}), _METADATA)}
    # The items of a list do not say their kind.
    if what == "pod":
        found.update(_pod(entry["spec"], entry.get("status", {})))
    elif what == "event":
        found.update(pick(entry, ("involvedObject", "reason", "message", "type", "lastTimestamp", "eventTime")))
    else:
        found["spec"] = without_templates(entry["spec"])
        found["status"] = entry.get("status", {})
    return {**pick(entry, ("apiVersion", "kind")), **found}


class Recorder:
    """One scenario on its way."""

    def __init__(self, kube: Kube, scenario: Scenario) -> None:
        self.kube, self.scenario = kube, scenario
        self.kind = KINDS[scenario.workload["apiVersion"], scenario.workload["kind"]]
        self.changes: list[Document] = []
        self.started = 0.0
        self.watches: list[Watch] = []
        self.selectors: list[Selector] = []
        self.lock = threading.Lock()

    def path(self) -> str:
        return collection(self.kind.api_version, self.kind.plural, self.kube.namespace)

    def note(self, verb: str, entry: Document, what: str) -> None:
        if verb not in ("SEEN", "GONE"):
            return
        if what == "workload":
            self.watch_pods(entry)
        with self.lock:
            after = round(time.time() - self.started, 3)
            name = what if verb == "SEEN" else f"{what}-gone"
            if what == "event":
                subject = entry.get("involvedObject", {}).get("name", "")
                mine = self.scenario.name
                if verb == "GONE" or (subject != mine and not subject.startswith(f"{mine}-")):
                    return
            # A deep copy: the watch keeps the object for comparison.
            self.changes.append({"after": after, "change": name, "entry": prune(json.loads(json.dumps(entry)), what)})

    def run(self) -> str:
        scenario, kube = self.scenario, self.kube
        for extra in scenario.before:
            kube.request("POST", extra[0].format(ns=kube.namespace), body=extra[1])
        self.started = time.time()
        workload = json.loads(json.dumps(scenario.workload).replace("@NOW@", str(int(self.started))))
        created = kube.request("POST", self.path(), body=workload)
        self.watch(self.path(), {"fieldSelector": f"metadata.name={scenario.name}"}, self.hand("workload"))
        self.watch_pods(created)
        self.watch(collection("v1", "events", kube.namespace), {"fieldSelector": "type=Warning"}, self.hand("event"))
        pending = list(scenario.actions)
        while not scenario.finished(self.changes) and time.time() - self.started < _LIMIT:
            for action in [one for one in pending if one.due(self.changes, time.time() - self.started)]:
                action.do(kube, scenario.name)
                pending.remove(action)
            time.sleep(0.1)
        time.sleep(scenario.linger)
        for watch in self.watches:
            watch.stop()
        self.store()
        subprocess.run(
            ["kubectl", "--kubeconfig", kube.kubeconfig, "-n", kube.namespace, "delete", "--wait=false",
             "--ignore-not-found", f"{self.kind.plural}.{self.kind.api_version.partition('/')[0]}", scenario.name],
            check=False, capture_output=True,
        )  # fmt: skip
        ok = scenario.finished(self.changes)
        return f"{scenario.name}: {'ok' if ok else 'NOT FINISHED'}, {len(self.changes)} changes"

    def watch(self, path: str, selector: Selector, handle: Handler) -> None:
        self.watches.append(Watch(self.kube, path, selector, handle))
        self.watches[-1].start()

    def watch_pods(self, entry: Document) -> None:
        for selector in self.kind.selectors(entry):
            if selector not in self.selectors:
                self.selectors.append(selector)
                self.watch(collection("v1", "pods", self.kube.namespace), selector, self.hand("pod"))

    def hand(self, what: str) -> t.Any:
        return lambda verb, entry: self.note(verb, entry, what)

    def store(self) -> None:
        version = self.kube.request("GET", "/version")["gitVersion"]
        changes = sorted(self.changes, key=lambda change: change["after"])
        head = {
            "origin": f"recorded by tests/record_changes.py on Kubernetes {version}",
            "api_version": self.kind.api_version,
            "kind": self.kind.kind,
            "name": self.scenario.name,
            "started": round(self.started, 3),
        }
        lines = ",\n".join(json.dumps(change, separators=(",", ":"), sort_keys=True) for change in changes)
        text = json.dumps(head)[:-1] + f', "changes": [\n{lines}\n]}}\n'
        (OUT / f"{self.scenario.name}.json").write_text(text, encoding="utf-8")


def main(kubeconfig: str, namespace: str, wanted: list[str]) -> None:
    kube = Kube(kubeconfig=kubeconfig, context=None, namespace=namespace)
    chosen = [one for one in (*SCENARIOS, *OPERATOR_SCENARIOS, *RAY_SCENARIOS) if not wanted or one.name in wanted]
    print(f"recording {len(chosen)} scenarios with {IMAGE}", flush=True)
    with ThreadPoolExecutor(4) as pool:
        for line in pool.map(lambda scenario: Recorder(kube, scenario).run(), chosen):
            print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
