"""The way to the API server: TLS against a real TLS server, proxies, certificates that leave no file behind."""

from __future__ import annotations

import base64
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import typing as t
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    EksError,
    InvalidInputError,
    UnreachableError,
)
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.connection import Connection, _environment_proxy
from ansible_collections.mlops.eks.plugins.module_utils._local.certificates import Leaf, ensure_pki


class TlsServer:
    """Answers `{}` and keeps the subject of each client's certificate and the name it asked for."""

    def __init__(self, pki: Path) -> None:
        self.pki = pki
        self.clients: list[str] = []
        self.names: list[str | None] = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki / "server.crt", pki / "server.key")
        context.load_verify_locations(pki / "ca.crt")
        context.verify_mode = ssl.CERT_OPTIONAL
        context.sni_callback = lambda _, name, __: self.names.append(name)
        self._listener = context.wrap_socket(socket.create_server(("127.0.0.1", 0)), server_side=True)
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except ssl.SSLError:
                continue
            except OSError:
                if self._listener.fileno() < 0:
                    return
                continue
            with client:
                subject = t.cast(dict[str, t.Any], client.getpeercert() or {}).get("subject", ())
                self.clients.append(next((value for part in subject for key, value in part if key == "commonName"), ""))
                client.recv(65536)
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")

    def close(self) -> None:
        self._listener.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsServer]:
    pki = tmp_path_factory.mktemp("pki")
    ensure_pki(
        pki,
        (
            Leaf(file="server", common_name="server", names=("127.0.0.1", "cluster.example")),
            Leaf(file="client", common_name="me"),
        ),
    )
    found = TlsServer(pki)
    yield found
    found.close()


def kubeconfig(directory: Path, cluster: dict[str, t.Any], user: dict[str, t.Any] | None = None) -> str:
    document = {
        "current-context": "c",
        "clusters": [{"name": "k", "cluster": cluster}],
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "users": [{"name": "u", "user": user or {}}],
    }
    path = directory / "kubeconfig"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return str(path)


def ask(path: str, notice: t.Callable[[str], None] = print) -> t.Any:
    return Kube(kubeconfig=path, context=None, namespace="n", api_retry_timeout=0, notice=notice).request("GET", "/x")


