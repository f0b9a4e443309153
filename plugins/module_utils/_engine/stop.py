# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Stop a run: take its lock, so that no other controller changes it; then ledger, evidence and uninstall."""

from __future__ import annotations

import socket
import typing as t
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_yaml_stream, write_atomically
from ansible_collections.mlops.eks.plugins.module_utils._engine.evidence import require_room, without_noise
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
_WHEN_GONE = "it is uninstalled, and how its pods ended is written when there is room"


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """What there is to stop: ledger entries of steps that run or are kept, and installed Helm releases.

    `orphans` are the objects of releases of which Helm has no record, `foreign` are releases of the same names that
    are not the run's.
    """

    entries: list[Entry]
    installed: list[str]
    orphans: Mapping[str, list[Orphan]] = field(default_factory=dict)
    foreign: list[Release] = field(default_factory=list)

    @property
    def releases(self) -> list[str]:
        """The names of the releases to remove, with or without a record in Helm."""
        return sorted({*self.installed, *self.orphans})

    @property
    def steps(self) -> list[str]:
        """The names of the steps."""
        return sorted({entry.step for entry in self.entries})

    def plus(self, more: Inventory) -> Inventory:
        """Return both together."""
        installed = sorted({*self.installed, *more.installed})
        orphans = {**self.orphans, **more.orphans}
        entries = [*self.entries, *more.entries]
        return Inventory(entries=entries, installed=installed, orphans=orphans, foreign=more.foreign)


@dataclass(frozen=True, kw_only=True)
class Stop:
    """The stop of run `release`: its running step and the steps it keeps are cancelled and uninstalled.

    `archive` says where the evidence goes, a directory per Helm release; `None` writes none.

    The lock is taken from the controller that follows the run: that controller changes nothing any more, reads in the
    ledger that its step was cancelled, and ends. A controller between two steps finds a cancellation marker.

    With `adopt`, a Helm release of its name that the run did not install is uninstalled as well.
    """

    kube: Kube
    helm: Helm
    release: str
    archive: LogStore | None
    say: Say
    adopt: bool = False
    clock: Clock = field(default_factory=Clock)

    def run(self, *, check: bool) -> dict[str, t.Any]:
        """Stop the run, or in check mode return what would be stopped.

        Raises:
            AbsentError: there is no such run in the namespace. ConflictError: the only release of its name is not
            its own. StorageError: there is no room for the evidence; nothing was changed.
        """
        found, holder, ledger = self._inventory(), "", Ledger(self.kube, self.release)
        if found.foreign and not found.entries and not found.releases and not cancellation.pending(ledger):
            raise ConflictError(self._refusal(found.foreign[0]))
        if check:
            marked = cancellation.pending(ledger)
        else:
            if self.archive and found.releases:
                require_room(self.archive.directory, _OTHERWISE)
            lock = Lock(self.kube, self.release, clock=self.clock)
            holder = lock.seize()
            try:
                marked = cancellation.request(ledger, by=socket.gethostname(), at=iso(self.clock.now()))
                found = self._end(lock)
            finally:
                lock.release()
        for one in found.foreign:
            self.say(self._refusal(one))
        message = f"run {self.release}: {_message(found, holder, marked, check=check)}"
        self.say(message)
        changed = bool(found.entries or found.releases or holder or marked)
        return {"changed": changed, "msg": message, "stopped": found.steps, "uninstalled": found.releases}

    def _end(self, lock: Lock) -> Inventory:
        """Cancel and uninstall everything of the run, and return it."""
        ended = Inventory(entries=[], installed=[])
        # Repeated until nothing is left: the controller may have written once more before it noticed the lost lock.
        while (found := self._inventory()).entries or found.releases:
            _cancel(Ledger(self.kube, self.release), found.entries, self.clock)
            drains = {name: self._drain(name, self.archive) for name in found.releases if self.archive}
            for drain in drains.values():
                drain.catch_up()
                drain.write(partial(_write, drain))
            lock.ensure_held()
            for name in found.installed:
                self.say(f"uninstalling {name}")
                self.helm.uninstall(name)
            for name, left in found.orphans.items():
                made = ", ".join(map(str, left))
                self.say(f"deleting {made}: made for release {name}, of which Helm has no record")
                delete_orphans(self.kube, left)
            for drain in drains.values():
                drain.complete()
                drain.write(partial(_write, drain), _WHEN_GONE)
            ended = ended.plus(found)
        # Also for a step that has made its Secrets but is not installed.
        helm_releases = {
            self.release,
            *(entry.helm_release for entry in Ledger(self.kube, self.release).read().values()),
        }
        remove_all(self.kube, self.release, sorted(helm_releases), self.say)
        return ended.plus(found)

    def _drain(self, name: str, archive: LogStore) -> Drain:
        """Return a drain of the pods of a Helm release."""
        # The Helm process of another controller may still work.
        await_helm(partial(revisions, self.kube, name), clock=self.clock, say=self.say)
        selector, where = release_selector(name), archive.directory / name
        pods = listing.pods(self.kube, selector)
        self.say(f"keeping the evidence of {name}: {len(pods)} pods in {where}")
        log_store = replace(archive, directory=where / "logs")
        return Drain(self.kube, pods, [selector], log_store, clock=self.clock, say=self.say)

    def _inventory(self) -> Inventory:
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
        orphans = {
            entry.helm_release: left
            for entry in entries.values()
            if (entry.unfinished or entry.outcome == "ready")
            and entry.helm_release not in known
            and (left := find_orphans(self.kube, entry.helm_release, entry.objects))
        }
        there = {*installed, *orphans}
        standing = [
            entry for entry in entries.values() if entry.unfinished or (entry.kept and entry.helm_release in there)
        ]
        return Inventory(entries=standing, installed=installed, orphans=orphans, foreign=foreign)

    def _refusal(self, found: Release) -> str:
        return refusal(found, run=self.release, namespace=self.kube.namespace)


def _write(drain: Drain) -> None:
    """Write the last view of the pods beside their logs."""
    archive = drain.log_store
    pods = (archive.mask.document(without_noise(pod)) for _, pod in sorted(drain.pods.items()))
    write_atomically(archive.directory.parent / "pods.yaml", to_yaml_stream(pods), private=archive.private)


def _message(found: Inventory, holder: str, marked: list[str], *, check: bool) -> str:
    if found.entries:
        return f"{'would stop' if check else 'stopped'} {', '.join(found.steps)}"
    parts = ["nothing is running"]
    if found.releases:
        parts.append(f"{'would uninstall' if check else 'uninstalled'} what was left of it")
    if holder:
        parts.append(f"{holder} was between two steps and has lost the lock")
    if marked:
        parts.append(f"{', '.join(marked)} {'would begin' if check else 'begins'} no further step")
    return "; ".join(parts)


def _cancel(ledger: Ledger, entries: list[Entry], clock: Clock) -> None:
    """Write to the ledger who stopped the steps; their controller reads it when the workload is gone."""
    cause = f"stopped from {socket.gethostname()}"
    for entry in entries:
        ledger.finish(replace(entry, outcome="cancelled", finished=iso(clock.now()), cause=cause))
