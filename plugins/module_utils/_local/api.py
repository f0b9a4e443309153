# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The API requests that the start of a cluster needs, with the standard library only."""

from __future__ import annotations

import dataclasses
import http.client
import json
import ssl
import typing as t
import urllib.error
import urllib.request

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ClusterError, UnreachableError
from ansible_collections.mlops.eks.plugins.module_utils._local.addresses import Addresses
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout

Document = dict[str, t.Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Api:
    """The API server of one cluster, with the administrator's certificate."""

    server: str
    context: ssl.SSLContext

    @classmethod
    def of(cls, layout: Layout, addresses: Addresses) -> t.Self:
        """Return the API of a cluster whose certificates exist."""
        context = ssl.create_default_context(cafile=str(layout.pki("ca.crt")))
        context.load_cert_chain(layout.pki("admin.crt"), layout.pki("admin.key"))
        return cls(server=addresses.server, context=context)

    def get(self, path: str) -> Document | None:
        """Return the object at `path`, or `None`."""
        status, text = self._request("GET", path, None)
        if status == 404:
            return None
        return t.cast("Document", json.loads(_checked(path, status, text)))

    def create(self, path: str, document: Document) -> bool:
        """Create an object; return whether it is new."""
        status, text = self._request("POST", path, document)
        if status == 409:
            return False
        _checked(path, status, text)
        return True

    def is_ready(self) -> bool:
        """Return whether the API server reports that it is ready."""
        try:
            return self._request("GET", "/readyz", None)[0] == 200
        except UnreachableError:
            return False

    def _request(self, method: str, path: str, document: Document | None) -> tuple[int, str]:
        body = None if document is None else json.dumps(document).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.server + path, data=body, method=method, headers=headers)
        return fetch(request, self.context)


def is_healthy(url: str) -> bool:
    """Return whether `url` answers 200. The certificate is not checked, because the link stays on this machine."""
    try:
        return fetch(urllib.request.Request(url), ssl._create_unverified_context())[0] == 200
    except UnreachableError:
        return False


def fetch(request: urllib.request.Request, context: ssl.SSLContext) -> tuple[int, str]:
    """Return status and text of a request, never through a proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(request, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except (OSError, http.client.HTTPException) as error:
        raise UnreachableError(f"{request.full_url} does not answer: {error}") from error


def _checked(path: str, status: int, text: str) -> str:
    if status >= 500:
        raise UnreachableError(f"API server cannot serve {path} now (status {status}): {text[:300]}")
    if status >= 400:
        raise ClusterError(f"API server refused {path} with status {status}: {text[:300]}")
    return text
