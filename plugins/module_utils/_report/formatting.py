# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Format durations, times, amounts and outcomes for the report. Pure."""

from __future__ import annotations

import math
import signal
import typing as t
from collections import Counter
from datetime import datetime

from ansible_collections.mlops.eks.plugins.module_utils._core.step_record import SEVERITY
from ansible_collections.mlops.eks.plugins.module_utils._report.model import (
    GOOD,
    Cluster,
    Pod,
    Progress,
    Run,
    Step,
)
from ansible_collections.mlops.eks.plugins.module_utils._report.timeline import Row, elapsed

OUTCOMES = {
    "succeeded": "Succeeded",
    "ready": "Ready",
    "skipped": "Skipped",
    "failed": "Failed",
    "timed_out": "Timed out",
    "cancelled": "Cancelled",
    "lost": "Lost",
    "running": "Unfinished",
}
"""A record that ends with `running` has no recorded end: the report calls the step unfinished."""

PHASES = {
    "queued": "waiting to be scheduled",
    "pulling": "images are pulled, volumes mounted",
    "running": "the program runs",
    "finishing": "evidence is archived, the release removed",
}

ICONS = {
    "succeeded": "check",
    "ready": "check",
    "skipped": "skip",
    "failed": "cross",
    "timed_out": "clock",
    "cancelled": "stop",
    "lost": "question",
    "running": "dots",
}

VERBS = {
    "failed": "failed",
    "timed_out": "timed out",
    "lost": "was lost",
    "cancelled": "was cancelled",
    "running": "is unfinished",
}

_GAP = "\u00a0"
_GIB = 2**30
_IN_BYTES = ("memory", "ephemeral-storage", "hugepages-")
_LONG_IN_SECONDS = 36_000


class Amount(t.NamedTuple):
    """A number, ready to print, and its unit."""

    number: str
    unit: str


def duration(seconds: float | None) -> str:
    """Return a duration in seconds as `0.42 s`, `8.6 s`, `3 min 12 s` or `2 h 05 min 12 s`."""
    if seconds is None:
        return "–"
    if seconds < 59.95:
        return f"{seconds:.2f}{_GAP}s" if seconds < 0.995 else f"{seconds:.1f}{_GAP}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    text = f"{minutes:02d} min {rest:02d} s" if days or hours else f"{minutes} min {rest:02d} s"
    text = f"{hours} h {text}" if days or hours else text
    return (f"{days} d {text}" if days else text).replace(" ", _GAP)


