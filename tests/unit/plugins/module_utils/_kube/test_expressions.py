"""Wait expressions, spelled as in `kubectl wait --for`."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import parse

ENTRY: dict[str, t.Any] = {
    "metadata": {"generation": 3, "labels": {"app.kubernetes.io/name": "x"}},
    "spec": {"replicas": 2, "paused": False},
    "status": {
        "phase": "Done",
        "conditions": [
            {"type": "Ready", "status": "True"},
            {"type": "Old", "status": "True", "observedGeneration": 2},
            {"type": "New", "status": "True", "observedGeneration": 3},
            {"type": "Stalled", "status": "False"},
        ],
    },
}
HOLDS = (
    "condition=Ready",
    "condition=ready",
    "condition=Ready=True",
    "condition=Ready=true",
    "condition=Stalled=False",
    "condition=New",
    " condition=Ready ",
    "jsonpath={.status.phase}=Done",
    "jsonpath='{.status.phase}'=Done",
    'jsonpath={.status.phase}="Done"',
    "jsonpath={.status.phase}==Done",
    "jsonpath={status.phase}=Done",
    "jsonpath={.status.phase}",
    "jsonpath={.spec.replicas}=2",
    "jsonpath={.spec.paused}=false",
    "jsonpath={.status.conditions[0].type}=Ready",
    r"jsonpath={.metadata.labels.app\.kubernetes\.io/name}=x",
    "jsonpath={.metadata.labels['app.kubernetes.io/name']}=x",
    'jsonpath={.metadata.labels["app.kubernetes.io/name"]}=x',
    "jsonpath={.status.conditions[-1].type}=Stalled",
    'jsonpath={.status.conditions[?(@.type=="Ready")].status}=True',
    "jsonpath={.status.conditions[?(@.type=='Ready')].status}==True",
    "jsonpath='{.status.conditions[?(@.type==\"Ready\")].status}'=True",
    'jsonpath={.status.conditions[?(@.type == "Stalled")].status}=False',
    'jsonpath={.status.conditions[?(@.type=="Ready")]}',
    "jsonpath={.status.conditions[?(@.observedGeneration>2)].type}=New",
    "jsonpath={.status.conditions[?(@.observedGeneration<=2)].type}=Old",
    "jsonpath={.status.conditions[?(@.observedGeneration==3)].type}=New",
    'jsonpath={.status.conditions[?(@.type!="Stalled")].status}=True',
    # It keeps two, and of both it is true.
    "jsonpath={.status.conditions[?(@.observedGeneration)].status}=True",
)
HOLDS_NOT = (
    "condition=Absent",
    "condition=Stalled",
    "condition=Ready=False",
    # Of an earlier generation: kubectl waits on.
    "condition=Old",
    "jsonpath={.status.phase}=Do",
    "jsonpath={.status.nothing}",
    "jsonpath={.status.conditions[9].type}",
    "jsonpath={.status.phase.deeper}",
    "jsonpath={.status[0]}",
    'jsonpath={.status.conditions[?(@.type=="Absent")].status}=True',
    'jsonpath={.status.conditions[?(@.type=="Stalled")].status}=True',
    "jsonpath={.status.conditions[?(@.absent)].status}",
    "jsonpath={.status.conditions[?(@.type>3)].status}",
    "jsonpath={.status.conditions[?(@.status)].status}=True",
    'jsonpath={.status.phase[?(@.type=="Ready")]}',
    "jsonpath={.status.conditions[-9].type}",
)
REFUSED = (
    "",
    "Ready",
    "condition=",
    "jsonpath=.status.phase=Done",
    "jsonpath={}",
    "jsonpath={.status.phase",
    "jsonpath={.status.conditions[?(@.type=Ready)].status}=True",
    'jsonpath={.status.conditions[?(@.type=="Ready" && @.status=="True")]}',
    "jsonpath={.status.conditions[?(type)].status}=True",
    "jsonpath={.status.conditions[0:1].type}=Ready",
    "jsonpath={.status.conditions[*].type}=Ready",
    "jsonpath={..phase}",
    "delete",
)


@pytest.mark.parametrize("text", HOLDS)
def test_holds(text: str) -> None:
    assert parse(text).holds(ENTRY)


@pytest.mark.parametrize("text", HOLDS_NOT)
def test_does_not_hold(text: str) -> None:
    assert not parse(text).holds(ENTRY)


@pytest.mark.parametrize("text", [*HOLDS, *HOLDS_NOT])
def test_an_object_without_status_holds_nothing_of_it(text: str) -> None:
    if "status" in text or "condition" in text:
        assert not parse(text).holds({"metadata": {"generation": 1}})


@pytest.mark.parametrize("text", REFUSED)
def test_what_can_never_hold_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="is no wait expression"):
        parse(text)


def test_a_condition_of_a_status_not_yet_observed_is_stale() -> None:
    entry = {**ENTRY, "status": {**ENTRY["status"], "observedGeneration": 2}}
    assert not parse("condition=Ready").holds(entry)
    assert parse("condition=New").holds(entry)
