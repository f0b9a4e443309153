# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The attempts of one step while its lock is held.

Each attempt waits until it is due and until leftovers are gone, is installed or re-attached, and is followed to its
end. Then the step is retried, as its policy allows, or finished: record, ledger, uninstall or rollback, result.
"""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, from_iso, human, iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    ClusterError,
    ConflictError,
    EksError,
    StorageError,
)
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import Cause
from ansible_collections.mlops.eks.plugins.module_utils._engine import evidence
from ansible_collections.mlops.eks.plugins.module_utils._engine.decide import Decision
from ansible_collections.mlops.eks.plugins.module_utils._engine.install import Installer, Rollback, with_surge_remedy
from ansible_collections.mlops.eks.plugins.module_utils._engine.leftovers import object_names
from ansible_collections.mlops.eks.plugins.module_utils._engine.record import (
    Journal,
    Record,
    Writer,
    log_tail_lines,
    result,
)
from ansible_collections.mlops.eks.plugins.module_utils._engine.session import Session
from ansible_collections.mlops.eks.plugins.module_utils._follow.deadlines import overdue
from ansible_collections.mlops.eks.plugins.module_utils._follow.drain import still_running, unfinished
from ansible_collections.mlops.eks.plugins.module_utils._follow.observe import Target
from ansible_collections.mlops.eks.plugins.module_utils._follow.outcome import taken_over
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import GOOD, Ending, Rules, State, start
from ansible_collections.mlops.eks.plugins.module_utils._ledger import cancellation
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Entry, Ledger, Serving, running_entry
from ansible_collections.mlops.eks.plugins.module_utils._ledger.lock import Lock
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import Plan
from ansible_collections.mlops.eks.plugins.module_utils._plan.retry import (
    LONGEST,
    PastAttempt,
    had_node,
    past_attempt,
    retry_delay,
    total_seconds,
)
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task, rules

# Seconds between two looks whether the run was stopped, while a step waits.
_CHECK_INTERVAL = 2.0
# Seconds that a stop may take from the lease to the ledger, on a busy machine.
_STOP_DELAY = 10.0


@dataclass(kw_only=True)
class Execution:
    """One step whose lock is held, from its decision to its result."""

    task: Task
    plan: Plan
    ledger: Ledger
    lock: Lock
    installer: Installer
    clock: Clock
    say: Callable[[str], None]

    def __post_init__(self) -> None:
        self._current: Attempt | None = None
        self._serving: Serving | None = None

    def lost_lock(self, holder: str) -> None:
        """End the attempt because another controller took over; called from the lock's thread."""
        if self._current:
            self._current.session.lost_lock(holder)

    def run(self, decision: Decision) -> Record:
        """Make attempts until one succeeds or the retry policy ends them, and return the step's result."""
        self._serving = decision.serving
        changed, entry = not decision.settled, self._entry(decision)
        while True:
            attempt = self._current = self._attempt(entry, decision)
            state = (
                self._wait_until_due(attempt)
                or self._wait_for_leftovers(attempt)
                or self._start(attempt)
                or attempt.follow()
            )
            ending, held = self._confirm(t.cast(Ending, state.ending))
            state = replace(state, ending=ending)
            # A server is not retried: its own controller replaces its pods.
            delay = attempt.retry_delay(ending) if held and not self.task.keep else None
            if delay is None:
                return self._finish(state, attempt, held=held, changed=changed)
            entry = self._prepare_retry(state, attempt, delay)
            decision = Decision(action="install", why=f"attempt {entry.attempt - 1} failed")

    def _attempt(self, entry: Entry, decision: Decision) -> Attempt:
        return Attempt(
            task=self.task,
            plan=self.plan,
            entry=entry,
            decision=decision,
            installer=self.installer,
            clock=self.clock,
            say=self.say,
        )

    def _entry(self, decision: Decision) -> Entry:
        """Return the ledger entry of the first attempt here, which may continue one of an earlier controller."""
        task, now = self.task, self.clock.now()
        found = self.ledger.read().get(task.step)
        if found is None or found.identity != self.plan.identity or task.keep or task.force:
            return self._new_entry(now)
        started = from_iso(found.started)
        if found.outcome == "retrying":
            started = min(max(started, now), now + LONGEST)
        elif decision.action != "attach":
            started = now
        return self._new_entry(started, found.tried if found.unfinished else ())

    def _new_entry(self, started: float, earlier: Sequence[PastAttempt] = ()) -> Entry:
        objects = object_names(self.plan.manifest)
        entry = running_entry(self.task, self.plan.identity, started, earlier, chart=self.plan.chart, objects=objects)
        return replace(entry, serving=self._serving)

    def _wait_until_due(self, attempt: Attempt) -> State | None:
        """Wait for the start time of an attempt; return a state if the run was stopped or taken over meanwhile."""
        due = attempt.journal.started
        if due <= self.clock.now():
            return None
        attempt.journal.note()
        while (left := due - self.clock.now()) > 0 and not self.lock.lost:
            self.clock.sleep(min(_CHECK_INTERVAL, left))
            self.lock.check()
        return self._state_if_stopped(attempt)

    def _wait_for_leftovers(self, attempt: Attempt) -> State | None:
        """Wait until pods of an earlier attempt or step are gone; return a state if the attempt cannot start."""
        leftovers = self.installer.leftovers(self.plan)
        if attempt.decision.action != "install" or not leftovers.exist():
            return None
        attempt.journal.note()
        waiting, cause = start(attempt.rules, self.clock.now()), None
        while leftovers.exist() and not cause and not self.lock.lost:
            self.clock.sleep(leftovers.pause)
            self.lock.check()
            cause = leftovers.stuck() or overdue(waiting, self.clock.now(), attempt.rules)
        stopped = self._state_if_stopped(attempt)
        if stopped or cause is None:
            return stopped
        ending = Ending(outcome="timed_out" if cause.category == "timeout" else "failed", cause=cause)
        return attempt.ended_before_start(ending)

    def _state_if_stopped(self, attempt: Attempt) -> State | None:
        ending, held = self._confirm(Ending(outcome="lost"))
        return None if held and ending.outcome == "lost" else attempt.ended_before_start(ending)

    def _start(self, attempt: Attempt) -> State | None:
        """Install or re-attach; return a state if the run was stopped or taken over while Helm worked.

        The stop did not see what Helm installed after it, so that is uninstalled here.
        """
        try:
            attempt.start()
        except EksError as error:
            if error.details.get("outcome") == "failed" and self._serving:
                # Helm may have changed a part of the server before it failed.
                error.args = (f"{error} The server was {self._roll_back(self.ledger.read()[self.task.step])}.",)
            raise
        try:
            ending, held = self._confirm(Ending(outcome="ready"))
        except ClusterError:
            # Following tolerates a cluster that does not answer; the next renewal finds out.
            return None
        if held:
            return None
        if ending.outcome == "cancelled":
            self.installer.uninstall()
        return attempt.ended_before_start(ending)

    def _prepare_retry(self, state: State, attempt: Attempt, delay: float) -> Entry:
        """Record and remove a failed attempt; return the ledger entry of the next one."""
        task, number, now = self.task, attempt.entry.attempt, self.clock.now()
        ending = t.cast(Ending, state.ending)
        attempt.record(state)
        past = task.mask.document(
            past_attempt(ending, attempt=number, run_id=task.run_id, started=attempt.entry.started, finished=iso(now))
        )
        earlier = (*attempt.entry.tried, past)
        # The ledger before Helm: if the controller dies in between, the attempt is still counted.
        message = task.mask.text(str(ending.cause))
        self.ledger.write(replace(self._new_entry(now + delay, earlier), outcome="retrying", cause=message))
        took, cause = human(now - attempt.journal.started), t.cast(Cause, ending.cause)
        for line in log_tail_lines(cause):
            self.say(line)
        self.say(f"{task.place}: attempt {number} of {task.retry.retries + 1} {ending.describe(took)}")
        attempt.record(self._uninstall(state, attempt))
        attempt.set_evidence_aside()
        # Draining its pods may have taken longer than the delay.
        due = max(now + delay, self.clock.now())
        self.say(
            f"{task.place}: attempt {number + 1} begins in {human(due - self.clock.now())}, at {iso(due)}, because "
            f"{cause.category} is retried; the evidence of the last one is in {task.evidence / f'attempt-{number}'}"
        )
        return self._new_entry(due, earlier)

    def _finish(self, state: State, attempt: Attempt, *, held: bool, changed: bool) -> Record:
        """Return the result. If the controller dies here, the step is neither repeated nor left without its record."""
        ending, entry = t.cast(Ending, state.ending), attempt.entry
        good, finished = ending.outcome in GOOD, self.clock.now()
        attempt.record(state)
        if held and ending.outcome == "ready":
            self.installer.secrets.settle(self.plan)
        # A server that was ready before and is unchanged keeps its entry: a newer one would make later steps stale.
        if held and (ending.outcome != "ready" or changed):
            cause = self.task.mask.text(str(ending.cause or ""))
            serving = self._newest_revision() if ending.outcome == "ready" else entry.serving
            entry = replace(entry, outcome=ending.outcome, finished=iso(finished), cause=cause, serving=serving)
            self.ledger.finish(entry)
            if serving and ending.outcome in ("failed", "timed_out", "lost"):
                state = with_surge_remedy(state)
                state = replace(state, ending=replace(t.cast(Ending, state.ending), note=self._roll_back(entry)))
            elif ending.outcome != "ready" and (
                self.task.cleanup == "always" or (self.task.cleanup == "on_success" and good)
            ):
                state = self._uninstall(state, attempt)
        ending = t.cast(Ending, state.ending)
        record = attempt.record(state)
        message = f"{self.plan.ref}: {ending.describe(human(finished - attempt.journal.started))}"
        for line in log_tail_lines(ending.cause):
            self.say(line)
        self.say(message)
        return result(record, self.task, changed=changed, msg=message, failed=not good)

    def _newest_revision(self) -> Serving | None:
        """Return the revision that has just become ready, if the step stays installed."""
        stored = self.installer.revisions() if self.task.keep else []
        return {"revision": stored[-1].revision, "identity": stored[-1].identity} if stored else None

    def _roll_back(self, entry: Entry) -> str:
        """Go back to the revision that was ready, store which one serves now, and return what was done."""
        rollback = Rollback(
            installer=self.installer,
            serving=t.cast(Serving, self._serving),
            timeout=self.task.waits.ready,
            clock=self.clock,
            say=self.say,
        )
        restored = rollback.run()
        if restored.serving != entry.serving:
            self.ledger.finish(replace(entry, serving=restored.serving))
        return restored.note

    def _uninstall(self, state: State, attempt: Attempt) -> State:
        """Uninstall the release; pods that still run are drained: they may log, or save a checkpoint."""
        outcome, live = t.cast(Ending, state.ending).outcome, state.live.values()
        # After a failure, pods on a lost node are not waited for.
        left = unfinished(live) if outcome == "timed_out" else still_running(live) if outcome == "failed" else []
        remove = partial(self.installer.remove, object_names(self.plan.manifest))
        if left:
            return attempt.session.drain(state, left, remove)
        remove()
        return state

    def _confirm(self, ending: Ending) -> tuple[Ending, bool]:
        """Return the ending after a look at lease and ledger, and whether the lease is still ours.

        A workload that is gone because the run was stopped is cancelled, not lost.
        """
        held = True
        try:
            self.lock.ensure_held()
        except ConflictError as error:
            ending, held = taken_over(str(self.plan.ref), error.details["holder"]), False
        entry = self._read_entry(held=held) if ending.outcome == "lost" else None
        if entry is None or entry.outcome != "cancelled":
            return ending, held
        cancellation.acknowledge(self.ledger, self.task.run_id)
        return Ending(outcome="cancelled", cause=Cause.of("Cancelled", str(self.plan.ref), entry.cause)), held

    def _read_entry(self, *, held: bool) -> Entry | None:
        """Return the step's entry. A stop takes the lease before it writes the entry: wait for that."""
        deadline = self.clock.now() + _STOP_DELAY
        while True:
            entry = self.ledger.read().get(self.task.step)
            if entry is None or held or not entry.unfinished or self.clock.now() >= deadline:
                return entry
            self.clock.sleep(_CHECK_INTERVAL)


