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
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError
from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_yaml_stream, write_atomically
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import Helm
from ansible_collections.mlops.eks.plugins.module_utils._helm.releases import revisions
from ansible_collections.mlops.eks.plugins.module_utils._kube import listing
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._step import orphans, word
from ansible_collections.mlops.eks.plugins.module_utils._step.departure import Departure, of_release
from ansible_collections.mlops.eks.plugins.module_utils._step.evidence import without_noise
from ansible_collections.mlops.eks.plugins.module_utils._step.keeping import Keeping
from ansible_collections.mlops.eks.plugins.module_utils._step.ledger import Entry, Ledger
from ansible_collections.mlops.eks.plugins.module_utils._step.lock import Lock
from ansible_collections.mlops.eks.plugins.module_utils._step.orphans import Orphan
from ansible_collections.mlops.eks.plugins.module_utils._step.remnants import await_helm
from ansible_collections.mlops.eks.plugins.module_utils._step.run_secrets import remove_all

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What there is to stop: entries of the ledger that are running or kept, and Helm releases that are installed.

    `forgotten` is what was made for releases whose Secrets somebody deleted.
    """

    entries: list[Entry]
    installed: list[str]
    forgotten: Mapping[str, list[Orphan]] = field(default_factory=dict)

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
        return Standing(entries=[*self.entries, *more.entries], installed=installed, forgotten=forgotten)


def stop(
    kube: Kube, helm: Helm, *, release: str, kept: Keeping, check: bool, say: Say, clock: Clock | None = None
) -> dict[str, t.Any]:
    """Stop everything installed for run `release`: its running step and what it keeps.

    The evidence is kept as `kept` says, in a directory per Helm release.

    The lock is taken from the controller that follows the run, if one does: it touches nothing more, reads in the
    ledger that its step was cancelled, and ends. One that is between two steps finds word there before the next.

    Raises:
        AbsentError: there is no such run in the namespace.
    """
    found, former, ledger, clock = _standing(kube, release), "", Ledger(kube, release), clock or Clock()
    if check:
        told = word.due(ledger)
    else:
        lock = Lock(kube, release, clock=clock)
        former = lock.seize()
        try:
            told = word.leave(ledger, by=socket.gethostname(), at=iso(clock.now()))
            found = _end(kube, helm, lock, release=release, kept=kept, clock=clock, say=say)
        finally:
            lock.release()
    said = f"run {release}: {_told(found, former, told, check=check)}"
    say(said)
    changed = bool(found.entries or found.releases or former or told)
    return {"changed": changed, "msg": said, "stopped": found.steps, "uninstalled": found.releases}


def _end(kube: Kube, helm: Helm, lock: Lock, *, release: str, kept: Keeping, clock: Clock, say: Say) -> Standing:
    """End whatever runs or is kept, and return it."""
    ended = Standing(entries=[], installed=[])
    # Again, as long as there is something: its controller may have written a word more before it missed the lock.
    while (found := _standing(kube, release)).entries or found.releases:
        _cancel(Ledger(kube, release), found.entries, clock)
        departures: dict[str, Departure] = {}
        for name in found.releases:
            # A controller that no longer follows may have left a Helm at work.
            await_helm(partial(revisions, kube, name), clock=clock, say=say)
            selector, where = of_release(name), kept.directory / name
            pods = listing.pods(kube, selector)
            say(f"keeping the evidence of {name}: {len(pods)} pods in {where}")
            keeping = replace(kept, directory=where / "logs")
            departures[name] = Departure(kube, pods, [selector], keeping, clock=clock, say=say)
            _write(departures[name], replace(kept, directory=where))
        lock.secure()
        for name in found.installed:
            say(f"uninstalling {name}")
            helm.uninstall(name)
        for name, left in found.forgotten.items():
            say(f"deleting {', '.join(map(str, left))}: made for release {name}, of which Helm has no record any more")
            orphans.delete(kube, left)
        for name, departure in departures.items():
            departure.complete()
            _write(departure, replace(kept, directory=kept.directory / name))
        ended = ended.and_then(found)
    # Also of a step that had not come to its installation.
    helm_releases = {release, *(entry.helm_release for entry in Ledger(kube, release).read().values())}
    remove_all(kube, release, sorted(helm_releases), say)
    return ended


def _write(departure: Departure, kept: Keeping) -> None:
    pods = (kept.mask.document(without_noise(pod)) for _, pod in sorted(departure.pods.items()))
    write_atomically(kept.directory / "pods.yaml", to_yaml_stream(pods), private=kept.private)


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


def _standing(kube: Kube, release: str) -> Standing:
    entries = Ledger(kube, release).read()
    names = sorted({release, *(entry.helm_release for entry in entries.values())})
    installed = [name for name in names if revisions(kube, name)]
    if not entries and not installed:
        raise AbsentError(
            f"run {release}: nothing of that name in namespace {kube.namespace}. 'status.yml' lists the runs."
        )
    forgotten = {
        entry.helm_release: left
        for entry in entries.values()
        if (entry.going or entry.outcome == "ready")
        and entry.helm_release not in installed
        and (left := orphans.find(kube, entry.helm_release, entry.objects))
    }
    there = {*installed, *forgotten}
    standing = [entry for entry in entries.values() if entry.going or (entry.kept and entry.helm_release in there)]
    return Standing(entries=standing, installed=installed, forgotten=forgotten)


def _cancel(ledger: Ledger, entries: list[Entry], clock: Clock) -> None:
    """Write down who stopped the steps; the controller that follows one reads it when its workload goes away."""
    said = f"stopped from {socket.gethostname()}"
    for entry in entries:
        ledger.finish(replace(entry, outcome="cancelled", finished=iso(clock.now()), cause=said))
