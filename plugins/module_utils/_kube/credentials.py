# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The credentials of a kubeconfig's user, renewed before they expire.

Source: Kubernetes "Authenticating", client-go credential plugins (ExecCredential v1, v1beta1). As in kubectl, a token
file takes precedence over a token. The `kubernetes` package, slow to import, is used for `auth-provider` only.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import subprocess
import threading
import time
import typing as t
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import from_iso
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    EksError,
    ForbiddenError,
    MissingToolError,
)
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_redaction import secrets_in
from ansible_collections.mlops.eks.plugins.module_utils._kube.kubeconfig import Access, Section, access

# Seconds after which a plugin is stopped; it may wait for a password.
_PLUGIN_SECONDS = 60.0
# A token file is read again after this many seconds, as in client-go; kubelets renew it long before it expires.
_FILE_SECONDS = 60.0


class Pair(t.NamedTuple):
    """A client certificate and its key, as PEM; empty when there is none."""

    certificate: bytes = b""
    key: bytes = b""


@dataclass(frozen=True, kw_only=True)
class Credential:
    """The credential of a request: an `Authorization` header, a client certificate, both or neither."""

    authorization: str = ""
    pair: Pair = field(default_factory=Pair)


class Login(t.Protocol):
    """A source of credentials; threads may share one."""

    def credential(self) -> Credential:
        """Return a credential that has not expired.

        Raises:
            ForbiddenError: there is none.
        """
        ...


def pair(user: Section) -> Pair:
    """Return the client certificate in the kubeconfig, or in the files that it names.

    Raises:
        InvalidInputError: it cannot be read.
    """
    return Pair(user.content("client-certificate") or b"", user.content("client-key") or b"")


def secrets_of(kubeconfig: str, context: str | None) -> list[str | bytes]:
    """Return the secrets of a kubeconfig, to mask them; none when it cannot be used, which fails later."""
    try:
        user = access(kubeconfig, context).user
        key = user.content("client-key") or b""
        plugin = user.section("exec")
        given = plugin.entries("env") if plugin else []
        variables = {str(entry.get("name")): str(entry.get("value")) for entry in given if isinstance(entry, dict)}
        return [user.text("token"), user.text("password"), key, *secrets_in(variables)]
    except EksError:
        return []


def login(found: Access) -> Login:
    """Return the source of credentials of the context's user.

    Raises:
        InvalidInputError: the user is malformed, or names a file that cannot be read.
    """
    user = found.user
    token, plugin = user.text("token"), user.section("exec")
    if user.section("auth-provider"):
        return _Library(found)
    if user.text("tokenFile"):
        return _TokenFile(user)
    if token:
        return _Fixed(Credential(authorization=f"Bearer {token}", pair=pair(user)))
    if plugin:
        return _Plugin(plugin, found)
    if user.text("username"):
        both = f"{user.text('username')}:{user.text('password')}".encode()
        return _Fixed(Credential(authorization=f"Basic {base64.b64encode(both).decode()}", pair=pair(user)))
    return _Fixed(Credential(pair=pair(user)))


class _Fixed:
    """A credential in the kubeconfig."""

    def __init__(self, credential: Credential) -> None:
        self._credential = credential

    def credential(self) -> Credential:
        return self._credential


class _TokenFile:
    """A token in a file that another program renews."""

    def __init__(self, user: Section) -> None:
        self._user, self._pair = user, pair(user)
        self._found = self._read()
        self._read_at = time.monotonic()

    def credential(self) -> Credential:
        if time.monotonic() - self._read_at > _FILE_SECONDS:
            self._found, self._read_at = self._read(), time.monotonic()
        return self._found

    def _read(self) -> Credential:
        path = t.cast(Path, self._user.path("tokenFile"))
        try:
            token = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ForbiddenError(f"{self._user.mistake('tokenFile', f'{path}: {error}')}", status=401) from error
        return Credential(authorization=f"Bearer {token}", pair=self._pair)


