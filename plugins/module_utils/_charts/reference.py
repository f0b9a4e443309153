# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The reference of a step to its chart: where the chart is, its name there, and its version."""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass
from urllib.parse import urlsplit

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import SourceError
from ansible_collections.mlops.eks.plugins.module_utils._core.text import shown

Kind = t.Literal["local", "oci", "repository", "git"]
# Schemes of a repository. `git+` marks a git repository, as in pip; the others have an index of packages.
_SCHEMES: dict[str, Kind] = {
    "http": "repository",
    "https": "repository",
    "git+https": "git",
    "git+http": "git",
    "git+ssh": "git",
    "git+file": "git",
}
_EXAMPLE: dict[Kind, str] = {
    "oci": "an exact one such as 1.4.2, or a range such as ~1.4",
    "repository": "an exact one such as 1.4.2, or a range such as ~1.4",
    "git": "a tag, a branch or a whole commit",
}
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# A complete version of SemVer; Helm treats a shorter one as a range: 1.2 means 1.2.x.
_VERSION = re.compile(r"v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
_REF = re.compile(r"(?![-/])(?!.*(\.\.|@\{|//|/\.|\.lock$))[^\x00-\x20\x7f~^:?*\[\\]+(?<![./])")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class Reference:
    """The keys of a step that name its chart.

    Without `repo`, `chart` is a directory, a package or an `oci://` address. With `repo` it is a name in the index, or
    a directory of the git repository. `digest` is the SHA-256 that the package must have.
    """

    chart: str
    repo: str | None = None
    version: str | None = None
    digest: str | None = None

    def __str__(self) -> str:
        return f"{self.chart} of {self.repo}" if self.repo else self.chart

    @property
    def kind(self) -> Kind:
        """Kind of the source; an unknown scheme counts as a repository until `check` refuses it."""
        if self.repo:
            return _SCHEMES.get(self.repo.partition("://")[0], "repository")
        return "oci" if self.chart.startswith("oci://") else "local"

    @property
    def is_commit(self) -> bool:
        """Whether the version is a git commit, which never changes."""
        return self.kind == "git" and bool(_COMMIT.fullmatch(self.version or ""))

    @property
    def is_exact(self) -> bool:
        """Whether the version is complete; such a version is not published twice by convention."""
        return self.kind in ("oci", "repository") and bool(_VERSION.fullmatch(self.version or ""))


def check(reference: Reference) -> None:
    """Check a reference before its source is queried.

    Raises:
        SourceError: with the wrong key.
    """
    if reference.kind == "local":
        _check_local(reference)
        return
    _check_address(reference)
    if not reference.version:
        raise SourceError(f"chart {reference}: version is missing. Set it: {_EXAMPLE[reference.kind]}.", key="version")
    if reference.kind == "git" and not _REF.fullmatch(reference.version):
        raise SourceError(
            f"version {shown(reference.version)}: not the name of a git tag, branch or commit.", key="version"
        )
    if reference.digest is None:
        return
    if reference.kind == "git":
        raise SourceError("digest: a git chart has none. Name the commit instead: version: <40 digits>.", key="digest")
    if not _DIGEST.fullmatch(reference.digest):
        raise SourceError(
            f"digest {shown(reference.digest)}: expected sha256: and 64 hexadecimal digits, those of the package.",
            key="digest",
        )


def _check_local(reference: Reference) -> None:
    for key in ("version", "digest"):
        if getattr(reference, key) is not None:
            raise SourceError(
                f"chart {shown(reference.chart)} is a file or directory, which has no other {key}. "
                f"Remove {key}, or name the chart's repository: repo: https://…",
                key=key,
            )
    if "://" in reference.chart:
        raise SourceError(
            f"chart {shown(reference.chart)}: charts are addressed as oci://…, or by their name in a repository: "
            "chart: NAME, repo: https://… or git+https://…, version: …"
        )


def _check_address(reference: Reference) -> None:
    key, address = ("repo", reference.repo) if reference.repo else ("chart", reference.chart)
    shown_address = without_login(address or "")
    for name, text in (("chart", reference.chart), ("repo", reference.repo or "")):
        if not re.fullmatch(r"[!-~]*", text):
            raise SourceError(
                f"{name} {shown(without_login(text))}: an address must not have blanks or special characters.", key=name
            )
    if key == "repo" and shown_address.partition("://")[0] not in _SCHEMES:
        raise SourceError(
            f"repo {shown(shown_address)}: expected an address that begins with {', '.join(_SCHEMES)}.", key=key
        )
    try:
        parts = urlsplit(address or "")
    except ValueError as error:
        raise SourceError(f"{key} {shown(shown_address)}: not an address: {error}.", key=key) from error
    if not parts.netloc and parts.scheme != "git+file":
        raise SourceError(f"{key} {shown(shown_address)}: there is no host in it.", key=key)
    # The user in an SSH address is public; one in an https:// address may be a token.
    if parts.password is not None or (parts.username is not None and parts.scheme != "git+ssh"):
        raise SourceError(
            f"{key} {shown(shown_address)}: it holds a login, which must not be in a file. Remove it, and "
            f"{REMEDY[reference.kind]}.",
            key=key,
        )
    if key == "chart" and re.search(r"[:@]", parts.path):
        raise SourceError(
            f"chart {shown(shown_address)}: it holds a tag or digest. Use the key version or digest instead."
        )
    if key == "repo" and reference.chart.startswith("oci://"):
        raise SourceError(f"chart {shown(reference.chart)}: an OCI address is complete. Remove repo.", key=key)


# How to configure the login of each kind of source.
REMEDY: dict[Kind, str] = {
    "oci": "log in by 'helm registry login'",
    "repository": "add the login by 'helm repo add'",
    "git": "configure a credential helper of git",
}


def without_login(text: str) -> str:
    """Return a text without the user and password of any address in it."""
    return re.sub(r"(?<=://)[^/@\s\"']+@", "", text)
