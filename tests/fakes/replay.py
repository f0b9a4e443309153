"""Recorded changes of tests/fixtures/changes, driven through the reducer."""

from __future__ import annotations

import json
import typing as t
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import GracePeriods
from ansible_collections.mlops.eks.plugins.module_utils._follow import changes
from ansible_collections.mlops.eks.plugins.module_utils._follow.reducer import reduce
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Rules, State, start
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS, Kind

FIXTURES = Path(__file__).parents[1] / "fixtures" / "changes"
NAMES = sorted(path.stem for path in FIXTURES.glob("*.json"))
Document = dict[str, t.Any]
News = changes.WorkloadSeen | changes.WorkloadGone | changes.PodSeen | changes.PodGone | changes.EventSeen
# Short grace periods: the recordings end soon.
SHORT = GracePeriods(image=25.0, config=25.0, unschedulable=40.0, volume=30.0, failure=30.0, max_restarts=2)


@dataclass(frozen=True, kw_only=True)
class Recording:
    """One recorded life cycle; `started` is in seconds since the epoch."""

    name: str
    kind: Kind
    started: float
    changes: tuple[News, ...]

    def rules(self, **more: t.Any) -> Rules:
        return Rules(kind=self.kind, name=self.name, **{"started": self.started, **more})

    def until(self, seconds: float) -> tuple[News, ...]:
        """The changes of the first `seconds`."""
        return tuple(change for change in self.changes if change.at <= self.started + seconds)

    def left(self) -> list[Document]:
        """The pods that are left at the end."""
        pods = {change.entry["metadata"]["name"]: change for change in self.changes if isinstance(change, PODS)}
        return [change.entry for change in pods.values() if isinstance(change, changes.PodSeen)]


PODS = (changes.PodSeen, changes.PodGone)


def key(change: News) -> str:
    """Return the object that a change is about."""
    if isinstance(change, changes.EventSeen):
        return "events"
    if isinstance(change, changes.WorkloadSeen | changes.WorkloadGone):
        return "workload"
    return f"pod {change.entry['metadata']['name']}"


def streams(found: Iterable[News]) -> list[list[News]]:
    """The changes by object. The order within an object is the API server's and fixed."""
    streams: dict[str, list[News]] = {}
    for change in found:
        streams.setdefault(key(change), []).append(change)
    return list(streams.values())


def load(name: str) -> Recording:
    document = json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))
    kind = KINDS[document["api_version"], document["kind"]]
    found = tuple(_change(entry, document["started"]) for entry in document["changes"])
    return Recording(name=document["name"], kind=kind, started=document["started"], changes=found)


def _change(document: Document, started: float) -> News:
    at, entry = started + document["after"], document["entry"]
    match document["change"]:
        case "workload":
            return changes.WorkloadSeen(at=at, entry=entry)
        case "workload-gone":
            return changes.WorkloadGone(at=at)
        case "pod":
            return changes.PodSeen(at=at, entry=entry)
        case "pod-gone":
            return changes.PodGone(at=at, entry=entry)
        case "event":
            return changes.EventSeen(at=at, entry=entry)
    raise ValueError(document["change"])


def drive(
    found: Iterable[changes.Change],
    rules: Rules,
    state: State | None = None,
    *,
    more: Callable[[], bool] = lambda: False,
) -> tuple[State, list[str]]:
    """Return the state after all changes, and everything that was printed; `more` says whether the next waits."""
    said: list[str] = []
    for change in found:
        state = state or start(rules, change.at)
        state, lines = reduce(state, change, rules, more=more())
        said += lines
    return t.cast(State, state), said


def ticks(after: float, seconds: float, every: float = 1.0) -> Sequence[changes.Tick]:
    """Return ticks for `seconds`, starting at `after`."""
    return [changes.Tick(at=after + every * (index + 1)) for index in range(int(seconds / every))]


def last(recording: Recording) -> float:
    return recording.changes[-1].at
