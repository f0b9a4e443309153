# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The Helm release of one step: install, upgrade, roll back and uninstall it.

A failed installation is uninstalled. A failed upgrade of a server goes back to the revision that was ready last.
"""

from __future__ import annotations

import itertools
import typing as t
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human, iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    ClusterError,
    ConflictError,
    EksError,
    UnreachableError,
)
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._engine.decide import Decision, decide
from ansible_collections.mlops.eks.plugins.module_utils._engine.leftovers import (
    Leftovers,
    await_helm,
    delete_orphans_of,
    find_orphans,
)
from ansible_collections.mlops.eks.plugins.module_utils._engine.record import Journal
from ansible_collections.mlops.eks.plugins.module_utils._engine.run_secrets import RunSecrets
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Ending, State
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Helm
from ansible_collections.mlops.eks.plugins.module_utils._helm.releases import (
    IDENTITY,
    RUN,
    STEP,
    Release,
    first,
    label,
    newest,
    revisions,
)
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube, pause
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Entry, Ledger, Serving
from ansible_collections.mlops.eks.plugins.module_utils._ledger.lock import Lock
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ownership import may_change, refusal
from ansible_collections.mlops.eks.plugins.module_utils._plan.manifest import read_manifest
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import Plan, value_files
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task
from ansible_collections.mlops.eks.plugins.module_utils._plan.workload import choose, find_kind, refer

# Seconds between two looks at a server that was rolled back, and between two lines about it.
_CHECK_INTERVAL, _LINE_INTERVAL = 2.0, 60.0
_SURGE_REMEDY = (
    "The new pods find no node beside those that serve. Add a node, or let the old pods end first: server.strategy: "
    "Recreate in the recipe, with an outage while the new ones start."
)


@dataclass(frozen=True, kw_only=True)
class Installer:
    """Installs and uninstalls the release of one step."""

    task: Task
    kube: Kube
    helm: Helm
    ledger: Ledger
    lock: Lock
    say: Callable[[str], None]
    clock: Clock

    @property
    def secrets(self) -> RunSecrets:
        """The Secrets of the release."""
        task = self.task
        return RunSecrets(
            kube=self.kube, release=task.release, helm_release=task.helm_release, say=self.say, declared=task.declared
        )

    def revisions(self) -> list[Release]:
        """Return the revisions of the release that Helm has stored, oldest first."""
        return revisions(self.kube, self.task.helm_release, upgraded=self.task.keep)

    def revisions_at_rest(self) -> list[Release]:
        """Return the revisions once no Helm process works on the release; one may have outlived its controller.

        A release whose Helm Secrets were deleted counts as deployed while its objects exist; except for a server, whose
        objects Helm adopts when it is installed again.
        """
        return await_helm(self.revisions, clock=self.clock, say=self.say) or [
            Release(
                name=entry.helm_release,
                status="deployed",
                revision=1,
                identity=label(entry.identity),
                step=entry.step,
                run=self.task.release,
            )
            for entry in self._entries()
            if entry.unfinished and not self.task.keep and find_orphans(self.kube, entry.helm_release, entry.objects)
        ]

    def require_later_releases(self) -> None:
        """Check that the Helm releases of later steps are free or this run's, before this step takes hours.

        Raises:
            ConflictError: one of them is not this run's.
        """
        names = self.task.later_releases
        for found in newest(self.kube, names) if names else ():
            if not self._is_ours(found):
                raise ConflictError(f"{self._refusal(found)} A later step needs it.")

    def is_complete(self, plan: Plan, decision: Decision) -> bool:
        """Return whether the workload exists and, after an interrupted Helm, also everything else of the release."""
        # Helm creates objects in the order of the manifest: if the workload is the last one, all others exist.
        last = not decision.interrupted or plan.manifest[-1] is plan.workload
        return last and self.kube.get(plan.ref.path) is not None

    def clear(self, decision: Decision) -> None:
        """Roll back or uninstall the release as decided."""
        if decision.rollback is not None:
            self.say(f"release {self.task.helm_release}: {decision.why}; rolling back to revision {decision.rollback}")
            self.rollback(decision.rollback)
        if decision.uninstall:
            self.say(f"release {self.task.helm_release}: {decision.why}; uninstalling it first")
            self.remove()

    def leftovers(self, plan: Plan) -> Leftovers:
        """Return the pods of earlier attempts and steps that must be gone before this one is installed."""
        return Leftovers(self.kube, plan, limit=self.task.waits.leftover, clock=self.clock, say=self.say)

    def install(self, plan: Plan, decision: Decision, entry: Entry, journal: Journal) -> None:
        """Write the entry of the running step to the ledger, then install or upgrade its release.

        Raises:
            EksError: Helm or the cluster refused; ledger and record have the cause, and a new release is uninstalled.
        """
        self.lock.ensure_held()
        self.ledger.write(entry)
        what = f"helm {decision.action} {self.task.helm_release} {plan.chart.ref} {plan.chart.version}"
        self.say(f"{self.task.place}: {what}: {', '.join(plan.objects)}")
        try:
            self._retry_unreachable(partial(self._install, plan, decision), again=partial(self._install_again, plan))
        except EksError as error:
            self._record_refusal(error, plan, decision, entry, journal)
            raise

    def _install(self, plan: Plan, decision: Decision) -> None:
        labels = {IDENTITY: label(plan.identity), RUN: self.task.release, STEP: self.task.step}
        upgrade = decision.action == "upgrade"
        self.secrets.make(self.secrets.wanted(plan), upgrade=upgrade)
        with value_files(self.task, plan.overlay) as files:
            self.helm.install(self.task.helm_release, plan.chart.path, files, labels=labels, upgrade=upgrade)

    def _install_again(self, plan: Plan) -> None:
        """Install once more after Helm lost the connection, and its result is unknown."""
        decision = decide(replace(self.task, force=False), plan.identity, self.ledger.read(), self.revisions())
        if decision.action == "attach" and not decision.interrupted:
            return
        if decision.action == "attach":
            # After an error Helm goes on with the next kind, so others may be missing although the workload exists.
            self.uninstall()
        else:
            self.clear(decision)
        if decision.action != "upgrade":
            self.leftovers(plan).wait()
        self._install(plan, decision)

    def _record_refusal(self, error: EksError, plan: Plan, decision: Decision, entry: Entry, journal: Journal) -> None:
        message = self.task.mask.text(str(error))
        reason, finished = type(error).__name__.removesuffix("Error"), iso(self.clock.now())
        cause = Cause(reason=reason, object=str(plan.ref), message=str(error), remedy="")
        journal.note(outcome="failed", finished=finished, cause=cause.to_record())
        try:
            self.ledger.finish(replace(entry, outcome="failed", finished=finished, cause=message))
            # After a conflict, the release of this name is not the one that was just installed.
            if decision.action == "install" and not isinstance(error, ConflictError):
                self.uninstall()
        except EksError as another:
            # The user needs the first error; the next run uninstalls what is left.
            self.say(f"release {self.task.helm_release}: not uninstalled: {another}")
        error.details.update(outcome="failed", evidence=str(self.task.evidence), run_id=self.task.run_id)

    def rollback(self, revision: int) -> None:
        """Go back to `revision` and to the content that its Secrets had."""
        self.secrets.restore()
        self._retry_unreachable(partial(self.helm.rollback, self.task.helm_release, revision))

    def remove(self, objects: Sequence[str] = ()) -> None:
        """Remove the release; where Helm has no record of it, delete `objects`, or those that the ledger names."""
        unknown = self._stored() is None
        self.uninstall()
        if unknown:
            wanted = objects or [one for entry in self._entries() for one in entry.objects]
            delete_orphans_of(self.kube, self.task.helm_release, wanted, say=self.say)

    def uninstall(self) -> None:
        """Remove the release and its Secrets, unless somebody else has installed a release of its name since.

        The Secrets go first: if the controller dies in between, the next one still finds the release.
        """
        found = self._stored()
        if found is None or self._is_ours(found):
            self.secrets.remove()
            self._retry_unreachable(partial(self.helm.uninstall, self.task.helm_release))
        else:
            self.say(self._refusal(found))

    def _retry_unreachable(self, act: Callable[[], None], again: Callable[[], None] | None = None) -> None:
        """Call `act`, then `again`, until the cluster answers, for as long as an API request is repeated."""
        deadline = self.clock.now() + self.kube.api_retry_timeout
        for attempt in itertools.count(1):
            try:
                act()
                return
            except UnreachableError as error:
                left = deadline - self.clock.now()
                if left <= 0:
                    raise
                self.say(f"release {self.task.helm_release}: {error}; trying again")
                self.clock.sleep(min(left, pause(attempt, error)))
                act = again or act

    def _stored(self) -> Release | None:
        if not self.task.keep:
            return first(self.kube, self.task.helm_release)
        found = self.revisions()
        return found[-1] if found else None

    def _entries(self) -> list[Entry]:
        return [entry for entry in self.ledger.read().values() if entry.helm_release == self.task.helm_release]

    def _is_ours(self, found: Release) -> bool:
        entries = self.ledger.read()
        return may_change(found, run=self.task.release, entries=entries, adopt=self.task.adopt)

    def _refusal(self, found: Release) -> str:
        return refusal(found, run=self.task.release, namespace=self.kube.namespace)


@dataclass(frozen=True, kw_only=True)
class Restored:
    """The revision that serves, and a note for the step's message."""

    serving: Serving
    note: str


