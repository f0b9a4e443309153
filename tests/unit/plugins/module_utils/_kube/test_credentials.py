"""Logins: what a kubeconfig's user may say, compared with the `kubernetes` package, and how it is kept fresh."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import threading
import typing as t
from pathlib import Path

import pytest
import yaml
from fakes.http import Server

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ForbiddenError, InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._kube import credentials
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.credentials import Credential, login
from ansible_collections.mlops.eks.plugins.module_utils._kube.kubeconfig import access

User = dict[str, t.Any]


def config(directory: Path, user: User, server: str = "https://127.0.0.1:1", **cluster: t.Any) -> str:
    """Write a kubeconfig."""
    document = {
        "current-context": "c",
        "clusters": [{"name": "k", "cluster": {"server": server, **cluster}}],
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "users": [{"name": "u", "user": user}],
    }
    path = directory / "kubeconfig"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return str(path)


def credential(directory: Path, user: User) -> Credential:
    return login(access(config(directory, user), None)).credential()


def plugin(directory: Path, body: str, **more: t.Any) -> User:
    """Return a user whose exec plugin is the Python program `body`."""
    program = directory / "plugin.py"
    program.write_text(f"import json, os, sys, pathlib\nhere = pathlib.Path({str(directory)!r})\n{body}")
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": sys.executable,
                     "args": [str(program)], **more}}  # fmt: skip


COUNTING = """
count = here / "count"
n = int(count.read_text()) + 1 if count.exists() else 1
count.write_text(str(n))
print(json.dumps({"status": {"token": f"token-{n}", "expirationTimestamp": os.environ.get("UNTIL")}}))
"""
SAID = json.dumps({"apiVersion": "v1", "kind": "ExecCredential", "status": {"token": "t"}})


@pytest.mark.parametrize(
    "user",
    [
        {},
        {"token": "secret"},
        {"tokenFile": "token"},
        {"username": "me", "password": "pass:word"},
        {"username": "me", "password": "p", "token": "t"},
        {"exec": {"apiVersion": "v1", "command": "./plugin.sh"}},
        {
            "exec": {
                "apiVersion": "v1",
                "command": "sh",
                "args": ["-c", "echo $SAID"],
                "env": [{"name": "SAID", "value": SAID}],
            }
        },
    ],
)
def test_the_same_as_the_library_reads(tmp_path: Path, user: User) -> None:
    from kubernetes import client
    from kubernetes import config as library

    (tmp_path / "token").write_text("from-a-file")
    script = tmp_path / "plugin.sh"
    script.write_text(f"#!/bin/sh\necho '{SAID}'")
    script.chmod(0o755)
    settings = client.Configuration()
    library.load_kube_config(config(tmp_path, user), "c", settings)
    theirs = settings.auth_settings().get("BearerToken", {}).get("value") or ""
    assert credential(tmp_path, user).authorization == theirs


def test_the_library_is_imported_only_for_what_it_alone_can_do(tmp_path: Path) -> None:
    program = (
        "import sys; from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube; "
        "Kube(kubeconfig=sys.argv[1], context=None, namespace='n')._connection._login.credential(); "
        "print('kubernetes' in sys.modules)"
    )
    padding = "e30." + base64.urlsafe_b64encode(b"{}").decode().rstrip("=") + ".x"
    oidc = {"auth-provider": {"name": "oidc", "config": {"id-token": padding}}}
    for user, expected in ((plugin(tmp_path, COUNTING), "False"), (oidc, "True")):
        command = [sys.executable, "-c", program, config(tmp_path, user)]
        root = Path(__file__).resolve().parents[5] / ".venv" / "collections"
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(root)})
        assert done.stdout.strip() == expected, done.stderr


def test_an_oidc_token_is_read_by_the_library(tmp_path: Path) -> None:
    token = "e30." + base64.urlsafe_b64encode(b'{"exp": 9999999999}').decode().rstrip("=") + ".x"
    user = {"auth-provider": {"name": "oidc", "config": {"id-token": token}}}
    assert credential(tmp_path, user).authorization == f"Bearer {token}"


def test_a_token_file_comes_first_and_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("one\n")
    found = login(access(config(tmp_path, {"tokenFile": "token", "token": "old"}), None))
    assert found.credential().authorization == "Bearer one"
    (tmp_path / "token").write_text("two\n")
    assert found.credential().authorization == "Bearer one"
    monkeypatch.setattr(credentials, "_FILE_SECONDS", -1.0)
    assert found.credential().authorization == "Bearer two"


def test_a_plugin_runs_once_for_all_threads_until_its_token_expires(tmp_path: Path) -> None:
    user = plugin(tmp_path, COUNTING, env=[{"name": "UNTIL", "value": "2999-01-01T00:00:00Z"}])
    found = login(access(config(tmp_path, user), None))
    threads = [threading.Thread(target=found.credential) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found.credential().authorization == "Bearer token-1"

    expired = login(
        access(
            config(tmp_path, plugin(tmp_path, COUNTING, env=[{"name": "UNTIL", "value": "2001-01-01T00:00:00Z"}])), None
        )
    )
    assert [expired.credential().authorization for _ in range(2)] == ["Bearer token-2", "Bearer token-3"]


def test_a_plugin_is_told_what_it_asks_for(tmp_path: Path) -> None:
    (tmp_path / "ca").write_text("PEM")
    body = (
        "(here / 'told').write_text(os.environ['KUBERNETES_EXEC_INFO']); print(json.dumps({'status': {'token': 't'}}))"
    )
    user = plugin(tmp_path, body, provideClusterInfo=True, interactiveMode="IfAvailable")
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    cluster = {"certificate-authority": "ca", "extensions": [extension]}
    assert login(access(config(tmp_path, user, **cluster), None)).credential().authorization == "Bearer t"
    told = json.loads((tmp_path / "told").read_text())
    assert told["kind"] == "ExecCredential"
    assert told["apiVersion"] == "client.authentication.k8s.io/v1"
    assert told["spec"] == {
        "interactive": False,
        "cluster": {
            "server": "https://127.0.0.1:1",
            "certificate-authority-data": base64.b64encode(b"PEM").decode(),
            "config": {"audience": "x"},
        },
    }


def test_a_plugin_may_hand_out_a_certificate(tmp_path: Path) -> None:
    body = "print(json.dumps({'status': {'clientCertificateData': 'C', 'clientKeyData': 'K'}}))"
    assert credential(tmp_path, plugin(tmp_path, body)).pair == (b"C", b"K")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("sys.exit('Error loading SSO Token: Token for me does not exist')", "exit code 1: Error loading SSO Token"),
        ("sys.exit(255)", "exit code 255: no output"),
        ("print('{')", "no ExecCredential"),
        ("print('[]')", "no ExecCredential"),
        ("print('{\"status\": {}}')", "neither a token nor a certificate"),
        ("print(json.dumps({'status': {'token': 't', 'expirationTimestamp': 'soon'}}))", "no ExecCredential"),
    ],
)
def test_a_plugin_that_fails_is_named(tmp_path: Path, body: str, words: str) -> None:
    with pytest.raises(ForbiddenError) as caught:
        credential(tmp_path, plugin(tmp_path, body))
    assert words in str(caught.value)
    assert "users[u].user.exec: '" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_plugin_that_is_not_installed_is_named_with_its_hint(tmp_path: Path) -> None:
    user = {"exec": {"command": "no-such-program", "args": ["eks", "get-token", "x"], "installHint": "See\n the docs."}}
    with pytest.raises(ForbiddenError, match=r"'no-such-program eks get-token'.* not found. See the docs\.$"):
        credential(tmp_path, user)


def test_a_plugin_that_waits_for_a_password_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "_PLUGIN_SECONDS", 0.5)
    with pytest.raises(ForbiddenError, match=r"no answer within 0\.5 s"):
        credential(tmp_path, plugin(tmp_path, "import time; time.sleep(60)"))


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ({"token": 3}, "users[u].user.token: int found, text expected"),
        ({"exec": []}, "users[u].user.exec: list found, a mapping expected"),
        ({"exec": {}}, "users[u].user.exec.command: missing"),
        ({"exec": {"command": "x", "args": "y"}}, "users[u].user.exec.args: str found, a list expected"),
        ({"client-certificate-data": "?"}, "users[u].user.client-certificate-data: not base64"),
        ({"client-certificate": "none"}, "No such file"),
        ({"auth-provider": {"name": "oidc", "config": {}}}, "users[u].user.auth-provider"),
    ],
)
def test_a_malformed_user_is_named_with_file_and_key(tmp_path: Path, user: User, words: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        login(access(config(tmp_path, user), None))
    assert words in str(caught.value)
    assert str(tmp_path / "kubeconfig") in str(caught.value)


def test_a_token_that_the_cluster_no_longer_takes_is_asked_for_anew(tmp_path: Path) -> None:
    good = "Bearer token-1"

    def answer(exchange: t.Any) -> None:
        exchange.reply(
            {"ok": 1} if exchange.headers["Authorization"] == good else {},
            200 if exchange.headers["Authorization"] == good else 401,
        )

    server = Server(answer)
    try:
        # Its token does not say when it expires: only a refusal tells.
        kube = Kube(kubeconfig=config(tmp_path, plugin(tmp_path, COUNTING), server.url), context=None, namespace="n")
        assert kube.request("GET", "/x") == {"ok": 1}
        good = "Bearer token-2"
        assert kube.request("GET", "/x") == {"ok": 1}
        good = "Bearer token-3"
        kube.stream("/x", read_timeout=5).close()
        assert [request.headers["Authorization"][-1] for request in server.requests] == ["1", "1", "2", "2", "3"]
    finally:
        server.close()


def test_a_token_that_somebody_writes_into_the_file_is_taken(tmp_path: Path) -> None:
    server = Server(lambda ex: ex.reply({}, 200 if ex.headers["Authorization"] == "Bearer new" else 401))
    try:
        kube = Kube(kubeconfig=config(tmp_path, {"token": "old"}, server.url), context=None, namespace="n")
        config(tmp_path, {"token": "new"}, server.url)
        assert kube.request("GET", "/x") == {}
        # Not that of another cluster.
        config(tmp_path, {"token": "newer"}, "http://127.0.0.1:1")
        assert kube._connection.renewed() is kube._connection
    finally:
        server.close()


def test_a_login_that_worked_may_be_away_for_a_while(tmp_path: Path) -> None:
    server = Server(lambda ex: ex.reply({"ok": 1}, 401 if ex.number in range(1, 6) else 200))
    try:
        from fakes.clock import FakeClock

        path = config(tmp_path, {"token": "t"}, server.url)
        kube = Kube(kubeconfig=path, context=None, namespace="n", clock=FakeClock())
        assert kube.request("GET", "/x") == {"ok": 1}
        assert kube.request("GET", "/x") == {"ok": 1}
    finally:
        server.close()
