# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Fetch a chart by Helm: from a registry (`oci://`), or from a repository with an index."""

from __future__ import annotations

import json
import typing as t
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from ansible_collections.mlops.eks.plugins.module_utils._charts.programs import Answer, ask, refused
from ansible_collections.mlops.eks.plugins.module_utils._charts.reference import Reference
from ansible_collections.mlops.eks.plugins.module_utils._charts.store import FetchedChart, Store
from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import CHART, read
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import SourceError
from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_json, write_atomically
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import yaml
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean
from ansible_collections.mlops.eks.plugins.module_utils._core.text import listed
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import load

# Name of a repository that is not in the user's configuration of Helm.
_NAME = "charts"
# Available versions that an error message names.
_SHOWN = 5


def fetch(reference: Reference, store: Store, scratch: Path, *, helm: str) -> FetchedChart:
    """Pull the newest package that matches the version, and store it.

    Raises:
        SourceError: the source refuses, or does not have the chart.
    """
    pull = _Pull(reference, scratch, helm)
    package = pull.run()
    digest = store.add(read(package, CHART, what=f"chart {reference}"), shown=str(reference))
    metadata = load(store.chart(digest) / "Chart.yaml", called=f"chart {reference}: Chart.yaml").data
    return FetchedChart(digest=digest, version=str(metadata.get("version", "")), immutable=reference.is_exact)


class _Pull:
    """One `helm pull` in a directory of its own, so that concurrent pulls share no index and no cache."""

    def __init__(self, reference: Reference, scratch: Path, helm: str) -> None:
        self.reference, self.scratch, self.helm = reference, scratch, helm
        self.flags: list[str] = []
        self.target = reference.chart

    def run(self) -> Path:
        if self.reference.kind == "oci":
            self.flags = plain_http([self.reference.chart])
        else:
            self._update()
        where = self.scratch / "pulled"
        where.mkdir()
        version = f"--version={self.reference.version}"
        answer = ask([self.helm, "pull", self.target, version, "--destination", where, *self.flags])
        if not answer.ok:
            raise self._absent() if _is_absent(answer) else refused(self.reference, answer, key=self._key)
        (package,) = where.glob("*.tgz")
        return package

    @property
    def _key(self) -> str:
        return "chart" if self.reference.kind == "oci" else "repo"

    def _update(self) -> None:
        names, self.flags = configure(self.helm, [self.reference.repo or ""], self.scratch)
        self.target = f"{names[0]}/{self.reference.chart}"
        answer = ask([self.helm, "repo", "update", names[0], *self.flags])
        if not answer.ok:
            raise refused(self.reference, answer, key=self._key)

    def _absent(self) -> SourceError:
        """Return an error that names the available versions."""
        reference = self.reference
        known = self._newest() if reference.kind == "oci" else self._indexed()
        return SourceError(f"chart {reference}: there is no version {reference.version!r}. {known}", key="version")

    def _newest(self) -> str:
        """Return a sentence with the newest version in a registry; Helm cannot list more.

        Raises:
            SourceError: it has none.
        """
        answer = ask([self.helm, "show", "chart", self.reference.chart, "--devel", *self.flags])
        if not answer.ok:
            raise SourceError(
                f"chart {self.reference}: there is no such chart. Check its name, and that you may read it."
            )
        return f"The newest is {yaml.safe_load(answer.stdout)['version']}."

    def _indexed(self) -> str:
        """Return a sentence with the versions in an index.

        Raises:
            SourceError: it has no chart of that name.
        """
        repository, _, name = self.target.partition("/")
        every = ["--versions", "--devel", "--output", "json"]
        answer = ask([self.helm, "search", "repo", f"{repository}/", *every, *self.flags])
        rows = json.loads(answer.stdout or "[]") if answer.ok else []
        versions = [row["version"] for row in rows if row["name"] == self.target]
        if not versions:
            known = {row["name"].partition("/")[2] for row in rows}
            raise SourceError(f"chart {self.reference}: there is no chart {name!r} in it.{did_you_mean(name, known)}")
        return f"It has {listed(versions, _SHOWN)}."


def _is_absent(answer: Answer) -> bool:
    output = answer.output
    return any(
        text in output
        for text in ("no chart version found", "no chart name found", ": not found", "could not locate a version")
    )


def plain_http(addresses: Iterable[str]) -> list[str]:
    """Return the flag for registries on this machine, which need no TLS."""
    hosts = [urlsplit(address).hostname or "" for address in addresses]
    return ["--plain-http"] if any(host in ("localhost", "::1") or host.startswith("127.") for host in hosts) else []


def configure(helm: str, addresses: Iterable[str], scratch: Path) -> tuple[list[str], list[str]]:
    """Write a configuration with these repositories only; return their names, and the flags for Helm.

    A repository in the user's configuration keeps its settings and login; `@name` is one of these.
    """
    known = _known(helm)
    rows = [
        next((row for row in known if _is(row, address)), {"name": f"{_NAME}-{number}", "url": address})
        for number, address in enumerate(addresses)
    ]
    write_atomically(scratch / "repositories.yaml", to_json({"apiVersion": "v1", "repositories": rows}), private=True)
    places = {"config": "repositories.yaml", "cache": "index"}
    flags = [part for name, place in places.items() for part in (f"--repository-{name}", str(scratch / place))]
    return [row["name"] for row in rows], [*flags, "--content-cache", str(scratch / "content")]


def _is(row: dict[str, t.Any], address: str) -> bool:
    if address.startswith(("@", "alias:")):
        return bool(row["name"] == address.removeprefix("@").removeprefix("alias:"))
    return str(row.get("url", "")).rstrip("/") == address.rstrip("/")


def _known(helm: str) -> list[dict[str, t.Any]]:
    """Return the repositories in the user's configuration of Helm."""
    path = Path(ask([helm, "env", "HELM_REPOSITORY_CONFIG"]).stdout.strip() or "-")
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError):
        return []
    rows = (found or {}).get("repositories") if isinstance(found, dict) else None
    return [row for row in rows or [] if isinstance(row, dict) and "name" in row]
