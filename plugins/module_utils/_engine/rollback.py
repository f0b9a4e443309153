# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What serves keeps serving: an upgrade that fails goes back to the revision that was ready last, and waits for it."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from dataclasses import dataclass, replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ClusterError, EksError
from ansible_collections.mlops.eks.plugins.module_utils._engine.install import Installer
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Ending, State
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Serving
from ansible_collections.mlops.eks.plugins.module_utils._plan.manifest import read_manifest
from ansible_collections.mlops.eks.plugins.module_utils._plan.workload import choose, find_kind, refer

# Seconds between two looks at a server that was rolled back, and between two lines about it.
_LOOK, _LINE = 2.0, 60.0
_SURGE = (
    "The new pods find no node beside those that serve. Add a node, or let the old pods end first: server.strategy: "
    "Recreate in the recipe, with an outage while the new ones start."
)


@dataclass(frozen=True, kw_only=True)
class Restored:
    """What serves now, or did last, and what to tell of it."""

    serving: Serving
    note: str


@dataclass(frozen=True, kw_only=True)
class Rollback:
    """The way back of one server's Helm release to the revision that `serving` names."""

    installer: Installer
    serving: Serving
    timeout: float
    clock: Clock
    say: Callable[[str], None]

    def run(self) -> Restored:
        """Roll back unless that revision is what is installed; errors are told in the note, never raised."""
        name, back = self.installer.task.helm_release, self.serving["revision"]
        try:
            stored = self.installer.revisions()
            latest = stored[-1] if stored else None
            if latest and latest.status == "deployed" and latest.identity == self.serving["identity"]:
                self.installer.secrets.restore()
                return Restored(serving=self.serving, note=f"revision {latest.revision} is left as it is")
            if not any(one.revision == back for one in stored):
                return Restored(serving=self.serving, note=f"left as it is: Helm no longer has revision {back}")
            if latest and latest.pending:
                return Restored(serving=self.serving, note="left as it is: another Helm works on the release")
            self.say(f"release {name}: going back to revision {back}, which was ready")
            self.installer.rollback(back)
            stored = self.installer.revisions()
            now: Serving = {"revision": stored[-1].revision, "identity": self.serving["identity"]}
            return Restored(serving=now, note=f"rolled back to revision {back}, {self._await_ready(back)}")
        except EksError as error:
            return Restored(serving=self.serving, note=f"not rolled back to revision {back}: {error}")

    def _await_ready(self, revision: int) -> str:
        """Wait until the server of `revision` is ready again, and return how that went."""
        ready, begun = self._readiness(revision), self.clock.now()
        told = begun
        while not self.installer.lock.lost:
            took = self.clock.now() - begun
            if ready():
                return f"which is ready after {human(took)}"
            if took >= self.timeout:
                return f"which is not ready after {human(took)}"
            if self.clock.now() - told >= _LINE:
                told = self.clock.now()
                self.say(f"release {self.installer.task.helm_release}: waiting for revision {revision} to be ready")
            self.clock.sleep(_LOOK)
        return "which another controller follows now"

    def _readiness(self, revision: int) -> Callable[[], bool]:
        """Return a look at whether the workload of `revision`, which may be another than today's, is ready."""
        task, kube = self.installer.task, self.installer.kube
        manifest = read_manifest(self.installer.helm.manifest(task.helm_release, revision), chart=task.chart)
        workload = choose(manifest, chart=task.chart, until=task.until is not None, wanted=task.workload)
        kind = find_kind(kube, workload["apiVersion"], workload["kind"], serves=True)
        path = refer(kind, workload["metadata"]["name"], kube.namespace).path

        def ready() -> bool:
            try:
                found = kube.get(path)
            except ClusterError:
                # The cluster is away for a moment; the next look will tell.
                return False
            return found is not None and kind.judge(found).state == "ready"

        return ready


def with_surge_remedy(state: State) -> State:
    """Return the state whose cause offers `Recreate`, if the pods of an upgrade do not fit beside the old ones."""
    ending = t.cast(Ending, state.ending)
    waits = any(pod_view.unschedulable(pod) for pod in state.live.values())
    if ending.cause is None or not waits:
        return state
    return replace(state, ending=replace(ending, cause=replace(ending.cause, remedy=_SURGE)))