@dataclass(frozen=True, kw_only=True)
class Rollback:
    """The rollback of a server's Helm release to the revision that `serving` names."""

    installer: Installer
    serving: Serving
    timeout: float
    clock: Clock
    say: Callable[[str], None]

    def run(self) -> Restored:
        """Roll back, unless that revision is installed already; an error goes into the note and is not raised."""
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
        """Wait until the server of `revision` is ready, and return the end of the note."""
        ready, begun = self._readiness(revision), self.clock.now()
        last_line = begun
        while not self.installer.lock.lost:
            took = self.clock.now() - begun
            if ready():
                return f"which is ready after {human(took)}"
            if took >= self.timeout:
                return f"which is not ready after {human(took)}"
            if self.clock.now() - last_line >= _LINE_INTERVAL:
                last_line = self.clock.now()
                self.say(f"release {self.installer.task.helm_release}: waiting for revision {revision} to be ready")
            self.clock.sleep(_CHECK_INTERVAL)
        return "which another controller follows now"

    def _readiness(self, revision: int) -> Callable[[], bool]:
        """Return a check whether the workload of `revision`, which may differ from the plan's, is ready."""
        task, kube = self.installer.task, self.installer.kube
        manifest = read_manifest(self.installer.helm.manifest(task.helm_release, revision), chart=task.chart)
        workload = choose(manifest, chart=task.chart, until=task.until is not None, wanted=task.workload)
        kind = find_kind(kube, workload["apiVersion"], workload["kind"], serves=True)
        path = refer(kind, workload["metadata"]["name"], kube.namespace).path

        def ready() -> bool:
            try:
                found = kube.get(path)
            except ClusterError:
                # The cluster does not answer; the next check finds out.
                return False
            return found is not None and kind.judge(found).state == "ready"

        return ready


def with_surge_remedy(state: State) -> State:
    """Return the state with remedy `Recreate` if the pods of an upgrade do not fit beside the old ones."""
    ending = t.cast(Ending, state.ending)
    pending = any(pod_view.unschedulable(pod) for pod in state.live.values())
    if ending.cause is None or not pending:
        return state
    return replace(state, ending=replace(ending, cause=replace(ending.cause, remedy=_SURGE_REMEDY)))
