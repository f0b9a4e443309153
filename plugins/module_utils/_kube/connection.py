# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The connection to one API server: TLS, proxies, open connections, and the credential of each request."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import tempfile
import threading
import typing as t
import warnings
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ForbiddenError, InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import urllib3
from ansible_collections.mlops.eks.plugins.module_utils._kube.credentials import Pair, login, pair
from ansible_collections.mlops.eks.plugins.module_utils._kube.kubeconfig import access

_CONNECT_TIMEOUT = 10.0
# Keeps a silent log open through load balancers (350 s at AWS), and finds a dead connection within a minute.
_KEEP_ALIVE = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)] + [
    # macOS has another name for the first one; its default is used there.
    (socket.IPPROTO_TCP, getattr(socket, name), value)
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
    if hasattr(socket, name)
]


class Connection:
    """Connections to the API server that `context` of a kubeconfig names; threads may share one.

    `insecure` says that the server's certificate is not checked.

    Raises:
        InvalidInputError: the kubeconfig cannot be used.
    """

    def __init__(self, kubeconfig: str, context: str | None) -> None:
        found = access(kubeconfig, context)
        self._kubeconfig, self._context = kubeconfig, found.context
        self._cluster, self._user = found.cluster, found.user
        self.server = found.cluster.text("server").rstrip("/")
        if not self.server:
            raise found.cluster.mistake("server", "missing")
        self.insecure = found.cluster.flag("insecure-skip-tls-verify")
        if self.insecure:
            # `Kube` prints one line instead of a warning for every request.
            warnings.simplefilter("ignore", urllib3.exceptions.InsecureRequestWarning)
        self._login = login(found)
        self._lock = threading.Lock()
        self._pair = pair(found.user)
        self._pool = self._open(self._pair)

    def renewed(self) -> Connection:
        """Return a connection with the present credentials of the kubeconfig."""
        try:
            fresh = Connection(self._kubeconfig, self._context)
        except InvalidInputError:
            # The file is being written, or is gone.
            return self
        # A changed file must not move a run to another cluster.
        return fresh if fresh.server == self.server else self

    def send(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str],
        stream: bool = False,
        read_timeout: float,
    ) -> urllib3.BaseHTTPResponse:
        """Send one request. With `stream` the response is read, and closed, by the caller.

        Raises:
            urllib3.exceptions.HTTPError: no answer. ForbiddenError: there is no credential.
        """
        credential = self._login.credential()
        login_header = {"Authorization": credential.authorization} if credential.authorization else {}
        return self._pool_of(credential.pair).request(
            method,
            f"{self.server}{path}",
            body=body,
            headers={"User-Agent": "mlops.eks", **headers, **login_header},
            preload_content=not stream,
            retries=False,
            redirect=False,
            timeout=urllib3.Timeout(connect=_CONNECT_TIMEOUT, read=read_timeout),
        )

    def _pool_of(self, wanted: Pair) -> urllib3.PoolManager:
        """Return the connections for a client certificate, which an exec plugin may change."""
        with self._lock:
            if wanted != self._pair:
                try:
                    self._pool = self._open(wanted)
                except InvalidInputError as error:
                    raise ForbiddenError(str(error), status=401) from error
                self._pair = wanted
            return self._pool

    def _open(self, client: Pair) -> urllib3.PoolManager:
        options: dict[str, t.Any] = {
            "num_pools": 4,
            "maxsize": 32,
            "block": False,
            "socket_options": [*urllib3.connection.HTTPConnection.default_socket_options, *_KEEP_ALIVE],
        }
        if self.server.startswith("https:"):
            options["ssl_context"] = self._tls(client)
            options["server_hostname"] = self._cluster.text("tls-server-name") or None
        proxy = self._cluster.text("proxy-url") or _environment_proxy(self.server)
        if not proxy:
            return urllib3.PoolManager(**options)
        try:
            return urllib3.ProxyManager(proxy, **options)
        except (urllib3.exceptions.ProxySchemeUnknown, urllib3.exceptions.LocationParseError) as error:
            raise self._cluster.mistake("proxy-url", f"{error}; an http or https URL expected") from error

    def _tls(self, client: Pair) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # Python 3.13's strict mode, which urllib3 adopts, refuses the authorities of EKS clusters created in 1.16 or
        # earlier: they lack an Authority Key Identifier (kubernetes-client/python#2394). kubectl accepts them.
        context.verify_flags = (context.verify_flags | ssl.VERIFY_X509_PARTIAL_CHAIN) & ~ssl.VERIFY_X509_STRICT
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        authority = self._cluster.content("certificate-authority")
        try:
            if authority is None:
                context.load_default_certs()
            else:
                context.load_verify_locations(cadata=authority.decode("ascii", errors="replace"))
        except ssl.SSLError as error:
            message = f"no certificate in PEM form ({error.reason or error})"
            raise self._cluster.mistake("certificate-authority", message) from error
        if client.certificate:
            self._present(context, client)
        return context

    def _present(self, context: ssl.SSLContext, client: Pair) -> None:
        """Load the client's certificate. OpenSSL needs files: they exist for a moment, in a private directory."""
        with tempfile.TemporaryDirectory(prefix="mlops-eks-") as directory:
            certificate, key = Path(directory) / "certificate", Path(directory) / "key"
            certificate.write_bytes(client.certificate)
            key.write_bytes(client.key)
            try:
                # A key under a passphrase would ask for it on the terminal.
                context.load_cert_chain(certificate, key, password=lambda: b"")
            except (ssl.SSLError, ValueError) as error:
                message = f"certificate and key (client-key) cannot be used ({getattr(error, 'reason', None) or error})"
                raise self._user.mistake("client-certificate", message) from error


def _environment_proxy(server: str) -> str | None:
    """Return the proxy from HTTPS_PROXY and similar variables, unless NO_PROXY has the host or network of `server`."""
    address, proxies = urlsplit(server), getproxies_environment()
    proxy, host = proxies.get(address.scheme) or proxies.get("all"), address.hostname or ""
    if not proxy or proxy_bypass(host) or _in_networks(host, proxies.get("no", "")):
        return None
    return proxy


def _in_networks(host: str, names: str) -> bool:
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return False
    return any(number in network for name in names.split(",") if (network := _network(name.strip())))


def _network(name: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(name, strict=False)
    except ValueError:
        return None
