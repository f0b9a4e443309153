# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""One step from plan to ledger: lock, install or re-attach, follow, keep the evidence, uninstall."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, from_iso, human, iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Helm
from ansible_collections.mlops.eks.plugins.module_utils._helm.releases import Release
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.rights import demand, to_follow
from ansible_collections.mlops.eks.plugins.module_utils._step import evidence
from ansible_collections.mlops.eks.plugins.module_utils._step.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._step.decide import Decision, decide
from ansible_collections.mlops.eks.plugins.module_utils._step.endings import taken_over
from ansible_collections.mlops.eks.plugins.module_utils._step.install import Installer
from ansible_collections.mlops.eks.plugins.module_utils._step.ledger import Entry, Ledger, begun
from ansible_collections.mlops.eks.plugins.module_utils._step.lock import Lock
from ansible_collections.mlops.eks.plugins.module_utils._step.observe import Target
from ansible_collections.mlops.eks.plugins.module_utils._step.plan import Draft, Plan, make_plan
from ansible_collections.mlops.eks.plugins.module_utils._step.record import Journal, Record
from ansible_collections.mlops.eks.plugins.module_utils._step.result import last_words, result
from ansible_collections.mlops.eks.plugins.module_utils._step.session import Session
from ansible_collections.mlops.eks.plugins.module_utils._step.state import GOOD, Ending, State
from ansible_collections.mlops.eks.plugins.module_utils._step.task import Task, rules

Say = Callable[[str], None]


