# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Pods that are evicted, in the way, or ended while they have something to save; and a Helm that forgets a release."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

from fault import Episode, Fault, Setting, repeated
from plays import Play, until
from samples import IMAGE, JOB, Json, consecutive, gated, job, saving, ticks
from shown import lines
from space import Space, fresh

# Seconds in which a play must have ended, and in which a trainer saves, of twice as many that its pod has. It is longer
# than the two minutes for which pods used to be waited for.
_LIMIT, _SAVING = 600.0, 150
_SAVED = "caught SIGTERM, checkpoint saved"
_ENDED = r"(failed|timed_out|succeeded|lost|cancelled) after|attempt \d+ begins"


def _logs(space: Space, part: str = "") -> list[list[str]]:
    """Return the archived logs of the step, or of one of its attempts."""
    files = sorted((space.evidence("train") / part / "logs").glob("*.log"))
    return [file.read_text(encoding="utf-8").splitlines() for file in files]


def _left(space: Space) -> list[str]:
    """Return what is wrong with what is left of the run."""
    scripts = [name for name in space.names("configmaps") if name.startswith("data-process")]
    left = [*space.releases(), *space.names("jobs"), *scripts, *space.names("leases")]
    return [f"left: {left}"] if left else []


def _outcome(space: Space, wanted: str) -> list[str]:
    entry, record = space.ledger()["train"], space.record("train")
    found = (entry["outcome"], bool(entry["finished"]), record["outcome"])
    return [] if found == (wanted, True, wanted) else [f"ledger and record say {found}: {record['cause']}"]


def _saved(logs: list[list[str]]) -> list[str]:
    whole = logs and all(consecutive(ticks(log)) and _SAVED in log for log in logs)
    return [] if whole else [f"the logs end {[log[-3:] for log in logs]}"]


def _episode(space: Space, play: Play, seconds: float, wrong: list[str], pattern: str, *parts: str) -> Episode:
    """Return what came of a fault; shown were the lines in which `pattern` is found."""
    found = [log for part in parts or ("",) for log in _logs(space, part)]
    saved = sum(_SAVED in log for log in found)
    kept = (
        f"{sum(map(len, found))} lines in {len(found)} logs, {saved} checkpoints told of, {len(space.pods_ever())} pods"
    )
    return Episode(seconds=seconds, wrong=wrong, said=lines(play.text, pattern), kept=kept)


def _forget(space: Space) -> None:
    space.kubectl("delete", "secrets", "-l", "owner=helm")


def _evicted(setting: Setting) -> Iterator[Episode]:
    with fresh(setting.kubeconfig, setting.directory) as space:
        play = space.start("train", pipeline=space.pipeline(train=gated()))
        first = until(space.waiting_at_gate, "a pod is at work", seconds=_LIMIT)
        space.evict(first)
        at = time.monotonic()
        until(lambda: space.waiting_at_gate(but=[first]), "another has taken its place", seconds=_LIMIT)
        took = time.monotonic() - at
        space.open_gate()
        play.end(seconds=_LIMIT)
        wrong = [*_outcome(space, "succeeded"), *_left(space)]
        if (found := len(space.pods_ever())) != 2:
            wrong.append(f"{found} pods were created")
        yield _episode(space, play, took, wrong, f"{_ENDED}|restart")


def _retried(setting: Setting) -> Iterator[Episode]:
    with fresh(setting.kubeconfig, setting.directory) as space:
        step = {"name": "train", "chart": JOB, "recipe": "train.yaml", "no_output_timeout": 15}
        step |= {"retries": 1, "retry_on": ["any"], "retry_backoff": 1}
        recipe = saving(seconds=10, words=10)
        play = space.start("train", pipeline=space.pipeline_of("run", [step], {"train": recipe}))
        play.shows("attempt 1 of 2 timed_out after", seconds=_LIMIT)
        at = time.monotonic()
        play.shows("attempt 2 begins", seconds=_LIMIT)
        took = time.monotonic() - at
        play.end(rc=None, seconds=_LIMIT)
        logs = [*_logs(space, "attempt-1"), *_logs(space)]
        wrong = [*_outcome(space, "timed_out"), *_left(space), *_saved(logs)]
        wrong += [f"{len(logs)} logs"] if len(logs) != 2 else []
        yield _episode(space, play, took, wrong, _ENDED, "attempt-1", "")


def _long(setting: Setting) -> Iterator[Episode]:
    with fresh(setting.kubeconfig, setting.directory) as space:
        recipe = saving(seconds=_SAVING) | {"termination_grace_period_seconds": 2 * _SAVING}
        play = space.start("train", pipeline=space.pipeline(train=recipe))
        play.shows("tick 3", seconds=_LIMIT)
        space.kubectl("delete", "jobs", "--all", "--wait=false")
        at = time.monotonic()
        play.end(rc=None, seconds=_LIMIT)
        took = time.monotonic() - at
        yield _episode(space, play, took, [*_outcome(space, "lost"), *_left(space), *_saved(_logs(space))], "deleted")


