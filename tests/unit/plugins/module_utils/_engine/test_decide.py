"""Skip, re-attach, install, upgrade, recover, refuse: the whole table."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._engine.decide import Decision, decide
from ansible_collections.mlops.eks.plugins.module_utils._helm.releases import Release, label
from ansible_collections.mlops.eks.plugins.module_utils._ledger.ledger import Entry, Serving
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task

ME, OTHER = "a" * 64, "b" * 64


def task(**more: t.Any) -> Task:
    base = {
        "cluster": "local",
        "namespace": "team",
        "release": "digits",
        "step": "train",
        "chart": "c",
        "run_id": "r",
        "runs_dir": Path("runs"),
    }
    return Task(**{**base, **more})


def entry(
    outcome: str = "succeeded",
    *,
    step: str = "train",
    identity: str = ME,
    finished: str | None = "2026-11-21T09:05:00.000Z",
    **more: t.Any,
) -> Entry:
    base = {
        "run_id": "r0",
        "pipeline": "p",
        "helm_release": "digits",
        "controller": "h",
        "started": "2026-11-21T09:01:00.000Z",
    }
    return Entry(**{**base, "step": step, "identity": identity, "outcome": outcome, "finished": finished, **more})


def release(
    status: str = "deployed", *, identity: str = ME, step: str = "train", revision: int = 1, run: str = "digits"
) -> Release:
    found = label(identity)
    return Release(name="digits", status=status, revision=revision, identity=found, step=step, run=run)


def serving(identity: str, revision: int = 1) -> Serving:
    return {"revision": revision, "identity": label(identity)}


RUNNING = entry("running", finished=None)
RETRYING = entry("retrying", finished=None, tried=({"attempt": 1},))
# Name: task, ledger entries, revisions, what is decided.
TABLE: dict[str, tuple[dict[str, t.Any], list[Entry], list[Release], dict[str, t.Any]]] = {
    "first time": ({}, [], [], {"action": "install"}),
    "succeeded before": ({}, [entry()], [], {"action": "skip"}),
    "succeeded, uninstall was interrupted": ({}, [entry()], [release()], {"action": "skip", "uninstall": True}),
    "succeeded and left installed on purpose": ({"cleanup": "never"}, [entry()], [release()], {"action": "skip"}),
    "succeeded, another step runs now": (
        {},
        [entry(), entry("running", step="evaluate", finished=None)],
        [release(identity=OTHER, step="evaluate")],
        {"action": "skip"},
    ),
    "succeeded with other values": ({}, [entry(identity=OTHER)], [], {"action": "install"}),
    "failed before": ({}, [entry("failed")], [], {"action": "install"}),
    "timed out before": ({}, [entry("timed_out")], [], {"action": "install"}),
    "cancelled before": ({}, [entry("cancelled")], [], {"action": "install"}),
    "controller died before the install": ({}, [RUNNING], [], {"action": "install"}),
    "controller died while it ran": ({}, [RUNNING], [release()], {"action": "attach"}),
    "controller died between two attempts": ({}, [RETRYING], [], {"action": "install"}),
    "controller died before the failed attempt was gone": (
        {},
        [RETRYING],
        [release()],
        {"action": "install", "uninstall": True},
    ),
    "between two attempts, with other values now": (
        {},
        [entry("retrying", identity=OTHER, finished=None)],
        [release(identity=OTHER)],
        {"action": "install", "uninstall": True},
    ),
    "running, the ledger was lost, and adopted": ({"adopt": True}, [], [release()], {"action": "attach"}),
    "failed and left installed": ({}, [entry("failed")], [release()], {"action": "install", "uninstall": True}),
    "an earlier step has ended and was left installed": (
        {},
        [entry(step="data")],
        [release(identity=OTHER, step="data")],
        {"action": "install", "uninstall": True},
    ),
    "forced, succeeded before": ({"force": True}, [entry()], [], {"action": "install"}),
    "forced while it runs": ({"force": True}, [RUNNING], [release()], {"action": "install", "uninstall": True}),
    "replace what runs with other values": (
        {"replace": True},
        [entry("running", identity=OTHER, finished=None)],
        [release(identity=OTHER)],
        {"action": "install", "uninstall": True},
    ),
    "helm died installing": ({}, [RUNNING], [release("pending-install")], {"action": "attach", "interrupted": True}),
    "helm died installing, and it was cancelled": (
        {},
        [entry("cancelled")],
        [release("pending-install")],
        {"action": "install", "uninstall": True},
    ),
    "helm died installing something else": (
        {},
        [entry("running", identity=OTHER, finished=None)],
        [release("pending-install", identity=OTHER)],
        {"action": "install", "uninstall": True},
    ),
    "server, helm died installing": (
        {"keep": True},
        [RUNNING],
        [release("pending-install")],
        {"action": "install", "uninstall": True},
    ),
    "helm died uninstalling": ({}, [RUNNING], [release("uninstalling")], {"action": "install", "uninstall": True}),
    "helm failed": ({}, [entry("failed")], [release("failed")], {"action": "install", "uninstall": True}),
    "server, helm failed to upgrade it": (
        {"keep": True},
        [entry("running", finished=None)],
        [release(identity=OTHER), release("failed", revision=2)],
        {"action": "upgrade"},
    ),
    "server, first time": ({"keep": True}, [], [], {"action": "install"}),
    "server as it was left": (
        {"keep": True},
        [entry("ready")],
        [release()],
        {"action": "attach", "settled": True, "serving": serving(ME)},
    ),
    "server was uninstalled by hand": ({"keep": True}, [entry("ready")], [], {"action": "install"}),
    "server, controller died": ({"keep": True}, [RUNNING], [release()], {"action": "attach"}),
    "server with other values": (
        {"keep": True},
        [entry("ready", identity=OTHER)],
        [release(identity=OTHER)],
        {"action": "upgrade", "serving": serving(OTHER)},
    ),
    "server, forced": (
        {"keep": True, "force": True},
        [entry("ready")],
        [release()],
        {"action": "upgrade", "serving": serving(ME)},
    ),
    "server, the controller of an upgrade died": (
        {"keep": True},
        [entry("running", finished=None, serving=serving(OTHER))],
        [release("superseded", identity=OTHER), release(revision=2)],
        {"action": "attach", "serving": serving(OTHER)},
    ),
    "server, an upgrade failed and was rolled back, the same again": (
        {"keep": True},
        [entry("failed", serving=serving(OTHER, 3))],
        [release("superseded", identity=OTHER), release("superseded", revision=2), release(identity=OTHER, revision=3)],
        {"action": "upgrade", "serving": serving(OTHER, 3)},
    ),
    "server, an upgrade failed and was rolled back, as before": (
        {"keep": True},
        [entry("failed", identity=OTHER, serving=serving(ME, 3))],
        [release("superseded"), release("superseded", identity=OTHER, revision=2), release(revision=3)],
        {"action": "attach", "serving": serving(ME, 3)},
    ),
    "server, helm died upgrading what was never ready": (
        {"keep": True},
        [entry("running", finished=None, serving=serving(OTHER))],
        [
            release("superseded", identity=OTHER),
            release("deployed", identity="c" * 64, revision=2),
            release("pending-upgrade", revision=3),
        ],
        {"action": "upgrade", "rollback": 1, "serving": serving(OTHER)},
    ),
    "server, helm has forgotten the revision that was ready": (
        {"keep": True},
        [entry("failed", serving=serving("c" * 64, 1))],
        [release("deployed", identity=OTHER, revision=11)],
        {"action": "upgrade", "serving": serving(OTHER, 11)},
    ),
    "server, adopted": (
        {"keep": True, "adopt": True},
        [],
        [release(identity="", step="", run="")],
        {"action": "upgrade", "serving": serving("")},
    ),
    "server, helm died upgrading": (
        {"keep": True},
        [entry("ready", identity=OTHER)],
        [
            release("superseded", identity=OTHER),
            release("deployed", identity=OTHER, revision=2),
            release("pending-upgrade", revision=3),
        ],
        {"action": "upgrade", "rollback": 2, "serving": serving(OTHER, 2)},
    ),
    "server, helm died rolling back": (
        {"keep": True},
        [RUNNING],
        [release("superseded", revision=1), release("pending-rollback", revision=2)],
        {"action": "upgrade", "rollback": 1},
    ),
    "server, helm died at the first upgrade of nothing": (
        {"keep": True},
        [RUNNING],
        [release("pending-upgrade")],
        {"action": "install", "uninstall": True},
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_table(name: str) -> None:
    more, entries, revisions, expected = TABLE[name]
    found = decide(task(**more), ME, {one.step: one for one in entries}, revisions)
    assert found == Decision(**{"why": found.why, **expected})
    assert found.why


@pytest.mark.parametrize(
    ("holder", "words"),
    [
        (entry("running", identity=OTHER, step="train", finished=None), "step 'train' since 2026-11-21T09:01:00.000Z"),
        (entry("running", identity=OTHER, step="data", finished=None), "step 'data' since 2026-11-21T09:01:00.000Z"),
    ],
)
def test_a_running_step_with_other_values_is_refused(holder: Entry, words: str) -> None:
    with pytest.raises(ConflictError) as caught:
        decide(task(), ME, {holder.step: holder}, [release(identity=OTHER, step=holder.step)])
    message = str(caught.value)
    assert words in message
    assert "release digits in namespace team" in message
    assert "stop.yml -e release=digits" in message
    assert "replace=true" in message


STATUSES = ("deployed", "failed", "pending-install", "pending-upgrade", "pending-rollback", "uninstalling", "unknown")


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("more", [{}, {"keep": True}, {"force": True}, {"replace": True}])
@pytest.mark.parametrize(
    ("run", "entries", "words"),
    [
        ("", [], "this collection did not install it"),
        # The ledger remembers a release that somebody has replaced by one of the same name since.
        ("", [RUNNING], "this collection did not install it"),
        ("digits", [], "the ledger mlops-eks-digits does not know it"),
        ("digits-a", [RUNNING], "it belongs to step 'train' of run 'digits-a'"),
    ],
)
def test_a_release_that_is_not_the_runs_is_refused_whatever_its_status(
    status: str, more: dict[str, t.Any], run: str, entries: list[Entry], words: str
) -> None:
    foreign = release(status, identity=ME if run else "", step="train" if run else "", run=run)
    with pytest.raises(ConflictError) as caught:
        decide(task(**more), ME, {one.step: one for one in entries}, [foreign])
    assert words in str(caught.value)
    assert "release digits in namespace team" in str(caught.value)
    assert "nothing was changed" in str(caught.value)
    assert ("adopt=true" in str(caught.value)) == (run != "digits-a")


def test_a_release_of_another_run_cannot_be_adopted() -> None:
    with pytest.raises(ConflictError, match="run 'digits-a'"):
        decide(task(adopt=True), ME, {}, [release(run="digits-a")])


@pytest.mark.parametrize(
    ("earlier", "action"),
    [
        (None, "skip"),
        (entry(step="data", order=3), "skip"),
        (entry(step="data", order=5), "install"),
        # The clock of another controller may be an hour ahead: only the order counts.
        (entry(step="data", order=3, finished="2026-11-21T10:04:00.000Z"), "skip"),
        (entry(step="data", order=5, finished="2026-11-21T08:04:00.000Z"), "install"),
        (entry("running", step="data", finished=None), "install"),
    ],
)
def test_a_success_is_stale_when_an_earlier_step_is_newer(earlier: Entry | None, action: str) -> None:
    entries = {"train": entry(order=4)} | ({earlier.step: earlier} if earlier else {})
    assert decide(task(after=("data", "unknown")), ME, entries, []).action == action


def test_a_newer_step_that_is_not_before_this_one_does_not_count() -> None:
    entries = {"train": entry(order=4), "evaluate": entry(step="evaluate", order=5)}
    assert decide(task(after=("data",)), ME, entries, []).action == "skip"


def test_the_reason_to_skip_names_the_run() -> None:
    assert (
        decide(task(), ME, {"train": entry()}, []).why
        == "identical step succeeded at 2026-11-21T09:05:00.000Z in run r0"
    )
