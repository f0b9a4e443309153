# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""A directory of links to a stack, the working directory of Terraform for one cluster.

Terraform writes beside the files it reads: the lock file of providers, a state it could not send, the configuration of
a backend. Each cluster has its own directory, so that one stack can create many clusters at the same time. The stack
itself is only read: it may be part of an installed collection.
"""

from __future__ import annotations

import os
import re
import typing as t
from collections.abc import Iterator, Mapping
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_json, write_atomically
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean

ERRORED = "errored.tfstate"
# An override file is merged over the rest of its directory: Terraform documentation, "Override files".
_BACKEND = "mlops_eks_override.tf.json"
# Files that Terraform leaves in a directory where it ran by hand.
_LEFT = re.compile(r"\.terraform|\.terraform\.lock\.hcl|\.terraform\.tfstate\.lock\.info|.*\.tfstate(\..*)?|\.git")
# `init` reads tests too, and OpenTofu refuses tests that use features of Terraform.
_TESTS = re.compile(r"tests|.*\.tftest\.(hcl|json)")
_UPWARDS = re.compile(r"(?:\.\./)+")
_VARIABLE = re.compile(r'^\s*variable\s+"?([\w-]+)"?\s*\{|^\s*"variable"\s*:', re.MULTILINE)
_OWN_BACKEND = re.compile(r'^\s*(?:backend\s+"\w+"|cloud)\s*\{', re.MULTILINE)


def check_source(source: Path) -> None:
    """Refuse a directory that is not a stack."""
    if not source.is_dir():
        raise InvalidInputError(f"source {source}: there is no such directory")
    if not any(_files(source)):
        raise InvalidInputError(f"source {source}: there is no Terraform file (*.tf, *.tf.json) in it")


def check_variables(source: Path, given: Mapping[str, t.Any]) -> None:
    """Refuse a variable that the stack does not declare. Terraform itself only warns, and drops it."""
    texts = [file.read_text(encoding="utf-8") for file in _files(source)]
    known = {name for text in texts for name in _VARIABLE.findall(text) if name}
    # Terraform checks variables that are declared in JSON.
    if any(match[0].rstrip().endswith(":") for text in texts for match in _VARIABLE.finditer(text)):
        return
    for name in sorted(given):
        if name not in known:
            raise InvalidInputError(f"variables: {source} declares no variable {name!r}.{did_you_mean(name, known)}")


def prepare(source: Path, data: Path, backend: Mapping[str, t.Any] | None) -> Path:
    """Create the directory below `data` and return it."""
    texts = [file.read_text(encoding="utf-8") for file in _files(source)]
    depth = max((match.count("../") for text in texts for match in _UPWARDS.findall(text)), default=0)
    work = _link(source, data / "tree", min(depth, len(source.parents)))
    chosen = _backend(backend, data, own=any(_OWN_BACKEND.search(text) for text in texts))
    if chosen:
        write_atomically(work / _BACKEND, to_json({"terraform": {"backend": chosen}}), private=True)
    return work


def _backend(given: Mapping[str, t.Any] | None, data: Path, *, own: bool) -> dict[str, t.Any] | None:
    """Return the backend block: the given one, else the stack's own (`None`), else a local file."""
    if given is None:
        return None if own else {"local": {"path": str(data / "terraform.tfstate")}}
    kind, settings = given.get("type", "s3"), {key: value for key, value in given.items() if key != "type"}
    if kind == "s3":
        settings = {"use_lockfile": True, "encrypt": True, **settings}
    return {kind: settings}


def _link(source: Path, tree: Path, depth: int) -> Path:
    """Mirror `source` and its `depth` parents by links, so that paths like `../../modules/x` still resolve."""
    base = source.parents[depth - 1] if depth else source
    work = tree / source.relative_to(base)
    work.mkdir(parents=True, exist_ok=True)
    for old in _links(tree):
        old.unlink()
    (work / _BACKEND).unlink(missing_ok=True)
    for level in (source, *source.parents[:depth]):
        here = tree / level.relative_to(base)
        for entry in level.iterdir():
            link = here / entry.name
            unwanted = _LEFT.fullmatch(entry.name) or (level == source and _TESTS.fullmatch(entry.name))
            if not unwanted and not os.path.lexists(link):
                link.symlink_to(entry)
    return work


def _links(directory: Path) -> Iterator[Path]:
    for entry in directory.iterdir():
        if entry.is_symlink():
            yield entry
        elif entry.is_dir():
            yield from _links(entry)


def _files(source: Path) -> Iterator[Path]:
    return (file for pattern in ("*.tf", "*.tf.json") for file in sorted(source.glob(pattern)))
