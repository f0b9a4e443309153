# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The Kubernetes Secrets that a step brings along: made before its Helm release, removed with it.

A Secret is ours by its labels: `app.kubernetes.io/managed-by`, and one for each Helm release that uses it, whose value
is the run's release. The last one that lets go removes it. Nothing else in the cluster, and no file, holds its content.

While a server is upgraded its Secrets also hold what the revision needs that serves: its keys, and under keys of their
own the content that they had. A controller that comes later finds it there.
"""

from __future__ import annotations

import base64
import typing as t
from collections.abc import Callable, Iterable, Iterator, Mapping
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

_MANAGED, _US = "app.kubernetes.io/managed-by", "mlops.eks"
_USED_BY = "used-by.mlops.eks/"
# The keys of what a Secret held before the upgrade that is under way.
_BEFORE = "before-upgrade.mlops.eks."
_Data = dict[str, str]
# How often others may change a Secret between our reading and our writing it.
_TRIES = 20


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One Secret that a step needs, and its content."""

    name: str
    content: Mapping[str, str] = field(repr=False)
    type: str = "Opaque"

    @property
    def data(self) -> dict[str, str]:
        """The content as the API has it."""
        return {key: base64.b64encode(text.encode()).decode() for key, text in self.content.items()}


@dataclass(frozen=True, kw_only=True)
class RunSecrets:
    """The Secrets of one Helm release, which belongs to the run `release`."""

    kube: Kube
    release: str
    helm_release: str
    say: Callable[[str], None]
    declared: DeclaredSecrets = field(default_factory=DeclaredSecrets)

    def needed(self, plan: Plan) -> list[str]:
        """Return the names of the Secrets that are made for a plan: its own, and those declared that it names."""
        named = set(_texts(plan.manifest))
        own = [plan.secret] if plan.parted.secrets else []
        return [*own, *(one.name for one in self.declared.entries if one.data and one.name in named)]

    def wanted(self, plan: Plan) -> list[Wanted]:
        """Return the Secrets that are made for a plan, and what is in them.

        Raises:
            EksError: the content of one cannot be had.
        """
        needed = self.needed(plan)
        return [one for one in self._all(plan) if one.name in needed]

    def _all(self, plan: Plan) -> list[Wanted]:
        own = [Wanted(name=plan.secret, content=plan.parted.secrets)] if plan.parted.secrets else []
        if own and any(one.name == plan.secret for one in self.declared.entries):
            raise InvalidInputError(
                f"secrets: Secret {plan.secret} is the step's own. Give the declared one another name."
            )
        content = self.declared.content
        declared = (one for one in self.declared.entries if one.data)
        return [*own, *(Wanted(name=one.name, content=content(one), type=one.type) for one in declared)]

    def check(self, plan: Plan, *, upgrade: bool) -> None:
        """Refuse what could not be made, and a reference to what is not there; nothing is changed.

        Raises:
            ConflictError: there is a Secret of that name which is not ours.
            InvalidInputError: one that is declared, or that the values refer to, neither is there nor will be made.
            EksError: the content of one cannot be had.
        """
        wanted = self._all(plan)
        for declared in self.declared.entries:
            self._demand_there(declared)
        for one in wanted:
            if (found := self._read(one.name)) is not None:
                self._demand_ours(one, found)
        made = {one.name: one.content for one in wanted}
        for key, name, entry in plan.parted.references:
            found = self._read(name)
            # Ours goes before the step is installed, unless that is an upgrade.
            there = found is not None and (name != plan.secret or upgrade or not _is_ours(found))
            if entry not in (made.get(name) or {}) and not (there and entry in ((found or {}).get("data") or {})):
                raise InvalidInputError(self._missing(plan, key, name, entry))

    def make(self, wanted: Iterable[Wanted], *, upgrade: bool = False) -> list[str]:
        """Make or change what is wanted, and return the names of those whose content has changed.

        For an `upgrade` nothing is lost of what they hold, until `settle` or `restore`.

        Raises:
            ConflictError: there is a Secret of that name which is not ours; what was made before that is removed.
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
                self._let_go(name)
            raise
        return changed

    def refresh(self, plan: Plan) -> None:
        """Give the Secrets of an installed release the content of today; where that cannot be they stay as they are."""
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
        """Let go of every Secret that the release used; those that nobody else uses are deleted."""
        for name in self._used():
            self._let_go(name)

    def settle(self, plan: Plan) -> None:
        """Forget what the revisions before needed, now that a server is ready; it serves even where that fails."""
        named = set(_texts(plan.manifest))
        try:
            for name in self._used():
                if name in named:
                    self._change(name, lambda now, _: now)
                else:
                    self._let_go(name)
        except EksError as error:
            self.say(f"release {self.helm_release}: its earlier Secrets are still there: {error}")

    def restore(self) -> None:
        """Give the Secrets the content that they had before the upgrade that is taken back."""
        for name in self._used():
            self._change(name, lambda now, before: before or now)

    def _used(self) -> list[str]:
        params = {"labelSelector": f"{_USED_BY}{self.helm_release}={self.release}"}
        found = self.kube.request("GET", collection("v1", "secrets", self.kube.namespace), params=params)
        return [entry["metadata"]["name"] for entry in found.get("items") or ()]

    def _change(self, name: str, choose: Callable[[_Data, _Data], _Data]) -> None:
        """End an upgrade: let `choose` say which of what a Secret holds, and held before, is its content."""
        for _ in range(_TRIES):
            found = self._read(name)
            now, before = _parts(found or {})
            if not before or not _is_ours(found or {}):
                return
            if self._written("PUT", self._path(name), {**(found or {}), "data": choose(now, before)}):
                return
        raise ConflictError(f"Secret {name}: others change it all the time. Run the same command again.")

    def _ensure(self, wanted: Wanted, *, upgrade: bool) -> tuple[_Data | None, _Data]:
        """Bring one Secret about; return what its content was before, `None` where there was none, and what it is."""
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
                if self._written("POST", collection("v1", "secrets", self.kube.namespace), body):
                    return None, wanted.data
                continue
            self._demand_ours(wanted, found)
            (now, before), labels = _parts(found), found["metadata"]["labels"]
            after = {**now, **wanted.data} if upgrade or before else wanted.data
            if after == now and mine.items() <= labels.items():
                return now, after
            # Of an upgrade that is tried again the content before the first try counts.
            kept = before or (now if upgrade and after != now else {})
            data = {**after, **{_BEFORE + key: text for key, text in kept.items()}}
            metadata = {**found["metadata"], "labels": {**labels, **mine}}
            if self._written("PUT", self._path(wanted.name), {**found, "metadata": metadata, "data": data}):
                return now, after
        raise ConflictError(f"Secret {wanted.name}: others change it all the time. Run the same command again.")

    def _let_go(self, name: str) -> None:
        for _ in range(_TRIES):
            found = self._read(name)
            if found is None or not _is_ours(found):
                return
            metadata = found["metadata"]
            labels = {key: one for key, one in metadata["labels"].items() if key != _USED_BY + self.helm_release}
            if any(key.startswith(_USED_BY) for key in labels):
                done = self._written("PUT", self._path(name), {**found, "metadata": {**metadata, "labels": labels}})
            else:
                same = {"resourceVersion": metadata["resourceVersion"]}
                done = self._written("DELETE", self._path(name), {"preconditions": same})
            if done:
                return
        raise ConflictError(f"Secret {name}: others change it all the time. Run the same command again.")

    def _written(self, method: str, path: str, body: Document) -> bool:
        """Return whether a change was made; not if another was faster, so that it has to be read again."""
        try:
            self.kube.request(method, path, body=body)
        except (ConflictError, AbsentError) as error:
            # There is no namespace to make it in.
            if method == "POST" and isinstance(error, AbsentError):
                raise
            return False
        return True

    def _demand_ours(self, wanted: Wanted, found: Document) -> None:
        where = f"Secret {wanted.name} in namespace {self.kube.namespace}"
        if not _is_ours(found):
            raise ConflictError(
                f"{where}: is there already and was not made by this collection; it is not changed. Remove it, "
                "or refer to it in the values: {secretKeyRef: {name: " + wanted.name + ", key: …}}."
            )
        labels = found["metadata"]["labels"]
        others = sorted({run for key, run in labels.items() if key.startswith(_USED_BY)} - {self.release})
        if others and _parts(found)[0] != wanted.data:
            raise ConflictError(
                f"{where}: run {', '.join(others)} uses it with other content. Give yours another name."
            )

    def _demand_there(self, declared: DeclaredSecret) -> None:
        data = {} if declared.data else (self._read(declared.name) or {}).get("data") or {}
        if missing := [key for key in declared.keys if key not in data]:
            raise InvalidInputError(
                f"secrets: Secret {declared.name} with {', '.join(missing)} is not in namespace {self.kube.namespace}. "
                "Make it, or say by data where its content comes from."
            )

    def _missing(self, plan: Plan, key: str, name: str, entry: str) -> str:
        if name == plan.secret:
            return (
                f"{key}: refers to Secret {name}, which a step makes of the secret itself, and no evidence holds that. "
                f"Give it again: -e '{{\"recipe_values\": {_nested(key)}}}'"
            )
        where = f"namespace {self.kube.namespace}"
        return (
            f"{key}: refers to key {entry!r} of Secret {name}, which is not in {where}. Make it, or correct the values."
        )

    def _read(self, name: str) -> Document | None:
        try:
            return self.kube.get(self._path(name))
        except ForbiddenError:
            # Where it may not be read it is left to the API to refuse what cannot be done.
            return None

    def _path(self, name: str) -> str:
        return item("v1", "secrets", self.kube.namespace, name)


def remove_all(kube: Kube, release: str, helm_releases: Iterable[str], say: Callable[[str], None]) -> None:
    """Remove the Secrets of several Helm releases of one run."""
    for name in helm_releases:
        RunSecrets(kube=kube, release=release, helm_release=name, say=say).remove()


def _texts(node: t.Any) -> Iterator[str]:
    """Yield every text in an object: any field may name a Secret, whatever its kind calls it."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping):
        for entry in node.values():
            yield from _texts(entry)
    elif isinstance(node, (list, tuple)):
        for entry in node:
            yield from _texts(entry)


def _parts(found: Document) -> tuple[_Data, _Data]:
    """Return what a Secret holds, and what it held before the upgrade that is under way."""
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
