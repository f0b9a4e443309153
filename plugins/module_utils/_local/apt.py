# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The host's access to Debian packages, mounted into image builds and never stored in an image.

A build must use the mirror and the proxy of this machine, and the image must name neither. So the host's sources and
settings are written to a directory that is mounted over /etc/apt during a build.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._local.commands import run, which

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
PUBLIC = "http://deb.debian.org"
# Settings for access to a mirror; all other settings of the host are left out.
REACHING = ("Acquire::http", "Acquire::https", "Acquire::Retries", "Acquire::ForceIPv4", "Acquire::ForceIPv6")


@dataclasses.dataclass(frozen=True, kw_only=True)
class AptAccess:
    """Text of a `sources.list` and of an `apt.conf`."""

    sources: str
    settings: str


def public_sources(suite: str) -> str:
    """Return the sources that an image keeps: Debian's own addresses."""
    return "".join(
        f"deb {PUBLIC}/{archive} {release} main\n"
        for archive, release in (
            ("debian", suite),
            ("debian", f"{suite}-updates"),
            ("debian-security", f"{suite}-security"),
        )
    )


def host_access(suite: str) -> AptAccess:
    """Return this machine's access to Debian's `suite`, or Debian's own addresses if it has no source for it."""
    if which("apt-get") is None:
        return AptAccess(sources=public_sources(suite), settings="")
    form = "$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)"
    targets = run(["apt-get", "indextargets", "--format", form, "Created-By: Packages"])
    return AptAccess(
        sources=sources(targets.splitlines(), suite) or public_sources(suite),
        settings=settings(run(["apt-config", "dump"]).splitlines()),
    )


def sources(targets: Iterable[str], suite: str) -> str:
    """Return `sources.list` lines for the Debian targets of `suite` among `URI release component origin` lines."""
    releases = {suite, f"{suite}-updates", f"{suite}-security"}
    found = set()
    for target in targets:
        fields = target.split()
        if len(fields) == 4 and fields[1] in releases and fields[2] == "main" and fields[3] == "Debian":
            found.add(f"deb [signed-by={KEYRING}] {fields[0]} {fields[1]} main\n")
    has_suite = any(line.split()[-2] == suite for line in found)
    return "".join(sorted(found)) if has_suite else ""


def settings(dump: Iterable[str]) -> str:
    """Return the lines of `apt-config dump` about access to a mirror."""
    return "".join(f"{line}\n" for line in dump if line.startswith(REACHING) and not line.endswith('"";'))


def write(access: AptAccess, directory: Path) -> None:
    """Write a replacement for /etc/apt."""
    for below in ("apt.conf.d", "preferences.d", "sources.list.d", "trusted.gpg.d", "auth.conf.d"):
        (directory / below).mkdir(parents=True, exist_ok=True)
    (directory / "sources.list").write_text(access.sources, encoding="utf-8")
    (directory / "apt.conf.d" / "90host").write_text(access.settings, encoding="utf-8")