class _Plugin:
    """A program that returns credentials, such as `aws eks get-token`; run again when they have expired."""

    def __init__(self, section: Section, found: Access) -> None:
        self._section, self._cluster, self._pair = section, found.cluster, pair(found.user)
        self._command = section.text("command")
        if not self._command:
            raise section.mistake("command", "missing")
        if os.sep in self._command:
            self._command = str(section.path("command"))
        self._arguments = [str(argument) for argument in section.entries("args")]
        self._found: Credential | None = None
        self._expires = 0.0
        self._lock = threading.Lock()

    def credential(self) -> Credential:
        with self._lock:
            if self._found is None or time.time() >= self._expires:
                self._found, self._expires = self._run()
            return self._found

    def _run(self) -> tuple[Credential, float]:
        try:
            done = subprocess.run(
                [self._command, *self._arguments],
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=_PLUGIN_SECONDS,
            )
        except FileNotFoundError:
            hint = self._section.text("installHint") or "Install it, or correct the kubeconfig"
            raise self._failure(f"not found. {' '.join(hint.split()).removesuffix('.')}.") from None
        except subprocess.TimeoutExpired:
            raise self._failure(f"no answer within {_PLUGIN_SECONDS:g} s. Try it by hand.") from None
        except OSError as error:
            raise self._failure(f"cannot be run ({error.strerror}).") from error
        if done.returncode != 0:
            lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no output"]
            raise self._failure(f"exit code {done.returncode}: {lines[-1]} (for EKS log in by 'aws sso login').")
        return self._parsed(done.stdout)

    def _environment(self) -> dict[str, str]:
        given = {str(entry.get("name")): str(entry.get("value")) for entry in self._section.entries("env")}
        spec: dict[str, t.Any] = {"interactive": False}
        if self._section.flag("provideClusterInfo"):
            spec["cluster"] = _cluster_info(self._cluster)
        info = {"apiVersion": self._section.text("apiVersion"), "kind": "ExecCredential", "spec": spec}
        return {**os.environ, **given, "KUBERNETES_EXEC_INFO": json.dumps(info)}

    def _parsed(self, output: bytes) -> tuple[Credential, float]:
        try:
            status = json.loads(output)["status"]
            token, expires = status.get("token") or "", status.get("expirationTimestamp")
            handed = Pair(*((status.get(key) or "").encode() for key in ("clientCertificateData", "clientKeyData")))
            authorization = f"Bearer {token}" if token else ""
            found = Credential(authorization=authorization, pair=handed if handed.certificate else self._pair)
            until = from_iso(expires) if expires else float("inf")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._failure(f"its output is no ExecCredential ({error}).") from error
        if not found.authorization and not found.pair.certificate:
            raise self._failure("its output holds neither a token nor a certificate.")
        return found, until

    def _failure(self, message: str) -> ForbiddenError:
        # Options may contain a token.
        words = itertools.takewhile(lambda word: not word.startswith("-"), self._arguments[:2])
        shown = " ".join([self._command, *words])
        where = f"kubeconfig {self._section.file}: {self._section.label}"
        return ForbiddenError(f"{where}: {shown!r}, which must log in to the cluster: {message}", status=401)


def _cluster_info(cluster: Section) -> dict[str, t.Any]:
    """Return the cluster in the form of an ExecCredential."""
    keys = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url")
    info = {key: cluster.values[key] for key in keys if key in cluster.values}
    authority = cluster.content("certificate-authority")
    if authority:
        info["certificate-authority-data"] = base64.b64encode(authority).decode()
    for entry in cluster.entries("extensions"):
        if entry.get("name") == "client.authentication.k8s.io/exec":
            info["config"] = entry.get("extension")
    return info


class _Library:
    """The old `auth-provider` entries (oidc, gcp), renewed by the `kubernetes` package."""

    def __init__(self, found: Access) -> None:
        try:
            from kubernetes import client, config
        except ImportError:
            raise MissingToolError(
                f"kubeconfig {found.user.file}: {found.user.label}.auth-provider needs the Python package "
                "'kubernetes'. Install it, or log in by an exec plugin."
            ) from None
        self._settings = client.Configuration()
        try:
            config.load_kube_config(  # type: ignore[no-untyped-call]
                str(found.user.file), found.context, self._settings
            )
        except (config.ConfigException, TypeError, ValueError, KeyError, AttributeError, OSError) as error:
            raise found.user.mistake("auth-provider", " ".join(str(error).split())) from error
        self._lock = threading.Lock()

    def credential(self) -> Credential:
        with self._lock:
            # This call renews a token that is about to expire.
            found = self._settings.auth_settings().get("BearerToken")
        return Credential(authorization=str(found["value"] or "") if found else "")
