# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The lock file of providers in a cluster's directory.

Terraform and OpenTofu fetch `hashicorp/aws` from different registries. The builds have different hashes, and one file
cannot serve both programs, because each removes the entries that it does not use. So a stack's lock file binds the
program that wrote it, byte for byte. The other program takes the versions from it; its hashes are recorded in the
cluster's first run.
"""

from __future__ import annotations

import re
from pathlib import Path

LOCK = ".terraform.lock.hcl"
REGISTRIES = {"Terraform": "registry.terraform.io", "OpenTofu": "registry.opentofu.org"}
# Both programs always write the file in this form.
_ENTRY = re.compile(r'^provider "(?P<host>[^"/]+)/(?P<name>[^"]+)" \{\n.*?^\}\n', re.MULTILINE | re.DOTALL)
_HASHES = re.compile(r"^  hashes = \[\n.*?^  \]\n", re.MULTILINE | re.DOTALL)
_SELECTED = re.compile(r'^provider "([^"]+)" \{\n\s*version\s*=\s*"([^"]+)"', re.MULTILINE)


def pin(source: Path, work: Path, brand: str) -> bool:
    """Put the lock file of the stack `source` into `work`; return whether the program must not change it.

    `brand` is a key of `REGISTRIES`.
    """
    stack, own = source / LOCK, work / LOCK
    if not stack.is_file():
        return False
    text = stack.read_text(encoding="utf-8")
    wanted = _ENTRY.sub(lambda entry: _translated(entry, brand), text)
    known = own.read_text(encoding="utf-8") if own.is_file() else ""
    if wanted == text or not _selected(wanted) <= _selected(known):
        own.write_text(wanted, encoding="utf-8")
    return wanted == text


def _translated(entry: re.Match[str], brand: str) -> str:
    """Return an entry of the lock file. Move an entry of the other program's registry to this one's, without hashes."""
    host = REGISTRIES[brand]
    if entry["host"] == host or entry["host"] not in REGISTRIES.values():
        return entry[0]
    return _HASHES.sub("", entry[0].replace(f'"{entry["host"]}/', f'"{host}/', 1))


def _selected(text: str) -> set[tuple[str, ...]]:
    """Return the providers in a lock file, each with its version."""
    return set(_SELECTED.findall(text))
