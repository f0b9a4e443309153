# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Cancel a run: the lock first, so that nobody else changes it; then ledger, evidence and Helm."""

from __future__ import annotations

import socket
import typing as t
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_yaml_stream, write_atomically
from ansible_collections.mlops.eks.plugins.module_utils._engine.evidence import demand_room, without_noise
from ansible_collections.mlops.eks.plugins.module_utils._engine.leftovers import (
    Orphan,
    await_helm,
    delete_orphans,
    find_orphans,
)
from ansible_collections.mlops.eks.plugins.module_utils._engine.run_secrets import remove_all
from ansible_collections.mlops.eks.plugins.module_utils._follow.drain import Drain, release_selector
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Helm
from ansible_collections.mlops.eks.plugins.module_utils._helm.releases import Release, revisions
from ansible_collections.mlops.eks.plugins.module_utils._kube import listing
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._ledger import cancellation
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Entry, Ledger
from ansible_collections.mlops.eks.plugins.module_utils._ledger.lock import Lock
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ownership import may_change, refusal
from ansible_collections.mlops.eks.plugins.module_utils._logs.sinks import LogStore

Say = Callable[[str], None]
_OTHERWISE = "Or set 'runs_dir' to another directory, or 'evidence' to false."
_GONE = "it is uninstalled, and how its pods ended is written when there is room"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What there is to stop: entries of the ledger that are running or kept, and Helm releases that are installed.

    `forgotten` is what was made for releases whose Secrets somebody deleted, `foreign` are releases of the same names
    that are not the run's.
    """

    entries: list[Entry]
    installed: list[str]
    forgotten: Mapping[str, list[Orphan]] = field(default_factory=dict)
    foreign: list[Release] = field(default_factory=list)

    @property
    def releases(self) -> list[str]:
        """What is to be removed, whether Helm knows of it or not."""
        return sorted({*self.installed, *self.forgotten})

    @property
    def steps(self) -> list[str]:
        """The names of the steps."""
        return sorted({entry.step for entry in self.entries})

    def and_then(self, more: Standing) -> Standing:
        """Return both together."""
        installed = sorted({*self.installed, *more.installed})
        forgotten = {**self.forgotten, **more.forgotten}
        entries = [*self.entries, *more.entries]
        return Standing(entries=entries, installed=installed, forgotten=forgotten, foreign=more.foreign)


@dataclass(frozen=True, kw_only=True)
class Stop:
    """The end of everything installed for run `release`: its running step and what it keeps.

    The evidence is kept as `kept` says, in a directory per Helm release; `None` keeps none.

    The lock is taken from the controller that follows the run, if one does: it touches nothing more, reads in the
    ledger that its step was cancelled, and ends. One that is between two steps finds word there before the next.

    With `adopt`, a Helm release of its name that the run did not install is uninstalled as well.
    """

    kube: Kube
    helm: Helm
    release: str
    kept: LogStore | None
    say: Say
    adopt: bool = False
    clock: Clock = field(default_factory=Clock)

    def run(self, *, check: bool) -> dict[str, t.Any]:
        """Stop it, or in check mode return what would be stopped.

        Raises:
            AbsentError: there is no such run in the namespace. ConflictError: all there is of its name is not its own.
            StorageError: there is no room for the evidence; nothing was changed.
        """
        found, former, ledger = self._standing(), "", Ledger(self.kube, self.release)
        if found.foreign and not found.entries and not found.releases and not cancellation.pending(ledger):
            raise ConflictError(self._refusal(found.foreign[0]))
        if check:
            told = cancellation.pending(ledger)
        else:
            if self.kept and found.releases:
                demand_room(self.kept.directory, _OTHERWISE)
            lock = Lock(self.kube, self.release, clock=self.clock)
            former = lock.seize()
            try:
                told = cancellation.request(ledger, by=socket.gethostname(), at=iso(self.clock.now()))
                found = self._end(lock)
            finally:
                lock.release()
        for one in found.foreign:
            self.say(self._refusal(one))
        said = f"run {self.release}: {_told(found, former, told, check=check)}"
        self.say(said)
        changed = bool(found.entries or found.releases or former or told)
        return {"changed": changed, "msg": said, "stopped": found.steps, "uninstalled": found.releases}

    def _end(self, lock: Lock) -> Standing:
        """End whatever runs or is kept, and return it."""
        ended = Standing(entries=[], installed=[])
        # Again, as long as there is something: its controller may have written a word more before it missed the lock.
        while (found := self._standing()).entries or found.releases:
            _cancel(Ledger(self.kube, self.release), found.entries, self.clock)
            departures = {name: self._drain(name, self.kept) for name in found.releases if self.kept}
            for departure in departures.values():
                departure.catch_up()
                departure.write(partial(_write, departure))
            lock.ensure_held()
            for name in found.installed:
                self.say(f"uninstalling {name}")
                self.helm.uninstall(name)
            for name, left in found.forgotten.items():
                made = ", ".join(map(str, left))
                self.say(f"deleting {made}: made for release {name}, of which Helm has no record any more")
                delete_orphans(self.kube, left)
            for departure in departures.values():
                departure.complete()
                departure.write(partial(_write, departure), _GONE)
            ended = ended.and_then(found)
        # Also of a step that had not come to its installation.
        helm_releases = {
            self.release,
            *(entry.helm_release for entry in Ledger(self.kube, self.release).read().values()),
        }
        remove_all(self.kube, self.release, sorted(helm_releases), self.say)
        return ended.and_then(found)

    def _drain(self, name: str, kept: LogStore) -> Drain:
        """Return the pods of a Helm release, whose evidence is begun."""
        # A controller that no longer follows may have left a Helm at work.
        await_helm(partial(revisions, self.kube, name), clock=self.clock, say=self.say)
        selector, where = release_selector(name), kept.directory / name
        pods = listing.pods(self.kube, selector)
        self.say(f"keeping the evidence of {name}: {len(pods)} pods in {where}")
        log_store = replace(kept, directory=where / "logs")
        return Drain(self.kube, pods, [selector], log_store, clock=self.clock, say=self.say)

    def _standing(self) -> Standing:
        entries = Ledger(self.kube, self.release).read()
        names = sorted({self.release, *(entry.helm_release for entry in entries.values())})
        stored = [found[-1] for name in names if (found := revisions(self.kube, name))]
        if not entries and not stored:
            raise AbsentError(
                f"run {self.release}: nothing of that name in namespace {self.kube.namespace}. "
                "'status.yml' lists the runs."
            )
        ours = [one for one in stored if may_change(one, run=self.release, entries=entries, adopt=self.adopt)]
        installed, foreign = [one.name for one in ours], [one for one in stored if one not in ours]
        known = {one.name for one in stored}
        forgotten = {
            entry.helm_release: left
            for entry in entries.values()
            if (entry.unfinished or entry.outcome == "ready")
            and entry.helm_release not in known
            and (left := find_orphans(self.kube, entry.helm_release, entry.objects))
        }
        there = {*installed, *forgotten}
        standing = [
            entry for entry in entries.values() if entry.unfinished or (entry.kept and entry.helm_release in there)
        ]
        return Standing(entries=standing, installed=installed, forgotten=forgotten, foreign=foreign)

    def _refusal(self, found: Release) -> str:
        return refusal(found, run=self.release, namespace=self.kube.namespace)


def _write(departure: Drain) -> None:
    """Write how the pods are, beside their logs."""
    kept = departure.log_store
    pods = (kept.mask.document(without_noise(pod)) for _, pod in sorted(departure.pods.items()))
    write_atomically(kept.directory.parent / "pods.yaml", to_yaml_stream(pods), private=kept.private)


def _told(found: Standing, former: str, told: list[str], *, check: bool) -> str:
    if found.entries:
        return f"{'would stop' if check else 'stopped'} {', '.join(found.steps)}"
    said = ["nothing is running"]
    if found.releases:
        said.append(f"{'would uninstall' if check else 'uninstalled'} what was left of it")
    if former:
        said.append(f"{former} was between two steps and has lost the lock")
    if told:
        said.append(f"{', '.join(told)} {'would begin' if check else 'begins'} no further step")
    return "; ".join(said)


def _cancel(ledger: Ledger, entries: list[Entry], clock: Clock) -> None:
    """Write down who stopped the steps; the controller that follows one reads it when its workload goes away."""
    said = f"stopped from {socket.gethostname()}"
    for entry in entries:
        ledger.finish(replace(entry, outcome="cancelled", finished=iso(clock.now()), cause=said))