def tick_label(seconds: float) -> str:
    """Return the label of an axis tick: `0`, `0.5 s`, `90 s`, `15 min`, `6 h`."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:.0f} {unit}"
    if seconds > 60:
        return f"{seconds // 60:.0f}:{seconds % 60:02.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
    return f"{seconds:g} s" if seconds else "0"


def date(moment: datetime | None) -> str:
    """Return `21 Nov 2026, 09:15:02 UTC`; the name of the month does not depend on the locale."""
    if moment is None:
        return "unknown"
    months = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    return f"{moment.day} {months[moment.month - 1]} {moment.year}, {moment:%H:%M:%S} UTC"


def reserved(resource: str, seconds: float) -> Amount:
    """Return requested amount × time: core-seconds, GiB-seconds, GPU-hours."""
    if resource == "cpu" or resource.startswith(_IN_BYTES):
        size, unit = (1, "core") if resource == "cpu" else (_GIB, "GiB")
        if seconds / size >= _LONG_IN_SECONDS:
            return Amount(_plain(seconds / size / 3600), f"{unit}-hours")
        return Amount(_plain(seconds / size), f"{unit}-seconds")
    return Amount(_plain(seconds / 3600), f"{device(resource)}-hours")


def requested(resource: str, amount: float) -> Amount:
    """Return a requested amount: cores, bytes as MiB or GiB, or a count of devices."""
    if resource == "cpu":
        return Amount(_short(amount), "core" if amount == 1 else "cores")
    if resource.startswith(_IN_BYTES):
        return Amount(_short(amount / 2**20), "MiB") if amount < _GIB else Amount(_short(amount / _GIB), "GiB")
    return Amount(_short(amount), device(resource))


def device(resource: str) -> str:
    """Return the short name of a resource: `nvidia.com/gpu` is `GPU`, `vpc.amazonaws.com/efa` is `EFA`."""
    name = resource.rpartition("/")[2]
    return name.upper() if len(name) <= 3 else name.capitalize()


def exit_code(code: int | None) -> str:
    """Return an exit code with its signal: `exit 137 (SIGKILL)`."""
    if code is None:
        return ""
    names = {one.value: one.name for one in signal.Signals}
    return f"exit {code} ({names[code - 128]})" if code - 128 in names else f"exit {code}"


def summary(run: Run) -> str:
    """Return the run in one sentence."""
    steps = [(cluster, step) for cluster in run.clusters for step in cluster.steps]
    if not steps:
        return "No step was recorded yet."
    bad = [(cluster, step) for cluster, step in steps if step.outcome not in GOOD]
    if len(bad) == 1:
        return f"Step {bad[0][1].name} {VERBS[bad[0][1].outcome]} on {bad[0][0].name}{_why(bad[0][1])}."
    if bad:
        counts = Counter(step.outcome for _cluster, step in bad)
        parts = [f"{count} {_plural(VERBS[name], count)}" for name, count in sorted(counts.items(), key=_by_severity)]
        return f"Of {len(steps)} steps, {' and '.join(parts)}."
    done = f"All {len(steps)} steps ended well" if len(steps) > 1 else f"Step {steps[0][1].name} ended well"
    skipped = sum(step.outcome == "skipped" for _cluster, step in steps)
    serving = dict.fromkeys(step.name for _cluster, step in steps if step.outcome == "ready")
    before = f", {skipped} of them in an earlier run" if skipped else ""
    kept = f"; {' and '.join(serving)} stays installed and ready" if serving else ""
    return f"{done}{before}{kept}."


def cluster_summary(cluster: Cluster) -> str:
    """Return one line for a cluster: number of recorded steps, release, namespace, duration."""
    there = len(cluster.steps)
    steps = f"{there} of {cluster.total} steps" if there < cluster.total else count(there, "step")
    release = f" of release {cluster.release}" if cluster.release else ""
    namespace = f" in namespace {cluster.namespace}" if cluster.namespace else ""
    seconds = elapsed(cluster.started, cluster.finished)
    return f"{steps}{release}{namespace}{f', {duration(seconds)}' if seconds is not None else ''}"


def phases_text(row: Row) -> str:
    """Return the phases of a step as text for screen readers."""
    return ", ".join(f"{bar.name} {duration(bar.seconds)}" for bar in row.phases) or duration(row.whole.seconds)


def requests_text(pod: Pod) -> str:
    """Return the resource requests of a pod."""
    return " · ".join(" ".join(requested(name, number)) for name, number in pod.requests.items())


def progress_text(progress: Progress) -> str:
    """Return `42 % (420 of 1,000)` with thin spaces, or `420 done` without a total."""
    if not progress.total:
        return f"{_short(progress.done)} done"
    share = math.floor(100 * min(1.0, progress.done / progress.total))
    return f"{share}{_GAP}% ({_short(progress.done)} of {_short(progress.total)})"


def count(number: int, noun: str) -> str:
    """Return `1 line`, `2 lines`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _why(step: Step) -> str:
    return f": {step.cause.reason}" if step.cause and step.cause.reason else ""


def _by_severity(item: tuple[str, int]) -> int:
    return -SEVERITY.index(item[0])


def _plural(verb: str, number: int) -> str:
    return verb if number == 1 else verb.replace("was ", "were ").replace("is ", "are ")


def _plain(number: float) -> str:
    """Return a number with two decimals below 10, else one, and thin spaces between thousands.

    A number that would round to 0 keeps one significant digit.
    """
    if 0 < number < 0.005:
        return f"{number:.1g}"
    return f"{number:,.{2 if number < 10 else 1}f}".replace(",", "\u2009")


def _short(number: float) -> str:
    """Return a number with at most two decimals and no trailing zeros."""
    return f"{number:,.2f}".rstrip("0").rstrip(".").replace(",", "\u2009")
