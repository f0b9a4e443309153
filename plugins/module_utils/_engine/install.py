# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The Helm release of one step: what is in its way is cleared, it is installed, and nothing half-done stays."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError, EksError, UnreachableError
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._engine.decide import Decision, decide
from ansible_collections.mlops.eks.plugins.module_utils._engine.leftovers import (
    Leftovers,
    await_helm,
    delete_forgotten,
    find_orphans,
)
from ansible_collections.mlops.eks.plugins.module_utils._engine.record import Journal
from ansible_collections.mlops.eks.plugins.module_utils._engine.run_secrets import RunSecrets
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
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube, pause
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Entry, Ledger
from ansible_collections.mlops.eks.plugins.module_utils._ledger.lock import Lock
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ownership import may_change, refusal
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import Plan, value_files
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task


@dataclass(frozen=True, kw_only=True)
class Installer:
    """Installs and uninstalls the release of one step, and writes both to the ledger."""

    task: Task
    kube: Kube
    helm: Helm
    ledger: Ledger
    lock: Lock
    say: Callable[[str], None]
    clock: Clock

    @property
    def secrets(self) -> RunSecrets:
        """The Secrets that go with the release."""
        task = self.task
        return RunSecrets(
            kube=self.kube, release=task.release, helm_release=task.helm_release, say=self.say, declared=task.declared
        )

    def revisions(self) -> list[Release]:
        """Return what Helm has stored of the release, oldest first."""
        return revisions(self.kube, self.task.helm_release, upgraded=self.task.keep)

    def revisions_at_rest(self) -> list[Release]:
        """Return the same once no Helm works on the release; one may have outlived its controller.

        A release whose Secrets somebody deleted while its step was under way counts too, if what it made is there. What
        a server consists of Helm takes over when it is installed again.
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

    def demand_names(self) -> None:
        """Make sure that later steps can have the Helm releases they need, before this one takes hours.

        Raises:
            ConflictError: a release of that name is not this run's.
        """
        names = self.task.later_releases
        for found in newest(self.kube, names) if names else ():
            if not self._is_ours(found):
                raise ConflictError(f"{self._refusal(found)} A later step needs it.")

    def is_whole(self, plan: Plan, decision: Decision) -> bool:
        """Return whether the workload is there and, where Helm died installing, all that is created before it."""
        # Helm renders in the order in which it creates.
        last = not decision.interrupted or plan.manifest[-1] is plan.workload
        return last and self.kube.get(plan.ref.path) is not None

    def clear(self, decision: Decision) -> None:
        """Roll back or uninstall what a decision found in the way."""
        if decision.rollback is not None:
            self.say(f"release {self.task.helm_release}: {decision.why}; rolling back to revision {decision.rollback}")
            self.rollback(decision.rollback)
        if decision.uninstall:
            self.say(f"release {self.task.helm_release}: {decision.why}; uninstalling it first")
            self.remove()

    def rollback(self, revision: int) -> None:
        """Go back to `revision`, and to the content that its Secrets had."""
        self.secrets.restore()
        self._patiently(partial(self.helm.rollback, self.task.helm_release, revision))

    def uninstall(self) -> None:
        """Remove the release and its Secrets; they may be gone already, or others' who installed one of its name since.

        The Secrets first: a controller that dies in between finds the release, and begins here again.
        """
        found = self._stored()
        if found is None or self._is_ours(found):
            self.secrets.remove()
            self._patiently(partial(self.helm.uninstall, self.task.helm_release))
        else:
            self.say(self._refusal(found))

    def _stored(self) -> Release | None:
        if not self.task.keep:
            return first(self.kube, self.task.helm_release)
        found = self.revisions()
        return found[-1] if found else None

    def _is_ours(self, found: Release) -> bool:
        entries = self.ledger.read()
        return may_change(found, run=self.task.release, entries=entries, adopt=self.task.adopt)

    def _refusal(self, found: Release) -> str:
        return refusal(found, run=self.task.release, namespace=self.kube.namespace)

    def remove(self, objects: Sequence[str] = ()) -> None:
        """Remove the release, and what it made where Helm does not know of it any more.

        That are `objects`, or what the ledger has of the release.
        """
        forgotten = self._stored() is None
        self.uninstall()
        if forgotten:
            wanted = objects or [one for entry in self._entries() for one in entry.objects]
            delete_forgotten(self.kube, self.task.helm_release, wanted, say=self.say)

    def _entries(self) -> list[Entry]:
        return [entry for entry in self.ledger.read().values() if entry.helm_release == self.task.helm_release]

    def leftovers(self, plan: Plan) -> Leftovers:
        """Return what earlier attempts and steps left that must be gone before this one is installed."""
        return Leftovers(self.kube, plan, limit=self.task.waits.leftover, clock=self.clock, say=self.say)

    def install(self, plan: Plan, decision: Decision, entry: Entry, journal: Journal) -> None:
        """Write to the ledger that the step has begun, then install or upgrade its release.

        Raises:
            EksError: Helm or the cluster refused; ledger and record say so, and what was half installed is gone.
        """
        self.lock.ensure_held()
        self.ledger.write(entry)
        what = f"helm {decision.action} {self.task.helm_release} {plan.chart.ref} {plan.chart.version}"
        self.say(f"{self.task.place}: {what}: {', '.join(plan.objects)}")
        try:
            self._patiently(partial(self._once, plan, decision), again=partial(self._again, plan))
        except EksError as error:
            self._refused(error, plan, decision, entry, journal)
            raise

    def _once(self, plan: Plan, decision: Decision) -> None:
        labels = {IDENTITY: label(plan.identity), RUN: self.task.release, STEP: self.task.step}
        upgrade = decision.action == "upgrade"
        self.secrets.make(self.secrets.wanted(plan), upgrade=upgrade)
        with value_files(self.task, plan.parted.overlay) as files:
            self.helm.install(self.task.helm_release, plan.chart.path, files, labels=labels, upgrade=upgrade)

    def _again(self, plan: Plan) -> None:
        """Install once more after a Helm that could not tell what it had done."""
        decision = decide(replace(self.task, force=False), plan.identity, self.ledger.read(), self.revisions())
        if decision.action == "attach" and not decision.interrupted:
            return
        if decision.action == "attach":
            # A Helm that meets an error goes on with the next kind: what exists does not tell what is missing.
            self.uninstall()
        else:
            self.clear(decision)
        if decision.action != "upgrade":
            self.leftovers(plan).wait()
        self._once(plan, decision)

    def _patiently(self, act: Callable[[], None], again: Callable[[], None] | None = None) -> None:
        """Let Helm try again, by `again`, while the cluster is away: for as long as a request of ours is repeated."""
        deadline = self.clock.now() + self.kube.patience
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

    def _refused(self, error: EksError, plan: Plan, decision: Decision, entry: Entry, journal: Journal) -> None:
        said = self.task.mask.text(str(error))
        reason, finished = type(error).__name__.removesuffix("Error"), iso(self.clock.now())
        cause = Cause(reason=reason, object=str(plan.ref), message=str(error), remedy="")
        journal.note(outcome="failed", finished=finished, cause=cause.to_record())
        try:
            self.ledger.finish(replace(entry, outcome="failed", finished=finished, cause=said))
            # A conflict means that what stands there under this name is not what we just tried to install.
            if decision.action == "install" and not isinstance(error, ConflictError):
                self.uninstall()
        except EksError as another:
            # What the user must know is why it was refused; the next run clears away what is left.
            self.say(f"release {self.task.helm_release}: not cleared away: {another}")
        error.details.update(outcome="failed", evidence=str(self.task.evidence), run_id=self.task.run_id)
