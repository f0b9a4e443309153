"""Which Secrets a pod takes from, and what of them is masked."""

from __future__ import annotations

import base64
import typing as t

import pytest
from fakes.kube import FakeKube

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ForbiddenError
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._logs.secrets import (
    Reference,
    Secrets,
    references,
    rendered,
    without_data,
)

SPEC: dict[str, t.Any] = {
    "initContainers": [{"name": "i", "envFrom": [{"configMapRef": {"name": "c"}}, {"secretRef": {"name": "whole"}}]}],
    "containers": [
        {
            "name": "main",
            "env": [
                {"name": "PLAIN", "value": "x"},
                {"name": "FIELD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "one", "key": "token"}}},
            ],
        }
    ],
    "volumes": [
        {"name": "v", "secret": {"secretName": "files", "items": [{"key": "a", "path": "a"}]}},
        {"name": "w", "projected": {"sources": [{"serviceAccountToken": {}}, {"secret": {"name": "projected"}}]}},
        {"name": "e", "emptyDir": {}},
    ],
}


def pod(uid: str, spec: dict[str, t.Any], *, starts: int = 0) -> dict[str, t.Any]:
    """A pod whose main container has been started so many times."""
    running = {"name": "main", "restartCount": starts - 1, "state": {"running": {}}}
    status = {"containerStatuses": [running]} if starts else {}
    return {"metadata": {"name": "p", "uid": uid}, "spec": spec, "status": status}


def put(kube: FakeKube, name: str, **values: str) -> None:
    data = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    kube.put(f"/api/v1/namespaces/team/secrets/{name}", {"metadata": {"name": name}, "data": data})


def test_every_way_to_refer_to_a_secret_is_known() -> None:
    assert set(references(SPEC)) == {
        Reference("whole", None),
        Reference("one", "token"),
        Reference("files", "a"),
        Reference("projected", None),
    }
    assert list(references({"containers": [{"name": "x", "env": None, "envFrom": None}], "volumes": None})) == []


def test_what_a_pod_refers_to_is_masked_and_read_once() -> None:
    kube, mask, notes = FakeKube(), Mask(), list[str]()
    put(kube, "whole", user="someone", short="on")
    put(kube, "one", token="tok-123456", other="not-referred-to")
    put(kube, "files", a="in a file")
    put(kube, "projected", b="projected")
    secrets = Secrets(kube, mask, notes.append)
    for uid in ("1", "1", "2"):
        secrets.register(pod(uid, SPEC))
    assert mask.text("someone on tok-123456 not-referred-to") == "******** on ******** not-referred-to"
    assert len([call for call in kube.calls if "/secrets/" in call]) == 4
    assert notes == []


def test_a_secret_that_cannot_be_read_is_said_once() -> None:
    kube, notes = FakeKube(), list[str]()
    kube.fail["GET /api/v1/namespaces/team/secrets/one"] = [(ForbiddenError("no", status=403), False)] * 2
    secrets = Secrets(kube, Mask(), notes.append)
    for uid in ("1", "2"):
        secrets.register(pod(uid, SPEC))
    assert notes == ["Secret one: its values cannot be read and are not taken out of the logs: no"]


def test_a_secret_that_comes_while_a_pod_waits_for_it_is_read_when_its_container_starts() -> None:
    """The kubelet starts no container before; it was looked for, in vain, when the pod was first seen."""
    kube, mask, notes = FakeKube(), Mask(), list[str]()
    secrets, spec = Secrets(kube, mask, notes.append), {"containers": [SPEC["containers"][0]]}
    secrets.register(pod("1", spec))
    put(kube, "one", token="tok-123456")
    secrets.register(pod("1", spec, starts=1))
    assert mask.text("tok-123456") == "********"
    assert notes == []


def test_a_secret_that_was_changed_is_read_again_for_the_next_container(monkeypatch: pytest.MonkeyPatch) -> None:
    kube, mask, now = FakeKube(), Mask(), [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    secrets, spec = Secrets(kube, mask, list[str]().append), {"containers": [SPEC["containers"][0]]}
    for number, value in enumerate(("tok-before", "tok-after1", "tok-third1")):
        put(kube, "one", token=value)
        now[0] += 11
        secrets.register(pod("1", spec, starts=number + 1) if number < 2 else pod("2", spec))
    assert mask.text("tok-before tok-after1 tok-third1") == "******** ******** ********"


def test_a_secret_that_is_gone_is_said_unless_it_is_optional() -> None:
    notes: list[str] = []
    optional = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "may-be", "key": "k", "optional": True}}}
    spec = {"containers": [{**SPEC["containers"][0], "env": [*SPEC["containers"][0]["env"], optional]}]}
    Secrets(FakeKube(), Mask(), notes.append).register(pod("1", spec, starts=1))
    assert notes == ["Secret one: it is gone, and its values cannot be taken out of the logs"]


def test_what_a_chart_makes_a_secret_of_is_known() -> None:
    secret = {"kind": "Secret", "data": {"a": "cGFzc3dvcmQx"}, "stringData": {"b": "token-1", "c": "on"}}
    assert list(rendered([{"kind": "ConfigMap", "data": {"x": "anything"}}, secret])) == [b"token-1", b"password1"]


def test_a_manifest_shows_only_the_keys_of_a_secret() -> None:
    secret = {"kind": "Secret", "data": {"a": "eHg="}, "stringData": {"b": "yy"}, "type": "Opaque"}
    assert without_data(secret) == {
        "kind": "Secret",
        "data": {"a": "********"},
        "stringData": {"b": "********"},
        "type": "Opaque",
    }
    config_map = {"kind": "ConfigMap", "data": {"a": "b"}}
    assert without_data(config_map) is config_map
