# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The host's access to Python packages, passed to image builds as two secrets and never stored in an image.

A Containerfile uses them with `RUN --mount=type=secret,id=pip.conf --mount=type=secret,id=ca.pem` and
`PIP_CONFIG_FILE=/run/secrets/pip.conf`. Without them, as in `docker build`, pip uses PyPI.
"""

from __future__ import annotations

import configparser
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

# Settings for access to an index; all other settings of the host are left out.
REACHING = ("index-url", "extra-index-url", "trusted-host", "proxy", "default-timeout", "timeout", "retries", "cert")
SYSTEM_AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
CONFIGURATION, AUTHORITIES = "pip.conf", "ca.pem"


def settings(environment: Mapping[str, str], files: Iterable[str]) -> dict[str, str]:
    """Return pip's settings for access to an index. The environment overrides files, later files earlier ones."""
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
    """Write the two secrets to `directory`; return the options of `buildah bud` that pass them."""
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
