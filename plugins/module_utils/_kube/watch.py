# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""List and watch one collection for as long as asked; no watch error ever ends it.

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

# Failures in a row, about two seconds of them, after which people want to know.
_WORTH_SAYING = 3
# A watch that ended sooner than this, in seconds, did not do its work.
_QUICK = 1.0
# A server may ask for more patience than a watch should have.
_LONGEST_WAIT = 60.0
# Deleted objects that are remembered, so that late news of them do not bring them back.
_REMEMBERED = 1000
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
        # Version at which an object was deleted, by its uid; the oldest first.
        self._deleted: dict[str, str] = {}
        # Where the watch has got to; kept here so that a lost connection costs nothing already delivered.
        self._at = ""
        # When the present watch was opened, 0 while there is none.
        self._opened = 0.0
        # What was told last; it is not told again before the watch has worked.
        self._told = ""

    def stop(self) -> None:
        """End the watch; a blocked read is woken."""
        self._stopped.set()
        wake(self._response)

    def run(self) -> None:
        """List, watch, and begin again after whatever happens."""
        failures = 0
        while not self._stopped.is_set():
            self._opened, wait = 0.0, 0.0
            try:
                self._at = self._at or self._list()
                self._follow()
            except _GoneError:
                self._at = ""
            except BusyError as error:
                wait = min(error.wait, _LONGEST_WAIT)
                self._complain(failures, f"cluster {self._kube.server} does not answer ({error})")
            except (ClusterError, ConflictError) as error:
                # Also when the resource type itself is missing: its CRD was removed or never was.
                status = error.details.get("status")
                self._at = self._at if status == 401 else ""
                if status != 410:
                    self._tell(str(error))
            except (urllib3.exceptions.HTTPError, OSError, ValueError, KeyError, TypeError, AttributeError):
                # AttributeError: urllib3 drops its file object when the response is shut down under a reader. The
                # ones before it: what came is no watch event, or half of one.
                self._complain(failures, f"cluster {self._kube.server}: its watches break off")
            # Whatever ends at once, an error or a proxy that closes watches, must not be asked at once again.
            lived = self._opened and time.monotonic() - self._opened >= _QUICK
            failures = 0 if lived else failures + 1
            self._told = "" if lived else self._told
            if failures or wait:
                self._stopped.wait(max(backoff(failures), wait))

    def _complain(self, failures: int, message: str) -> None:
        if failures == _WORTH_SAYING:
            self._tell(message)

    def _tell(self, message: str) -> None:
        if message != self._told:
            self._told = message
            self._handle("ERROR", {"message": message})

    def _list(self) -> str:
        answer = self._kube.request("GET", self._path, params=self._params)
        found = {entry["metadata"]["uid"]: _slim(entry) for entry in items(answer)}
        at = str(answer["metadata"]["resourceVersion"])
        self._deleted.clear()
        for uid in [uid for uid in self._known if uid not in found]:
            self._handle("GONE", self._known.pop(uid))
        for uid, entry in found.items():
            # What a list says is so, also after a restored back-up, when versions go backwards.
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
        # Closed by the server after WATCH_SECONDS; silence much longer than that means a dead connection.
        response = self._kube.stream(self._path, params, read_timeout=WATCH_SECONDS + 30)
        self._response, self._opened = response, time.monotonic()
        try:
            if self._stopped.is_set():
                # It came too late for `stop` to wake it.
                return
            for line in _lines(response):
                if self._stopped.is_set():
                    break
                version = self._one(json.loads(line))
                self._at = version if _later(version, self._at) else self._at
        finally:
            self._response = None
            response.close()

    def _one(self, event: Document) -> str:
        entry = _slim(event["object"])
        match event["type"]:
            case "ERROR":
                raise _refused(entry)
            case "ADDED" | "MODIFIED" if self._is_news(entry):
                self._known[entry["metadata"]["uid"]] = entry
                self._handle("SEEN", entry)
            case "DELETED" if self._is_news(entry) and entry["metadata"]["uid"] in self._known:
                uid = entry["metadata"]["uid"]
                del self._known[uid]
                self._deleted[uid] = _version(entry)
                if len(self._deleted) > _REMEMBERED:
                    del self._deleted[next(iter(self._deleted))]
                self._handle("GONE", entry)
        return _version(entry)

    def _is_news(self, entry: Document) -> bool:
        """Return whether an event says more than what is known: it may come twice, or late."""
        uid = entry["metadata"]["uid"]
        before = self._known.get(uid)
        last = _version(before) if before else self._deleted.get(uid)
        return last is None or _later(_version(entry), last)


def _refused(status: Document) -> Exception:
    """Return what an ERROR event means."""
    message = str(status.get("message", "watch error"))
    match status.get("code"):
        # 504: the server does not know our version yet, for instance after a restored back-up.
        case 410 | 504:
            return _GoneError()
        case 429 | 500:
            return BusyError(message)
        case _:
            return ClusterError(message)


def _later(version: str, than: str) -> bool:
    """Return whether a version is a later one; versions that are no numbers are only known to differ."""
    if version.isdecimal() and than.isdecimal():
        return int(version) > int(than)
    return bool(version) and version != than


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


def _slim(entry: Document) -> Document:
    """Return an object without what nobody reads, which is up to half of it."""
    entry.get("metadata", {}).pop("managedFields", None)
    return entry


def _version(entry: Document) -> str:
    return str(entry["metadata"].get("resourceVersion", ""))


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    while chunk := response.read1(1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line for line in lines if line.strip())
