"""A Kubernetes API in a dictionary, for leases, ledgers and releases; other requests fail."""

from __future__ import annotations

import copy
import functools
import re
import threading
import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.watch import Handler

Document = dict[str, t.Any]
_KNOWN = re.compile(
    r"(/apis/[\w.]+/v1|/api/v1)(/namespaces/(?P<namespace>[^/]+))?/(leases|configmaps|secrets|pods|jobs|nodes)(/(?P<name>[^/]+))?"
)


# What discovery tells of the core group.
_CORE = (("ConfigMap", "configmaps"), ("Secret", "secrets"), ("Pod", "pods"))


class FakeKube(Kube):
    """Objects by path. `fail` maps a method and path to errors raised, in order, instead of an answer.

    With `(error, True)` the request is executed before it fails, as when an answer is lost.
    """

    def __init__(self, namespace: str = "team") -> None:
        self.kubeconfig, self.context, self.api_retry_timeout, self.clock = "", None, 60.0, Clock()
        self.namespace = namespace
        self.namespaces = {namespace}
        self.objects: dict[str, Document] = {}
        self.calls: list[str] = []
        self.fail: dict[str, list[tuple[Exception, bool]]] = {}
        self._version = 0
        # A server changes one object at a time, whoever asks.
        self.one_by_one = threading.RLock()
        # What the identity in use may do: the rules that a review tells of, and those that only a webhook knows.
        self.rules: list[Document] = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
        self.webhook: set[tuple[str, str]] = set()

    @property
    def server(self) -> str:
        return "https://fake"

    def _review(self, kind: str, spec: Document) -> Document:
        if kind == "selfsubjectrulesreviews":
            return {"status": {"resourceRules": self.rules, "incomplete": bool(self.webhook)}}
        asked = spec["resourceAttributes"]
        return {"status": {"allowed": (asked["verb"], asked["resource"]) in self.webhook}}

    def request(
        self,
        method: str,
        path: str,
        *,
        params: t.Mapping[str, t.Any] | None = None,
        body: t.Any = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> Document:
        with self.one_by_one:
            return self._answer(method, path, params, body, content_type)

    def _answer(
        self, method: str, path: str, params: t.Mapping[str, t.Any] | None, body: t.Any, content_type: str
    ) -> Document:
        if path.startswith("/apis/authorization.k8s.io/v1/selfsubject"):
            return self._review(path.rpartition("/")[2], body["spec"])
        if path == "/version":
            return {"gitVersion": "v1.35.3"}
        if path == "/api/v1":
            return {"resources": [{"kind": kind, "name": plural, "namespaced": True} for kind, plural in _CORE]}
        found = _KNOWN.fullmatch(path)
        if found is None or method not in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            raise NotImplementedError(f"{method} {path}")
        self.calls.append(f"{method} {path}")
        error, first = (self.fail.get(f"{method} {path}") or [(None, False)])[0]
        if error is not None:
            self.fail[f"{method} {path}"].pop(0)
            if not first:
                raise error
        # The real one says so only when something is created; a list is empty, an object absent.
        if method == "POST" and found["namespace"] not in self.namespaces:
            raise AbsentError(f'namespaces "{found["namespace"]}" not found')
        handler = getattr(self, f"_{method.lower()}")
        answer: Document = copy.deepcopy(handler(path, found["name"], params or {}, copy.deepcopy(body), content_type))
        if error is not None:
            raise error
        return answer

    def put(self, path: str, entry: Document) -> Document:
        """Store an object as another client would."""
        with self.one_by_one:
            return self._store(path, copy.deepcopy(entry))

    def _store(self, path: str, entry: Document) -> Document:
        self._version += 1
        entry.setdefault("metadata", {})["resourceVersion"] = str(self._version)
        self.objects[path] = entry
        return entry

    def _get(self, path: str, name: str | None, params: t.Mapping[str, t.Any], body: t.Any, _: str) -> Document:
        if name:
            return self._existing(path)
        wanted = dict(part.split("=") for part in str(params.get("labelSelector", "")).split(",") if part)
        beginning, _, plural = path.rpartition("/")
        match = re.compile(
            re.escape(path) + "/[^/]+"
            if "/namespaces/" in path
            else re.escape(beginning) + f"/namespaces/[^/]+/{plural}/[^/]+"
        )
        items = [entry for key, entry in self.objects.items() if match.fullmatch(key)]
        return {
            "metadata": {"resourceVersion": str(self._version)},
            "items": [one for one in items if wanted.items() <= (one["metadata"].get("labels") or {}).items()],
        }

    def _post(self, path: str, name: str | None, params: object, body: t.Any, _: str) -> Document:
        target = f"{path}/{body['metadata']['name']}"
        if target in self.objects:
            raise ConflictError(f"POST {path}: {body['metadata']['name']} already exists.")
        body["metadata"]["namespace"] = path.split("/namespaces/")[1].split("/")[0]
        return self._store(target, body)

    def _put(self, path: str, name: str | None, params: object, body: t.Any, _: str) -> Document:
        self._check(path, body["metadata"].get("resourceVersion"))
        return self._store(path, body)

    def _patch(self, path: str, name: str | None, params: object, body: t.Any, content_type: str) -> Document:
        if content_type != "application/merge-patch+json":
            raise NotImplementedError(content_type)
        return self._store(path, _merged(self._existing(path), body))

    def _delete(self, path: str, name: str | None, params: object, body: t.Any, _: str) -> Document:
        self._check(path, ((body or {}).get("preconditions") or {}).get("resourceVersion"))
        return self.objects.pop(path)

    def _existing(self, path: str) -> Document:
        if path not in self.objects:
            raise AbsentError(f"GET {path}: not found.")
        return self.objects[path]

    def _check(self, path: str, version: str | None) -> None:
        if version is not None and self._existing(path)["metadata"]["resourceVersion"] != version:
            raise ConflictError(f"PUT {path}: the object has been modified.")
        self._existing(path)


class Glance:
    """A watch that lists once at each start."""

    def __init__(self, kube: Kube, path: str, params: t.Mapping[str, t.Any], handle: Handler) -> None:
        self._look = functools.partial(kube.request, "GET", path, params=params)
        self._handle = handle
        self._known: dict[str, Document] = {}

    def start(self) -> None:
        """Report all existing and all deleted objects."""
        found = {entry["metadata"]["uid"]: entry for entry in self._look()["items"]}
        for uid in self._known.keys() - found.keys():
            self._handle("GONE", self._known[uid])
        for entry in found.values():
            self._handle("SEEN", entry)
        self._known = found
        self._handle("SYNCED", {})

    def stop(self) -> None:
        """Do nothing: there is no thread."""


def _merged(base: t.Any, over: t.Any) -> t.Any:
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    merged = {key: value for key, value in base.items() if over.get(key, 0) is not None}
    return {**merged, **{key: _merged(base.get(key), value) for key, value in over.items() if value is not None}}
