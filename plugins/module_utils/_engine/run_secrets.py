# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The Kubernetes Secrets of a step: made before its Helm release, removed with it.

A Secret is ours by its labels: `app.kubernetes.io/managed-by`, and one for each Helm release that uses it, whose value
is the run's release. It is deleted with the last of these releases. Its content is stored nowhere else.

While a server is upgraded, its Secrets also hold what the serving revision needs: its keys, and the former content
under keys with a prefix. A later controller can restore it from there.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    AbsentError,
    ConflictError,
    EksError,
    ForbiddenError,
    InvalidInputError,
    UnreachableError,
)
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection, item
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import Plan
from ansible_collections.mlops.eks.plugins.module_utils._recipe.declared_secrets import DeclaredSecret, DeclaredSecrets
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import strings

_MANAGED, _US = "app.kubernetes.io/managed-by", "mlops.eks"
_USED_BY = "used-by.mlops.eks/"
# Prefix of the keys with the content before the upgrade in progress.
_BEFORE = "before-upgrade.mlops.eks."
_Data = dict[str, str]
# Attempts at a change, each lost to somebody who changes the Secret between our read and write.
_TRIES = 20


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One Secret that a step needs, and its content."""

    name: str
    content: Mapping[str, str] = field(repr=False)
    type: str = "Opaque"

    @property
    def data(self) -> dict[str, str]:
        """The content in base64, as the API expects it."""
        return {key: base64.b64encode(text.encode()).decode() for key, text in self.content.items()}


@dataclass(frozen=True, kw_only=True)
class RunSecrets:
    """The Secrets of Helm release `helm_release`, which belongs to run `release`."""

    kube: Kube
    release: str
    helm_release: str
    say: Callable[[str], None]
    declared: DeclaredSecrets = field(default_factory=DeclaredSecrets)

    def needed(self, plan: Plan) -> list[str]:
        """Return the names of the Secrets that a plan needs: its own, and the declared ones that its manifest names."""
        named = _strings(plan)
        own = [plan.secret] if plan.split.secrets else []
        return [*own, *(one.name for one in self.declared.entries if one.data and one.name in named)]

    def wanted(self, plan: Plan) -> list[Wanted]:
        """Return the Secrets that a plan needs, with their content.

        Raises:
            EksError: the content of one cannot be read from its origin.
        """
        needed = self.needed(plan)
        return [one for one in self._all(plan) if one.name in needed]

    def _all(self, plan: Plan) -> list[Wanted]:
        own = [Wanted(name=plan.secret, content=plan.split.secrets)] if plan.split.secrets else []
        if own and any(one.name == plan.secret for one in self.declared.entries):
            raise InvalidInputError(
                f"secrets: Secret {plan.secret} is the step's own. Give the declared one another name."
            )
        content = self.declared.content
        declared = (one for one in self.declared.entries if one.data)
        return [*own, *(Wanted(name=one.name, content=content(one), type=one.type) for one in declared)]

    def check(self, plan: Plan, *, upgrade: bool) -> None:
        """Check that the Secrets can be made and that references resolve; nothing is changed.

        Raises:
            ConflictError: a Secret of that name is not ours.
            InvalidInputError: a declared or referenced Secret neither exists nor will be made.
            EksError: the content of one cannot be read from its origin.
        """
        wanted = self._all(plan)
        for declared in self.declared.entries:
            self._require_declared(declared)
        for one in wanted:
            if (found := self._read(one.name)) is not None:
                self._require_ours(one, found)
        made = {one.name: one.content for one in wanted}
        for key, name, entry in plan.split.references:
            found = self._read(name)
            # Our own is removed before the step is installed, unless that is an upgrade.
            there = found is not None and (name != plan.secret or upgrade or not _is_ours(found))
            if entry not in (made.get(name) or {}) and not (there and entry in ((found or {}).get("data") or {})):
                raise InvalidInputError(self._missing(plan, key, name, entry))

    def make(self, wanted: Iterable[Wanted], *, upgrade: bool = False) -> list[str]:
        """Create or update Secrets, and return the names of those whose content has changed.

        For an `upgrade` they also keep their former content, until `settle` or `restore`.

        Raises:
            ConflictError: a Secret of that name is not ours; those created by this call are removed.
        """
        made: list[str] = []
        changed: list[str] = []
        try:
            for one in wanted:
                before, after = self._ensure(one, upgrade=upgrade)
                made += [one.name] if before is None else []
                changed += [one.name] if before not in (None, after) else []
        except EksError:
            for name in made:
                self._release_secret(name)
            raise
        return changed

    def refresh(self, plan: Plan) -> None:
        """Update the Secrets of an installed release; on an error they stay as they are."""
        try:
            changed = self.make(self.wanted(plan))
        except UnreachableError:
            raise
        except EksError as error:
            self.say(f"{error} What is installed goes on with its Secrets as they are.")
            return
        for name in changed:
            self.say(
                f"Secret {name}: has new content, which containers read when they start. "
                f"For a server: kubectl rollout restart {str(plan.ref).lower()} --namespace {self.kube.namespace}"
            )

    def remove(self) -> None:
        """Give up every Secret of the release; those that no other release uses are deleted."""
        for name in self._used():
            self._release_secret(name)

    def settle(self, plan: Plan) -> None:
        """Remove what earlier revisions of a server needed, now that it is ready; an error is only printed."""
        named = _strings(plan)
        try:
            for name in self._used():
                if name in named:
                    self._change(name, lambda now, _: now)
                else:
                    self._release_secret(name)
        except EksError as error:
            self.say(f"release {self.helm_release}: its earlier Secrets are still there: {error}")

    def restore(self) -> None:
        """Give the Secrets the content that they had before the upgrade."""
        for name in self._used():
            self._change(name, lambda now, before: before or now)

    def _used(self) -> list[str]:
        params = {"labelSelector": f"{_USED_BY}{self.helm_release}={self.release}"}
        found = self.kube.request("GET", collection("v1", "secrets", self.kube.namespace), params=params)
        return [entry["metadata"]["name"] for entry in found.get("items") or ()]

    def _change(self, name: str, choose: Callable[[_Data, _Data], _Data]) -> None:
        """End an upgrade of a Secret: its content becomes `choose(now, before)`."""
        for _ in range(_TRIES):
            found = self._read(name)
            now, before = _parts(found or {})
            if not before or not _is_ours(found or {}):
                return
            if self._try_write("PUT", self._path(name), {**(found or {}), "data": choose(now, before)}):
                return
        raise ConflictError(f"Secret {name}: others changed it at each attempt. Run the same command again.")

    def _ensure(self, wanted: Wanted, *, upgrade: bool) -> tuple[_Data | None, _Data]:
        """Create or update one Secret; return its content before, `None` if it did not exist, and after."""
        mine = {_MANAGED: _US, f"{_USED_BY}{self.helm_release}": self.release}
        for _ in range(_TRIES):
            found = self._read(wanted.name)
            if found is None:
                metadata = {"name": wanted.name, "labels": mine}
                body = {
                    "apiVersion": "v1",
                    "kind": "Secret",
                    "metadata": metadata,
                    "type": wanted.type,
                    "data": wanted.data,
                }
                if self._try_write("POST", collection("v1", "secrets", self.kube.namespace), body):
                    return None, wanted.data
                continue
            self._require_ours(wanted, found)
            (now, before), labels = _parts(found), found["metadata"]["labels"]
            after = {**now, **wanted.data} if upgrade or before else wanted.data
            if after == now and mine.items() <= labels.items():
                return now, after
            # When an upgrade is retried, the content before its first attempt is kept.
            kept = before or (now if upgrade and after != now else {})
            data = {**after, **{_BEFORE + key: text for key, text in kept.items()}}
            metadata = {**found["metadata"], "labels": {**labels, **mine}}
            if self._try_write("PUT", self._path(wanted.name), {**found, "metadata": metadata, "data": data}):
                return now, after
        raise ConflictError(f"Secret {wanted.name}: others changed it at each attempt. Run the same command again.")

    def _release_secret(self, name: str) -> None:
        """Remove our label from a Secret, and delete it if no other release uses it."""
        for _ in range(_TRIES):
            found = self._read(name)
            if found is None or not _is_ours(found):
                return
            metadata = found["metadata"]
            labels = {key: one for key, one in metadata["labels"].items() if key != _USED_BY + self.helm_release}
            if any(key.startswith(_USED_BY) for key in labels):
                done = self._try_write("PUT", self._path(name), {**found, "metadata": {**metadata, "labels": labels}})
            else:
                same = {"resourceVersion": metadata["resourceVersion"]}
                done = self._try_write("DELETE", self._path(name), {"preconditions": same})
            if done:
                return
        raise ConflictError(f"Secret {name}: others changed it at each attempt. Run the same command again.")

    def _try_write(self, method: str, path: str, body: Document) -> bool:
        """Send a change; return False if somebody else was faster, and the Secret must be read again."""
        try:
            self.kube.request(method, path, body=body)
        except (ConflictError, AbsentError) as error:
            # The namespace does not exist.
            if method == "POST" and isinstance(error, AbsentError):
                raise
            return False
        return True

    def _require_ours(self, wanted: Wanted, found: Document) -> None:
        where = f"Secret {wanted.name} in namespace {self.kube.namespace}"
        if not _is_ours(found):
            raise ConflictError(
                f"{where}: it exists and was not made by this collection; it is not changed. Remove it, "
                "or refer to it in the values: {secretKeyRef: {name: " + wanted.name + ", key: …}}."
            )
        labels = found["metadata"]["labels"]
        others = sorted({run for key, run in labels.items() if key.startswith(_USED_BY)} - {self.release})
        if others and _parts(found)[0] != wanted.data:
            raise ConflictError(
                f"{where}: run {', '.join(others)} uses it with other content. Give yours another name."
            )

    def _require_declared(self, declared: DeclaredSecret) -> None:
        data = {} if declared.data else (self._read(declared.name) or {}).get("data") or {}
        if missing := [key for key in declared.keys if key not in data]:
            raise InvalidInputError(
                f"secrets: Secret {declared.name} with {', '.join(missing)} is not in namespace {self.kube.namespace}. "
                "Make it, or set where its content comes from under data."
            )

    def _missing(self, plan: Plan, key: str, name: str, entry: str) -> str:
        if name == plan.secret:
            return (
                f"{key}: refers to Secret {name}, which a step makes from its values, and which no evidence has. "
                f"Set it again: -e '{{\"recipe_values\": {_nested(key)}}}'"
            )
        where = f"namespace {self.kube.namespace}"
        return (
            f"{key}: refers to key {entry!r} of Secret {name}, which is not in {where}. Make it, or correct the values."
        )

    def _read(self, name: str) -> Document | None:
        try:
            return self.kube.get(self._path(name))
        except ForbiddenError:
            # Without the right to read it, the API refuses a later change that is not possible.
            return None

    def _path(self, name: str) -> str:
        return item("v1", "secrets", self.kube.namespace, name)


def remove_all(kube: Kube, release: str, helm_releases: Iterable[str], say: Callable[[str], None]) -> None:
    """Remove the Secrets of several Helm releases of one run."""
    for name in helm_releases:
        RunSecrets(kube=kube, release=release, helm_release=name, say=say).remove()


def _strings(plan: Plan) -> set[str]:
    """Return every string in the manifest: in a custom kind, any field may name a Secret."""
    return {text for _, text in strings(plan.manifest)}


def _parts(found: Document) -> tuple[_Data, _Data]:
    """Return the content of a Secret, and its content before the upgrade in progress."""
    data = found.get("data") or {}
    before = {key.removeprefix(_BEFORE): text for key, text in data.items() if key.startswith(_BEFORE)}
    return {key: text for key, text in data.items() if not key.startswith(_BEFORE)}, before


def _is_ours(found: Document) -> bool:
    return ((found.get("metadata") or {}).get("labels") or {}).get(_MANAGED) == _US


def _nested(key: str) -> str:
    """Return the JSON that sets a dotted key."""
    text = '"…"'
    for part in reversed(key.split(".")):
        text = f'{{"{part}": {text}}}'
    return text
