# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The host's own way to Python packages, lent to image builds as two secrets and never left in an image.

A Containerfile takes them with `RUN --mount=type=secret,id=pip.conf --mount=type=secret,id=ca.pem`, and says
`PIP_CONFIG_FILE=/run/secrets/pip.conf`. Where they are not given, as by `docker build`, pip goes to PyPI itself.
"""

from __future__ import annotations

import configparser
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

# Settings that say how to reach an index; everything else of the host's configuration is its own business.
REACHING = ("index-url", "extra-index-url", "trusted-host", "proxy", "default-timeout", "timeout", "retries", "cert")
SYSTEM_AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
CONFIGURATION, AUTHORITIES = "pip.conf", "ca.pem"


def settings(environment: Mapping[str, str], files: Iterable[str]) -> dict[str, str]:
    """Return pip's settings that say how to reach an index: the environment over later files over earlier ones."""
    found: dict[str, str] = {}
    for text in files:
        parser = configparser.RawConfigParser(strict=False)
        parser.read_string(text)
        for section in ("global", "install"):
            if parser.has_section(section):
                found.update((key, value) for key, value in parser.items(section) if key in REACHING)
    for key in REACHING:
        found[key] = environment.get(f"PIP_{key.upper().replace('-', '_')}") or found.get(key, "")
    return {key: value for key, value in found.items() if value}


def lend(directory: Path) -> list[str]:
    """Write the two secrets to `directory`; return the options of `buildah bud` that lend them."""
    places = (Path("/etc/pip.conf"), Path("~/.pip/pip.conf").expanduser(), Path("~/.config/pip/pip.conf").expanduser())
    known = settings(os.environ, [path.read_text(encoding="utf-8") for path in places if path.is_file()])
    authorities = Path(known.pop("cert", SYSTEM_AUTHORITIES))
    options = ["--secret", f"id={CONFIGURATION},src={directory / CONFIGURATION}"]
    if authorities.is_file():
        known["cert"] = f"/run/secrets/{AUTHORITIES}"
        options += ["--secret", f"id={AUTHORITIES},src={authorities}"]
    lines = ["[global]", *(f"{key} = {value}" for key, value in sorted(known.items()))]
    (directory / CONFIGURATION).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return options
