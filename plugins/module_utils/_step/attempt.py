# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""One attempt at a step: its release installed, or its workload taken up again, and followed to the end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, from_iso, iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import StorageError
from ansible_collections.mlops.eks.plugins.module_utils._step import evidence
from ansible_collections.mlops.eks.plugins.module_utils._step.decide import Decision
from ansible_collections.mlops.eks.plugins.module_utils._step.install import Installer
from ansible_collections.mlops.eks.plugins.module_utils._step.ledger import Entry
from ansible_collections.mlops.eks.plugins.module_utils._step.observe import Target
from ansible_collections.mlops.eks.plugins.module_utils._step.plan import Plan
from ansible_collections.mlops.eks.plugins.module_utils._step.record import Journal, Record
from ansible_collections.mlops.eks.plugins.module_utils._step.repeat import VALUES
from ansible_collections.mlops.eks.plugins.module_utils._step.retry import placed, seconds
from ansible_collections.mlops.eks.plugins.module_utils._step.session import Session
from ansible_collections.mlops.eks.plugins.module_utils._step.state import Ending, Rules, State, start
from ansible_collections.mlops.eks.plugins.module_utils._step.task import Task, rules
from ansible_collections.mlops.eks.plugins.module_utils._step.writer import Writer


@dataclass(kw_only=True)
class Attempt:
    """What `entry` of the ledger tells of, while it runs."""

    task: Task
    plan: Plan
    entry: Entry
    decision: Decision
    installer: Installer
    clock: Clock
    say: Callable[[str], None]
    journal: Journal = field(init=False)
    writer: Writer = field(init=False)
    session: Session = field(init=False)
    rules: Rules = field(init=False)

    def __post_init__(self) -> None:
        task, plan, started = self.task, self.plan, from_iso(self.entry.started)
        earlier = [{**one, "evidence": evidence.aside(task, one)} for one in self.entry.tried]
        fields = {**plan.about, "attempt": self.entry.attempt, "attempts": earlier}
        self.journal = Journal(task=task, started=started, fields=fields)
        tried = self.entry.tried
        self.rules = rules(
            task,
            plan.kind,
            plan.ref.name,
            started=started,
            earlier=seconds(tried),
            placed=placed(tried),
            serves=self.entry.serving is not None,
        )
        former = self.decision.action == "attach"
        target = Target(
            kind=plan.kind,
            ref=plan.ref,
            selectors=plan.kind.selectors(plan.workload),
            keeping=evidence.keeping(task, former=former, seen=self.installer.lock.former if former else 0.0),
            shown=task.logs,
            streams=task.log_streams,
        )
        self.writer = Writer(
            task=task,
            clock=self.clock,
            say=self.say,
            lost=lambda: self.installer.lock.lost,
            patient=self.entry.serving is None,
        )
        self.session = Session(self.installer.kube, target, self.rules, self.journal, writer=self.writer)

    def begin(self) -> None:
        """Install or re-attach as decided.

        Raises:
            EksError: it could not be installed; ledger and record say so.
        """
        task, decision = self.task, self.decision
        attached = decision.action == "attach"
        if self.entry.attempt > 1:
            self.writer.insist(self._prepare, "the next attempt begins when there is room")
        else:
            self._prepare()
        if attached:
            self.say(f"{task.place}: re-attached to {self.plan.ref}; {decision.why}")
            self.installer.secrets.refresh(self.plan)
        else:
            self.installer.install(self.plan, decision, self.entry, self.journal)

    def _prepare(self) -> None:
        """Write what is going to be installed: where that cannot be done nothing is."""
        evidence.write_plan(self.task, self.plan)
        queued = {"name": "queued", "started": iso(self.journal.started), "finished": None}
        self.journal.write(reattached=self.decision.action == "attach", phases=[queued])

    def follow(self) -> State:
        """Follow the workload to its end, and write it down before anything is done about it."""
        state = self.session.follow()
        self.record(state)
        return state

    def record(self, state: State) -> Record:
        """Write down how the attempt ended."""
        now = self.clock.now()
        if not (self.task.evidence / VALUES).exists():
            # Somebody removed the directory.
            with contextlib.suppress(StorageError):
                self.writer.insist(partial(evidence.write_plan, self.task, self.plan))
        return self.writer.record(self.journal, **self.session.summary(state, now), finished=iso(now))

    def set_aside(self) -> None:
        """Put the evidence where that of the next attempt does not take its place."""
        self.writer.insist(partial(evidence.set_aside, self.task, self.entry.attempt))

    def left(self) -> float:
        """Return the seconds that remain of the step's timeout."""
        return self.task.waits.timeout - seconds(self.entry.tried) - (self.clock.now() - self.journal.started)

    def unbegun(self, ending: Ending) -> State:
        """Return the state of an attempt that ended before it began."""
        return replace(start(self.rules, self.clock.now()), ending=ending)
