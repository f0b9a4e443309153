# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Lists and watches one collection until it is stopped; no error ends the watch.

Source: Kubernetes API concepts, "Efficient detection of changes" (bookmarks, 410 Gone); KEP-5504 (resourceVersions of
one collection can be compared as numbers).
"""

from __future__ import annotations

import json
import random
import threading
import time
import typing as t
from collections.abc import Callable, Iterator

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ClusterError, ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import urllib3
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import (
    WATCH_SECONDS,
    BusyError,
    Document,
    Kube,
    Params,
)
from ansible_collections.mlops.eks.plugins.module_utils._kube.listing import items

# Failures in a row, about two seconds, after which an ERROR is delivered.
_NOTICE_AFTER = 3
# A watch that ended within this many seconds failed.
_MIN_LIFETIME = 1.0
# The longest wait that a server can ask for, in seconds.
_MAX_WAIT = 60.0
# How many deleted objects are remembered, so that late events do not restore them.
_MAX_DELETED = 1000
Verb = t.Literal["SEEN", "GONE", "SYNCED", "ERROR"]
# Called with the verb and the object: SEEN (new or changed), GONE (deleted), SYNCED (a whole list was delivered),
# ERROR (`{"message": text}`; the watch goes on).
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
        # By uid, the version at which an object was deleted, oldest first.
        self._deleted: dict[str, str] = {}
        # The resourceVersion from which to watch; after a lost connection, nothing is delivered twice.
        self._at = ""
        # When the current watch was opened, 0 while there is none.
        self._opened = 0.0
        # The last error, which is not repeated until the watch has worked.
        self._last_error = ""

    def stop(self) -> None:
        """End the watch; a blocked read is woken."""
        self._stopped.set()
        wake(self._response)

    def run(self) -> None:
        """List and watch, and start again after any error."""
        failures = 0
        while not self._stopped.is_set():
            self._opened, wait = 0.0, 0.0
            try:
                self._at = self._at or self._list()
                self._follow()
            except _GoneError:
                self._at = ""
            except BusyError as error:
                wait = min(error.wait, _MAX_WAIT)
                self._report(failures, f"cluster {self._kube.server} does not answer ({error})")
            except (ClusterError, ConflictError) as error:
                # Also when the resource is not served because its CRD is missing.
                status = error.details.get("status")
                self._at = self._at if status == 401 else ""
                if status != 410:
                    self._error(str(error))
            except (urllib3.exceptions.HTTPError, OSError, ValueError, KeyError, TypeError, AttributeError):
                # AttributeError: urllib3 drops its file object when a response is shut down during a read. The ones
                # before it: the data is no complete watch event.
                self._report(failures, f"cluster {self._kube.server}: its watches break off")
            # Back off when a watch ends at once, after an error or because a proxy closes it.
            worked = self._opened and time.monotonic() - self._opened >= _MIN_LIFETIME
            failures = 0 if worked else failures + 1
            self._last_error = "" if worked else self._last_error
            if failures or wait:
                self._stopped.wait(max(backoff(failures), wait))

    def _report(self, failures: int, message: str) -> None:
        if failures == _NOTICE_AFTER:
            self._error(message)

    def _error(self, message: str) -> None:
        if message != self._last_error:
            self._last_error = message
            self._handle("ERROR", {"message": message})

    def _list(self) -> str:
        answer = self._kube.request("GET", self._path, params=self._params)
        found = {entry["metadata"]["uid"]: _slim(entry) for entry in items(answer)}
        at = str(answer["metadata"]["resourceVersion"])
        self._deleted.clear()
        for uid in [uid for uid in self._known if uid not in found]:
            self._handle("GONE", self._known.pop(uid))
        for uid, entry in found.items():
            # A list is authoritative, also after a restored backup, when versions go backwards.
            before = self._known.get(uid)
            self._known[uid] = entry
            if before is None or _version(before) != _version(entry):
                self._handle("SEEN", entry)
        self._handle("SYNCED", {})
        return at

    def _follow(self) -> None:
        params = {
            **self._params,
            "watch": 1,
            "allowWatchBookmarks": "true",
            "resourceVersion": self._at,
            "timeoutSeconds": WATCH_SECONDS,
        }
        # The server closes the watch after WATCH_SECONDS; without that, the connection is dead.
        response = self._kube.stream(self._path, params, read_timeout=WATCH_SECONDS + 30)
        self._response, self._opened = response, time.monotonic()
        try:
            if self._stopped.is_set():
                # `stop` was called before there was a response to wake.
                return
            for line in _lines(response):
                if self._stopped.is_set():
                    break
                version = self._deliver(json.loads(line))
                self._at = version if _later(version, self._at) else self._at
        finally:
            self._response = None
            response.close()

    def _deliver(self, event: Document) -> str:
        entry = _slim(event["object"])
        match event["type"]:
            case "ERROR":
                raise _refused(entry)
            case "ADDED" | "MODIFIED" if self._is_new(entry):
                self._known[entry["metadata"]["uid"]] = entry
                self._handle("SEEN", entry)
            case "DELETED" if self._is_new(entry) and entry["metadata"]["uid"] in self._known:
                uid = entry["metadata"]["uid"]
                del self._known[uid]
                self._deleted[uid] = _version(entry)
                if len(self._deleted) > _MAX_DELETED:
                    del self._deleted[next(iter(self._deleted))]
                self._handle("GONE", entry)
        return _version(entry)

    def _is_new(self, entry: Document) -> bool:
        """Return whether an event is newer than what is known: events may come twice or late."""
        uid = entry["metadata"]["uid"]
        before = self._known.get(uid)
        last = _version(before) if before else self._deleted.get(uid)
        return last is None or _later(_version(entry), last)


def _refused(status: Document) -> Exception:
    """Return the error for an ERROR event."""
    message = str(status.get("message", "watch error"))
    match status.get("code"):
        # 504: the server does not have the version yet, for example after a restored backup.
        case 410 | 504:
            return _GoneError()
        case 429 | 500:
            return BusyError(message)
        case _:
            return ClusterError(message)


def _later(version: str, than: str) -> bool:
    """Return whether a version is later; versions that are not numbers are later when they differ."""
    if version.isdecimal() and than.isdecimal():
        return int(version) > int(than)
    return bool(version) and version != than


def backoff(failures: int) -> float:
    """Return the seconds to wait before the next try: at most 10, with jitter."""
    return float(min(0.2 * 2**failures, 10.0) * random.uniform(0.5, 1.0))


def wake(response: urllib3.BaseHTTPResponse | None) -> None:
    """End a blocked read of `response` in another thread."""
    if response is None:
        return
    try:
        response.shutdown()
    except (ValueError, RuntimeError, OSError, AttributeError):
        # It has ended by itself.
        return


def _slim(entry: Document) -> Document:
    """Return an object without `managedFields`, which can be half of it."""
    entry.get("metadata", {}).pop("managedFields", None)
    return entry


def _version(entry: Document) -> str:
    return str(entry["metadata"].get("resourceVersion", ""))


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    while chunk := response.read1(1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line for line in lines if line.strip())
