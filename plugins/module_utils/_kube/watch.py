# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""List and watch one collection for as long as asked; no watch error ever ends it.

Source: Kubernetes API concepts, "Efficient detection of changes" (bookmarks, 410 Gone).
"""

from __future__ import annotations

import json
import random
import threading
import time
import typing as t
from collections.abc import Callable, Iterator

import urllib3

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ClusterError, ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import WATCH_SECONDS, Document, Kube, Params

# A watch that ended sooner than this, in seconds, did not do its work.
# Failures in a row, about two seconds of them, after which people want to know.
_WORTH_SAYING = 3
_QUICK = 1.0
Verb = t.Literal["SEEN", "GONE", "SYNCED", "ERROR"]
# Called with the verb and the object: SEEN (new or changed), GONE (deleted), SYNCED (a list was delivered whole),
# ERROR (`{"message": text}`, something worth knowing; the watch goes on).
Handler = Callable[[Verb, Document], None]


class _GoneError(Exception):
    """The server no longer has our resourceVersion: list again."""


class Watch(threading.Thread):
    """Deliver every object of `path` that matches `params` to `handle`, until `stop()`."""

    def __init__(self, kube: Kube, path: str, params: Params, handle: Handler) -> None:
        super().__init__(daemon=True, name=f"watch {path}")
        self._kube, self._path, self._params, self._handle = kube, path, dict(params), handle
        self._stopped = threading.Event()
        self._response: urllib3.BaseHTTPResponse | None = None
        self._known: dict[str, Document] = {}
        # Where the watch has got to; kept here so that a lost connection costs nothing already delivered.
        self._at = ""

    def stop(self) -> None:
        """End the watch; a blocked read is woken."""
        self._stopped.set()
        wake(self._response)

    def run(self) -> None:
        """List, watch, and begin again after whatever happens."""
        failures = 0
        while not self._stopped.is_set():
            begun = time.monotonic()
            try:
                self._at = self._at or self._list()
                self._follow()
            except _GoneError:
                self._at = ""
            except (ClusterError, ConflictError) as error:
                # Also when the resource type itself is missing: its CRD was removed or never was.
                self._at = ""
                self._handle("ERROR", {"message": str(error)})
            except (urllib3.exceptions.HTTPError, OSError, ValueError, AttributeError):
                # AttributeError: urllib3 drops its file object when the response is shut down under a reader.
                if failures == _WORTH_SAYING:
                    self._handle("ERROR", {"message": f"cluster {self._kube.server} does not answer"})
            # Whatever ends at once, an error or a proxy that closes watches, must not be asked at once again.
            failures = failures + 1 if time.monotonic() - begun < _QUICK else 0
            if failures:
                self._stopped.wait(backoff(failures))

    def _list(self) -> str:
        answer = self._kube.request("GET", self._path, params=self._params)
        items = {entry["metadata"]["uid"]: entry for entry in answer.get("items") or []}
        for uid in [uid for uid in self._known if uid not in items]:
            self._handle("GONE", self._known.pop(uid))
        for uid, entry in items.items():
            before = self._known.get(uid)
            self._known[uid] = entry
            if before is None or _version(before) != _version(entry):
                self._handle("SEEN", entry)
        self._handle("SYNCED", {})
        return str(answer["metadata"]["resourceVersion"])

    def _follow(self) -> None:
        params = {
            **self._params,
            "watch": 1,
            "allowWatchBookmarks": "true",
            "resourceVersion": self._at,
            "timeoutSeconds": WATCH_SECONDS,
        }
        # Closed by the server after WATCH_SECONDS; silence much longer than that means a dead connection.
        response = self._kube.stream(self._path, params, read_timeout=WATCH_SECONDS + 30)
        self._response = response
        try:
            if self._stopped.is_set():
                # It came too late for `stop` to wake it.
                return
            for line in _lines(response):
                if self._stopped.is_set():
                    break
                self._at = self._one(json.loads(line)) or self._at
        finally:
            self._response = None
            response.close()

    def _one(self, event: Document) -> str:
        entry = event["object"]
        match event["type"]:
            case "ERROR":
                if entry.get("code") == 410:
                    raise _GoneError
                raise ClusterError(str(entry.get("message", "watch error")))
            case "ADDED" | "MODIFIED":
                uid = entry["metadata"]["uid"]
                before = self._known.get(uid)
                self._known[uid] = entry
                if before is None or _version(before) != _version(entry):
                    self._handle("SEEN", entry)
            case "DELETED":
                self._known.pop(entry["metadata"]["uid"], None)
                self._handle("GONE", entry)
        return _version(entry)


def backoff(failures: int) -> float:
    """Return the seconds to wait before trying again, with jitter, 10 s at most."""
    return float(min(0.2 * 2**failures, 10.0) * random.uniform(0.5, 1.0))


def wake(response: urllib3.BaseHTTPResponse | None) -> None:
    """End a read of `response` that another thread is blocked in."""
    if response is None:
        return
    try:
        response.shutdown()
    except (ValueError, RuntimeError, OSError, AttributeError):
        # It ended by itself in the meantime.
        return


def _version(entry: Document) -> str:
    return str(entry["metadata"].get("resourceVersion", ""))


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    while chunk := response.read1(1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line for line in lines if line.strip())