@dataclass(kw_only=True)
class Attempt:
    """One attempt at a step: its release is installed, or an installed one re-attached, and followed to its end."""

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
        earlier = [{**one, "evidence": evidence.attempt_directory(task, one)} for one in self.entry.tried]
        fields = {**plan.about, "attempt": self.entry.attempt, "attempts": earlier}
        self.journal = Journal(task=task, started=started, fields=fields)
        tried = self.entry.tried
        self.rules = rules(
            task,
            plan.kind,
            plan.ref.name,
            started=started,
            earlier_seconds=total_seconds(tried),
            had_nodes=had_node(tried),
            serves=self.entry.serving is not None,
        )
        attached = self.decision.action == "attach"
        shown_until = self.installer.lock.previous_renewal if attached else 0.0
        target = Target(
            kind=plan.kind,
            ref=plan.ref,
            selectors=plan.kind.selectors(plan.workload),
            log_store=evidence.log_store(task, resume=attached, shown_until=shown_until),
            shown=task.logs,
            streams=task.log_streams,
        )
        self.writer = Writer(
            task=task,
            clock=self.clock,
            say=self.say,
            lost=lambda: self.installer.lock.lost,
            waits_for_room=self.entry.serving is None,
        )
        self.session = Session(self.installer.kube, target, self.rules, self.journal, writer=self.writer)

    def start(self) -> None:
        """Install or re-attach as decided.

        Raises:
            EksError: it could not be installed; ledger and record have the cause.
        """
        task, decision = self.task, self.decision
        attached = decision.action == "attach"
        if self.entry.attempt > 1:
            self.writer.retry_write(self._prepare, "the next attempt begins when there is room")
        else:
            self._prepare()
        if attached:
            self.say(f"{task.place}: re-attached to {self.plan.ref}; {decision.why}")
            self.installer.secrets.refresh(self.plan)
        else:
            self.installer.install(self.plan, decision, self.entry, self.journal)

    def _prepare(self) -> None:
        """Write the plan and the first record, before anything is installed."""
        evidence.write_plan(self.task, self.plan)
        self.journal.begin(reattached=self.decision.action == "attach")

    def follow(self) -> State:
        """Follow the workload to its end, and record it before anything is removed."""
        state = self.session.follow()
        self.record(state)
        return state

    def record(self, state: State) -> Record:
        """Write the record of an attempt that has ended."""
        now = self.clock.now()
        if not (self.task.evidence / evidence.VALUES).exists():
            # The evidence directory was removed meanwhile.
            with contextlib.suppress(StorageError):
                self.writer.retry_write(partial(evidence.write_plan, self.task, self.plan))
        return self.writer.record(self.journal, **self.session.summary(state, now), finished=iso(now))

    def set_evidence_aside(self) -> None:
        """Move the evidence into `attempt-<number>`, so that the next attempt does not overwrite it."""
        self.writer.retry_write(partial(evidence.set_aside, self.task, self.entry.attempt))

    def retry_delay(self, ending: Ending) -> float | None:
        """Return the seconds until the next attempt, `None` if the retry policy or the step's timeout allows none."""
        took = total_seconds(self.entry.tried) + self.clock.now() - self.journal.started
        left = self.task.waits.timeout - took
        return retry_delay(self.task.retry, ending, attempt=self.entry.attempt, left=left)

    def ended_before_start(self, ending: Ending) -> State:
        """Return the state of an attempt that ended before its workload was followed."""
        return replace(start(self.rules, self.clock.now()), ending=ending)
