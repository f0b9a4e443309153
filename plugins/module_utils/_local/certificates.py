# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The certificate authority of a cluster and the certificates it signs.

Python 3.13 and OpenSSL in strict mode refuse an authority without a critical `keyUsage` and leaves without
`authorityKeyIdentifier`, so every extension RFC 5280 asks for is present.
"""

from __future__ import annotations

import dataclasses
import datetime
import ipaddress
import os
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import ec, hashes, serialization, x509
from ansible_collections.mlops.eks.plugins.module_utils._local.addresses import Addresses
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout, Node

LIFETIME = datetime.timedelta(days=3650)
# A machine whose clock is set back a little must still accept its certificates.
BACKDATE = datetime.timedelta(hours=1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Leaf:
    """One certificate to sign: a server's if it has `names`, else a client's."""

    file: str
    common_name: str
    organization: str | None = None
    names: tuple[str, ...] = ()
    client: bool = True


@dataclasses.dataclass(frozen=True, kw_only=True)
class Authority:
    """The signing key and its certificate."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate


def leaves(layout: Layout, addresses: Addresses) -> tuple[Leaf, ...]:
    """Return every certificate of a cluster."""
    api_names = (
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
        "localhost",
        "127.0.0.1",
        addresses.control_plane,
        addresses.api_service,
    )
    return (
        Leaf(file="apiserver", common_name="kube-apiserver", names=api_names, client=False),
        Leaf(
            file="apiserver-kubelet-client", common_name="kube-apiserver-kubelet-client", organization="system:masters"
        ),
        Leaf(file="front-proxy-client", common_name="front-proxy-client"),
        Leaf(file="admin", common_name="kubernetes-admin", organization="system:masters"),
        Leaf(file="controller-manager", common_name="system:kube-controller-manager"),
        Leaf(file="scheduler", common_name="system:kube-scheduler"),
        Leaf(file="proxy", common_name="system:kube-proxy"),
        Leaf(file="coredns", common_name="coredns", organization="system:masters"),
        *(_kubelet(layout.node(number), addresses) for number in addresses.numbers),
    )


def _kubelet(node: Node, addresses: Addresses) -> Leaf:
    names = (node.name, addresses.node(node.number))
    return Leaf(
        file=node.named("kubelet"), common_name=f"system:node:{node.name}", organization="system:nodes", names=names
    )


def ensure_pki(directory: Path, wanted: tuple[Leaf, ...]) -> bool:
    """Create the missing ones of authority, leaves and service account key; return whether any was missing."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = False
    if not (directory / "ca.key").exists():
        _write_pair(directory, "ca", *_authority())
        made = True
    authority = _load(directory)
    for leaf in wanted:
        if not (directory / f"{leaf.file}.key").exists():
            _write_pair(directory, leaf.file, *_sign(authority, leaf))
            made = True
    if not (directory / "service-account.key").exists():
        key = _new_key()
        _write(directory / "service-account.pub", _public_pem(key))
        _write(directory / "service-account.key", _private_pem(key))
        made = True
    return made


def _authority() -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = _new_key()
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "kubernetes")])
    builder = _builder(name, name, key).add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    builder = builder.add_extension(_usage(sign_certificates=True), critical=True)
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    return key, builder.sign(key, hashes.SHA256())


def _sign(authority: Authority, leaf: Leaf) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = _new_key()
    attributes = [x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, leaf.common_name)]
    if leaf.organization:
        attributes.insert(0, x509.NameAttribute(x509.oid.NameOID.ORGANIZATION_NAME, leaf.organization))
    builder = _builder(x509.Name(attributes), authority.certificate.subject, key)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(_usage(sign_certificates=False), critical=True)
    purposes = [x509.oid.ExtendedKeyUsageOID.CLIENT_AUTH] if leaf.client else []
    if leaf.names:
        purposes.append(x509.oid.ExtendedKeyUsageOID.SERVER_AUTH)
        names = x509.SubjectAlternativeName([_general_name(name) for name in leaf.names])
        builder = builder.add_extension(names, critical=False)
    builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
    issuer_key = authority.certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    identifier = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer_key)
    builder = builder.add_extension(identifier, critical=False)
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    return key, builder.sign(authority.key, hashes.SHA256())


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - BACKDATE).not_valid_after(now + LIFETIME)


def _usage(*, sign_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not sign_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=sign_certificates,
        crl_sign=sign_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _load(directory: Path) -> Authority:
    key = serialization.load_pem_private_key((directory / "ca.key").read_bytes(), password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError(f"{directory / 'ca.key'} does not hold an elliptic curve key")
    return Authority(key=key, certificate=x509.load_pem_x509_certificate((directory / "ca.crt").read_bytes()))


def _private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    kind = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, kind, serialization.NoEncryption())


def _public_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    kind = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, kind)


def _write_pair(directory: Path, name: str, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
    """Write the key last: its presence means that the pair is complete."""
    _write(directory / f"{name}.crt", certificate.public_bytes(serialization.Encoding.PEM))
    _write(directory / f"{name}.key", _private_pem(key))


def _write(path: Path, content: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
