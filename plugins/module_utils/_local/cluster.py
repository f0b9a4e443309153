# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Create or remove a native cluster: observe, plan, apply, wait.

The observed and the wanted state are two documents of the same shape. They are the task's diff:

    {inotify_instances: limit, network: up|cut|down, configuration: current|outdated|absent,
     components: {name: running|outdated|unhealthy|stopped},
     images: {name: digest|absent}, objects: {Kind/name: present|absent}}
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import json
import time
import typing as t
from collections.abc import Callable, Mapping
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._local import (
    addresses,
    api,
    certificates,
    cgroups,
    configuration,
    containerd,
    network,
    node_configuration,
    objects,
    preflight,
    processes,
    sweep,
    waiting,
)
from ansible_collections.mlops.eks.plugins.module_utils._local.components import Builder, Component
from ansible_collections.mlops.eks.plugins.module_utils._local.images import Images
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout, Node

Document = dict[str, t.Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cluster:
    """One native cluster in its wanted state; `say` gets one line of progress at a time."""

    layout: Layout
    addresses: addresses.Addresses
    namespace: str | None
    programs: Mapping[str, str]
    archives: tuple[containerd.Archive, ...]
    host: node_configuration.HostFacts
    say: Callable[[str], None]
    began: float = dataclasses.field(default_factory=time.monotonic)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The wanted nodes; the control plane runs on the first."""
        return tuple(self.layout.node(number) for number in self.addresses.numbers)

    @property
    def images(self) -> Images:
        """The wanted images of each node."""
        return Images(nodes=self.nodes, archives=self.archives)

    @property
    def components(self) -> tuple[Component, ...]:
        """The wanted processes, in starting order."""
        return Builder(layout=self.layout, addresses=self.addresses, programs=self.programs).all()

    def observe(self) -> Document:
        """Return the observed state, without a change."""
        states = {component.name: self._state(component) for component in self.components}
        wanted = objects.wanted(self.layout, self.namespace)
        # Without etcd the API server still reports ready for a while, and its requests hang.
        serving = states["kube-apiserver"] == states["etcd"] == "running" and _in_two(self._api().is_ready)
        missing = self._missing_objects() if serving else wanted
        return {
            "inotify_instances": preflight.inotify_instances(),
            "network": network.state(self.layout, self.addresses),
            "configuration": self._configuration_state(),
            "components": states,
            "images": self.images.observe(lambda node: states[node.named("containerd")] == "running"),
            "objects": {entry.label: "absent" if entry in missing else "present" for entry in wanted},
        }

    def desired(self) -> Document:
        """Return the wanted state."""
        return {
            "inotify_instances": preflight.INOTIFY_INSTANCES,
            "network": "up",
            "configuration": "current",
            "components": {component.name: "running" for component in self.components},
            "images": self.images.desired(),
            "objects": {entry.label: "present" for entry in objects.wanted(self.layout, self.namespace)},
        }

    def apply(self) -> None:
        """Bring the cluster to the wanted state from any state, even after a kill."""
        preflight.raise_inotify_instances()
        self._write_files()
        self._join_network()
        for node in self.nodes:
            cgroups.create(node.cgroup)
        objects.make_directories(self.layout)
        for component in self.components:
            if processes.state(component, self.layout) == "stopped":
                processes.stop(self.layout, component.name)
        sweep.remove_dead_sockets(self.layout)
        with concurrent.futures.ThreadPoolExecutor(max_workers=1) as pool:
            self._start(lambda component: component.precedes_api)
            importing = pool.submit(self._import_images)
            self._wait("API server is ready", self._api().is_ready)
            self._wait("the namespace's objects are made", self._objects_are_made, quiet=True)
            self._wait("containerd is ready", self._containerds_are_up)
            self._start(lambda component: not component.precedes_api)
            self.wait_until_healthy()
            importing.result()

    def wait_until_healthy(self) -> None:
        """Wait for every component, the node and the namespace.

        Raises:
            CommandError: a component ended; carries the last lines of its log.
            UnreachableError: it is not healthy within `waiting.TIMEOUT` seconds.
        """
        for component in self.components:
            if component.health:
                self._wait(
                    f"{component.name} is healthy", functools.partial(api.is_healthy, component.health), quiet=True
                )
        for node in self.nodes:
            self._wait(f"node {node.name} is Ready", functools.partial(objects.is_node_ready, self._api(), node.name))
        if namespace := self.namespace:
            self._wait(f"namespace {namespace} is ready", lambda: objects.is_settled(self._api(), namespace))

    def describe(self) -> Document:
        """Return the facts that a play needs to use the cluster."""
        return {
            "name": self.layout.name,
            "kubeconfig": str(self.layout.kubeconfig),
            "context": self.layout.name,
            "namespace": self.namespace,
            "server": self.addresses.server,
            "node": self.nodes[0].name,
            "nodes": [node.name for node in self.nodes],
            "pod_cidr": self.addresses.pods,
            "service_cidr": self.addresses.services,
        }

    def _join_network(self) -> None:
        match network.state(self.layout, self.addresses):
            case "down":
                sweep.stop_everything(self.layout)
                network.bring_up(self.layout, self.addresses)
                there = f"{self.addresses.control_plane} on {self.layout.link}"
                self._note(f"network namespace {self.layout.netns} made, {there}")
            case "cut":
                network.set_links_up(self.layout, self.addresses)
                self._note("links between the nodes set up again")

    def _write_files(self) -> None:
        places = [self.layout.root / "logs", self.layout.root / "pki"]
        places += [node.root / directory for node in self.nodes for directory in ("config", "run", "cni/conf")]
        for place in places:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.layout.root.chmod(0o700)
        record = self.layout.root / "cluster.json"
        record.write_text(json.dumps({"schema": 1, **dataclasses.asdict(self.addresses)}), encoding="utf-8")
        if certificates.ensure_pki(self.layout.root / "pki", self._leaves()):
            self._note("certificates made")
        for path, text in self._files().items():
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.touch(mode=0o600)
                path.write_text(text, encoding="utf-8")

    def _start(self, chosen: Callable[[Component], bool]) -> None:
        for component in filter(chosen, self.components):
            state = self._state(component)
            if state == "running":
                continue
            processes.stop(self.layout, component.name)
            processes.start(component, self.layout)
            self._note(f"{component.name} {'started' if state == 'stopped' else f'restarted, it was {state}'}")

    def _import_images(self) -> None:
        self._wait("", self._containerds_are_up, quiet=True)
        self.images.bring(self._note)

    def _containerds_are_up(self) -> bool:
        return all(containerd.is_up(node) for node in self.nodes)

    def _wait(self, what: str, condition: Callable[[], bool], *, quiet: bool = False) -> None:
        watched = tuple(component.name for component in self.components)
        waiting.wait(self.layout, watched, what, condition, note=self._note)
        if not quiet:
            self._note(what)

    def _missing_objects(self) -> list[objects.Wanted]:
        return objects.missing(self._api(), objects.wanted(self.layout, self.namespace))

    def _objects_are_made(self) -> bool:
        for entry in self._missing_objects():
            self._api().create(entry.path, entry.document)
        return True

    def _state(self, component: Component) -> str:
        state = processes.state(component, self.layout)
        if state != "running" or component.health is None:
            return state
        return state if _in_two(functools.partial(api.is_healthy, component.health)) else "unhealthy"

    def _configuration_state(self) -> str:
        if not all((self.layout.root / "pki" / f"{leaf.file}.key").exists() for leaf in self._leaves()):
            return "absent"
        files = self._files().items()
        same = all(path.exists() and path.read_text(encoding="utf-8") == text for path, text in files)
        return "current" if same else "outdated"

    def _files(self) -> Mapping[Path, str]:
        return configuration.files(self.layout, self.addresses, self.host)

    def _leaves(self) -> tuple[certificates.Leaf, ...]:
        return certificates.leaves(self.layout, self.addresses)

    def _api(self) -> api.Api:
        return api.Api.of(self.layout, self.addresses)

    def _note(self, text: str) -> None:
        self.say(f"cluster {self.layout.name} | {time.monotonic() - self.began:4.1f} s | {text}")


def _in_two(look: Callable[[], bool]) -> bool:
    """Return whether one of two checks, a second apart, succeeds: on a busy machine an answer may take too long."""
    if look():
        return True
    time.sleep(1.0)
    return look()
