from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._terraform.events import Event, created, parse, unfinished
from ansible_collections.mlops.eks.plugins.module_utils._terraform.progress import Progress

Recorded = Callable[[str], list[Event]]


def told(progress: Progress, events: Iterable[Event]) -> list[str]:
    """Feed events at the times they were written."""
    return [line for event in events for line in progress.feed(event, from_iso(event["@timestamp"]))]


def clipped(lines: Iterable[str]) -> list[str]:
    """Lines without identifiers, which are new in each recording."""
    return [line.split(" (")[0] for line in lines]


def test_an_apply_is_one_line_per_operation_with_its_count(recorded: Recorded) -> None:
    progress = Progress(heartbeat=30, total=5)
    lines = told(progress, recorded("apply"))
    assert clipped(lines[:2]) == [
        "[1/5] destroyed terraform_data.cluster in 0 s",
        "[2/5] created terraform_data.cluster",
    ]
    # Two that do not depend on each other, in either order.
    assert [line.split("]")[0] for line in lines[2:]] == ["[3/5", "[4/5"]
    assert {line.split()[2] for line in lines[2:]} == {"terraform_data.nodes[0]", "terraform_data.nodes[1]"}
    assert progress.done == 4
    assert progress.problems == []


def test_a_destroy_counts_down_too(recorded: Recorded) -> None:
    lines = told(Progress(heartbeat=30, total=4), recorded("destroy"))
    assert [line.split("]")[0] for line in lines] == ["[1/4", "[2/4", "[3/4", "[4/4"]
    assert all(" destroyed terraform_data." in line for line in lines)


def test_a_failure_is_a_line_and_a_problem(recorded: Recorded) -> None:
    progress = Progress(heartbeat=30, total=4)
    lines = told(progress, recorded("apply-failed"))
    assert lines[-1] == "[1/4] FAILED creating terraform_data.cluster after 0 s"
    assert [event["diagnostic"]["summary"] for event in progress.problems] == ["local-exec provisioner error"]


def test_silence_is_broken_by_what_takes_so_long(recorded: Recorded) -> None:
    progress = Progress(heartbeat=30, total=4)
    events = recorded("apply-interrupted")
    begun = next(event for event in events if event["type"] == "apply_start" and event["hook"]["action"] == "create")
    told(progress, events[: events.index(begun) + 1])
    start = from_iso(begun["@timestamp"])
    assert progress.tick(start + 29) == []
    assert progress.tick(start + 130) == ["[1/4] still creating terraform_data.cluster (2 min 10 s)"]
    assert progress.tick(start + 131) == []


def test_many_at_work_are_counted() -> None:
    progress = Progress(heartbeat=10, total=12)
    for number in range(5):
        event = {"type": "apply_start", "hook": {"resource": {"addr": f"a.b[{number}]"}, "action": "delete"}}
        assert progress.feed(event, 100.0 + number) == []
    assert progress.tick(120) == [
        "[ 0/12] still destroying a.b[0] (20 s), destroying a.b[1] (19 s), destroying a.b[2] (18 s) and 2 more"
    ]


def test_a_plan_that_takes_long_says_how_far_it_is(recorded: Recorded) -> None:
    progress = Progress(heartbeat=30)
    events = recorded("plan-replace")
    assert told(progress, events) == []
    assert progress.tick(from_iso(events[0]["@timestamp"]) + 60) == ["still running after 1 min; 4 resources read"]


def test_no_heartbeat_when_none_is_wanted() -> None:
    progress = Progress(heartbeat=0)
    progress.feed({"type": "version"}, 1.0)
    assert progress.tick(1e6) == []


def test_text_is_kept_to_explain_a_crash() -> None:
    progress = Progress(heartbeat=0)
    for number in range(30):
        progress.feed(parse(f"panic {number}"), 1.0)
    assert progress.text[0] == "panic 10"
    assert progress.text[-1] == "panic 29"


@pytest.mark.parametrize("line", ["", "{", "[1]", '"text"', '{"no": "type"}', '{"type": 3}', "\x00"])
def test_a_line_that_is_no_event_is_text(line: str) -> None:
    assert parse(line) == {"type": "text", "@message": line}


@pytest.mark.parametrize(
    "event",
    [
        {"type": "apply_complete"},
        {"type": "apply_start", "hook": {}},
        {"type": "apply_errored", "hook": {"resource": None}},
        {"type": "of_the_future", "hook": 3},
    ],
)
def test_an_event_that_lacks_something_does_no_harm(event: Event) -> None:
    Progress(heartbeat=0).feed(event, 1.0)


def test_what_was_begun_and_never_completed_is_known(recorded: Recorded) -> None:
    interrupted = unfinished((), recorded("apply-interrupted"))
    assert interrupted == {"terraform_data.cluster"}
    assert unfinished({"other"}, recorded("apply")) == {"other"}
    assert unfinished(interrupted, recorded("apply")) == set()


def test_what_was_created_is_known_by_its_identifier(recorded: Recorded) -> None:
    made = created(recorded("apply"))
    assert sorted(made) == ["terraform_data.cluster", "terraform_data.nodes[0]", "terraform_data.nodes[1]"]
    assert {found.kind for found in made.values()} == {"terraform_data"}
    assert all(found.identifier for found in made.values())
    assert created([*recorded("apply"), *recorded("destroy")]) == {}
