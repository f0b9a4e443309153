# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

from __future__ import annotations

import ssl
import stat
import threading
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID
from cryptography.x509.verification import PolicyBuilder, Store

from ansible_collections.mlops.eks.plugins.module_utils._local.addresses import Addresses
from ansible_collections.mlops.eks.plugins.module_utils._local.certificates import ensure_pki, leaves
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout

LEAVES = leaves(Layout(name="local"), Addresses(index=16, nodes=3))


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("pki")
    assert ensure_pki(directory, LEAVES)
    return directory


def load(pki: Path, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate((pki / f"{name}.crt").read_bytes())


def test_a_second_call_creates_no_certificate(pki: Path) -> None:
    before = {path: path.read_bytes() for path in pki.iterdir()}
    assert not ensure_pki(pki, LEAVES)
    assert {path: path.read_bytes() for path in pki.iterdir()} == before


def test_what_an_interruption_left_out_is_made(pki: Path, tmp_path: Path) -> None:
    for path in pki.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "admin.key").unlink()
    assert ensure_pki(tmp_path, LEAVES)
    assert (tmp_path / "ca.crt").read_bytes() == (pki / "ca.crt").read_bytes()
    assert (tmp_path / "admin.crt").read_bytes() != (pki / "admin.crt").read_bytes()


def test_keys_are_private(pki: Path) -> None:
    assert {stat.S_IMODE(path.stat().st_mode) for path in pki.glob("*.key")} == {0o600}


def test_authority_may_only_sign(pki: Path) -> None:
    extensions = load(pki, "ca").extensions
    constraints = extensions.get_extension_for_class(x509.BasicConstraints)
    usage = extensions.get_extension_for_class(x509.KeyUsage)
    assert constraints.critical
    assert constraints.value.ca
    assert usage.critical
    assert usage.value.key_cert_sign
    assert usage.value.crl_sign
    assert not usage.value.digital_signature


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.file)
def test_leaf_certificates_have_their_key_usage(pki: Path, leaf: object) -> None:
    found = load(pki, leaf.file)  # type: ignore[attr-defined]
    purposes = list(found.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value)
    wanted = [ExtendedKeyUsageOID.CLIENT_AUTH] if leaf.client else []  # type: ignore[attr-defined]
    wanted += [ExtendedKeyUsageOID.SERVER_AUTH] if leaf.names else []  # type: ignore[attr-defined]
    assert purposes == wanted
    assert found.extensions.get_extension_for_class(x509.KeyUsage).value.digital_signature
    assert not found.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


@pytest.mark.parametrize(("file", "node"), [("kubelet", "local-1"), ("kubelet-2", "local-2"), ("kubelet-3", "local-3")])
def test_each_kubelet_certificate_names_its_node(pki: Path, file: str, node: str) -> None:
    assert load(pki, file).subject.rfc4514_string() == f"CN=system:node:{node},O=system:nodes"


def test_chain_passes_rfc_5280_checks(pki: Path) -> None:
    store = Store([load(pki, "ca")])
    verifier = PolicyBuilder().store(store).build_server_verifier(x509.DNSName("kubernetes.default.svc"))
    assert len(verifier.verify(load(pki, "apiserver"), [])) == 2


def test_handshake_passes_strict_checks_of_openssl(pki: Path) -> None:
    """Python 3.13 sets VERIFY_X509_STRICT by default."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(pki / "apiserver.crt", pki / "apiserver.key")
    server.load_verify_locations(pki / "ca.crt")
    server.verify_mode = ssl.CERT_REQUIRED
    server.verify_flags |= ssl.VERIFY_X509_STRICT
    client = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    client.load_cert_chain(pki / "admin.crt", pki / "admin.key")
    subject = handshake(server, client, "127.0.0.1")
    assert (("commonName", "kubernetes-admin"),) in subject


def handshake(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> tuple[object, ...]:
    """Return the client's subject as the server saw it."""
    import socket

    here, there = socket.socketpair()
    seen: list[tuple[object, ...]] = []

    def serve() -> None:
        with server.wrap_socket(there, server_side=True) as wrapped:
            certificate = wrapped.getpeercert() or {}
            seen.append(certificate["subject"])  # type: ignore[arg-type]
            wrapped.send(b"x")

    thread = threading.Thread(target=serve)
    thread.start()
    with client.wrap_socket(here, server_hostname=name) as wrapped:
        assert wrapped.recv(1) == b"x"
    thread.join()
    return seen[0]