def data(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def test_files_beside_the_kubeconfig(server: TlsServer, tmp_path: Path) -> None:
    shutil.copytree(server.pki, tmp_path / "pki")
    files = {"client-certificate": "pki/client.crt", "client-key": "pki/client.key"}
    path = kubeconfig(tmp_path, {"server": server.url + "/", "certificate-authority": "pki/ca.crt"}, files)
    assert ask(path) == {}
    assert server.clients[-1] == "me"


def test_data_in_the_kubeconfig_leaves_no_file(
    server: TlsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    user = {
        f"client-{key}-data": data(server.pki / f"client.{file}")
        for key, file in (("certificate", "crt"), ("key", "key"))
    }
    path = kubeconfig(tmp_path, {"server": server.url, "certificate-authority-data": data(server.pki / "ca.crt")}, user)
    assert ask(path) == {}
    assert server.clients[-1] == "me"
    assert list((tmp_path / "tmp").iterdir()) == []


def test_an_unknown_certificate_authority_is_not_trusted(server: TlsServer, tmp_path: Path) -> None:
    with pytest.raises(UnreachableError, match="certificate verify failed"):
        ask(kubeconfig(tmp_path, {"server": server.url}))


def test_insecure_skip_tls_verify_trusts_any_server_with_one_warning(server: TlsServer, tmp_path: Path) -> None:
    path, said = kubeconfig(tmp_path, {"server": server.url, "insecure-skip-tls-verify": True}), []
    with warnings.catch_warnings(record=True) as caught:
        kube = Kube(kubeconfig=path, context=None, namespace="n", notice=said.append)
        assert kube.request("GET", "/x") == kube.request("GET", "/x") == {}
    assert caught == []
    assert said == [f"cluster {server.url}: 'insecure-skip-tls-verify' is set, so another server could impersonate it"]


def test_the_server_may_go_by_another_name(server: TlsServer, tmp_path: Path) -> None:
    cluster = {"server": server.url, "certificate-authority": str(server.pki / "ca.crt")}
    assert ask(kubeconfig(tmp_path, {**cluster, "tls-server-name": "cluster.example"})) == {}
    assert server.names[-1] == "cluster.example"
    with pytest.raises(UnreachableError, match=r"not match|mismatch|not valid"):
        ask(kubeconfig(tmp_path, {**cluster, "tls-server-name": "other.example"}))


def test_an_authority_without_key_identifiers_is_good_enough(tmp_path: Path) -> None:
    """EKS clusters of 2019 have one."""
    command = (
        "new='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes' "
        "&& openssl req -x509 $new -keyout ca.key -out ca.crt -days 2 -subj /CN=kubernetes "
        "-addext basicConstraints=critical,CA:TRUE -addext subjectKeyIdentifier=none "
        "&& openssl req $new -keyout server.key -out server.csr -subj /CN=server "
        "&& printf 'subjectAltName=IP:127.0.0.1\nsubjectKeyIdentifier=none\nauthorityKeyIdentifier=none' > ext "
        "&& openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile ext "
        "-out server.crt"
    )
    subprocess.run(command, shell=True, cwd=tmp_path, check=True, capture_output=True)
    text = subprocess.run(
        ["openssl", "x509", "-in", "server.crt", "-noout", "-text"], cwd=tmp_path, check=True, capture_output=True
    )
    assert b"Authority Key Identifier" not in text.stdout
    server = TlsServer(tmp_path)
    try:
        assert ask(kubeconfig(tmp_path, {"server": server.url, "certificate-authority": "ca.crt"})) == {}
        context = Connection(str(tmp_path / "kubeconfig"), None)._pool.connection_pool_kw["ssl_context"]
        assert not context.verify_flags & ssl.VERIFY_X509_STRICT
    finally:
        server.close()


@pytest.mark.parametrize(
    ("cluster", "user", "words"),
    [
        (
            {"certificate-authority-data": base64.b64encode(b"no").decode()},
            {},
            "cluster.certificate-authority: no certif",
        ),
        ({"certificate-authority": "/no/such/file"}, {}, "/no/such/file: No such file"),
        ({"insecure-skip-tls-verify": "yes"}, {}, "insecure-skip-tls-verify: str found"),
        ({"proxy-url": "socks5://127.0.0.1:1"}, {}, "cluster.proxy-url"),
        (
            {},
            {"client-certificate-data": "bm8=", "client-key-data": "bm8="},
            "user.client-certificate: certificate and",
        ),
        ({"server": ""}, {}, "cluster.server: missing"),
    ],
)
def test_a_mistake_is_named_with_file_and_key(
    tmp_path: Path, cluster: dict[str, t.Any], user: dict[str, t.Any], words: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Connection(kubeconfig(tmp_path, {"server": "https://127.0.0.1:1", **cluster}, user), None)
    assert words in str(caught.value)
    assert str(tmp_path / "kubeconfig") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_key_under_a_passphrase_does_not_ask_for_it(tmp_path: Path, server: TlsServer) -> None:
    command = ["openssl", "pkey", "-in", str(server.pki / "client.key"), "-aes128", "-passout", "pass:x"]
    key = subprocess.run(command, check=True, capture_output=True).stdout
    user = {"client-certificate": str(server.pki / "client.crt"), "client-key-data": base64.b64encode(key).decode()}
    with pytest.raises(InvalidInputError, match="cannot be used"):
        Connection(kubeconfig(tmp_path, {"server": server.url}, user), None)


def test_a_proxy_of_the_kubeconfig_is_used(tmp_path: Path) -> None:
    asked = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        client, _ = listener.accept()
        with client:
            asked.append(client.recv(65536).split(b"\r\n")[0])
            client.sendall(b"HTTP/1.1 502 no\r\nContent-Length: 0\r\n\r\n")

    threading.Thread(target=serve, daemon=True).start()
    proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(EksError):
        ask(kubeconfig(tmp_path, {"server": "https://cluster.example", "proxy-url": proxy}))
    listener.close()
    assert asked == [b"CONNECT cluster.example:443 HTTP/1.1"]


@pytest.mark.parametrize(
    ("server", "spared", "expected"),
    [
        ("https://k.example", "", "http://proxy:3128"),
        ("http://k.example", "", None),
        ("https://k.example", ".example", None),
        ("https://k.example", "other", "http://proxy:3128"),
        ("https://10.1.2.3:6443", "10.0.0.0/8", None),
        ("https://10.1.2.3:6443", "192.168.0.0/16,nonsense", "http://proxy:3128"),
        ("https://[fd00::1]:6443", "fd00::/8", None),
    ],
)
def test_a_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, server: str, spared: str, expected: str | None
) -> None:
    for name in ("http_proxy", "all_proxy", "ALL_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", spared)
    assert _environment_proxy(server) == expected
