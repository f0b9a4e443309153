# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Skip, re-attach or install: decided from the ledger and Helm's releases, without I/O."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._helm.releases import Release, label
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Entry, Serving
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ownership import may_change, refusal
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task, stop_command

# `run` replaces this by what has changed, where the evidence of the last run is available.
CHANGED = "chart or values changed"
# Why a step runs for the first time.
NOT_INSTALLED = "not installed"
# How the last run of a step ended, for a sentence.
_PAST = {
    "ready": "became ready",
    "timed_out": "timed out",
    "cancelled": "was cancelled",
    "lost": "was lost",
    "running": "was left by its controller",
    "retrying": "was waiting for its next attempt",
}
Action = t.Literal["skip", "attach", "install", "upgrade"]


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What to do, and what must be uninstalled or rolled back first.

    `settled`: the ledger has this success already. `interrupted`: Helm died, and may have created only a part of the
    objects. `serving`: the revision of a server that was ready last.
    """

    action: Action
    why: str
    uninstall: bool = False
    rollback: int | None = None
    settled: bool = False
    interrupted: bool = False
    serving: Serving | None = None


def decide(task: Task, identity: str, entries: Mapping[str, Entry], revisions: Sequence[Release]) -> Decision:
    """Return what to do with a step whose identity is `identity`.

    Raises:
        ConflictError: the release is not the run's, or runs another step that has not ended.
    """
    decision = _decide(task, identity, entries, revisions)
    return replace(decision, serving=_serving(entries.get(task.step), revisions)) if task.keep else decision


def _serving(entry: Entry | None, revisions: Sequence[Release]) -> Serving | None:
    """Return the newest revision that is known to have been ready, if Helm still stores it."""
    stored = [one for one in reversed(revisions) if one.status in ("deployed", "superseded")]
    if entry and entry.good:
        stored = [one for one in stored if one.identity == label(entry.identity)]
    elif entry and (entry.serving is None or any(one.revision == entry.serving["revision"] for one in stored)):
        return entry.serving
    # An adopted release may serve clients, and Helm deletes its oldest revisions: fall back to the newest deployed one.
    return {"revision": stored[0].revision, "identity": stored[0].identity} if stored else None


def _decide(task: Task, identity: str, entries: Mapping[str, Entry], revisions: Sequence[Release]) -> Decision:
    entry = entries.get(task.step)
    latest = revisions[-1] if revisions else None
    same = latest is not None and latest.identity == label(identity)
    if entry and _is_current(task, identity, entry, entries):
        why = f"identical step {entry.outcome} at {entry.finished} in run {entry.run_id}"
        if not task.keep:
            # If it is still installed, its controller died, or `cleanup` kept it.
            return Decision(action="skip", why=why, uninstall=same and task.cleanup != "never")
        if same and latest and latest.status == "deployed":
            return Decision(action="attach", why=why, settled=True)
    if latest is None:
        return Decision(action="install", why=_why_install(task, identity, entry))
    _demand_ownership(task, latest, entries)
    ended = entry is not None and entry.outcome != "running" and not entry.good
    ours = same and (task.keep or not ended) and not task.force
    if ours and latest.status == "pending-install" and not task.keep:
        # Its workload may run, or have ended already.
        return Decision(action="attach", why="helm died after it had created it", interrupted=True)
    if latest.status == "failed" and task.keep and any(one.status == "deployed" for one in revisions):
        return Decision(action="upgrade", why="helm left it failed")
    if latest.pending or latest.status == "failed":
        return _recover(task, latest, revisions, _serving(entry, revisions) if task.keep else None)
    if ours:
        return Decision(action="attach", why="it is running with the same identity")
    if task.keep:
        return Decision(action="upgrade", why=f"its {CHANGED}")
    return _replace(task, latest, entries)


def _demand_ownership(task: Task, latest: Release, entries: Mapping[str, Entry]) -> None:
    if not may_change(latest, run=task.release, entries=entries, adopt=task.adopt):
        raise ConflictError(refusal(latest, run=task.release, namespace=task.namespace))


def _why_install(task: Task, identity: str, entry: Entry | None) -> str:
    """Return why a step that is not installed has to run."""
    if entry is None:
        return NOT_INSTALLED
    last = f"it {_PAST.get(entry.outcome, entry.outcome)} in run {entry.run_id}"
    if entry.identity != identity:
        return f"its {CHANGED} since {last}"
    if entry.good and not task.force:
        return f"a step before it ran since {last}"
    return last


def _is_current(task: Task, identity: str, entry: Entry, entries: Mapping[str, Entry]) -> bool:
    """Return whether the recorded success is still valid: same identity, and no earlier step has run since."""
    if task.force or not entry.good or entry.identity != identity or entry.finished is None:
        return False
    earlier = [entries[step] for step in task.after if step in entries]
    return all(other.finished is not None and other.order <= entry.order for other in earlier)


def _recover(task: Task, latest: Release, revisions: Sequence[Release], serving: Serving | None) -> Decision:
    """Roll back or uninstall what an interrupted or failed Helm operation left."""
    deployed = [release.revision for release in revisions if release.status in ("deployed", "superseded")]
    if latest.status in ("pending-upgrade", "pending-rollback") and deployed:
        action: Action = "upgrade" if task.keep else "install"
        revision = serving["revision"] if serving else deployed[-1]
        return Decision(action=action, why=f"helm left it {latest.status}", rollback=revision, uninstall=not task.keep)
    return Decision(action="install", why=f"helm left it {latest.status}", uninstall=True)


def _replace(task: Task, latest: Release, entries: Mapping[str, Entry]) -> Decision:
    """Replace an installed release that has ended; refuse to replace one that may run."""
    holder = entries.get(latest.step)
    running = holder is None or holder.outcome == "running"
    if running and not task.replace and not task.force:
        since = f" since {holder.started}" if holder else ""
        what = f"step {latest.step!r}{since}" if latest.step else "something not installed by this collection"
        raise ConflictError(
            f"release {task.helm_release} in namespace {task.namespace}: it runs {what}, not what this step asks for. "
            f"Stop it with '{stop_command(task.release, task.namespace)}', or set replace=true."
        )
    return Decision(action="install", why="what was installed has ended", uninstall=True)
