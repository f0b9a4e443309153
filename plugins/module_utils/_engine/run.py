# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The life of a step: decide, check, take the lock, decide again, then skip it or make its attempts (`execute`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._engine import evidence
from ansible_collections.mlops.eks.plugins.module_utils._engine.compare import what_changed
from ansible_collections.mlops.eks.plugins.module_utils._engine.decide import CHANGED, NOT_INSTALLED, Decision, decide
from ansible_collections.mlops.eks.plugins.module_utils._engine.execute import Execution
from ansible_collections.mlops.eks.plugins.module_utils._engine.install import Installer
from ansible_collections.mlops.eks.plugins.module_utils._engine.record import Journal, Record, result
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Helm
from ansible_collections.mlops.eks.plugins.module_utils._helm.releases import Release
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.rights import require, rights_to_follow
from ansible_collections.mlops.eks.plugins.module_utils._ledger import cancellation
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Ledger
from ansible_collections.mlops.eks.plugins.module_utils._ledger.lock import Lock
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import Draft, Plan, make_plan
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task

Say = Callable[[str], None]


@dataclass(kw_only=True)
class StepRun:
    """One run of a step."""

    task: Task
    draft: Draft
    kube: Kube
    helm: Helm
    say: Say
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.kube, self.task.release)
        self.execution: Execution | None = None
        self.lock = Lock(self.kube, self.task.release, clock=self.clock, on_loss=self._on_loss)
        self.installer = Installer(
            task=self.task,
            kube=self.kube,
            helm=self.helm,
            ledger=self.ledger,
            lock=self.lock,
            say=self.say,
            clock=self.clock,
        )

    @cached_property
    def plan(self) -> Plan:
        """The rendered plan, made at its first use; a skipped step does not need one.

        Raises:
            InvalidInputError: a template refuses the values, or renders no workload or several.
        """
        return make_plan(self.task, self.draft, self.helm, self.kube)

    def decide(self) -> Decision:
        """Return what to do with the step as the cluster is now."""
        return self._decide(self.installer.revisions())

    def _decide(self, stored: list[Release]) -> Decision:
        entries = self.ledger.read()
        decision = decide(self.task, self.draft.identity, entries, stored)
        if CHANGED not in decision.why:
            return decision
        changed = what_changed(entries.get(self.task.step), self.task, self.draft)
        return replace(decision, why=decision.why.replace(CHANGED, changed or CHANGED))

    def run(self) -> Record:
        """Run the step to its end and return the task's result.

        Raises:
            EksError: nothing was started, or the cluster stopped answering; the workload, if any, goes on.
        """
        if marker := cancellation.find(self.ledger, self.task.run_id):
            return self._cancelled(marker)
        decision = self.decide()
        if decision.action == "skip" and not decision.uninstall:
            return self._skip(decision)
        # This renders the plan: a template that refuses its values fails here, before any change.
        require(self.kube, rights_to_follow(self.plan.ref))
        self.check_secrets(decision)
        evidence.require_room(self.task.evidence)
        self.installer.require_later_releases()
        self._acquire_lock()
        try:
            # The cluster may have changed while the lock was waited for.
            if marker := cancellation.find(self.ledger, self.task.run_id):
                return self._cancelled(marker)
            return self._run_locked(self._decide(self.installer.revisions_at_rest()))
        finally:
            self.lock.release()

    def check_secrets(self, decision: Decision) -> None:
        """Refuse a step whose Secrets cannot be made, or that refers to a missing one."""
        if decision.action in ("install", "upgrade"):
            self.installer.secrets.check(self.plan, upgrade=decision.action == "upgrade")

    def _acquire_lock(self) -> None:
        try:
            self.lock.acquire(timeout=self.task.waits.lock, say=self.say)
        except AbsentError as error:
            where = f"namespace {self.task.namespace} on cluster {self.task.cluster}"
            raise AbsentError(f"{where}: not found. Create it, or correct the variable 'kube_namespace'.") from error

    def _run_locked(self, decision: Decision) -> Record:
        if decision.uninstall or decision.rollback is not None:
            self.lock.ensure_held()
        self.installer.clear(decision)
        if decision.action == "skip":
            return self._skip(decision)
        if decision.action != "attach" and not decision.uninstall and decision.why != NOT_INSTALLED:
            self.say(f"{self.task.place}: runs again: {decision.why}")
        if decision.action == "attach" and not self.installer.is_complete(self.plan, decision):
            decision = self._without_workload(decision)
        self.execution = Execution(
            task=self.task,
            plan=self.plan,
            ledger=self.ledger,
            lock=self.lock,
            installer=self.installer,
            clock=self.clock,
            say=self.say,
        )
        return self.execution.run(decision)

    def _without_workload(self, decision: Decision) -> Decision:
        """Return what to do with a release whose workload is missing."""
        why = "its workload is missing"
        if self.task.keep and decision.serving:
            # Other objects of a server may still be in use, such as its Service.
            return replace(decision, action="upgrade", why=why, settled=False)
        self.installer.uninstall()
        return Decision(action="install", why=why)

    def _skip(self, decision: Decision) -> Record:
        entry = self.ledger.read()[self.task.step]
        self.say(f"{self.task.place}: skipped: {decision.why}")
        now = self.clock.now()
        journal = Journal(task=self.task, started=now)
        fields = {"outcome": "skipped", "finished": iso(now), "skipped_because": decision.why}
        record = journal.write(**self.draft.about, **fields)
        evidence.write_draft(self.task, self.draft)
        if self.task.index < self.task.total:
            cancellation.note_skip(self.ledger, self.task.run_id)
        return result(record, self.task, changed=False, msg=f"skipped: {decision.why}", first_run=entry.run_id)

    def _cancelled(self, marker: cancellation.Cancellation) -> Record:
        """Return the result of a step whose run was stopped before the step began."""
        task, now = self.task, self.clock.now()
        cancellation.acknowledge(self.ledger, task.run_id)
        cause = Cause.of("StoppedBefore", f"Run/{task.run_id}", f"it was {marker} before this step began")
        fields = {"outcome": "cancelled", "cause": cause.to_record(), "finished": iso(now)}
        record = Journal(task=task, started=now).note(**self.draft.about, **fields)
        message = f"{task.place}: not begun: {cause}"
        self.say(message)
        return result(record, task, changed=False, msg=message, failed=True)

    def _on_loss(self, holder: str) -> None:
        if self.execution:
            self.execution.lost_lock(holder)
