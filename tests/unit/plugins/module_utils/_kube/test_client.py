"""The HTTP client against a real server: retries, refusals, kubeconfigs."""

from __future__ import annotations

import socket
import typing as t
from pathlib import Path

import pytest
from fakes.clock import FakeClock
from fakes.http import Answer, Exchange, Server

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    AbsentError,
    ClusterError,
    ConflictError,
    EksError,
    ForbiddenError,
    InvalidInputError,
    UnreachableError,
)
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import Ref, collection, item

Serve = t.Callable[[Answer], tuple[Server, Kube]]


def status(code: int, message: str = "because") -> Answer:
    return lambda exchange: exchange.reply({"kind": "Status", "message": message}, code)


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (400, ClusterError, "refused with HTTP 400: because"),
        (401, ForbiddenError, "aws sso login"),
        (403, ForbiddenError, "because. Ask the cluster's owner"),
        (404, AbsentError, "GET /x: because"),
        (409, ConflictError, "GET /x: because"),
        (422, ClusterError, "refused with HTTP 422"),
    ],
)
def test_refusals(serve: Serve, code: int, kind: type[EksError], words: str) -> None:
    _, kube = serve(status(code))
    with pytest.raises(kind) as caught:
        kube.request("GET", "/x")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_credentials_are_not_reported_as_a_missing_permission(serve: Serve) -> None:
    _, kube = serve(status(403, 'pods is forbidden: User "system:anonymous" cannot list resource "pods"'))
    with pytest.raises(ForbiddenError, match=r'resource "pods"\. Give the kubeconfig\'s user credentials\.$'):
        kube.request("GET", "/x")


def test_the_whole_reason_is_told_of_a_cluster_with_a_long_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: t.Any, **__: t.Any) -> t.Any:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    host = f"{'0123456789ABCDEF' * 2}.gr7.us-west-2.eks.amazonaws.com"
    (tmp_path / "kubeconfig").write_text(GOOD.replace("http://127.0.0.1:1", f"https://{host}"), encoding="utf-8")
    kube = Kube(
        kubeconfig=str(tmp_path / "kubeconfig"), context=None, namespace="n", clock=FakeClock(), api_retry_timeout=5
    )
    with pytest.raises(UnreachableError) as caught:
        kube.request("GET", "/x")
    assert "(Failed to resolve" in str(caught.value)
    assert "Name or service not known)" in str(caught.value)


def test_absent_is_none_for_get(serve: Serve) -> None:
    _, kube = serve(status(404))
    assert kube.get("/x") is None


def test_a_silent_stream_is_kept_alive(serve: Serve) -> None:
    _, kube = serve(lambda exchange: exchange.reply({}))
    kube.request("GET", "/x")
    (connection,) = [found for found in kube._connection._pool.connection_from_url(kube.server).pool.queue if found]
    assert connection.sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    assert connection.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_a_cluster_that_is_briefly_away_is_asked_again(serve: Serve, code: int) -> None:
    server, kube = serve(lambda ex: ex.reply({}, code) if ex.number < 3 else ex.reply({"ok": ex.number}))
    assert kube.request("GET", "/x") == {"ok": 3}
    assert len(server.requests) == 4


def test_retry_after_is_obeyed_and_its_date_form_is_no_accident(serve: Serve, clock: FakeClock) -> None:
    answers = ({"Retry_After": "7"}, {"Retry_After": "Fri, 31 Dec 1999 23:59:59 GMT"})
    _, kube = serve(lambda ex: ex.reply({}, 429, **answers[ex.number]) if ex.number < 2 else ex.reply({}))
    kube.request("GET", "/x")
    assert 7.0 <= clock.slept[0] <= 8.4
    assert clock.slept[1] < 1.0


def test_a_stale_token_is_renewed_by_the_next_attempt(serve: Serve) -> None:
    server, kube = serve(lambda ex: ex.reply({}, 401) if ex.number < 2 else ex.reply({"ok": 1}))
    assert kube.request("GET", "/x") == {"ok": 1}
    assert len(server.requests) == 3


def test_a_request_is_repeated_until_the_api_retry_timeout(serve: Serve, clock: FakeClock) -> None:
    server, kube = serve(status(503))
    begun = clock.now()
    with pytest.raises(UnreachableError, match=r"no answer for 60 s \(HTTP 503\)"):
        kube.request("GET", "/x")
    assert 30 < clock.now() - begun <= 60
    assert 5 < len(server.requests) < 40


