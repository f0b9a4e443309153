from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._terraform import lock
from ansible_collections.mlops.eks.plugins.module_utils._terraform.diagnostics import gather
from ansible_collections.mlops.eks.plugins.module_utils._terraform.events import Event
from ansible_collections.mlops.eks.plugins.module_utils._terraform.lock import Holder

Recorded = Callable[[str], list[Event]]
HERE = Path("/data")


def held(events: list[Event]) -> Holder:
    found = lock.holder(gather(events, HERE, HERE))
    assert found is not None
    return found


def events(*written: tuple[str, str]) -> list[Event]:
    return [{"type": kind, "@timestamp": f"2026-11-21T15:25:{second}Z"} for kind, second in written]


def test_a_lock_says_who_since_when_and_how_to_get_rid_of_it(recorded: Recorded) -> None:
    found = held(recorded("plan-locked"))
    error = lock.refusal(found, subject="train: terraform plan", program=Path("/d/run"), now=found.created + 125)
    assert str(error).startswith("train: terraform plan: me@laptop has locked the state for apply since 20")
    assert ", 2 min 5 s ago; nothing was done." in str(error)
    assert f"'/d/run force-unlock {found.identifier}'" in str(error)


def test_a_lock_that_tells_nothing_is_no_holder(recorded: Recorded) -> None:
    assert lock.holder(gather(recorded("apply-failed"), HERE, HERE)) is None


def test_a_backend_that_shows_the_refused_lock_does_not_mislead() -> None:
    # Terraform 1.11's http backend, seen with a lock of somebody else's.
    detail = (
        "Error message: HTTP remote state already locked: ID=4711\nLock Info:\n  ID:        1\n  Who:       me@laptop\n"
    )
    event: Event = {"type": "diagnostic", "diagnostic": {"severity": "error", "summary": lock.LOCKED, "detail": detail}}
    found = held([event])
    assert (found.identifier, found.who) == ("4711", "")
    assert found.sentence(0) == "somebody has locked the state for something since ?"


# Of Terraform's S3 backend, seen when the lock was deleted between the two requests.
SLIPPED = (
    "Error message: operation error S3: PutObject, https response error StatusCode: 412, api error PreconditionFailed: "
    "At least one of the pre-conditions you specified did not hold\nunable to retrieve file from S3 bucket 'states' "
    "with key 'train.tfstate.tflock': operation error S3: GetObject, https response error StatusCode: 404, NoSuchKey: "
)


@pytest.mark.parametrize(
    ("summary", "detail", "released"),
    [
        (lock.LOCKED, SLIPPED, True),
        (lock.LOCKED, SLIPPED.partition("\n")[0], False),
        ("Error refreshing state", SLIPPED, False),
    ],
)
def test_a_lock_that_is_given_back_while_it_is_asked_for(summary: str, detail: str, released: bool) -> None:
    event: Event = {"type": "diagnostic", "diagnostic": {"severity": "error", "summary": summary, "detail": detail}}
    assert lock.was_released(gather([event], HERE, HERE)) is released


OURS = events(("version", "00.000000"), ("refresh_start", "02.000000"), ("apply_progress", "12.000000"))


@pytest.mark.parametrize(
    ("host", "created", "kept", "ours"),
    [
        (socket.gethostname(), "2026-11-21 15:25:01.506568737 +0000 UTC", OURS, True),
        ("elsewhere", "2026-11-21 15:25:01.506568737 +0000 UTC", OURS, False),
        # Taken before it began, and after it was last seen to have the lock.
        (socket.gethostname(), "2026-11-21 15:24:59 +0000 UTC", OURS, False),
        (socket.gethostname(), "2026-11-21 15:25:13 +0000 UTC", OURS, False),
        (socket.gethostname(), "", OURS, False),
        # It may have died while it waited for somebody else's.
        (socket.gethostname(), "2026-11-21 15:25:01 +0000 UTC", OURS[:1], False),
        (
            socket.gethostname(),
            "2026-11-21 15:25:01 +0000 UTC",
            events(("version", "00.000000"), ("state_lock_acquire", "02.000000"), ("diagnostic", "09.000000")),
            False,
        ),
        (socket.gethostname(), "2026-11-21 15:25:01 +0000 UTC", [], False),
    ],
)
def test_only_a_lock_that_must_be_ours_is(host: str, created: str, kept: list[Event], ours: bool) -> None:
    detail = f"Lock Info:\n  ID:        1\n  Who:       me@{host}\n  Created:   {created}\n  Info:      \n"
    event: Event = {"type": "diagnostic", "diagnostic": {"severity": "error", "summary": lock.LOCKED, "detail": detail}}
    assert lock.is_ours(held([event]), kept) is ours