@dataclass(kw_only=True)
class StepRun:
    """Everything one step needs while it runs."""

    task: Task
    draft: Draft
    kube: Kube
    helm: Helm
    say: Say
    clock: Clock = field(default_factory=Clock)
    plan: Plan = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.kube, self.task.release)
        self.session: Session | None = None
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

    @property
    def subject(self) -> str:
        """The workload, for messages."""
        return str(self.plan.ref)

    def render(self) -> Plan:
        """Render what would be installed; a step that is skipped does without."""
        self.plan = make_plan(self.task, self.draft, self.helm, self.kube)
        return self.plan

    def decide(self) -> Decision:
        """Return what is to be done now."""
        return self._decide(self.installer.revisions())

    def _decide(self, stored: list[Release]) -> Decision:
        return decide(self.task, self.draft.identity, self.ledger.read(), stored)

    def run(self) -> Record:
        """Bring the step to its end and return the task's result.

        Raises:
            EksError: nothing was started, or the cluster stayed away; the workload, if any, goes on.
        """
        decision = self.decide()
        if decision.action == "skip" and not decision.uninstall:
            return self._skip(decision)
        # A template that refuses its values does so before anything is touched.
        self.render()
        demand(self.kube, to_follow(self.plan.ref))
        self._acquire()
        try:
            # What was true before the lock may have changed while waiting for it.
            return self._locked(self._decide(self.installer.revisions_at_rest()))
        finally:
            self.lock.release()

    def _acquire(self) -> None:
        try:
            self.lock.acquire(patience=self.task.waits.lock, say=self.say)
        except AbsentError as error:
            where = f"namespace {self.task.namespace} on cluster {self.task.cluster}"
            raise AbsentError(f"{where}: not found. Create it, or correct the variable 'kube_namespace'.") from error

    def _locked(self, decision: Decision) -> Record:
        self.installer.clear(decision)
        if decision.action == "skip":
            return self._skip(decision)
        if decision.action == "attach" and not self.installer.is_whole(self.plan, decision):
            decision = Decision(action="install", why="its workload is not there")
            self.installer.uninstall()
        return self._execute(decision)

    def _skip(self, decision: Decision) -> Record:
        entry = self.ledger.read()[self.task.step]
        self.say(f"{self.task.place}: skipped: {decision.why}")
        now = self.clock.now()
        journal = Journal(task=self.task, started=now)
        fields = {"outcome": "skipped", "finished": iso(now), "skipped_because": decision.why}
        record = journal.write(identity=self.draft.identity, chart_version=self.draft.chart.version, **fields)
        return result(record, self.task, changed=False, msg=f"skipped: {decision.why}", first_run=entry.run_id)

    def _execute(self, decision: Decision) -> Record:
        started = self._started(decision)
        journal = Journal(task=self.task, started=started)
        attached = decision.action == "attach"
        self.task.evidence.mkdir(parents=True, exist_ok=True)
        evidence.write_plan(self.task, self.plan)
        journal.write(
            identity=self.plan.identity,
            chart_version=self.plan.chart.version,
            reattached=attached,
            phases=[{"name": "queued", "started": iso(started), "finished": None}],
        )
        entry = begun(self.task, self.plan.identity, started)
        self.session = self._session(journal, started, attached=attached)
        if not attached:
            self.installer.install(self.plan, decision, entry, journal)
        else:
            self.say(f"{self.task.place}: re-attached to {self.subject}; {decision.why}")
        state = self.session.follow()
        return self._finish(state, entry, journal, changed=not decision.settled)

    def _started(self, decision: Decision) -> float:
        """Return when the step began: a re-attached step began under an earlier controller."""
        if decision.action == "attach":
            entry = self.ledger.read().get(self.task.step)
            if entry and entry.identity == self.plan.identity and not self.task.keep:
                return from_iso(entry.started)
        return self.clock.now()

    def _session(self, journal: Journal, started: float, *, attached: bool) -> Session:
        task, plan = self.task, self.plan
        judged = rules(task, plan.kind, plan.ref.name, started=started)
        target = Target(
            kind=plan.kind,
            ref=plan.ref,
            selectors=plan.kind.selectors(plan.workload),
            keeping=evidence.keeping(task, former=attached, seen=self.lock.former if attached else 0.0),
            shown=task.logs,
            streams=task.log_streams,
        )
        return Session(self.kube, target, judged, journal, clock=self.clock, say=self.say)

    def _finish(self, state: State, entry: Entry, journal: Journal, *, changed: bool) -> Record:
        ending, ours = self._true_ending(t.cast(Ending, state.ending))
        state = replace(state, ending=ending)
        good, finished = ending.outcome in GOOD, self.clock.now()
        # Evidence, ledger, Helm: a controller that dies in between must neither run a finished step again nor leave
        # it without its record.
        self._record(state, journal)
        # A server found as it was left is no newer than before, and does not make the steps after it stale.
        if ours and (ending.outcome != "ready" or changed):
            cause = self.task.mask.text(str(ending.cause or ""))
            self.ledger.finish(replace(entry, outcome=ending.outcome, finished=iso(finished), cause=cause))
            if ending.outcome != "ready" and (
                self.task.cleanup == "always" or (self.task.cleanup == "on_success" and good)
            ):
                self.installer.uninstall()
        record = self._record(state, journal)
        said = f"{self.subject}: {ending.told(human(finished - journal.started))}"
        for line in last_words(ending.cause):
            self.say(line)
        self.say(said)
        return result(record, self.task, changed=changed, msg=said, failed=not good)

    def _record(self, state: State, journal: Journal) -> Record:
        now = self.clock.now()
        return journal.write(**t.cast(Session, self.session).summary(state, now), finished=iso(now))

    def _true_ending(self, ending: Ending) -> tuple[Ending, bool]:
        """Return the ending as it counts, and whether the release is still ours to write it down.

        A workload that went away because somebody stopped the run was cancelled, not lost.
        """
        try:
            self.lock.secure()
        except ConflictError as error:
            return taken_over(self.subject, error.details["holder"]), False
        entry = self.ledger.read().get(self.task.step) if ending.outcome == "lost" else None
        if entry is None or entry.outcome != "cancelled":
            return ending, True
        cause = Cause(
            reason="Cancelled", object=self.subject, message=entry.cause, remedy="Run it again to start anew."
        )
        return Ending(outcome="cancelled", cause=cause), True

    def _on_loss(self, holder: str) -> None:
        if self.session:
            self.session.lost_lock(holder)