def test_nobody_listens(tmp_path: Path, clock: FakeClock) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Server(lambda ex: ex.reply({}))
    text = Path(server.kubeconfig(tmp_path)).read_text(encoding="utf-8").replace(server.url, f"http://127.0.0.1:{port}")
    server.close()
    (tmp_path / "other").write_text(text, encoding="utf-8")
    kube = Kube(kubeconfig=str(tmp_path / "other"), context=None, namespace="n", clock=clock)
    with pytest.raises(UnreachableError) as caught:
        kube.request("GET", "/x")
    assert f"127.0.0.1:{port}" in str(caught.value)
    assert "refused" in str(caught.value)
    assert "object at" not in str(caught.value)


def test_a_cut_answer_is_asked_for_again(serve: Serve) -> None:
    def answer(exchange: Exchange) -> None:
        if exchange.number == 0:
            exchange.begin()
            exchange.chunk(b'{"items": [')
            exchange.cut()
        else:
            exchange.reply({"items": []})

    assert serve(answer)[1].request("GET", "/x") == {"items": []}


def test_half_an_answer_that_looks_whole_is_asked_for_again(serve: Serve) -> None:
    server, kube = serve(lambda ex: ex.reply(b'{"items": [' if ex.number == 0 else {"items": []}))
    assert kube.request("GET", "/x") == {"items": []}
    assert len(server.requests) == 2


def test_a_patch_that_others_came_before_is_repeated(serve: Serve) -> None:
    _, kube = serve(lambda ex: ex.reply({"ok": 1}, 409 if ex.number == 0 else 200))
    assert kube.request("PATCH", "/x", body={}) == {"ok": 1}


def test_an_answer_that_is_no_json_is_no_traceback(serve: Serve) -> None:
    _, kube = serve(lambda ex: ex.reply(b"<html>welcome</html>"))
    with pytest.raises(ClusterError, match="not JSON"):
        kube.request("GET", "/x")


def test_requests_carry_parameters_and_bodies(serve: Serve) -> None:
    server, kube = serve(lambda ex: ex.reply({}))
    kube.request(
        "PATCH", "/x", params={"labelSelector": "a=b,c"}, body={"d": "é"}, content_type="application/merge-patch+json"
    )
    (found,) = server.requests
    assert (found.method, found.path, found.params) == ("PATCH", "/x", {"labelSelector": "a=b,c"})
    assert found.headers["Content-Type"] == "application/merge-patch+json"
    assert found.body == b'{"d": "\\u00e9"}'


GOOD = """
apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names no cluster"),
        ("a: 1\nb: [\n", "kubeconfig:3: cannot be read: expected the node content, but found '<stream end>'. Write"),
        ("- 1", "names no cluster"),
        ("\0", "cannot be read"),
        ("clusters: []", "names no cluster"),
        (GOOD.replace("current-context: c", ""), "kubeconfig"),
        (GOOD.replace("current-context: c", "current-context: other"), "other"),
        (GOOD.replace("cluster: c, ", "cluster: gone, "), "gone"),
        (GOOD.replace("cluster: {server", "clustre: {server"), "kubeconfig"),
        (GOOD.replace("clusters: [", "clusters: [1, "), "kubeconfig"),
        (GOOD.replace("contexts: [", "contexts: 3 #["), "kubeconfig"),
        (GOOD.replace('"http://127.0.0.1:1"', '"https://127.0.0.1:1", certificate-authority-data: "a"'), "kubeconfig"),
        (
            GOOD.replace("http:", "https:").replace("user: {}", "user: {client-certificate: /no/such/file}"),
            "/no/such/file",
        ),
    ],
)
def test_a_broken_kubeconfig_is_one_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInputError) as caught:
        Kube(kubeconfig=str(path), context=None, namespace="n")
    assert str(path) in str(caught.value)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_absent_kubeconfig_and_context(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no such file"):
        Kube(kubeconfig=str(tmp_path / "none"), context=None, namespace="n")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        Kube(kubeconfig=str(tmp_path), context=None, namespace="n")
    (tmp_path / "good").write_text(GOOD, encoding="utf-8")
    with pytest.raises(InvalidInputError, match="nope"):
        Kube(kubeconfig=str(tmp_path / "good"), context="nope", namespace="n")


def test_paths() -> None:
    assert collection("v1", "pods", "n") == "/api/v1/namespaces/n/pods"
    assert collection("v1", "configmaps", None) == "/api/v1/configmaps"
    assert item("apps/v1", "deployments", "n", "x") == "/apis/apps/v1/namespaces/n/deployments/x"
    ref = Ref("kubeflow.org/v2beta1", "MPIJob", "mpijobs", "n", "x")
    assert ref.path == "/apis/kubeflow.org/v2beta1/namespaces/n/mpijobs/x"
    assert ref.parent == "/apis/kubeflow.org/v2beta1/namespaces/n/mpijobs"
    assert str(ref) == "MPIJob/x"
