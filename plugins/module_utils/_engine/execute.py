# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What was decided, done: one attempt after the other as the policy allows, each put on record, then the last words."""

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
from ansible_collections.mlops.eks.plugins.module_utils._engine.evidence import VALUES
from ansible_collections.mlops.eks.plugins.module_utils._engine.install import Installer
from ansible_collections.mlops.eks.plugins.module_utils._engine.leftovers import object_names
from ansible_collections.mlops.eks.plugins.module_utils._engine.record import (
    Journal,
    Record,
    Writer,
    last_words,
    result,
)
from ansible_collections.mlops.eks.plugins.module_utils._engine.rollback import Rollback, with_surge_remedy
from ansible_collections.mlops.eks.plugins.module_utils._engine.session import Session
from ansible_collections.mlops.eks.plugins.module_utils._follow.deadlines import overdue
from ansible_collections.mlops.eks.plugins.module_utils._follow.drain import staying, still_running
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

# How often, in seconds, a step that waits looks whether it was stopped.
_LOOK = 2.0
# Seconds between the loss of the lock to who stops a run and the ledger saying so, on a machine that is busy.
_WRITTEN = 10.0


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
        """Bring the step to its end, in as many attempts as it is allowed."""
        self._serving = decision.serving
        changed, entry = not decision.settled, self._entry(decision)
        while True:
            attempt = self._current = self._attempt(entry, decision)
            state = self._await(attempt) or self._make_room(attempt) or self._begin(attempt) or attempt.follow()
            ending, ours = self._true_ending(t.cast(Ending, state.ending))
            state = replace(state, ending=ending)
            # A server is never done, and what it consists of is replaced by its own controller.
            again = ours and not self.task.keep
            wait = retry_delay(self.task.retry, ending, attempt=entry.attempt, left=attempt.left()) if again else None
            if wait is None:
                return self._finish(state, attempt, ours=ours, changed=changed)
            entry = self._try_again(state, attempt, wait)
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
        """Return the entry of the attempt that begins, or that began under an earlier controller and goes on."""
        task, now = self.task, self.clock.now()
        found = self.ledger.read().get(task.step)
        if found is None or found.identity != self.plan.identity or task.keep or task.force:
            return self._begun(now)
        started = from_iso(found.started)
        if found.outcome == "retrying":
            started = min(max(started, now), now + LONGEST)
        elif decision.action != "attach":
            started = now
        return self._begun(started, found.tried if found.unfinished else ())

    def _begun(self, started: float, earlier: Sequence[PastAttempt] = ()) -> Entry:
        objects = object_names(self.plan.manifest)
        entry = running_entry(self.task, self.plan.identity, started, earlier, chart=self.plan.chart, objects=objects)
        return replace(entry, serving=self._serving)

    def _await(self, attempt: Attempt) -> State | None:
        """Wait until an attempt is due; return its end when the release was stopped or taken over in the meantime."""
        due = attempt.journal.started
        if due <= self.clock.now():
            return None
        attempt.journal.note()
        while (left := due - self.clock.now()) > 0 and not self.lock.lost:
            self.clock.sleep(min(_LOOK, left))
            self.lock.check()
        return self._stopped(attempt)

    def _make_room(self, attempt: Attempt) -> State | None:
        """Wait until pods of an earlier attempt or step are gone; return the end of an attempt that cannot begin."""
        leftovers = self.installer.leftovers(self.plan)
        if attempt.decision.action != "install" or not leftovers.there():
            return None
        attempt.journal.note()
        waiting, cause = start(attempt.rules, self.clock.now()), None
        while leftovers.there() and not cause and not self.lock.lost:
            self.clock.sleep(leftovers.pause)
            self.lock.check()
            cause = leftovers.stuck() or overdue(waiting, self.clock.now(), attempt.rules)
        stopped = self._stopped(attempt)
        if stopped or cause is None:
            return stopped
        return attempt.unbegun(Ending(outcome="timed_out" if cause.category == "timeout" else "failed", cause=cause))

    def _stopped(self, attempt: Attempt) -> State | None:
        """Return the end of an attempt whose run was stopped or taken over before it began."""
        ending, ours = self._true_ending(Ending(outcome="lost"))
        return None if ours and ending.outcome == "lost" else attempt.unbegun(ending)

    def _begin(self, attempt: Attempt) -> State | None:
        """Install or re-attach; return the end of an attempt that was stopped while Helm was at work.

        Who stopped it could not see yet what Helm would install, so that is cleared away here.
        """
        try:
            attempt.begin()
        except EksError as error:
            if error.details.get("outcome") == "failed" and self._serving:
                # Helm may have changed a part of what serves before it failed.
                error.args = (f"{error} The server was {self._roll_back(self.ledger.read()[self.task.step])}.",)
            raise
        try:
            ending, ours = self._true_ending(Ending(outcome="ready"))
        except ClusterError:
            # It is away: following is patient, and the next renewal will tell.
            return None
        if ours:
            return None
        if ending.outcome == "cancelled":
            self.installer.uninstall()
        return attempt.unbegun(ending)

    def _try_again(self, state: State, attempt: Attempt, wait: float) -> Entry:
        """Put a failed attempt aside and return the entry of the next one."""
        task, number, now = self.task, attempt.entry.attempt, self.clock.now()
        ending = t.cast(Ending, state.ending)
        attempt.record(state)
        over = task.mask.document(
            past_attempt(ending, attempt=number, run_id=task.run_id, started=attempt.entry.started, finished=iso(now))
        )
        earlier = (*attempt.entry.tried, over)
        # The ledger before Helm: a controller that dies in between must not lose count.
        entry = replace(self._begun(now + wait, earlier), outcome="retrying", cause=task.mask.text(str(ending.cause)))
        self.ledger.write(entry)
        took, cause = human(now - attempt.journal.started), t.cast(Cause, ending.cause)
        for line in last_words(cause):
            self.say(line)
        self.say(f"{task.place}: attempt {number} of {task.retry.retries + 1} {ending.told(took)}")
        attempt.record(self._clear_away(state, attempt))
        attempt.set_aside()
        # What it had to say while it was ended may have taken longer than the pause.
        due = max(now + wait, self.clock.now())
        self.say(
            f"{task.place}: attempt {number + 1} begins in {human(due - self.clock.now())}, at {iso(due)}, because "
            f"{cause.category} is retried; what the last one left is in {task.evidence / f'attempt-{number}'}"
        )
        return self._begun(due, earlier)

    def _finish(self, state: State, attempt: Attempt, *, ours: bool, changed: bool) -> Record:
        ending, entry = t.cast(Ending, state.ending), attempt.entry
        good, finished = ending.outcome in GOOD, self.clock.now()
        # Evidence, ledger, Helm: a controller that dies in between must neither run a finished step again nor leave
        # it without its record.
        attempt.record(state)
        # A server found as it was left is no newer than before, and does not make the steps after it stale.
        if ours and ending.outcome == "ready":
            self.installer.secrets.settle(self.plan)
        if ours and (ending.outcome != "ready" or changed):
            cause = self.task.mask.text(str(ending.cause or ""))
            serving = self._newest() if ending.outcome == "ready" else entry.serving
            entry = replace(entry, outcome=ending.outcome, finished=iso(finished), cause=cause, serving=serving)
            self.ledger.finish(entry)
            if serving and ending.outcome in ("failed", "timed_out", "lost"):
                state = self._restore(state, entry)
            elif ending.outcome != "ready" and (
                self.task.cleanup == "always" or (self.task.cleanup == "on_success" and good)
            ):
                state = self._clear_away(state, attempt)
        ending = t.cast(Ending, state.ending)
        record = attempt.record(state)
        said = f"{self.plan.ref}: {ending.told(human(finished - attempt.journal.started))}"
        for line in last_words(ending.cause):
            self.say(line)
        self.say(said)
        return result(record, self.task, changed=changed, msg=said, failed=not good)

    def _newest(self) -> Serving | None:
        """Return the revision that has just become ready, if the step stays installed."""
        stored = self.installer.revisions() if self.task.keep else []
        return {"revision": stored[-1].revision, "identity": stored[-1].identity} if stored else None

    def _restore(self, state: State, entry: Entry) -> State:
        """Let what served before the step serve again; return the state that tells of it."""
        state = with_surge_remedy(state)
        note = self._roll_back(entry)
        return replace(state, ending=replace(t.cast(Ending, state.ending), note=note))

    def _roll_back(self, entry: Entry) -> str:
        """Go back to the revision that was ready, write down which one serves now, and return what to tell of it."""
        back = Rollback(
            installer=self.installer,
            serving=t.cast(Serving, self._serving),
            timeout=self.task.waits.ready,
            clock=self.clock,
            say=self.say,
        )
        restored = back.run()
        if restored.serving != entry.serving:
            self.ledger.finish(replace(entry, serving=restored.serving))
        return restored.note

    def _clear_away(self, state: State, attempt: Attempt) -> State:
        """Uninstall the release; what still runs may have something to say, and to save, when it is ended."""
        outcome, live = t.cast(Ending, state.ending).outcome, state.live.values()
        # Of a failure only programs that can still be heard count: what is on a lost node is not waited for.
        left = staying(live) if outcome == "timed_out" else still_running(live) if outcome == "failed" else []
        remove = partial(self.installer.remove, object_names(self.plan.manifest))
        if left:
            return attempt.session.drain(state, left, remove)
        remove()
        return state

    def _true_ending(self, ending: Ending) -> tuple[Ending, bool]:
        """Return the ending as it counts, and whether the release is still ours to write it down.

        A workload that went away because somebody stopped the run was cancelled, not lost.
        """
        ours = True
        try:
            self.lock.ensure_held()
        except ConflictError as error:
            ending, ours = taken_over(str(self.plan.ref), error.details["holder"]), False
        entry = self._became(ours=ours) if ending.outcome == "lost" else None
        if entry is None or entry.outcome != "cancelled":
            return ending, ours
        cancellation.acknowledge(self.ledger, self.task.run_id)
        return Ending(outcome="cancelled", cause=Cause.of("Cancelled", str(self.plan.ref), entry.cause)), ours

    def _became(self, *, ours: bool) -> Entry | None:
        """Return what the ledger says of the step; who stops a run takes its lock a moment before it writes that."""
        deadline = self.clock.now() + _WRITTEN
        while True:
            entry = self.ledger.read().get(self.task.step)
            if entry is None or ours or not entry.unfinished or self.clock.now() >= deadline:
                return entry
            self.clock.sleep(_LOOK)


# One attempt at a step: its release installed, or its workload taken up again, and followed to the end.
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
            earlier=total_seconds(tried),
            placed=had_node(tried),
            serves=self.entry.serving is not None,
        )
        former = self.decision.action == "attach"
        seen = self.installer.lock.previous_renewal if former else 0.0
        target = Target(
            kind=plan.kind,
            ref=plan.ref,
            selectors=plan.kind.selectors(plan.workload),
            log_store=evidence.log_store(task, former=former, seen=seen),
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
        return self.task.waits.timeout - total_seconds(self.entry.tried) - (self.clock.now() - self.journal.started)

    def unbegun(self, ending: Ending) -> State:
        """Return the state of an attempt that ended before it began."""
        return replace(start(self.rules, self.clock.now()), ending=ending)
