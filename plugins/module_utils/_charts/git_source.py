# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Fetch a chart from a git repository: resolve the ref to a commit, check it out, and package the chart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._charts import dependencies
from ansible_collections.mlops.eks.plugins.module_utils._charts.package import pack
from ansible_collections.mlops.eks.plugins.module_utils._charts.programs import ask, refused
from ansible_collections.mlops.eks.plugins.module_utils._charts.reference import Reference
from ansible_collections.mlops.eks.plugins.module_utils._charts.store import FetchedChart, Store
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import MissingToolError, SourceError
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import load


def fetch(reference: Reference, store: Store, scratch: Path, *, helm: str, git: str | None) -> FetchedChart:
    """Resolve the ref, fetch its commit unless it is cached, and store the chart.

    Raises:
        MissingToolError: git is not installed.
        SourceError: the source refuses, or does not have the ref or the chart.
    """
    if git is None:
        raise MissingToolError(f"chart {reference}: git: not found on PATH. Install git.")
    tree = _Tree(reference, scratch / "tree", git)
    commit, immutable = (reference.version or "", True) if reference.is_commit else tree.resolve()
    pinned = replace(reference, version=commit)
    fetched = store.recall(pinned)
    if fetched is None:
        chart = tree.check_out(commit)
        dependencies.build(chart, reference, scratch, helm=helm)
        metadata = load(chart / "Chart.yaml", called=f"chart {reference}: Chart.yaml").data
        digest = store.add(pack(chart, str(metadata.get("name", chart.name))), shown=str(reference))
        fetched = FetchedChart(digest=digest, version=str(metadata.get("version", "")), commit=commit, immutable=True)
        store.remember(pinned, fetched)
    return replace(fetched, immutable=immutable)


_ALL_REFS = ("+refs/heads/*:refs/remotes/source/*", "+refs/tags/*:refs/tags/*")


class _Tree:
    """The files of one commit, in a temporary directory."""

    def __init__(self, reference: Reference, path: Path, git: str) -> None:
        self.reference, self.path, self.git = reference, path, git
        self.address = (reference.repo or "").removeprefix("git+")

    def resolve(self) -> tuple[str, bool]:
        """Return the current commit of the ref, and whether the ref is a tag, which should not move."""
        wanted = self.reference.version
        refs = self._remote(f"refs/tags/{wanted}", f"refs/tags/{wanted}^{{}}", f"refs/heads/{wanted}")
        # `^{}` is the commit of an annotated tag.
        for name in (f"refs/tags/{wanted}^{{}}", f"refs/tags/{wanted}", f"refs/heads/{wanted}"):
            if name in refs:
                return refs[name], name.startswith("refs/tags/")
        raise self._no_ref(self._remote())

    def check_out(self, commit: str) -> Path:
        """Fetch the files of a commit, and return the directory of the chart."""
        self._run("init", "--quiet", "--template=", str(self.path))
        if not ask(self._argv("fetch", "--quiet", "--depth=1", "--no-tags", "--", self.address, commit)).ok:
            # Some servers serve only named refs; some, such as git+file, do not serve shallow clones.
            self._run("fetch", "--quiet", "--", self.address, *_ALL_REFS)
            if not ask(self._argv("cat-file", "-e", f"{commit}^{{commit}}")).ok:
                raise SourceError(f"chart {self.reference}: there is no commit {commit} in it.", key="version")
        self._run("checkout", "--quiet", "--detach", commit)
        return self._chart()

    def _chart(self) -> Path:
        root = self.path.resolve()
        chart = (root / self.reference.chart).resolve()
        if not chart.is_relative_to(root) or not (chart / "Chart.yaml").is_file():
            known = {str(path.parent.relative_to(root)) for path in root.rglob("Chart.yaml")}
            raise SourceError(
                f"chart {self.reference} at {self.reference.version}: there is no chart in that directory."
                f"{did_you_mean(self.reference.chart, known)}"
            )
        self._remove_outside_links(root, chart)
        return chart

    def _remove_outside_links(self, root: Path, chart: Path) -> None:
        """Remove symbolic links that lead out of the tree; refuse them within the chart."""
        links = [entry for entry in root.rglob("*") if entry.is_symlink()]
        # Check all links before removing one, as a link may lead to another.
        for entry in [link for link in links if not link.exists() or not link.resolve().is_relative_to(root)]:
            if entry.is_relative_to(chart):
                where = entry.relative_to(root)
                raise SourceError(f"chart {self.reference}: {where} is a symbolic link to nothing in the tree.")
            entry.unlink()

    def _remote(self, *patterns: str) -> dict[str, str]:
        answer = ask([self.git, "ls-remote", "--quiet", "--", self.address, *patterns])
        if not answer.ok:
            raise refused(self.reference, answer, key="repo")
        rows = (line.split("\t", 1) for line in answer.stdout.splitlines() if "\t" in line)
        return {name: commit for commit, name in rows}

    def _no_ref(self, refs: Iterable[str]) -> SourceError:
        version = self.reference.version or ""
        names = {
            name.split("/", 2)[2].removesuffix("^{}") for name in refs if name.startswith(("refs/tags/", "refs/heads/"))
        }
        hint = did_you_mean(version, sorted(names)[-9:] if len(names) > 9 else names)
        if len(version) >= 7 and not set(version) - set("0123456789abcdef"):
            hint = " Give all 40 digits of a commit."
        return SourceError(
            f"chart {self.reference}: there is no tag and no branch {version!r} in it.{hint}", key="version"
        )

    def _argv(self, *arguments: str) -> list[str]:
        quiet = ("-c", "advice.detachedHead=false", "-c", "init.defaultBranch=main")
        where = () if arguments[0] == "init" else ("-C", str(self.path))
        return [self.git, *quiet, *where, *arguments]

    def _run(self, *arguments: str) -> None:
        answer = ask(self._argv(*arguments))
        if not answer.ok:
            raise refused(self.reference, answer, key="repo")