def _in_the_way(setting: Setting) -> Iterator[Episode]:
    with fresh(setting.kubeconfig, setting.directory) as space:
        meta: Json = {"name": "stuck", "labels": {"batch.kubernetes.io/job-name": "data-process-run"}}
        meta["finalizers"] = ["example.com/stays"]
        spec = {"containers": [{"name": "main", "image": IMAGE, "command": ["true"]}], "restartPolicy": "Never"}
        space.apply({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
        space.kubectl("delete", "pod", "stuck", "--wait=false", "--grace-period=1")
        step = {"name": "train", "chart": JOB, "recipe": "train.yaml", "leftover_grace": 10}
        play = space.start("train", pipeline=space.pipeline_of("run", [step], {"train": job("echo tick 1")}))
        try:
            play.end(rc=None, seconds=_LIMIT)
            took = time.monotonic() - play.started
            wrong = [*_outcome(space, "failed"), *_left(space)]
            cause = space.record("train")["cause"]
            if cause["reason"] != "StuckTerminating" or "example.com/stays" not in cause["remedy"]:
                wrong.append(f"the cause is {cause}")
        finally:
            let_go = json.dumps({"metadata": {"finalizers": None}})
            space.kubectl("patch", "pod", "stuck", "--type=merge", "-p", let_go)
        # The same command goes on when it is gone.
        until(lambda: not space.names("pods"), "the pod is gone", seconds=_LIMIT)
        space.play("train", pipeline=space.directory / "run")
        yield _episode(space, play, took, [*wrong, *_outcome(space, "succeeded")], "earlier attempt|failed after")


def _forgotten(setting: Setting) -> Iterator[Episode]:
    with fresh(setting.kubeconfig, setting.directory) as space:
        play = space.start("train", pipeline=space.pipeline(train=gated()))
        play.shows("tick 3", seconds=_LIMIT)
        _forget(space)
        at = time.monotonic()
        space.open_gate()
        play.end(seconds=_LIMIT)
        took = time.monotonic() - at
        wrong = [*_outcome(space, "succeeded"), *_left(space)]
        yield _episode(space, play, took, wrong, "Helm has no record")


def _forgotten_and_killed(setting: Setting) -> Iterator[Episode]:
    with fresh(setting.kubeconfig, setting.directory) as space:
        pipeline = space.pipeline(train=gated())
        first = space.start("train", pipeline=pipeline)
        first.shows("tick 3", seconds=_LIMIT)
        first.kill()
        _forget(space)
        at = time.monotonic()
        play = space.start("train", pipeline=pipeline)
        play.shows("re-attached", seconds=_LIMIT)
        took = time.monotonic() - at
        space.open_gate()
        play.end(seconds=_LIMIT)
        wrong = [*_outcome(space, "succeeded"), *_left(space)]
        wrong += [f"{found} pods were created"] if (found := len(space.pods_ever())) != 1 else []
        yield _episode(space, play, took, wrong, "re-attached|Helm has no record")


def _forgotten_and_stopped(setting: Setting) -> Iterator[Episode]:
    with fresh(setting.kubeconfig, setting.directory) as space:
        play = space.start("train", pipeline=space.pipeline(train=saving()))
        play.shows("tick 3", seconds=_LIMIT)
        _forget(space)
        at = time.monotonic()
        space.play("stop", release="run")
        play.end(rc=None, seconds=_LIMIT)
        took = time.monotonic() - at
        wrong = [*_outcome(space, "cancelled"), *_left(space), *_saved(_logs(space))]
        yield _episode(space, play, took, wrong, "cancelled after")


def faults() -> list[Fault]:
    """Return every fault of this kind."""
    helm = "a Helm release is forgotten"
    return [
        repeated("evicted", how="a Job's pod is evicted through the API, with backoff_limit: 0", inject=_evicted),
        repeated(
            "timed-out-and-retried",
            how="no_output_timeout: 15 and retries: 1, for a trainer that saves for 10 s when it is ended",
            inject=_retried,
        ),
        repeated(
            "long-save",
            how=f"the workload is deleted under a trainer that saves for {_SAVING} s of its {2 * _SAVING}",
            inject=_long,
        ),
        repeated(
            "in-the-way",
            group="a pod of an earlier attempt stays",
            how="a finalizer keeps it; leftover_grace: 10",
            inject=_in_the_way,
        ),
        repeated("forgotten", group=helm, how="its Secrets are deleted while the step runs", inject=_forgotten),
        repeated(
            "forgotten-and-killed",
            group=f"{helm}, and its controller is killed",
            how="its Secrets are deleted, SIGKILL to all processes, the same command again",
            inject=_forgotten_and_killed,
        ),
        repeated(
            "forgotten-and-stopped",
            group=f"{helm}, and its run is stopped",
            how="its Secrets are deleted, then stop.yml",
            inject=_forgotten_and_stopped,
        ),
    ]
